//! `anthropic`: the Messages API of Anthropic.

use std::{pin::Pin, sync::Arc};

use protocol::MaySpend;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    ApiKey, Availability, FinishReason, Message, Model, ModelRequest, ModelStream, Provider,
    ProviderError, Role, Timeouts, Usage,
    answer::{Dialect, Pieces, answer},
    failure::Fault,
    http::{BaseUrl, Endpoint, HttpClient, ProviderService},
};

static SERVICE: ProviderService = ProviderService {
    id: "anthropic",
    default_base: "https://api.anthropic.com",
    key_variable: "ANTHROPIC_API_KEY",
    key_header: "x-api-key",
    key_prefix: "",
};

/// The header that selects the API version.
const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// The output token limit if the request sets none. The API requires a limit, and all current models accept this one.
const MAX_TOKENS: u32 = 8192;

/// The `anthropic` provider.
#[derive(Debug)]
pub struct Anthropic(Arc<Endpoint>);

impl Anthropic {
    /// Creates a provider for a service with the Messages API. A key is required only for the vendor's own base URL.
    pub fn new(base: BaseUrl, key: Option<ApiKey>, timeouts: Timeouts, client: HttpClient) -> Self {
        Self(Arc::new(Endpoint {
            service: &SERVICE,
            base,
            key,
            timeouts,
            client,
        }))
    }

    /// Returns the vendor's base URL.
    pub fn default_base() -> BaseUrl {
        SERVICE.default_base()
    }
}

impl Provider for Anthropic {
    fn id(&self) -> &'static str {
        SERVICE.id
    }

    fn title(&self) -> &'static str {
        "Anthropic"
    }

    fn availability(&self) -> Availability {
        self.0.availability()
    }

    fn models(
        &self,
        _may: MaySpend,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<Model>, ProviderError>> + Send + '_>> {
        Box::pin(async {
            // The maximum page size returns all models in one page.
            let request = self.0.request(Method::GET, "/v1/models?limit=1000")?;
            let list = self.0.json(request.header(VERSION.0, VERSION.1)).await?;
            let models = list["data"].as_array().into_iter().flatten();
            Ok(models
                .filter_map(|model| {
                    let id = model["id"].as_str()?;
                    Some(Model {
                        id: id.to_owned(),
                        title: model["display_name"].as_str().unwrap_or(id).to_owned(),
                    })
                })
                .collect())
        })
    }

    fn image_types(&self) -> &'static [&'static str] {
        &["image/png", "image/jpeg", "image/webp", "image/gif"]
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let request = self.0.post("/v1/messages", &body(&request));
        let request = request.map(|request| request.header(VERSION.0, VERSION.1));
        answer(Arc::clone(&self.0), request, Messages::default())
    }
}

fn body(request: &ModelRequest) -> Value {
    let mut body = json!({
        "model": request.model,
        "max_tokens": request.max_output_tokens.unwrap_or(MAX_TOKENS),
        "stream": true,
    });
    // The API rejects empty blocks and empty messages.
    let mut system = Vec::new();
    if !request.system_stable.is_empty() {
        system.push(json!({
            "type": "text",
            "text": request.system_stable,
            "cache_control": { "type": "ephemeral" },
        }));
    }
    if !request.system_dynamic.is_empty() {
        system.push(json!({ "type": "text", "text": request.system_dynamic }));
    }
    if !system.is_empty() {
        body["system"] = Value::Array(system);
    }
    body["messages"] = request
        .messages
        .iter()
        .filter(|message| !message.text.is_empty() || !message.images.is_empty())
        .map(|message| {
            let role = match message.role {
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            json!({ "role": role, "content": content(message) })
        })
        .collect();
    body
}

fn content(message: &Message) -> Value {
    if message.images.is_empty() {
        return json!(message.text);
    }
    let mut blocks: Vec<_> = message
        .images
        .iter()
        .map(|image| {
            json!({
                "type": "image",
                "source": {
                    "type": "base64",
                    "media_type": image.mime_type,
                    "data": &*image.base64,
                },
            })
        })
        .collect();
    if !message.text.is_empty() {
        blocks.push(json!({ "type": "text", "text": message.text }));
    }
    Value::Array(blocks)
}

/// Parses the events of the Messages API. Usage is reported in two parts: prompt tokens at the start, output tokens at
/// the end.
#[derive(Default)]
struct Messages {
    usage: Usage,
}

impl Dialect for Messages {
    fn read(&mut self, event: &Value, pieces: &mut Pieces) -> Result<(), Fault> {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => self.count(&event["message"]["usage"], pieces),
            "content_block_start" => {
                let block = &event["content_block"];
                pieces.reasoning(block["thinking"].as_str().unwrap_or_default());
                pieces.text(block["text"].as_str().unwrap_or_default());
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                pieces.reasoning(delta["thinking"].as_str().unwrap_or_default());
                pieces.text(delta["text"].as_str().unwrap_or_default());
            }
            "message_delta" => {
                self.count(&event["usage"], pieces);
                match event["delta"]["stop_reason"].as_str() {
                    None => {}
                    Some("max_tokens" | "model_context_window_exceeded") => {
                        pieces.finish(FinishReason::Length);
                    }
                    Some("refusal") => pieces.finish(FinishReason::ContentFilter),
                    Some(_) => pieces.finish(FinishReason::Stop),
                }
            }
            "message_stop" => pieces.done(),
            "error" => return Err(Fault::from_event(event)),
            // `ping`, `content_block_stop` and event types that the API may add.
            _ => {}
        }
        Ok(())
    }
}

impl Messages {
    fn count(&mut self, usage: &Value, pieces: &mut Pieces) {
        if !usage.is_object() {
            return;
        }
        if let Some(fresh) = usage["input_tokens"].as_u64() {
            // Unlike other services, Anthropic excludes tokens read from or written to the cache from `input_tokens`.
            let count = |name| usage[name].as_u64().unwrap_or_default();
            let cached = count("cache_read_input_tokens");
            self.usage.cached_input_tokens = cached;
            self.usage.input_tokens = fresh
                .saturating_add(cached)
                .saturating_add(count("cache_creation_input_tokens"));
        }
        if let Some(tokens) = usage["output_tokens"].as_u64() {
            self.usage.output_tokens = tokens;
        }
        pieces.usage(self.usage);
    }
}
