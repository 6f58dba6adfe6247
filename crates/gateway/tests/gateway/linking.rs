//! A company folder is a workspace, and its projects are folders of the tree.

use std::{fs, path::Path};

use rpc::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::TestGateway;

/// A company that was opened.
struct Linked {
    running: TestGateway,
    client: Client,
    folder: TempDir,
    workspace: String,
}

impl Linked {
    async fn new() -> Self {
        let running = testkit::gateway().await;
        let client = running.client();
        let folder = tempfile::tempdir().expect("a folder");
        let init = json!({"workspace_dir": folder.path(), "company_name": "Acme"});
        let made = client.call_raw("workspace.init", init).await;
        made.expect("a company");
        let listed = client.call_raw("workspace/list", json!({})).await;
        let listed = listed.expect("workspaces");
        let dir = folder.path().canonicalize().expect("a path");
        let mut all = listed["workspaces"].as_array().expect("a list").iter();
        let found = all.find(|one| one["dir"] == json!(dir));
        let found = found.expect("the company is a workspace");
        assert_eq!(found["name"], "Acme");
        let workspace = found["id"].as_str().expect("an id").to_owned();
        Self {
            running,
            client,
            folder,
            workspace,
        }
    }

    async fn call(&self, method: &str, params: Value) -> Value {
        self.client.call_raw(method, params).await.expect(method)
    }

    async fn project(&self, name: &str) -> String {
        let params = json!({"workspace_dir": self.folder.path(), "name": name});
        let made = self.call("workspace.project.create_with_defaults", params);
        made.await["project_id"].as_str().expect("an id").to_owned()
    }

    /// Opens the company again, as a desktop does at its start.
    async fn open(&self) {
        let params = json!({"workspace_dir": self.folder.path()});
        let opened = self.call("workspace.open", params).await;
        assert_eq!(opened["valid"], true, "{opened}");
    }

    /// Returns the id and name of each folder of the tree.
    async fn folders(&self) -> Vec<(String, String)> {
        let tree = self.call("thread/tree", json!({"workspace_id": self.workspace}));
        let tree = tree.await;
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let folders = tree["folders"].as_array().expect("a list").iter();
        folders
            .map(|folder| (text(&folder["id"]), text(&folder["name"])))
            .collect()
    }

    async fn names(&self) -> Vec<String> {
        self.folders()
            .await
            .into_iter()
            .map(|(_, name)| name)
            .collect()
    }

    fn project_folder(&self, project: &str) -> std::path::PathBuf {
        self.folder.path().join("work/projects").join(project)
    }

    fn rename_project(&self, project: &str, from: &str, to: &str) {
        let path = self.project_folder(project).join("project.yaml");
        replace(&path, &format!("name: {from}"), &format!("name: {to}"));
    }
}

fn replace(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).expect("a file");
    assert!(text.contains(from), "{text}");
    let mut file = fs::File::create(path).expect("a file");
    std::io::Write::write_all(&mut file, text.replace(from, to).as_bytes()).expect("room");
}

#[tokio::test]
async fn projects_appear_as_folders_and_are_renamed_with_them() {
    let linked = Linked::new().await;
    assert_eq!(linked.names().await, Vec::<String>::new());
    let project = linked.project("Alpha").await;
    linked.project("Beta").await;
    assert_eq!(linked.names().await, ["Alpha", "Beta"]);
    linked.rename_project(&project, "Alpha", "Gamma");
    linked.open().await;
    assert_eq!(linked.names().await, ["Beta", "Gamma"]);
    // Opening it again changes nothing.
    let before = linked.folders().await;
    linked.open().await;
    assert_eq!(linked.folders().await, before);
}

#[tokio::test]
async fn what_people_named_and_moved_stays_theirs() {
    let linked = Linked::new().await;
    let project = linked.project("Alpha").await;
    linked.project("Beta").await;
    let folders = linked.folders().await;
    let (alpha, beta) = (&folders[0].0, &folders[1].0);
    let workspace = &linked.workspace;
    let renamed = json!({"workspace_id": workspace, "folder_id": alpha, "name": "Mine"});
    linked.call("thread/folder/update", renamed).await;
    let moved = json!({"workspace_id": workspace, "folder_id": alpha, "parent_folder_id": beta});
    linked.call("thread/folder/move", moved).await;
    linked.rename_project(&project, "Alpha", "Gamma");
    linked.open().await;
    assert_eq!(linked.names().await, ["Beta", "Mine"]);
}

#[tokio::test]
async fn of_a_project_that_is_gone_only_an_empty_folder_goes() {
    let linked = Linked::new().await;
    let (empty, full) = (linked.project("Empty").await, linked.project("Full").await);
    let folders = linked.folders().await;
    let place = json!({
        "workspace_id": linked.workspace, "folder_id": folders[1].0, "content": "Be brief.",
    });
    linked.call("thread/agents_doc/save", place).await;
    for project in [empty, full] {
        fs::remove_dir_all(linked.project_folder(&project)).expect("it goes");
    }
    linked.open().await;
    assert_eq!(linked.names().await, ["Full"]);
}

#[tokio::test]
async fn a_folder_is_one_workspace_however_it_is_named_and_by_whom() {
    let linked = Linked::new().await;
    linked.project("Alpha").await;
    let around = linked.folder.path().join("work/..");
    let neighbour = linked.running.neighbour().await;
    for client in [&linked.client, &neighbour.client()] {
        let opened = client.call_raw("workspace.open", json!({"workspace_dir": around}));
        opened.await.expect("a company");
    }
    let listed = linked.call("workspace/list", json!({})).await;
    assert_eq!(listed["workspaces"].as_array().map(Vec::len), Some(1));
    assert_eq!(linked.names().await, ["Alpha"]);
}

#[tokio::test]
async fn who_may_only_read_registers_nothing() {
    let running = testkit::gateway().await;
    let folder = tempfile::tempdir().expect("a folder");
    let other = testkit::gateway().await;
    let init = json!({"workspace_dir": folder.path()});
    other
        .client()
        .call_raw("workspace.init", init)
        .await
        .expect("a company");
    let reader = running.client_with_role("human", &["read"], &[]).await;
    let open = json!({"workspace_dir": folder.path()});
    reader
        .call_raw("workspace.open", open)
        .await
        .expect("it can be read");
    let listed = running.client().call_raw("workspace/list", json!({})).await;
    assert_eq!(listed.expect("a list")["workspaces"], json!([]));
}

#[tokio::test]
async fn what_is_proposed_in_the_workspace_waits_in_the_inbox_of_the_company() {
    let linked = Linked::new().await;
    let (alpha, beta) = (linked.project("Alpha").await, linked.project("Beta").await);
    let folders = linked.folders().await;
    let propose = json!({
        "workspace_id": linked.workspace, "folder_id": folders[0].0, "content": "Be brief.\n", "rationale": "Why not",
    });
    let proposed = linked.call("thread/agents_doc/propose", propose).await;
    let inbox = async |project: Option<&str>| {
        let params = json!({"workspace_dir": linked.folder.path(), "project_id": project});
        let found = linked.call("inbox.snapshot", params).await;
        found["agents_doc_proposals"].clone()
    };
    let waiting = json!([proposed["proposal"]]);
    assert_eq!(inbox(None).await, waiting);
    assert_eq!(inbox(Some(&alpha)).await, waiting);
    assert_eq!(inbox(Some(&beta)).await, Value::Null);
    let activities = async |project: Option<&str>| {
        let scope = project.map_or("workspace", |_| "project");
        let params = json!({
            "workspace_dir": linked.folder.path(), "actor_id": "human", "scope": scope, "project_id": project,
            "view": "activities",
        });
        let found = linked.call("desktop.bootstrap.snapshot", params).await;
        found["view_data"]["ui"]["review_inbox"]["agents_doc_proposals"].clone()
    };
    assert_eq!(activities(None).await, waiting);
    assert_eq!(activities(Some(&alpha)).await, waiting);
    assert_eq!(activities(Some(&beta)).await, Value::Null);
    let decide = json!({
        "workspace_id": linked.workspace, "proposal_id": proposed["proposal"]["id"], "decision": "deny",
    });
    linked
        .call("thread/agents_doc/proposal/decide", decide)
        .await;
    assert_eq!(inbox(None).await, Value::Null);
}
