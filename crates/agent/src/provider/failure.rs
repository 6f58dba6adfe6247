//! Classifies provider errors: failure class, message and retry delay.
//!
//! The three services report errors in different formats, and compatible services add their own. This module reads all
//! of them, so that a status, an error body and an error event inside a stream are classified alike.

use std::time::Duration;

use jiff::fmt::rfc2822;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::Value;

use super::{ApiKey, FailureClass};

/// The maximum length of an error message, in characters.
const LONGEST_MESSAGE: usize = 300;

/// A failure as reported by the service. The endpoint adds the stage and removes secrets.
#[derive(Debug, PartialEq)]
pub(super) struct Fault {
    /// The kind of failure.
    pub(super) class: FailureClass,
    /// The unredacted description, a predicate without a subject such as `answered 500`.
    pub(super) detail: String,
    /// The delay that the service requests before a retry; `None` if it requests none.
    pub(super) retry_after: Option<Duration>,
}

impl Fault {
    /// Creates a fault for a failure that this crate detected.
    pub(super) fn new(class: FailureClass, detail: impl Into<String>) -> Self {
        Self {
            class,
            detail: detail.into(),
            retry_after: None,
        }
    }

    /// Creates a fault from a response with an error status.
    pub(super) fn from_answer(status: u16, headers: &HeaderMap, body: &[u8]) -> Self {
        let body_fields = ErrorBody::read(body);
        let detail = if body_fields.message.is_empty() {
            format!("answered {status}")
        } else {
            format!("answered {status}: {}", body_fields.message)
        };
        Self {
            class: class(Some(status), &body_fields),
            detail,
            retry_after: retry_after(headers).or(body_fields.retry_after),
        }
    }

    /// Creates a fault from an error event of a stream whose status was successful.
    pub(super) fn from_event(event: &Value) -> Self {
        let body_fields = ErrorBody::from_json(event);
        let detail = if body_fields.message.is_empty() {
            "reported an error".to_owned()
        } else {
            format!("reported an error: {}", body_fields.message)
        };
        Self {
            class: class(body_fields.status, &body_fields),
            detail,
            retry_after: body_fields.retry_after,
        }
    }
}

/// The contents of an error body, independent of the service's format.
#[derive(Debug, Default)]
struct ErrorBody {
    /// The message for people; empty if the body has none.
    message: String,
    /// The error codes and types, in lower case.
    names: Vec<String>,
    /// The HTTP status inside the body, if it contains one.
    status: Option<u16>,
    /// The retry delay inside the body, if it contains one.
    retry_after: Option<Duration>,
}

impl ErrorBody {
    fn read(body: &[u8]) -> Self {
        if let Ok(body) = serde_json::from_slice(body) {
            return Self::from_json(&body);
        }
        let text = String::from_utf8_lossy(body);
        // An HTML page of an intermediate proxy does not help a person who talks to a model.
        let is_page = text.trim_start().starts_with('<');
        Self {
            message: if is_page {
                String::new()
            } else {
                text.into_owned()
            },
            ..Self::default()
        }
    }

    fn from_json(body: &Value) -> Self {
        let body = body.get(0).unwrap_or(body);
        let error = body.get("error").unwrap_or(body);
        let message = error
            .as_str()
            .or_else(|| error["message"].as_str())
            .or_else(|| error["detail"].as_str())
            .unwrap_or_default();
        let details = error["details"].as_array().map_or(&[][..], Vec::as_slice);
        let reasons = details.iter().map(|detail| &detail["reason"]);
        let names = [&error["code"], &error["type"], &error["status"]];
        Self {
            message: message.to_owned(),
            names: names
                .into_iter()
                .chain(reasons)
                .filter_map(|name| name.as_str().map(str::to_lowercase))
                .collect(),
            status: error["code"]
                .as_u64()
                .and_then(|code| u16::try_from(code).ok()),
            retry_after: details.iter().find_map(|detail| {
                let seconds = detail["retryDelay"].as_str()?.strip_suffix('s')?;
                Duration::try_from_secs_f64(seconds.parse().ok()?).ok()
            }),
        }
    }

    /// Returns whether the message reports a prompt that is too long. The status does not distinguish this case.
    fn is_about_length(&self) -> bool {
        const WORDS: &[&str] = &[
            "context length",
            "context limit",
            "context size",
            "context window",
            "context_length",
            "input is too long",
            "input token count",
            "maximum context",
            "prompt is too long",
            "prompt too long",
        ];
        let message = self.message.to_lowercase();
        WORDS.iter().any(|words| message.contains(words))
    }

    /// Returns the failure class of the first known error code or type.
    fn named_class(&self) -> Option<FailureClass> {
        self.names.iter().find_map(|name| match name.as_str() {
            "api_key_invalid" | "authentication_error" | "invalid_api_key" | "unauthenticated" => {
                Some(FailureClass::AuthExpired)
            }
            "billing_error" | "permission_denied" | "permission_error" => {
                Some(FailureClass::PermissionDenied)
            }
            "model_not_found" | "not_found" | "not_found_error" => {
                Some(FailureClass::ModelNotFound)
            }
            "context_length_exceeded" | "exceed_context_size_error" | "request_too_large" => {
                Some(FailureClass::PromptTooLong)
            }
            "insufficient_quota"
            | "rate_limit_error"
            | "rate_limit_exceeded"
            | "resource_exhausted" => Some(FailureClass::RateLimit),
            "api_error"
            | "deadline_exceeded"
            | "internal"
            | "internal_server_error"
            | "overloaded_error"
            | "server_error"
            | "timeout_error"
            | "unavailable" => Some(FailureClass::Provider5xx),
            _ => None,
        })
    }
}

fn class(status: Option<u16>, body_fields: &ErrorBody) -> FailureClass {
    match status {
        Some(401) => FailureClass::AuthExpired,
        Some(402 | 403) => FailureClass::PermissionDenied,
        Some(404) => FailureClass::ModelNotFound,
        Some(408) => FailureClass::NetworkTransient,
        Some(413) => FailureClass::PromptTooLong,
        Some(429) => FailureClass::RateLimit,
        // Includes 529, which Anthropic sends when it is overloaded.
        Some(500..=599) => FailureClass::Provider5xx,
        // Some services send 400 both for invalid keys and for prompts that are too long.
        Some(400..=499) | None => {
            if let Some(class) = body_fields.named_class() {
                class
            } else if body_fields.is_about_length() {
                FailureClass::PromptTooLong
            } else if status.is_some()
                || body_fields
                    .names
                    .iter()
                    .any(|name| name.starts_with("invalid_") || name == "failed_precondition")
            {
                FailureClass::InvalidRequest
            } else {
                FailureClass::Unknown
            }
        }
        Some(_) => FailureClass::Unknown,
    }
}

/// `retry-after` as seconds or as a date. A date is measured against the `date` of the same answer: the service's clock
/// is the one it means, ours may differ.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let then = rfc2822::parse(text).ok()?;
    let now = rfc2822::parse(headers.get(DATE)?.to_str().ok()?).ok()?;
    let wait = then.timestamp().duration_since(now.timestamp());
    Some(Duration::try_from(wait).unwrap_or(Duration::ZERO))
}

/// One sentence of at most 300 characters without the key, even where the service repeats it.
pub(super) fn sentence(text: &str, key: Option<&ApiKey>) -> String {
    // First of all the key: once the text is cut, half of it may remain and not be found.
    let key = key.map_or("", |key| key.expose().trim());
    let text = if key.is_empty() {
        text.to_owned()
    } else {
        text.replace(key, "***")
    };
    let words: Vec<_> = text
        .split(|character: char| character.is_whitespace() || character.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    let text = words.join(" ");
    let text = text.split(". ").next().unwrap_or_default();
    let text = text.trim_end_matches('.');
    match text.char_indices().nth(LONGEST_MESSAGE - 1) {
        Some((end, last)) if end + last.len_utf8() < text.len() => format!("{}…", &text[..end]),
        Some(_) | None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(status: u16, body: &str, expected: FailureClass) {
        let fault = Fault::from_answer(status, &HeaderMap::new(), body.as_bytes());
        assert_eq!(fault.class, expected, "{status} {body}");
    }

    #[test]
    fn the_status_gives_the_class() {
        check(400, "", FailureClass::InvalidRequest);
        check(401, "", FailureClass::AuthExpired);
        check(402, "", FailureClass::PermissionDenied);
        check(403, "", FailureClass::PermissionDenied);
        check(404, "", FailureClass::ModelNotFound);
        check(408, "", FailureClass::NetworkTransient);
        check(413, "", FailureClass::PromptTooLong);
        check(422, "", FailureClass::InvalidRequest);
        check(429, "", FailureClass::RateLimit);
        check(500, "", FailureClass::Provider5xx);
        check(503, "", FailureClass::Provider5xx);
        check(529, "", FailureClass::Provider5xx);
        check(302, "", FailureClass::Unknown);
    }

    #[test]
    fn a_bad_request_about_length_is_a_prompt_too_long() {
        for message in [
            r#"{"error":{"message":"This model's maximum context length is 8 tokens. However…","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
            r#"{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (8).","status":"INVALID_ARGUMENT"}}"#,
            r#"{"error":"the prompt exceeds the available context size"}"#,
            "the context window is full",
        ] {
            check(400, message, FailureClass::PromptTooLong);
        }
    }

    #[test]
    fn a_bad_request_about_the_key_is_an_expired_one() {
        let body = r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#;
        check(400, body, FailureClass::AuthExpired);
    }

    #[test]
    fn the_wait_may_stand_in_the_body() {
        let body =
            br#"[{"error":{"code":429,"message":"slow down","details":[{"retryDelay":"1.5s"}]}}]"#;
        let fault = Fault::from_answer(429, &HeaderMap::new(), body);
        assert_eq!(fault.retry_after, Some(Duration::from_millis(1500)));
    }

    #[test]
    fn a_wait_that_is_over_is_none_at_all() {
        let mut headers = HeaderMap::new();
        let at = |text| reqwest::header::HeaderValue::from_static(text);
        headers.insert(DATE, at("Sun, 06 Nov 1994 08:49:37 GMT"));
        headers.insert(RETRY_AFTER, at("Sun, 06 Nov 1994 08:49:07 GMT"));
        assert_eq!(retry_after(&headers), Some(Duration::ZERO));
        headers.insert(RETRY_AFTER, at("-1"));
        assert_eq!(retry_after(&headers), None);
        headers.insert(RETRY_AFTER, at("later"));
        assert_eq!(retry_after(&headers), None);
    }

    #[test]
    fn a_message_is_one_short_sentence() {
        let check = |text: &str, expected: &str| assert_eq!(sentence(text, None), expected);
        check("answered 400: No.\n\tReally. ", "answered 400: No");
        check("a model 4.1 is fine", "a model 4.1 is fine");
        check(&"ä".repeat(300), &"ä".repeat(300));
        check(&"ä".repeat(301), &format!("{}…", "ä".repeat(299)));
        check("<html>", "<html>");
        let page = Fault::from_answer(502, &HeaderMap::new(), b" <html>Bad gateway</html>");
        assert_eq!(page.detail, "answered 502");
    }

    #[test]
    fn a_key_at_the_cut_is_removed_whole() {
        let key = ApiKey::new("sk-secret-0123456789\n");
        let text = format!("{} sk-secret-0123456789 end", "a".repeat(288));
        let message = sentence(&text, Some(&key));
        assert!(!message.contains("sk-"), "{message}");
    }
}
