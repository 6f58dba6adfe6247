//! Calls through the router, with methods declared outside of the protocol.

use futures_util::future::join_all;
use insta::assert_snapshot;
use rpc::{Client, client::Error};
use serde_json::{Value, json};

use crate::desk::{self, Desk, DeskEcho, DeskEchoParams, DeskEchoResponse};

fn client() -> Client {
    rpc::memory::connect(Desk::new())
}

/// Formats an error as text: code, message and data.
async fn failure(client: &Client, method: &str, params: Value) -> String {
    match client.call_raw(method, params).await {
        Err(Error::Rpc {
            code,
            message,
            data,
        }) => format!("{code} {message} {data}"),
        other => panic!("expected an error, found {other:?}"),
    }
}

#[tokio::test]
async fn a_method_declared_here_is_called_by_its_type() {
    let params = DeskEchoParams {
        text: "hello".to_owned(),
        drawers: Vec::new(),
    };
    let answer = client().call::<DeskEcho>(params).await.unwrap();
    assert_eq!(
        answer,
        DeskEchoResponse {
            text: "hello".to_owned()
        }
    );
    assert_eq!(desk::FAMILY.methods.len(), 5);
}

#[tokio::test]
async fn a_panic_is_an_answer_without_its_message_and_the_next_call_works() {
    let client = client();
    let Err(Error::Rpc {
        code,
        message,
        data,
    }) = client.call_raw("desk/panic", json!({})).await
    else {
        panic!("the handler panics");
    };
    let incident = data["incident_id"].as_str().unwrap();
    assert_eq!((code, &data["kind"]), (-32600, &json!("internal")));
    assert!(incident.starts_with("inc_"), "{incident}");
    assert_eq!(
        message,
        format!("internal error: see incident `{incident}` in the gateway log")
    );
    let next = client
        .call_raw("desk/echo", json!({"text": "still here"}))
        .await;
    assert_eq!(next.unwrap(), json!({"text": "still here"}));
}

#[tokio::test]
async fn an_unknown_method_is_not_a_bad_param() {
    let client = client();
    assert_snapshot!(failure(&client, "desk/none", json!({"text": 1})).await, @r#"-32601 Unknown method: desk/none {"kind":"method_not_found"}"#);
    assert_snapshot!(failure(&client, "desk.none", json!({})).await, @r#"-32601 Unknown method: desk.none {"reason_code":"METHOD_NOT_FOUND"}"#);
    assert_snapshot!(failure(&client, "desk/echo", json!({"text": 1})).await, @r#"-32602 invalid params for `desk/echo`: invalid type: integer `1`, expected a string {"kind":"invalid_params","path":"/text"}"#);
}

#[tokio::test]
async fn a_bad_param_is_pointed_at() {
    let client = client();
    let table = [
        json!({}),
        json!({"text": null}),
        json!({"text": "x", "drawers": 5}),
        json!({"text": "x", "drawers": [{"a/b": 1}, {"a/b": -1}]}),
        json!({"text": "x", "drawers": [{"a/b": 1}, {}]}),
        json!([1, 2]),
        json!("text"),
    ];
    let mut pointers = Vec::new();
    for params in table {
        let Err(Error::Rpc { code, data, .. }) = client.call_raw("desk/echo", params.clone()).await
        else {
            panic!("{params} is accepted");
        };
        pointers.push(format!("{code} {} {params}", data["path"]));
    }
    assert_snapshot!(pointers.join("\n"), @r#"
    -32602 "/text" {}
    -32602 "/text" {"text":null}
    -32602 "/drawers" {"drawers":5,"text":"x"}
    -32602 "/drawers/1/a~1b" {"drawers":[{"a/b":1},{"a/b":-1}],"text":"x"}
    -32602 "/drawers/1/a~1b" {"drawers":[{"a/b":1},{}],"text":"x"}
    -32602 "" [1,2]
    -32602 "" "text"
    "#);
}

#[tokio::test]
async fn the_company_family_lists_issues() {
    let client = client();
    let params = json!({"text": "x", "drawers": [{}]});
    assert_snapshot!(failure(&client, "desk.echo", params).await, @r#"-32602 Invalid params [{"code":"invalid_type","expected":"number","message":"Invalid input: expected number, received undefined","path":["drawers",0,"a/b"]}]"#);
}

#[tokio::test]
async fn a_call_that_may_not_happen_is_refused_before_its_handler() {
    let client = client();
    let refused = failure(&client, "desk/secret", json!({"workspace_id": "ws_secret"})).await;
    assert_snapshot!(refused, @r#"-32043 `desk/secret` is not for you {"kind":"forbidden"}"#);
    let allowed = client
        .call_raw("desk/secret", json!({"workspace_id": "ws_open"}))
        .await;
    assert_eq!(allowed.unwrap(), json!({}));
}

#[tokio::test]
async fn too_many_waiting_requests_are_told_to_come_back() {
    let desk = Desk::new();
    let client = rpc::memory::connect(std::sync::Arc::clone(&desk));
    let extra = 7;
    let calls = (0..rpc::MAX_WAITING + extra).map(|_| client.call_raw("desk/wait", json!({})));
    let mut calls: Vec<_> = calls.map(Box::pin).collect();
    let mut last = calls.split_off(rpc::MAX_WAITING);
    let (waiting, refused) = tokio::join!(join_all(calls), async {
        let refused = join_all(&mut last).await;
        // Release the requests that still wait.
        desk.gate.add_permits(rpc::MAX_WAITING);
        refused
    });
    for refused in refused {
        let Err(Error::Rpc { code, data, .. }) = refused else {
            panic!("expected `overloaded`, found {refused:?}");
        };
        assert_eq!(
            (code, data),
            (-32001, json!({"kind": "overloaded", "retry_after_ms": 250}))
        );
    }
    for answered in waiting {
        assert_eq!(answered, Ok(json!({})));
    }
}
