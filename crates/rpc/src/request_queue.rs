//! Parses and schedules the requests of one connection, with bounded concurrency and bounded waiting.

use std::sync::Arc;

use futures_util::FutureExt as _;
use tokio::sync::Semaphore;

use crate::{
    Failure, Outbox, Request, Service,
    envelope::{self, Incoming, Rules},
};

/// Maximum number of requests of one connection that run concurrently.
pub const MAX_CONCURRENT: usize = 16;
/// Maximum number of requests of one connection that wait or run; further requests fail with `overloaded`.
pub const MAX_WAITING: usize = 1024;
/// Maximum total size, in bytes, of the requests of one connection that wait or run.
const MAX_WAITING_BYTES: usize = 64 << 20;

pub(crate) struct RequestQueue<S> {
    service: Arc<S>,
    rules: Rules,
    running: Arc<Semaphore>,
    concurrency: usize,
    /// One permit per request that waits or runs.
    waiting: Arc<Semaphore>,
    /// One permit per KiB of requests that wait or run.
    waiting_kib: Arc<Semaphore>,
}

impl<S: Service> RequestQueue<S> {
    pub(crate) fn new(service: Arc<S>, rules: Rules, concurrency: usize) -> Self {
        Self {
            service,
            rules,
            running: Arc::new(Semaphore::new(concurrency)),
            concurrency,
            waiting: Arc::new(Semaphore::new(MAX_WAITING)),
            waiting_kib: Arc::new(Semaphore::new(MAX_WAITING_BYTES / 1024)),
        }
    }

    pub(crate) fn outbox(&self) -> &Arc<Outbox> {
        self.service.outbox()
    }

    /// Accepts a message without waiting: the request is started, queued, or rejected with `overloaded`.
    pub(crate) async fn take(&self, text: &str) {
        let Some(request) = self.request(text).await else {
            return;
        };
        if text.len() >= MAX_WAITING_BYTES {
            return self.refuse(&request, &oversized(MAX_WAITING_BYTES)).await;
        }
        let kib = u32::try_from(text.len() / 1024 + 1).unwrap_or(u32::MAX);
        let (Ok(place), Ok(bytes)) = (
            Arc::clone(&self.waiting).try_acquire_owned(),
            Arc::clone(&self.waiting_kib).try_acquire_many_owned(kib),
        ) else {
            return self.refuse(&request, &Failure::overloaded()).await;
        };
        let running = Arc::clone(&self.running);
        if let Ok(turn) = Arc::clone(&running).try_acquire_owned() {
            self.serve(request, (turn, place, bytes));
            return;
        }
        let service = Arc::clone(&self.service);
        tokio::spawn(async move {
            // The semaphore is never closed.
            let _turn = running.acquire().await;
            service.serve(request).await;
            drop((place, bytes));
        });
    }

    async fn refuse(&self, request: &Request, failure: &Failure) {
        let dialect = protocol::Dialect::of_name(&request.method);
        let error = failure.to_json(&request.method, dialect);
        let answer = envelope::answer(request.id.get(), "error", &error.to_string());
        self.outbox().respond(answer).await;
    }

    /// Accepts a message once a concurrency permit is free, so that the transport stops reading until then.
    pub(crate) async fn take_in_turn(&self, text: &str) {
        let Some(request) = self.request(text).await else {
            return;
        };
        // The semaphore is never closed.
        let turn = Arc::clone(&self.running).acquire_owned().await;
        self.serve(request, turn);
    }

    /// Polls the request once on the current task, which saves a spawn when it completes immediately. Otherwise spawns
    /// it, holding `held` until it completes.
    fn serve(&self, request: Request, held: impl Send + 'static) {
        let mut serving = Box::pin(Arc::clone(&self.service).serve(request));
        if serving.as_mut().now_or_never().is_none() {
            tokio::spawn(async move {
                serving.await;
                drop(held);
            });
        }
    }

    /// Waits until every request accepted so far has been answered.
    pub(crate) async fn finish(&self) {
        let all = u32::try_from(self.concurrency).unwrap_or(u32::MAX);
        // The semaphore is fair: permits requested earlier are granted earlier.
        let _ = self.running.acquire_many(all).await;
    }

    /// Rejects a message that exceeds `limit` bytes. The response has a null id because the message was not parsed.
    pub(crate) async fn refuse_oversized(&self, limit: usize) {
        let error = oversized(limit).to_json("", protocol::Dialect::Tree);
        let answer = envelope::answer("null", "error", &error.to_string());
        self.outbox().respond(answer).await;
    }

    async fn request(&self, text: &str) -> Option<Request> {
        match envelope::parse(text, self.rules) {
            Incoming::Request(request) => Some(request),
            Incoming::Ignored => None,
            Incoming::Refused(answer) => {
                self.outbox().respond(answer).await;
                None
            }
        }
    }
}

fn oversized(limit: usize) -> Failure {
    let sentence = format!("the message is longer than {limit} bytes");
    Failure::envelope(sentence).with("limit", limit)
}
