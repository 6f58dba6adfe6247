//! Markdown documents: typed front matter and the headings that each type requires.

use protocol::company::{Issue, MemoryScopeKind, Sensitivity, Text, Visibility};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Document, tags};
use crate::format::front_matter::{self, FrontMatter};

/// A Markdown file with typed front matter.
#[derive(Clone, Debug, PartialEq)]
pub struct Markdown<T> {
    /// The front matter.
    pub head: T,
    /// The text after the front matter.
    pub body: String,
}

impl<T: Document> Markdown<T> {
    /// Parses and validates a file; the error lists all issues. A malformed front matter block gives one issue with the
    /// code of [`front_matter::split`] as its message.
    pub fn parse(text: &str) -> Result<Self, Vec<Issue>> {
        let FrontMatter { head, body } =
            front_matter::split(text).map_err(|word| vec![Issue::new("frontmatter", &[], word)])?;
        Ok(Self {
            head: super::read(head)?,
            body,
        })
    }
}

macro_rules! document_kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $word:literal [$($heading:literal),+];)+) => {
        /// Type of a document; the wire calls it artifact type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        pub enum DocumentKind {
            $($(#[doc = $doc])+ #[serde(rename = $word)] $kind,)+
        }

        impl DocumentKind {
            /// The value in files.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $word,)+
                }
            }

            /// The required level-two headings of a document of this type.
            pub fn headings(self) -> &'static [&'static str] {
                match self {
                    $(Self::$kind => &[$($heading),+],)+
                }
            }
        }
    };
}

document_kinds! {
    /// Requirements of a client.
    IntakeBrief = "intake_brief" ["Summary", "Success Criteria", "Constraints"];
    /// Questions and their answers.
    ClarificationsQa = "clarifications_qa" ["Questions", "Answers"];
    /// A proposal.
    Proposal = "proposal" ["Summary", "Plan", "Risks"];
    /// The record of a meeting.
    MeetingTranscript = "meeting_transcript" ["Attendees", "Discussion", "Decisions", "Open Questions"];
    /// The plan of a department.
    DepartmentPlan = "department_plan" ["Scope", "Deliverables", "Risks", "Dependencies"];
    /// The plan of the company.
    ExecutivePlan = "executive_plan" ["Executive Summary", "Department Plans", "Dependencies", "Approval"];
    /// A workplan.
    Workplan = "workplan" ["Summary", "Breakdown", "Dependencies", "Estimates"];
    /// A report on the result of a milestone.
    MilestoneReport = "milestone_report" ["Summary", "Evidence", "Next"];
    /// A summary for managers.
    ManagerDigest = "manager_digest" ["Summary", "Decisions", "Risks"];
    /// A proposed change of memory.
    MemoryDelta = "memory_delta" ["Summary", "Changes", "Evidence"];
    /// A report on a failure.
    FailureReport = "failure_report" ["Summary", "Cause", "Next Steps"];
    /// An action that a heartbeat proposes.
    HeartbeatActionProposal = "heartbeat_action_proposal" ["Summary", "Proposed Action", "Policy"];
}

tags! {
    MemoryDeltaTag = "memory_delta";
    MilestoneReportTag = "milestone_report";
    ActionProposalTag = "heartbeat_action_proposal";
}

/// The members that every document has; some types have more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentHead {
    /// Version of the format: 1, or 2 for memory deltas.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// Type of the document.
    pub r#type: DocumentKind,
    /// Id of the document.
    pub id: Text,
    /// Creation time.
    pub created_at: Text,
    /// Title.
    pub title: Text,
    /// Who may see the document.
    pub visibility: Visibility,
    /// The actor that produced the document.
    pub produced_by: Text,
    /// The run that produced the document.
    pub run_id: Text,
    /// The context pack of that run.
    pub context_pack_id: Text,
}

impl Document for DocumentHead {}

/// The head of a memory delta, of schema 1 or 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryDeltaHead {
    /// Version of the format: 1 or 2.
    #[schemars(range(min = 1, max = 2))]
    pub schema_version: u32,
    /// `memory_delta`.
    pub r#type: MemoryDeltaTag,
    /// Id of the document.
    pub id: Text,
    /// Creation time.
    pub created_at: Text,
    /// Title.
    pub title: Text,
    /// Who may see the document.
    pub visibility: Visibility,
    /// The actor that produced the document.
    pub produced_by: Text,
    /// The run that produced the document.
    pub run_id: Text,
    /// The context pack of that run.
    pub context_pack_id: Text,
    /// Project of the document.
    pub project_id: Text,
    /// Path of the memory file to change.
    pub target_file: Text,
    /// Path of the patch to apply.
    pub patch_file: Text,
    /// Kind of memory to change; required in schema 2, not allowed in schema 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_kind: Option<MemoryScopeKind>,
    /// Owner of the memory, such as a project or agent id; required in schema 2, not allowed in schema 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_ref: Option<Text>,
    /// Sensitivity of the content; required in schema 2, not allowed in schema 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Sensitivity>,
    /// Reason for the change; required in schema 2, not allowed in schema 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<Text>,
    /// Evidence for the change; schema 2 requires at least one entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Vec<Text>>,
}

impl Document for MemoryDeltaHead {
    fn refine(&self) -> Vec<Issue> {
        let given = [
            ("scope_kind", self.scope_kind.is_some()),
            ("scope_ref", self.scope_ref.is_some()),
            ("sensitivity", self.sensitivity.is_some()),
            ("rationale", self.rationale.is_some()),
        ];
        match self.schema_version {
            1 => given
                .into_iter()
                .filter(|(_, is_given)| *is_given)
                .map(|(field, _)| Issue::custom(field, "not allowed in schema 1"))
                .collect(),
            _ => {
                let has_evidence = self
                    .evidence
                    .as_ref()
                    .is_some_and(|evidence| !evidence.is_empty());
                given
                    .into_iter()
                    .chain([("evidence", has_evidence)])
                    .filter(|(_, is_given)| !*is_given)
                    .map(|(field, _)| Issue::custom(field, "required in schema 2"))
                    .collect()
            }
        }
    }
}

/// The head of a milestone report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MilestoneReportHead {
    /// Version of the format: 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `milestone_report`.
    pub r#type: MilestoneReportTag,
    /// Id of the document.
    pub id: Text,
    /// Creation time.
    pub created_at: Text,
    /// Title.
    pub title: Text,
    /// Who may see the document.
    pub visibility: Visibility,
    /// The actor that produced the document.
    pub produced_by: Text,
    /// The run that produced the document.
    pub run_id: Text,
    /// The context pack of that run.
    pub context_pack_id: Text,
    /// Project of the document.
    pub project_id: Text,
    /// Task of the milestone.
    pub task_id: Text,
    /// The reported milestone.
    pub milestone_id: Text,
    /// Artifacts that prove the result.
    pub evidence_artifacts: Vec<Text>,
    /// Test results that prove the result; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_artifacts: Option<Vec<Text>>,
}

impl Document for MilestoneReportHead {}

/// The head of an action proposal of a heartbeat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionProposalHead {
    /// Version of the format: 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `heartbeat_action_proposal`.
    pub r#type: ActionProposalTag,
    /// Id of the document.
    pub id: Text,
    /// Creation time.
    pub created_at: Text,
    /// Title.
    pub title: Text,
    /// Who may see the document.
    pub visibility: Visibility,
    /// The actor that produced the document.
    pub produced_by: Text,
    /// The run that produced the document.
    pub run_id: Text,
    /// The context pack of that run.
    pub context_pack_id: Text,
    /// Project of the document.
    pub project_id: Text,
    /// The proposed action, with at least `kind` and `idempotency_key`.
    pub proposed_action: Map<String, Value>,
    /// Reason for the action; absent if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<Text>,
}

impl Document for ActionProposalHead {
    fn refine(&self) -> Vec<Issue> {
        let kinds = ["launch_job", "add_comment", "create_approval_item", "noop"];
        let kind = self.proposed_action.get("kind").and_then(Value::as_str);
        let key = self.proposed_action.get("idempotency_key");
        let checks = [
            (
                "proposed_action.kind",
                kind.is_some_and(|kind| kinds.contains(&kind)),
                "expected one of launch_job, add_comment, create_approval_item and noop",
            ),
            (
                "proposed_action.idempotency_key",
                key.and_then(Value::as_str)
                    .is_some_and(|key| !key.is_empty()),
                "expected a non-empty string",
            ),
        ];
        checks
            .into_iter()
            .filter(|(_, fits, _)| !fits)
            .map(|(field, _, expected)| Issue::custom(field, expected))
            .collect()
    }
}
