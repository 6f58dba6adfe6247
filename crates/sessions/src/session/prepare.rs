//! Preparation of a session before its process starts: the working folder, the files, and the entries in `run.yaml` and
//! the event log.

use std::{
    fs::{self, File},
    path::PathBuf,
    sync::Arc,
};

use company::{document::Run, files};
use drivers::{
    Driver,
    codex_app_server::TurnRequest,
    command,
    redaction::{self, redacted},
};
use protocol::company::{
    RunStatus, Visibility,
    session::{CompanySessionMode, CompanySessionPermission},
};
use serde_json::json;

use super::{NotStarted, not_running};
use crate::{
    blocking::blocking,
    instruction_file::{self, Placed},
    plan::{Command, Plan},
    run_log::RunLog,
    snapshot,
    working_folder::WorkingFolder,
    worktree::Worktree,
};

/// Everything that is needed to start the process.
pub(super) struct Prepared {
    pub(super) command: Command,
    pub(super) cwd: PathBuf,
    /// `stdout.txt` and `stderr.txt` of the run.
    pub(super) files: (File, File),
    /// The turn to request from the app server. `None` for other programs.
    pub(super) turn: Option<TurnRequest>,
    /// The lock on the instructions file in the worktree. `None` if no file was placed.
    pub(super) placed: Option<Placed>,
}

/// Creates the folders and files of a session and records what will run.
pub(super) async fn prepare(plan: &Arc<Plan>, run_log: &RunLog) -> Result<Prepared, NotStarted> {
    let is_server = plan.mode == CompanySessionMode::CodexAppServer;
    let prompt = plan
        .prompt
        .as_ref()
        .or(plan.stdin.as_ref())
        .filter(|text| !text.trim().is_empty());
    let makes_line = plan.argv.is_empty() && prompt.is_some() && plan.driver != Driver::Command;
    if is_server && prompt.is_none() {
        return Err(NotStarted::launch(
            "prompt_text or stdin_text is required for codex_app_server",
        ));
    }
    if !is_server
        && !makes_line
        && let Some(refusal) = command::refusal(&plan.argv)
    {
        return Err(NotStarted::launch(refusal));
    }

    let files = {
        let plan = Arc::clone(plan);
        blocking(move || {
            let create = |name: &str| plan.company.create(&plan.output(name).0);
            let files = (create("stdout.txt")?, create("stderr.txt")?);
            // An earlier session of this run may have left its stop flag.
            plan.company.remove(&plan.output(STOP_FLAG).0)?;
            Ok(files)
        })
        .await?
    };

    let folder = {
        let plan = Arc::clone(plan);
        blocking(move || Ok(plan.working_folder()))
            .await?
            .map_err(NotStarted::launch)?
    };
    let mut events = Vec::new();
    if let Some(in_place) = &plan.in_place {
        events.push(run_log.event_by(
            in_place.actor_id(),
            Visibility::Managers,
            "worker.in_place",
            &json!({
                "actor_id": in_place.actor_id(),
                "repo_id": plan.repo,
                "folder": folder.as_str(),
            }),
        )?);
    }
    let base = match &folder {
        WorkingFolder::Company => plan.company.root().to_owned(),
        WorkingFolder::Checkout(repo) => repo.clone(),
        WorkingFolder::Scratch(scratch) => {
            let folder = scratch.clone();
            let is_own = blocking(move || {
                files::make_dir(&folder)?;
                // An earlier worker of the run may have replaced the folder with a link that leads elsewhere.
                Ok(fs::symlink_metadata(&folder).is_ok_and(|found| found.is_dir()))
            });
            if !is_own.await? {
                let scratch = scratch.display();
                return Err(NotStarted::launch(format!(
                    "the scratch folder `{scratch}` is not a folder"
                )));
            }
            scratch.clone()
        }
        WorkingFolder::Worktree { repo, worktree } => {
            let path = worktree
                .prepare(&plan.company, repo)
                .await
                .map_err(NotStarted::launch)?;
            events.push(run_log.event_by(
                &plan.agent,
                Visibility::Org,
                "worktree.prepared",
                &json!({
                    "repo_id": plan.repo,
                    "task_id": plan.task,
                    "milestone_id": plan.milestone,
                    "worktree_relpath": worktree.relpath,
                    "branch": worktree.branch,
                }),
            )?);
            path
        }
    };
    let instructions = plan.instructions().await.map_err(NotStarted::launch)?;
    let (cwd, command) = {
        let (plan, base, instructions) = (Arc::clone(plan), base.clone(), instructions.clone());
        blocking(move || {
            Ok(plan
                .workdir(&base)
                .map(|cwd| (cwd.clone(), plan.command(&cwd, instructions.as_ref()))))
        })
        .await?
        .map_err(NotStarted::launch)?
    };
    let asked = plan.asked(instructions.as_ref());
    let effective_instructions = instructions.or_else(|| plan.extra.instructions.clone());
    if let Some(refusal) = command::refusal(&command.line.argv) {
        return Err(NotStarted::launch(refusal));
    }

    let secrets = plan.secrets(&command.environment);
    let argv: Vec<_> = command
        .line
        .argv
        .iter()
        .map(|argument| redacted(argument, &secrets))
        .collect();
    {
        let (plan, run_log, command) = (Arc::clone(plan), run_log.clone(), command.clone());
        let (argv, worktree, effective_instructions) = (
            argv.clone(),
            folder.worktree().cloned(),
            effective_instructions.clone(),
        );
        blocking(move || {
            let manifest = effective_instructions
                .as_ref()
                .map(|effective_instructions| effective_instructions.manifest.as_str());
            write_manifest(&plan, manifest)?;
            write_spec(
                &plan,
                &run_log,
                &command,
                &argv,
                &secrets,
                worktree.as_ref(),
            )
        })
        .await?;
    }
    let file = effective_instructions
        .as_ref()
        .and_then(|effective_instructions| effective_instructions.file.clone());
    if let Some(effective_instructions) = effective_instructions {
        plan.instructions_source
            .started(plan.worker(), effective_instructions);
    }
    if let Some(repo) = &plan.repo {
        let taken = snapshot::take(
            &plan.company,
            &plan.project,
            &plan.context_pack,
            repo.as_str(),
            folder.tree(&plan.company, &base).await,
        );
        for (event_type, payload) in taken.await {
            events.push(run_log.event(event_type, &payload)?);
        }
    }
    let stdin_relpath = command
        .line
        .stdin
        .as_ref()
        .map(|_| plan.output("stdin.txt").1);
    let executing = plan.executing(&argv, folder.worktree(), stdin_relpath.as_deref());
    events.push(run_log.event("run.executing", &executing)?);
    {
        let run_log = run_log.clone();
        blocking(move || run_log.append(&events)).await?;
    }
    let placed = match (&folder, &file) {
        (WorkingFolder::Worktree { repo, worktree }, Some(file)) => {
            let root = plan.company.path(&worktree.relpath);
            instruction_file::place(plan, repo, worktree, &root, file).await
        }
        _ => None,
    };
    let turn = is_server.then(|| TurnRequest {
        cwd: cwd.display().to_string(),
        prompt: asked,
        model: plan.model.clone(),
        sandbox: match plan.permission {
            CompanySessionPermission::ReadOnly => "read-only",
            CompanySessionPermission::Patch | CompanySessionPermission::RunCommands => {
                "workspace-write"
            }
        },
    });
    Ok(Prepared {
        command,
        cwd,
        files,
        turn,
        placed,
    })
}

/// Name of the file that records the instructions of a worker.
const MANIFEST: &str = "prompt_manifest.json";

/// Name of the file that records that a stop of the session was requested.
pub(crate) const STOP_FLAG: &str = "stop_requested.flag";

/// Whether a file among the outputs of a run is a result. The files that the gateway writes there for the worker or for
/// itself are not.
pub fn is_result(name: &str) -> bool {
    const GATEWAY_FILES: [&str; 6] = [
        "prompt.txt",
        "result_schema.json",
        "stdin.txt",
        "token_usage.json",
        MANIFEST,
        STOP_FLAG,
    ];
    !GATEWAY_FILES.contains(&name)
}

/// Writes the manifest of the instructions, or removes the one that an earlier session of the run left.
fn write_manifest(plan: &Plan, manifest: Option<&str>) -> Result<(), company::Error> {
    let path = plan.output(MANIFEST).0;
    match manifest {
        Some(manifest) => plan
            .company
            .replace(&path, format!("{manifest}\n").as_bytes()),
        None => plan.company.remove(&path),
    }
}

/// Writes the spec of the session into `run.yaml`, and the settings, the schema and the input of the worker into files.
fn write_spec(
    plan: &Plan,
    run_log: &RunLog,
    command: &Command,
    argv: &[String],
    secrets: &[String],
    worktree: Option<&Worktree>,
) -> Result<(), company::Error> {
    if let (Some((_, settings)), path) = (&command.line.settings, plan.settings_path()) {
        files::replace(&path, format!("{settings:#}\n").as_bytes())?;
    }
    if let Some(schema) = &plan.extra.schema {
        files::replace(&plan.schema_path(), format!("{schema:#}\n").as_bytes())?;
    }
    plan.company.write(|writer| {
        let stdin = match &command.line.stdin {
            Some(text) => {
                let (path, relpath) = plan.output("stdin.txt");
                writer.put_text(&path, &redaction::without_values(text, secrets))?;
                Some(relpath)
            }
            None => None,
        };
        if plan.mode == CompanySessionMode::CodexAppServer {
            let prompt = plan.prompt.as_ref().or(plan.stdin.as_ref());
            let prompt = prompt.map_or("", String::as_str);
            writer.put_text(
                &plan.output("prompt.txt").0,
                &redaction::without_values(prompt, secrets),
            )?;
        }
        let path = run_log.run_path();
        let mut run = Run::clone(&*plan.company.read::<Run>(&path)?);
        if run.status != RunStatus::Running {
            return Err(company::Error::Refused(not_running(run.status)));
        }
        run.spec = Some(plan.spec(argv, worktree, stdin.as_deref()));
        writer.put(&path, &run)
    })
}
