//! Tests the `openai` provider, and the behaviour shared by all providers, against an HTTP server on a real socket.

use std::time::Duration;

use agent::provider::{
    ApiKey, Availability, FailureClass, FinishReason, Model, ModelEvent, Provider, Stage, Timeouts,
    Usage, http::BaseUrl, openai::OpenAi,
};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::server::{
    KEY, MAY, Reply, SHORT, Server, all, check, client, failure, key, patient, question, reasoning,
    text,
};

fn provider(server: &Server) -> OpenAi {
    OpenAi::new(server.base.clone(), key(), patient(), client())
}

fn delta(delta: &Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }], "usage": null })
}

fn finish(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

#[tokio::test]
async fn the_question_is_sent_as_a_chat_completion() {
    let mut server = Server::start([Reply::stream()]).await;
    all(provider(&server).stream(question())).await;
    let request = server.request().await;
    assert_eq!(request.line, "POST /chat/completions");
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(request.headers["content-type"], "application/json");
    assert!(request.headers["user-agent"].starts_with("accord/"));
    assert_eq!(
        request.body,
        json!({
            "model": "some-model",
            "messages": [
                { "role": "system", "content": "Be kind.\n\nToday is Friday." },
                { "role": "user", "content": "Hello" },
                { "role": "assistant", "content": "Hi!" },
                { "role": "user", "content": "Grüße 😀\nbye" },
            ],
            "stream": true,
            "stream_options": { "include_usage": true },
            "max_tokens": 99,
        })
    );
}

#[tokio::test]
async fn a_service_of_ones_own_needs_no_key() {
    let mut server = Server::start([Reply::stream()]).await;
    let provider = OpenAi::new(server.base.clone(), None, patient(), client());
    assert_eq!(provider.availability(), Availability::Ready);
    all(provider.stream(question())).await;
    assert!(!server.request().await.headers.contains_key("authorization"));
}

#[tokio::test]
async fn the_vendor_is_not_asked_without_a_key() {
    let provider = OpenAi::new(OpenAi::default_base(), None, patient(), client());
    let variable = "OPENAI_API_KEY";
    assert_eq!(provider.availability(), Availability::NeedsKey { variable });
    let error = failure(provider.stream(question())).await;
    let message = "`openai` needs an API key, `OPENAI_API_KEY` is not set";
    check(&error, FailureClass::AuthExpired, Stage::Connect, message);
    assert_eq!(provider.models(MAY).await.unwrap_err(), error);
}

#[tokio::test]
async fn a_key_with_strange_characters_is_not_sent() {
    let server = Server::start([]).await;
    let key = Some(ApiKey::new("sk-1\r\nx: y"));
    let provider = OpenAi::new(server.base.clone(), key, patient(), client());
    let error = failure(provider.stream(question())).await;
    assert_eq!(error.class, FailureClass::AuthExpired);
    assert!(!error.message.contains("sk-1"), "{error}");
}

#[tokio::test]
async fn an_answer_is_text_reasoning_usage_and_an_end() {
    let reply = Reply::stream()
        .chunk(": a comment\n\n")
        .events(&[
            delta(&json!({ "role": "assistant", "content": "" })),
            delta(&json!({ "reasoning_content": "hm", "content": null })),
            delta(&json!({ "content": "Hel" })),
            delta(&json!({ "content": "lo" })),
            finish("stop"),
            json!({ "choices": [], "usage": {
                "prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": { "cached_tokens": 5 },
            } }),
        ])
        .chunk("data: [DONE]\n\n");
    let server = Server::start([reply]).await;
    let (events, error) = all(provider(&server).stream(question())).await;
    assert_eq!(error, None);
    let usage = Usage {
        input_tokens: 7,
        cached_input_tokens: 5,
        output_tokens: 3,
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
    let said = "Grüße 😀 漢字";
    let answer = format!(
        "data: {}\r\n\r\ndata: {}\r\n\r\ndata: [DONE]",
        delta(&json!({ "content": said })),
        finish("stop")
    );
    for size in 1..4 {
        let server = Server::start([Reply::stream().crumbs(&answer, size)]).await;
        let (events, error) = all(provider(&server).stream(question())).await;
        let end = ModelEvent::Finished(FinishReason::Stop);
        assert_eq!((events, error), (vec![text(said), end], None));
    }
}

#[tokio::test]
async fn the_reason_of_the_end_is_told() {
    for (said, expected) in [
        ("length", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
        ("tool_calls", FinishReason::Stop),
    ] {
        let server = Server::start([Reply::stream().events(&[finish(said)])]).await;
        let (events, error) = all(provider(&server).stream(question())).await;
        assert_eq!(
            (events, error),
            (vec![ModelEvent::Finished(expected)], None)
        );
    }
}

#[tokio::test]
async fn a_connection_that_breaks_after_the_reason_leaves_the_answer_complete() {
    let reply = Reply::stream()
        .events(&[delta(&json!({ "content": "Hi" })), finish("stop")])
        .cut();
    let server = Server::start([reply]).await;
    let (events, error) = all(provider(&server).stream(question())).await;
    let end = ModelEvent::Finished(FinishReason::Stop);
    assert_eq!((events, error), (vec![text("Hi"), end], None));
}

#[tokio::test]
async fn a_stream_cut_in_the_middle_is_truncated() {
    let begun = || Reply::stream().events(&[delta(&json!({ "content": "Hi" }))]);
    for reply in [
        begun().cut(),
        begun().chunk("data: {\"choi").cut(),
        begun(),
        begun().chunk("data: {\"choi"),
    ] {
        let server = Server::start([reply]).await;
        let (events, error) = all(provider(&server).stream(question())).await;
        assert_eq!(events, [text("Hi")]);
        let class = FailureClass::StreamTruncated;
        let message = "`openai` ended the response before it was complete";
        check(&error.unwrap(), class, Stage::MidStream, message);
    }
}

#[tokio::test]
async fn a_stream_that_ends_without_a_word_is_truncated() {
    for (reply, stage) in [
        (Reply::stream(), Stage::FirstChunk),
        (Reply::stream().chunk("data: [DONE]\n\n"), Stage::Finalize),
    ] {
        let server = Server::start([reply]).await;
        let error = failure(provider(&server).stream(question())).await;
        assert_eq!(
            (error.class, error.stage),
            (FailureClass::StreamTruncated, stage)
        );
    }
}

#[tokio::test]
async fn an_error_status_has_its_class_and_the_words_of_the_service() {
    let body = |message: &str, code: &str| json!({ "error": { "message": message, "type": "invalid_request_error", "code": code } });
    for (status, body, class, message) in [
        (
            400,
            body("Unknown parameter: 'x'.", "unknown_parameter"),
            FailureClass::InvalidRequest,
            "`openai` answered 400: Unknown parameter: 'x'",
        ),
        (
            400,
            body(
                "This model's maximum context length is 8 tokens. However, you sent 9.",
                "context_length_exceeded",
            ),
            FailureClass::PromptTooLong,
            "`openai` answered 400: This model's maximum context length is 8 tokens",
        ),
        (
            401,
            body("Incorrect API key provided", "invalid_api_key"),
            FailureClass::AuthExpired,
            "`openai` answered 401: Incorrect API key provided",
        ),
        (
            403,
            body("Country not supported", "unsupported_country"),
            FailureClass::PermissionDenied,
            "`openai` answered 403: Country not supported",
        ),
        (
            404,
            json!({ "error": "model 'x' not found" }),
            FailureClass::ModelNotFound,
            "`openai` answered 404: model 'x' not found",
        ),
        (
            413,
            json!({}),
            FailureClass::PromptTooLong,
            "`openai` answered 413",
        ),
        (
            500,
            json!({ "detail": "oops" }),
            FailureClass::Provider5xx,
            "`openai` answered 500: oops",
        ),
        (
            529,
            json!(null),
            FailureClass::Provider5xx,
            "`openai` answered 529",
        ),
    ] {
        let server = Server::start([Reply::json(status, &body)]).await;
        let error = failure(provider(&server).stream(question())).await;
        check(&error, class, Stage::FirstChunk, message);
        assert_eq!(error.retry_after, None);
    }
}

#[tokio::test]
async fn a_rate_limit_says_when_to_ask_again() {
    let now = "Sun, 06 Nov 1994 08:49:37 GMT";
    for (after, seconds) in [("7", 7), ("Sun, 06 Nov 1994 08:50:07 GMT", 30)] {
        let reply = Reply::json(429, &json!({ "error": { "message": "Slow down" } }))
            .header("date", now)
            .header("retry-after", after);
        let server = Server::start([reply]).await;
        let error = failure(provider(&server).stream(question())).await;
        let message = "`openai` answered 429: Slow down";
        check(&error, FailureClass::RateLimit, Stage::FirstChunk, message);
        assert_eq!(error.retry_after, Some(Duration::from_secs(seconds)));
    }
}

#[tokio::test]
async fn an_error_event_ends_the_stream() {
    let event = json!({ "error": { "message": "Upstream is busy", "code": 429 } });
    let reply = Reply::stream().events(&[delta(&json!({ "content": "Hi" })), event]);
    let server = Server::start([reply.hold()]).await;
    let (events, error) = all(provider(&server).stream(question())).await;
    assert_eq!(events, [text("Hi")]);
    let message = "`openai` reported an error: Upstream is busy";
    check(
        &error.unwrap(),
        FailureClass::RateLimit,
        Stage::MidStream,
        message,
    );
}

#[tokio::test]
async fn what_is_no_stream_of_events_is_refused() {
    for (reply, class, message) in [
        (
            Reply::stream().chunk("data: <oops>\n\n"),
            FailureClass::Unknown,
            "`openai` sent an event that is not JSON",
        ),
        (
            Reply::stream().chunk(vec![b'a'; 16 * 1024 * 1024 + 1]),
            FailureClass::Unknown,
            "`openai` sent an event of more than 16 MiB",
        ),
        (
            Reply::json(200, &json!({ "choices": [] })),
            FailureClass::Unknown,
            "`openai` did not respond with an event stream",
        ),
        (
            Reply::json(
                200,
                &json!({ "error": { "message": "No", "code": "server_error" } }),
            ),
            FailureClass::Provider5xx,
            "`openai` reported an error: No",
        ),
    ] {
        let server = Server::start([reply]).await;
        let error = failure(provider(&server).stream(question())).await;
        check(&error, class, Stage::FirstChunk, message);
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let mut elsewhere = Server::start([Reply::stream()]).await;
    let reply = Reply::status(307).header("location", elsewhere.base.as_str());
    let server = Server::start([reply]).await;
    let error = failure(provider(&server).stream(question())).await;
    let message = "`openai` answered 307, a redirect, which is not followed";
    check(&error, FailureClass::Unknown, Stage::FirstChunk, message);
    // The redirect target must receive this request first, so the redirect itself sent nothing to it.
    all(provider(&elsewhere).stream(question())).await;
    assert_eq!(elsewhere.request().await.line, "POST /chat/completions");
}

#[tokio::test]
async fn the_key_is_in_no_error() {
    let echo = format!("Incorrect API key provided: {KEY}");
    for reply in [
        Reply::json(401, &json!({ "error": { "message": echo } })),
        Reply::status(500).chunk(echo.clone()),
        Reply::stream().events(&[json!({ "error": { "message": echo } })]),
    ] {
        let server = Server::start([reply]).await;
        let error = failure(provider(&server).stream(question())).await;
        assert!(error.message.ends_with("provided: ***"), "{error}");
        assert!(!format!("{error:?}").contains(KEY));
    }
    let server = Server::start([]).await;
    assert!(!format!("{:?}", provider(&server)).contains(KEY));
}

#[tokio::test]
async fn a_service_that_is_not_there_cannot_be_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = BaseUrl::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    drop(listener);
    let why = "the connection was refused, no program listens on the port";
    let message = format!("`openai` could not be reached at `{base}`: {why}");
    let provider = OpenAi::new(base, key(), patient(), client());
    let error = failure(provider.stream(question())).await;
    let class = FailureClass::NetworkTransient;
    check(&error, class, Stage::Connect, &message);
}

#[tokio::test]
async fn a_service_that_hangs_up_has_not_answered() {
    let server = Server::start([Reply::hang_up()]).await;
    let error = failure(provider(&server).stream(question())).await;
    let class = FailureClass::NetworkTransient;
    let message = "`openai` closed the connection before it sent a response";
    check(&error, class, Stage::Connect, message);
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let slow = Reply::stream()
        .events(&[delta(&json!({ "content": "Hi" }))])
        .hold();
    let mut server = Server::start([slow]).await;
    let mut stream = provider(&server).stream(question());
    assert_eq!(stream.next().await, Some(Ok(text("Hi"))));
    drop(stream);
    server.closed().await;
}

#[tokio::test]
async fn dropping_the_stream_before_an_answer_closes_the_connection() {
    let mut server = Server::start([Reply::silence()]).await;
    let mut stream = provider(&server).stream(question());
    tokio::select! {
        item = stream.next() => panic!("{item:?} came from a silent service"),
        _ = server.request() => {}
    }
    drop(stream);
    server.closed().await;
}

#[tokio::test]
async fn nothing_is_asked_before_the_first_poll() {
    let mut server = Server::start([Reply::stream()]).await;
    let provider = provider(&server);
    drop(provider.stream(question()));
    provider.models(MAY).await.unwrap_err();
    assert_eq!(server.request().await.line, "GET /models");
}

#[tokio::test]
async fn a_first_piece_that_does_not_come_is_a_stall() {
    let first_chunk = SHORT;
    for reply in [Reply::silence(), Reply::stream().hold()] {
        let server = Server::start([reply]).await;
        let timeouts = Timeouts {
            first_chunk,
            ..patient()
        };
        let provider = OpenAi::new(server.base.clone(), key(), timeouts, client());
        let error = failure(provider.stream(question())).await;
        let message = "`openai` sent no data before the timeout";
        check(
            &error,
            FailureClass::StreamStall,
            Stage::FirstChunk,
            message,
        );
    }
}

#[tokio::test]
async fn a_pause_that_is_too_long_is_a_stall() {
    let reply = Reply::stream()
        .events(&[delta(&json!({ "content": "Hi" }))])
        .hold();
    let mut server = Server::start([reply]).await;
    let timeouts = Timeouts {
        idle: SHORT,
        ..patient()
    };
    let provider = OpenAi::new(server.base.clone(), key(), timeouts, client());
    let (events, error) = all(provider.stream(question())).await;
    assert_eq!(events, [text("Hi")]);
    let message = "`openai` sent no data before the timeout";
    check(
        &error.unwrap(),
        FailureClass::StreamStall,
        Stage::MidStream,
        message,
    );
    server.closed().await;
}

#[tokio::test]
async fn models_are_listed_in_order() {
    let list = json!({ "object": "list", "data": [{ "id": "b" }, { "id": "a" }] });
    let mut server = Server::start([Reply::json(200, &list)]).await;
    let models = provider(&server).models(MAY).await.unwrap();
    let model = |id: &str| Model {
        id: id.to_owned(),
        title: id.to_owned(),
    };
    assert_eq!(models, [model("a"), model("b")]);
    let request = server.request().await;
    assert_eq!(request.line, "GET /models");
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
}

#[tokio::test]
async fn a_list_that_fails_says_why() {
    let json = || Reply::status(200).header("content-type", "application/json");
    for (reply, class, stage) in [
        (
            Reply::status(401),
            FailureClass::AuthExpired,
            Stage::FirstChunk,
        ),
        (
            json().chunk("<html>"),
            FailureClass::Unknown,
            Stage::Finalize,
        ),
        (
            json().chunk("{").cut(),
            FailureClass::StreamTruncated,
            Stage::MidStream,
        ),
    ] {
        let server = Server::start([reply]).await;
        let error = provider(&server).models(MAY).await.unwrap_err();
        assert_eq!((error.class, error.stage), (class, stage));
    }
}

#[tokio::test]
async fn a_list_that_does_not_end_is_a_stall() {
    for reply in [Reply::silence(), Reply::status(200).chunk("{").hold()] {
        let server = Server::start([reply]).await;
        let timeouts = Timeouts {
            whole: SHORT,
            ..patient()
        };
        let provider = OpenAi::new(server.base.clone(), key(), timeouts, client());
        let error = provider.models(MAY).await.unwrap_err();
        assert_eq!(error.class, FailureClass::StreamStall);
    }
}
