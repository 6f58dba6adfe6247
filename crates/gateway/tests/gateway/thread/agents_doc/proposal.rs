//! `thread/agents_doc/propose` and `thread/agents_doc/proposal/*` through clients.

use insta::assert_snapshot;
use rpc::Client;
use rusqlite::Connection;
use serde_json::{Value, json};
use testkit::{TestGateway, answer, refusal, told};

const BASE: &str = "# Rules\n\nUse tabs.\n\nTest first.\n\nShip often.\n";

/// A gateway with a workspace whose root document is [`BASE`], its owner, and a worker that may only propose.
async fn with_rules() -> (TestGateway, Client, Client) {
    let running = testkit::gateway().await;
    let owner = running.client();
    answer(&owner, "workspace/create", json!({"workspace_id": "ws_a"})).await;
    save(&owner, BASE).await;
    told(&owner).await;
    let worker = running.client_with_token(&["read", "propose"], &[]).await;
    (running, owner, worker)
}

async fn call(client: &Client, method: &str, params: Value) -> Value {
    let called = client.call_raw(method, params).await;
    called.unwrap_or_else(|error| panic!("{method}: {error:?}"))
}

async fn save(client: &Client, content: &str) -> Value {
    let params = json!({"workspace_id": "ws_a", "content": content, "save_reason": "manual"});
    call(client, "thread/agents_doc/save", params).await["doc"].take()
}

fn text(content: &str) -> Value {
    json!({"workspace_id": "ws_a", "content": content, "rationale": "Spaces are what the code has."})
}

/// Creates a proposal and returns it.
async fn propose(client: &Client, content: &str) -> Value {
    call(client, "thread/agents_doc/propose", text(content)).await["proposal"].take()
}

fn of(proposal: &Value) -> Value {
    json!({"workspace_id": "ws_a", "proposal_id": proposal["id"]})
}

fn decision(proposal: &Value, decision: &str) -> Value {
    let mut params = of(proposal);
    params["decision"] = decision.into();
    params
}

async fn current(client: &Client) -> Value {
    let params = json!({"workspace_id": "ws_a"});
    call(client, "thread/agents_doc/get", params).await["explicit"].take()
}

async fn listed(client: &Client, mut params: Value) -> Vec<String> {
    params["workspace_id"] = "ws_a".into();
    let page = call(client, "thread/agents_doc/proposal/list", params).await;
    let items = page["items"].as_array().expect("items are a list");
    let shown = items.iter().map(|item| {
        format!(
            "{} {} base {} current {} stale {}",
            item["id"].as_str().unwrap_or_default(),
            item["status"].as_str().unwrap_or_default(),
            item["base_version"],
            item["current_version"],
            item["is_stale"]
        )
    });
    shown.collect()
}

#[tokio::test]
async fn a_proposal_is_a_diff_with_rationale_and_author() {
    let (_running, owner, _worker) = with_rules().await;
    let proposed = BASE.replace("tabs", "spaces");
    let shown = answer(&owner, "thread/agents_doc/propose", text(&proposed)).await;
    assert_snapshot!(shown, @r#"{"proposal":{"author":"owner","base_version":1,"char_count":47,"content_sha256":"205808620f9a88cfe4569da5a16807b1d3e03fa7e5eb71b18f7e1aa43f73c0ee","created_at":1777900003,"current_version":1,"diff":"--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1,6 +1,6 @@\n # Rules\n \n-Use tabs.\n+Use spaces.\n \n Test first.\n \n","id":"agp_000000000000000003","is_stale":false,"rationale":"Spaces are what the code has.","sha256":"766f79675c2885e66bc9864fda5d6f045edb68f4bd6faf447f6fb07ae27a7731","status":"pending","updated_at":1777900003,"workspace_id":"ws_a"}}"#);
    assert_snapshot!(told(&owner).await, @r#"4 thread/agents_doc/proposal/changed {"proposal_id":"agp_000000000000000003","status":"pending","workspace_id":"ws_a"}"#);
    assert_eq!(current(&owner).await["version"], 1, "nothing is saved yet");
}

#[tokio::test]
async fn approval_saves_the_next_version_with_the_approver_as_author() {
    let (_running, owner, worker) = with_rules().await;
    let proposed = BASE.replace("tabs", "spaces");
    let proposal = propose(&worker, &proposed).await;
    assert!(proposal["author"].as_str().unwrap().starts_with("tok_"));
    told(&owner).await;

    let mut params = decision(&proposal, "approve");
    params["note"] = "Agreed.".into();
    let approved = call(&owner, "thread/agents_doc/proposal/decide", params).await;
    let approved = &approved["proposal"];
    assert_eq!(approved["status"], "approved");
    assert_eq!(approved["decided_by"], "owner");
    assert_eq!(approved["note"], "Agreed.");
    assert_eq!(approved["saved_version"], 2);
    assert_eq!(approved["author"], proposal["author"]);
    let doc = current(&owner).await;
    assert_eq!(
        (&doc["version"], &doc["content"], &doc["id"]),
        (&json!(2), &json!(proposed), &approved["saved_doc_id"])
    );
    let history = json!({"workspace_id": "ws_a", "doc_id": doc["id"], "limit": 1});
    assert_snapshot!(answer(&owner, "thread/agents_doc/revisions", history).await, @r#"{"items":[{"char_count":47,"content_sha256":"205808620f9a88cfe4569da5a16807b1d3e03fa7e5eb71b18f7e1aa43f73c0ee","save_reason":"proposal","saved_at":1777900004,"saved_by":"owner","version":2}],"next_cursor":"2"}"#);
    let names: Vec<_> = told(&owner).await.lines().map(method_of).collect();
    assert_eq!(
        names,
        [
            "thread/agents_doc/changed",
            "thread/tree/changed",
            "thread/agents_doc/proposal/changed"
        ]
    );
}

fn method_of(line: &str) -> String {
    line.split(' ').nth(1).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn the_first_decision_is_final_and_the_same_again_is_answered_the_same() {
    let (_running, owner, worker) = with_rules().await;
    let proposal = propose(&worker, "New\n").await;
    let deny = decision(&proposal, "deny");
    let first = answer(&owner, "thread/agents_doc/proposal/decide", deny.clone()).await;
    told(&owner).await;
    let again = answer(&owner, "thread/agents_doc/proposal/decide", deny).await;
    assert_eq!(again, first);
    assert_eq!(told(&owner).await, "");
    let approve = decision(&proposal, "approve");
    assert_snapshot!(answer(&owner, "thread/agents_doc/proposal/decide", approve).await, @r#"-32600 proposal `agp_000000000000000003` is denied already {"decided_at":1777900004,"decided_by":"owner","kind":"already_decided","note":null,"proposal_id":"agp_000000000000000003","status":"denied"}"#);
    assert_eq!(current(&owner).await["version"], 1);
}

#[tokio::test]
async fn a_proposal_against_an_old_version_is_stale_and_cannot_be_approved() {
    let (_running, owner, worker) = with_rules().await;
    let proposal = propose(&worker, &BASE.replace("tabs", "spaces")).await;
    save(&owner, &BASE.replace("often", "daily")).await;
    assert_eq!(
        listed(&owner, json!({})).await,
        [format!(
            "{} pending base 1 current 2 stale true",
            proposal["id"].as_str().unwrap()
        )]
    );
    let approve = decision(&proposal, "approve");
    assert_snapshot!(answer(&owner, "thread/agents_doc/proposal/decide", approve).await, @r#"-32600 the proposal changes version 1, and the current version is 2 {"actual":2,"content_sha256":"c23f850f06bf0255878abaaaa6902f142e8a8eb59c8c40c7c014747e37539b70","doc_id":"agd_000000000000000001","expected":1,"hint":"rebase it with `thread/agents_doc/proposal/rebase`","kind":"version_conflict","updated_at":1777900004}"#);
    assert_eq!(current(&owner).await["version"], 2);
    let deny = decision(&proposal, "deny");
    let denied = call(&owner, "thread/agents_doc/proposal/decide", deny).await;
    assert_eq!(denied["proposal"]["is_stale"], false, "it waits no more");
}

#[tokio::test]
async fn a_rebase_keeps_the_lines_that_each_side_changed() {
    let (_running, owner, worker) = with_rules().await;
    let proposal = propose(&worker, &BASE.replace("tabs", "spaces")).await;
    save(&owner, &BASE.replace("often", "daily")).await;
    let rebased = call(&worker, "thread/agents_doc/proposal/rebase", of(&proposal)).await;
    assert_eq!(rebased["proposal"]["is_stale"], false);
    assert_snapshot!(rebased["proposal"]["diff"].as_str().unwrap(), @r#"
    --- a/AGENTS.md
    +++ b/AGENTS.md
    @@ -1,6 +1,6 @@
     # Rules
     
    -Use tabs.
    +Use spaces.
     
     Test first.
    "#);
    let again = call(&worker, "thread/agents_doc/proposal/rebase", of(&proposal)).await;
    assert_eq!(again, rebased);

    // A hash read before the rebase does not approve the rebased text.
    let mut approve = decision(&proposal, "approve");
    approve["expected_sha256"] = proposal["sha256"].clone();
    let method = "thread/agents_doc/proposal/decide";
    assert_eq!(
        refusal(&owner, method, approve.clone()).await,
        "-32600 version_conflict"
    );
    approve["expected_sha256"] = rebased["proposal"]["sha256"].clone();
    let approved = call(&owner, method, approve).await;
    assert_eq!(approved["proposal"]["decided_via"], "terminal");
    let both = BASE.replace("tabs", "spaces").replace("often", "daily");
    assert_eq!(current(&owner).await["content"], both);
}

#[tokio::test]
async fn where_both_changed_the_same_lines_a_rebase_needs_the_merged_text() {
    let (_running, owner, worker) = with_rules().await;
    let proposal = propose(&worker, &BASE.replace("tabs", "spaces")).await;
    save(&owner, &BASE.replace("tabs", "four spaces")).await;
    let method = "thread/agents_doc/proposal/rebase";
    assert_snapshot!(answer(&worker, method, of(&proposal)).await, @r##"-32600 proposal `agp_000000000000000003` and version 2 change the same lines {"base":"# Rules\n\nUse tabs.\n\nTest first.\n\nShip often.\n","current":"# Rules\n\nUse four spaces.\n\nTest first.\n\nShip often.\n","current_version":2,"hint":"give the merged text as `content`, and `current_version`","kind":"merge_conflict","marked":"# Rules\n\n<<<<<<< ours\nUse four spaces.\n||||||| original\nUse tabs.\n=======\nUse spaces.\n>>>>>>> theirs\n\nTest first.\n\nShip often.\n","proposed":"# Rules\n\nUse spaces.\n\nTest first.\n\nShip often.\n"}"##);

    let mut with_text = of(&proposal);
    with_text["content"] = BASE.replace("tabs", "two spaces").into();
    assert_eq!(
        refusal(&owner, method, with_text.clone()).await,
        "-32602 invalid_params"
    );
    with_text["current_version"] = 1.into();
    assert_eq!(
        refusal(&owner, method, with_text.clone()).await,
        "-32600 version_conflict"
    );
    with_text["current_version"] = 2.into();
    // Otherwise the author could replace a text that a person has already reviewed.
    assert_eq!(
        refusal(&worker, method, with_text.clone()).await,
        "-32043 forbidden"
    );
    let rebased = call(&owner, method, with_text).await;
    assert_eq!(rebased["proposal"]["base_version"], 2);
    let approve = decision(&proposal, "approve");
    call(&owner, "thread/agents_doc/proposal/decide", approve).await;
    assert_eq!(
        current(&owner).await["content"],
        BASE.replace("tabs", "two spaces")
    );
}

#[tokio::test]
async fn a_worker_proposes_and_takes_back_but_neither_saves_nor_decides() {
    let (running, owner, worker) = with_rules().await;
    let proposal = propose(&worker, "New\n").await;
    let save = json!({"workspace_id": "ws_a", "content": "New\n"});
    assert_eq!(
        refusal(&worker, "thread/agents_doc/save", save).await,
        "-32043 forbidden"
    );
    let decide = "thread/agents_doc/proposal/decide";
    let approve = decision(&proposal, "approve");
    assert_eq!(
        refusal(&worker, decide, approve.clone()).await,
        "-32043 forbidden"
    );
    // Additional scopes do not make a token a person.
    let writer = running
        .client_with_role("ceo", &["read", "write", "exec"], &[])
        .await;
    assert_eq!(refusal(&writer, decide, approve).await, "-32043 forbidden");
    for method in ["withdraw", "rebase"] {
        let method = format!("thread/agents_doc/proposal/{method}");
        let refused = refusal(&writer, &method, of(&proposal)).await;
        assert_eq!(refused, "-32043 forbidden", "{method}");
    }
    let reader = running.client_with_token(&["read"], &[]).await;
    let refused = refusal(&reader, "thread/agents_doc/propose", text("Other\n")).await;
    assert_eq!(refused, "-32043 forbidden");

    let withdrawn = call(
        &worker,
        "thread/agents_doc/proposal/withdraw",
        of(&proposal),
    )
    .await;
    assert_eq!(withdrawn["proposal"]["status"], "withdrawn");
    assert_eq!(current(&owner).await["version"], 1);
}

#[tokio::test]
async fn a_failed_decision_saves_nothing() {
    let (running, owner, worker) = with_rules().await;
    let proposal = propose(&worker, "New\n").await;
    let db = Connection::open(running.home().join("gateway.db")).unwrap();
    db.execute_batch(
        "CREATE TRIGGER torn BEFORE UPDATE ON thread_agents_doc_proposal BEGIN SELECT RAISE(ABORT, 'torn'); END",
    )
    .unwrap();
    let method = "thread/agents_doc/proposal/decide";
    let approve = decision(&proposal, "approve");
    let refused = refusal(&owner, method, approve.clone()).await;
    assert_eq!(refused, "-32600 internal");
    assert_eq!(current(&owner).await["version"], 1);
    db.execute_batch("DROP TRIGGER torn").unwrap();
    call(&owner, method, approve).await;
    assert_eq!(current(&owner).await["version"], 2);
}

#[tokio::test]
async fn the_same_text_of_the_same_author_is_the_same_proposal_while_it_waits() {
    let (_running, owner, worker) = with_rules().await;
    let first = propose(&worker, "New\n").await;
    told(&owner).await;
    assert_eq!(propose(&worker, "New\r\n").await["id"], first["id"]);
    assert_eq!(told(&owner).await, "");
    assert_ne!(propose(&owner, "New\n").await["id"], first["id"]);
    let deny = decision(&first, "deny");
    call(&owner, "thread/agents_doc/proposal/decide", deny).await;
    assert_ne!(propose(&worker, "New\n").await["id"], first["id"]);
}

#[tokio::test]
async fn what_cannot_be_proposed_is_refused() {
    let (_running, owner, _worker) = with_rules().await;
    let method = "thread/agents_doc/propose";
    let with = |field: &str, value: Value| {
        let mut params = text("New\n");
        params[field] = value;
        params
    };
    let many_lines = |letter: char| -> String {
        let lines = (0..11_000).map(|number| format!("{letter}{number:x}\n"));
        lines.collect::<String>().chars().take(65_000).collect()
    };
    for (params, expected) in [
        (with("content", BASE.into()), "-32602 invalid_params"),
        (
            with("content", "x".repeat(65_537).into()),
            "-32602 too_large",
        ),
        (with("content", "a\0b".into()), "-32602 invalid_params"),
        (with("rationale", " \n".into()), "-32602 invalid_params"),
        (
            with("rationale", "x".repeat(4_097).into()),
            "-32602 too_large",
        ),
        (with("base_version", 7.into()), "-32602 unknown_revision"),
        (
            with("folder_id", "fld_none".into()),
            "-32602 unknown_folder",
        ),
    ] {
        assert_eq!(refusal(&owner, method, params.clone()).await, expected);
    }
    // Comparing longer texts without common lines would take minutes.
    save(&owner, &many_lines('a')).await;
    let refused = refusal(&owner, method, text(&many_lines('b'))).await;
    assert_eq!(refused, "-32602 too_large");
}

#[tokio::test]
async fn a_proposal_makes_a_file_where_there_is_none() {
    let (_running, owner, worker) = with_rules().await;
    let create = json!({"workspace_id": "ws_a", "name": "Backend"});
    let folder = call(&owner, "thread/folder/create", create).await;
    let mut params = text("Backend rules\n");
    params["folder_id"] = folder["folder"]["id"].clone();
    let proposed = call(&worker, "thread/agents_doc/propose", params).await;
    let proposal = &proposed["proposal"];
    assert_eq!(proposal["base_version"], 0);
    let scope = json!({"scope": {"folder_id": folder["folder"]["id"]}});
    assert_eq!(listed(&owner, scope).await.len(), 1);
    assert!(listed(&owner, json!({"scope": {}})).await.is_empty());
    let approve = decision(proposal, "approve");
    let approved = call(&owner, "thread/agents_doc/proposal/decide", approve).await;
    assert_eq!(approved["proposal"]["saved_version"], 1);
}

#[tokio::test]
async fn what_is_proposed_for_a_folder_goes_with_it() {
    let (_running, owner, worker) = with_rules().await;
    let create = json!({"workspace_id": "ws_a", "name": "Backend"});
    let folder = call(&owner, "thread/folder/create", create).await;
    let mut params = text("Backend rules\n");
    params["folder_id"] = folder["folder"]["id"].clone();
    call(&worker, "thread/agents_doc/propose", params).await;
    told(&owner).await;
    let delete = json!({"workspace_id": "ws_a", "folder_id": folder["folder"]["id"]});
    call(&owner, "thread/folder/delete", delete).await;
    assert_snapshot!(told(&owner).await, @r#"
    6 thread/agents_doc/proposal/changed {"folder_id":"fld_000000000000000003","proposal_id":"agp_000000000000000004","status":"withdrawn","workspace_id":"ws_a"}
    7 thread/tree/changed {"reason":"thread/folder/delete","tree_version":3,"workspace_id":"ws_a"}
    "#);
    assert_snapshot!(listed(&owner, json!({})).await.join("\n"), @"agp_000000000000000004 withdrawn base 0 current 0 stale false");
}

#[tokio::test]
async fn a_list_has_those_that_wait_first_and_pages_through_all() {
    let (_running, owner, worker) = with_rules().await;
    let mut made = Vec::new();
    for number in 0..5 {
        made.push(propose(&worker, &format!("Text {number}\n")).await);
    }
    for proposal in [&made[1], &made[4]] {
        let deny = decision(proposal, "deny");
        call(&owner, "thread/agents_doc/proposal/decide", deny).await;
    }
    let mut seen = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let params = json!({"workspace_id": "ws_a", "limit": 2, "cursor": cursor});
        let mut page = call(&owner, "thread/agents_doc/proposal/list", params).await;
        let items = page["items"].as_array().unwrap();
        seen.extend(items.iter().map(|item| item["id"].clone()));
        cursor = page["next_cursor"].take();
        if cursor.is_null() {
            break;
        }
    }
    let expected: Vec<_> = [3, 2, 0, 4, 1]
        .map(|index: usize| made[index]["id"].clone())
        .into();
    assert_eq!(seen, expected);
    assert_eq!(listed(&owner, json!({"status": "denied"})).await.len(), 2);
    let bad = json!({"workspace_id": "ws_a", "cursor": "waits.x"});
    let method = "thread/agents_doc/proposal/list";
    assert_eq!(refusal(&owner, method, bad).await, "-32602 invalid_params");
}

#[tokio::test]
async fn a_long_list_takes_as_many_statements_as_an_empty_one() {
    let (running, owner, worker) = with_rules().await;
    let statements = async || {
        running.statements.take();
        let items = listed(&owner, json!({"limit": 50})).await.len();
        let mut taken = running.statements.take();
        taken.retain(|sql| !sql.contains("data_version") && !sql.contains(r#""workspace" ORDER"#));
        (items, taken)
    };
    let (none, empty) = statements().await;
    for number in 0..50 {
        propose(&worker, &format!("Text {number}\n")).await;
    }
    let (all, full) = statements().await;
    assert_eq!((none, all), (0, 50));
    assert_eq!(full, empty);
    assert!(full.len() <= 2, "{full:#?}");
}

#[tokio::test]
async fn one_proposal_comes_with_all_three_texts() {
    let (_running, owner, worker) = with_rules().await;
    let proposal = propose(&worker, "New\n").await;
    save(&owner, "Current\n").await;
    let found = call(&owner, "thread/agents_doc/proposal/get", of(&proposal)).await;
    let texts = ["base_content", "current_content", "content"].map(|name| found[name].clone());
    assert_eq!(texts, [BASE, "Current\n", "New\n"].map(Value::from));
    let unknown = json!({"workspace_id": "ws_a", "proposal_id": "agp_none"});
    let method = "thread/agents_doc/proposal/get";
    assert_snapshot!(answer(&owner, method, unknown).await, @r#"-32602 invalid params for `thread/agents_doc/proposal/get`: there is no proposal `agp_none` {"kind":"unknown_proposal","path":"/proposal_id"}"#);
}

#[tokio::test]
async fn a_proposal_that_was_put_on_another_version_with_the_same_text_is_not_what_was_shown() {
    let (_running, owner, worker) = with_rules().await;
    let proposal = propose(&worker, &BASE.replace("tabs", "spaces")).await;
    save(
        &owner,
        &BASE.replace("tabs", "spaces").replace("often", "daily"),
    )
    .await;
    let method = "thread/agents_doc/proposal/rebase";
    let mut merged = of(&proposal);
    merged["content"] = json!(BASE.replace("tabs", "spaces"));
    merged["current_version"] = json!(2);
    let rebased = call(&owner, method, merged).await["proposal"].take();
    assert_eq!(rebased["content_sha256"], proposal["content_sha256"]);
    for word in ["approve", "deny"] {
        let mut decide = decision(&proposal, word);
        decide["expected_sha256"] = proposal["sha256"].clone();
        assert_eq!(
            refusal(&owner, "thread/agents_doc/proposal/decide", decide).await,
            "-32600 version_conflict"
        );
    }
    let mut deny = decision(&proposal, "deny");
    deny["expected_sha256"] = rebased["sha256"].clone();
    call(&owner, "thread/agents_doc/proposal/decide", deny).await;
}
