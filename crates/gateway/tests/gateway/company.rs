//! Company folders through a client.

mod approval;
mod corruption;
mod everything;
mod governance;
mod paths;
mod pm;
mod policy;
mod run;
mod trust;
mod visibility;

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use protocol::{
    Access, Dialect, Id as _,
    company::{ProjectId, RunId, Visibility},
    methods,
};
use rpc::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{TestGateway, refusal};

/// A gateway, a client and a company with one project.
struct Fixture {
    running: TestGateway,
    client: Client,
    folder: TempDir,
    project: String,
}

impl Fixture {
    async fn new() -> Self {
        let running = testkit::gateway().await;
        let client = running.client();
        let (folder, project) = testkit::company(&client).await;
        Self {
            running,
            client,
            folder,
            project,
        }
    }

    fn dir(&self) -> &str {
        self.folder.path().to_str().expect("a path that is text")
    }

    /// Calls a method with the folder and the project in the params.
    async fn call(&self, method: &str, mut params: Value) -> Value {
        params["workspace_dir"] = json!(self.dir());
        params["project_id"] = json!(self.project);
        self.client.call_raw(method, params).await.expect(method)
    }

    async fn run(&self) -> String {
        let run = self
            .call(
                "run.create",
                json!({"agent_id": "agent_x", "provider": "cmd"}),
            )
            .await;
        run["run_id"].as_str().expect("an id").to_owned()
    }
}

/// Returns every file below a directory with its content.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path)
            } else {
                found.insert(path.display().to_string(), fs::read(&path).expect("a file"));
            }
        }
    }
    found
}

/// Returns the type and the run of the next event that a client receives.
async fn heard(client: &Client) -> (String, String) {
    let told = client.notification().await.expect("a connection");
    assert_eq!(told.method, "events.notification");
    let event = &told.params["event"];
    let word = |name: &str| event[name].as_str().expect("an id").to_owned();
    (word("type"), word("run_id"))
}

#[tokio::test]
async fn methods_that_read_change_nothing() {
    let fixture = Fixture::new().await;
    fixture.run().await;
    let before = files(fixture.folder.path());
    for (family, method) in methods() {
        if family.dialect != Dialect::Company || method.access != Access::Read {
            continue;
        }
        let params = json!({
            "workspace_dir": fixture.dir(), "project_id": fixture.project, "scope": "project", "run_id": "run_x",
            "subscription_id": "s", "conversation_id": "conv_x", "share_pack_id": "share_x", "view": "home",
            "actor_id": "human", "actor_role": "human",
        });
        // The test does not depend on whether the call succeeds.
        let _ = fixture.client.call_raw(method.name, params).await;
        let mut after = files(fixture.folder.path());
        // The index is derived data, and read methods may update it.
        after.retain(|path, _| !path.contains(".local/index.sqlite"));
        assert!(after == before, "{} changed something", method.name);
    }
}

#[tokio::test]
async fn events_of_another_process_are_heard() {
    let fixture = Fixture::new().await;
    let run = fixture.run().await;
    let subscribe = json!({"workspace_dir": fixture.dir(), "subscription_id": "all"});
    fixture
        .client
        .call_raw("events.subscribe", subscribe)
        .await
        .unwrap();

    // Simulates another process: a separate instance of the folder without notification of this gateway.
    let sources = company::Sources::new(Arc::new(|| 1_777_900_000_000));
    let others =
        company::Companies::new(sources, company::Trust::everywhere(), Arc::new(|_, _| {}));
    let company = others.open(fixture.dir()).unwrap();
    let project = ProjectId::parse(&fixture.project).unwrap();
    let event = company::event_log::Event {
        ts_wallclock: company.sources().now_text(),
        run_id: RunId::parse(&run).unwrap(),
        session_ref: "local".to_owned(),
        actor: "system".to_owned(),
        visibility: Visibility::Org,
        event_type: "run.ended".to_owned(),
        payload: company::event_log::Payload::new(&json!({})).unwrap(),
        event_id: company.sources().id(),
        correlation_id: None,
        causation_id: None,
        ts_monotonic_ms: 0,
    };
    company
        .append_events(&project, &RunId::parse(&run).unwrap(), &[event])
        .unwrap();
    assert_eq!(heard(&fixture.client).await, ("run.ended".to_owned(), run));

    let created = company::execution::run::create(
        &company,
        &project,
        &protocol::Id::parse("agent_y").unwrap(),
        "cmd",
    )
    .unwrap();
    let expected = ("run.started".to_owned(), created.run_id.to_string());
    assert_eq!(
        heard(&fixture.client).await,
        expected,
        "runs made by others, too"
    );
}

#[tokio::test]
async fn a_backfill_is_the_newest_of_what_is_wanted_oldest_first_and_nothing_comes_twice() {
    let fixture = Fixture::new().await;
    let (first, second) = (fixture.run().await, fixture.run().await);
    for body in ["one", "two", "three"] {
        let comment = json!({
            "author_id": "human", "author_role": "human", "body": body, "target_run_id": first,
        });
        fixture.call("comment.add", comment).await;
    }
    let third = fixture.run().await;
    let subscribe = json!({
        "workspace_dir": fixture.dir(), "subscription_id": "s", "backfill_limit": 2, "event_types": ["run.started"],
    });
    fixture
        .client
        .call_raw("events.subscribe", subscribe)
        .await
        .unwrap();
    let fourth = fixture.run().await;
    for run in [second, third, fourth] {
        assert_eq!(
            heard(&fixture.client).await,
            ("run.started".to_owned(), run)
        );
    }
    let quiet = testkit::told(&fixture.client).await;
    assert_eq!(quiet, "", "no event comes twice");
}

#[tokio::test]
async fn a_reader_who_acknowledges_nothing_is_sent_no_more_than_it_asked_for() {
    let fixture = Fixture::new().await;
    let subscribe =
        json!({"workspace_dir": fixture.dir(), "subscription_id": "s", "max_unacked": 1});
    fixture
        .client
        .call_raw("events.subscribe", subscribe)
        .await
        .unwrap();
    let (first, second) = (fixture.run().await, fixture.run().await);
    let told = fixture.client.notification().await.unwrap();
    assert_eq!(told.params["event"]["run_id"], first);
    assert_eq!(testkit::told(&fixture.client).await, "");
    let ack = json!({"subscription_id": "s", "last_event_id": told.params["event"]["event_id"]});
    fixture.client.call_raw("events.ack", ack).await.unwrap();
    assert_eq!(
        heard(&fixture.client).await,
        ("run.started".to_owned(), second)
    );
}

#[tokio::test]
async fn acknowledging_a_time_releases_the_events_up_to_it_and_no_others() {
    let fixture = Fixture::new().await;
    let subscribe =
        json!({"workspace_dir": fixture.dir(), "subscription_id": "s", "max_unacked": 3});
    let subscribed = fixture.client.call_raw("events.subscribe", subscribe);
    subscribed.await.unwrap();
    // Two events of one log, so that both times are of the same clock; the times are far apart.
    let run = fixture.run().await;
    let log = fixture.folder.path().join(format!(
        "work/projects/{}/runs/{run}/events.jsonl",
        fixture.project
    ));
    let first = fixture.client.notification().await.unwrap();
    let mut lines = fs::read_to_string(&log).unwrap();
    for (id, time) in [
        ("evt_a", 7_000_000),
        ("evt_b", 8_000_000),
        ("evt_c", 9_000_000),
    ] {
        let mut event = first.params["event"].clone();
        event["event_id"] = json!(id);
        event["ts_monotonic_ms"] = json!(time);
        lines.push_str(&format!("{event}\n"));
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "a test writes as another program does"
    )]
    fs::write(&log, lines).unwrap();
    let heard = async || {
        let told = fixture.client.notification().await.unwrap();
        told.params["event"]["event_id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        (heard().await, heard().await),
        ("evt_a".into(), "evt_b".into())
    );
    assert_eq!(testkit::told(&fixture.client).await, "");
    // The first event and `evt_a` are acknowledged; `evt_b` is not, so only one more event is sent.
    let ack = json!({"subscription_id": "s", "last_ack_ts_monotonic_ms": 7_000_000});
    fixture.client.call_raw("events.ack", ack).await.unwrap();
    assert_eq!(heard().await, "evt_c");
    let (second, _third) = (fixture.run().await, fixture.run().await);
    let told = fixture.client.notification().await.unwrap();
    assert_eq!(told.params["event"]["run_id"], second);
    assert_eq!(testkit::told(&fixture.client).await, "");
}

#[tokio::test]
async fn a_run_that_was_never_launched_makes_no_worker_active() {
    let fixture = Fixture::new().await;
    fixture.run().await;
    let found = fixture.call("resources.snapshot", json!({})).await;
    assert_eq!(found["totals"]["runs_indexed"], 1);
    assert_eq!(found["totals"]["active_workers"], 0);
}

#[tokio::test]
async fn a_listener_hears_only_what_its_role_may_see() {
    let fixture = Fixture::new().await;
    let run = fixture.run().await;
    let subscribe = json!({
        "workspace_dir": fixture.dir(), "subscription_id": "s", "actor_id": "agent_w", "actor_role": "worker",
    });
    fixture
        .client
        .call_raw("events.subscribe", subscribe)
        .await
        .unwrap();
    for (visibility, body) in [("managers", "hidden"), ("org", "shown")] {
        let comment = json!({
            "author_id": "human", "author_role": "human", "body": body, "target_run_id": run, "visibility": visibility,
        });
        fixture.call("comment.add", comment).await;
    }
    let told = fixture.client.notification().await.unwrap();
    assert_eq!(told.params["event"]["payload"]["body"], "shown");
}

#[tokio::test]
async fn bad_params_name_every_field() {
    let fixture = Fixture::new().await;
    let params = json!({"workspace_dir": fixture.dir(), "project_id": "../x", "agent_id": 5});
    let Err(rpc::client::Error::Rpc {
        code,
        message,
        data,
    }) = fixture.client.call_raw("run.create", params).await
    else {
        panic!("it was answered");
    };
    let shown: Vec<_> = data
        .as_array()
        .unwrap()
        .iter()
        .map(|issue| format!("{} {} {}", issue["code"], issue["path"], issue["message"]))
        .collect();
    assert_eq!((code, message.as_str()), (-32602, "Invalid params"));
    assert_eq!(
        shown,
        [
            "\"invalid_type\" [\"agent_id\"] \"Invalid input: expected string, received number\"",
            "\"custom\" [\"project_id\"] \"invalid identifier\"",
            "\"invalid_type\" [\"provider\"] \"Invalid input: expected string, received undefined\"",
        ]
    );
}

#[tokio::test]
async fn a_token_of_some_workspaces_reaches_their_company_folders_alone() {
    let fixture = Fixture::new().await;
    let other = tempfile::tempdir().unwrap();
    let init = json!({"workspace_dir": other.path(), "company_name": "Other"});
    fixture
        .client
        .call_raw("workspace.init", init)
        .await
        .unwrap();
    let listed = fixture.client.call_raw("workspace/list", json!({}));
    let listed = listed.await.unwrap();
    let mut listed = listed["workspaces"].as_array().unwrap().iter();
    let here = fs::canonicalize(fixture.dir()).unwrap();
    let own = listed.find(|workspace| workspace["dir"] == json!(here));
    let own = own.unwrap()["id"].as_str().unwrap();
    let limited = fixture
        .running
        .client_with_token(&["read", "write", "exec"], &[own])
        .await;
    for (dir, is_theirs) in [
        (json!(fixture.dir()), true),
        (
            json!(format!(
                "{}/../{}",
                fixture.dir(),
                here.file_name().unwrap().display()
            )),
            true,
        ),
        (json!(other.path()), false),
        (json!(format!("{}/work", fixture.dir())), false),
        (json!("/nowhere"), false),
        (json!(""), false),
    ] {
        for method in ["workspace.projects.list", "run.list", "events.subscribe"] {
            let answered = refusal(&limited, method, json!({"workspace_dir": dir})).await;
            let is_answered = answered.starts_with("answered");
            assert_eq!(is_answered, is_theirs, "{method} in {dir}: {answered}");
        }
    }
    let outside = json!({"workspace_dir": fixture.dir(), "out_dir": other.path().join("out")});
    let refused = refusal(&limited, "workspace.export", outside).await;
    assert!(refused.starts_with("-32000"), "{refused}");
    assert!(!other.path().join("out").exists());
}

#[tokio::test]
async fn ensuring_defaults_again_keeps_whom_people_added() {
    let fixture = Fixture::new().await;
    let path = format!(
        "{}/work/projects/{project}/conversations/conv_{project}_home/conversation.yaml",
        fixture.dir(),
        project = fixture.project
    );
    let before = fs::read_to_string(&path).unwrap();
    fixture.call("conversation.members.sync", json!({})).await;
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        before,
        "nothing changed, so nothing is written"
    );
    fixture
        .call(
            "conversation.members.sync",
            json!({"ceo_actor_id": "human_anna"}),
        )
        .await;
    let after = fs::read_to_string(&path).unwrap();
    assert!(
        after.contains("human_ceo") && after.contains("human_anna"),
        "{after}"
    );
}

#[tokio::test]
async fn a_log_that_was_cut_does_not_pass_the_doctor() {
    let fixture = Fixture::new().await;
    let run = fixture.run().await;
    let launch = json!({"run_id": run, "argv": ["true"]});
    let launched = fixture.call("session.launch", launch).await;
    let session = json!({"session_ref": launched["session_ref"]});
    fixture.call("session.collect", session).await;
    let chain = async || {
        let answer = fixture.call("workspace.doctor", json!({})).await;
        let mut checks = answer["checks"].as_array().expect("a list").iter();
        let found = checks.find(|check| check["id"] == "events.chain");
        found.expect("the check is there")["status"].clone()
    };
    assert_eq!(chain().await, "pass");
    let log = format!(
        "{}/work/projects/{}/runs/{run}/events.jsonl",
        fixture.dir(),
        fixture.project
    );
    let text = fs::read_to_string(&log).expect("a log");
    let (kept, _) = text.trim_end().rsplit_once('\n').expect("several lines");
    let mut file = fs::File::create(&log).expect("a file");
    std::io::Write::write_all(&mut file, format!("{kept}\n").as_bytes()).expect("room");
    assert_eq!(chain().await, "warn");
}

#[tokio::test]
async fn what_nobody_could_show_is_refused_and_names_of_files_are_cut_for_the_tree() {
    let fixture = Fixture::new().await;
    let long = "x".repeat(201);
    let said = "x".repeat(100_001);
    for (method, params, field, limit) in [
        (
            "workspace.project.create_with_defaults",
            json!({"name": long}),
            "name",
            "200",
        ),
        (
            "conversation.create_channel",
            json!({"scope": "workspace", "name": long, "slug": "a", "created_by": "human"}),
            "name",
            "200",
        ),
        (
            "comment.add",
            json!({"project_id": fixture.project, "author_id": "human", "author_role": "human",
                "target_agent_id": "agent_a", "body": said}),
            "body",
            "100000",
        ),
    ] {
        let mut params = params;
        params["workspace_dir"] = json!(fixture.dir());
        let refused = fixture.client.call_raw(method, params).await;
        let Err(rpc::client::Error::Rpc { message, data, .. }) = refused else {
            panic!("{method}: {refused:?}");
        };
        let told = format!("{message} {data}");
        let expected = format!("string to have <={limit} characters");
        assert!(
            told.contains(field) && told.contains(&expected),
            "{method}: {told}"
        );
    }
    let yaml = format!(
        "{}/work/projects/{}/project.yaml",
        fixture.dir(),
        fixture.project
    );
    let text = fs::read_to_string(&yaml).unwrap();
    let name = text
        .lines()
        .find(|line| line.starts_with("name: "))
        .unwrap();
    let longer = text.replace(name, &format!("name: {long}"));
    std::io::Write::write_all(&mut fs::File::create(&yaml).unwrap(), longer.as_bytes()).unwrap();
    let open = json!({"workspace_dir": fixture.dir()});
    fixture
        .client
        .call_raw("workspace.open", open)
        .await
        .unwrap();
    let listed = fixture
        .client
        .call_raw("workspace/list", json!({}))
        .await
        .unwrap();
    let workspace = &listed["workspaces"][0]["id"];
    let tree = fixture
        .client
        .call_raw("thread/tree", json!({"workspace_id": workspace}));
    let tree = tree.await.unwrap();
    assert_eq!(tree["folders"][0]["name"], json!("x".repeat(200)));
}

#[tokio::test]
async fn a_live_subscription_goes_on_after_a_log_upgrade_and_repeats_nothing() {
    let fixture = Fixture::new().await;
    let run = fixture.run().await;
    let log = fixture.folder.path().join(format!(
        "work/projects/{}/runs/{run}/events.jsonl",
        fixture.project
    ));
    // The format of an older version: without hashes, and with a blank line that the upgrade removes.
    let text = fs::read_to_string(&log).unwrap();
    let mut event: Value = serde_json::from_str(text.trim_end()).unwrap();
    let members = event.as_object_mut().unwrap();
    members.remove("event_hash");
    members.remove("prev_event_hash");
    let mut later = event.clone();
    later["event_id"] = json!("evt_later");
    #[expect(
        clippy::disallowed_methods,
        reason = "a test writes as another program does"
    )]
    fs::write(&log, format!("{event}\n\n{later}\n")).unwrap();
    let subscribe = json!({"workspace_dir": fixture.dir(), "subscription_id": "s"});
    let subscribed = fixture.client.call_raw("events.subscribe", subscribe);
    subscribed.await.unwrap();

    let migrated = fixture.call("workspace.migrate", json!({})).await;
    assert!(
        migrated.to_string().contains("event-envelope"),
        "{migrated}"
    );
    assert!(
        fs::read_to_string(&log).unwrap().contains("event_hash"),
        "the log is upgraded"
    );
    let comment = json!({
        "author_id": "human", "author_role": "human", "body": "after", "target_run_id": run,
    });
    fixture.call("comment.add", comment).await;
    assert_eq!(
        heard(&fixture.client).await,
        ("comment.added".to_owned(), run)
    );
    assert_eq!(testkit::told(&fixture.client).await, "");
}

#[tokio::test]
async fn the_doctor_does_not_call_an_index_stale_that_was_just_synced() {
    let fixture = Fixture::new().await;
    let run = fixture.run().await;
    let comment = json!({
        "author_id": "human", "author_role": "human", "body": "one", "target_run_id": run,
    });
    fixture.call("comment.add", comment).await;
    fixture.call("index.sync", json!({})).await;
    let answer = fixture.call("workspace.doctor", json!({})).await;
    let stale: Vec<_> = answer["checks"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|check| {
            check["id"]
                .as_str()
                .is_some_and(|id| id.starts_with("index"))
        })
        .filter(|check| check["status"] != "pass")
        .collect();
    assert!(stale.is_empty(), "{stale:?}");
    assert!(answer.to_string().contains("\"id\":\"index"), "{answer}");
}
