//! `openai`: the Chat Completions API of OpenAI and of compatible services, including local ones.

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
    id: "openai",
    default_base: "https://api.openai.com/v1",
    key_variable: "OPENAI_API_KEY",
    key_header: "authorization",
    key_prefix: "Bearer ",
};

/// The `openai` provider.
#[derive(Debug)]
pub struct OpenAi(Arc<Endpoint>);

impl OpenAi {
    /// Creates a provider for a service with the Chat Completions API. A key is required only for the vendor's own base
    /// URL.
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

impl Provider for OpenAi {
    fn id(&self) -> &'static str {
        SERVICE.id
    }

    fn title(&self) -> &'static str {
        "OpenAI"
    }

    fn availability(&self) -> Availability {
        self.0.availability()
    }

    fn models(
        &self,
        _may: MaySpend,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<Model>, ProviderError>> + Send + '_>> {
        Box::pin(async {
            let request = self.0.request(Method::GET, "/models")?;
            let list = self.0.json(request).await?;
            let mut models: Vec<_> = list["data"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|model| model["id"].as_str())
                .map(|id| Model {
                    id: id.to_owned(),
                    title: id.to_owned(),
                })
                .collect();
            // The vendor's list is unordered.
            models.sort_by(|one, other| one.id.cmp(&other.id));
            Ok(models)
        })
    }

    fn image_types(&self) -> &'static [&'static str] {
        &["image/png", "image/jpeg", "image/webp", "image/gif"]
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let body = body(&request, self.0.is_vendor());
        let request = self.0.post("/chat/completions", &body);
        answer(Arc::clone(&self.0), request, ChatCompletions)
    }
}

fn body(request: &ModelRequest, is_vendor: bool) -> Value {
    let mut messages = Vec::new();
    // The system prompt is one message, because the templates of many open models support only one. The stable part is
    // first, because services cache by prefix.
    let system: Vec<_> = [&*request.system_stable, &*request.system_dynamic]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    if !system.is_empty() {
        messages.push(json!({ "role": "system", "content": system.join("\n\n") }));
    }
    for message in &request.messages {
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        messages.push(json!({ "role": role, "content": content(message) }));
    }
    let mut body = json!({
        "model": request.model,
        "messages": messages,
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    if let Some(tokens) = request.max_output_tokens {
        // The vendor's newer models reject `max_tokens`; many compatible services do not know `max_completion_tokens`.
        let name = if is_vendor {
            "max_completion_tokens"
        } else {
            "max_tokens"
        };
        body[name] = json!(tokens);
    }
    body
}

/// Formats the content of a message. Without images it is a plain string, because many services do not support lists of
/// parts.
fn content(message: &Message) -> Value {
    if message.images.is_empty() {
        return json!(message.text);
    }
    let mut parts = vec![json!({ "type": "text", "text": message.text })];
    for image in &message.images {
        let url = format!("data:{};base64,{}", image.mime_type, image.base64);
        parts.push(json!({ "type": "image_url", "image_url": { "url": url } }));
    }
    Value::Array(parts)
}

struct ChatCompletions;

impl Dialect for ChatCompletions {
    fn read(&mut self, event: &Value, pieces: &mut Pieces) -> Result<(), Fault> {
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Fault::from_event(event));
        }
        let choice = &event["choices"][0];
        let delta = &choice["delta"];
        // Compatible services send reasoning under either name; the vendor's API does not define it.
        let reasoning = delta["reasoning_content"]
            .as_str()
            .or_else(|| delta["reasoning"].as_str());
        pieces.reasoning(reasoning.unwrap_or_default());
        pieces.text(delta["content"].as_str().unwrap_or_default());
        // Compatible services send images as data URLs beside the text; the vendor's API does not define this.
        for picture in delta["images"].as_array().into_iter().flatten() {
            let url = picture["image_url"]["url"].as_str().unwrap_or_default();
            let data = url
                .strip_prefix("data:")
                .and_then(|url| url.split_once(";base64,"));
            if let Some((mime_type, data)) = data
                && mime_type.starts_with("image/")
            {
                pieces.image(mime_type, data);
            }
        }
        pieces.text(delta["refusal"].as_str().unwrap_or_default());
        match choice["finish_reason"].as_str() {
            None => {}
            Some("length") => pieces.finish(FinishReason::Length),
            Some("content_filter") => pieces.finish(FinishReason::ContentFilter),
            Some(_) => pieces.finish(FinishReason::Stop),
        }
        if let Some(usage) = event["usage"].as_object() {
            let count = |name| usage.get(name).and_then(Value::as_u64).unwrap_or_default();
            pieces.usage(Usage {
                input_tokens: count("prompt_tokens"),
                cached_input_tokens: event["usage"]["prompt_tokens_details"]["cached_tokens"]
                    .as_u64()
                    .unwrap_or_default(),
                output_tokens: count("completion_tokens"),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "nothing is sent")]
    fn only_the_vendor_is_told_the_newer_name_of_the_limit() {
        let request = ModelRequest {
            model: "m".to_owned(),
            system_stable: String::new(),
            system_dynamic: String::new(),
            messages: Vec::new(),
            max_output_tokens: Some(7),
            may: MaySpend::granted(),
        };
        assert_eq!(body(&request, true)["max_completion_tokens"], 7);
        assert_eq!(body(&request, true).get("max_tokens"), None);
        assert_eq!(body(&request, false)["max_tokens"], 7);
        assert_eq!(body(&request, false).get("max_completion_tokens"), None);
    }
}
