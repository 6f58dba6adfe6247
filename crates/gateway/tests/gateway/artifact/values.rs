//! Every value of the artifact contract is produced by a method, or the documentation states why not.

use std::{fs, path::Path};

use protocol::turn::TurnCompletedNotification;

use super::*;

/// Uploads a file with the given source kind. Returns the kind and the creator kind of its artifact.
async fn from(client: &Client, source: &str, name: &str, bytes: &[u8]) -> (Value, Value) {
    let artifact = put(client, name, bytes, json!({"source_kind": source})).await;
    let got = call(client, "artifact/get", of(&artifact)).await["artifact"].take();
    let (kind, creator) = (&got["artifact"]["kind"], &got["created_by_kind"]);
    (kind.clone(), creator.clone())
}

#[tokio::test]
async fn where_an_upload_comes_from_says_its_kind_and_its_creator() {
    let running = testkit::gateway().await;
    let client = client(&running).await;
    let png = b"\x89PNG\r\n\x1a\nnot much";
    let is = |kind: &str, creator: &str| (json!(kind), json!(creator));
    let upload = |source, name, bytes| from(&client, source, name, bytes);
    assert_eq!(upload("paste", "a.txt", b"a").await, is("text", "user"));
    assert_eq!(upload("import", "b.txt", b"b").await, is("text", "import"));
    assert_eq!(
        upload("worktree", "c.rs", b"fn main() {}").await,
        is("workspace_file", "import")
    );
    assert_eq!(
        upload("screenshot", "d.png", png).await,
        is("screenshot", "user")
    );
    assert_eq!(
        upload("screenshot", "e.txt", b"e").await,
        is("text", "user")
    );
    assert_eq!(
        upload("folder_manifest", "f.json", b"{\"files\": []}").await,
        is("directory_manifest", "import")
    );
}

#[tokio::test]
async fn a_picture_in_an_answer_is_an_artifact_of_its_turn() {
    use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
    let mut model = testkit::model_server().await;
    let running = testkit::gateway_with_config(&model.config("sk-test-0123456789abcdef")).await;
    let client = client(&running).await;
    let ask = json!({"thread_id": "thr_a", "turn_id": "trn_1", "input": [{"type": "text", "text": "Draw"}]});
    call(&client, "turn/start", ask).await;
    let png = b"\x89PNG\r\n\x1a\nnot much";
    let mut question = model.question().await;
    question.begin().await;
    let url = format!("data:image/png;base64,{}", BASE64.encode(png));
    let image = json!({"type": "image_url", "image_url": {"url": url}});
    question
        .send_delta(&json!({"content": "Here:", "images": [image]}))
        .await;
    question.finish().await;
    let ended = client.wait_for::<TurnCompletedNotification>().await;
    ended.expect("the turn ends well");

    let of_turn = json!({"workspace_id": "ws_a", "turn_id": "trn_1"});
    let listed = call(&client, "artifact/list/turn", of_turn).await;
    let made = &listed["items"][0];
    assert_eq!(made["artifact"]["kind"], "generated_image");
    assert_eq!(made["artifact"]["display_name"], "generated-image-1.png");
    assert_eq!(made["artifact"]["sha256"], gateway::sha256_hex(png));
    assert_eq!(made["created_by_kind"], "agent");
    assert_eq!(made["primary_thread_id"], "thr_a");
    let binding = &made["bindings"][0];
    assert_eq!(
        [
            &binding["binding_kind"],
            &binding["direction"],
            &binding["role"]
        ],
        ["agent_output", "output", "assistant"]
    );
    let items = json!({"thread_id": "thr_a", "turn_id": "trn_1"});
    let items = call(&client, "turn/items", items).await.to_string();
    let id = made["artifact"]["artifact_id"]
        .as_str()
        .expect("it has one");
    assert!(
        items.contains(&format!("generated-image-1.png, artifact {id}")),
        "{items}"
    );
}

#[tokio::test]
async fn a_projection_of_an_older_extractor_is_stale() {
    let running = testkit::gateway().await;
    let client = client(&running).await;
    let artifact = put(&client, "a.txt", b"text", json!({})).await;
    let artifacts = running.gateway.store().artifacts();
    let id = artifact["artifact_id"].as_str().expect("it has one");
    let find = || async {
        artifacts
            .projection("ws_a", id, None, "plain_text")
            .await
            .expect("it has one")
    };
    let made = crud::ProjectionResult::Text {
        text: "text".to_owned(),
        sha256: gateway::sha256_hex("text"),
        mime_type: "text/plain".to_owned(),
        metadata: json!({"extractor": "plain_text_v1"}).to_string(),
    };
    let finished = artifacts.finish_projection(&find().await.id, made, 1).await;
    finished.expect("it can be written down");
    let outdate = |extractor| artifacts.outdate_projections("plain_text", extractor, 2);
    assert_eq!(outdate("plain_text_v1").await.expect("it runs"), 0);
    assert_eq!(outdate("plain_text_v2").await.expect("it runs"), 1);
    assert_eq!(find().await.status, "stale");
    let waiting = artifacts
        .pending_projections(9)
        .await
        .expect("they are read");
    assert_eq!(waiting.len(), 1, "it is made again");
}

#[test]
fn the_documentation_names_every_value() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/artifacts.md")).expect("the page is there");
    let schema = fs::read_to_string(root.join("schemas/artifact_summary.json"));
    let schema: Value =
        serde_json::from_str(&schema.expect("it is generated")).expect("it is JSON");
    for name in [
        "ArtifactKind",
        "ArtifactStatus",
        "ArtifactCreatedByKind",
        "ArtifactBindingKind",
        "ArtifactBindingDirection",
        "ArtifactBindingRole",
        "ArtifactProjectionKind",
        "ArtifactProjectionStatus",
    ] {
        let table = page.split(&format!("| `{name}` |")).nth(1);
        let table = table.unwrap_or_else(|| panic!("no table for `{name}`"));
        let table = table.split("\n\n").next().unwrap_or_default();
        let values = schema["$defs"][name]["oneOf"].as_array();
        let values = values.unwrap_or_else(|| panic!("no values of `{name}`"));
        for value in values {
            let value = value["const"].as_str().expect("a value is a word");
            assert!(table.contains(&format!("`{value}`")), "{name}: {value}");
        }
    }
}
