//! Looks up the names of ids for output that people read.

use std::{collections::BTreeMap, path::Path};

use protocol::{
    Id as _, WorkspaceId,
    company::{
        Asking, ProjectId, Text,
        run::{RunList, RunListParams},
        task::{TaskList, TaskListParams},
        workspace::{
            CompanyFolderParams, CompanyWorkspaceAgentsList, CompanyWorkspaceAgentsListParams,
            CompanyWorkspaceProjectsList, CompanyWorkspaceTeamsList,
        },
    },
    thread::{ThreadTree, ThreadTreeParams},
    workspace::{WorkspaceList, WorkspaceListParams},
};
use rpc::{Client, client::Error};
use serde_json::Value;

use crate::folder;

/// Names by id, and the runs that were not launched. An id without a name is shown unchanged.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Names by id. The name of a run is its goal.
    names: BTreeMap<String, String>,
    /// Runs that were never launched, each with its agent. Their status on the wire is `running`.
    unstarted: BTreeMap<String, String>,
}

impl Names {
    pub(crate) fn get(&self, id: &str) -> Option<&str> {
        self.names.get(id).map(String::as_str)
    }

    /// Returns whether a run was never launched.
    pub(crate) fn is_unstarted(&self, run: &str) -> bool {
        self.unstarted.contains_key(run)
    }

    /// Returns the number of runs of an agent that were never launched.
    pub(crate) fn unstarted_of(&self, agent: &str) -> u64 {
        self.unstarted.values().filter(|one| *one == agent).count() as u64
    }

    #[cfg(test)]
    pub(crate) fn add_unstarted(&mut self, run: &str, agent: &str) {
        self.unstarted.insert(run.to_owned(), agent.to_owned());
    }

    /// Loads the names of the agents, teams and projects of a company folder.
    pub(crate) async fn of_company(client: &Client, dir: &Text) -> Result<Self, Error> {
        let mut names = Self::default();
        let folder = || CompanyFolderParams {
            workspace_dir: dir.clone(),
        };
        let agents = CompanyWorkspaceAgentsListParams {
            workspace_dir: dir.clone(),
            role: None,
            team_id: None,
        };
        let agents = client.call::<CompanyWorkspaceAgentsList>(agents).await?.0;
        names.extend(agents.into_iter().map(|agent| (agent.agent_id, agent.name)));
        let teams = client.call::<CompanyWorkspaceTeamsList>(folder()).await?.0;
        names.extend(teams.into_iter().map(|team| (team.team_id, team.name)));
        let projects = client
            .call::<CompanyWorkspaceProjectsList>(folder())
            .await?;
        let projects = projects.projects.into_iter();
        names.extend(projects.map(|project| (project.project_id.to_string(), project.name)));
        Ok(names)
    }

    /// Loads the names of the ids in the result of a call. Sends only the requests that the result needs; an id whose
    /// name cannot be loaded stays an id.
    pub(crate) async fn of_answer(client: &Client, params: &Value, answer: &Value) -> Self {
        let mut ids = Vec::new();
        collect(answer, &mut ids);
        let has = |prefixes: &[&str]| {
            let is_one = |id: &&str| prefixes.iter().any(|prefix| id.starts_with(prefix));
            ids.iter().any(is_one)
        };
        let mut names = Self::default();
        let workspace = params["workspace_id"].as_str();
        let mut dir = params["workspace_dir"].as_str().map(str::to_owned);
        if let (None, Some(workspace)) = (&dir, workspace)
            && has(&["agent_", "run_"])
        {
            dir = Self::folder_of(client, workspace).await;
        }
        if let Some(dir) = dir.and_then(|dir| folder::wire(Path::new(&dir)).ok()) {
            if has(&["agent_", "team_", "proj_"]) {
                names.take(Self::of_company(client, &dir).await);
            }
            if has(&["run_"]) || has_member(answer, RUNNING_RUNS) {
                names.take(Self::of_runs(client, &dir, params["project_id"].as_str()).await);
            }
            if has(&["task_"]) {
                names.take(Self::of_tasks(client, &dir, params, &ids).await);
            }
        }
        if has(&["ws_"]) {
            names.take(Self::of_workspaces(client).await);
        }
        if let Some(workspace) = workspace.and_then(|id| WorkspaceId::parse(id).ok())
            && has(&["fld_", "thr_"])
        {
            names.take(Self::of_tree(client, workspace).await);
        }
        names
    }

    /// Loads the goals of the runs of a company folder, or of one of its projects.
    pub(crate) async fn of_runs(
        client: &Client,
        dir: &Text,
        project: Option<&str>,
    ) -> Result<Self, Error> {
        let params = RunListParams {
            workspace_dir: dir.clone(),
            project_id: project.and_then(|id| ProjectId::parse(id).ok()),
            asking: Asking::default(),
        };
        let mut names = Self::default();
        for run in client.call::<RunList>(params).await?.0 {
            if run.not_started == Some(true) {
                names.unstarted.insert(run.run_id.clone(), run.agent_id);
            }
            names.extend(run.goal.map(|goal| (run.run_id, goal)).into_iter());
        }
        Ok(names)
    }

    /// Returns the company folder of a workspace, if it has one.
    async fn folder_of(client: &Client, workspace: &str) -> Option<String> {
        let listed = client.call::<WorkspaceList>(WorkspaceListParams {}).await;
        let mut listed = listed.ok()?.workspaces.into_iter();
        listed.find(|one| one.id.as_str() == workspace)?.dir
    }

    /// Loads the names of the workspaces of the home.
    pub(crate) async fn of_workspaces(client: &Client) -> Result<Self, Error> {
        let listed = client.call::<WorkspaceList>(WorkspaceListParams {}).await?;
        let mut names = Self::default();
        let workspaces = listed.workspaces.into_iter();
        names.extend(workspaces.map(|workspace| (workspace.id.to_string(), workspace.name)));
        Ok(names)
    }

    /// Loads the titles of the tasks of the projects among `params` and `ids`.
    async fn of_tasks(
        client: &Client,
        dir: &Text,
        params: &Value,
        ids: &[&str],
    ) -> Result<Self, Error> {
        let named = params["project_id"].as_str().into_iter();
        let mut projects: Vec<_> = named
            .chain(ids.iter().copied())
            .filter(|id| id.starts_with("proj_"))
            .filter_map(|id| ProjectId::parse(id).ok())
            .collect();
        projects.sort_unstable_by_key(ToString::to_string);
        projects.dedup();
        let mut names = Self::default();
        for project_id in projects {
            let params = TaskListParams {
                workspace_dir: dir.clone(),
                project_id,
            };
            let tasks = client.call::<TaskList>(params).await?.tasks.into_iter();
            names.extend(tasks.map(|task| (task.task_id, task.frontmatter.title.to_string())));
        }
        Ok(names)
    }

    /// Loads the names of the folders and threads of a workspace.
    async fn of_tree(client: &Client, workspace_id: WorkspaceId) -> Result<Self, Error> {
        let params = ThreadTreeParams {
            workspace_id,
            limit: Some(5000),
            cursor: None,
        };
        let tree = client.call::<ThreadTree>(params).await?;
        let mut names = Self::default();
        let folders = tree.folders.into_iter();
        names.extend(folders.map(|folder| (folder.id.to_string(), folder.name)));
        let threads = tree.threads.into_iter();
        names.extend(threads.filter_map(|thread| Some((thread.id.to_string(), thread.name?))));
        Ok(names)
    }

    fn extend(&mut self, more: impl Iterator<Item = (String, String)>) {
        self.names.extend(more.filter(|(_, name)| !name.is_empty()));
    }

    pub(crate) fn take(&mut self, found: Result<Self, Error>) {
        match found {
            Ok(found) => {
                self.names.extend(found.names);
                self.unstarted.extend(found.unstarted);
            }
            Err(error) => tracing::debug!(%error, "names are not known"),
        }
    }
}

impl FromIterator<(String, String)> for Names {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Self {
        let mut names = Self::default();
        names.extend(pairs.into_iter());
        names
    }
}

/// The member of a result that contains the number of runs of an agent.
const RUNNING_RUNS: &str = "running_runs";

/// Returns whether any object of a result has this member.
fn has_member(value: &Value, name: &str) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| has_member(item, name)),
        Value::Object(members) => {
            members.contains_key(name) || members.values().any(|member| has_member(member, name))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Collects all strings of a result.
fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(members) => members.values().for_each(|member| collect(member, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn an_answer_is_shown_with_the_names_of_its_company_and_its_tree() {
        let gateway = testkit::gateway().await;
        let client = gateway.client();
        let place = tempfile::tempdir().unwrap();
        let dir = json!(place.path().join("acme"));
        let call = async |method: &str, mut params: Value| {
            params["workspace_dir"] = dir.clone();
            client.call_raw(method, params).await.unwrap()
        };
        let init =
            json!({"company_name": "Acme", "project_name": "Shop", "departments": ["backend"]});
        call("workspace.bootstrap.enterprise", init).await;
        let agents = call("workspace.agents.list", json!({})).await;
        let (agent, name) = (&agents[0]["agent_id"], agents[0]["name"].as_str());
        let projects = call("workspace.projects.list", json!({})).await;
        let project = &projects["projects"][0]["project_id"];
        let run = json!({"project_id": project, "agent_id": agent, "provider": "cmd"});
        call("run.create", run).await;
        let runs = call("run.list", json!({})).await;
        let names = Names::of_answer(&client, &json!({"workspace_dir": dir}), &runs).await;
        assert_eq!(names.get(agent.as_str().unwrap()), name);
        assert_eq!(names.get(project.as_str().unwrap()), Some("Shop"));

        let listed = client.call_raw("workspace/list", json!({})).await.unwrap();
        let workspace = &listed["workspaces"][0]["id"];
        let params = json!({"workspace_id": workspace});
        let tree = client
            .call_raw("thread/tree", params.clone())
            .await
            .unwrap();
        let names = Names::of_answer(&client, &params, &tree).await;
        assert_eq!(names.get(workspace.as_str().unwrap()), Some("Acme"));
        let folder = tree["folders"][0]["id"].as_str().unwrap();
        assert_eq!(names.get(folder), Some("Shop"));
    }
}
