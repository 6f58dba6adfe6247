//! `trash/*` through a client.

use rpc::Client;
use serde_json::{Value, json};
use testkit::{TestGateway, told};

const DAY: i64 = 24 * 60 * 60;

async fn call(client: &Client, method: &str, mut params: Value) -> Value {
    params["workspace_id"] = "ws_a".into();
    let answer = client.call_raw(method, params).await;
    answer.unwrap_or_else(|failure| panic!("{method}: {failure}"))
}

async fn refused(client: &Client, method: &str, mut params: Value) -> String {
    params["workspace_id"] = "ws_a".into();
    let refusal = client.call_raw(method, params).await;
    refusal.expect_err("this is refused").to_string()
}

async fn in_workspace(running: &TestGateway) -> Client {
    let client = running.client();
    call(&client, "workspace/create", json!({})).await;
    client
}

async fn folder(client: &Client, parent: Option<&str>, name: &str) -> String {
    let params = json!({"parent_folder_id": parent, "name": name});
    let created = call(client, "thread/folder/create", params).await;
    created["folder"]["id"].as_str().expect("an id").to_owned()
}

async fn thread(client: &Client, id: &str, folder: Option<&str>) {
    call(client, "thread/start", json!({"thread_id": id, "name": id})).await;
    call(
        client,
        "thread/move",
        json!({"thread_id": id, "folder_id": folder}),
    )
    .await;
}

async fn save(client: &Client, folder: Option<&str>, content: &str) -> Value {
    let params = json!({"folder_id": folder, "content": content});
    call(client, "thread/agents_doc/save", params).await["doc"].clone()
}

async fn trash(client: &Client) -> Vec<Value> {
    let listed = call(client, "trash/list", json!({})).await;
    listed["items"].as_array().expect("a list").clone()
}

async fn restore(client: &Client, item: &Value) -> Value {
    let params = json!({"kind": item["kind"], "id": item["id"]});
    call(client, "trash/restore", params).await
}

/// Returns the folder of a thread: `None` if the tree does not contain it, null for the root.
async fn place(client: &Client, thread: &str) -> Option<Value> {
    let tree = call(client, "thread/tree", json!({})).await;
    let is_shown = tree["threads"]
        .as_array()
        .expect("a list")
        .iter()
        .any(|one| one["id"] == thread);
    let placements = tree["placements"].as_array().expect("a list").clone();
    let placed = placements
        .into_iter()
        .find(|one| one["thread_id"] == thread);
    is_shown.then(|| placed.map_or(Value::Null, |one| one["folder_id"].clone()))
}

/// Returns the effective agents doc of a thread.
async fn instructions(client: &Client, thread: &str) -> Value {
    let found = call(
        client,
        "thread/agents_doc/resolve_for_thread",
        json!({"thread_id": thread}),
    )
    .await;
    found["effective"]["doc"]["content"].clone()
}

#[tokio::test]
async fn a_deleted_thread_comes_back_with_its_turns_and_place() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let home = folder(&client, None, "Home").await;
    thread(&client, "thr_a", Some(&home)).await;
    let turn = json!({"thread_id": "thr_a", "turn_id": "trn_a", "input": [{"type": "text", "text": "hello"}]});
    call(&client, "turn/start", turn).await;
    testkit::told_until(&client, "turn/completed").await;
    let before = call(&client, "thread/history", json!({"thread_id": "thr_a"})).await;

    let deleted = call(&client, "thread/delete", json!({"thread_id": "thr_a"})).await;
    assert_eq!(deleted, json!({"deleted": true}));
    assert_eq!(place(&client, "thr_a").await, None);
    let gone = json!({"thread_id": "thr_a"});
    assert!(
        refused(&client, "thread/get", gone.clone())
            .await
            .contains("there is no thread `thr_a`")
    );
    let of_turn = json!({"thread_id": "thr_a", "turn_id": "trn_a"});
    assert!(
        refused(&client, "turn/get", of_turn.clone())
            .await
            .contains("there is no")
    );
    assert!(
        refused(
            &client,
            "thread/agents_doc/resolve_for_thread",
            gone.clone()
        )
        .await
        .contains("there is no thread")
    );
    let again = refused(&client, "thread/start", gone.clone()).await;
    assert!(again.contains("thread `thr_a` is in the trash"), "{again}");

    let items = trash(&client).await;
    assert_eq!(items.len(), 1);
    assert_eq!(items[0]["kind"], "thread");
    assert_eq!(items[0]["name"], "thr_a");
    assert_eq!(items[0]["folder_name"], "Home");
    assert_eq!(
        items[0]["purge_at"].as_i64().unwrap() - items[0]["deleted_at"].as_i64().unwrap(),
        30 * DAY
    );

    let restored = restore(&client, &items[0]).await;
    assert_eq!(restored["thread"]["id"], "thr_a");
    assert_eq!(restored["notes"], json!([]));
    assert_eq!(place(&client, "thr_a").await, Some(home.into()));
    let after = call(&client, "thread/history", json!({"thread_id": "thr_a"})).await;
    assert_eq!(after, before);
    call(&client, "turn/get", of_turn).await;
    assert_eq!(trash(&client).await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_deleted_folder_comes_back_with_its_document_and_contents() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let outer = folder(&client, None, "Outer").await;
    let middle = folder(&client, Some(&outer), "Middle").await;
    let inner = folder(&client, Some(&middle), "Inner").await;
    thread(&client, "thr_a", Some(&middle)).await;
    save(&client, None, "root rules").await;
    let saved = save(&client, Some(&middle), "middle rules").await;
    assert_eq!(saved["version"], 1);
    assert_eq!(instructions(&client, "thr_a").await, "middle rules");

    let deleted = call(
        &client,
        "thread/folder/delete",
        json!({"folder_id": middle}),
    )
    .await;
    assert_eq!(deleted, json!({"deleted": true}));
    assert_eq!(place(&client, "thr_a").await, Some(json!(outer)));
    assert_eq!(instructions(&client, "thr_a").await, "root rules");
    let items = trash(&client).await;
    assert_eq!(items.len(), 1);
    assert_eq!(items[0]["kind"], "folder");
    assert_eq!(items[0]["thread_count"], 1);
    assert_eq!(items[0]["folder_count"], 1);
    assert_eq!(items[0]["has_agents_doc"], true);

    told(&client).await;
    let restored = restore(&client, &items[0]).await;
    assert_eq!(restored["folder"]["parent_folder_id"], json!(outer));
    assert_eq!(restored["doc"]["content"], "middle rules");
    // Versions of a scope are never reused: saved, archived, restored.
    assert_eq!(restored["doc"]["version"], 3);
    assert_eq!(restored["returned_threads"], 1);
    assert_eq!(restored["returned_folders"], 1);
    assert_eq!(restored["notes"], json!([]));
    assert_eq!(place(&client, "thr_a").await, Some(json!(middle)));
    assert_eq!(instructions(&client, "thr_a").await, "middle rules");
    let tree = call(&client, "thread/tree", json!({})).await;
    let folders = tree["folders"].as_array().unwrap();
    let inner = folders
        .iter()
        .find(|one| one["id"] == json!(inner))
        .unwrap();
    assert_eq!(inner["parent_folder_id"], json!(middle));
    let heard = told(&client).await;
    assert!(heard.contains("thread/agents_doc/changed"), "{heard}");
    assert!(
        heard.contains(r#"thread/tree/changed {"reason":"trash/restore""#),
        "{heard}"
    );
}

#[tokio::test]
async fn what_was_moved_since_stays_where_it_is() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let first = folder(&client, None, "First").await;
    let other = folder(&client, None, "Other").await;
    thread(&client, "thr_a", Some(&first)).await;
    thread(&client, "thr_b", Some(&first)).await;
    call(&client, "thread/folder/delete", json!({"folder_id": first})).await;
    let elsewhere = json!({"thread_id": "thr_a", "folder_id": other});
    call(&client, "thread/move", elsewhere).await;
    let restored = restore(&client, &trash(&client).await[0]).await;
    assert_eq!(restored["returned_threads"], 1);
    assert_eq!(
        restored["notes"],
        json!(["1 thread that was in it was moved or deleted since and was not restored."])
    );
    assert_eq!(place(&client, "thr_a").await, Some(json!(other)));
    assert_eq!(place(&client, "thr_b").await, Some(json!(first)));
}

#[tokio::test]
async fn without_its_parent_an_item_goes_to_the_root_and_the_answer_says_so() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let outer = folder(&client, None, "Outer").await;
    let inner = folder(&client, Some(&outer), "Inner").await;
    thread(&client, "thr_a", Some(&inner)).await;
    call(&client, "thread/delete", json!({"thread_id": "thr_a"})).await;
    call(&client, "thread/folder/delete", json!({"folder_id": inner})).await;
    call(&client, "thread/folder/delete", json!({"folder_id": outer})).await;
    for item in trash(&client).await {
        if item["name"] == "Outer" {
            continue;
        }
        let restored = restore(&client, &item).await;
        // The folder `Inner` is restored first, so the thread returns to its place.
        let expected = match item["kind"].as_str() {
            Some("folder") => {
                json!([
                    "The folder `Outer` that contained it no longer exists, so it was restored to the root of the tree."
                ])
            }
            _ => json!([]),
        };
        assert_eq!(restored["notes"], expected, "{item}");
    }
    assert_eq!(place(&client, "thr_a").await, Some(json!(inner)));
}

#[tokio::test]
async fn nested_folders_come_back_in_any_order() {
    for reverse in [false, true] {
        let running = testkit::gateway().await;
        let client = in_workspace(&running).await;
        let outer = folder(&client, None, "Outer").await;
        let inner = folder(&client, Some(&outer), "Inner").await;
        thread(&client, "thr_a", Some(&inner)).await;
        call(&client, "thread/folder/delete", json!({"folder_id": inner})).await;
        call(&client, "thread/folder/delete", json!({"folder_id": outer})).await;
        assert_eq!(place(&client, "thr_a").await, Some(Value::Null));
        let mut items = trash(&client).await;
        assert_eq!(items[0]["name"], "Outer");
        if reverse {
            items.reverse();
        }
        for item in &items {
            restore(&client, item).await;
        }
        assert_eq!(place(&client, "thr_a").await, Some(json!(inner)));
    }
}

#[tokio::test]
async fn an_archived_document_comes_back_unless_there_is_a_newer_one() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let first = folder(&client, None, "First").await;
    save(&client, Some(&first), "old rules").await;
    let archive = json!({"folder_id": first});
    call(&client, "thread/agents_doc/archive", archive.clone()).await;
    let item = trash(&client).await[0].clone();
    assert_eq!(item["kind"], "agents_doc");
    assert_eq!(item["folder_name"], "First");

    save(&client, Some(&first), "new rules").await;
    let by_item = json!({"kind": "agents_doc", "id": item["id"]});
    let why = refused(&client, "trash/restore", by_item.clone()).await;
    assert!(
        why.contains("the folder `First` has an AGENTS.md already"),
        "{why}"
    );
    call(&client, "thread/agents_doc/archive", archive).await;
    restore(&client, &item).await;
    let found = call(
        &client,
        "thread/agents_doc/get",
        json!({"folder_id": first}),
    )
    .await;
    assert_eq!(found["explicit"]["content"], "old rules");
    assert_eq!(found["explicit"]["version"], 5);

    // The folder no longer exists, and at the root the document would apply to every thread.
    let item = trash(&client).await[0].clone();
    call(&client, "thread/folder/delete", json!({"folder_id": first})).await;
    let by_item = json!({"kind": "agents_doc", "id": item["id"]});
    let why = refused(&client, "trash/restore", by_item).await;
    assert!(why.contains("is deleted"), "{why}");
}

#[tokio::test]
async fn an_item_is_deleted_for_good_after_30_days() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let first = folder(&client, None, "First").await;
    save(&client, Some(&first), "rules").await;
    thread(&client, "thr_a", Some(&first)).await;
    call(&client, "thread/delete", json!({"thread_id": "thr_a"})).await;
    running.advance(29 * DAY);
    call(&client, "thread/folder/delete", json!({"folder_id": first})).await;
    running.gateway.purge_trash().await;
    assert_eq!(trash(&client).await.len(), 2);

    running.advance(DAY);
    told(&client).await;
    running.gateway.purge_trash().await;
    let items = trash(&client).await;
    assert_eq!(items.len(), 1);
    assert_eq!(items[0]["kind"], "folder");
    let heard = told(&client).await;
    assert!(
        heard.contains(r#"thread/tree/changed {"reason":"trash/purge""#),
        "{heard}"
    );
    // The id of a purged thread can be used again.
    thread(&client, "thr_a", None).await;
    let history = call(&client, "thread/history", json!({"thread_id": "thr_a"})).await;
    assert_eq!(history["events"], json!([]));

    running.advance(29 * DAY);
    running.gateway.purge_trash().await;
    assert_eq!(trash(&client).await, Vec::<Value>::new());
}

#[tokio::test]
async fn purging_deletes_the_named_items_or_none() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let first = folder(&client, None, "First").await;
    let saved = save(&client, Some(&first), "rules").await;
    call(&client, "thread/folder/delete", json!({"folder_id": first})).await;
    let unknown =
        json!({"items": [{"kind": "folder", "id": first}, {"kind": "thread", "id": "thr_x"}]});
    let why = refused(&client, "trash/purge", unknown).await;
    assert!(why.contains("the trash holds no thread `thr_x`"), "{why}");
    assert_eq!(trash(&client).await.len(), 1);
    let why = refused(&client, "trash/purge", json!({"items": []})).await;
    assert!(why.contains("expected 1 to 1000 items, found 0"), "{why}");

    let known = json!({"items": [{"kind": "folder", "id": first}]});
    let purged = call(&client, "trash/purge", known).await;
    assert_eq!(purged, json!({"purged": 1}));
    assert_eq!(trash(&client).await, Vec::<Value>::new());
    // The instructions of past turns remain available.
    let revision = json!({"doc_id": saved["id"], "version": 1});
    let kept = call(&client, "thread/agents_doc/revision_get", revision).await;
    assert_eq!(kept["revision"]["content"], "rules");
}

#[tokio::test]
async fn the_trash_is_paged_newest_first_and_belongs_to_its_workspace() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let mut expected = Vec::new();
    for name in ["A", "B", "C", "D", "E"] {
        let id = folder(&client, None, name).await;
        call(&client, "thread/folder/delete", json!({"folder_id": id})).await;
        expected.insert(0, name.to_owned());
    }
    let (mut names, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = call(&client, "trash/list", json!({"limit": 2, "cursor": cursor})).await;
        let items = page["items"].as_array().unwrap().clone();
        assert!(items.len() <= 2);
        names.extend(
            items
                .iter()
                .map(|one| one["name"].as_str().unwrap().to_owned()),
        );
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(names, expected);
    let other = running
        .client_with_token(&["read", "write"], &["ws_b"])
        .await;
    let refusal = other
        .call_raw("trash/list", json!({"workspace_id": "ws_a"}))
        .await;
    assert!(refusal.is_err());
}

#[tokio::test]
async fn a_deleted_draft_leaves_nothing_in_the_trash() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    call(&client, "thread/start", json!({"thread_id": "thr_a"})).await;
    call(&client, "thread/delete", json!({"thread_id": "thr_a"})).await;
    assert_eq!(trash(&client).await, Vec::<Value>::new());
    call(&client, "thread/start", json!({"thread_id": "thr_a"})).await;
}

#[tokio::test]
async fn a_restored_document_keeps_its_id_and_its_history() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let docs = folder(&client, None, "Docs").await;
    let first = save(&client, Some(&docs), "one").await;
    save(&client, Some(&docs), "two").await;
    for delete in [
        ("thread/agents_doc/archive", json!({"folder_id": docs})),
        ("thread/folder/delete", json!({"folder_id": docs})),
    ] {
        call(&client, delete.0, delete.1).await;
        let item = trash(&client).await[0].clone();
        restore(&client, &item).await;
        let found = call(&client, "thread/agents_doc/get", json!({"folder_id": docs})).await;
        assert_eq!(found["explicit"]["id"], first["id"]);
        assert_eq!(found["explicit"]["content"], "two");
    }
    let wanted = json!({"doc_id": first["id"]});
    let revisions = call(&client, "thread/agents_doc/revisions", wanted).await;
    let versions: Vec<_> = revisions["items"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| {
            format!(
                "{} {}",
                one["version"],
                one["save_reason"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        versions,
        [
            "6 restore",
            "5 archive",
            "4 restore",
            "3 archive",
            "2 autosave",
            "1 autosave"
        ]
    );
    let again = json!({"doc_id": first["id"], "version": 1});
    let restored = call(&client, "thread/agents_doc/restore", again).await;
    assert_eq!(restored["doc"]["content"], "one");
}
