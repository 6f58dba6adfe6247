//! `.local/sessions/<session>.yaml`: what is remembered of a session when the gateway is gone.

use std::{io::Write as _, sync::Arc};

use company::{Company, Error, document::Document};
use protocol::company::{
    RunStatus, Text,
    session::{CompanySessionMode, CompanySessionRow, CompanySessionState},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::process::ProcessId;

/// Where the records are.
pub(crate) const FOLDER: &str = ".local/sessions";

/// The word `session_record`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum SessionRecordTag {
    /// The word `session_record`.
    #[default]
    #[serde(rename = "session_record")]
    It,
}

/// A session as its file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRecord {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `session_record`.
    pub r#type: SessionRecordTag,
    /// What it is called.
    pub session_ref: Text,
    /// The company folder, as the caller wrote it.
    pub workspace_dir: Text,
    /// Its project.
    pub project_id: Text,
    /// Its run.
    pub run_id: Text,
    /// Where it stands.
    pub status: RunStatus,
    /// How its program ended.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<String>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When it was launched, in Unix milliseconds.
    pub started_at_ms: i64,
    /// When it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<i64>,
    /// How its program is spoken to.
    #[serde(default)]
    pub mode: CompanySessionMode,
    /// Its process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// When that was written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_claimed_at_ms: Option<i64>,
    /// When the process began, in ticks since the system did: ids are used again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_start_ticks: Option<u64>,
    /// How long it may run, in milliseconds, if its launch said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// How long it may print nothing, in milliseconds, if its launch said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<u64>,
    /// The file that says that somebody wants it stopped, below the project's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_marker_relpath: Option<String>,
    /// The thread of the app server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_thread_id: Option<String>,
    /// The turn on that thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_turn_id: Option<String>,
    /// What other programs keep here; it stays.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Document for SessionRecord {}

impl SessionRecord {
    /// Its process, if this machine started it. A record is a file like any other: without our seal it names a
    /// process that is not ours to end.
    pub(crate) fn own_process(&self, company: &Company) -> Option<ProcessId> {
        let process = self.process()?;
        let path = seal_relpath(&self.session_ref);
        let seal = company.read_text(&path).ok()?;
        let (place, text) = (company.path(&path), sealed(process));
        let is_ours = company
            .seals()
            .is_sealed(&place, text.as_bytes(), seal.trim_end());
        is_ours.then_some(process)
    }

    /// Seals which process it is, in a file of its own: other programs read and write the record. It need not last
    /// longer than the process, so it is not synced.
    pub(crate) fn seal(&self, company: &Company) -> Result<(), Error> {
        let Some(process) = self.process() else {
            return Ok(());
        };
        let path = seal_relpath(&self.session_ref);
        let place = company.path(&path);
        let seal = company.seals().seal(&place, sealed(process).as_bytes());
        let mut file = company.create(&path)?;
        let written = writeln!(file, "{seal}");
        written.map_err(|error| Error::io("written", place, error))
    }

    /// Its process, if it had one.
    pub fn process(&self) -> Option<ProcessId> {
        self.pid.map(|pid| ProcessId {
            pid,
            start_ticks: self.pid_start_ticks,
        })
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.status != RunStatus::Running
    }

    pub(crate) fn state(&self) -> CompanySessionState {
        CompanySessionState {
            session_ref: self.session_ref.to_string(),
            project_id: self.project_id.to_string(),
            run_id: self.run_id.to_string(),
            status: self.status,
            exit_code: self.exit_code,
            signal: self.signal.clone(),
            error: self.error.clone(),
            queued: None,
            queue_position: None,
            queue_reason: None,
        }
    }

    pub(crate) fn row(&self) -> CompanySessionRow {
        CompanySessionRow {
            state: self.state(),
            workspace_dir: self.workspace_dir.to_string(),
            started_at_ms: self.started_at_ms,
            ended_at_ms: self.ended_at_ms,
            mode: self.mode,
            pid: self.pid,
            pid_claimed_at_ms: self.pid_claimed_at_ms,
            stop_marker_relpath: self.stop_marker_relpath.clone(),
            protocol_thread_id: self.protocol_thread_id.clone(),
            protocol_turn_id: self.protocol_turn_id.clone(),
        }
    }

    /// Writes it down.
    pub(crate) fn save(&self, company: &Company) -> Result<(), Error> {
        company.write(|writer| writer.put(&relpath(&self.session_ref), self))
    }
}

fn sealed(process: ProcessId) -> String {
    let ticks = process.start_ticks.unwrap_or(0);
    format!("process {} {ticks}", process.pid)
}

/// The record of a session, if there is one that can be read.
pub(crate) fn find(company: &Company, session_ref: &str) -> Option<Arc<SessionRecord>> {
    company.read(&relpath(session_ref)).ok()
}

/// All records that can be read.
pub fn all(company: &Company) -> Result<Vec<Arc<SessionRecord>>, Error> {
    let names = company.names(FOLDER)?;
    let names = names.iter().filter(|name| name.ends_with(".yaml"));
    Ok(names
        .filter_map(|name| company.read(&format!("{FOLDER}/{name}")).ok())
        .collect())
}

/// The file of a session's record. What is not safe in a name is percent-encoded.
pub(crate) fn relpath(session_ref: &str) -> String {
    format!("{FOLDER}/{}.yaml", file_name(session_ref))
}

/// The file that proves that this machine started the process of a session.
pub(crate) fn seal_relpath(session_ref: &str) -> String {
    format!(".local/session_seals/{}", file_name(session_ref))
}

/// A pipe of a session.
pub(crate) fn pipe_relpath(session_ref: &str, stream: &str) -> String {
    format!("{FOLDER}/{}.{stream}", file_name(session_ref))
}

/// Whether a name can be that of a session: it becomes the name of a file.
pub fn session_ref_fits(session_ref: &str) -> bool {
    const LONGEST: usize = 240;
    file_name(session_ref).len() <= LONGEST && !session_ref.chars().any(char::is_control)
}

fn file_name(session_ref: &str) -> String {
    let mut name = String::new();
    for byte in session_ref.bytes() {
        let is_safe = byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte);
        if is_safe {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    // A hidden file would not be found again.
    match name.strip_prefix('.') {
        Some(rest) => format!("%2E{rest}"),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_part_of_a_path_whatever_it_is() {
        assert_eq!(
            relpath("named session/1"),
            ".local/sessions/named%20session%2F1.yaml"
        );
        assert_eq!(relpath("../x"), ".local/sessions/%2E.%2Fx.yaml");
        assert_eq!(relpath("é"), ".local/sessions/%C3%A9.yaml");
        assert_eq!(relpath("it's(1)!~*"), ".local/sessions/it's(1)!~*.yaml");
    }
}
