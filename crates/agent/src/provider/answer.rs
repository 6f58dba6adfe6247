//! An answer as it streams in: HTTP pieces become events, events become [`ModelEvent`]s.
//!
//! The time limits, the broken connections and the question whether an answer is complete are the same for all
//! services and live here; what an event says is each service's [`Dialect`].

use std::{collections::VecDeque, mem, sync::Arc};

use futures_util::stream;
use reqwest::{RequestBuilder, Response, header::CONTENT_TYPE};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{
    FailureClass, FinishReason, Image, ModelEvent, ModelStream, ProviderError, Stage,
    failure::Fault,
    http::Endpoint,
    sse::{Decoder, Event, TooLong},
};

/// How a service writes its events. Each provider has one, the answer asks it.
pub(super) trait Dialect: Send + 'static {
    /// Reads the JSON of one event and says the pieces of the answer in it.
    fn read(&mut self, event: &Value, pieces: &mut Pieces) -> Result<(), Fault>;
}

/// What the events have said so far.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// What was said and not yet taken.
    ready: VecDeque<ModelEvent>,
    /// Whether any text or reasoning was said.
    has_spoken: bool,
    /// Why the answer ended, once that is known. The usage may follow.
    finish: Option<FinishReason>,
    /// Whether the service has said that nothing follows.
    is_done: bool,
}

impl Pieces {
    /// A piece of the answer; services also send empty ones.
    pub(super) fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.has_spoken = true;
            self.ready.push_back(ModelEvent::Text(text.to_owned()));
        }
    }

    /// A picture.
    pub(super) fn image(&mut self, mime_type: &str, base64: &str) {
        if !base64.is_empty() {
            self.has_spoken = true;
            self.ready.push_back(ModelEvent::Image(Image {
                mime_type: mime_type.to_owned(),
                base64: base64.into(),
            }));
        }
    }

    /// A piece of reasoning.
    pub(super) fn reasoning(&mut self, text: &str) {
        if !text.is_empty() {
            self.has_spoken = true;
            self.ready.push_back(ModelEvent::Reasoning(text.to_owned()));
        }
    }

    /// What it cost so far.
    pub(super) fn usage(&mut self, usage: super::Usage) {
        self.ready.push_back(ModelEvent::Usage(usage));
    }

    /// Why the answer ended.
    pub(super) fn finish(&mut self, reason: FinishReason) {
        self.finish = Some(reason);
    }

    /// Nothing follows.
    pub(super) fn done(&mut self) {
        self.is_done = true;
    }

    /// When a failure of this moment happened.
    fn stage(&self) -> Stage {
        if self.has_spoken {
            Stage::MidStream
        } else {
            Stage::FirstChunk
        }
    }
}

/// Asks and streams the answer. Nothing is sent before the first poll, and dropping the stream closes the connection.
pub(super) fn answer(
    endpoint: Arc<Endpoint>,
    request: Result<RequestBuilder, ProviderError>,
    dialect: impl Dialect,
) -> ModelStream {
    let answer = Answer {
        deadline: Instant::now(),
        source: match request {
            Ok(request) => Source::Unsent(request),
            Err(error) => Source::Failed(error),
        },
        endpoint,
        decoder: Decoder::default(),
        dialect,
        pieces: Pieces::default(),
    };
    Box::pin(stream::unfold(answer, |mut answer| async move {
        let next = answer.next().await?;
        Some((next, answer))
    }))
}

struct Answer<D> {
    /// Who answers.
    endpoint: Arc<Endpoint>,
    /// Where bytes come from.
    source: Source,
    /// When the next bytes are due.
    deadline: Instant,
    /// Bytes to events.
    decoder: Decoder,
    /// Events to pieces.
    dialect: D,
    /// Pieces, and what they amount to.
    pieces: Pieces,
}

enum Source {
    /// Nobody has asked for a piece yet.
    Unsent(RequestBuilder),
    /// The answer is being read.
    Open(Response),
    /// No more is read; this is told after the pieces that are ready.
    Failed(ProviderError),
    /// No more is read.
    Ended,
}

impl<D: Dialect> Answer<D> {
    async fn next(&mut self) -> Option<Result<ModelEvent, ProviderError>> {
        loop {
            if let Some(piece) = self.pieces.ready.pop_front() {
                return Some(Ok(piece));
            }
            self.source = match mem::replace(&mut self.source, Source::Ended) {
                Source::Ended => return None,
                Source::Failed(error) => return Some(Err(error)),
                Source::Unsent(request) => self.open(request).await,
                Source::Open(response) => self.read(response).await,
            };
        }
    }

    async fn open(&mut self, request: RequestBuilder) -> Source {
        self.deadline = Instant::now() + self.endpoint.timeouts.first_chunk;
        let response = match self.endpoint.send(request, self.deadline).await {
            Ok(response) => response,
            Err(error) => return Source::Failed(error),
        };
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        // Compatible services name their streams in many ways, but these two are never one.
        if kind.starts_with("application/json") || kind.starts_with("text/html") {
            return Source::Failed(self.endpoint.not_a_stream(response).await);
        }
        Source::Open(response)
    }

    async fn read(&mut self, mut response: Response) -> Source {
        let chunk = timeout_at(self.deadline, response.chunk()).await;
        self.deadline = Instant::now() + self.endpoint.timeouts.idle;
        let mut events = Vec::new();
        match chunk {
            Ok(Ok(Some(bytes))) => {
                let pushed = self.decoder.push(&bytes, &mut events);
                let understood = self.understand(&events);
                if let Err(fault) = understood.and(pushed.map_err(|TooLong| too_long())) {
                    return Source::Failed(self.endpoint.error(self.pieces.stage(), fault));
                }
                if self.pieces.is_done {
                    return self.end(self.endpoint.truncated(Stage::Finalize));
                }
                Source::Open(response)
            }
            Ok(Ok(None)) => {
                // Half an event at the end is no event of its own but the sign of a cut.
                let _ = self.decoder.finish(&mut events);
                let _ = self.understand(&events);
                self.end(self.endpoint.truncated(self.pieces.stage()))
            }
            Ok(Err(error)) => self.end(self.endpoint.cut(self.pieces.stage(), &error)),
            Err(_) => self.end(self.endpoint.stalled(self.pieces.stage())),
        }
    }

    fn understand(&mut self, events: &[Event]) -> Result<(), Fault> {
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

    /// Ends the answer: well, if the service said why it ended, whatever happened to the connection since then.
    fn end(&mut self, otherwise: ProviderError) -> Source {
        let reason = match self.pieces.finish {
            None if self.pieces.is_done && self.pieces.has_spoken => Some(FinishReason::Stop),
            reason => reason,
        };
        match reason {
            Some(reason) => {
                self.pieces.ready.push_back(ModelEvent::Finished(reason));
                Source::Ended
            }
            None => Source::Failed(otherwise),
        }
    }
}

fn too_long() -> Fault {
    Fault::new(FailureClass::Unknown, "sent an event of more than 16 MiB")
}
