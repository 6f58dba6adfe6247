//! The company family: `workspace.…`, `run.…`, `job.…`. Its calls name a company folder by `workspace_dir`.

mod issue;
pub mod system;

pub use issue::Issue;
