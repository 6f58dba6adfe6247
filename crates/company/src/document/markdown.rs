//! Markdown documents: typed front matter and the headings their type asks for.

use protocol::company::{Issue, MemoryScopeKind, Sensitivity, Text, Visibility};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Document, tags};
use crate::format::front_matter::{self, FrontMatter};

/// A Markdown file with a typed head.
#[derive(Clone, Debug, PartialEq)]
pub struct Markdown<T> {
    /// The front matter.
    pub head: T,
    /// What follows it.
    pub body: String,
}

impl<T: Document> Markdown<T> {
    /// Reads a file, or tells what does not fit. What is wrong with the two lines is the message of one issue.
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
        /// The types of documents, which the wire calls artifact types.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        pub enum DocumentKind {
            $($(#[doc = $doc])+ #[serde(rename = $word)] $kind,)+
        }

        impl DocumentKind {
            /// The word in files.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $word,)+
                }
            }

            /// The headings of level two that a document of this type has.
            pub fn headings(self) -> &'static [&'static str] {
                match self {
                    $(Self::$kind => &[$($heading),+],)+
                }
            }
        }
    };
}

document_kinds! {
    /// What a client wants.
    IntakeBrief = "intake_brief" ["Summary", "Success Criteria", "Constraints"];
    /// Questions and their answers.
    ClarificationsQa = "clarifications_qa" ["Questions", "Answers"];
    /// Something proposed.
    Proposal = "proposal" ["Summary", "Plan", "Risks"];
    /// What was said in a meeting.
    MeetingTranscript = "meeting_transcript" ["Attendees", "Discussion", "Decisions", "Open Questions"];
    /// The plan of a department.
    DepartmentPlan = "department_plan" ["Scope", "Deliverables", "Risks", "Dependencies"];
    /// The plan of the company.
    ExecutivePlan = "executive_plan" ["Executive Summary", "Department Plans", "Dependencies", "Approval"];
    /// A plan of work.
    Workplan = "workplan" ["Summary", "Breakdown", "Dependencies", "Estimates"];
    /// What became of a milestone.
    MilestoneReport = "milestone_report" ["Summary", "Evidence", "Next"];
    /// What a manager needs to know.
    ManagerDigest = "manager_digest" ["Summary", "Decisions", "Risks"];
    /// A change of memory.
    MemoryDelta = "memory_delta" ["Summary", "Changes", "Evidence"];
    /// What went wrong.
    FailureReport = "failure_report" ["Summary", "Cause", "Next Steps"];
    /// Something a heartbeat wants to do.
    HeartbeatActionProposal = "heartbeat_action_proposal" ["Summary", "Proposed Action", "Policy"];
}

tags! {
    MemoryDeltaTag = "memory_delta";
    MilestoneReportTag = "milestone_report";
    ActionProposalTag = "heartbeat_action_proposal";
}

/// The head every document has; a type may have more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentHead {
    /// 1, or 2 for memory deltas.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// Its type.
    pub r#type: DocumentKind,
    /// Its id.
    pub id: Text,
    /// When it was made.
    pub created_at: Text,
    /// Its title.
    pub title: Text,
    /// Who may see it.
    pub visibility: Visibility,
    /// Who made it.
    pub produced_by: Text,
    /// The run it was made in.
    pub run_id: Text,
    /// What that run was given to know.
    pub context_pack_id: Text,
}

impl Document for DocumentHead {}

/// The head of a memory delta, of schema 1 or 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryDeltaHead {
    /// 1 or 2.
    #[schemars(range(min = 1, max = 2))]
    pub schema_version: u32,
    /// `memory_delta`.
    pub r#type: MemoryDeltaTag,
    /// Its id.
    pub id: Text,
    /// When it was made.
    pub created_at: Text,
    /// Its title.
    pub title: Text,
    /// Who may see it.
    pub visibility: Visibility,
    /// Who made it.
    pub produced_by: Text,
    /// The run it was made in.
    pub run_id: Text,
    /// What that run was given to know.
    pub context_pack_id: Text,
    /// The project.
    pub project_id: Text,
    /// What it changes.
    pub target_file: Text,
    /// How it changes that.
    pub patch_file: Text,
    /// What kind of memory it changes; schema 2 has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_kind: Option<MemoryScopeKind>,
    /// Whose memory it changes; schema 2 has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_ref: Option<Text>,
    /// How secret it is; schema 2 has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Sensitivity>,
    /// Why it is proposed; schema 2 has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<Text>,
    /// What it is based on; schema 2 has at least one.
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
                .map(|(field, _)| Issue::custom(field, "schema 1 does not have it"))
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
                    .map(|(field, _)| Issue::custom(field, "schema 2 needs it"))
                    .collect()
            }
        }
    }
}

/// The head of a milestone report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MilestoneReportHead {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `milestone_report`.
    pub r#type: MilestoneReportTag,
    /// Its id.
    pub id: Text,
    /// When it was made.
    pub created_at: Text,
    /// Its title.
    pub title: Text,
    /// Who may see it.
    pub visibility: Visibility,
    /// Who made it.
    pub produced_by: Text,
    /// The run it was made in.
    pub run_id: Text,
    /// What that run was given to know.
    pub context_pack_id: Text,
    /// The project.
    pub project_id: Text,
    /// The task.
    pub task_id: Text,
    /// The milestone.
    pub milestone_id: Text,
    /// What proves it.
    pub evidence_artifacts: Vec<Text>,
    /// The tests that prove it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_artifacts: Option<Vec<Text>>,
}

impl Document for MilestoneReportHead {}

/// The head of a proposal of a heartbeat to do something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionProposalHead {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `heartbeat_action_proposal`.
    pub r#type: ActionProposalTag,
    /// Its id.
    pub id: Text,
    /// When it was made.
    pub created_at: Text,
    /// Its title.
    pub title: Text,
    /// Who may see it.
    pub visibility: Visibility,
    /// Who made it.
    pub produced_by: Text,
    /// The run it was made in.
    pub run_id: Text,
    /// What that run was given to know.
    pub context_pack_id: Text,
    /// The project.
    pub project_id: Text,
    /// What should be done.
    pub proposed_action: Map<String, Value>,
    /// Why.
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
                "one of launch_job, add_comment, create_approval_item and noop is expected",
            ),
            (
                "proposed_action.idempotency_key",
                key.and_then(Value::as_str)
                    .is_some_and(|key| !key.is_empty()),
                "a text that is not empty is expected",
            ),
        ];
        checks
            .into_iter()
            .filter(|(_, fits, _)| !fits)
            .map(|(field, _, expected)| Issue::custom(field, expected))
            .collect()
    }
}
