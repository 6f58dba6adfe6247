//! `provider/*` through a client.

use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;
use rpc::Client;
use serde_json::{Value, json};
use testkit::{TestGateway, answer, refusal, told_until};

const KEY: &str = "sk-test-0123456789abcdef";

/// A gateway whose other providers have keys, so that the environment of the test does not matter.
async fn with_keys() -> (TestGateway, Client) {
    let config = "[providers.anthropic]\napi_key = \"ka\"\n[providers.gemini]\napi_key = \"kg\"\n[providers.openai]\nbase_url = \"http://127.0.0.1:9\"\n";
    let running = testkit::gateway_with_config(config).await;
    let client = running.client();
    (running, client)
}

fn key(provider: &str, key: &str) -> Value {
    json!({"provider": provider, "api_key": key})
}

/// Returns the source of a provider's key.
async fn source(client: &Client, provider: &str) -> Value {
    let listed = client.call_raw("provider/list", json!({})).await;
    let listed = listed.expect("providers can be listed");
    let items = listed["items"].as_array().expect("a list").iter();
    let mut found = items.filter(|item| item["id"] == provider);
    found.next().expect("the provider is known")["key_source"].clone()
}

#[tokio::test]
async fn providers_are_listed_with_the_origin_of_their_keys() {
    let (_running, client) = with_keys().await;
    answer(&client, "provider/set_api_key", key("openai", KEY)).await;
    assert_snapshot!(answer(&client, "provider/list", json!({})).await, @r#"{"items":[{"available":true,"id":"echo","key_source":"not_needed","title":"Echo"},{"available":true,"id":"openai","key_source":"stored","title":"OpenAI-compatible"},{"available":true,"id":"anthropic","key_source":"config","title":"Anthropic"},{"available":true,"id":"gemini","key_source":"config","title":"Gemini"}]}"#);
}

#[tokio::test]
async fn a_stored_key_wins_and_is_for_its_owner_alone() {
    let (running, client) = with_keys().await;
    assert_eq!(source(&client, "anthropic").await, "config");
    assert_snapshot!(answer(&client, "provider/set_api_key", key("anthropic", &format!(" {KEY}\n"))).await, @r#"{"provider":{"available":true,"id":"anthropic","key_source":"stored","title":"Anthropic"}}"#);
    let file = running.home().join("provider_keys.json");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let kept: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(kept, json!({"anthropic": KEY}));
    // A process that starts now reads the stored key.
    let neighbour = running.neighbour().await;
    assert_eq!(source(&neighbour.client(), "anthropic").await, "stored");

    let delete = json!({"provider": "anthropic"});
    assert_eq!(
        answer(&client, "provider/delete_api_key", delete.clone()).await,
        r#"{"deleted":true}"#
    );
    assert_eq!(
        answer(&client, "provider/delete_api_key", delete).await,
        r#"{"deleted":false}"#
    );
    assert_eq!(source(&client, "anthropic").await, "config");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{}");
}

#[tokio::test]
async fn a_key_that_cannot_be_one_is_refused_and_not_repeated() {
    let (running, client) = with_keys().await;
    for bad in [
        "",
        "  ",
        "sk test",
        "sk-tëst",
        "sk-1\r\nx: y",
        "\u{1}",
        &"k".repeat(4097),
    ] {
        let refused = answer(&client, "provider/set_api_key", key("openai", bad)).await;
        assert_eq!(
            refused,
            r#"-32602 invalid params for `provider/set_api_key`: expected 1 to 4096 printable characters {"kind":"invalid_params","path":"/api_key"}"#
        );
    }
    assert!(!running.home().join("provider_keys.json").exists());
    assert_snapshot!(answer(&client, "provider/set_api_key", key("echo", KEY)).await, @r#"-32602 invalid params for `provider/set_api_key`: `echo` needs no key {"kind":"invalid_params","path":"/provider"}"#);
}

#[tokio::test]
async fn a_provider_has_to_be_there() {
    let (_running, client) = with_keys().await;
    for method in [
        "provider/set_api_key",
        "provider/delete_api_key",
        "provider/models/list",
    ] {
        let refused = answer(&client, method, key("other", KEY)).await;
        assert_eq!(
            refused,
            format!(
                r#"-32602 invalid params for `{method}`: there is no provider `other` {{"hint":"`provider/list` names them","kind":"unknown_provider","path":"/provider"}}"#
            )
        );
    }
    assert_eq!(
        refusal(&client, "provider/models/list", json!({})).await,
        "-32602 invalid_params"
    );
}

#[tokio::test]
async fn models_are_listed_by_asking_the_service() {
    let mut model = testkit::model_server().await;
    let running = testkit::gateway_with_config(&model.config(KEY)).await;
    let client = running.client();
    let list = json!({"provider": "openai"});
    let (answered, ()) = tokio::join!(
        answer(&client, "provider/models/list", list.clone()),
        async {
            let question = model.question().await;
            assert_eq!(question.line, "GET /models");
            assert_eq!(question.headers["authorization"], format!("Bearer {KEY}"));
            question
                .reply(
                    200,
                    &[],
                    &json!({"data": [{"id": "small"}, {"id": "large"}]}),
                )
                .await;
        }
    );
    assert_eq!(
        answered,
        r#"{"items":[{"id":"large","title":"large"},{"id":"small","title":"small"}]}"#
    );
    let (refused, ()) = tokio::join!(answer(&client, "provider/models/list", list), async {
        let body = json!({"error": {"message": format!("Incorrect API key provided: {KEY}")}});
        model.question().await.reply(401, &[], &body).await;
    });
    assert_snapshot!(refused, @r#"-32600 `openai` answered 401: Incorrect API key provided: *** {"class":"auth_expired","kind":"provider_failed"}"#);
    assert_eq!(
        answer(&client, "provider/models/list", json!({"provider": "echo"})).await,
        r#"{"items":[{"id":"echo","title":"Echo"}]}"#
    );
}

#[tokio::test]
async fn a_service_that_is_not_there_is_named() {
    let (_running, client) = with_keys().await;
    let list = json!({"provider": "openai"});
    assert_snapshot!(answer(&client, "provider/models/list", list).await, @r#"-32600 `openai` could not be reached at `http://127.0.0.1:9`: the connection was refused, no program listens on the port {"class":"network_transient","kind":"provider_failed"}"#);
}

#[tokio::test]
async fn a_new_key_is_used_by_the_next_turn_and_shown_nowhere() {
    let mut model = testkit::model_server().await;
    let running = testkit::gateway_with_config(&model.config("sk-old")).await;
    let client = running.client();
    let mut seen = Vec::new();
    for (method, params) in [
        ("provider/set_api_key", key("openai", KEY)),
        ("provider/list", json!({})),
        ("workspace/create", json!({"workspace_id": "ws_a"})),
        (
            "thread/start",
            json!({"workspace_id": "ws_a", "thread_id": "thr_a", "model": "m", "model_provider": "openai"}),
        ),
        (
            "turn/start",
            json!({"thread_id": "thr_a", "turn_id": "trn_1", "input": [{"type": "text", "text": "hello"}]}),
        ),
    ] {
        seen.push(answer(&client, method, params).await);
    }
    let question = model.question().await;
    assert_eq!(question.headers["authorization"], format!("Bearer {KEY}"));
    assert!(!question.body.to_string().contains(KEY));
    question
        .reply(
            401,
            &[],
            &json!({"error": {"message": format!("bad key {KEY}")}}),
        )
        .await;
    seen.push(told_until(&client, "turn/failed").await);
    for (method, params) in [
        (
            "turn/get",
            json!({"thread_id": "thr_a", "turn_id": "trn_1"}),
        ),
        ("thread/history", json!({"thread_id": "thr_a"})),
        ("hook/runs/list", json!({"workspace_id": "ws_a"})),
        ("provider/delete_api_key", json!({"provider": "openai"})),
    ] {
        seen.push(answer(&client, method, params).await);
    }
    assert!(!seen.iter().any(|text| text.contains(KEY)), "{seen:#?}");
}
