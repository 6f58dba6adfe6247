//! Reports which worker programs can be started on this machine, and whether a launch would pass its check.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use company::document::{Channel, Machine};
use drivers::{Driver, environment::EnvironmentRequest};
use protocol::{
    MayExec,
    company::adapter::{
        AdapterCapabilities, AdapterChannel, AdapterLaunch, AdapterMode, AdapterReasonCode,
        AdapterRow, WorktreeIsolation,
    },
};
use tokio::process::Command;

use crate::{
    Options, gateway_environment,
    guard::{self, ProgramCheck},
    program::{Program, executable},
};

/// How long the result of a probe is cached while the file of the program does not change.
const CACHE_DURATION: Duration = Duration::from_secs(60);
/// How long a program may take to answer a probe.
const PROBE_TIMEOUT: Duration = Duration::from_secs(4);

/// All adapters, in the order in which they are listed.
const ADAPTERS: [(&str, Program, AdapterMode); 4] = [
    ("codex_app_server", Program::Codex, AdapterMode::Protocol),
    ("codex_cli", Program::Codex, AdapterMode::Cli),
    ("claude_cli", Program::Claude, AdapterMode::Cli),
    ("gemini_cli", Program::Gemini, AdapterMode::Cli),
];

/// Modification time of a file in seconds and nanoseconds, and its inode. It changes when the file is replaced by
/// another program under the same name.
type FileState = (i64, i64, u64);

/// The worker programs of this machine, with a cache of their probes.
#[derive(Debug, Default)]
pub struct Adapters {
    /// Time and result of the probe for an app server, by the path and state of the program's file.
    app_servers: Mutex<BTreeMap<(PathBuf, FileState), (Instant, bool)>>,
}

impl Adapters {
    /// Lists all adapters. If the machine file cannot be read, none is available, and the error is the reason.
    ///
    /// A program is probed only if the caller has the permission to execute. Other callers get the cached result.
    pub async fn status(
        &self,
        machine: Result<&Machine, &str>,
        may: Option<MayExec>,
    ) -> Vec<AdapterRow> {
        let mut rows = Vec::with_capacity(ADAPTERS.len());
        for (name, driver, mode) in ADAPTERS {
            let found = match machine {
                Ok(machine) => self.find(machine, name, driver, mode, may).await,
                Err(reason) => Err((AdapterReasonCode::MachineFile, reason.to_owned())),
            };
            let (available, reason_code, reason) = match found {
                Ok(_) => (true, None, None),
                Err((code, reason)) => (false, Some(code), Some(reason)),
            };
            rows.push(AdapterRow {
                name: name.to_owned(),
                provider: driver.as_str().to_owned(),
                mode,
                available,
                reason,
                reason_code,
                capabilities: capabilities(driver),
                launch: None,
            });
        }
        rows
    }

    /// Like [`Adapters::status`], with the result of the check before a launch for each available program.
    pub async fn status_with_launch(
        &self,
        machine: Result<&Machine, &str>,
        options: &Options,
        may: Option<MayExec>,
    ) -> Vec<AdapterRow> {
        let mut rows = self.status(machine, may).await;
        let (Ok(machine), Some(may)) = (machine, may) else {
            return rows;
        };
        let machine = Arc::new(machine.clone());
        let checks: Vec<_> = rows
            .iter()
            .zip(ADAPTERS)
            .map(|(row, (name, program, mode))| {
                if !row.available {
                    return None;
                }
                let provider = match mode {
                    AdapterMode::Protocol => name,
                    AdapterMode::Cli => program.as_str(),
                };
                let check = launch_check(
                    Arc::clone(&machine),
                    provider,
                    bin(&machine, name, program).to_owned(),
                    options.environment.clone(),
                    may,
                );
                Some(tokio::spawn(check))
            })
            .collect();
        for (row, check) in rows.iter_mut().zip(checks) {
            if let Some(check) = check {
                row.launch = check.await.ok();
            }
        }
        rows
    }

    async fn find(
        &self,
        machine: &Machine,
        name: &str,
        driver: Program,
        mode: AdapterMode,
        may: Option<MayExec>,
    ) -> Result<PathBuf, (AdapterReasonCode, String)> {
        let official = driver.as_str();
        let bin = bin(machine, name, driver);
        let base = Path::new(bin)
            .file_name()
            .and_then(OsStr::to_str)
            .unwrap_or(bin);
        let base = base.to_lowercase();
        if base != official && !base.starts_with(&format!("{official}-")) {
            let provider = match mode {
                AdapterMode::Protocol => name,
                AdapterMode::Cli => official,
            };
            let reason = format!(
                "Unapproved CLI binary for provider \"{provider}\": {bin}. Allowed base names: {official}"
            );
            return Err((AdapterReasonCode::UnapprovedBinary, reason));
        }
        let found = {
            let bin = bin.to_owned();
            tokio::task::spawn_blocking(move || executable(&bin)).await
        };
        let Ok(Some(path)) = found else {
            let reason = format!("{official} binary not found: {bin}");
            return Err((AdapterReasonCode::NotInstalled, reason));
        };
        if mode == AdapterMode::Cli {
            return Ok(path);
        }
        match self.has_app_server(&path, may).await {
            Some(true) => Ok(path),
            Some(false) => Err((
                AdapterReasonCode::NoAppServer,
                format!("{official} app-server command unavailable for binary: {bin}"),
            )),
            None => Err((
                AdapterReasonCode::NotAsked,
                format!(
                    "{bin} was not probed for an app server because the caller lacks the scope `exec`"
                ),
            )),
        }
    }

    /// Whether a program has an app server. `None` if the caller may not probe it and no result is cached.
    async fn has_app_server(&self, path: &Path, may: Option<MayExec>) -> Option<bool> {
        let state = path.metadata().map_or((0, 0, 0), |metadata| {
            (metadata.mtime(), metadata.mtime_nsec(), metadata.ino())
        });
        let key = (path.to_owned(), state);
        {
            let known = self
                .app_servers
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let answer = known.get(&key);
            if let Some((_, answer)) =
                answer.filter(|(asked_at, _)| asked_at.elapsed() < CACHE_DURATION)
            {
                return Some(*answer);
            }
        }
        may?;
        let environment = gateway_environment::environment(
            &EnvironmentRequest::default(),
            &Driver::Codex,
            None,
            &BTreeMap::new(),
        );
        let mut command = Command::new(path);
        command
            .args(["app-server", "--help"])
            .env_clear()
            .envs(environment)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let answer = match command.spawn() {
            Ok(mut child) => match tokio::time::timeout(PROBE_TIMEOUT, child.wait()).await {
                Ok(ended) => ended.is_ok_and(|status| status.success()),
                Err(_) => false,
            },
            Err(_) => false,
        };
        let mut known = self
            .app_servers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, (asked_at, _)| asked_at.elapsed() < CACHE_DURATION);
        known.insert(key, (Instant::now(), answer));
        Some(answer)
    }
}

/// The features that sessions of the program support in this gateway. They depend on how the gateway starts the
/// program and reads its output, not on everything the program can do.
fn capabilities(program: Program) -> AdapterCapabilities {
    AdapterCapabilities {
        supports_streaming_events: true,
        // Codex and Claude store their sessions; see `CommandRequest::keeps_session`.
        supports_resumable_session: match program {
            Program::Codex | Program::Claude => true,
            Program::Gemini => false,
        },
        supports_structured_output: true,
        supports_token_usage: true,
        supports_patch_export: program == Program::Codex,
        supports_interactive_approval_callbacks: false,
        // Every session with a repository gets a worktree, independent of its program.
        supports_worktree_isolation: WorktreeIsolation::Recommended,
    }
}

/// The program of an adapter: as the machine file names it, else its official name.
fn bin<'a>(machine: &'a Machine, name: &str, program: Program) -> &'a str {
    let official = program.as_str();
    let bins = &machine.provider_bins;
    let bin = bins.get(name).or_else(|| bins.get(official));
    bin.map_or(official, String::as_str)
}

/// Checks a program in the environment that a launch without environment settings of its own would give it.
async fn launch_check(
    machine: Arc<Machine>,
    provider: &'static str,
    bin: String,
    allowed: Vec<String>,
    _may: MayExec,
) -> AdapterLaunch {
    let policy = guard::policy(Some(&machine), provider).map(|(_, policy)| policy);
    let requested = EnvironmentRequest {
        allowed,
        ..EnvironmentRequest::default()
    };
    let driver = Driver::of_provider(provider, &BTreeMap::new());
    let environment =
        gateway_environment::environment(&requested, &driver, policy.as_ref(), &BTreeMap::new());
    let channel = match policy.map(|policy| policy.channel) {
        Some(Channel::SubscriptionCli) => AdapterChannel::SubscriptionCli,
        Some(Channel::Api) | None => AdapterChannel::Api,
    };
    let check = guard::check_program(Some(&machine), provider, &bin, &environment).await;
    let (reason_code, reason) = match check {
        ProgramCheck::Passed { .. } => (None, None),
        ProgramCheck::Failed {
            reason, message, ..
        } => (Some(reason.to_owned()), Some(message)),
    };
    AdapterLaunch {
        ready: reason_code.is_none(),
        channel,
        reason_code,
        reason,
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;

    /// Tests have the permission to execute.
    #[expect(clippy::disallowed_methods, reason = "tests need no authorization")]
    const MAY: MayExec = MayExec::granted();
    use drivers::CommandRequest;

    fn program(folder: &Path, name: &str, script: &str) -> String {
        let path = folder.join(name);
        #[expect(clippy::disallowed_methods, reason = "a program for this test alone")]
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    #[tokio::test]
    async fn a_program_is_available_under_an_approved_name_that_can_be_run() {
        let folder = tempfile::tempdir().unwrap();
        let mut machine = Machine::initial();
        let bins = [
            ("codex", program(folder.path(), "codex-nightly", "exit 0")),
            ("claude", program(folder.path(), "my-claude", "exit 0")),
            ("gemini", folder.path().join("gemini").display().to_string()),
        ];
        machine
            .provider_bins
            .extend(bins.map(|(name, bin)| (name.to_owned(), bin)));
        let rows = Adapters::default().status(Ok(&machine), Some(MAY)).await;
        let shown: Vec<_> = rows
            .iter()
            .map(|row| (row.name.as_str(), row.available))
            .collect();
        assert_eq!(
            shown,
            [
                ("codex_app_server", true),
                ("codex_cli", true),
                ("claude_cli", false),
                ("gemini_cli", false)
            ]
        );
        assert!(
            rows[2]
                .reason
                .as_ref()
                .unwrap()
                .starts_with("Unapproved CLI binary for provider \"claude\": ")
        );
        assert!(
            rows[3]
                .reason
                .as_ref()
                .unwrap()
                .starts_with("gemini binary not found: ")
        );
        let codes: Vec<_> = rows.iter().map(|row| row.reason_code).collect();
        assert_eq!(
            codes,
            [
                None,
                None,
                Some(AdapterReasonCode::UnapprovedBinary),
                Some(AdapterReasonCode::NotInstalled)
            ]
        );
    }

    #[tokio::test]
    async fn a_program_without_an_app_server_still_has_a_command_line() {
        let folder = tempfile::tempdir().unwrap();
        let mut machine = Machine::initial();
        let bin = program(folder.path(), "codex", "exit 2");
        machine.provider_bins.insert("codex".to_owned(), bin);
        let rows = Adapters::default().status(Ok(&machine), Some(MAY)).await;
        assert!(!rows[0].available && rows[1].available);
    }

    #[tokio::test]
    async fn abilities_are_those_of_our_sessions() {
        let machine = Machine::initial();
        let rows = Adapters::default().status(Ok(&machine), Some(MAY)).await;
        // The gateway reads token counts from the output of all three, and gives all three a worktree.
        assert!(rows.iter().all(|row| row.capabilities.supports_token_usage));
        assert!(rows.iter().all(|row| {
            row.capabilities.supports_worktree_isolation == WorktreeIsolation::Recommended
        }));
        let resumable = rows
            .iter()
            .filter(|row| row.capabilities.supports_resumable_session);
        let resumable: Vec<_> = resumable.map(|row| row.name.as_str()).collect();
        assert_eq!(resumable, ["codex_app_server", "codex_cli", "claude_cli"]);
        let line = |keeps_session| {
            let request = CommandRequest {
                keeps_session,
                ..CommandRequest::default()
            };
            Driver::Claude.command_line(&request).unwrap().argv
        };
        let forgets = "--no-session-persistence".to_owned();
        assert!(!line(true).contains(&forgets) && line(false).contains(&forgets));
    }

    #[tokio::test]
    async fn a_probe_gets_no_variables_of_the_gateway_but_the_usual_ones() {
        let folder = tempfile::tempdir().unwrap();
        let seen = folder.path().join("seen");
        let script = format!("env > {}", seen.display());
        let bin = program(folder.path(), "codex", &script);
        let mut machine = Machine::initial();
        machine.provider_bins.insert("codex".to_owned(), bin);
        let rows = Adapters::default().status(Ok(&machine), Some(MAY)).await;
        assert!(rows[0].available, "{:?}", rows[0]);
        let seen = std::fs::read_to_string(seen).unwrap();
        // Cargo sets this variable for every test.
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        assert!(!seen.contains("CARGO_MANIFEST_DIR="), "{seen}");
        assert!(seen.contains("PATH="), "{seen}");
    }

    #[tokio::test]
    async fn the_check_before_a_launch_is_part_of_the_status() {
        let folder = tempfile::tempdir().unwrap();
        let mut machine = Machine::initial();
        let script = "[ \"$1\" = login ] && { echo Not logged in; exit 1; }; exit 0";
        let bin = program(folder.path(), "codex", script);
        machine.provider_bins.insert("codex".to_owned(), bin);
        let adapters = Adapters::default();
        let options = Options::default();
        let rows = adapters
            .status_with_launch(Ok(&machine), &options, Some(MAY))
            .await;
        let launch = rows[1].launch.as_ref().unwrap();
        assert!(rows[1].available && !launch.ready);
        assert_eq!(launch.reason_code.as_deref(), Some("auth_probe_failed"));
        let reason = launch.reason.as_deref().unwrap();
        assert!(
            reason.contains("`ac adapters use codex --api-key`"),
            "{reason}"
        );
        let codex = company::execution::machine::ProgramPolicy::of("codex").unwrap();
        machine.set_channel(codex, Channel::Api);
        let rows = adapters
            .status_with_launch(Ok(&machine), &options, Some(MAY))
            .await;
        let launch = rows[1].launch.as_ref().unwrap();
        assert!(launch.ready, "{launch:?}");
        assert_eq!(launch.channel, AdapterChannel::Api);
    }

    #[tokio::test]
    async fn a_damaged_machine_file_is_the_reason() {
        let rows = Adapters::default()
            .status(Err("`.local/machine.yaml` is damaged"), Some(MAY))
            .await;
        assert!(
            rows.iter()
                .all(|row| row.reason.as_deref() == Some("`.local/machine.yaml` is damaged"))
        );
    }
}
