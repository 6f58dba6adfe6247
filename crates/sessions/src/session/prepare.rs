//! Preparation of a session before its process starts: the working folder, the files, and the entries in `run.yaml` and
//! the event log.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
};

use company::{document::Run, event_log::Event, files};
use drivers::{
    Driver, Reader,
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
    instructions::WorkerInstructions,
    pipes::{self, Ends, Pipes},
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
    /// The parser of the output.
    pub(super) reader: Reader,
    /// The pipes of the output: the gateway's ends and the worker's.
    pub(super) pipes: (Pipes, Ends),
    /// The turn to request from the app server. `None` for other programs.
    pub(super) turn: Option<TurnRequest>,
    /// The lock on the instructions file in the worktree. `None` if no file was placed.
    pub(super) placed: Option<Placed>,
}

/// Creates the folders and files of a session and records what will run.
pub(super) async fn prepare(plan: &Arc<Plan>, run_log: &RunLog) -> Result<Prepared, NotStarted> {
    check_request(plan)?;
    let (files, folder, base) = {
        let plan = Arc::clone(plan);
        on_thread(move || create_folders(&plan)).await?
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
    let base = match (base, &folder) {
        (None, WorkingFolder::Worktree { repo, worktree }) => {
            let (path, event) = create_worktree(plan, run_log, repo, worktree).await?;
            events.push(event);
            path
        }
        (Some(base), _) => base,
        (None, _) => plan.company.root().to_owned(),
    };
    let instructions = plan.instructions().await.map_err(NotStarted::launch)?;
    let prompt = plan.asked(instructions.as_ref());
    let recorded = {
        let (plan, run_log) = (Arc::clone(plan), run_log.clone());
        let (base, worktree) = (base.clone(), folder.worktree().cloned());
        on_thread(move || record_command(&plan, &run_log, &base, worktree.as_ref(), instructions))
            .await?
    };
    let RecordedCommand {
        cwd,
        command,
        argv,
        instructions,
    } = recorded;
    let file = instructions
        .as_ref()
        .and_then(|instructions| instructions.file.clone());
    if let Some(instructions) = instructions {
        plan.instructions_source
            .started(plan.worker(), instructions);
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
    let (reader, pipes) = {
        let (plan, run_log) = (Arc::clone(plan), run_log.clone());
        on_thread(move || {
            run_log.append(&events)?;
            let pipes = pipes::make(&plan.company, &plan.session_ref)
                .map_err(|error| company::Error::io("made", "the pipes of a session", error))?;
            Ok((plan.reader(), pipes))
        })
        .await?
    };
    let placed = match (&folder, &file) {
        (WorkingFolder::Worktree { repo, worktree }, Some(file)) => {
            let root = plan.company.path(&worktree.relpath);
            instruction_file::place(plan, repo, worktree, &root, file).await
        }
        _ => None,
    };
    let turn = turn_request(plan, &cwd, prompt);
    Ok(Prepared {
        command,
        cwd,
        files,
        reader,
        pipes,
        turn,
        placed,
    })
}

/// Rejects a request from which no command line can be built.
fn check_request(plan: &Plan) -> Result<(), NotStarted> {
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
    Ok(())
}

/// The output files of a session, its working folder, and the folder that commands are relative to; that one is absent
/// for a worktree, which is created afterwards.
type Folders = ((File, File), WorkingFolder, Option<PathBuf>);

/// Creates the output files and the scratch folder, and determines the working folder.
fn create_folders(plan: &Plan) -> Result<Folders, NotStarted> {
    let create = |name: &str| plan.company.create(&plan.output(name).0);
    let files = (create("stdout.txt")?, create("stderr.txt")?);
    // An earlier session of this run may have left its stop flag.
    plan.company.remove(&plan.output(STOP_FLAG).0)?;
    let folder = plan.working_folder().map_err(NotStarted::launch)?;
    let base = match &folder {
        WorkingFolder::Company => Some(plan.company.root().to_owned()),
        WorkingFolder::Checkout(repo) => Some(repo.clone()),
        WorkingFolder::Scratch(scratch) => {
            files::make_dir(scratch)?;
            // An earlier worker of the run may have replaced the folder with a link that leads elsewhere.
            if !fs::symlink_metadata(scratch).is_ok_and(|found| found.is_dir()) {
                let scratch = scratch.display();
                return Err(NotStarted::launch(format!(
                    "the scratch folder `{scratch}` is not a folder"
                )));
            }
            Some(scratch.clone())
        }
        WorkingFolder::Worktree { .. } => None,
    };
    Ok((files, folder, base))
}

/// Creates the worktree of a session. Returns its folder and the event about it.
async fn create_worktree(
    plan: &Plan,
    run_log: &RunLog,
    repo: &Path,
    worktree: &Worktree,
) -> Result<(PathBuf, Event), NotStarted> {
    let path = worktree
        .prepare(&plan.company, repo)
        .await
        .map_err(NotStarted::launch)?;
    let event = run_log.event_by(
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
    )?;
    Ok((path, event))
}

/// A command that is recorded in `run.yaml`.
struct RecordedCommand {
    cwd: PathBuf,
    command: Command,
    /// The command line without secrets.
    argv: Vec<String>,
    /// The instructions that are part of the prompt; absent if there are none.
    instructions: Option<WorkerInstructions>,
}

/// Builds the command and records it, together with the manifest of the instructions.
fn record_command(
    plan: &Plan,
    run_log: &RunLog,
    base: &Path,
    worktree: Option<&Worktree>,
    instructions: Option<WorkerInstructions>,
) -> Result<RecordedCommand, NotStarted> {
    let cwd = plan.workdir(base).map_err(NotStarted::launch)?;
    let command = plan.command(&cwd, instructions.as_ref());
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
    let instructions = instructions.or_else(|| plan.extra.instructions.clone());
    let manifest = instructions
        .as_ref()
        .map(|instructions| instructions.manifest.as_str());
    write_manifest(plan, manifest)?;
    write_spec(plan, run_log, &command, &argv, &secrets, worktree)?;
    Ok(RecordedCommand {
        cwd,
        command,
        argv,
        instructions,
    })
}

/// The turn to request from an app server; `None` for other programs.
fn turn_request(plan: &Plan, cwd: &Path, prompt: String) -> Option<TurnRequest> {
    (plan.mode == CompanySessionMode::CodexAppServer).then(|| TurnRequest {
        cwd: cwd.display().to_string(),
        prompt,
        model: plan.model.clone(),
        sandbox: match plan.permission {
            CompanySessionPermission::ReadOnly => "read-only",
            CompanySessionPermission::Patch | CompanySessionPermission::RunCommands => {
                "workspace-write"
            }
        },
    })
}

/// Runs a step on a thread of the blocking pool.
async fn on_thread<R: Send + 'static>(
    step: impl FnOnce() -> Result<R, NotStarted> + Send + 'static,
) -> Result<R, NotStarted> {
    blocking(move || Ok(step())).await?
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
