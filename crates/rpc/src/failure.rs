//! Why a request was not answered. This is the only table of error codes in the workspace.

use std::fmt;

use protocol::{Dialect, company::Issue};
use serde_json::{Map, Value, json};

/// A failed request: what is wrong with the world, in words for people and in members for programs.
///
/// A handler says what is wrong; the dialect of the method picks the code.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    blame: Blame,
    kind: Kind,
    message: String,
    data: Map<String, Value>,
    /// What does not fit in params of the company family, field by field.
    issues: Vec<Issue>,
}

/// Who has to change something, which is what the code on the wire is about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Blame {
    /// The text is not JSON.
    Text,
    /// The JSON is not a request.
    Envelope,
    /// There is no such method.
    Method,
    /// The params do not fit.
    Params,
    /// The params fit, and need another param that was not given or mean a place that cannot be used.
    Usage,
    /// The params fit, the state of things does not.
    State,
    /// The caller may not do this.
    Caller,
    /// There is too much to do.
    Load,
    /// We broke.
    Gateway,
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal;)+) => {
        /// The stable name of a failure: `data.kind` in the tree family, upper-cased `data.reason_code` in the
        /// company family.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $($(#[doc = $doc])+ $kind,)+
        }

        impl Kind {
            /// The name on the wire.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }
        }
    };
}

kinds! {
    /// The text is not JSON.
    ParseError = "parse_error";
    /// The JSON is not a request.
    InvalidRequest = "invalid_request";
    /// There is no such method.
    MethodNotFound = "method_not_found";
    /// A param is missing or malformed; `path` points at it.
    InvalidParams = "invalid_params";
    /// The folder given as `workspace_dir` is not a company folder.
    NotAWorkspace = "not_a_workspace";
    /// Nobody made the company folder on this machine or said to trust it.
    Untrusted = "workspace_untrusted";
    /// There is no such thing in the company folder.
    NotFound = "not_found";
    /// A file of the company folder cannot be used; `path` names it, `issues` say why.
    WorkspaceFileInvalid = "workspace_file_invalid";
    /// Another process holds the write lock of the company folder.
    LockTimeout = "lock_timeout";
    /// Policy forbids it; `rule_id` and `reason` say why.
    PolicyDenied = "policy_denied";
    /// Somebody claims a role above the one the company gave them.
    ActorMismatch = "actor_mismatch";
    /// A budget does not allow it.
    BudgetExceeded = "budget_exceeded";
    /// The worker program is not what the rules of this machine ask for; `reason` says why.
    SubscriptionUnverified = "subscription_unverified";
    /// There is a secret in what was to be stored; `context_label` and `matches_by_kind` say where and what.
    SecretDetected = "secret_detected";
    /// Somebody decided before; `review_id` and `decision`, or `status` and `decided_by`, say what.
    AlreadyDecided = "already_decided";
    /// The state of things forbids it.
    Refused = "refused";
    /// `project_id` is needed for this scope.
    MissingProjectId = "missing_project_id";
    /// `conversation_id` is needed for this view.
    MissingConversationId = "missing_conversation_id";
    /// The path cannot be used.
    InvalidPath = "invalid_path";
    /// There is no such workspace.
    UnknownWorkspace = "unknown_workspace";
    /// There is no such folder in the workspace.
    UnknownFolder = "unknown_folder";
    /// There is no such thread in the workspace.
    UnknownThread = "unknown_thread";
    /// There is no such turn on the thread.
    UnknownTurn = "unknown_turn";
    /// There is no such AGENTS.md document in the workspace.
    UnknownAgentsDoc = "unknown_agents_doc";
    /// The document has no such version.
    UnknownRevision = "unknown_revision";
    /// There is no such proposal in the workspace.
    UnknownProposal = "unknown_proposal";
    /// Both sides changed the same lines; `base`, `current` and `proposed` are the texts.
    MergeConflict = "merge_conflict";
    /// There is no such artifact in the workspace.
    UnknownArtifact = "unknown_artifact";
    /// There is no such upload, or it is somebody else's, or it has expired.
    UnknownUpload = "unknown_upload";
    /// There is no such download on this connection.
    UnknownDownload = "unknown_download";
    /// The bytes do not have the declared hash.
    HashMismatch = "hash_mismatch";
    /// Something is not complete; `status` says where it stands.
    NotReady = "not_ready";
    /// There is no such model provider.
    UnknownProvider = "unknown_provider";
    /// Somebody else saved in between: `expected` and `actual` are the versions, `expected_sha256` and `actual_sha256`
    /// the hashes of what a decision rests on.
    VersionConflict = "version_conflict";
    /// A model provider failed; `class` says how.
    ProviderFailed = "provider_failed";
    /// The trash has no such item.
    NotInTrash = "not_in_trash";
    /// It, or the folder it belongs to, is in the trash: `trash/restore` brings it back.
    InTrash = "in_trash";
    /// A folder cannot be moved into itself.
    Cycle = "cycle";
    /// The id is taken by something else.
    Duplicate = "duplicate";
    /// Something runs that must end first.
    Busy = "busy";
    /// Something is over its `limit`.
    TooLarge = "too_large";
    /// The disk or a quota is full.
    QuotaExceeded = "quota_exceeded";
    /// The token does not allow this.
    Forbidden = "forbidden";
    /// Too many requests wait; try again after `retry_after_ms`.
    Overloaded = "overloaded";
    /// The gateway failed; the log has `incident_id`.
    Internal = "internal";
}

impl Failure {
    /// The text is not JSON.
    pub(crate) fn parse() -> Self {
        Self::new(
            Blame::Text,
            Kind::ParseError,
            "Parse error: expected one JSON object",
        )
    }

    /// The JSON is not a request.
    pub(crate) fn envelope(detail: impl fmt::Display) -> Self {
        Self::new(
            Blame::Envelope,
            Kind::InvalidRequest,
            format!("Invalid Request: {detail}"),
        )
    }

    /// There is no method of this name.
    pub(crate) fn method(name: &str) -> Self {
        let shown: String = name.chars().take(200).collect();
        Self::new(
            Blame::Method,
            Kind::MethodNotFound,
            format!("Unknown method: {shown}"),
        )
    }

    /// The params cannot be used; the router puts the method before the message.
    pub fn params(kind: Kind, message: impl Into<String>) -> Self {
        Self::new(Blame::Params, kind, message)
    }

    /// One param, given by its JSON pointer, cannot be used.
    pub fn param(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::params(Kind::InvalidParams, message).with("path", path.into())
    }

    /// The params are fine and the state of things forbids it.
    pub fn state(kind: Kind, message: impl Into<String>) -> Self {
        Self::new(Blame::State, kind, message)
    }

    /// Params of the company family do not fit.
    pub fn issues(issues: Vec<Issue>) -> Self {
        Self {
            issues,
            ..Self::new(Blame::Params, Kind::InvalidParams, "Invalid params")
        }
    }

    /// The params fit by themselves and not together, or name a place that cannot be used.
    ///
    /// The company protocol answers these with the code of an unknown method; `reason_code` tells them apart.
    pub fn usage(kind: Kind, message: impl Into<String>) -> Self {
        Self::new(Blame::Usage, kind, message)
    }

    /// The caller may not do this.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(Blame::Caller, Kind::Forbidden, message)
    }

    /// There is too much to do at this moment.
    pub fn overloaded() -> Self {
        Self::new(
            Blame::Load,
            Kind::Overloaded,
            "too many requests are waiting",
        )
        .with("retry_after_ms", 250)
    }

    /// We broke. The cause goes to the log under the incident's id, never to the client.
    pub fn internal(incident_id: impl Into<String>) -> Self {
        let incident_id = incident_id.into();
        Self::new(
            Blame::Gateway,
            Kind::Internal,
            format!("failed to answer: see incident `{incident_id}` in the log of the gateway"),
        )
        .with("incident_id", incident_id)
    }

    fn new(blame: Blame, kind: Kind, message: impl Into<String>) -> Self {
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

    /// Adds what the caller could do about it.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        self.with("hint", hint.into())
    }

    /// The stable name of the failure.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The sentence for people.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The `error` member of the answer to `method`.
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

    /// The company family describes bad params by a list of issues, everything else by an object.
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

/// A segment of a JSON pointer as the lists of issues have it: a place in a list is a number.
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
        let failure = Failure::state(Kind::Busy, "a turn runs");
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
