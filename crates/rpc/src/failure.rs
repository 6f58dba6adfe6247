//! Failures of requests, and the only table of error codes in the workspace.

use std::fmt;

use protocol::{Dialect, company::Issue};
use serde_json::{Map, Value, json};

/// A failed request: a message for people and `data` members for programs.
///
/// A handler states what is wrong; the dialect of the method determines the error code and the shape of `data`.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    blame: Blame,
    kind: FailureKind,
    message: String,
    data: Map<String, Value>,
    /// The invalid fields in params of the company family. Empty for all other failures.
    issues: Vec<Issue>,
}

/// The cause category of a failure, from which the error code follows.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Blame {
    /// The message is not JSON.
    Text,
    /// The message is JSON but not a valid request.
    Envelope,
    /// The method does not exist.
    Method,
    /// The params are invalid.
    Params,
    /// The params are valid individually, but another param is required or a path cannot be used.
    Usage,
    /// The params are valid, but the current state does not permit the operation.
    State,
    /// The caller is not permitted to do this.
    Caller,
    /// Too many requests are waiting.
    Load,
    /// The gateway itself failed.
    Gateway,
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal;)+) => {
        /// The stable name of a failure: `data.kind` in the tree family, `data.reason_code` (upper case) in the company
        /// family.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum FailureKind {
            $($(#[doc = $doc])+ $kind,)+
        }

        impl FailureKind {
            /// Returns the name as used in the tree family, in snake case.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }
        }
    };
}

kinds! {
    /// The message is not JSON.
    ParseError = "parse_error";
    /// The message is JSON but not a valid request.
    InvalidRequest = "invalid_request";
    /// The method does not exist.
    MethodNotFound = "method_not_found";
    /// A param is missing or malformed; `path` is the JSON pointer to it.
    InvalidParams = "invalid_params";
    /// The directory given as `workspace_dir` is not a company folder.
    NotAWorkspace = "not_a_workspace";
    /// The company folder was neither created on this machine nor marked as trusted here.
    Untrusted = "workspace_untrusted";
    /// The requested object does not exist in the company folder.
    NotFound = "not_found";
    /// A file of the company folder is invalid; `path` names it and `issues` lists the reasons.
    WorkspaceFileInvalid = "workspace_file_invalid";
    /// Another process holds the write lock of the company folder.
    LockTimeout = "lock_timeout";
    /// Policy denies the operation; `rule_id` and `reason` explain it.
    PolicyDenied = "policy_denied";
    /// The call claims a role above the one the company assigned to the actor.
    ActorMismatch = "actor_mismatch";
    /// A budget does not permit the operation.
    BudgetExceeded = "budget_exceeded";
    /// The worker program does not meet the requirements of this machine; `reason` explains it.
    SubscriptionUnverified = "subscription_unverified";
    /// The content to be stored contains a secret; `context_label` and `matches_by_kind` name the location and the
    /// kinds.
    SecretDetected = "secret_detected";
    /// A decision already exists; `review_id` and `decision`, or `status` and `decided_by`, describe it.
    AlreadyDecided = "already_decided";
    /// The current state does not permit the operation.
    Refused = "refused";
    /// `project_id` is required for this scope.
    MissingProjectId = "missing_project_id";
    /// `conversation_id` is required for this view.
    MissingConversationId = "missing_conversation_id";
    /// The path cannot be used.
    InvalidPath = "invalid_path";
    /// The workspace does not exist.
    UnknownWorkspace = "unknown_workspace";
    /// The folder does not exist in the workspace.
    UnknownFolder = "unknown_folder";
    /// The thread does not exist in the workspace.
    UnknownThread = "unknown_thread";
    /// The turn does not exist on the thread.
    UnknownTurn = "unknown_turn";
    /// The agents doc does not exist in the workspace.
    UnknownAgentsDoc = "unknown_agents_doc";
    /// The document has no such version.
    UnknownRevision = "unknown_revision";
    /// The proposal does not exist in the workspace.
    UnknownProposal = "unknown_proposal";
    /// Both sides changed the same lines; `base`, `current` and `proposed` are the texts.
    MergeConflict = "merge_conflict";
    /// The artifact does not exist in the workspace.
    UnknownArtifact = "unknown_artifact";
    /// The upload does not exist, belongs to another principal, or has expired.
    UnknownUpload = "unknown_upload";
    /// The download does not exist on this connection.
    UnknownDownload = "unknown_download";
    /// The bytes do not match the declared hash.
    HashMismatch = "hash_mismatch";
    /// The object is not complete; `status` is its current state.
    NotReady = "not_ready";
    /// The model provider does not exist.
    UnknownProvider = "unknown_provider";
    /// Another caller saved first: `expected` and `actual` are the versions, `expected_sha256` and `actual_sha256` the
    /// hashes of the basis of a decision.
    VersionConflict = "version_conflict";
    /// A model provider failed; `class` is the class of the failure.
    ProviderFailed = "provider_failed";
    /// The trash contains no such item.
    NotInTrash = "not_in_trash";
    /// The object, or the folder that contains it, is in the trash; `trash/restore` restores it.
    InTrash = "in_trash";
    /// A folder cannot be moved into itself or one of its descendants.
    Cycle = "cycle";
    /// The id is already used by a different object.
    Duplicate = "duplicate";
    /// An operation in progress must end first.
    Busy = "busy";
    /// A value exceeds its `limit`.
    TooLarge = "too_large";
    /// The disk or a quota is full.
    QuotaExceeded = "quota_exceeded";
    /// The token does not permit the call.
    Forbidden = "forbidden";
    /// Too many requests are waiting; retry after `retry_after_ms` milliseconds.
    Overloaded = "overloaded";
    /// The gateway failed; the log contains the cause under `incident_id`.
    Internal = "internal";
}

impl Failure {
    /// The message is not JSON.
    pub(crate) fn parse() -> Self {
        Self::new(
            Blame::Text,
            FailureKind::ParseError,
            "Parse error: expected one JSON object",
        )
    }

    /// The message is JSON but not a valid request.
    pub(crate) fn envelope(detail: impl fmt::Display) -> Self {
        Self::new(
            Blame::Envelope,
            FailureKind::InvalidRequest,
            format!("Invalid Request: {detail}"),
        )
    }

    /// The method does not exist. Names longer than 200 characters are truncated in the message.
    pub(crate) fn method(name: &str) -> Self {
        let shown: String = name.chars().take(200).collect();
        Self::new(
            Blame::Method,
            FailureKind::MethodNotFound,
            format!("Unknown method: {shown}"),
        )
    }

    /// The params are invalid. In the tree family the message is prefixed with the method.
    pub fn params(kind: FailureKind, message: impl Into<String>) -> Self {
        Self::new(Blame::Params, kind, message)
    }

    /// One param, given by its JSON pointer, is invalid.
    pub fn param(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::params(FailureKind::InvalidParams, message).with("path", path.into())
    }

    /// The params are valid, but the current state does not permit the operation.
    pub fn state(kind: FailureKind, message: impl Into<String>) -> Self {
        Self::new(Blame::State, kind, message)
    }

    /// Params of the company family are invalid, with one issue per field.
    pub fn issues(issues: Vec<Issue>) -> Self {
        Self {
            issues,
            ..Self::new(Blame::Params, FailureKind::InvalidParams, "Invalid params")
        }
    }

    /// The params are valid individually but not in combination, or name a path that cannot be used.
    ///
    /// The company protocol returns the code of an unknown method for these; `reason_code` distinguishes them.
    pub fn usage(kind: FailureKind, message: impl Into<String>) -> Self {
        Self::new(Blame::Usage, kind, message)
    }

    /// The caller is not permitted to do this.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(Blame::Caller, FailureKind::Forbidden, message)
    }

    /// Too many requests are waiting. `data.retry_after_ms` is 250.
    pub fn overloaded() -> Self {
        Self::new(
            Blame::Load,
            FailureKind::Overloaded,
            "too many requests are waiting",
        )
        .with("retry_after_ms", 250)
    }

    /// The gateway itself failed. The cause is logged under the incident id and never sent to the client.
    pub fn internal(incident_id: impl Into<String>) -> Self {
        let incident_id = incident_id.into();
        Self::new(
            Blame::Gateway,
            FailureKind::Internal,
            format!("internal error: see incident `{incident_id}` in the gateway log"),
        )
        .with("incident_id", incident_id)
    }

    fn new(blame: Blame, kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            blame,
            kind,
            message: message.into(),
            data: Map::new(),
            issues: Vec::new(),
        }
    }

    /// Adds a member to `data`.
    #[must_use]
    pub fn with(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.data.insert(member.to_owned(), value.into());
        self
    }

    /// Adds `data.hint`: what the caller can do about the failure.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        self.with("hint", hint.into())
    }

    /// Returns the stable name of the failure.
    pub fn kind(&self) -> FailureKind {
        self.kind
    }

    /// Returns the human-readable message, without the method prefix.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Builds the `error` member of the response to `method`.
    pub(crate) fn to_json(&self, method: &str, dialect: Dialect) -> Value {
        let message = match self.blame {
            Blame::Params if dialect == Dialect::Company => "Invalid params".to_owned(),
            Blame::Params => format!("invalid params for `{method}`: {}", self.message),
            Blame::Usage
            | Blame::Text
            | Blame::Envelope
            | Blame::Method
            | Blame::State
            | Blame::Caller
            | Blame::Load
            | Blame::Gateway => self.message.clone(),
        };
        json!({"code": self.code(dialect), "message": message, "data": self.data(dialect)})
    }

    fn code(&self, dialect: Dialect) -> i32 {
        match (self.blame, dialect) {
            (Blame::Text, _) => -32700,
            (Blame::Envelope, _) => -32600,
            (Blame::Method, _) | (Blame::Usage, Dialect::Company) => -32601,
            (Blame::Params, _) | (Blame::Usage, Dialect::Tree) => -32602,
            (Blame::Load, _) => -32001,
            (Blame::State | Blame::Gateway, Dialect::Tree) => -32600,
            (Blame::Caller, Dialect::Tree) => -32043,
            (Blame::State | Blame::Caller | Blame::Gateway, Dialect::Company) => -32000,
        }
    }

    /// Builds the `data` member: for invalid params of the company family a list of issues, otherwise an object.
    fn data(&self, dialect: Dialect) -> Value {
        let mut data = self.data.clone();
        match (dialect, self.blame) {
            (Dialect::Company, Blame::Params) if !self.issues.is_empty() => json!(self.issues),
            (Dialect::Company, Blame::Params) => {
                let pointer = data.get("path").and_then(Value::as_str).unwrap_or_default();
                let path: Vec<Value> = pointer.split('/').skip(1).map(key_or_index).collect();
                json!([{"code": "custom", "path": path, "message": self.message}])
            }
            (Dialect::Company, _) => {
                data.insert(
                    "reason_code".into(),
                    self.kind.as_str().to_ascii_uppercase().into(),
                );
                Value::Object(data)
            }
            (Dialect::Tree, _) => {
                data.insert("kind".into(), self.kind.as_str().into());
                Value::Object(data)
            }
        }
    }
}

/// Converts a segment of a JSON pointer to an element of an issue path: an array index becomes a number.
fn key_or_index(segment: &str) -> Value {
    match segment.parse::<u64>() {
        Ok(index) => index.into(),
        Err(_) => segment.replace("~1", "/").replace("~0", "~").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dialect_picks_code_and_description() {
        let failure = Failure::state(FailureKind::Busy, "a turn runs");
        assert_eq!(
            failure.to_json("thread/delete", Dialect::Tree),
            json!({"code": -32600, "message": "a turn runs", "data": {"kind": "busy"}})
        );
        assert_eq!(
            failure.to_json("run.stop", Dialect::Company),
            json!({"code": -32000, "message": "a turn runs", "data": {"reason_code": "BUSY"}})
        );
    }

    #[test]
    fn a_bad_param_names_the_method_and_the_field() {
        assert_eq!(
            Failure::param("/limit", "expected at least 1, found 0")
                .to_json("thread/tree", Dialect::Tree),
            json!({
                "code": -32602,
                "message": "invalid params for `thread/tree`: expected at least 1, found 0",
                "data": {"kind": "invalid_params", "path": "/limit"},
            })
        );
    }
}
