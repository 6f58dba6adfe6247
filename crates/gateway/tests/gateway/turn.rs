//! `turn/*` through a client, with the echo provider and with a model on a real socket.

use std::time::Duration;

use insta::assert_snapshot;
use protocol::{
    Notification,
    thread::{ThreadHistory, ThreadHistoryResponse},
    turn::{
        ItemAgentMessageDeltaNotification, ItemStartedNotification, PromptManifest, Turn,
        TurnEventPayload, TurnGet, TurnItem, TurnItems, TurnStatus,
    },
};
use rpc::Client;
use serde_json::{Value, json};
use testkit::{ModelServer, TestGateway, answer, refusal, told, told_until};
use tokio::time::timeout;

/// A timeout that only a failing test reaches.
const PATIENCE: Duration = Duration::from_secs(20);

const KEY: &str = "sk-test-0123456789abcdef";

/// Returns a connection with a workspace and a thread that uses this provider.
async fn with_thread(running: &TestGateway, provider: &str) -> Client {
    let client = running.client();
    answer(&client, "workspace/create", json!({"workspace_id": "ws_a"})).await;
    let start = json!({"workspace_id": "ws_a", "thread_id": "thr_a", "model": "some-model", "model_provider": provider});
    let started = client.call_raw("thread/start", start).await;
    started.expect("a thread can be started");
    told(&client).await;
    client
}

/// Returns a gateway whose `openai` provider is controlled by the test, and a thread that uses it.
async fn with_model() -> (TestGateway, ModelServer, Client) {
    let model = testkit::model_server().await;
    let running = testkit::gateway_with_config(&model.config(KEY)).await;
    let client = with_thread(&running, "openai").await;
    (running, model, client)
}

fn say(turn: &str, text: &str) -> Value {
    json!({"thread_id": "thr_a", "turn_id": turn, "input": [{"type": "text", "text": text}]})
}

fn of(turn: &str) -> Value {
    json!({"thread_id": "thr_a", "turn_id": turn})
}

async fn start(client: &Client, turn: &str, text: &str) {
    let started = client.call_raw("turn/start", say(turn, text)).await;
    started.expect("a turn can be started");
}

/// Runs a turn to its end and returns it.
async fn run(client: &Client, turn: &str, text: &str) -> Turn {
    start(client, turn, text).await;
    ended(client, turn).await
}

/// Waits for the next notification of one type and skips the others.
async fn next<N: Notification>(client: &Client) -> N {
    let told = timeout(PATIENCE, client.wait_for::<N>()).await;
    let told = told.unwrap_or_else(|_| panic!("`{}` did not come", N::NAME));
    told.expect("the connection is open")
}

/// Waits for the end of a turn and returns it.
async fn ended(client: &Client, turn: &str) -> Turn {
    loop {
        let told = timeout(PATIENCE, client.notification()).await;
        let told = told.expect("the turn ends in time");
        let told = told.expect("the connection is open");
        if ["turn/completed", "turn/failed"].contains(&told.method.as_str()) {
            assert_eq!(told.params["turn"]["id"], turn);
            let stored = get(client, turn).await;
            assert_eq!(
                told.params["turn"],
                json!(stored),
                "what is told is what is stored"
            );
            return stored;
        }
    }
}

async fn get(client: &Client, turn: &str) -> Turn {
    let params = serde_json::from_value(of(turn)).expect("ids are enough");
    let found = client.call::<TurnGet>(params).await;
    found.expect("the turn is there").turn
}

/// Returns every complete message in the stored items of a turn, one line each.
async fn messages(client: &Client, turn: &str) -> Vec<String> {
    let params = serde_json::from_value(of(turn)).expect("ids are enough");
    let found = client.call::<TurnItems>(params).await;
    let events = found.expect("the turn is there").events.into_iter();
    let complete = events.filter_map(|event| match event.payload {
        TurnEventPayload::ItemCompleted { item } => Some(item),
        TurnEventPayload::TurnStarted { .. }
        | TurnEventPayload::ItemStarted { .. }
        | TurnEventPayload::TurnCompleted { .. }
        | TurnEventPayload::TurnFailed { .. } => None,
    });
    let line = |item: TurnItem| match item {
        TurnItem::UserMessage { text, .. } => format!("user: {text}"),
        TurnItem::AgentMessage { text, .. } => format!("agent: {text}"),
        TurnItem::Reasoning { .. } | TurnItem::SystemEvent { .. } => format!("{item:?}"),
    };
    complete.map(line).collect()
}

/// Returns the ids of the contributions to the prompt of a turn.
fn contributions(turn: &Turn) -> Vec<String> {
    let manifest: &PromptManifest = turn.prompt_manifest.as_ref().expect("a prompt was made");
    let ids = manifest.hook_sources.iter();
    ids.map(|found| found.source.contribution_id.clone().unwrap_or_default())
        .collect()
}

async fn save(client: &Client, content: &str) -> String {
    let params = json!({"workspace_id": "ws_a", "content": content});
    let saved = client.call_raw("thread/agents_doc/save", params).await;
    let saved = saved.expect("the text can be saved");
    let id = saved["doc"]["id"].as_str();
    id.expect("an id is text").to_owned()
}

#[tokio::test]
async fn a_turn_is_told_from_its_start_to_its_title() {
    let running = testkit::gateway().await;
    let client = with_thread(&running, "echo").await;
    let text = "one two three four five six seven: more than one piece";
    assert_snapshot!(answer(&client, "turn/start", say("trn_1", text)).await, @r#"{"turn":{"id":"trn_1","status":"InProgress"}}"#);
    assert_snapshot!(told_until(&client, "thread/updated").await, @r#"
    2 thread/tree/changed {"reason":"turn/start","tree_version":1,"workspace_id":"ws_a"}
    3 turn/started {"thread_id":"thr_a","turn":{"id":"trn_1","status":"InProgress"},"workspace_id":"ws_a"}
    4 item/started {"item":{"attachments":[],"id":"user_trn_1","text":"one two three four five six seven: more than one piece","type":"userMessage"},"thread_id":"thr_a","turn_id":"trn_1","workspace_id":"ws_a"}
    5 item/completed {"item":{"attachments":[],"id":"user_trn_1","text":"one two three four five six seven: more than one piece","type":"userMessage"},"thread_id":"thr_a","turn_id":"trn_1","workspace_id":"ws_a"}
    6 item/started {"item":{"id":"itm_000000000000000002","text":"","type":"agentMessage"},"thread_id":"thr_a","turn_id":"trn_1","workspace_id":"ws_a"}
    7 item/agent_message/delta {"delta":"one two three four five six seve","item_id":"itm_000000000000000002","seq":0,"thread_id":"thr_a","turn_id":"trn_1","workspace_id":"ws_a"}
    8 item/agent_message/delta {"delta":"n: more than one piece","item_id":"itm_000000000000000002","seq":1,"thread_id":"thr_a","turn_id":"trn_1","workspace_id":"ws_a"}
    9 item/completed {"item":{"id":"itm_000000000000000002","text":"one two three four five six seven: more than one piece","type":"agentMessage"},"thread_id":"thr_a","turn_id":"trn_1","workspace_id":"ws_a"}
    10 turn/completed {"thread_id":"thr_a","turn":{"id":"trn_1","prompt_manifest":{"compiler_version":"accord.prompt.2","diagnostics":[],"fingerprint_dynamic":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","fingerprint_full":"72566b5970208490dbff4556fa905edeba6ef83cfc3cb02d75bd6c6ce3726b03","fingerprint_stable":"72566b5970208490dbff4556fa905edeba6ef83cfc3cb02d75bd6c6ce3726b03","hook_sources":[],"profile":"assistant_full","section_ids":["identity","safety"]},"status":"Completed"},"workspace_id":"ws_a"}
    11 thread/updated {"thread":{"created_at":1777900001,"id":"thr_a","mode":"Chat","model":"some-model","model_provider":"echo","name":"one two three four five six...","origin_kind":"user","preview":"one two three four five six seven: more than one piece","sidebar_visibility":"visible","status":"Idle","turns":[],"updated_at":1777900011,"workspace_id":"ws_a"}}
    "#);
    assert_snapshot!(told_until(&client, "thread/tree/changed").await, @r#"12 thread/tree/changed {"reason":"thread/updated","tree_version":2,"workspace_id":"ws_a"}"#);
}

#[tokio::test]
async fn the_answer_to_a_start_comes_before_everything_else() {
    let running = testkit::gateway().await;
    let calls = [
        ("workspace/create", json!({"workspace_id": "ws_a"})),
        (
            "thread/start",
            json!({"workspace_id": "ws_a", "thread_id": "thr_a"}),
        ),
        ("turn/start", say("trn_1", "hello")),
        ("turn/cancel", of("trn_1")),
    ];
    let sent = running.transcript(&calls).await;
    let about_turn = sent.find("turn/started").expect("it is told");
    let answered = sent
        .find(r#""id":3,"result":{"turn""#)
        .expect("it is answered");
    assert!(answered < about_turn, "{sent}");
}

#[tokio::test]
async fn what_the_user_says_is_kept_letter_by_letter() {
    let running = testkit::gateway().await;
    let client = with_thread(&running, "echo").await;
    let text = "  fn main() {\r\n\t\tlet a = \"é😀\";\n\n}  \n";
    let turn = run(&client, "trn_1", text).await;
    assert_eq!((turn.status, turn.error), (TurnStatus::Completed, None));
    assert_eq!(
        messages(&client, "trn_1").await,
        [format!("user: {text}"), format!("agent: {text}")]
    );
}

#[tokio::test]
async fn the_pieces_join_to_the_answer_and_are_numbered() {
    let running = testkit::gateway().await;
    let client = with_thread(&running, "echo").await;
    let text = "0123456789 ".repeat(40);
    start(&client, "trn_1", &text).await;
    let mut joined = String::new();
    let mut numbers = Vec::new();
    while joined != text {
        let piece = next::<ItemAgentMessageDeltaNotification>(&client).await;
        joined.push_str(&piece.delta);
        numbers.push(piece.seq);
    }
    assert_eq!(numbers, (0..14).collect::<Vec<u64>>());
    assert_eq!(ended(&client, "trn_1").await.status, TurnStatus::Completed);
}

#[tokio::test]
async fn starting_a_turn_twice_starts_it_once() {
    let (_running, mut model, client) = with_model().await;
    let first = answer(&client, "turn/start", say("trn_1", "hello")).await;
    let question = model.question().await;
    let again: Value =
        serde_json::from_str(&answer(&client, "turn/start", say("trn_1", "hello")).await).unwrap();
    let first: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(
        (&again["turn"]["id"], &again["turn"]["status"]),
        (&first["turn"]["id"], &first["turn"]["status"])
    );
    assert_eq!(
        answer(&client, "turn/start", say("trn_1", "other")).await,
        r#"-32600 turn `trn_1` was started before with another input {"hint":"use a new turn_id","kind":"duplicate"}"#
    );
    question.answer("hi").await;
    ended(&client, "trn_1").await;
    let after: Value =
        serde_json::from_str(&answer(&client, "turn/start", say("trn_1", "hello")).await).unwrap();
    assert_eq!(after["turn"]["status"], "Completed");
    assert_eq!(
        messages(&client, "trn_1").await,
        ["user: hello", "agent: hi"]
    );
    assert!(!model.was_asked());
}

#[tokio::test]
async fn a_second_turn_waits_for_the_first() {
    let (_running, mut model, client) = with_model().await;
    start(&client, "trn_1", "hello").await;
    let question = model.question().await;
    assert_snapshot!(answer(&client, "turn/start", say("trn_2", "me too")).await, @r#"-32600 a turn of thread `thr_a` is running {"hint":"cancel the turn or wait for its end","kind":"busy"}"#);
    question.answer("hi").await;
    assert_eq!(ended(&client, "trn_1").await.status, TurnStatus::Completed);
    assert_eq!(
        refusal(&client, "turn/get", of("trn_2")).await,
        "-32600 unknown_turn"
    );
    start(&client, "trn_2", "me too").await;
    let question = model.question().await;
    let said = json!([{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}, {"role": "user", "content": "me too"}]);
    let told: Vec<_> = question.body["messages"].as_array().unwrap()[1..].to_vec();
    assert_eq!(json!(told), said);
    question.answer("hi again").await;
    assert_eq!(ended(&client, "trn_2").await.status, TurnStatus::Completed);
}

#[tokio::test]
async fn a_cancelled_turn_keeps_its_reason_and_what_was_said() {
    let (_running, mut model, client) = with_model().await;
    start(&client, "trn_1", "hello").await;
    let mut question = model.question().await;
    question.begin().await;
    question.send_text("first half, ").await;
    next::<ItemAgentMessageDeltaNotification>(&client).await;
    let cancel = json!({"thread_id": "thr_a", "turn_id": "trn_1", "reason": "changed my mind"});
    let cancelled = client
        .call_raw("turn/cancel", cancel.clone())
        .await
        .unwrap();
    assert_eq!(
        (&cancelled["turn"]["status"], &cancelled["turn"]["error"]),
        (&json!("Interrupted"), &json!("changed my mind"))
    );
    // The request to the model was cancelled.
    question.hung_up().await;
    assert_snapshot!(told_until(&client, "turn/failed").await.lines().map(|line| line.split(' ').nth(1).unwrap()).collect::<Vec<_>>().join(", "), @r"item/completed, turn/failed");
    assert_eq!(
        messages(&client, "trn_1").await,
        ["user: hello", "agent: first half, "]
    );
    assert_eq!(told(&client).await, "", "nothing comes after the end");
    // Cancelling an ended turn changes nothing.
    let mut again = cancel;
    again["reason"] = json!("another");
    assert_eq!(
        client.call_raw("turn/cancel", again).await.unwrap(),
        cancelled
    );
    // The thread accepts turns again.
    start(&client, "trn_2", "and now").await;
    model.question().await.answer("fine").await;
    assert_eq!(ended(&client, "trn_2").await.status, TurnStatus::Completed);
}

#[tokio::test]
async fn turns_and_threads_have_to_be_there() {
    let running = testkit::gateway().await;
    let client = with_thread(&running, "echo").await;
    for method in ["turn/get", "turn/items", "turn/timeline", "turn/cancel"] {
        assert_eq!(
            refusal(&client, method, of("trn_none")).await,
            "-32600 unknown_turn",
            "{method}"
        );
        assert_eq!(
            refusal(&client, method, of(" ")).await,
            "-32602 invalid_params",
            "{method}"
        );
    }
    let elsewhere = json!({"thread_id": "thr_none", "turn_id": "trn_1", "input": [{"type": "text", "text": "x"}]});
    assert_eq!(
        refusal(&client, "turn/start", elsewhere).await,
        "-32600 unknown_thread"
    );
    for (input, refused) in [
        (json!([]), "-32602 invalid_params"),
        (
            json!([{"type": "text", "text": ""}]),
            "-32602 invalid_params",
        ),
        (
            json!([{"type": "localFile", "path": "/etc/passwd"}]),
            "-32602 invalid_params",
        ),
        (
            json!([{"type": "artifact", "artifact_id": "art_1"}]),
            "-32600 unknown_artifact",
        ),
        (
            json!(vec![
                json!({"type": "artifact", "artifact_id": "art_1"});
                33
            ]),
            "-32602 too_large",
        ),
    ] {
        let params = json!({"thread_id": "thr_a", "turn_id": "trn_1", "input": input});
        assert_eq!(refusal(&client, "turn/start", params).await, refused);
    }
    let params = json!({"thread_id": "thr_a", "turn_id": "trn_1", "input": [{"type": "text", "text": "x"}], "model_provider": "other"});
    assert_eq!(
        refusal(&client, "turn/start", params).await,
        "-32600 unknown_provider"
    );
    assert_eq!(told(&client).await, "");
}

#[tokio::test]
async fn a_turn_refuses_the_sandbox_and_the_mode_it_cannot_honour() {
    let running = testkit::gateway().await;
    let client = with_thread(&running, "echo").await;
    let start =
        json!({"thread_id": "thr_a", "turn_id": "trn_1", "input": [{"type": "text", "text": "x"}]});
    for (member, value) in [
        ("sandbox_policy", json!({"mode": "FullAccess"})),
        ("mode", json!("Agent")),
    ] {
        let mut params = start.clone();
        params[member] = value;
        let Err(rpc::client::Error::Rpc { code, data, .. }) =
            client.call_raw("turn/start", params).await
        else {
            panic!("`{member}` is accepted and does nothing");
        };
        assert_eq!(
            (code, &data["path"]),
            (-32602, &json!(format!("/{member}")))
        );
    }
    assert_eq!(told(&client).await, "");
}

#[tokio::test]
async fn the_prompt_names_the_document_it_was_made_of() {
    let running = testkit::gateway().await;
    let client = with_thread(&running, "echo").await;
    let bare = run(&client, "trn_1", "hello").await;
    assert_eq!(contributions(&bare), [""; 0]);
    let id = save(&client, "# Rules").await;
    let turn = run(&client, "trn_2", "hello").await;
    let manifest = turn.prompt_manifest.unwrap();
    assert_eq!(
        manifest.hook_sources[0].source.contribution_id,
        Some(format!("thread_agents_doc.{id}.v1"))
    );
    assert_snapshot!(json!(manifest), @r#"{"compiler_version":"accord.prompt.2","diagnostics":[],"fingerprint_dynamic":"cddf0d939eeaa4d9d221e53556eaac8909ba5cbb243528d7c8c03bbb23db234e","fingerprint_full":"bca0d63fd3a776540e780ecf7967932c17857ce42009d5787735cea0a0dde5ec","fingerprint_stable":"72566b5970208490dbff4556fa905edeba6ef83cfc3cb02d75bd6c6ce3726b03","hook_sources":[{"contribution_kind":"prompt_section","priority":600,"section_id":"agents_md","source":{"contribution_hash":"sha256:87532a74f85e87fcfd8c397947cfa0c7eaf2b55466579d39598261cdbda6d945","contribution_id":"thread_agents_doc.agd_000000000000000003.v1","hook_id":"pioneer.thread_agents_doc_prompt","phase":"turn_pre_prompt_compile","phase_name":"turn.pre_prompt_compile","subscription_id":"pioneer.thread_agents_doc_prompt.turn_pre_prompt_compile"},"source_count":1,"truncation":"none"}],"profile":"assistant_full","section_ids":["identity","safety","agents_md"]}"#);
    let unchanged = run(&client, "trn_3", "other words").await.prompt_manifest;
    assert_eq!(unchanged, Some(manifest));
}

#[tokio::test]
async fn the_model_reads_exactly_the_preview() {
    let (_running, mut model, client) = with_model().await;
    save(&client, "# Rules\n- one").await;
    let preview = client
        .call_raw(
            "thread/agents_doc/preview",
            json!({"workspace_id": "ws_a", "thread_id": "thr_a"}),
        )
        .await
        .unwrap();
    start(&client, "trn_1", "hello").await;
    let question = model.question().await;
    assert!(
        question
            .system()
            .ends_with(preview["text"].as_str().unwrap()),
        "{}",
        question.system()
    );
    assert_eq!(question.line, "POST /chat/completions");
    assert_eq!(question.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(question.body["model"], "some-model");
    let sent = question.system().to_owned();
    question.answer("hi").await;
    let manifest = ended(&client, "trn_1").await.prompt_manifest.unwrap();
    assert!(sent.contains("\n\n# AGENTS.md\n\nSource: "), "{sent}");
    assert_eq!(manifest.fingerprint_full, gateway::sha256_hex(&sent));
}

#[tokio::test]
async fn an_edit_reaches_the_next_turn_and_not_the_one_that_runs() {
    let (_running, mut model, client) = with_model().await;
    let id = save(&client, "the old rules").await;
    start(&client, "trn_1", "hello").await;
    let question = model.question().await;
    assert!(question.system().contains("the old rules"));
    save(&client, "the new rules").await;
    question.answer("hi").await;
    assert_eq!(
        contributions(&ended(&client, "trn_1").await),
        [format!("thread_agents_doc.{id}.v1")]
    );
    start(&client, "trn_2", "hello").await;
    let question = model.question().await;
    assert!(
        question.system().contains("the new rules") && !question.system().contains("the old rules")
    );
    question.answer("hi").await;
    assert_eq!(
        contributions(&ended(&client, "trn_2").await),
        [format!("thread_agents_doc.{id}.v2")]
    );
    assert_eq!(
        contributions(&get(&client, "trn_1").await),
        [format!("thread_agents_doc.{id}.v1")]
    );
}

#[tokio::test]
async fn a_draft_reaches_no_model_and_a_moved_thread_gets_another_text() {
    let running = testkit::gateway().await;
    let client = with_thread(&running, "echo").await;
    save(&client, " \n").await;
    assert_eq!(
        contributions(&run(&client, "trn_1", "hello").await),
        [""; 0]
    );
    let root = save(&client, "root").await;
    assert_eq!(
        contributions(&run(&client, "trn_2", "hello").await),
        [format!("thread_agents_doc.{root}.v2")]
    );
    let folder = client
        .call_raw(
            "thread/folder/create",
            json!({"workspace_id": "ws_a", "name": "A"}),
        )
        .await
        .unwrap();
    let folder = &folder["folder"]["id"];
    let saved = client
        .call_raw(
            "thread/agents_doc/save",
            json!({"workspace_id": "ws_a", "folder_id": folder, "content": "a"}),
        )
        .await
        .unwrap();
    answer(
        &client,
        "thread/move",
        json!({"workspace_id": "ws_a", "thread_id": "thr_a", "folder_id": folder}),
    )
    .await;
    let expected = format!(
        "thread_agents_doc.{}.v1",
        saved["doc"]["id"].as_str().unwrap()
    );
    assert_eq!(
        contributions(&run(&client, "trn_3", "hello").await),
        [expected]
    );
}

#[tokio::test]
async fn a_long_document_is_cut_and_the_manifest_says_so() {
    let (_running, mut model, client) = with_model().await;
    save(&client, &vec!["0123456789"; 2_000].join("\n")).await;
    start(&client, "trn_1", "hello").await;
    let question = model.question().await;
    assert!(
        question
            .system()
            .ends_with("of 21999 characters are shown.]\n</AGENTS_MD>"),
        "{}",
        question.system()
    );
    question.answer("hi").await;
    let manifest = ended(&client, "trn_1").await.prompt_manifest.unwrap();
    assert_snapshot!(json!(manifest.hook_sources[0].truncation), @r#""hook""#);
    assert_snapshot!(json!(manifest.diagnostics), @r#"[{"code":"dynamic_section_truncated","hook_source":{"contribution_hash":"sha256:374ad018b8611f3008dcf635f36061b41b431c9a5c36f32b34266aae730a8f95","contribution_id":"thread_agents_doc.agd_000000000000000001.v1","hook_id":"pioneer.thread_agents_doc_prompt","phase":"turn_pre_prompt_compile","phase_name":"turn.pre_prompt_compile","subscription_id":"pioneer.thread_agents_doc_prompt.turn_pre_prompt_compile"},"message":"the source of section `agents_md` is longer than its budget","section_id":"agents_md"}]"#);
}

#[tokio::test]
async fn what_hooks_did_can_be_listed() {
    let running = testkit::gateway().await;
    let client = with_thread(&running, "echo").await;
    save(&client, "# Rules").await;
    let first = run(&client, "trn_1", "hello").await;
    run(&client, "trn_2", "hello").await;
    let list = |more: Value| {
        let mut params = json!({"workspace_id": "ws_a"});
        params
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        params
    };
    assert_snapshot!(answer(&client, "hook/runs/list", list(json!({"turn_id": "trn_1"}))).await, @r#"{"items":[{"attempt_count":1,"completed_at_ms":1777900011000,"contribution_count":1,"contribution_hashes":["sha256:9849d80b21be0fd3f12144d22cb94bd7fc1b258dc0c7be6828ece74f811f5ae4"],"diagnostic_count":0,"diagnostic_previews":[],"hook_id":"pioneer.thread_agents_doc_prompt","id":"hkr_000000000000000003","phase":"turn.pre_prompt_compile","queued_at_ms":1777900007000,"started_at_ms":1777900008000,"status":"succeeded","subscription_id":"pioneer.thread_agents_doc_prompt.turn_pre_prompt_compile","thread_id":"thr_a","turn_id":"trn_1"}]}"#);
    let found = client
        .call_raw("hook/runs/list", list(json!({"turn_id": "trn_1"})))
        .await
        .unwrap();
    let manifest = first.prompt_manifest.unwrap();
    assert_eq!(
        found["items"][0]["contribution_hashes"],
        json!([manifest.hook_sources[0].source.contribution_hash])
    );
    let page = client
        .call_raw("hook/runs/list", list(json!({"limit": 1})))
        .await
        .unwrap();
    assert_eq!(
        page["items"][0]["turn_id"], "trn_2",
        "the newest comes first"
    );
    let page = client
        .call_raw(
            "hook/runs/list",
            list(json!({"limit": 1, "cursor": page["next_cursor"]})),
        )
        .await
        .unwrap();
    assert_eq!(
        (&page["items"][0]["turn_id"], &page["next_cursor"]),
        (&json!("trn_1"), &Value::Null)
    );
    for nothing in [
        json!({"turn_id": "trn_none"}),
        json!({"status": "failed"}),
        json!({"hook_id": "other"}),
        json!({"thread_id": "thr_none"}),
    ] {
        assert_eq!(
            answer(&client, "hook/runs/list", list(nothing)).await,
            r#"{"items":[]}"#
        );
    }
    let reader = running.client_with_role("human", &["read"], &[]).await;
    assert_eq!(
        answer(&reader, "hook/runs/list", list(json!({}))).await,
        r#"{"items":[]}"#,
        "the runs of an internal hook are for the owner"
    );
}

#[tokio::test]
async fn a_turn_can_be_read_as_items_as_a_timeline_and_as_history() {
    let running = testkit::gateway().await;
    let client = with_thread(&running, "echo").await;
    run(&client, "trn_1", "hello").await;
    assert_snapshot!(answer(&client, "turn/items", of("trn_1")).await, @r#"{"events":[{"created_at":1777900003000,"payload":{"item":{"attachments":[],"id":"user_trn_1","text":"hello","type":"userMessage"},"type":"itemStarted"},"sequence":2,"turn_id":"trn_1"},{"created_at":1777900003000,"payload":{"item":{"attachments":[],"id":"user_trn_1","text":"hello","type":"userMessage"},"type":"itemCompleted"},"sequence":3,"turn_id":"trn_1"},{"created_at":1777900010000,"payload":{"item":{"id":"itm_000000000000000002","text":"","type":"agentMessage"},"type":"itemStarted"},"sequence":4,"turn_id":"trn_1"},{"created_at":1777900011000,"payload":{"item":{"id":"itm_000000000000000002","text":"hello","type":"agentMessage"},"type":"itemCompleted"},"sequence":5,"turn_id":"trn_1"}],"last_sequence":6,"thread_id":"thr_a","turn_id":"trn_1","workspace_id":"ws_a"}"#);
    let mut later = of("trn_1");
    later["after_sequence"] = json!(4);
    assert_snapshot!(answer(&client, "turn/items", later).await, @r#"{"events":[{"created_at":1777900011000,"payload":{"item":{"id":"itm_000000000000000002","text":"hello","type":"agentMessage"},"type":"itemCompleted"},"sequence":5,"turn_id":"trn_1"}],"last_sequence":6,"thread_id":"thr_a","turn_id":"trn_1","workspace_id":"ws_a"}"#);
    assert_snapshot!(answer(&client, "turn/timeline", json!({"threadId": "thr_a", "turnId": "trn_1"})).await, @r#"{"items":[{"id":"trn_1:2","origin":{"kind":"parent_turn","lane":0,"occurredAt":1777900003000,"originSequence":2},"payload":{"event":{"item":{"attachments":[],"id":"user_trn_1","text":"hello","type":"userMessage"},"type":"itemStarted"},"kind":"turn_item_event"}},{"id":"trn_1:3","origin":{"kind":"parent_turn","lane":0,"occurredAt":1777900003000,"originSequence":3},"payload":{"event":{"item":{"attachments":[],"id":"user_trn_1","text":"hello","type":"userMessage"},"type":"itemCompleted"},"kind":"turn_item_event"}},{"id":"trn_1:4","origin":{"kind":"parent_turn","lane":0,"occurredAt":1777900010000,"originSequence":4},"payload":{"event":{"item":{"id":"itm_000000000000000002","text":"","type":"agentMessage"},"type":"itemStarted"},"kind":"turn_item_event"}},{"id":"trn_1:5","origin":{"kind":"parent_turn","lane":0,"occurredAt":1777900011000,"originSequence":5},"payload":{"event":{"item":{"id":"itm_000000000000000002","text":"hello","type":"agentMessage"},"type":"itemCompleted"},"kind":"turn_item_event"}}],"lastSequence":6,"threadId":"thr_a","turnId":"trn_1","workspaceId":"ws_a"}"#);
    assert_snapshot!(answer(&client, "thread/history", json!({"workspace_id": "ws_a", "thread_id": "thr_a"})).await, @r#"{"events":[{"created_at":1777900002000,"payload":{"input":[{"text":"hello","type":"text"}],"type":"turnStarted"},"sequence":1,"turn_id":"trn_1"},{"created_at":1777900003000,"payload":{"item":{"attachments":[],"id":"user_trn_1","text":"hello","type":"userMessage"},"type":"itemStarted"},"sequence":2,"turn_id":"trn_1"},{"created_at":1777900003000,"payload":{"item":{"attachments":[],"id":"user_trn_1","text":"hello","type":"userMessage"},"type":"itemCompleted"},"sequence":3,"turn_id":"trn_1"},{"created_at":1777900010000,"payload":{"item":{"id":"itm_000000000000000002","text":"","type":"agentMessage"},"type":"itemStarted"},"sequence":4,"turn_id":"trn_1"},{"created_at":1777900011000,"payload":{"item":{"id":"itm_000000000000000002","text":"hello","type":"agentMessage"},"type":"itemCompleted"},"sequence":5,"turn_id":"trn_1"},{"created_at":1777900011000,"payload":{"type":"turnCompleted","usage":{"cachedInputTokens":0,"inputTokens":5,"outputTokens":5}},"sequence":6,"turn_id":"trn_1"}],"thread_id":"thr_a","workspace_id":"ws_a"}"#);
}

#[tokio::test]
async fn who_joins_in_the_middle_of_an_answer_misses_nothing() {
    let (running, mut model, client) = with_model().await;
    start(&client, "trn_1", "hello").await;
    let mut question = model.question().await;
    question.begin().await;
    question.send_text("one ").await;
    question.send_text("two ").await;
    for _ in 0..2 {
        next::<ItemAgentMessageDeltaNotification>(&client).await;
    }
    let late = running.client();
    answer(
        &late,
        "thread/start",
        json!({"workspace_id": "ws_a", "thread_id": "thr_a"}),
    )
    .await;
    let joined = next::<ItemStartedNotification>(&late).await;
    let TurnItem::AgentMessage { text, .. } = joined.item else {
        panic!("{joined:?}");
    };
    assert_eq!(text, "one two ");
    question.send_text("three").await;
    let piece = next::<ItemAgentMessageDeltaNotification>(&late).await;
    assert_eq!((piece.delta.as_str(), piece.seq), ("three", 2));
    question.finish().await;
    assert_eq!(ended(&late, "trn_1").await.status, TurnStatus::Completed);
    assert_eq!(
        messages(&late, "trn_1").await,
        ["user: hello", "agent: one two three"]
    );
}

#[tokio::test]
async fn who_repeats_a_start_on_a_new_connection_hears_the_answer_so_far() {
    let (running, mut model, client) = with_model().await;
    start(&client, "trn_1", "hello").await;
    let mut question = model.question().await;
    question.begin().await;
    question.send_text("one ").await;
    next::<ItemAgentMessageDeltaNotification>(&client).await;
    let again = running.client();
    start(&again, "trn_1", "hello").await;
    let joined = next::<ItemStartedNotification>(&again).await;
    let TurnItem::AgentMessage { text, .. } = joined.item else {
        panic!("{joined:?}");
    };
    assert_eq!(text, "one ");
    // A client that was subscribed from the start receives nothing twice.
    start(&client, "trn_1", "hello").await;
    assert_eq!(told(&client).await, "");
    question.send_text("two").await;
    for listener in [&client, &again] {
        let piece = next::<ItemAgentMessageDeltaNotification>(listener).await;
        assert_eq!((piece.delta.as_str(), piece.seq), ("two", 1));
    }
    question.finish().await;
    assert_eq!(ended(&again, "trn_1").await.status, TurnStatus::Completed);
}

#[tokio::test]
async fn a_thread_with_a_running_turn_cannot_be_deleted() {
    let (_running, mut model, client) = with_model().await;
    start(&client, "trn_1", "hello").await;
    let question = model.question().await;
    let thread = json!({"workspace_id": "ws_a", "thread_id": "thr_a"});
    assert_eq!(
        refusal(&client, "thread/delete", thread.clone()).await,
        "-32600 busy"
    );
    question.answer("hi").await;
    ended(&client, "trn_1").await;
    assert_eq!(
        answer(&client, "thread/delete", thread).await,
        r#"{"deleted":true}"#
    );
    assert_eq!(
        refusal(&client, "turn/get", of("trn_1")).await,
        "-32600 unknown_turn"
    );
}

#[tokio::test]
async fn a_turn_goes_on_when_its_client_leaves() {
    let (running, mut model, client) = with_model().await;
    let watcher = running.client();
    answer(
        &watcher,
        "thread/start",
        json!({"workspace_id": "ws_a", "thread_id": "thr_a"}),
    )
    .await;
    start(&client, "trn_1", "hello").await;
    let question = model.question().await;
    drop(client);
    question.answer("hi").await;
    assert_eq!(ended(&watcher, "trn_1").await.status, TurnStatus::Completed);
}

#[tokio::test]
async fn a_turn_of_a_dead_process_is_interrupted_at_the_next_start() {
    let running = testkit::gateway().await;
    let client = with_thread(&running, "echo").await;
    run(&client, "trn_1", "hello").await;
    told(&client).await;
    let start = crud::StartTurn {
        id: "trn_2".to_owned(),
        thread_id: "thr_a".to_owned(),
        input_sha256: String::new(),
        event: crud::NewTurnEvent {
            kind: "turnStarted".to_owned(),
            payload: json!({"type": "turnStarted", "input": []}).to_string(),
        },
        preview: String::new(),
        model: None,
        model_provider: None,
        mode: None,
        remember: false,
        owner: "prc_gone".to_owned(),
        now: testkit::FIRST_TIME,
        now_ms: testkit::FIRST_TIME * 1000,
    };
    running.gateway.store().turns().start(start).await.unwrap();
    assert_eq!(
        refusal(&client, "turn/start", say("trn_3", "hello")).await,
        "-32600 busy"
    );
    let restarted = running.neighbour().await;
    let client = restarted.client();
    let turn = get(&client, "trn_2").await;
    assert_eq!(
        (turn.status, turn.error.as_deref()),
        (
            TurnStatus::Interrupted,
            Some("the gateway stopped while the turn was running")
        )
    );
    assert_eq!(
        get(&client, "trn_1").await.status,
        TurnStatus::Completed,
        "others are left alone"
    );
    let params =
        serde_json::from_value(json!({"workspace_id": "ws_a", "thread_id": "thr_a"})).unwrap();
    let ThreadHistoryResponse { events, .. } = client.call::<ThreadHistory>(params).await.unwrap();
    assert!(matches!(
        events.last().unwrap().payload,
        TurnEventPayload::TurnFailed {
            status: TurnStatus::Interrupted,
            ..
        }
    ));
    assert_eq!(
        run(&client, "trn_3", "hello").await.status,
        TurnStatus::Completed,
        "the thread is free"
    );
}

#[tokio::test]
async fn a_turn_of_a_living_process_is_left_alone() {
    let (running, mut model, client) = with_model().await;
    start(&client, "trn_1", "hello").await;
    let question = model.question().await;
    let neighbour = running.neighbour().await;
    let elsewhere = neighbour.client();
    assert_eq!(
        get(&elsewhere, "trn_1").await.status,
        TurnStatus::InProgress
    );
    assert_snapshot!(answer(&elsewhere, "turn/cancel", of("trn_1")).await, @r#"-32600 turn `trn_1` runs in another process, which has to cancel it {"kind":"busy"}"#);
    question.answer("hi").await;
    assert_eq!(ended(&client, "trn_1").await.status, TurnStatus::Completed);
}

#[tokio::test]
async fn a_thread_without_a_name_is_named_after_its_first_words() {
    let running = testkit::gateway().await;
    let client = with_thread(&running, "echo").await;
    let name = async |client: &Client, thread: &str| {
        let found = client
            .call_raw("thread/get", json!({"thread_id": thread}))
            .await
            .unwrap();
        found["thread"]["name"].clone()
    };
    run(&client, "trn_1", "  one two\n three four five six seven").await;
    assert_eq!(
        name(&client, "thr_a").await,
        "one two three four five six..."
    );
    run(&client, "trn_2", "something else").await;
    assert_eq!(
        name(&client, "thr_a").await,
        "one two three four five six...",
        "once is enough"
    );
    for (thread, given, named) in [
        ("thr_named", json!({"name": "Mine"}), json!("Mine")),
        ("thr_system", json!({"origin_kind": "system"}), Value::Null),
    ] {
        let mut params = given;
        params["workspace_id"] = json!("ws_a");
        params["thread_id"] = json!(thread);
        client.call_raw("thread/start", params).await.unwrap();
        let turn = json!({"thread_id": thread, "turn_id": format!("trn_{thread}"), "input": [{"type": "text", "text": "hello"}]});
        client.call_raw("turn/start", turn).await.unwrap();
        told_until(&client, "turn/completed").await;
        told(&client).await;
        assert_eq!(name(&client, thread).await, named);
    }
}

#[tokio::test]
async fn a_model_that_refuses_fails_the_turn_with_its_words() {
    let (_running, mut model, client) = with_model().await;
    let refusals = [
        (
            401,
            vec![],
            json!({"error": {"message": format!("Incorrect API key provided: {KEY}"), "code": "invalid_api_key"}}),
        ),
        (
            429,
            vec![("retry-after", "7")],
            json!({"error": {"message": "Rate limit reached"}}),
        ),
        (
            500,
            vec![],
            json!({"error": {"message": "The server had an error"}}),
        ),
    ];
    let mut errors = Vec::new();
    for (status, headers, body) in refusals {
        let turn = format!("trn_{status}");
        start(&client, &turn, "hello").await;
        model.question().await.reply(status, &headers, &body).await;
        let ended = ended(&client, &turn).await;
        assert_eq!(ended.status, TurnStatus::Failed);
        assert_eq!(messages(&client, &turn).await, ["user: hello", "agent: "]);
        errors.push(ended.error.unwrap());
    }
    assert_snapshot!(errors.join("\n"), @r"
    `openai` answered 401: Incorrect API key provided: ***
    `openai` answered 429: Rate limit reached
    `openai` answered 500: The server had an error
    ");
    assert!(!model.was_asked(), "nothing is asked again by itself");
    // A failed turn is not part of the conversation.
    start(&client, "trn_after", "once more").await;
    let question = model.question().await;
    assert_eq!(
        question.body["messages"].as_array().unwrap().len(),
        2,
        "the system and the question"
    );
    question.answer("hi").await;
    assert_eq!(
        ended(&client, "trn_after").await.status,
        TurnStatus::Completed
    );
}

#[tokio::test]
async fn an_answer_that_is_cut_off_fails_the_turn_and_is_kept_as_far_as_it_came() {
    let (_running, mut model, client) = with_model().await;
    start(&client, "trn_1", "hello").await;
    let mut question = model.question().await;
    question.begin().await;
    question.send_text("first half, ").await;
    question.cut();
    let turn = ended(&client, "trn_1").await;
    assert_eq!(turn.status, TurnStatus::Failed);
    assert_snapshot!(turn.error.unwrap(), @r"`openai` ended the response before it was complete");
    assert_eq!(
        messages(&client, "trn_1").await,
        ["user: hello", "agent: first half, "]
    );
}

#[tokio::test]
async fn a_turn_fails_before_the_model_is_asked_when_its_document_cannot_be_resolved() {
    let (running, model, client) = with_model().await;
    save(&client, "# Rules").await;
    let database = rusqlite::Connection::open(running.home().join("gateway.db")).unwrap();
    database
        .execute_batch("PRAGMA foreign_keys = OFF; DROP TABLE thread_agents_doc")
        .unwrap();
    let turn = run(&client, "trn_1", "hello").await;
    assert_eq!(
        (turn.status, turn.prompt_manifest),
        (TurnStatus::Failed, None)
    );
    assert_snapshot!(turn.error.unwrap(), @r"the AGENTS.md of the thread cannot be resolved: the database failed");
    assert!(!model.was_asked(), "nothing is sent");
    assert_eq!(messages(&client, "trn_1").await, ["user: hello"]);
    let runs = client
        .call_raw(
            "hook/runs/list",
            json!({"workspace_id": "ws_a", "turn_id": "trn_1"}),
        )
        .await
        .unwrap();
    assert_eq!(runs["items"][0]["status"], "failed");
    assert_snapshot!(runs["items"][0]["error"], @r#"{"code":"thread_agents_doc.resolve_failed","message":"the AGENTS.md of the thread cannot be resolved: the database failed","retryable":false,"safe_for_user":true}"#);
}

#[tokio::test]
async fn every_piece_of_a_prompt_is_explained_and_two_turns_are_compared() {
    let running = testkit::gateway().await;
    let client = with_thread(&running, "echo").await;
    let save = async |content: &str| {
        let params = json!({"workspace_id": "ws_a", "content": content});
        answer(&client, "thread/agents_doc/save", params).await
    };
    run(&client, "trn_0", "Hi").await;
    let first = save("Be brief.").await;
    run(&client, "trn_1", "Hi").await;
    save("Be kind.").await;
    run(&client, "trn_2", "Hi").await;
    let compare = async |turn: &str, with: &str| {
        let params = json!({"thread_id": "thr_a", "turn_id": turn, "compare_turn_id": with});
        let explained = client.call_raw("turn/explain", params).await;
        explained.expect("both turns are there")
    };
    let explained = compare("trn_1", "trn_2").await;
    let piece = |number: usize| &explained["prompt"]["pieces"][number];
    assert_eq!(
        piece(0),
        &json!({"section_id": "identity", "truncation": "none"})
    );
    assert_eq!(piece(1)["section_id"], "safety");
    assert_eq!(piece(2)["section_id"], "agents_md");
    assert_eq!(piece(2)["hook_id"], "pioneer.thread_agents_doc_prompt");
    let first: Value = serde_json::from_str(&first).expect("JSON");
    let doc = &first["doc"];
    let expected = json!({
        "doc_id": doc["id"], "version": 1, "content_sha256": doc["content_sha256"], "char_count": 9,
        "saved_by": "owner", "saved_at": doc["updated_at"],
    });
    assert_eq!(piece(2)["document"], expected);
    let changes = |explained: &Value| explained["changes"].to_string();
    let changed = |agents_md: &str| {
        json!([
            {"section_id": "identity", "change": "same"},
            {"section_id": "safety", "change": "same"},
            {"section_id": "agents_md", "change": agents_md},
        ])
        .to_string()
    };
    assert_eq!(changes(&explained), changed("changed"));
    assert_eq!(changes(&compare("trn_1", "trn_0").await), changed("added"));
    assert_eq!(
        changes(&compare("trn_0", "trn_1").await),
        changed("removed")
    );
    assert_eq!(changes(&compare("trn_1", "trn_1").await), changed("same"));
}
