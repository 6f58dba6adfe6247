//! The company family: `workspace.…`, `run.…`, `job.…`. Its calls name a company folder by `workspace_dir`.

pub mod system;
