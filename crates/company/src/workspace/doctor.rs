//! `workspace.doctor`: checks the consistency of a company folder and removes temporary files that crashes left behind.
//!
//! The checks never fail as a whole and change no document. The caller provides the checks that need provider programs,
//! the index or the hash chain in [`Outside`]; they are inserted at fixed positions of the report.

use std::{os::unix::fs::MetadataExt as _, path::Path};

use protocol::{
    Id as _,
    company::{
        ProjectId, RunId, RunStatus,
        workspace::{CompanyWorkspaceDoctorResponse, DoctorCheck, DoctorStatus, DoctorSummary},
    },
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Company, Error,
    document::{Agent, ContextPack, Document, DocumentHead, Machine, Project, Run, RunSpec, Team},
    documents::validate::validate,
    files::{self, dir::Dir},
    folder::{
        intent,
        lock::{self, process_is_gone},
    },
    layout,
};

/// Maximum number of detail lines of a check.
const SHOWN: usize = 50;

/// Checks that the caller provides, because they need more than the files of the folder.
pub struct Outside<'a> {
    /// The checks `providers.cli` and `providers.protocol`.
    pub providers: Vec<DoctorCheck>,
    /// The check `index.rebuild` or `index.sync`.
    pub index: Vec<DoctorCheck>,
    /// Verifies one events file, given by its path relative to the company folder. Returns one line per problem.
    pub verify_events: &'a dyn Fn(&str) -> Result<Vec<String>, Error>,
}

/// Checks the folder. Temporary files of ended processes are removed and reported.
pub fn doctor(company: &Company, outside: Outside<'_>) -> CompanyWorkspaceDoctorResponse {
    let machine = company.read::<Machine>(layout::MACHINE);
    let runs = runs(company);
    let mut checks = vec![schema(company)];
    checks.push(if company.is_trusted() {
        machine_config(&machine)
    } else {
        untrusted()
    });
    checks.extend(outside.providers);
    if let Ok(machine) = &machine {
        checks.push(repos(machine));
    }
    checks.extend(outside.index);
    checks.push(worktrees(company, &runs));
    checks.push(events(company, &runs, outside.verify_events));
    checks.push(sessions(company));
    checks.push(locks(company));
    checks.push(temporaries(company));
    checks.extend(unfinished_changes(company));
    checks.push(ids(company));
    checks.push(references(company));

    let mut summary = DoctorSummary::default();
    for check in &checks {
        match check.status {
            DoctorStatus::Pass => summary.pass += 1,
            DoctorStatus::Warn => summary.warn += 1,
            DoctorStatus::Fail => summary.fail += 1,
        }
    }
    CompanyWorkspaceDoctorResponse {
        workspace_dir: company.given().to_owned(),
        ok: summary.fail == 0,
        checks,
        summary,
    }
}

/// Builds a check; `details` are omitted if they are empty.
pub fn check(
    id: &str,
    status: DoctorStatus,
    message: impl Into<String>,
    details: Vec<String>,
) -> DoctorCheck {
    DoctorCheck {
        id: id.to_owned(),
        status,
        message: message.into(),
        details: (!details.is_empty()).then_some(details),
    }
}

fn schema(company: &Company) -> DoctorCheck {
    const ID: &str = "workspace.schema";
    let issues = validate(company);
    if issues.is_empty() {
        let message = "Workspace schema validation passed.";
        return check(ID, DoctorStatus::Pass, message, Vec::new());
    }
    let message = format!(
        "Workspace schema validation failed with {} issue(s).",
        issues.len()
    );
    let details = issues.iter().take(SHOWN);
    let details = details.map(|issue| format!("{}: {}", issue.code, issue.message));
    check(ID, DoctorStatus::Fail, message, details.collect())
}

/// Replaces the check of the machine configuration in an untrusted folder, whose `.local` is ignored.
fn untrusted() -> DoctorCheck {
    let message = "The folder is not trusted on this machine: it can be read, and nothing is changed or started in it.";
    check("workspace.trust", DoctorStatus::Warn, message, Vec::new())
}

fn machine_config(machine: &Result<std::sync::Arc<Machine>, Error>) -> DoctorCheck {
    const ID: &str = "machine.config";
    match machine {
        Ok(_) => check(ID, DoctorStatus::Pass, "Machine config loaded.", Vec::new()),
        Err(error) => {
            let message = "Machine config cannot be read.";
            check(
                ID,
                DoctorStatus::Fail,
                message,
                vec![shown(layout::MACHINE, error)],
            )
        }
    }
}

fn repos(machine: &Machine) -> DoctorCheck {
    const ID: &str = "repos.mappings";
    if machine.repo_roots.is_empty() {
        let message = "No repo mappings configured in .local/machine.yaml (repo_roots).";
        return check(ID, DoctorStatus::Warn, message, Vec::new());
    }
    let (mut failures, mut warnings) = (0, 0);
    let mut details = Vec::new();
    for (repo, root) in &machine.repo_roots {
        let path = Path::new(root);
        let found = if !path.is_absolute() {
            failures += 1;
            "path is not absolute"
        } else if !path.exists() {
            failures += 1;
            "path does not exist"
        } else if !path.join(".git").exists() {
            warnings += 1;
            "path exists but .git marker not found"
        } else {
            "OK"
        };
        details.push(format!("{repo}: {found} ({root})"));
    }
    let (status, message) = match (failures, warnings) {
        (0, 0) => (
            DoctorStatus::Pass,
            "Repo mappings loaded and look healthy.".to_owned(),
        ),
        (0, warnings) => (
            DoctorStatus::Warn,
            format!("Repo mappings loaded with {warnings} warning(s)."),
        ),
        (failures, _) => (
            DoctorStatus::Fail,
            format!("Repo mapping issues detected ({failures} failure(s))."),
        ),
    };
    check(ID, status, message, details)
}

/// The folders of all runs as `(project, run)`, sorted.
fn runs(company: &Company) -> Vec<(String, String)> {
    let mut runs = Vec::new();
    for project in company.names(layout::PROJECTS).unwrap_or_default() {
        let folder = format!("{}/{project}/runs", layout::PROJECTS);
        for run in company.names(&folder).unwrap_or_default() {
            if company.path(&format!("{folder}/{run}")).is_dir() {
                runs.push((project.clone(), run));
            }
        }
    }
    runs
}

fn run_folder((project, run): &(String, String)) -> String {
    format!("{}/{project}/runs/{run}", layout::PROJECTS)
}

/// Checks that every running run has its worktree. Worktrees of finished runs are cleaned up regularly, so they may be
/// missing.
fn worktrees(company: &Company, runs: &[(String, String)]) -> DoctorCheck {
    const ID: &str = "worktrees.references";
    let mut named = 0;
    let mut missing = Vec::new();
    for place in runs {
        let Ok(run) = company.read::<Run>(&format!("{}/run.yaml", run_folder(place))) else {
            continue;
        };
        let Some(worktree) = run.spec.as_ref().and_then(RunSpec::worktree_relpath) else {
            continue;
        };
        named += 1;
        let is_there = layout::stays_below(worktree) && company.path(worktree).exists();
        if run.status == RunStatus::Running && !is_there {
            missing.push(format!("{}/{}: {worktree}", place.0, place.1));
        }
    }
    match (named, missing.len()) {
        (0, _) => {
            let message = "No run specs reference isolated worktrees yet.";
            check(ID, DoctorStatus::Pass, message, missing)
        }
        (_, 0) => {
            let message = "Every running run has its worktree.";
            check(ID, DoctorStatus::Pass, message, missing)
        }
        (_, count) => {
            let message = format!("{count} referenced worktree path(s) are missing.");
            check(ID, DoctorStatus::Warn, message, missing)
        }
    }
}

fn events(
    company: &Company,
    runs: &[(String, String)],
    verify: &dyn Fn(&str) -> Result<Vec<String>, Error>,
) -> DoctorCheck {
    const ID: &str = "events.chain";
    let mut logs = 0;
    let mut broken = 0;
    let mut details = Vec::new();
    for place in runs {
        let log = format!("{}/events.jsonl", run_folder(place));
        if !company.path(&log).exists() {
            continue;
        }
        logs += 1;
        let problems = verify(&log).unwrap_or_else(|error| vec![shown(&log, &error)]);
        if problems.is_empty() {
            continue;
        }
        broken += 1;
        let room = SHOWN - details.len();
        let lines = problems.iter().take(room);
        details.extend(lines.map(|problem| format!("{}/{}: {problem}", place.0, place.1)));
    }
    match broken {
        0 => {
            let message = format!("{logs} event log(s) verified.");
            check(ID, DoctorStatus::Pass, message, details)
        }
        broken => {
            let message = format!("{broken} of {logs} event log(s) do not verify.");
            check(ID, DoctorStatus::Warn, message, details)
        }
    }
}

/// The members of a session record that this check needs.
#[derive(Deserialize, JsonSchema)]
struct SessionRecord {
    project_id: String,
    run_id: String,
    status: String,
    #[serde(default)]
    pid: Option<i32>,
    #[serde(default)]
    pid_claimed_at_ms: Option<i64>,
}

impl Document for SessionRecord {}

/// Finds sessions that are recorded as running although their process has ended.
fn sessions(company: &Company) -> DoctorCheck {
    const ID: &str = "sessions.orphans";
    const FOLDER: &str = ".local/sessions";
    let mut details = Vec::new();
    for name in company.names(FOLDER).unwrap_or_default() {
        if !name.ends_with(".yaml") {
            continue;
        }
        let relative = format!("{FOLDER}/{name}");
        let record = match company.read::<SessionRecord>(&relative) {
            Ok(record) => record,
            Err(error) => {
                details.push(shown(&relative, &error));
                continue;
            }
        };
        let Some(pid) = record.pid.filter(|_| record.status == "running") else {
            continue;
        };
        let claimed_at = record
            .pid_claimed_at_ms
            .map_or(i64::MAX / 2, |at| at / 1000);
        if !process_is_gone(pid, claimed_at) {
            continue;
        }
        let place = match (
            ProjectId::parse(&record.project_id),
            RunId::parse(&record.run_id),
        ) {
            (Ok(project), Ok(run)) => layout::run(&project, &run),
            _ => {
                details.push(format!("{relative}: it does not name a run"));
                continue;
            }
        };
        match company.read::<Run>(&format!("{place}/run.yaml")) {
            Ok(run) if run.status != RunStatus::Running => {}
            Ok(_) => details.push(format!(
                "{}/{}: process {pid} is gone",
                record.project_id, record.run_id
            )),
            Err(error) => details.push(format!("{relative}: {}", shown(&place, &error))),
        }
    }
    match details.len() {
        0 => {
            let message = "Every running session has its process.";
            check(ID, DoctorStatus::Pass, message, details)
        }
        count => {
            details.truncate(SHOWN);
            let message = format!("{count} session record(s) have no process or cannot be read.");
            check(ID, DoctorStatus::Warn, message, details)
        }
    }
}

fn locks(company: &Company) -> DoctorCheck {
    const ID: &str = "locks.stale";
    if lock::is_stale(company.root()) {
        let message = "The write lock was left behind; the next write removes it.";
        check(
            ID,
            DoctorStatus::Warn,
            message,
            vec![lock::LOCK_PATH.to_owned()],
        )
    } else {
        check(ID, DoctorStatus::Pass, "No stale write lock.", Vec::new())
    }
}

/// Removes temporary files of writes that never completed. They were never part of the company.
fn temporaries(company: &Company) -> DoctorCheck {
    const ID: &str = "temp.files";
    let mut found = Temporaries::default();
    let may_remove = company.is_writable();
    if let Ok(dir) = company.dir() {
        look_for_temporaries(dir, "", may_remove, &mut found);
    }
    let (removed, left) = (found.removed.len(), found.left.len());
    let details = found.removed.iter().map(|path| format!("{path}: removed"));
    let left_lines = found
        .left
        .iter()
        .map(|path| format!("{path}: cannot be removed"));
    let details: Vec<_> = left_lines.chain(details).take(SHOWN).collect();
    match (removed, left) {
        (0, 0) => {
            let message = "No temporary files were left behind.";
            check(ID, DoctorStatus::Pass, message, details)
        }
        (removed, 0) => {
            let message = format!("{removed} temporary file(s) of dead processes removed.");
            check(ID, DoctorStatus::Warn, message, details)
        }
        (_, left) => {
            let message = format!("{left} temporary file(s) of dead processes cannot be removed.");
            check(ID, DoctorStatus::Warn, message, details)
        }
    }
}

/// Temporary files of ended processes.
#[derive(Default)]
struct Temporaries {
    /// Relative paths of files that were removed.
    removed: Vec<String>,
    /// Relative paths of files that could not be removed.
    left: Vec<String>,
}

/// Reports changes that could not be finished and need a person; no check if there are none.
fn unfinished_changes(company: &Company) -> Option<DoctorCheck> {
    let found = intent::unfinishable(company);
    (!found.is_empty()).then(|| {
        check(
            "intents",
            DoctorStatus::Warn,
            format!(
                "{} change(s) could not be finished. Each file holds what was to be written: compare it with the \
                 folder, write what is missing, then delete it.",
                found.len()
            ),
            found,
        )
    })
}

/// Time of the last change in an indexed folder, in Unix milliseconds; 0 if the folder cannot be read.
pub fn newest_ms(company: &Company) -> i64 {
    let Ok(dir) = company.dir() else {
        return 0;
    };
    let mut newest = 0;
    let folders = [layout::PROJECTS, layout::REVIEWS, layout::HELP_REQUESTS];
    let mut open = folders.map(ToOwned::to_owned).to_vec();
    while let Some(folder) = open.pop() {
        for (name, _) in dir.entries(Path::new(&folder)).unwrap_or_default() {
            let below = format!("{folder}/{name}");
            let Ok(metadata) = dir.link_metadata(Path::new(&below)) else {
                continue;
            };
            newest = newest.max(metadata.mtime() * 1000 + metadata.mtime_nsec() / 1_000_000);
            if metadata.is_dir() {
                open.push(below);
            }
        }
    }
    newest
}

fn look_for_temporaries(folder: &Dir, relative: &str, may_remove: bool, found: &mut Temporaries) {
    // The content of worktrees belongs to the workers.
    const LEFT_ALONE: &str = ".local/worktrees";
    if relative == LEFT_ALONE {
        return;
    }
    for (name, _) in folder.entries(Path::new("")).unwrap_or_default() {
        let place = Path::new(&name);
        // The metadata of the entry itself; a link is not followed.
        let Ok(metadata) = folder.link_metadata(place) else {
            continue;
        };
        let below = match relative {
            "" => name.clone(),
            relative => format!("{relative}/{name}"),
        };
        let owner = files::temporary_owner(&name);
        if let Some(pid) = owner {
            let is_ours = u32::try_from(pid) == Ok(std::process::id());
            if is_ours || !process_is_gone(pid, metadata.mtime()) {
                continue;
            }
            let is_removed = may_remove
                && if metadata.is_dir() {
                    folder.remove_tree(place).is_ok()
                } else {
                    folder.remove(place).is_ok()
                };
            if is_removed {
                found.removed.push(below);
            } else {
                found.left.push(below);
            }
        } else if metadata.is_dir()
            && let Ok(inner) = folder.folder(place)
        {
            look_for_temporaries(&inner, &below, may_remove, found);
        }
    }
}

/// Checks that the id inside each document matches its file or folder name, by which it is found.
fn ids(company: &Company) -> DoctorCheck {
    const ID: &str = "documents.ids";
    let mut details = Vec::new();
    let mut compare = |relative: String, name: &str, id: Option<String>| {
        if let Some(id) = id.filter(|id| id != name) {
            details.push(format!("{relative}: its id is {id}"));
        }
    };
    let names = |folder: &str| company.names(folder).unwrap_or_default();
    for name in names(layout::TEAMS) {
        let relative = format!("{}/{name}/team.yaml", layout::TEAMS);
        let id = company.read::<Team>(&relative).ok();
        compare(relative, &name, id.map(|team| team.id.to_string()));
    }
    for name in names(layout::AGENTS) {
        let relative = format!("{}/{name}/agent.yaml", layout::AGENTS);
        let id = company.read::<Agent>(&relative).ok();
        compare(relative, &name, id.map(|agent| agent.id.to_string()));
    }
    for project in names(layout::PROJECTS) {
        let folder = format!("{}/{project}", layout::PROJECTS);
        let relative = format!("{folder}/project.yaml");
        let id = company.read::<Project>(&relative).ok();
        compare(relative, &project, id.map(|project| project.id.to_string()));
        for name in names(&format!("{folder}/runs")) {
            let relative = format!("{folder}/runs/{name}/run.yaml");
            let id = company.read::<Run>(&relative).ok();
            compare(relative, &name, id.map(|run| run.id.to_string()));
        }
        for name in names(&format!("{folder}/artifacts")) {
            let Some(stem) = name.strip_suffix(".md") else {
                continue;
            };
            let relative = format!("{folder}/artifacts/{name}");
            let id = company.read_markdown::<DocumentHead>(&relative).ok();
            compare(
                relative,
                stem,
                id.map(|document| document.head.id.to_string()),
            );
        }
    }
    listed(
        ID,
        "Every document id matches its file name.",
        "document(s) have an id that differs from their file name",
        details,
    )
}

/// Finds references to teams, context packs and runs that do not exist.
fn references(company: &Company) -> DoctorCheck {
    const ID: &str = "documents.references";
    let mut details = Vec::new();
    let names = |folder: &str| company.names(folder).unwrap_or_default();
    for name in names(layout::AGENTS) {
        let relative = format!("{}/{name}/agent.yaml", layout::AGENTS);
        let agent = company.read::<Agent>(&relative).ok();
        let team = agent.and_then(|agent| agent.team_id.clone());
        if let Some(team) = team.filter(|team| !team.is_empty()) {
            let place = format!("{}/{team}", layout::TEAMS);
            if !layout::stays_below(&place) || !company.path(&place).is_dir() {
                details.push(format!("{relative}: team {team} does not exist"));
            }
        }
    }
    for project in names(layout::PROJECTS) {
        let folder = format!("{}/{project}", layout::PROJECTS);
        for name in names(&format!("{folder}/runs")) {
            let relative = format!("{folder}/runs/{name}/run.yaml");
            if let Ok(run) = company.read::<Run>(&relative) {
                let pack = format!("{folder}/context_packs/{}", run.context_pack_id);
                if !layout::stays_below(&pack) || !company.path(&pack).is_dir() {
                    let pack = &run.context_pack_id;
                    details.push(format!("{relative}: context pack {pack} does not exist"));
                }
            }
        }
        for name in names(&format!("{folder}/context_packs")) {
            let relative = format!("{folder}/context_packs/{name}/manifest.yaml");
            if let Ok(pack) = company.read::<ContextPack>(&relative) {
                let run = format!("{folder}/runs/{}", pack.run_id);
                if !layout::stays_below(&run) || !company.path(&run).is_dir() {
                    details.push(format!("{relative}: run {} does not exist", pack.run_id));
                }
            }
        }
    }
    listed(
        ID,
        "Every referenced team, context pack and run exists.",
        "reference(s) point to something that does not exist",
        details,
    )
}

fn listed(id: &str, fine: &str, wrong: &str, mut details: Vec<String>) -> DoctorCheck {
    match details.len() {
        0 => check(id, DoctorStatus::Pass, fine, details),
        count => {
            details.truncate(SHOWN);
            check(id, DoctorStatus::Warn, format!("{count} {wrong}."), details)
        }
    }
}

/// The message of an error without absolute paths of this machine.
fn shown(relative: &str, error: &Error) -> String {
    match error {
        Error::Io { .. } => format!("`{relative}` cannot be read"),
        Error::NotACompanyFolder(_)
        | Error::Untrusted(_)
        | Error::NeedsExec
        | Error::NeedsWrite
        | Error::Denied { .. }
        | Error::ActorMismatch { .. }
        | Error::Secret { .. }
        | Error::AlreadyDecided { .. }
        | Error::BasisChanged { .. }
        | Error::Missing(_)
        | Error::NotFound { .. }
        | Error::FileInvalid { .. }
        | Error::Params(_)
        | Error::Tasks(_)
        | Error::Refused(_)
        | Error::FolderNotEmpty { .. }
        | Error::FolderInvalid { .. }
        | Error::LockTimeout(_)
        | Error::FileLocked(_)
        | Error::DiskFull => error.to_string(),
    }
}
