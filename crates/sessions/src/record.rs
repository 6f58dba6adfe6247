//! `.local/sessions/<session>.yaml`: the persistent record of a session, from which another gateway can continue.

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

/// Folder of the records, relative to the company folder.
pub(crate) const FOLDER: &str = ".local/sessions";

/// The constant `session_record`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum SessionRecordTag {
    /// The constant `session_record`.
    #[default]
    #[serde(rename = "session_record")]
    SessionRecord,
}

/// The content of a session's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRecord {
    /// Version of the format: 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// Always `session_record`.
    pub r#type: SessionRecordTag,
    /// Name of the session.
    pub session_ref: Text,
    /// The company folder, as the caller specified it.
    pub workspace_dir: Text,
    /// Id of the project.
    pub project_id: Text,
    /// Id of the run.
    pub run_id: Text,
    /// Status of the session.
    pub status: RunStatus,
    /// Exit code of the program; absent while it runs or if a signal ended it.
    pub exit_code: Option<i32>,
    /// Name of the signal that ended the program; absent if none did.
    pub signal: Option<String>,
    /// Error message; absent if the session did not fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Launch time, in Unix milliseconds.
    pub started_at_ms: i64,
    /// End time, in Unix milliseconds; absent while the session runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<i64>,
    /// How the gateway communicates with the program.
    #[serde(default)]
    pub mode: CompanySessionMode,
    /// Process id of the program; absent before it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// When `pid` was recorded, in Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_claimed_at_ms: Option<i64>,
    /// Start time of the process in clock ticks since boot, which distinguishes it from later processes with the same
    /// id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_start_ticks: Option<u64>,
    /// Maximum duration in milliseconds; absent if the launch set none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Maximum time without output in milliseconds; absent if the launch set none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<u64>,
    /// Path of the file whose existence requests a stop, relative to the project folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_marker_relpath: Option<String>,
    /// Thread id of the app server; absent for other programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_thread_id: Option<String>,
    /// Turn id on that thread; absent for other programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_turn_id: Option<String>,
    /// Unknown fields of other programs, which are preserved.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Document for SessionRecord {}

impl SessionRecord {
    /// The process of the session, if this machine started it. Any program can write a record, so without a valid seal
    /// its process must not be signalled.
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

    /// Writes a seal for the process into a separate file, because other programs read and write the record. The seal
    /// is not needed once the process has ended, so it is not synced.
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

    /// The process of the session; `None` before it started.
    pub fn process(&self) -> Option<ProcessId> {
        self.pid.map(|pid| ProcessId {
            pid,
            start_ticks: self.pid_start_ticks,
        })
    }

    /// Whether the session is over.
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

    /// Writes the record to its file.
    pub(crate) fn save(&self, company: &Company) -> Result<(), Error> {
        company.write(|writer| writer.put(&relpath(&self.session_ref), self))
    }
}

fn sealed(process: ProcessId) -> String {
    let ticks = process.start_ticks.unwrap_or(0);
    format!("process {} {ticks}", process.pid)
}

/// Reads the record of a session; `None` if it is missing or unreadable.
pub(crate) fn find(company: &Company, session_ref: &str) -> Option<Arc<SessionRecord>> {
    company.read(&relpath(session_ref)).ok()
}

/// Returns all records that are readable.
pub fn all(company: &Company) -> Result<Vec<Arc<SessionRecord>>, Error> {
    let names = company.names(FOLDER)?;
    let names = names.iter().filter(|name| name.ends_with(".yaml"));
    Ok(names
        .filter_map(|name| company.read(&format!("{FOLDER}/{name}")).ok())
        .collect())
}

/// Path of a session's record. Characters that are not safe in a file name are percent-encoded.
pub(crate) fn relpath(session_ref: &str) -> String {
    format!("{FOLDER}/{}.yaml", file_name(session_ref))
}

/// Path of the seal that proves that this machine started the process of a session.
pub(crate) fn seal_relpath(session_ref: &str) -> String {
    format!(".local/session_seals/{}", file_name(session_ref))
}

/// Path of a pipe of a session.
pub(crate) fn pipe_relpath(session_ref: &str, stream: &str) -> String {
    format!("{FOLDER}/{}.{stream}", file_name(session_ref))
}

/// Whether a name is valid for a session: it becomes part of a file name, so its encoded length is limited.
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
    // Hidden files are skipped when records are listed.
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
