//! `gemini`: the Generative Language API of Google.

use std::{pin::Pin, sync::Arc};

use protocol::MaySpend;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    ApiKey, Availability, FailureClass, FinishReason, Message, Model, ModelRequest, ModelStream,
    Provider, ProviderError, Role, Stage, Timeouts, Usage,
    answer::{Dialect, Pieces, answer},
    failure::Fault,
    http::{BaseUrl, Endpoint, HttpClient, ProviderService},
};

static SERVICE: ProviderService = ProviderService {
    id: "gemini",
    default_base: "https://generativelanguage.googleapis.com",
    key_variable: "GEMINI_API_KEY",
    key_header: "x-goog-api-key",
    key_prefix: "",
};

/// The `gemini` provider.
#[derive(Debug)]
pub struct Gemini(Arc<Endpoint>);

impl Gemini {
    /// Creates a provider for a service that implements the Generative Language API. A key is required only for the
    /// vendor's own base URL.
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

impl Provider for Gemini {
    fn id(&self) -> &'static str {
        SERVICE.id
    }

    fn title(&self) -> &'static str {
        "Gemini"
    }

    fn availability(&self) -> Availability {
        self.0.availability()
    }

    fn models(
        &self,
        _may: MaySpend,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<Model>, ProviderError>> + Send + '_>> {
        Box::pin(async {
            // With the maximum page size, all models are in one page.
            let request = self
                .0
                .request(Method::GET, "/v1beta/models?pageSize=1000")?;
            let list = self.0.json(request).await?;
            let models = list["models"].as_array().into_iter().flatten();
            Ok(models.filter_map(chat_model).collect())
        })
    }

    fn image_types(&self) -> &'static [&'static str] {
        // The API does not accept GIF.
        &[
            "image/png",
            "image/jpeg",
            "image/webp",
            "image/heic",
            "image/heif",
        ]
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let model = request.model.trim_start_matches("models/");
        let sent = if is_path_safe(model) {
            let path = format!("/v1beta/models/{model}:streamGenerateContent?alt=sse");
            self.0.post(&path, &body(&request))
        } else {
            let text = format!("has no model `{model}`: the name is not valid in a URL path");
            let fault = Fault::new(FailureClass::InvalidRequest, text);
            Err(self.0.error(Stage::Connect, fault))
        };
        answer(Arc::clone(&self.0), sent, GenerateContent)
    }
}

/// Converts an entry of the model list; returns `None` for models that cannot generate content, such as embedding
/// models.
fn chat_model(model: &Value) -> Option<Model> {
    let id = model["name"].as_str()?;
    let id = id.strip_prefix("models/").unwrap_or(id);
    let methods = model["supportedGenerationMethods"].as_array();
    let answers = methods.is_none_or(|methods| {
        methods
            .iter()
            .any(|method| method.as_str() == Some("generateContent"))
    });
    answers.then(|| Model {
        id: id.to_owned(),
        title: model["displayName"].as_str().unwrap_or(id).to_owned(),
    })
}

/// Returns whether a model name can be inserted into a URL path without changing the path or adding a query.
fn is_path_safe(model: &str) -> bool {
    (1..=128).contains(&model.len())
        && !model.contains("..")
        && model
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._:/-".contains(&byte))
}

fn body(request: &ModelRequest) -> Value {
    // The API rejects empty parts.
    let contents: Vec<_> = request
        .messages
        .iter()
        .filter(|message| !message.text.is_empty() || !message.images.is_empty())
        .map(|message| {
            let role = match message.role {
                Role::User => "user",
                Role::Assistant => "model",
            };
            json!({ "role": role, "parts": parts(message) })
        })
        .collect();
    let mut body = json!({ "contents": contents });
    let system: Vec<_> = [&request.system_stable, &request.system_dynamic]
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(|part| json!({ "text": part }))
        .collect();
    if !system.is_empty() {
        body["systemInstruction"] = json!({ "parts": system });
    }
    if let Some(tokens) = request.max_output_tokens {
        body["generationConfig"] = json!({ "maxOutputTokens": tokens });
    }
    body
}

fn parts(message: &Message) -> Vec<Value> {
    let mut parts = Vec::new();
    if !message.text.is_empty() {
        parts.push(json!({ "text": message.text }));
    }
    for image in &message.images {
        parts.push(json!({
            "inlineData": { "mimeType": image.mime_type, "data": &*image.base64 },
        }));
    }
    parts
}

/// Parses the events of the API. No separate event marks the end: the stream ends after the event with the finish
/// reason.
struct GenerateContent;

impl Dialect for GenerateContent {
    fn read(&mut self, event: &Value, pieces: &mut Pieces) -> Result<(), Fault> {
        if event.get("error").is_some() {
            return Err(Fault::from_event(event));
        }
        let candidate = &event["candidates"][0];
        let parts = candidate["content"]["parts"].as_array();
        for part in parts.into_iter().flatten() {
            let text = part["text"].as_str().unwrap_or_default();
            let picture = &part["inlineData"];
            let mime_type = picture["mimeType"].as_str().unwrap_or_default();
            if mime_type.starts_with("image/") {
                pieces.image(mime_type, picture["data"].as_str().unwrap_or_default());
            }
            if part["thought"].as_bool() == Some(true) {
                pieces.reasoning(text);
            } else {
                pieces.text(text);
            }
        }
        let usage = &event["usageMetadata"];
        if usage.is_object() {
            let count = |name| usage[name].as_u64().unwrap_or_default();
            pieces.usage(Usage {
                input_tokens: count("promptTokenCount"),
                cached_input_tokens: count("cachedContentTokenCount"),
                // Thinking tokens are billed as output but reported separately.
                output_tokens: count("candidatesTokenCount")
                    .saturating_add(count("thoughtsTokenCount")),
            });
        }
        match candidate["finishReason"].as_str() {
            None => {}
            Some("MAX_TOKENS") => pieces.finish(FinishReason::Length),
            Some(
                "BLOCKLIST" | "IMAGE_SAFETY" | "LANGUAGE" | "OTHER" | "PROHIBITED_CONTENT"
                | "RECITATION" | "SAFETY" | "SPII",
            ) => pieces.finish(FinishReason::ContentFilter),
            Some(_) => pieces.finish(FinishReason::Stop),
        }
        // A blocked prompt has no candidates.
        if event["promptFeedback"]["blockReason"].is_string() {
            pieces.finish(FinishReason::ContentFilter);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_would_leave_its_path_is_refused() {
        for name in ["gemini-2.5-pro", "a", "x/y_z:1"] {
            assert!(is_path_safe(name), "{name}");
        }
        let long = "a".repeat(129);
        for name in [
            "", "..", "a/../b", "a?b", "a#b", "a b", "a%2e", "ä", "a\\b", "a\n", &long,
        ] {
            assert!(!is_path_safe(name), "{name}");
        }
    }
}
