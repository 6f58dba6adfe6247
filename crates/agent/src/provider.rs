//! Models reached over HTTP, and the one that needs none. Each provider is a file.
//!
//! A provider turns a [`ModelRequest`] into a stream of [`ModelEvent`]s. It knows its wire format and nothing of
//! threads, hooks or the database.

use std::{fmt, pin::Pin, sync::Arc, time::Duration};

use futures_util::Stream;
use protocol::MaySpend;
use serde::Serialize;

mod answer;
pub mod anthropic;
pub mod echo;
mod failure;
pub mod gemini;
pub mod http;
pub mod openai;
mod sse;

/// The events of one answer. Dropping the stream ends the request.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelEvent, ProviderError>> + Send>>;

/// A model service. Each file of this folder implements it, the turn loop calls it.
pub trait Provider: Send + Sync + 'static {
    /// Its id on the wire: `echo`, `openai`, `anthropic`, `gemini`.
    fn id(&self) -> &'static str;

    /// What people call it.
    fn title(&self) -> &'static str;

    /// Whether it can be used as it is, or what is missing.
    fn availability(&self) -> Availability;

    /// The models it offers. Asks the service where it has a list.
    fn models(
        &self,
        may: MaySpend,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<Model>, ProviderError>> + Send + '_>>;

    /// MIME types of pictures that its models take; none where they take no pictures.
    fn image_types(&self) -> &'static [&'static str] {
        &[]
    }

    /// Asks the model. Failures before the first event are events too.
    fn stream(&self, request: ModelRequest) -> ModelStream;
}

/// Whether a provider can be used.
#[derive(Clone, Debug, PartialEq)]
pub enum Availability {
    /// Yes.
    Ready,
    /// Not without a key.
    NeedsKey {
        /// The environment variable that is looked at.
        variable: &'static str,
    },
}

/// A model of a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Its id on the wire.
    pub id: String,
    /// What people call it.
    pub title: String,
}

/// What a model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    /// The model.
    pub model: String,
    /// The part of the system prompt that stays the same between turns; providers may cache it.
    pub system_stable: String,
    /// The part of the system prompt that belongs to this turn.
    pub system_dynamic: String,
    /// The conversation, oldest first; the last one is the user's.
    pub messages: Vec<Message>,
    /// The most tokens of the answer; none leaves it to the provider.
    pub max_output_tokens: Option<u32>,
    /// That whoever asks may spend the owner's money.
    pub may: MaySpend,
}

/// One message of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub text: String,
    /// Pictures that came with it, of types that the provider takes.
    pub images: Vec<Image>,
}

/// A picture in a message.
#[derive(Clone, PartialEq)]
pub struct Image {
    /// Its MIME type, such as `image/png`.
    pub mime_type: String,
    /// Its bytes in base64. Shared, because they may be large.
    pub base64: Arc<str>,
}

impl Image {
    /// The number of its bytes, from the length of the base64.
    pub fn size_bytes(&self) -> u64 {
        (self.base64.len() as u64 / 4) * 3
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Image")
            .field("mime_type", &self.mime_type)
            .field("size_bytes", &self.size_bytes())
            .finish()
    }
}

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// Text of the answer.
    Text(String),
    /// A picture that the model made.
    Image(Image),
    /// Text about how the model came to it.
    Reasoning(String),
    /// What it cost; a later one replaces an earlier one.
    Usage(Usage),
    /// The answer is complete. A stream that ends without it was cut off.
    Finished(FinishReason),
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// The answer reached its longest length.
    Length,
    /// The provider held it back.
    ContentFilter,
}

/// What an answer cost, as the provider reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Tokens of the question.
    pub input_tokens: u64,
    /// Of these, tokens the provider had cached.
    pub cached_input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
}

/// Why there is no answer, or no more of it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// What kind of failure.
    pub class: FailureClass,
    /// When it happened.
    pub stage: Stage,
    /// One sentence without secrets.
    pub message: String,
    /// When the provider wants to be asked again.
    pub retry_after: Option<Duration>,
}

/// What kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureClass {
    /// The connection broke or could not be made.
    NetworkTransient,
    /// Too many requests.
    RateLimit,
    /// The provider failed.
    Provider5xx,
    /// The key is missing, wrong or expired.
    AuthExpired,
    /// There is no such model.
    ModelNotFound,
    /// The question is too long.
    PromptTooLong,
    /// The answer is too long.
    MaxOutputTokens,
    /// Nothing came for too long.
    StreamStall,
    /// The answer was cut off.
    StreamTruncated,
    /// The provider did not understand us.
    InvalidRequest,
    /// The key does not allow this.
    PermissionDenied,
    /// Anything else.
    Unknown,
}

/// When a failure happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Before the provider answered.
    Connect,
    /// Before the first piece.
    FirstChunk,
    /// In the middle.
    MidStream,
    /// At the end.
    Finalize,
}

/// How long a provider may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timeouts {
    /// To be connected.
    pub connect: Duration,
    /// To the first piece.
    pub first_chunk: Duration,
    /// Between two pieces.
    pub idle: Duration,
    /// For an answer that is not streamed.
    pub whole: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            first_chunk: Duration::from_secs(180),
            idle: Duration::from_secs(180),
            whole: Duration::from_secs(120),
        }
    }
}

/// A key. Its `Debug` hides it and it has no `Display`, so that it reaches no log.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// Wraps a key.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// The key, for the header that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey")
    }
}

impl FailureClass {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NetworkTransient => "network_transient",
            Self::RateLimit => "rate_limit",
            Self::Provider5xx => "provider_5xx",
            Self::AuthExpired => "auth_expired",
            Self::ModelNotFound => "model_not_found",
            Self::PromptTooLong => "prompt_too_long",
            Self::MaxOutputTokens => "max_output_tokens",
            Self::StreamStall => "stream_stall",
            Self::StreamTruncated => "stream_truncated",
            Self::InvalidRequest => "invalid_request",
            Self::PermissionDenied => "permission_denied",
            Self::Unknown => "unknown",
        }
    }
}
