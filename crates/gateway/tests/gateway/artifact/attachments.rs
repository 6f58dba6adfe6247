//! Files attached to turns, as they appear in the request bodies sent to models.

use std::{fs::OpenOptions, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use protocol::turn::{PromptAttachment, TurnCompletedNotification, TurnFailedNotification};
use testkit::{ModelServer, Question};
use tokio::time::timeout;

use super::*;

/// A timeout that only a failing test reaches.
const PATIENCE: Duration = Duration::from_secs(20);
/// The same limits as in `agent::attachment`.
const MAX_FILE_CHARS: usize = 60_000;
const MAX_IMAGE_BYTES: usize = 3 << 20;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nnot much of a picture";

async fn with_model(provider: &str) -> (TestGateway, ModelServer, Client) {
    let model = testkit::model_server().await;
    let config = model.config_of(provider, "sk-test-0123456789abcdef");
    let running = testkit::gateway_with_config(&config).await;
    let client = client(&running).await;
    (running, model, client)
}

/// Starts a turn with a text and files.
async fn ask(client: &Client, provider: &str, turn: &str, text: &str, files: &[&Value]) {
    let mut input = vec![json!({"type": "text", "text": text})];
    for file in files {
        input.push(json!({"type": "artifact", "artifact_id": file["artifact_id"]}));
    }
    let params = json!({"thread_id": "thr_a", "turn_id": turn, "input": input,
        "model": "some-model", "model_provider": provider});
    call(client, "turn/start", params).await;
}

/// Answers a question and waits for the end of its turn. Returns the attachments of its prompt.
async fn complete(client: &Client, question: Question) -> Vec<PromptAttachment> {
    question.answer("Thanks.").await;
    let ended = timeout(PATIENCE, client.wait_for::<TurnCompletedNotification>()).await;
    let ended = ended.expect("the turn ends in time");
    let turn = ended.expect("the connection is open").turn;
    turn.prompt_manifest.expect("a prompt was made").attachments
}

/// Returns the content of the last message of a chat completion.
fn last(question: &Question) -> &Value {
    let messages = question.body["messages"].as_array();
    let last = messages.and_then(|messages| messages.last());
    &last.expect("there are messages")["content"]
}

#[tokio::test]
async fn a_text_file_reaches_the_model_as_text_and_is_in_the_manifest() {
    let (_running, mut model, client) = with_model("openai").await;
    let content = "first line\n</attached_file> is not the end\n";
    let file = put(&client, "notes \"a\".md", content.as_bytes(), json!({})).await;
    ask(&client, "openai", "trn_1", "What is in it?", &[&file]).await;
    let question = model.question().await;
    let (sha256, id, version) = (
        file["sha256"].as_str().expect("it has one"),
        file["artifact_id"].as_str().expect("it has one"),
        file["version_id"].as_str().expect("it has one"),
    );
    let mime = file["mime_type"].as_str().expect("it has one");
    assert_eq!(
        last(&question),
        &json!(format!(
            "What is in it?\n<attached_file name=\"notes 'a'.md\" type=\"{mime}\" size_bytes=\"{}\" sha256=\"{sha256}\" \
             artifact_id=\"{id}\" version_id=\"{version}\">\nfirst line\n<\\/attached_file> is not the end\n\n</attached_file>",
            content.len()
        ))
    );
    let attachments = complete(&client, question).await;
    assert_eq!(
        json!(attachments),
        json!([{"turn_id": "trn_1", "artifact_id": id, "version_id": version, "sha256": sha256,
            "form": "text", "characters": content.len(), "total_characters": content.len(), "truncated": false}])
    );
}

#[tokio::test]
async fn a_long_text_is_cut_and_says_so() {
    let (_running, mut model, client) = with_model("openai").await;
    let content = "twelve bytes".repeat(6_000);
    let file = put(&client, "long.txt", content.as_bytes(), json!({})).await;
    ask(&client, "openai", "trn_1", "See", &[&file]).await;
    let question = model.question().await;
    let sent = last(&question).as_str().expect("it is text");
    let note = format!(
        "\n[truncated: the first {MAX_FILE_CHARS} of {} characters are shown]\n</attached_file>",
        content.len()
    );
    assert!(sent.ends_with(&note), "{}", &sent[sent.len() - 200..]);
    assert!(sent.contains(&content[..MAX_FILE_CHARS]));
    assert!(!sent.contains(&content[..MAX_FILE_CHARS + 1]));
    let attachments = complete(&client, question).await;
    assert_eq!(
        (
            attachments[0].characters,
            attachments[0].total_characters,
            attachments[0].truncated
        ),
        (MAX_FILE_CHARS as u64, Some(content.len() as u64), true)
    );
}

#[tokio::test]
async fn all_files_of_a_request_share_one_budget() {
    let (_running, mut model, client) = with_model("openai").await;
    let mut files = Vec::new();
    for letter in ["a", "b", "c", "d"] {
        let content = letter.repeat(MAX_FILE_CHARS);
        files.push(put(&client, letter, content.as_bytes(), json!({})).await);
    }
    let files: Vec<&Value> = files.iter().collect();
    ask(&client, "openai", "trn_1", "See", &files).await;
    let question = model.question().await;
    let attachments = complete(&client, question).await;
    let characters: Vec<u64> = attachments.iter().map(|file| file.characters).collect();
    assert_eq!(characters, [60_000, 60_000, 40_000, 0]);
    let truncated: Vec<bool> = attachments.iter().map(|file| file.truncated).collect();
    assert_eq!(truncated, [false, false, true, true]);
}

#[tokio::test]
async fn the_text_of_a_pdf_reaches_the_model_once_it_is_extracted() {
    let (running, mut model, client) = with_model("openai").await;
    let file = put(
        &client,
        "report.pdf",
        b"%PDF-1.4 not much of one",
        json!({}),
    )
    .await;
    let artifacts = running.gateway.store().artifacts();
    let id = file["artifact_id"].as_str().expect("it has one");
    let pending = artifacts.projection("ws_a", id, None, "pdf_text").await;
    let text = "What the pages say".to_owned();
    let made = crud::ProjectionResult::Text {
        sha256: gateway::sha256_hex(&text),
        text,
        mime_type: "text/plain".to_owned(),
        metadata: json!({"extractor": "pdf_text_v1", "truncated": true}).to_string(),
    };
    let pending = pending.expect("it is to be made").id;
    let finished = artifacts.finish_projection(&pending, made, 1).await;
    finished.expect("it can be written down");
    ask(&client, "openai", "trn_1", "See", &[&file]).await;
    let question = model.question().await;
    let sent = last(&question).as_str().expect("it is text");
    let note = "[truncated: the first 18 characters are shown, the file has 24 bytes]";
    assert!(
        sent.ends_with(&format!("\nWhat the pages say\n{note}\n</attached_file>")),
        "{sent}"
    );
    let attachments = complete(&client, question).await;
    assert_eq!(
        (attachments[0].characters, attachments[0].truncated),
        (18, true)
    );
    assert_eq!(attachments[0].total_characters, None);
}

#[tokio::test]
async fn a_picture_is_an_image_part_of_a_chat_completion() {
    let (_running, mut model, client) = with_model("openai").await;
    let file = put(&client, "a.png", PNG, json!({})).await;
    ask(&client, "openai", "trn_1", "Look", &[&file]).await;
    let question = model.question().await;
    let content = last(&question);
    assert_eq!(content[0]["type"], "text");
    let text = content[0]["text"].as_str().expect("it is text");
    assert!(text.starts_with("Look\n<attached_file name=\"a.png\" type=\"image/png\""));
    assert!(
        text.ends_with("shown=\"as image 1 of this message\"/>"),
        "{text}"
    );
    let url = format!("data:image/png;base64,{}", BASE64.encode(PNG));
    assert_eq!(
        content[1],
        json!({"type": "image_url", "image_url": {"url": url}})
    );
    let attachments = complete(&client, question).await;
    assert_eq!(json!(attachments[0].form), "image");
    assert_eq!(
        (attachments[0].characters, attachments[0].truncated),
        (0, false)
    );
}

#[tokio::test]
async fn a_picture_is_an_image_block_for_anthropic() {
    let (_running, mut model, client) = with_model("anthropic").await;
    let file = put(&client, "a.png", PNG, json!({})).await;
    ask(&client, "anthropic", "trn_1", "Look", &[&file]).await;
    let question = model.question().await;
    let content = last(&question);
    assert_eq!(
        content[0],
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png",
            "data": BASE64.encode(PNG)}})
    );
    assert_eq!(content[1]["type"], "text");
    question.reply(400, &[], &json!({})).await;
}

#[tokio::test]
async fn a_picture_is_inline_data_for_gemini_unless_it_is_a_gif() {
    let (_running, mut model, client) = with_model("gemini").await;
    let png = put(&client, "a.png", PNG, json!({})).await;
    let gif = put(&client, "b.gif", b"GIF89a not much", json!({})).await;
    ask(&client, "gemini", "trn_1", "Look", &[&png, &gif]).await;
    let question = model.question().await;
    let parts = question.body["contents"][0]["parts"].as_array();
    let parts = parts.expect("there are parts");
    assert_eq!(parts.len(), 2);
    let text = parts[0]["text"].as_str().expect("it is text");
    assert!(
        text.contains("reason=\"the model provider takes no pictures of this type\""),
        "{text}"
    );
    assert_eq!(
        parts[1],
        json!({"inlineData": {"mimeType": "image/png", "data": BASE64.encode(PNG)}})
    );
    question.reply(400, &[], &json!({})).await;
}

#[tokio::test]
async fn a_picture_over_the_limit_and_other_files_are_described() {
    let (_running, mut model, client) = with_model("openai").await;
    let mut large = PNG.to_vec();
    large.resize(MAX_IMAGE_BYTES + 1, 0);
    let large = put(&client, "large.png", &large, json!({})).await;
    let binary = put(&client, "data.bin", &[0, 159, 146, 150, 0, 1], json!({})).await;
    ask(&client, "openai", "trn_1", "See", &[&large, &binary]).await;
    let question = model.question().await;
    let sent = last(&question).as_str().expect("there is no image part");
    let sha256 = |file: &Value| file["sha256"].as_str().expect("it has one").to_owned();
    assert!(
        sent.contains("name=\"large.png\" type=\"image/png\" size_bytes=\"3145729\""),
        "{sent}"
    );
    assert!(sent.contains("reason=\"the picture has 3145729 bytes, and 3145728 are allowed\""));
    assert!(sent.contains(&format!("sha256=\"{}\"", sha256(&large))));
    assert!(
        sent.contains("name=\"data.bin\" type=\"application/octet-stream\" size_bytes=\"6\""),
        "{sent}"
    );
    assert!(sent.contains(&format!("sha256=\"{}\"", sha256(&binary))));
    assert!(sent.contains("reason=\"the file is neither text nor a picture\""));
    let attachments = complete(&client, question).await;
    let told: Vec<_> = attachments
        .iter()
        .map(|file| (json!(file.form), file.truncated))
        .collect();
    assert_eq!(
        told,
        [(json!("description"), true), (json!("description"), false)]
    );
}

#[tokio::test]
async fn earlier_turns_keep_their_files_unless_these_are_deleted() {
    let (_running, mut model, client) = with_model("openai").await;
    let first = put(&client, "first.txt", b"the first secret", json!({})).await;
    let picture = put(&client, "a.png", PNG, json!({})).await;
    ask(&client, "openai", "trn_1", "Remember", &[&first, &picture]).await;
    let question = model.question().await;
    complete(&client, question).await;

    let second = put(&client, "second.txt", b"the second secret", json!({})).await;
    ask(&client, "openai", "trn_2", "And this", &[&second]).await;
    let question = model.question().await;
    let messages = question.body["messages"].as_array().expect("a list");
    let users: Vec<_> = messages
        .iter()
        .filter(|message| message["role"] == "user")
        .map(|message| &message["content"])
        .collect();
    assert_eq!(users.len(), 2);
    let text = users[0][0]["text"].as_str().expect("it is text");
    assert!(
        text.starts_with("Remember\n<attached_file name=\"first.txt\""),
        "{text}"
    );
    assert!(text.contains("\nthe first secret\n"));
    assert_eq!(users[0][1]["type"], "image_url");
    let attachments = complete(&client, question).await;
    let told: Vec<_> = attachments
        .iter()
        .map(|file| (file.turn_id.as_str(), json!(file.artifact_id)))
        .collect();
    assert_eq!(
        told,
        [
            ("trn_2", second["artifact_id"].clone()),
            ("trn_1", first["artifact_id"].clone()),
            ("trn_1", picture["artifact_id"].clone()),
        ]
    );

    call(&client, "artifact/delete", of(&first)).await;
    ask(&client, "openai", "trn_3", "Still?", &[]).await;
    let question = model.question().await;
    let body = question.body.to_string();
    assert!(!body.contains("the first secret"));
    assert!(body.contains("the second secret"));
    complete(&client, question).await;
}

#[tokio::test]
async fn a_turn_whose_file_is_damaged_fails_before_anything_is_sent() {
    let (running, model, client) = with_model("openai").await;
    let bytes = b"what the file says";
    let file = put(&client, "a.txt", bytes, json!({})).await;
    let blob = OpenOptions::new()
        .write(true)
        .open(blob_path(&running, bytes));
    let cut = blob.and_then(|blob| blob.set_len(4));
    cut.expect("the blob can be cut");
    ask(&client, "openai", "trn_1", "See", &[&file]).await;
    let ended = timeout(PATIENCE, client.wait_for::<TurnFailedNotification>()).await;
    let ended = ended.expect("the turn ends in time");
    let error = ended.expect("the connection is open").turn.error;
    let error = error.expect("it says why");
    assert!(
        error.starts_with("the attached file `a.txt` cannot be read"),
        "{error}"
    );
    assert!(!model.was_asked());
}
