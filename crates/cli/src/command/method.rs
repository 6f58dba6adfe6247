//! The commands for methods: `ac run:replay DIR --run-id …`, `ac thread/tree`, `ac rpc:call`, `ac methods`.
//!
//! A command is derived from the declaration of its method: the doc comment becomes the help text, each param a flag.
//! The dots in names of the company family become colons.

use std::{ffi::OsString, io, path::Path};

use clap::Args;
use protocol::{
    Access, Dialect, Method as _, MethodSpec,
    company::{
        inbox::InboxResolve,
        memory::MemoryApproveDelta,
        milestone::MilestoneApprove,
        run::RunList,
        ui::UiResolve,
        workspace::{CompanyWorkspaceProjectsList, CompanyWorkspaceTrust},
    },
    thread::{
        ThreadDelete, agents_doc::proposal::ThreadAgentsDocProposalDecide,
        folder::ThreadFolderDelete,
    },
    trash::TrashPurge,
};
use serde_json::{Map, Value, json};

use super::{HomeOption, trash, tree};
use crate::{
    failure::Failure,
    folder,
    local::{Local, Waited},
    names::Names,
    terminal, worker_session,
};

mod flags;
mod people;
mod suggest;

use flags::Flags;
pub(super) use people::{INVALID, NOT_STARTED};

/// The methods that record a decision of a person. They are refused in worker sessions.
const DECISIONS: [&str; 6] = [
    InboxResolve::NAME,
    UiResolve::NAME,
    MemoryApproveDelta::NAME,
    MilestoneApprove::NAME,
    ThreadAgentsDocProposalDecide::NAME,
    CompanyWorkspaceTrust::NAME,
];

/// `ac rpc:call`
#[derive(Args, Debug)]
pub(crate) struct RpcCallCommand {
    #[command(flatten)]
    home: HomeOption,
    /// Name of the method on the wire.
    #[arg(long)]
    method: String,
    /// Params as JSON, `@FILE` or `-` for standard input.
    #[arg(long, default_value = "{}", value_parser = flags::json)]
    params: Value,
}

/// `ac methods`
#[derive(Args, Debug)]
pub(crate) struct MethodsCommand {
    /// List only methods whose name starts with this text.
    prefix: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl RpcCallCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let Self {
            home,
            method,
            params,
        } = self;
        let result = Local::with(
            &home,
            |local| async move { call(&local, &method, params).await },
        );
        let result = result.await?;
        terminal::answer(&result, true)
    }
}

impl MethodsCommand {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let prefix = self.prefix.unwrap_or_default();
        let found: Vec<_> = protocol::methods()
            .map(|(_, method)| method)
            .filter(|method| {
                method.name.starts_with(&prefix) || command_name(method).starts_with(&prefix)
            })
            .collect();
        let is_json = self.json;
        let row = |method: &&MethodSpec| {
            let access = method.access.as_str().to_owned();
            let purpose = protocol::summary(method.doc);
            let purpose = if is_json {
                purpose
            } else {
                terminal::reworded(&purpose).into_owned()
            };
            vec![command_name(method), access, purpose]
        };
        let rows: Vec<_> = found.iter().map(row).collect();
        let text = if is_json {
            let keys = ["command", "scope", "purpose"].map(str::to_owned);
            let object = |row: Vec<String>| -> Value {
                let pairs = keys.iter().cloned().zip(row.into_iter().map(Value::from));
                Value::Object(pairs.collect())
            };
            let rows = rows.into_iter().map(object).collect();
            format!("{:#}", Value::Array(rows))
        } else {
            terminal::table(&["COMMAND", "SCOPE", "PURPOSE"], &rows)
        };
        Ok(terminal::print(&text)?)
    }
}

/// Runs the command of a method. `arguments` start with its name, `before` holds the options given before it; `others`
/// are the names of the commands that are not methods.
pub(crate) async fn run(
    arguments: Vec<OsString>,
    before: HomeOption,
    others: &[String],
) -> Result<(), Failure> {
    let name = arguments[0].to_string_lossy().into_owned();
    let Some(method) = find(&name) else {
        return Err(unknown(name, arguments.get(1), others));
    };
    let flags = Flags::of(method);
    let command = flags.command(&command_name(method));
    let matches = command.try_get_matches_from(arguments)?;
    let home = HomeOption {
        home: matches.get_one("home").cloned().or(before.home),
    };
    let as_json = matches.get_flag("json");
    let mut params = flags.params(&matches)?;
    check_folder(method, &params)?;
    let dir = params.get(flags::FOLDER).and_then(Value::as_str);
    let dir = dir.map(str::to_owned);
    let given = params.clone();
    let yes = matches.try_get_one::<bool>(flags::YES).ok().flatten();
    let is_confirmed = yes.is_none_or(|yes| *yes);
    let (result, names) = Local::with(&home, |local| async move {
        if flags.needs_workspace() && !params.contains_key(flags::WORKSPACE) {
            let workspace = local.workspace(None).await?;
            params.insert(flags::WORKSPACE.to_owned(), workspace.as_str().into());
        }
        if !is_confirmed {
            confirm(&local, method.name, &params).await?;
        }
        let params = Value::Object(params);
        let result = call(&local, method.name, params.clone()).await?;
        if method.name == RunList::NAME && result.as_array().is_some_and(Vec::is_empty) {
            check_project(&local, &params).await?;
        }
        let names = if terminal::is_for_people(as_json) {
            Names::of_answer(&local.client, &params, &result).await
        } else {
            Names::default()
        };
        Ok((result, names))
    })
    .await?;
    for warning in result["warnings"].as_array().into_iter().flatten() {
        if let Some(warning) = warning.as_str() {
            terminal::complain(&format!("warning: {}", terminal::harmless(warning)));
        }
    }
    if let (true, "workspace.init", Some(dir)) =
        (terminal::is_for_people(as_json), method.name, &dir)
    {
        let dir = folder::quoted(dir);
        terminal::print(&format!(
            "The company folder {dir} is ready. Next: `ac workspace:project:create_with_defaults {dir} --name NAME` creates a project."
        ))?;
    } else if terminal::is_for_people(as_json) {
        let shown = people::shown(method, result.clone(), &names);
        terminal::answer_with(&shown, &names, as_json)?;
    } else {
        terminal::answer(&result, as_json)?;
    }
    check(method, &given, &result)
}

/// Rejects a company folder that does not exist, unless the method creates it. Without this check the method would
/// report every missing file of a company folder.
fn check_folder(method: &MethodSpec, params: &Map<String, Value>) -> Result<(), Failure> {
    const CREATING: [&str; 3] = [
        "workspace.init",
        "workspace.bootstrap.enterprise",
        "workspace.import",
    ];
    let named = params.get(flags::FOLDER).and_then(Value::as_str);
    let Some(named) = named.filter(|_| !CREATING.contains(&method.name)) else {
        return Ok(());
    };
    let named = Path::new(named);
    let is_missing = named
        .metadata()
        .is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    if is_missing || method.name == "workspace.open" {
        folder::company(named)?;
    }
    Ok(())
}

/// Returns the error for an unknown command, with a suggestion or the commands of the group.
fn unknown(name: String, next: Option<&OsString>, others: &[String]) -> Failure {
    // The user may have separated the parts with a space: suggest `ac run:list` for `ac run list`.
    let next = next.map(|next| next.to_string_lossy());
    let joined = next.and_then(|next| {
        let joined = [":", "/"].map(|separator| format!("{name}{separator}{next}"));
        joined.into_iter().find(|joined| find(joined).is_some())
    });
    let rows = if joined.is_none() {
        rows_of(&group(&name))
    } else {
        Vec::new()
    };
    if !rows.is_empty() {
        return Failure::CommandGroup {
            commands: terminal::table(&["COMMAND", "PURPOSE"], &rows),
            name,
        };
    }
    let methods = protocol::methods().map(|(_, method)| command_name(method));
    let known: Vec<String> = others.iter().cloned().chain(methods).collect();
    Failure::UnknownCommand {
        hint: joined.or_else(|| suggest::nearest(&name, &known)),
        name,
    }
}

/// Returns the methods whose commands start with the name and a separator.
fn group(name: &str) -> Vec<&'static MethodSpec> {
    let begins = |method: &&MethodSpec| {
        let command = command_name(method);
        let rest = command.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with([':', '/']))
    };
    protocol::methods()
        .map(|(_, method)| method)
        .filter(begins)
        .collect()
}

fn rows_of(methods: &[&MethodSpec]) -> Vec<Vec<String>> {
    let row = |method: &&MethodSpec| {
        let command = format!("ac {}", command_name(method));
        let purpose = protocol::summary(method.doc);
        vec![command, terminal::reworded(&purpose).into_owned()]
    };
    methods.iter().map(row).collect()
}

/// Describes the effect of a deleting call and asks for confirmation.
async fn confirm(local: &Local, method: &str, params: &Map<String, Value>) -> Result<(), Failure> {
    let text = |name: &str| params.get(name).and_then(Value::as_str);
    match method {
        ThreadFolderDelete::NAME => {
            let tree = tree::read(local, text(flags::WORKSPACE)).await?;
            trash::confirm_folder(&tree, text("folder_id").unwrap_or_default())
        }
        TrashPurge::NAME => {
            terminal::confirm("Delete these items permanently? This cannot be undone.")
        }
        _ => Ok(()),
    }
}

/// Fails if the project does not exist. On the wire, its list of runs is merely empty.
async fn check_project(local: &Local, params: &Value) -> Result<(), Failure> {
    let Some(project) = params["project_id"].as_str() else {
        return Ok(());
    };
    let folder = json!({"workspace_dir": params[flags::FOLDER]});
    let known = local
        .client
        .call_raw(CompanyWorkspaceProjectsList::NAME, folder);
    let known = known.await?;
    let mut known = known["projects"].as_array().into_iter().flatten();
    if known.any(|one| one["project_id"] == project) {
        return Ok(());
    }
    Err(Failure::no_project(project))
}

/// Fails if the result reports a problem, so that the command ends with exit code 1.
fn check(method: &MethodSpec, params: &Map<String, Value>, result: &Value) -> Result<(), Failure> {
    for (name, noun, id) in [
        (ThreadFolderDelete::NAME, "folder", "folder_id"),
        (ThreadDelete::NAME, "thread", "thread_id"),
    ] {
        if method.name == name && result["deleted"] == false {
            let id = params.get(id).and_then(Value::as_str).unwrap_or_default();
            return Err(Failure::Unsound {
                detail: format!(
                    "there is no {noun} `{}` in this workspace, so nothing was deleted: `ac tree` shows the tree",
                    terminal::harmless(id)
                ),
            });
        }
    }
    let first = |list: &Value| list[0]["message"].as_str().map(terminal::harmless);
    let text = |value: &Value| {
        let text = value.as_str()?;
        Some(terminal::harmless(&terminal::reworded(text)))
    };
    let (wrong, detail) = match method.name {
        "workspace.open" if result["valid"] == false => (
            "this is not a valid company folder",
            first(&result["issues"]),
        ),
        "workspace.validate" if result["ok"] == false => {
            ("the company folder is invalid", first(&result["issues"]))
        }
        "workspace.doctor" if result["ok"] == false => {
            ("the company folder has problems", first(&result["issues"]))
        }
        // Raw replays verify nothing, so their result is not checked.
        "run.replay" if result["mode"] != "raw" && result["deterministic_ok"] == false => {
            let unread = result["parse_issues"][0]["error"].as_str();
            (
                "the events of the run were changed after they were written",
                first(&result["verification_issues"]).or(unread.map(terminal::harmless)),
            )
        }
        "session.launch" if result["state"] == "failed" => {
            ("the session failed", text(&result["error"]))
        }
        "job.submit" if result["result_status"] == "failed" => ("the job failed", None),
        "session.collect" if result["status"] == "failed" => {
            ("the run failed", text(&result["error"]))
        }
        "worktree.cleanup" if result["failed"].as_u64().is_some_and(|failed| failed > 0) => {
            let items = result["items"].as_array();
            let failed = items
                .into_iter()
                .flatten()
                .find(|item| item["action"] == "failed");
            (
                "some worktrees could not be removed",
                failed.and_then(|item| text(&item["reason"])),
            )
        }
        _ => return Ok(()),
    };
    Err(Failure::Unsound {
        detail: match detail {
            Some(detail) => format!("{wrong}: {detail}"),
            None => wrong.to_owned(),
        },
    })
}

/// Returns the name of a method on the command line.
pub(crate) fn command_name(method: &MethodSpec) -> String {
    match Dialect::of_name(method.name) {
        Dialect::Company => method.name.replace('.', ":"),
        Dialect::Tree => method.name.to_owned(),
    }
}

/// Finds a method by the name of its command or its name on the wire.
fn find(name: &str) -> Option<&'static MethodSpec> {
    protocol::methods()
        .map(|(_, method)| method)
        .find(|method| method.name == name || command_name(method) == name)
}

async fn call(local: &Local, method: &str, params: Value) -> Result<Value, Failure> {
    if DECISIONS.contains(&method) {
        worker_session::refuse_decision()?;
    }
    let workspace_dir = params["workspace_dir"].clone();
    let mut result = local.client.call_raw(method, params).await?;
    let starts_processes =
        protocol::methods().any(|(_, spec)| spec.name == method && spec.access == Access::Exec);
    if !starts_processes {
        return Ok(result);
    }
    let waited = local.sessions_over().await;
    let is_started = matches!(result["state"].as_str(), Some("running" | "queued"));
    if waited == Waited::UntilOver && method == "session.launch" && is_started {
        // The result of the launch is out of date: add how the session ended.
        let poll = json!({"session_ref": result["session_ref"], "workspace_dir": workspace_dir});
        let ended = local.client.call_raw("session.poll", poll).await?;
        merge_end(&mut result, &ended);
    }
    if waited == Waited::UntilOver && method == "job.submit" {
        let poll = json!({
            "workspace_dir": result["workspace_dir"],
            "project_id": result["project_id"],
            "job_id": result["job_id"],
        });
        let ended = local.client.call_raw("job.poll", poll).await?;
        for key in ["status", "result_status"] {
            result[key] = ended[key].clone();
        }
    }
    Ok(result)
}

/// Merges the end of a session into the result of its launch.
fn merge_end(launched: &mut Value, ended: &Value) {
    launched["state"] = ended["status"].clone();
    for key in ["exit_code", "signal", "error"] {
        if !ended[key].is_null() {
            launched[key] = ended[key].clone();
        }
    }
    if let Some(members) = launched.as_object_mut() {
        // The session has ended, so it is no longer queued.
        members.remove("queue_position");
        members.remove("queue_reason");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_launch_that_waited_in_the_queue_does_not_say_that_it_still_waits() {
        let reason = json!({"reason_code": "cooldown", "reason": "cmd cools down", "subject": "cmd", "until": null});
        let mut launched = json!({
            "session_ref": "local_1", "state": "queued", "queue_position": 1, "queue_reason": reason,
        });
        let ended =
            json!({"session_ref": "local_1", "status": "ended", "exit_code": 0, "signal": null});
        merge_end(&mut launched, &ended);
        let expected = json!({"session_ref": "local_1", "state": "ended", "exit_code": 0});
        assert_eq!(launched, expected);
    }

    #[test]
    fn a_result_that_reports_a_failure_fails_the_command() {
        let failure = |name: &str, answer: Value| {
            let method = find(name).unwrap();
            let failure = check(method, &Map::new(), &answer).err();
            failure.map(|error| error.to_string())
        };
        let cleanup = |failed: u64| {
            let items = json!([
                {"action": "removed", "reason": "ended"},
                {"action": "failed", "reason": "it has changes"},
            ]);
            failure(
                "worktree:cleanup",
                json!({"failed": failed, "items": items}),
            )
        };
        assert_eq!(cleanup(0), None);
        assert_eq!(
            cleanup(1).as_deref(),
            Some("some worktrees could not be removed: it has changes")
        );
        let collected = |status: &str| failure("session:collect", json!({"status": status}));
        assert_eq!(collected("ended"), None);
        assert_eq!(collected("stopped"), None);
        assert_eq!(collected("failed").as_deref(), Some("the run failed"));
    }
}
