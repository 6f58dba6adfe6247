//! Paths of company folders on the wire, and forgetting a company folder.

use std::fs;

use serde_json::{Value, json};
use testkit::{answer, told};

#[tokio::test]
async fn a_relative_path_and_a_tilde_are_refused_with_a_sentence_and_nothing_is_made() {
    let running = testkit::gateway().await;
    let client = running.client();
    for (dir, why) in [
        ("~/acme", "`~/acme` is not resolved by the gateway"),
        ("~", "`~` is not resolved by the gateway"),
        ("acme", "`acme` is relative"),
        ("./acme", "`./acme` is relative"),
    ] {
        for method in [
            "workspace.init",
            "workspace.bootstrap.enterprise",
            "workspace.open",
        ] {
            let refused = answer(&client, method, json!({"workspace_dir": dir})).await;
            assert!(refused.starts_with("-32602"), "{method} {dir}: {refused}");
            assert!(refused.contains(why), "{method} {dir}: {refused}");
            assert!(
                refused.contains("expected an absolute path, such as `/home/you/acme`"),
                "{refused}"
            );
        }
        let there = tempfile::tempdir().unwrap();
        let there = there.path().to_str().unwrap();
        for (method, field, other) in [
            ("workspace.export", "out_dir", "workspace_dir"),
            ("workspace.export", "workspace_dir", "out_dir"),
            ("workspace.import", "workspace_dir", "src_dir"),
            ("workspace.import", "src_dir", "workspace_dir"),
            ("workspace.diagnostics", "out_dir", "workspace_dir"),
            ("workspace.diagnostics", "workspace_dir", "out_dir"),
        ] {
            let refused = answer(&client, method, json!({field: dir, other: there})).await;
            assert!(refused.starts_with("-32602"), "{method} {dir}: {refused}");
            assert!(refused.contains(why), "{method} {dir}: {refused}");
            assert!(refused.contains(field), "{method} {dir}: {refused}");
        }
        assert!(!std::path::Path::new(dir).exists(), "{dir}");
    }
}

#[tokio::test]
async fn a_path_that_no_folder_can_have_is_refused_with_a_sentence() {
    let place = tempfile::tempdir().unwrap();
    fs::File::create(place.path().join("file")).unwrap();
    let below = place.path().join("file/acme").display().to_string();
    let tilde = place.path().join("~/acme").display().to_string();
    let running = testkit::gateway().await;
    let client = running.client();
    let source = place.path().join("source");
    answer(&client, "workspace.init", json!({"workspace_dir": source})).await;
    for (dir, why) in [
        (below.as_str(), "is not a folder"),
        (tilde.as_str(), "names a folder called `~`"),
        ("/tmp/a\0b", "has a NUL character"),
    ] {
        for (method, params) in [
            ("workspace.init", json!({"workspace_dir": dir})),
            (
                "workspace.bootstrap.enterprise",
                json!({"workspace_dir": dir}),
            ),
            (
                "workspace.import",
                json!({"workspace_dir": dir, "src_dir": source}),
            ),
            (
                "workspace.export",
                json!({"workspace_dir": source, "out_dir": dir}),
            ),
        ] {
            let refused = answer(&client, method, params).await;
            assert!(refused.contains(why), "{method} {dir}: {refused}");
        }
    }
    assert!(!place.path().join("~").exists());
}

#[tokio::test]
async fn a_folder_that_is_not_empty_is_refused_with_what_a_client_needs_to_offer_a_way_forward() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("mine")).unwrap();
    let running = testkit::gateway().await;
    let client = running.client();
    let init = json!({"workspace_dir": place.path()});
    let refused = answer(&client, "workspace.bootstrap.enterprise", init.clone()).await;
    assert!(refused.starts_with("-32000 the folder `"), "{refused}");
    assert!(refused.contains("is not empty"), "{refused}");
    assert!(
        refused.contains(r#""cause":"folder_not_empty""#),
        "{refused}"
    );
    assert!(refused.contains(r#""is_company":false"#), "{refused}");
    assert!(!refused.contains("--force"), "{refused}");
    let forced = json!({"workspace_dir": place.path(), "force": true});
    answer(&client, "workspace.init", forced).await;
    let refused = answer(&client, "workspace.init", init).await;
    assert!(refused.contains(r#""is_company":true"#), "{refused}");
}

#[tokio::test]
async fn the_home_conversation_of_a_new_company_can_be_listed_and_written_to() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("acme");
    let running = testkit::gateway().await;
    let client = running.client();
    answer(&client, "workspace.init", json!({"workspace_dir": dir})).await;
    let list = json!({"workspace_dir": dir, "scope": "workspace"});
    let listed = client.call_raw("conversation.list", list).await.unwrap();
    let ids: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert_eq!(ids, [&json!("conv_workspace_home")]);
    let send = json!({"workspace_dir": dir, "scope": "workspace", "conversation_id": "conv_workspace_home",
        "author_id": "human_ceo", "author_role": "human", "body": "Good morning"});
    client
        .call_raw("conversation.message.send", send)
        .await
        .unwrap();
    let read = json!({"workspace_dir": dir, "scope": "workspace", "conversation_id": "conv_workspace_home"});
    let messages = client
        .call_raw("conversation.messages.list", read)
        .await
        .unwrap();
    assert_eq!(messages[0]["body"], "Good morning");
}

#[tokio::test]
async fn a_forgotten_company_is_inactive_until_its_folder_is_opened_again() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().canonicalize().unwrap().join("acme");
    let running = testkit::gateway().await;
    let client = running.client();
    answer(&client, "workspace.init", json!({"workspace_dir": dir})).await;
    let workspace = || async {
        let listed = client.call_raw("workspace/list", json!({})).await.unwrap();
        listed["workspaces"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["dir"] == json!(dir))
            .cloned()
            .unwrap()
    };
    let before: Value = workspace().await;
    let id = before["id"].clone();
    let made = json!({"workspace_id": id, "name": "Kept"});
    client.call_raw("thread/folder/create", made).await.unwrap();
    told(&client).await;

    let forget = json!({"workspace_id": id});
    let forgotten = client
        .call_raw("workspace/forget", forget.clone())
        .await
        .unwrap();
    assert_eq!(forgotten["workspace"]["is_active"], false);
    assert!(told(&client).await.contains("workspace/changed"));
    assert_eq!(workspace().await["is_active"], false);
    assert!(dir.join("company/company.yaml").exists());
    assert!(client.call_raw("workspace/forget", forget).await.is_err());

    answer(&client, "workspace.open", json!({"workspace_dir": dir})).await;
    assert_eq!(workspace().await["is_active"], true);
    assert_eq!(workspace().await["id"], id);
    let tree = client
        .call_raw("thread/tree", json!({"workspace_id": id}))
        .await
        .unwrap();
    assert_eq!(tree["folders"][0]["name"], "Kept");

    answer(
        &client,
        "workspace/create",
        json!({"workspace_id": "ws_plain"}),
    )
    .await;
    let refused = answer(
        &client,
        "workspace/forget",
        json!({"workspace_id": "ws_plain"}),
    )
    .await;
    assert!(refused.contains("has no company folder"), "{refused}");
}
