//! Which worker programs can be started on this machine.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsStr,
    fmt,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use company::document::Machine;
use protocol::company::adapter::{AdapterCapabilities, AdapterMode, AdapterRow, WorktreeIsolation};
use tokio::process::Command;

/// How long an answer of a program is believed while its file does not change.
const BELIEVED: Duration = Duration::from_secs(60);
/// How long a program may take to answer.
const PATIENCE: Duration = Duration::from_secs(4);

/// A worker program by its maker. How it is started and read is in [`crate::driver`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    /// OpenAI's.
    Codex,
    /// Anthropic's.
    Claude,
    /// Google's.
    Gemini,
}

/// A provider that no worker program runs.
#[derive(Debug)]
pub struct UnknownProvider(pub String);

impl fmt::Display for UnknownProvider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "unknown provider `{}`: expected codex, claude or gemini",
            self.0
        )
    }
}

impl Program {
    /// The program of a provider, whatever spelling it has in files.
    pub fn of_provider(provider: &str) -> Result<Self, UnknownProvider> {
        match provider {
            "codex" | "codex_app_server" | "codex-app-server" => Ok(Self::Codex),
            "claude" | "claude_code" | "claude-code" => Ok(Self::Claude),
            "gemini" | "gemini_cli" => Ok(Self::Gemini),
            other => Err(UnknownProvider(other.to_owned())),
        }
    }

    /// The name of its program.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
        }
    }

    fn capabilities(self) -> AdapterCapabilities {
        let is_codex = self == Self::Codex;
        AdapterCapabilities {
            supports_streaming_events: true,
            supports_resumable_session: is_codex,
            supports_structured_output: true,
            supports_token_usage: self != Self::Gemini,
            supports_patch_export: is_codex,
            supports_interactive_approval_callbacks: false,
            supports_worktree_isolation: match is_codex {
                true => WorktreeIsolation::Recommended,
                false => WorktreeIsolation::Unsupported,
            },
        }
    }
}

/// The ways to run a worker, in the order they are listed.
const ADAPTERS: [(&str, Program, AdapterMode); 4] = [
    ("codex_app_server", Program::Codex, AdapterMode::Protocol),
    ("codex_cli", Program::Codex, AdapterMode::Cli),
    ("claude_cli", Program::Claude, AdapterMode::Cli),
    ("gemini_cli", Program::Gemini, AdapterMode::Cli),
];

/// When a file was made, to the nanosecond, and where it is: another program under the same name has another one.
type FileState = (i64, i64, u64);

/// What is known of the worker programs.
#[derive(Debug, Default)]
pub struct Adapters {
    /// Whether a program has an app server, by its file and the state of it.
    app_servers: Mutex<BTreeMap<(PathBuf, FileState), (Instant, bool)>>,
}

impl Adapters {
    /// Every way to run a worker. A machine file that cannot be read makes none available and is the reason.
    pub async fn status(&self, machine: Result<&Machine, &str>) -> Vec<AdapterRow> {
        let mut rows = Vec::with_capacity(ADAPTERS.len());
        for (name, driver, mode) in ADAPTERS {
            let found = match machine {
                Ok(machine) => self.find(machine, name, driver, mode).await,
                Err(reason) => Err(reason.to_owned()),
            };
            rows.push(AdapterRow {
                name: name.to_owned(),
                provider: driver.as_str().to_owned(),
                mode,
                available: found.is_ok(),
                reason: found.err(),
                capabilities: driver.capabilities(),
            });
        }
        rows
    }

    async fn find(
        &self,
        machine: &Machine,
        name: &str,
        driver: Program,
        mode: AdapterMode,
    ) -> Result<PathBuf, String> {
        let official = driver.as_str();
        let bins = &machine.provider_bins;
        let bin = bins.get(name).or_else(|| bins.get(official));
        let bin = bin.map_or(official, String::as_str);
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
            return Err(format!(
                "Unapproved CLI binary for provider \"{provider}\": {bin}. Allowed base names: {official}"
            ));
        }
        let found = {
            let bin = bin.to_owned();
            tokio::task::spawn_blocking(move || executable(&bin)).await
        };
        let Ok(Some(path)) = found else {
            return Err(format!("{official} binary not found: {bin}"));
        };
        match mode {
            AdapterMode::Protocol if !self.has_app_server(&path).await => Err(format!(
                "{official} app-server command unavailable for binary: {bin}"
            )),
            AdapterMode::Protocol | AdapterMode::Cli => Ok(path),
        }
    }

    async fn has_app_server(&self, path: &Path) -> bool {
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
            if let Some((_, answer)) = answer.filter(|(asked_at, _)| asked_at.elapsed() < BELIEVED)
            {
                return *answer;
            }
        }
        let mut command = Command::new(path);
        command
            .args(["app-server", "--help"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let answer = match command.spawn() {
            Ok(mut child) => match tokio::time::timeout(PATIENCE, child.wait()).await {
                Ok(ended) => ended.is_ok_and(|status| status.success()),
                Err(_) => false,
            },
            Err(_) => false,
        };
        let mut known = self
            .app_servers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, (asked_at, _)| asked_at.elapsed() < BELIEVED);
        known.insert(key, (Instant::now(), answer));
        answer
    }
}

/// The file of a program: a path as it is, a name looked for in `PATH`.
pub(crate) fn executable(bin: &str) -> Option<PathBuf> {
    let may_run = |path: &Path| {
        path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
    };
    let is_path = ["/", "./", "../"]
        .iter()
        .any(|start| bin.starts_with(start));
    if is_path {
        let path = PathBuf::from(bin);
        return may_run(&path).then_some(path);
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .map(|folder| folder.join(bin))
        .find(|path| may_run(path))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;

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
        let rows = Adapters::default().status(Ok(&machine)).await;
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
    }

    #[tokio::test]
    async fn a_program_without_an_app_server_still_has_a_command_line() {
        let folder = tempfile::tempdir().unwrap();
        let mut machine = Machine::initial();
        let bin = program(folder.path(), "codex", "exit 2");
        machine.provider_bins.insert("codex".to_owned(), bin);
        let rows = Adapters::default().status(Ok(&machine)).await;
        assert!(!rows[0].available && rows[1].available);
    }

    #[tokio::test]
    async fn a_damaged_machine_file_is_the_reason() {
        let rows = Adapters::default()
            .status(Err("`.local/machine.yaml` is damaged"))
            .await;
        assert!(
            rows.iter()
                .all(|row| row.reason.as_deref() == Some("`.local/machine.yaml` is damaged"))
        );
    }
}
