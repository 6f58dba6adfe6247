//! `ac doctor`: checks the home and its company folders and suggests repairs.

use std::{
    collections::BTreeMap,
    fs, io,
    net::TcpListener,
    path::{Path, PathBuf},
};

use blobs::{
    key::{BlobKey, ContentHash, WorkspaceSegment},
    store::{BlobStore as _, LocalBlobs, Verified},
};
use clap::Args;
use crud::{CrudStore, OpenError};
use gateway::Home;
use protocol::{
    company::{
        adapter::AdapterStatus,
        workspace::{
            CompanyFolderParams, CompanyWorkspaceDoctor, CompanyWorkspaceDoctorParams, DoctorCheck,
            DoctorStatus,
        },
    },
    workspace::{WorkspaceList, WorkspaceListParams},
};
use serde::Serialize;
use serde_json::json;

use super::{HomeOption, serve};
use crate::{
    failure::Failure,
    folder,
    local::{Local, is_open_to_others},
    terminal,
};

mod programs;
mod space;

use programs::CompanyAdapters;

/// Check the home and its company folders and suggest repairs.
///
/// Checks the home, its free space, its database, the contents of artifacts, the known company folders, the worker
/// programs, git and the port. Exits with code 1 if a check failed; warnings do not count.
#[derive(Args, Debug)]
pub(crate) struct DoctorCommand {
    #[command(flatten)]
    home: HomeOption,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A check and its result.
#[derive(Debug, Serialize)]
struct Finding {
    check: String,
    status: DoctorStatus,
    found: String,
    /// The suggested repair.
    #[serde(rename = "do", skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Finding {
    fn pass(check: &str, found: impl Into<String>) -> Self {
        Self::new(check, DoctorStatus::Pass, found, None)
    }

    fn warn(check: &str, found: impl Into<String>, remedy: &str) -> Self {
        Self::new(check, DoctorStatus::Warn, found, Some(remedy))
    }

    fn fail(check: &str, found: impl Into<String>, remedy: &str) -> Self {
        Self::new(check, DoctorStatus::Fail, found, Some(remedy))
    }

    fn new(
        check: &str,
        status: DoctorStatus,
        found: impl Into<String>,
        remedy: Option<&str>,
    ) -> Self {
        Self {
            check: check.to_owned(),
            status,
            found: found.into(),
            remedy: remedy.map(str::to_owned),
        }
    }
}

/// Reports where the keys of model providers are stored.
fn keys(home: &Home) -> Finding {
    let path = home.path().join("provider_keys.json");
    let stored = match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice::<BTreeMap<String, String>>(&bytes).ok(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(BTreeMap::new()),
        Err(_) => None,
    };
    match stored {
        None => Finding::fail(
            "keys",
            format!("`{}` cannot be read as a list of keys", path.display()),
            "remove the file and store the keys again with `ac provider/set_api_key`",
        ),
        Some(keys) if keys.is_empty() => Finding::pass("keys", "no provider keys are stored"),
        Some(keys) => {
            let names: Vec<_> = keys.keys().map(String::as_str).collect();
            Finding::pass(
                "keys",
                format!(
                    "the keys of {} are in `{}`, not encrypted, readable by your account only",
                    names.join(", "),
                    path.display()
                ),
            )
        }
    }
}

impl DoctorCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let path = self.home.path()?;
        let mut launches = Vec::new();
        let mut findings = if path.is_dir() {
            self.look(&path, &mut launches).await?
        } else {
            vec![Finding::warn(
                "home",
                format!("`{}` does not exist", path.display()),
                "create one with `ac serve` or `ac demo`, or name another with --home",
            )]
        };
        findings.extend(programs::look(&mut launches).await);
        let broken = findings
            .iter()
            .filter(|finding| finding.status == DoctorStatus::Fail)
            .count();
        if self.json {
            let answer = json!({"ok": broken == 0, "findings": findings});
            terminal::answer(&answer, true)?;
        } else {
            terminal::print(&shown(&findings))?;
        }
        match broken {
            0 => Ok(()),
            count => Err(Failure::Unwell { count }),
        }
    }

    /// Checks a home. Adds the adapter status of each of its company folders to `launches`.
    async fn look(
        &self,
        path: &Path,
        launches: &mut Vec<CompanyAdapters>,
    ) -> Result<Vec<Finding>, Failure> {
        let home = Home::open(path)?;
        let mut findings = vec![permissions(&home)];
        findings.push(port(&home));
        findings.push(keys(&home));
        let folder = home.path().to_owned();
        findings.push(super::blocking(move || space::look("space", &folder)).await?);
        if !home.path().join("gateway.db").is_file() {
            // The lock file is created together with the database, so a lock file alone means that the database was
            // deleted.
            findings.push(if home.path().join("write.lock").exists() {
                Finding::fail("database", "it is missing", RESTORE)
            } else {
                Finding::warn("database", "there is none yet", "`ac serve` creates one")
            });
            return Ok(findings);
        }
        let folder = home.path().to_owned();
        let database = super::blocking(move || crud::check_database(&folder)).await?;
        findings.push(match database {
            Ok(wrong) if wrong.is_empty() => {
                let found = format!("SQLite {} found no errors", crud::sqlite_version());
                Finding::pass("database", found)
            }
            Ok(wrong) => Finding::fail("database", wrong.join("; "), RESTORE),
            Err(error) => {
                findings.push(Finding::fail("database", error.to_string(), RESTORE));
                return Ok(findings);
            }
        });
        let store = CrudStore::open(home.path(), &super::gateway_options().database);
        let store = match store {
            Ok(store) => store,
            Err(error) => {
                let remedy = match error {
                    OpenError::Migration(_) => {
                        "use the version of `ac` that wrote it, or a newer one"
                    }
                    OpenError::OldSqlite(_) => {
                        "build `ac` with the bundled SQLite, or use a release"
                    }
                    OpenError::Lock(_) | OpenError::Database(_) | OpenError::Thread(_) => RESTORE,
                };
                let found = gateway::Error::Database { source: error }.to_string();
                findings.push(Finding::fail("migrations", found, remedy));
                return Ok(findings);
            }
        };
        findings.push(Finding::pass("migrations", "the tables match this version"));
        findings.push(bytes(&home, &store).await?);
        super::blocking(move || store.close()).await?;
        let (of_companies, adapters) = companies(&self.home).await;
        findings.extend(of_companies);
        launches.extend(adapters);
        Ok(findings)
    }
}

const RESTORE: &str = "stop the gateway, keep a copy of the home, and `ac restore` the last backup";

/// Checks that only the owner has access to the home and the token.
fn permissions(home: &Home) -> Finding {
    let shown = home.path().display();
    let token = home.token_file();
    if is_open_to_others(&token) {
        let remedy = format!(
            "the next command makes it private again; if another account may have read it, remove {} and restart the gateway",
            token.display()
        );
        return Finding::fail(
            "home",
            format!("other accounts could read the token in `{shown}`"),
            &remedy,
        );
    }
    if is_open_to_others(home.path()) {
        let remedy = format!("chmod 700 {shown}");
        return Finding::warn(
            "home",
            format!("other accounts have access to `{shown}`"),
            &remedy,
        );
    }
    Finding::pass("home", format!("{shown}, accessible to its owner only"))
}

fn port(home: &Home) -> Finding {
    if let Some(served_at) = home.served_at() {
        return Finding::pass("gateway", format!("it listens at {served_at}"));
    }
    match TcpListener::bind(serve::LISTEN) {
        Ok(_) => Finding::pass(
            "gateway",
            format!("it is not running; {} is free", serve::LISTEN),
        ),
        Err(error) => Finding::warn(
            "gateway",
            format!(
                "it is not running, and {} cannot be used: {error}",
                serve::LISTEN
            ),
            "`ac serve --listen 127.0.0.1:0` selects a free port",
        ),
    }
}

/// Verifies that the content of every artifact version in the database exists and matches its hash.
async fn bytes(home: &Home, store: &CrudStore) -> Result<Finding, Failure> {
    let mut keys = Vec::new();
    for workspace in store.workspaces().list().await? {
        for hash in store.artifacts().blob_hashes(&workspace.id).await? {
            keys.push((workspace.id.clone(), hash));
        }
    }
    let root = home.path().join("artifacts");
    let count = keys.len();
    let bar = terminal::spinner("{spinner} {pos} files checked");
    let checked = super::blocking(move || {
        let store = LocalBlobs::open(&root)?;
        let mut wrong = Vec::new();
        for (workspace, hash) in keys {
            let key = BlobKey::new(
                WorkspaceSegment::new(&workspace)?,
                ContentHash::parse(&hash)?,
            );
            match store.verify(&key)? {
                Verified::Intact => {}
                Verified::Damaged => wrong.push(format!("{hash} is damaged")),
                Verified::Missing => wrong.push(format!("{hash} is missing")),
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok::<_, blobs::Error>(wrong)
    })
    .await?;
    let remedy = "upload the file again, or restore a backup that contains it with `ac restore`";
    Ok(match checked {
        Ok(wrong) if wrong.is_empty() => {
            let files = terminal::count(count, "file");
            Finding::pass("artifacts", format!("{files}, all hashes match"))
        }
        Ok(wrong) => Finding::fail("artifacts", wrong.join("; "), remedy),
        Err(error) => Finding::fail("artifacts", error.to_string(), remedy),
    })
}

/// Returns the results of the doctor of each company folder, and the adapter status there.
async fn companies(home: &HomeOption) -> (Vec<Finding>, Vec<CompanyAdapters>) {
    let results = Local::with(home, |local| async move {
        let listed = local.client.call::<WorkspaceList>(WorkspaceListParams {});
        let mut findings = Vec::new();
        let mut adapters = Vec::new();
        for dir in listed
            .await?
            .workspaces
            .into_iter()
            .filter(|one| one.is_active)
            .filter_map(|one| one.dir)
        {
            let check = format!("company {dir}");
            if !Path::new(&dir).is_dir() {
                let remedy = format!(
                    "put the folder back, open it at its new place with `ac workspace:open DIR`, or forget it with `ac company forget {}`",
                    folder::quoted(&dir)
                );
                findings.push(Finding::warn(&check, "the folder does not exist", &remedy));
                continue;
            }
            let folder = PathBuf::from(&dir);
            let free = super::blocking(move || space::look("space", &folder)).await?;
            if free.status != DoctorStatus::Pass {
                // The home may be on another disk, so name the folder.
                findings.push(Finding {
                    check: format!("{check} space"),
                    ..free
                });
            }
            let workspace_dir = folder::wire(Path::new(&dir))?;
            let status = CompanyFolderParams {
                workspace_dir: workspace_dir.clone(),
            };
            if let Ok(rows) = local.client.call::<AdapterStatus>(status).await {
                adapters.push(CompanyAdapters {
                    dir: Some(dir.clone()),
                    rows: rows.0,
                });
            }
            let params = CompanyWorkspaceDoctorParams {
                workspace_dir,
                rebuild_index: None,
                sync_index: None,
            };
            let response = local.client.call::<CompanyWorkspaceDoctor>(params).await;
            match response {
                Ok(response) => findings.extend(of_company(&dir, &check, response.checks)),
                Err(error) => findings.push(Finding::fail(
                    &check,
                    error.to_string(),
                    &format!(
                        "`ac workspace:validate {}` lists the invalid documents",
                        folder::quoted(&dir)
                    ),
                )),
            }
        }
        Ok((findings, adapters))
    });
    // Problems of single companies are reported above; this one concerns opening the home itself.
    let remedy = "fix the reported problem; until then no command can use this home";
    results.await.unwrap_or_else(|error| {
        let finding = Finding::fail("opening", error.to_string(), remedy);
        (vec![finding], Vec::new())
    })
}

fn of_company(dir: &str, check: &str, checks: Vec<DoctorCheck>) -> Vec<Finding> {
    let is_ours = |one: &DoctorCheck| !one.id.starts_with("providers.");
    let checks: Vec<_> = checks.into_iter().filter(is_ours).collect();
    let wrong = checks.iter().filter(|one| one.status != DoctorStatus::Pass);
    let findings: Vec<_> = wrong
        .map(|one| {
            let details = one.details.iter().flatten().take(5);
            let details: String = details.map(|line| format!("; {line}")).collect();
            Finding::new(
                &format!("{check} {}", one.id),
                match one.id.as_str() {
                    // A log that fails verification is no longer evidence, so this is a failure rather than a warning.
                    "events.chain" => DoctorStatus::Fail,
                    _ => one.status,
                },
                format!("{}{details}", one.message),
                Some(&remedy(&one.id, &folder::quoted(dir))),
            )
        })
        .collect();
    if findings.is_empty() {
        vec![Finding::pass(check, terminal::count(checks.len(), "check"))]
    } else {
        findings
    }
}

/// Returns the suggested repair for a failed check of a company folder. Its commands work from any folder.
fn remedy(check: &str, dir: &str) -> String {
    match check {
        "workspace.schema" => {
            format!("`ac workspace:validate {dir}` lists the invalid documents: correct them")
        }
        "workspace.trust" => format!("`ac trust {dir}`, if you know where the folder comes from"),
        "machine.config" => format!("correct `.local/machine.yaml` in {dir}"),
        "repos.mappings" => format!(
            "`ac workspace:repo_root:set {dir}` sets the path of a repository, if workers need one"
        ),
        "index.rebuild" | "index.sync" => format!("`ac index:rebuild {dir}` rebuilds it"),
        "worktrees.references" => {
            format!("`ac worktree:cleanup {dir}` removes the worktrees that no run uses")
        }
        "events.chain" => format!(
            "a log was changed after it was written: `ac run:replay {dir}` shows where; a backup may contain the original"
        ),
        "sessions.orphans" => {
            format!("`ac session:list {dir}` shows them, `ac session:stop {dir}` ends one")
        }
        "locks.stale" | "temp.files" => {
            "the next command that writes removes files left by a crash".to_owned()
        }
        "documents.ids" | "documents.references" => "correct the listed documents".to_owned(),
        _ => format!("`ac workspace:doctor {dir}` shows details"),
    }
}

fn shown(findings: &[Finding]) -> String {
    let word = |status| match status {
        DoctorStatus::Pass => "ok",
        DoctorStatus::Warn => "warning",
        DoctorStatus::Fail => "FAILED",
    };
    let lines = findings.iter().map(|finding| {
        let found = terminal::harmless(&finding.found);
        let line = format!("{:8} {}: {found}", word(finding.status), finding.check);
        match &finding.remedy {
            None => line,
            Some(remedy) => format!("{line}\n         → {remedy}"),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}
