//! Reading a tree takes a constant number of statements, independent of its size.

use rpc::Client;
use rusqlite::Connection;
use serde_json::{Value, json};
use testkit::TestGateway;

const THREADS: usize = 10_000;
const FOLDERS: usize = 1_000;

/// Reads the first page. Returns the executed statements and the page.
async fn statements(running: &TestGateway, client: &Client) -> (Vec<String>, Value) {
    running.statements.take();
    let named = json!({"workspace_id": "ws_a"});
    let tree = client.call_raw("thread/tree", named).await;
    let mut taken = running.statements.take();
    taken.retain(|sql| !is_background(sql));
    (taken, tree.expect("the tree can be read"))
}

/// Returns whether a statement is part of the periodic check for writes of other processes.
fn is_background(sql: &str) -> bool {
    sql == "PRAGMA data_version" || sql.contains(r#"FROM "workspace" ORDER BY"#)
}

/// Fills the tree directly in the database, which is a hundred times faster.
fn fill(running: &TestGateway) {
    let db = Connection::open(running.home().join("gateway.db")).expect("the database is there");
    let sql = format!(
        "BEGIN IMMEDIATE;
         WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < {FOLDERS} - 1)
         INSERT INTO thread_folder (id, workspace_id, name, created_at, updated_at)
         SELECT printf('fld_%05d', n), 'ws_a', printf('Folder %d', n), n, n FROM number;
         WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < {THREADS} - 1)
         INSERT INTO thread (id, workspace_id, preview, mode, model, model_provider, status, origin_kind,
                             sidebar_visibility, materialized, created_at, updated_at)
         SELECT printf('thr_%05d', n), 'ws_a', '', 'Chat', 'echo', 'echo', 'Idle', 'user', 'visible', 1, n, n
         FROM number;
         INSERT INTO thread_placement (thread_id, workspace_id, folder_id, created_at, updated_at)
         SELECT id, 'ws_a', printf('fld_%05d', updated_at % {FOLDERS}), updated_at, updated_at FROM thread;
         COMMIT;"
    );
    db.execute_batch(&sql).expect("the tree can be filled");
}

#[tokio::test]
async fn a_large_tree_is_read_with_as_many_statements_as_an_empty_one() {
    let running = testkit::gateway().await;
    let client = running.client();
    let create = json!({"workspace_id": "ws_a"});
    client.call_raw("workspace/create", create).await.unwrap();
    let (empty, _) = statements(&running, &client).await;
    assert!(!empty.is_empty() && empty.len() <= 8, "{empty:#?}");

    fill(&running);
    let (large, tree) = statements(&running, &client).await;
    assert_eq!(large, empty);
    let sizes =
        ["threads", "folders", "placements"].map(|part| tree[part].as_array().unwrap().len());
    assert_eq!(sizes, [500, FOLDERS, THREADS]);
}
