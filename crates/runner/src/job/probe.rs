//! What a worker program says of itself. Asked once as long as its file does not change.

use std::{
    collections::BTreeMap,
    os::unix::fs::MetadataExt as _,
    path::PathBuf,
    process::Stdio,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use tokio::process::Command;

use crate::driver::Driver;

/// How long a program may take to answer: some take five seconds for their version.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a program said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probe {
    /// The first line of `--version`.
    pub(crate) version: Option<String>,
    /// The hash of `--help`.
    pub(crate) help_hash: Option<String>,
    /// Whether it can be told the form of the answer.
    pub(crate) takes_schema: bool,
}

/// What programs said. The file decides whether to ask again: its size, its place on disk, its time.
#[derive(Debug, Default)]
pub(crate) struct Probes(Mutex<BTreeMap<(PathBuf, u64, u64, i64), Probe>>);

impl Probes {
    pub(crate) async fn of(
        &self,
        program: &str,
        driver: &Driver,
        environment: &BTreeMap<String, String>,
    ) -> Probe {
        let path = crate::adapter::executable(program).unwrap_or_else(|| PathBuf::from(program));
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
        let ask = |arguments: &'static [&'static str]| said(program, arguments, environment);
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

async fn said(
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
    let output = tokio::time::timeout(PATIENCE, command.output())
        .await
        .ok()?
        .ok()?;
    let text = match output.stdout.is_empty() {
        true => output.stderr,
        false => output.stdout,
    };
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
