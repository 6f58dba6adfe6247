//! Tests the `anthropic` provider against an HTTP server on a real socket.
//!
//! `openai.rs` tests the behaviour shared by all providers, such as timeouts, in more detail.

use std::time::Duration;

use agent::provider::{
    Availability, FailureClass, FinishReason, Model, ModelEvent, Provider, Stage, Timeouts, Usage,
    anthropic::Anthropic,
};
use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::server::{
    KEY, MAY, Reply, SHORT, Server, all, check, client, failure, key, patient, question, reasoning,
    text,
};

fn provider(server: &Server) -> Anthropic {
    Anthropic::new(server.base.clone(), key(), patient(), client())
}

/// Formats a reply with one named event per value.
fn named(reply: Reply, events: &[Value]) -> Reply {
    let text: String = events
        .iter()
        .map(|event| {
            let name = event["type"].as_str().expect("a type");
            format!("event: {name}\ndata: {event}\n\n")
        })
        .collect();
    reply.chunk(text)
}

fn start() -> Value {
    json!({ "type": "message_start", "message": { "id": "msg_1", "content": [], "usage": {
        "input_tokens": 4, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 6, "output_tokens": 1,
    } } })
}

fn said(text: &str) -> Value {
    let delta = json!({ "type": "text_delta", "text": text });
    json!({ "type": "content_block_delta", "index": 1, "delta": delta })
}

fn stop(reason: &str) -> [Value; 2] {
    let delta = json!({ "stop_reason": reason, "stop_sequence": null });
    [
        json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 8 } }),
        json!({ "type": "message_stop" }),
    ]
}

fn usage(output_tokens: u64) -> ModelEvent {
    ModelEvent::Usage(Usage {
        input_tokens: 15,
        cached_input_tokens: 5,
        output_tokens,
    })
}

#[tokio::test]
async fn the_question_is_sent_as_messages() {
    let mut server = Server::start([Reply::stream()]).await;
    all(provider(&server).stream(question())).await;
    let request = server.request().await;
    assert_eq!(request.line, "POST /v1/messages");
    assert_eq!(request.headers["x-api-key"], KEY);
    assert_eq!(request.headers["anthropic-version"], "2023-06-01");
    assert_eq!(request.headers["content-type"], "application/json");
    assert_eq!(
        request.body,
        json!({
            "model": "some-model",
            "max_tokens": 99,
            "stream": true,
            "system": [
                { "type": "text", "text": "Be kind.", "cache_control": { "type": "ephemeral" } },
                { "type": "text", "text": "Today is Friday." },
            ],
            "messages": [
                { "role": "user", "content": "Hello" },
                { "role": "assistant", "content": "Hi!" },
                { "role": "user", "content": "Grüße 😀\nbye" },
            ],
        })
    );
}

#[tokio::test]
async fn what_is_empty_is_not_sent() {
    let mut server = Server::start([Reply::stream()]).await;
    let mut question = question();
    question.system_stable.clear();
    question.system_dynamic.clear();
    question.messages[1].text.clear();
    question.max_output_tokens = None;
    all(provider(&server).stream(question)).await;
    let body = server.request().await.body;
    assert_eq!(body.get("system"), None);
    assert_eq!(body["messages"].as_array().map(Vec::len), Some(2));
    assert_eq!(body["max_tokens"], 8192);
}

#[tokio::test]
async fn the_vendor_is_not_asked_without_a_key() {
    let provider = Anthropic::new(Anthropic::default_base(), None, patient(), client());
    let variable = "ANTHROPIC_API_KEY";
    assert_eq!(provider.availability(), Availability::NeedsKey { variable });
    let error = failure(provider.stream(question())).await;
    assert_eq!(
        (error.class, error.stage),
        (FailureClass::AuthExpired, Stage::Connect)
    );
}

#[tokio::test]
async fn an_answer_is_text_reasoning_usage_and_an_end() {
    let block = json!({ "type": "thinking", "thinking": "", "signature": "" });
    let thought = json!({ "type": "thinking_delta", "thinking": "hm" });
    let signature = json!({ "type": "signature_delta", "signature": "c2ln" });
    let reply = named(
        Reply::stream(),
        &[
            start(),
            json!({ "type": "ping" }),
            json!({ "type": "content_block_start", "index": 0, "content_block": block }),
            json!({ "type": "content_block_delta", "index": 0, "delta": thought }),
            json!({ "type": "content_block_delta", "index": 0, "delta": signature }),
            json!({ "type": "content_block_stop", "index": 0 }),
            said("Hel"),
            said("lo"),
            json!({ "type": "something_new" }),
        ],
    );
    let server = Server::start([named(reply, &stop("end_turn"))]).await;
    let (events, error) = all(provider(&server).stream(question())).await;
    assert_eq!(error, None);
    assert_eq!(
        events,
        [
            usage(1),
            reasoning("hm"),
            text("Hel"),
            text("lo"),
            usage(8),
            ModelEvent::Finished(FinishReason::Stop),
        ]
    );
}

#[tokio::test]
async fn characters_are_not_harmed_by_chunks_that_cut_them() {
    let words = "Grüße 😀 漢字";
    let [delta, stop] = stop("end_turn");
    let answer = format!("data: {}\n\ndata: {delta}\n\ndata: {stop}\n\n", said(words));
    for size in 1..4 {
        let server = Server::start([Reply::stream().crumbs(&answer, size)]).await;
        let (events, error) = all(provider(&server).stream(question())).await;
        assert_eq!((events.first(), error), (Some(&text(words)), None));
    }
}

#[tokio::test]
async fn the_reason_of_the_end_is_told() {
    for (reason, expected) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("refusal", FinishReason::ContentFilter),
    ] {
        let server = Server::start([named(Reply::stream(), &stop(reason))]).await;
        let (events, error) = all(provider(&server).stream(question())).await;
        let end = ModelEvent::Finished(expected);
        assert_eq!((events.last(), error), (Some(&end), None));
    }
}

#[tokio::test]
async fn a_stream_cut_in_the_middle_is_truncated() {
    let reply = named(Reply::stream(), &[start(), said("Hi")]).cut();
    let server = Server::start([reply]).await;
    let (events, error) = all(provider(&server).stream(question())).await;
    assert_eq!(events, [usage(1), text("Hi")]);
    let class = FailureClass::StreamTruncated;
    let message = "`anthropic` ended the response before it was complete";
    check(&error.unwrap(), class, Stage::MidStream, message);
}

#[tokio::test]
async fn an_error_status_has_its_class_and_the_words_of_the_service() {
    for (status, kind, said, class, message) in [
        (
            400,
            "invalid_request_error",
            "messages: at least one message is required",
            FailureClass::InvalidRequest,
            "`anthropic` answered 400: messages: at least one message is required",
        ),
        (
            400,
            "invalid_request_error",
            "prompt is too long: 200001 tokens > 200000 maximum",
            FailureClass::PromptTooLong,
            "`anthropic` answered 400: prompt is too long: 200001 tokens > 200000 maximum",
        ),
        (
            401,
            "authentication_error",
            "invalid x-api-key",
            FailureClass::AuthExpired,
            "`anthropic` answered 401: invalid x-api-key",
        ),
        (
            403,
            "permission_error",
            "Not allowed.",
            FailureClass::PermissionDenied,
            "`anthropic` answered 403: Not allowed",
        ),
        (
            404,
            "not_found_error",
            "model: some-model",
            FailureClass::ModelNotFound,
            "`anthropic` answered 404: model: some-model",
        ),
        (
            413,
            "request_too_large",
            "Request exceeds the maximum size",
            FailureClass::PromptTooLong,
            "`anthropic` answered 413: Request exceeds the maximum size",
        ),
        (
            500,
            "api_error",
            "Internal server error",
            FailureClass::Provider5xx,
            "`anthropic` answered 500: Internal server error",
        ),
        (
            529,
            "overloaded_error",
            "Overloaded",
            FailureClass::Provider5xx,
            "`anthropic` answered 529: Overloaded",
        ),
    ] {
        let body = json!({ "type": "error", "error": { "type": kind, "message": said } });
        let server = Server::start([Reply::json(status, &body)]).await;
        let error = failure(provider(&server).stream(question())).await;
        check(&error, class, Stage::FirstChunk, message);
    }
}

#[tokio::test]
async fn a_rate_limit_says_when_to_ask_again() {
    let now = "Sun, 06 Nov 1994 08:49:37 GMT";
    for (after, seconds) in [("12", 12), ("Sun, 06 Nov 1994 08:49:40 GMT", 3)] {
        let reply = Reply::status(429)
            .header("date", now)
            .header("retry-after", after);
        let server = Server::start([reply]).await;
        let error = failure(provider(&server).stream(question())).await;
        assert_eq!(error.class, FailureClass::RateLimit);
        assert_eq!(error.retry_after, Some(Duration::from_secs(seconds)));
    }
}

#[tokio::test]
async fn an_error_event_ends_the_stream() {
    for (before, stage) in [
        (vec![start()], Stage::FirstChunk),
        (vec![start(), said("Hi")], Stage::MidStream),
    ] {
        let error = json!({ "type": "overloaded_error", "message": "Overloaded" });
        let event = json!({ "type": "error", "error": error });
        let reply = named(named(Reply::stream(), &before), &[event]);
        let mut server = Server::start([reply.hold()]).await;
        let (events, error) = all(provider(&server).stream(question())).await;
        assert_eq!(events.len(), before.len());
        let message = "`anthropic` reported an error: Overloaded";
        check(&error.unwrap(), FailureClass::Provider5xx, stage, message);
        server.closed().await;
    }
}

#[tokio::test]
async fn the_key_is_in_no_error() {
    let echo = json!({ "type": "error", "error": { "message": format!("bad key {KEY}") } });
    for reply in [
        Reply::json(401, &echo),
        Reply::stream().events(std::slice::from_ref(&echo)),
    ] {
        let server = Server::start([reply]).await;
        let error = failure(provider(&server).stream(question())).await;
        assert!(error.message.ends_with("bad key ***"), "{error}");
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let mut server = Server::start([named(Reply::stream(), &[said("Hi")]).hold()]).await;
    let mut stream = provider(&server).stream(question());
    assert_eq!(stream.next().await, Some(Ok(text("Hi"))));
    drop(stream);
    server.closed().await;
}

#[tokio::test]
async fn a_silence_that_is_too_long_is_a_stall() {
    let begun = named(Reply::stream(), &[said("Hi")]).hold();
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
        let provider = Anthropic::new(server.base.clone(), key(), timeouts, client());
        let error = all(provider.stream(question())).await.1.unwrap();
        let message = "`anthropic` sent no data before the timeout";
        check(&error, FailureClass::StreamStall, stage, message);
    }
}

#[tokio::test]
async fn models_are_listed_with_their_titles() {
    let list = json!({ "has_more": false, "data": [
        { "type": "model", "id": "one", "display_name": "Number One" },
        { "type": "model", "id": "two" },
    ] });
    let mut server = Server::start([Reply::json(200, &list)]).await;
    let models = provider(&server).models(MAY).await.unwrap();
    let model = |id: &str, title: &str| Model {
        id: id.to_owned(),
        title: title.to_owned(),
    };
    assert_eq!(models, [model("one", "Number One"), model("two", "two")]);
    let request = server.request().await;
    assert_eq!(request.line, "GET /v1/models?limit=1000");
    assert_eq!(request.headers["x-api-key"], KEY);
    assert_eq!(request.headers["anthropic-version"], "2023-06-01");
}
