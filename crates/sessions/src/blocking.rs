//! Runs file operations on threads of the blocking pool.

use company::{Companies, Company};

use crate::Error;

/// Runs file operations on a thread of the blocking pool.
pub async fn blocking<R: Send + 'static>(
    work: impl FnOnce() -> Result<R, company::Error> + Send + 'static,
) -> Result<R, company::Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panic) => Err(company::Error::Refused(format!("a thread failed: {panic}"))),
    }
}

/// Opens a company folder. Opening first completes the writes that an earlier process left unfinished, which may take a
/// while.
pub async fn open(companies: &Companies, workspace_dir: &str) -> Result<Company, company::Error> {
    let (companies, workspace_dir) = (companies.clone(), workspace_dir.to_owned());
    blocking(move || companies.open(&workspace_dir)).await
}

/// Returns the folder at a path without checking that it is a company folder. The lookup blocks, because the path may
/// be on a network file system.
pub(crate) async fn locate(
    companies: &Companies,
    workspace_dir: &str,
) -> Result<Company, company::Error> {
    let (companies, workspace_dir) = (companies.clone(), workspace_dir.to_owned());
    blocking(move || Ok(companies.locate(&workspace_dir))).await
}

/// Like [`blocking`], for work that fails with an error of sessions.
pub(crate) async fn on_thread<R: Send + 'static>(
    work: impl FnOnce() -> Result<R, Error> + Send + 'static,
) -> Result<R, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panic) => Err(company::Error::Refused(format!("a thread failed: {panic}")).into()),
    }
}
