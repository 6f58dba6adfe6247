//! Tests the `gemini` provider against an HTTP server on a real socket.
//!
//! `openai.rs` tests the behaviour shared by all providers, such as timeouts, in more detail.

use std::time::Duration;

use agent::provider::{
    Availability, FailureClass, FinishReason, Model, ModelEvent, Provider, Stage, Timeouts, Usage,
    gemini::Gemini,
};
use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::server::{
    KEY, MAY, Reply, SHORT, Server, all, check, client, failure, key, patient, question, reasoning,
    text,
};

fn provider(server: &Server) -> Gemini {
    Gemini::new(server.base.clone(), key(), patient(), client())
}

fn said(parts: &Value) -> Value {
    json!({ "candidates": [{ "content": { "role": "model", "parts": parts } }] })
}

fn finish(reason: &str) -> Value {
    json!({ "candidates": [{ "content": { "parts": [{ "text": "" }] }, "finishReason": reason }] })
}

#[tokio::test]
async fn the_question_is_sent_as_contents() {
    let mut server = Server::start([Reply::stream()]).await;
    all(provider(&server).stream(question())).await;
    let request = server.request().await;
    assert_eq!(
        request.line,
        "POST /v1beta/models/some-model:streamGenerateContent?alt=sse"
    );
    assert_eq!(request.headers["x-goog-api-key"], KEY);
    assert_eq!(request.headers["content-type"], "application/json");
    assert_eq!(
        request.body,
        json!({
            "systemInstruction": { "parts": [{ "text": "Be kind." }, { "text": "Today is Friday." }] },
            "contents": [
                { "role": "user", "parts": [{ "text": "Hello" }] },
                { "role": "model", "parts": [{ "text": "Hi!" }] },
                { "role": "user", "parts": [{ "text": "Grüße 😀\nbye" }] },
            ],
            "generationConfig": { "maxOutputTokens": 99 },
        })
    );
}

#[tokio::test]
async fn a_model_may_be_named_as_the_service_names_it() {
    let mut server = Server::start([Reply::stream()]).await;
    let mut question = question();
    question.model = "models/some-model".to_owned();
    all(provider(&server).stream(question)).await;
    assert_eq!(
        server.request().await.line,
        "POST /v1beta/models/some-model:streamGenerateContent?alt=sse"
    );
}

#[tokio::test]
async fn a_model_that_would_leave_its_path_is_not_asked() {
    let server = Server::start([]).await;
    let mut question = question();
    question.model = "../files/x".to_owned();
    let error = failure(provider(&server).stream(question)).await;
    let message = "`gemini` has no model `../files/x`: the name is not valid in a URL path";
    check(
        &error,
        FailureClass::InvalidRequest,
        Stage::Connect,
        message,
    );
}

#[tokio::test]
async fn the_vendor_is_not_asked_without_a_key() {
    let provider = Gemini::new(Gemini::default_base(), None, patient(), client());
    let variable = "GEMINI_API_KEY";
    assert_eq!(provider.availability(), Availability::NeedsKey { variable });
    let error = failure(provider.stream(question())).await;
    assert_eq!(
        (error.class, error.stage),
        (FailureClass::AuthExpired, Stage::Connect)
    );
}

#[tokio::test]
async fn an_answer_is_text_reasoning_usage_and_an_end() {
    let mut last = finish("STOP");
    last["usageMetadata"] = json!({
        "promptTokenCount": 7,
        "cachedContentTokenCount": 5,
        "candidatesTokenCount": 3,
        "thoughtsTokenCount": 2,
    });
    let reply = Reply::stream().events(&[
        said(&json!([{ "text": "hm", "thought": true }, { "text": "Hel" }])),
        said(&json!([{ "text": "lo" }])),
        last,
    ]);
    let server = Server::start([reply]).await;
    let (events, error) = all(provider(&server).stream(question())).await;
    assert_eq!(error, None);
    let usage = Usage {
        input_tokens: 7,
        cached_input_tokens: 5,
        output_tokens: 5,
    };
    assert_eq!(
        events,
        [
            reasoning("hm"),
            text("Hel"),
            text("lo"),
            ModelEvent::Usage(usage),
            ModelEvent::Finished(FinishReason::Stop),
        ]
    );
}

#[tokio::test]
async fn characters_are_not_harmed_by_chunks_that_cut_them() {
    let words = "Grüße 😀 漢字";
    let answer = format!(
        "data: {}\r\n\r\ndata: {}\r\n\r\n",
        said(&json!([{ "text": words }])),
        finish("STOP")
    );
    for size in 1..4 {
        let server = Server::start([Reply::stream().crumbs(&answer, size)]).await;
        let (events, error) = all(provider(&server).stream(question())).await;
        let end = ModelEvent::Finished(FinishReason::Stop);
        assert_eq!((events, error), (vec![text(words), end], None));
    }
}

#[tokio::test]
async fn the_reason_of_the_end_is_told() {
    for (event, expected) in [
        (finish("STOP"), FinishReason::Stop),
        (finish("MAX_TOKENS"), FinishReason::Length),
        (finish("SAFETY"), FinishReason::ContentFilter),
        (
            json!({ "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" } }),
            FinishReason::ContentFilter,
        ),
    ] {
        let server = Server::start([Reply::stream().events(&[event])]).await;
        let (events, error) = all(provider(&server).stream(question())).await;
        assert_eq!(
            (events, error),
            (vec![ModelEvent::Finished(expected)], None)
        );
    }
}

#[tokio::test]
async fn a_stream_cut_in_the_middle_is_truncated() {
    let begun = || Reply::stream().events(&[said(&json!([{ "text": "Hi" }]))]);
    for reply in [begun(), begun().cut()] {
        let server = Server::start([reply]).await;
        let (events, error) = all(provider(&server).stream(question())).await;
        assert_eq!(events, [text("Hi")]);
        let class = FailureClass::StreamTruncated;
        let message = "`gemini` ended the response before it was complete";
        check(&error.unwrap(), class, Stage::MidStream, message);
    }
}

#[tokio::test]
async fn an_error_status_has_its_class_and_the_words_of_the_service() {
    let key_invalid = json!([{ "reason": "API_KEY_INVALID" }]);
    for (status, name, said, details, class, message) in [
        (
            400,
            "INVALID_ARGUMENT",
            "contents is not specified",
            json!([]),
            FailureClass::InvalidRequest,
            "`gemini` answered 400: contents is not specified",
        ),
        (
            400,
            "INVALID_ARGUMENT",
            "The input token count (9) exceeds the maximum number of tokens allowed (8).",
            json!([]),
            FailureClass::PromptTooLong,
            "`gemini` answered 400: The input token count (9) exceeds the maximum number of tokens allowed (8)",
        ),
        (
            400,
            "INVALID_ARGUMENT",
            "API key not valid. Please pass a valid API key.",
            key_invalid,
            FailureClass::AuthExpired,
            "`gemini` answered 400: API key not valid",
        ),
        (
            401,
            "UNAUTHENTICATED",
            "Who are you?",
            json!([]),
            FailureClass::AuthExpired,
            "`gemini` answered 401: Who are you?",
        ),
        (
            403,
            "PERMISSION_DENIED",
            "No access",
            json!([]),
            FailureClass::PermissionDenied,
            "`gemini` answered 403: No access",
        ),
        (
            404,
            "NOT_FOUND",
            "models/x is not found for API version v1beta",
            json!([]),
            FailureClass::ModelNotFound,
            "`gemini` answered 404: models/x is not found for API version v1beta",
        ),
        (
            500,
            "INTERNAL",
            "An internal error has occurred",
            json!([]),
            FailureClass::Provider5xx,
            "`gemini` answered 500: An internal error has occurred",
        ),
    ] {
        let error = json!({ "code": status, "status": name, "message": said, "details": details });
        let server = Server::start([Reply::json(status, &json!({ "error": error }))]).await;
        let error = failure(provider(&server).stream(question())).await;
        check(&error, class, Stage::FirstChunk, message);
    }
}

#[tokio::test]
async fn a_rate_limit_says_when_to_ask_again() {
    let details = json!([{ "retryDelay": "34s" }]);
    let body = json!({ "error": { "code": 429, "message": "Quota", "details": details } });
    let now = "Sun, 06 Nov 1994 08:49:37 GMT";
    let then = "Sun, 06 Nov 1994 08:49:39 GMT";
    for (reply, seconds) in [
        (Reply::json(429, &body), 34),
        (Reply::json(429, &body).header("retry-after", "5"), 5),
        (
            Reply::status(429)
                .header("date", now)
                .header("retry-after", then),
            2,
        ),
    ] {
        let server = Server::start([reply]).await;
        let error = failure(provider(&server).stream(question())).await;
        assert_eq!(error.class, FailureClass::RateLimit);
        assert_eq!(error.retry_after, Some(Duration::from_secs(seconds)));
    }
}

#[tokio::test]
async fn an_error_event_ends_the_stream() {
    let error = json!({ "code": 503, "status": "UNAVAILABLE", "message": "Overloaded." });
    let begun = said(&json!([{ "text": "Hi" }]));
    let reply = Reply::stream().events(&[begun, json!({ "error": error })]);
    let mut server = Server::start([reply.hold()]).await;
    let (events, error) = all(provider(&server).stream(question())).await;
    assert_eq!(events, [text("Hi")]);
    let message = "`gemini` reported an error: Overloaded";
    check(
        &error.unwrap(),
        FailureClass::Provider5xx,
        Stage::MidStream,
        message,
    );
    server.closed().await;
}

#[tokio::test]
async fn the_key_is_in_no_error() {
    let echo = json!({ "error": { "message": format!("bad key {KEY}") } });
    for reply in [
        Reply::json(403, &echo),
        Reply::stream().events(std::slice::from_ref(&echo)),
    ] {
        let server = Server::start([reply]).await;
        let error = failure(provider(&server).stream(question())).await;
        assert!(error.message.ends_with("bad key ***"), "{error}");
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let slow = Reply::stream()
        .events(&[said(&json!([{ "text": "Hi" }]))])
        .hold();
    let mut server = Server::start([slow]).await;
    let mut stream = provider(&server).stream(question());
    assert_eq!(stream.next().await, Some(Ok(text("Hi"))));
    drop(stream);
    server.closed().await;
}

#[tokio::test]
async fn a_silence_that_is_too_long_is_a_stall() {
    let begun = Reply::stream()
        .events(&[said(&json!([{ "text": "Hi" }]))])
        .hold();
    for (reply, stage) in [
        (Reply::silence(), Stage::FirstChunk),
        (begun, Stage::MidStream),
    ] {
        let server = Server::start([reply]).await;
        let is_first = stage == Stage::FirstChunk;
        let timeouts = Timeouts {
            first_chunk: if is_first {
                SHORT
            } else {
                patient().first_chunk
            },
            idle: SHORT,
            ..patient()
        };
        let provider = Gemini::new(server.base.clone(), key(), timeouts, client());
        let error = all(provider.stream(question())).await.1.unwrap();
        let message = "`gemini` sent no data before the timeout";
        check(&error, FailureClass::StreamStall, stage, message);
    }
}

#[tokio::test]
async fn models_that_answer_are_listed() {
    let list = json!({ "models": [
        {
            "name": "models/one",
            "displayName": "Number One",
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        },
        { "name": "models/two" },
        { "name": "models/three", "supportedGenerationMethods": ["embedContent"] },
    ] });
    let mut server = Server::start([Reply::json(200, &list)]).await;
    let models = provider(&server).models(MAY).await.unwrap();
    let model = |id: &str, title: &str| Model {
        id: id.to_owned(),
        title: title.to_owned(),
    };
    assert_eq!(models, [model("one", "Number One"), model("two", "two")]);
    let request = server.request().await;
    assert_eq!(request.line, "GET /v1beta/models?pageSize=1000");
    assert_eq!(request.headers["x-goog-api-key"], KEY);
}
