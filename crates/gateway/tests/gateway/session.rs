//! `session/resume` and the order of messages on one connection.

use insta::assert_snapshot;
use rpc::Client;
use serde_json::json;
use testkit::{TestGateway, answer, told};

/// Creates a workspace with the given number of folders. The first notification is `workspace/changed`, followed by one
/// per folder.
async fn workspace(running: &TestGateway, folders: usize) -> Client {
    let client = running.client();
    answer(&client, "workspace/create", json!({"workspace_id": "ws_a"})).await;
    for number in 0..folders {
        add_folder(&client, &format!("Folder {number}")).await;
    }
    client
}

async fn add_folder(client: &Client, name: &str) {
    let create = json!({"workspace_id": "ws_a", "name": name});
    let created = client.call_raw("thread/folder/create", create).await;
    created.expect("a folder can be made");
}

#[tokio::test]
async fn who_comes_back_is_told_what_it_missed_and_what_follows() {
    let running = testkit::gateway().await;
    let writer = workspace(&running, 3).await;
    let back = running.client();
    let resume = json!({"workspace_id": "ws_a", "after_seq": 2});
    assert_snapshot!(answer(&back, "session/resume", resume).await, @r#"{"gap":false,"next_seq":5,"replayed":2}"#);
    assert_snapshot!(told(&back).await, @r#"
    3 thread/tree/changed {"reason":"thread/folder/create","tree_version":2,"workspace_id":"ws_a"}
    4 thread/tree/changed {"reason":"thread/folder/create","tree_version":3,"workspace_id":"ws_a"}
    "#);
    add_folder(&writer, "Later").await;
    assert_snapshot!(told(&back).await, @r#"5 thread/tree/changed {"reason":"thread/folder/create","tree_version":4,"workspace_id":"ws_a"}"#);
}

#[tokio::test]
async fn who_missed_nothing_is_told_nothing() {
    let running = testkit::gateway().await;
    workspace(&running, 3).await;
    let back = running.client();
    let resume = json!({"workspace_id": "ws_a", "after_seq": 4});
    assert_snapshot!(answer(&back, "session/resume", resume).await, @r#"{"gap":false,"next_seq":5,"replayed":0}"#);
    assert_eq!(told(&back).await, "");
}

#[tokio::test]
async fn a_number_nobody_gave_is_a_gap() {
    let running = testkit::gateway().await;
    workspace(&running, 1).await;
    let back = running.client();
    let resume = json!({"workspace_id": "ws_a", "after_seq": 99});
    assert_snapshot!(answer(&back, "session/resume", resume).await, @r#"{"gap":true,"next_seq":3,"replayed":0}"#);
    assert_eq!(told(&back).await, "");
}

#[tokio::test]
async fn what_is_no_longer_retained_is_a_gap() {
    let running = testkit::gateway().await;
    // One more notification than is retained, including that of the workspace itself.
    let writer = workspace(&running, rpc::MAX_RETAINED).await;
    drop(writer);
    let back = running.client();
    let resume = |after| json!({"workspace_id": "ws_a", "after_seq": after});
    assert_snapshot!(answer(&back, "session/resume", resume(0)).await, @r#"{"gap":true,"next_seq":1002,"replayed":1000}"#);
    assert_eq!(told(&back).await.lines().count(), rpc::MAX_RETAINED);
    // Number 1 is no longer retained, but everything after it is.
    assert_snapshot!(answer(&back, "session/resume", resume(1)).await, @r#"{"gap":false,"next_seq":1002,"replayed":1000}"#);
}

#[tokio::test]
async fn another_process_does_not_have_what_this_one_told() {
    let running = testkit::gateway().await;
    let writer = workspace(&running, 2).await;
    let neighbour = running.neighbour().await;
    let back = neighbour.client();
    let resume = json!({"workspace_id": "ws_a", "after_seq": 2});
    assert_snapshot!(answer(&back, "session/resume", resume).await, @r#"{"gap":true,"next_seq":1025,"replayed":0}"#);
    drop(writer);
}

#[tokio::test]
async fn the_notifications_of_a_thread_are_replayed_to_its_subscribers_alone() {
    let running = testkit::gateway().await;
    let writer = workspace(&running, 0).await;
    let thread = json!({"workspace_id": "ws_a", "thread_id": "thr_1"});
    answer(&writer, "thread/start", thread.clone()).await;
    answer(&writer, "thread/move", thread.clone()).await;
    let rename = json!({"workspace_id": "ws_a", "thread_id": "thr_1", "name": "Plan"});
    answer(&writer, "thread/update", rename).await;

    let resume = json!({"workspace_id": "ws_a", "after_seq": 1});
    let stranger = running.client();
    answer(&stranger, "session/resume", resume.clone()).await;
    assert_snapshot!(told(&stranger).await, @r#"
    2 thread/tree/changed {"reason":"thread/move","tree_version":1,"workspace_id":"ws_a"}
    4 thread/tree/changed {"reason":"thread/update","tree_version":2,"workspace_id":"ws_a"}
    "#);

    let subscriber = running.client();
    answer(&subscriber, "thread/start", thread).await;
    told(&subscriber).await;
    answer(&subscriber, "session/resume", resume).await;
    assert_snapshot!(told(&subscriber).await, @r#"
    2 thread/tree/changed {"reason":"thread/move","tree_version":1,"workspace_id":"ws_a"}
    3 thread/updated {"placement":{"thread_id":"thr_1","workspace_id":"ws_a"},"thread":{"created_at":1777900001,"id":"thr_1","mode":"Chat","model":"echo","model_provider":"echo","name":"Plan","origin_kind":"user","preview":"","sidebar_visibility":"visible","status":"Idle","turns":[],"updated_at":1777900001,"workspace_id":"ws_a"}}
    4 thread/tree/changed {"reason":"thread/update","tree_version":2,"workspace_id":"ws_a"}
    "#);
}

/// Returns everything that one connection writes, line by line.
async fn conversation(running: &TestGateway, requests: &str) -> String {
    let output = Lines::default();
    let peer = running.gateway.connect(gateway::Principal::owner());
    let input = std::io::Cursor::new(requests.to_owned().into_bytes());
    let options = rpc::stdio::Options {
        concurrency: 1,
        ..rpc::stdio::Options::default()
    };
    rpc::stdio::run(peer, options, input, output.clone(), std::future::pending()).await;
    let written = output.0.lock().expect("nobody panics while writing");
    String::from_utf8(written.clone()).expect("the gateway writes text")
}

#[derive(Clone, Default)]
struct Lines(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut written = self.0.lock().expect("nobody panics while writing");
        written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_answer_comes_before_what_it_caused() {
    let running = testkit::gateway().await;
    let writer = workspace(&running, 0).await;
    let thread = json!({"workspace_id": "ws_a", "thread_id": "thr_1"});
    for method in ["thread/start", "thread/move"] {
        answer(&writer, method, thread.clone()).await;
    }
    // The tree changes only once, because a second change would be coalesced with the first while that is queued.
    let requests = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "workspace/create", "params": {"workspace_id": "ws_b"}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "thread/start", "params": thread}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "thread/update",
               "params": {"workspace_id": "ws_a", "thread_id": "thr_1", "name": "Plan"}}),
        json!({"jsonrpc": "2.0", "id": 4, "method": "thread/unsubscribe", "params": {"threadId": "thr_1"}}),
    ];
    let requests: Vec<_> = requests.iter().map(ToString::to_string).collect();
    let seen = conversation(&running, &requests.join("\n")).await;
    let order: Vec<_> = seen
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|message| match message["id"].as_u64() {
            Some(id) => format!("answer {id}"),
            None => message["method"].as_str().unwrap().to_owned(),
        })
        .collect();
    assert_snapshot!(order.join("\n"), @r"
    answer 1
    workspace/changed
    answer 2
    thread/started
    answer 3
    thread/updated
    thread/tree/changed
    answer 4
    ");
}
