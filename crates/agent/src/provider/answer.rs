//! Streams a provider response: network chunks become events, and events become [`ModelEvent`]s.
//!
//! Timeouts, broken connections and the check for completeness are the same for all services and are handled here. The
//! event format is specific to each service and is parsed by its [`Dialect`].

use std::{collections::VecDeque, mem, sync::Arc};

use futures_util::stream;
use reqwest::{RequestBuilder, Response, header::CONTENT_TYPE};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{
    FailureClass, FinishReason, Image, ModelEvent, ModelStream, ProviderError, Stage,
    failure::Fault,
    http::Endpoint,
    sse::{SseDecoder, SseEvent, TooLong},
};

/// The event format of a service. Each HTTP provider implements it; [`answer`] calls it.
pub(super) trait Dialect: Send + 'static {
    /// Parses the JSON of one event and adds its contents to `pieces`.
    fn read(&mut self, event: &Value, pieces: &mut Pieces) -> Result<(), Fault>;
}

/// The contents parsed from the events of one response.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// The events that the stream has not returned yet.
    ready: VecDeque<ModelEvent>,
    /// Whether the response contained any text, reasoning or image.
    has_spoken: bool,
    /// Why the response ended, once the service reported it. A usage report may follow.
    finish: Option<FinishReason>,
    /// Whether the service reported the end of the stream.
    is_done: bool,
}

impl Pieces {
    /// Adds response text. Empty text, which services also send, is ignored.
    pub(super) fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.has_spoken = true;
            self.ready.push_back(ModelEvent::Text(text.to_owned()));
        }
    }

    /// Adds a generated image.
    pub(super) fn image(&mut self, mime_type: &str, base64: &str) {
        if !base64.is_empty() {
            self.has_spoken = true;
            self.ready.push_back(ModelEvent::Image(Image {
                mime_type: mime_type.to_owned(),
                base64: base64.into(),
            }));
        }
    }

    /// Adds reasoning text.
    pub(super) fn reasoning(&mut self, text: &str) {
        if !text.is_empty() {
            self.has_spoken = true;
            self.ready.push_back(ModelEvent::Reasoning(text.to_owned()));
        }
    }

    /// Adds the usage reported so far.
    pub(super) fn usage(&mut self, usage: super::Usage) {
        self.ready.push_back(ModelEvent::Usage(usage));
    }

    /// Sets why the response ended.
    pub(super) fn finish(&mut self, reason: FinishReason) {
        self.finish = Some(reason);
    }

    /// Marks the end of the stream.
    pub(super) fn done(&mut self) {
        self.is_done = true;
    }

    /// Returns the stage of a failure that occurs now.
    fn stage(&self) -> Stage {
        if self.has_spoken {
            Stage::MidStream
        } else {
            Stage::FirstChunk
        }
    }
}

/// Sends the request and streams the response. The request is sent on the first poll, and dropping the stream closes
/// the connection.
pub(super) fn answer(
    endpoint: Arc<Endpoint>,
    request: Result<RequestBuilder, ProviderError>,
    dialect: impl Dialect,
) -> ModelStream {
    let answer = AnswerStream {
        deadline: Instant::now(),
        source: match request {
            Ok(request) => StreamState::Unsent(request),
            Err(error) => StreamState::Failed(error),
        },
        endpoint,
        decoder: SseDecoder::default(),
        dialect,
        pieces: Pieces::default(),
    };
    Box::pin(stream::unfold(answer, |mut answer| async move {
        let next = answer.next().await?;
        Some((next, answer))
    }))
}

struct AnswerStream<D> {
    /// The service that is called.
    endpoint: Arc<Endpoint>,
    /// The state of the connection.
    source: StreamState,
    /// The time by which the next bytes must arrive.
    deadline: Instant,
    /// Decodes bytes into events.
    decoder: SseDecoder,
    /// Parses events.
    dialect: D,
    /// The contents parsed so far.
    pieces: Pieces,
}

enum StreamState {
    /// The stream was not polled yet, so nothing was sent.
    Unsent(RequestBuilder),
    /// The response is being read.
    Open(Response),
    /// The response failed; the error is returned after the remaining parsed events.
    Failed(ProviderError),
    /// The response ended.
    Ended,
}

impl<D: Dialect> AnswerStream<D> {
    async fn next(&mut self) -> Option<Result<ModelEvent, ProviderError>> {
        loop {
            if let Some(piece) = self.pieces.ready.pop_front() {
                return Some(Ok(piece));
            }
            self.source = match mem::replace(&mut self.source, StreamState::Ended) {
                StreamState::Ended => return None,
                StreamState::Failed(error) => return Some(Err(error)),
                StreamState::Unsent(request) => self.open(request).await,
                StreamState::Open(response) => self.read(response).await,
            };
        }
    }

    async fn open(&mut self, request: RequestBuilder) -> StreamState {
        self.deadline = Instant::now() + self.endpoint.timeouts.first_chunk;
        let response = match self.endpoint.send(request, self.deadline).await {
            Ok(response) => response,
            Err(error) => return StreamState::Failed(error),
        };
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        // Compatible services use many content types for streams, but never these two.
        if kind.starts_with("application/json") || kind.starts_with("text/html") {
            return StreamState::Failed(self.endpoint.not_a_stream(response).await);
        }
        StreamState::Open(response)
    }

    async fn read(&mut self, mut response: Response) -> StreamState {
        let chunk = timeout_at(self.deadline, response.chunk()).await;
        self.deadline = Instant::now() + self.endpoint.timeouts.idle;
        let mut events = Vec::new();
        match chunk {
            Ok(Ok(Some(bytes))) => {
                let pushed = self.decoder.push(&bytes, &mut events);
                let understood = self.understand(&events);
                if let Err(fault) = understood.and(pushed.map_err(|TooLong| too_long())) {
                    return StreamState::Failed(self.endpoint.error(self.pieces.stage(), fault));
                }
                if self.pieces.is_done {
                    return self.end(self.endpoint.truncated(Stage::Finalize));
                }
                StreamState::Open(response)
            }
            Ok(Ok(None)) => {
                // An incomplete event at the end indicates a truncated response, so decoding errors are ignored here.
                let _ = self.decoder.finish(&mut events);
                let _ = self.understand(&events);
                self.end(self.endpoint.truncated(self.pieces.stage()))
            }
            Ok(Err(error)) => self.end(self.endpoint.cut(self.pieces.stage(), &error)),
            Err(_) => self.end(self.endpoint.stalled(self.pieces.stage())),
        }
    }

    fn understand(&mut self, events: &[SseEvent]) -> Result<(), Fault> {
        for event in events {
            if self.pieces.is_done {
                break;
            }
            if event.data.trim() == "[DONE]" {
                self.pieces.done();
            } else if !event.data.trim().is_empty() {
                let json = serde_json::from_str(&event.data).map_err(|_| {
                    Fault::new(FailureClass::Unknown, "sent an event that is not JSON")
                })?;
                if event.name == "error" {
                    return Err(Fault::from_event(&json));
                }
                self.dialect.read(&json, &mut self.pieces)?;
            }
        }
        Ok(())
    }

    /// Ends the response. It succeeds if the service reported why it ended, even if the connection failed afterwards;
    /// otherwise the stream ends with the given error.
    fn end(&mut self, otherwise: ProviderError) -> StreamState {
        let reason = match self.pieces.finish {
            None if self.pieces.is_done && self.pieces.has_spoken => Some(FinishReason::Stop),
            reason => reason,
        };
        match reason {
            Some(reason) => {
                self.pieces.ready.push_back(ModelEvent::Finished(reason));
                StreamState::Ended
            }
            None => StreamState::Failed(otherwise),
        }
    }
}

fn too_long() -> Fault {
    Fault::new(FailureClass::Unknown, "sent an event of more than 16 MiB")
}
