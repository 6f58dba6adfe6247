//! Probes a worker program for its version and options. Results are cached until the program's file changes.

use std::{
    collections::BTreeMap,
    os::unix::fs::MetadataExt as _,
    path::PathBuf,
    process::Stdio,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use data_encoding::HEXLOWER;
use drivers::Driver;
use sha2::{Digest as _, Sha256};
use tokio::process::Command;

/// Timeout of one probe command; some programs take five seconds to print their version.
const PROBE_TIMEOUT: Duration = Duration::from_secs(20);

/// The result of probing a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probe {
    /// First line of `--version`; absent if the command failed.
    pub(crate) version: Option<String>,
    /// SHA-256 of the output of `--help`, in hexadecimal; absent if the command failed.
    pub(crate) help_hash: Option<String>,
    /// Whether the program accepts a JSON schema for its answer.
    pub(crate) takes_schema: bool,
}

/// Cache of probe results, keyed by path, inode, size and modification time of the program's file.
#[derive(Debug, Default)]
pub(crate) struct Probes(Mutex<BTreeMap<(PathBuf, u64, u64, i64), Probe>>);

impl Probes {
    pub(crate) async fn of(
        &self,
        program: &str,
        driver: &Driver,
        environment: &BTreeMap<String, String>,
    ) -> Probe {
        let path = sessions::program::executable(program).unwrap_or_else(|| PathBuf::from(program));
        let key = std::fs::metadata(&path).ok().map(|file| {
            let changed = file
                .mtime()
                .wrapping_mul(1_000_000_000)
                .wrapping_add(file.mtime_nsec());
            (path.clone(), file.ino(), file.len(), changed)
        });
        if let Some(key) = &key {
            let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(found) = known.get(key) {
                return found.clone();
            }
        }
        let ask =
            |arguments: &'static [&'static str]| command_output(program, arguments, environment);
        let (version, help, more) = tokio::join!(ask(&["--version"]), ask(&["--help"]), async {
            match driver {
                Driver::Codex => ask(&["exec", "--help"]).await,
                Driver::Command
                | Driver::CodexAppServer
                | Driver::Claude
                | Driver::Gemini
                | Driver::Declared(..) => None,
            }
        });
        let names =
            |text: &Option<String>, flag| text.as_ref().is_some_and(|text| text.contains(flag));
        let found = Probe {
            version: version
                .and_then(|text| text.lines().next().map(|line| line.trim().to_owned())),
            takes_schema: names(&more, "--output-schema") || names(&help, "--json-schema"),
            help_hash: help.map(|text| HEXLOWER.encode(&Sha256::digest(text.trim()))),
        };
        if let (Some(key), true) = (key, found.version.is_some()) {
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(key, found.clone());
        }
        found
    }
}

/// Runs the program and returns its standard output, or its standard error if that is empty; `None` on failure.
async fn command_output(
    program: &str,
    arguments: &[&str],
    environment: &BTreeMap<String, String>,
) -> Option<String> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = tokio::time::timeout(PROBE_TIMEOUT, command.output())
        .await
        .ok()?
        .ok()?;
    let text = if output.stdout.is_empty() {
        output.stderr
    } else {
        output.stdout
    };
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
