//! Cached reads never return data that another process has changed since.

use crud::{CrudStore, DocScope, NewFolder, Options, SaveDoc};

fn save(version: i64) -> SaveDoc {
    SaveDoc {
        scope: scope(),
        new_id: "agd_1".to_owned(),
        revision_id: format!("agr_{version}"),
        content: format!("version {version}"),
        content_sha256: version.to_string(),
        char_count: 9,
        expected_version: Some(version - 1),
        reason: "manual".to_owned(),
        author: "owner".to_owned(),
        now: version,
    }
}

fn scope() -> DocScope {
    DocScope {
        workspace_id: "ws_1".to_owned(),
        folder_id: Some("fld_1".to_owned()),
    }
}

#[tokio::test]
async fn a_save_of_another_process_is_seen_at_once() {
    let home = tempfile::tempdir().unwrap();
    let open = || CrudStore::open(home.path(), &Options::new(0, |_| ())).unwrap();
    // Each store has its own connections, like a separate process.
    let (ours, theirs) = (open(), open());
    ours.workspaces().create("ws_1", None, 0).await.unwrap();
    let folder = NewFolder {
        id: "fld_1".to_owned(),
        workspace_id: "ws_1".to_owned(),
        parent_folder_id: None,
        name: "folder".to_owned(),
        now: 0,
    };
    ours.folders().create(folder).await.unwrap();
    for version in 1..200 {
        let writer = [&ours, &theirs][version as usize % 2];
        let saved = writer.agents_docs().save(save(version)).await.unwrap();
        for store in [&ours, &theirs] {
            // The second result is the cached one.
            for _ in 0..2 {
                let found = store.agents_docs().get(scope()).await.unwrap();
                assert_eq!(found.explicit.as_ref(), Some(&saved.doc));
                assert_eq!(found.effective, saved.effective);
            }
        }
    }
}

#[tokio::test]
async fn what_nobody_has_changed_is_read_once() {
    let home = tempfile::tempdir().unwrap();
    let (logged, statements) = std::sync::mpsc::channel();
    let mut options = Options::new(0, |_| ());
    options.statement_log = Some(std::sync::Arc::new(move |sql: &str| {
        let _ = logged.send(sql.to_owned());
    }));
    let store = CrudStore::open(home.path(), &options).unwrap();
    store.workspaces().create("ws_1", None, 0).await.unwrap();
    let root = DocScope {
        folder_id: None,
        ..scope()
    };
    let first = store.agents_docs().get(root.clone()).await.unwrap();
    assert!(statements.try_iter().count() > 0);
    let again = store.agents_docs().get(root).await.unwrap();
    assert_eq!(first, again);
    let repeated: Vec<_> = statements
        .try_iter()
        .filter(|sql| sql.contains("thread_agents_doc"))
        .collect();
    assert_eq!(repeated, Vec::<String>::new());
}
