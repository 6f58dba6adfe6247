//! Acknowledged writes survive a process that is killed immediately afterwards.

use std::{process::Command, sync::Arc};

use protocol::thread::agents_doc::{
    ThreadAgentsDocGet, ThreadAgentsDocRevisionGet, ThreadAgentsDocSave,
};
use rpc::Client;
use serde_json::{Value, json};
use testkit::ServeProcess;
use tokio::{sync::mpsc, task::JoinSet};

/// Number of times the process is killed.
const ROUNDS: usize = 3;
/// Number of concurrent writers, each with its own document.
const WRITERS: usize = 50;
/// Number of connections. Writers share them, so that responses and requests interleave.
const CONNECTIONS: usize = 10;

/// An acknowledged save.
#[derive(Debug)]
struct Acknowledged {
    folder: String,
    doc: String,
    version: i64,
    content: String,
}

/// Starts `ac serve` on a home whose previous process may have been killed.
fn serve(home: &std::path::Path) -> ServeProcess {
    ServeProcess::start(Command::new(env!("CARGO_BIN_EXE_ac")), home)
}

/// Saves texts one after the other until the connection ends. Reports each one as soon as it is acknowledged.
async fn write(
    client: Arc<Client>,
    folder: String,
    round: usize,
    tell: mpsc::UnboundedSender<Acknowledged>,
) {
    for number in 0.. {
        let content = format!("round {round}, {folder}, text {number}\n");
        let params = json!({"workspace_id": "ws_a", "folder_id": folder, "content": content});
        let params = serde_json::from_value(params).expect("a scope and a text");
        let doc = match client.call::<ThreadAgentsDocSave>(params).await {
            Ok(saved) => saved.doc,
            Err(rpc::client::Error::Closed) => return,
            Err(error) => panic!("{error}"),
        };
        assert_eq!(doc.content, content);
        let acknowledged = Acknowledged {
            folder: folder.clone(),
            doc: doc.id.into(),
            version: doc.version,
            content,
        };
        let _ = tell.send(acknowledged);
    }
}

/// Fails unless the acknowledged text exists and the current text is not older.
async fn check(client: &Client, saved: &Acknowledged) {
    let params = json!({"workspace_id": "ws_a", "doc_id": saved.doc, "version": saved.version});
    let params = serde_json::from_value(params).expect("a document and a version");
    let found = client.call::<ThreadAgentsDocRevisionGet>(params).await;
    let found = found.unwrap_or_else(|error| panic!("{saved:?} is lost: {error}"));
    assert_eq!(found.revision.content, saved.content);
    let params = json!({"workspace_id": "ws_a", "folder_id": saved.folder});
    let params = serde_json::from_value(params).expect("a scope");
    let found = client.call::<ThreadAgentsDocGet>(params).await;
    let found = found.expect("the folder is there").explicit;
    let current = found.expect("the document is there");
    assert!(
        current.version >= saved.version,
        "{saved:?} is newer than {current:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_version_is_there_after_a_kill() {
    let home = tempfile::tempdir().unwrap();
    let mut serving = serve(home.path());
    let mut folders = Vec::new();
    {
        let client = serving.client().await;
        client
            .call_raw("workspace/create", json!({"workspace_id": "ws_a"}))
            .await
            .unwrap();
        for writer in 0..WRITERS {
            let create = json!({"workspace_id": "ws_a", "name": format!("writer {writer}")});
            let created: Value = client
                .call_raw("thread/folder/create", create)
                .await
                .unwrap();
            folders.push(created["folder"]["id"].as_str().unwrap().to_owned());
        }
    }
    let mut survived = 0;
    for round in 0..ROUNDS {
        let mut clients = Vec::new();
        for _ in 0..CONNECTIONS {
            clients.push(Arc::new(serving.client().await));
        }
        let (tell, mut told) = mpsc::unbounded_channel();
        let mut writers = JoinSet::new();
        for (writer, folder) in folders.iter().enumerate() {
            let client = Arc::clone(&clients[writer % CONNECTIONS]);
            writers.spawn(write(client, folder.clone(), round, tell.clone()));
        }
        drop((tell, clients));
        let mut acknowledged = Vec::new();
        while acknowledged.len() < WRITERS {
            acknowledged.push(told.recv().await.unwrap());
        }
        // Other writes are in progress at this moment.
        serving.signal("KILL");
        while let Some(saved) = told.recv().await {
            acknowledged.push(saved);
        }
        while let Some(ended) = writers.join_next().await {
            ended.unwrap();
        }
        serving.wait();

        serving = serve(home.path());
        let client = serving.client().await;
        for saved in &acknowledged {
            check(&client, saved).await;
        }
        survived += acknowledged.len();
    }
    assert!(survived >= ROUNDS * WRITERS, "{survived}");
}
