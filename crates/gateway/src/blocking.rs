//! Runs blocking work outside of the async threads.

use rpc::Failure;

/// Runs blocking work on a thread made for it. A panic is logged and becomes an internal failure.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let worked = tokio::task::spawn_blocking(work).await;
    worked.map_err(|panic| Failure::incident(&panic))
}

/// Like [`blocking`], for work whose errors are not the fault of the caller: they are logged and become an internal
/// failure too.
pub(crate) async fn blocking_or_incident<T, E>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, Failure>
where
    T: Send + 'static,
    E: std::error::Error + Send + 'static,
{
    blocking(work)
        .await?
        .map_err(|error| Failure::incident(&error))
}
