//! Access rules for limited tokens.

use insta::assert_snapshot;
use rpc::Client;
use serde_json::{Value, json};
use testkit::{TestGateway, answer, refusal, told};

/// Creates two workspaces, each with a folder and a placed thread.
async fn two_workspaces() -> (TestGateway, Client) {
    let running = testkit::gateway().await;
    let owner = running.client();
    for (workspace, thread) in [("ws_a", "thr_a"), ("ws_b", "thr_b")] {
        let calls = [
            ("workspace/create", json!({"workspace_id": workspace})),
            (
                "thread/folder/create",
                json!({"workspace_id": workspace, "name": "Notes"}),
            ),
            (
                "thread/start",
                json!({"workspace_id": workspace, "thread_id": thread}),
            ),
            (
                "thread/move",
                json!({"workspace_id": workspace, "thread_id": thread}),
            ),
        ];
        for (method, params) in calls {
            let called = owner.call_raw(method, params).await;
            called.expect("the owner may do everything");
        }
    }
    (running, owner)
}

/// Returns valid params for every method, referring to objects of workspace `ws_a`.
fn params_of(method: &str) -> Value {
    let mut params = json!({"workspace_id": "ws_a", "thread_id": "thr_a",
        "folder_id": "fld_000000000000000001", "name": "Name", "after_seq": 1,
        "turn_id": "trn_a", "input": [{"type": "text", "text": "Hello"}],
        "content": "Text", "doc_id": "agd_a", "version": 1, "files": [],
        "artifact_id": "art_a", "upload_id": "upl_a", "download_id": "dwn_a", "message_id": "user_trn_a",
        "binding_kind": "manual_attach", "direction": "input", "client_attachment_id": "one",
        "file_name": "a.txt", "size_bytes": 1, "sha256": "0".repeat(64), "source_kind": "api",
        "offset": 0, "len": 1, "rationale": "Why", "proposal_id": "agp_a", "decision": "deny",
        "provider": "openai", "api_key": "key", "kind": "thread", "id": "thr_a",
        "items": [{"kind": "thread", "id": "thr_a"}], "content_base64": "AA==",
        "session_id": "dsk_a"});
    if method == "thread/agents_doc/import" {
        params["mode"] = "create".into();
    }
    if method == "thread/folder/move" {
        params["parent_folder_id"] = Value::Null;
    }
    params
}

#[tokio::test]
async fn a_token_that_may_only_read_calls_exactly_the_methods_that_read() {
    let (running, owner) = two_workspaces().await;
    let reader = running.client_with_token(&["read"], &[]).await;
    let before = answer(&owner, "thread/tree", json!({"workspace_id": "ws_a"})).await;
    told(&owner).await;
    for (family, method) in protocol::methods() {
        if family.dialect == protocol::Dialect::Company {
            continue;
        }
        let refused = refusal(&reader, method.name, params_of(method.name)).await;
        match method.access {
            // Methods that require the role human are forbidden for a worker token.
            protocol::Access::Read if method.needs.is_some() => {
                assert_eq!(refused, "-32043 forbidden", "{}", method.name);
            }
            protocol::Access::Read => {
                let is_answered = refused.starts_with("answered") || refused.contains("unknown");
                assert!(is_answered, "{}: {refused}", method.name);
            }
            protocol::Access::Propose
            | protocol::Access::Write
            | protocol::Access::Spend
            | protocol::Access::Exec => {
                assert_eq!(refused, "-32043 forbidden", "{}", method.name);
            }
        }
    }
    let after = answer(&owner, "thread/tree", json!({"workspace_id": "ws_a"})).await;
    assert_eq!(after, before);
    assert_eq!(told(&owner).await, "");
}

#[tokio::test]
async fn a_refusal_says_what_the_token_lacks() {
    let (running, _owner) = two_workspaces().await;
    let reader = running.client_with_token(&["read"], &["ws_a"]).await;
    let create = json!({"workspace_id": "ws_a", "name": "Notes"});
    assert_snapshot!(answer(&reader, "thread/folder/create", create).await, @r#"-32043 the token has no scope `write`, which this method needs {"kind":"forbidden"}"#);
    let tree = json!({"workspace_id": "ws_b"});
    assert_snapshot!(answer(&reader, "thread/tree", tree).await, @r#"-32043 the token is not valid for workspace `ws_b` {"kind":"forbidden"}"#);
}

#[tokio::test]
async fn a_token_that_may_write_writes() {
    let (running, owner) = two_workspaces().await;
    let writer = running
        .client_with_token(&["read", "write"], &["ws_b"])
        .await;
    told(&owner).await;
    let create = json!({"workspace_id": "ws_b", "name": "Notes"});
    assert_snapshot!(answer(&writer, "thread/folder/create", create).await, @r#"{"folder":{"created_at":1777900008,"id":"fld_000000000000000003","name":"Notes","updated_at":1777900008,"workspace_id":"ws_b"}}"#);
    assert_snapshot!(told(&owner).await, @r#"4 thread/tree/changed {"reason":"thread/folder/create","tree_version":3,"workspace_id":"ws_b"}"#);
}

#[tokio::test]
async fn a_token_for_one_workspace_cannot_touch_another_by_any_id() {
    let (running, owner) = two_workspaces().await;
    let limited = running
        .client_with_token(&["read", "write", "exec"], &["ws_b"])
        .await;
    let before = answer(&owner, "thread/tree", json!({"workspace_id": "ws_a"})).await;
    told(&owner).await;
    for (family, method) in protocol::methods() {
        // Company methods are rejected before they name an object; see `company.rs`.
        if family.dialect == protocol::Dialect::Company {
            continue;
        }
        let names_something = ![
            "workspace/list",
            "workspace/default",
            "system/methods",
            "system/capabilities",
            "provider/list",
            "provider/models/list",
        ]
        .contains(&method.name);
        if names_something {
            let refused = refusal(&limited, method.name, params_of(method.name)).await;
            assert_eq!(refused, "-32043 forbidden", "{}", method.name);
        }
    }
    let after = answer(&owner, "thread/tree", json!({"workspace_id": "ws_a"})).await;
    assert_eq!(after, before);
    assert_eq!(told(&owner).await, "");
}

#[tokio::test]
async fn things_of_another_workspace_are_not_in_the_own_one() {
    let (running, owner) = two_workspaces().await;
    let limited = running
        .client_with_token(&["read", "write"], &["ws_b"])
        .await;
    told(&owner).await;
    let folder = "fld_000000000000000001";
    let table = [
        (
            "thread/move",
            json!({"workspace_id": "ws_b", "thread_id": "thr_a"}),
            "-32602 unknown_thread",
        ),
        (
            "thread/update",
            json!({"workspace_id": "ws_b", "thread_id": "thr_a", "name": "N"}),
            "-32602 unknown_thread",
        ),
        (
            "thread/delete",
            json!({"workspace_id": "ws_b", "thread_id": "thr_a"}),
            "-32602 unknown_thread",
        ),
        (
            "thread/start",
            json!({"workspace_id": "ws_b", "thread_id": "thr_a"}),
            "-32602 unknown_thread",
        ),
        (
            "thread/folder/delete",
            json!({"workspace_id": "ws_b", "folder_id": folder}),
            "-32600 unknown_folder",
        ),
        (
            "thread/folder/move",
            json!({"workspace_id": "ws_b", "folder_id": folder}),
            "-32600 unknown_folder",
        ),
    ];
    for (method, params, expected) in table {
        assert_eq!(
            refusal(&limited, method, params).await,
            expected,
            "{method}"
        );
    }
    assert_eq!(told(&owner).await, "");
}

#[tokio::test]
async fn only_the_workspaces_of_the_token_are_listed() {
    let (running, _owner) = two_workspaces().await;
    let limited = running
        .client_with_token(&["read", "write"], &["ws_b"])
        .await;
    assert_snapshot!(answer(&limited, "workspace/list", json!({})).await, @r#"{"workspaces":[{"created_at":1777900004,"id":"ws_b","is_active":true,"is_current":false,"name":"Workspace 2","updated_at":1777900004}]}"#);
    assert_snapshot!(answer(&limited, "workspace/default", json!({})).await, @r#"{"workspace":{"created_at":1777900004,"id":"ws_b","is_active":true,"is_current":false,"name":"Workspace 2","updated_at":1777900004}}"#);
}

#[tokio::test]
async fn a_token_for_no_workspace_of_ours_has_no_default() {
    let running = testkit::gateway().await;
    let limited = running
        .client_with_token(&["read", "write"], &["ws_b"])
        .await;
    let refused = refusal(&limited, "workspace/default", json!({})).await;
    assert_eq!(refused, "-32043 forbidden");
    assert_eq!(
        answer(&limited, "workspace/list", json!({})).await,
        r#"{"workspaces":[]}"#
    );
}

#[tokio::test]
async fn a_workspace_out_of_reach_is_not_told_of() {
    let (running, owner) = two_workspaces().await;
    let limited = running.client_with_token(&["read"], &["ws_b"]).await;
    for id in ["ws_a", "ws_b"] {
        answer(
            &owner,
            "workspace/update",
            json!({"workspace_id": id, "name": "New"}),
        )
        .await;
    }
    assert_snapshot!(told(&limited).await, @r#"4 workspace/changed {"workspace":{"created_at":1777900004,"id":"ws_b","is_active":true,"is_current":false,"name":"New","updated_at":1777900009}}"#);
}

#[tokio::test]
async fn a_revoked_token_ends_its_connections() {
    let (running, owner) = two_workspaces().await;
    let limited = running.client_with_token(&["read"], &["ws_b"]).await;
    let rows = running
        .gateway
        .store()
        .access_tokens()
        .list()
        .await
        .unwrap();
    // Another process revokes the token, like `ac token revoke`.
    let neighbour = running.neighbour().await;
    let tokens = neighbour.gateway.store();
    assert!(tokens.access_tokens().revoke(&rows[0].id, 1).await.unwrap());
    assert_eq!(limited.notification().await, None, "the connection ended");
    answer(&owner, "workspace/list", json!({})).await;
}

#[tokio::test]
async fn what_policy_cannot_look_into_is_for_people() {
    let running = testkit::gateway().await;
    let folder = tempfile::tempdir().expect("a folder");
    let (dir, out) = (folder.path().join("acme"), folder.path().join("out"));
    let init = json!({"workspace_dir": dir});
    let owner = running.client();
    owner
        .call_raw("workspace.init", init)
        .await
        .expect("a company");
    let worker = running
        .client_with_role("worker", &["read", "write", "exec"], &[])
        .await;
    for (method, params) in [
        (
            "workspace.export",
            json!({"workspace_dir": dir, "out_dir": out}),
        ),
        (
            "workspace.diagnostics",
            json!({"workspace_dir": dir, "out_dir": out}),
        ),
        (
            "provider/set_api_key",
            json!({"provider_id": "openai", "provider": "openai", "api_key": "sk-test-0123456789"}),
        ),
    ] {
        let refused = worker.call_raw(method, params).await;
        let refused = format!("{:?}", refused.expect_err(method));
        assert!(refused.contains("the role human"), "{method}: {refused}");
        assert!(!out.exists(), "{method}");
    }
}

#[tokio::test]
async fn only_a_token_that_may_spend_asks_a_model() {
    let mut server = testkit::model_server().await;
    let running = testkit::gateway_with_config(&server.config("sk-owner")).await;
    let owner = running.client();
    for (method, params) in [
        ("workspace/create", json!({"workspace_id": "ws_a"})),
        (
            "thread/start",
            json!({"workspace_id": "ws_a", "thread_id": "thr_a"}),
        ),
    ] {
        owner
            .call_raw(method, params)
            .await
            .expect("the owner may do everything");
    }
    let turn = |id: &str| {
        json!({"thread_id": "thr_a", "turn_id": id, "model_provider": "openai", "model": "m",
            "input": [{"type": "text", "text": "Hello"}]})
    };
    let writer = running
        .client_with_role("human", &["read", "write"], &[])
        .await;
    for (method, params) in [
        ("turn/start", turn("trn_a")),
        ("provider/models/list", json!({"provider": "openai"})),
    ] {
        assert_eq!(
            refusal(&writer, method, params).await,
            "-32043 forbidden",
            "{method}"
        );
    }
    assert!(!server.was_asked());
    let spender = running
        .client_with_role("worker", &["spend"], &["ws_a"])
        .await;
    let executor = running
        .client_with_role("worker", &["exec"], &["ws_a"])
        .await;
    for (client, id) in [(&spender, "trn_b"), (&executor, "trn_c")] {
        let started = client.call_raw("turn/start", turn(id)).await;
        assert_eq!(started.expect("a turn")["turn"]["id"], id);
        let question = server.question().await;
        question.answer("Hello").await;
        testkit::told_until(client, "turn/completed").await;
    }
}

#[tokio::test]
async fn which_workspace_is_current_is_not_for_a_token_of_some() {
    let (running, owner) = two_workspaces().await;
    let current = answer(&owner, "workspace/default", json!({})).await;
    let limited = running
        .client_with_token(&["read", "write"], &["ws_b"])
        .await;
    let select = json!({"workspace_id": "ws_b", "make_current": true});
    let refused = refusal(&limited, "workspace/select", select).await;
    assert_eq!(refused, "-32043 forbidden");
    assert_eq!(
        answer(&owner, "workspace/default", json!({})).await,
        current
    );
    let look = json!({"workspace_id": "ws_b"});
    limited
        .call_raw("workspace/select", look)
        .await
        .expect("its own workspace");
}
