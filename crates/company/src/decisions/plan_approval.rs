//! Proposals that ask for the approval of an executive plan, and the plans that they name.

use protocol::{
    Id as _,
    company::{DocumentId, ProjectId},
};
use serde_json::{Map, Value};

use crate::document::ActionProposalHead;

/// Prefix of the plan id in the rationale of its proposal.
const RATIONALE: &str = "executive_plan_artifact_id=";
/// Prefix of the idempotency key of its action.
const KEY: &str = "approval:executive-plan:";

/// The rationale of a plan's proposal.
pub(crate) fn rationale(plan: &DocumentId) -> String {
    format!("{RATIONALE}{plan}")
}

/// The idempotency key of the action in a plan's proposal.
pub(crate) fn key(project: &ProjectId, plan: &DocumentId) -> String {
    format!("{KEY}{project}:{plan}")
}

/// Returns whether a proposal asks for the approval of an executive plan. Managers may review it too, but only a
/// decision of a role that opens the gate is final.
pub fn is_plan_approval(head: &ActionProposalHead) -> bool {
    rationales(head).any(|text| text.contains(RATIONALE))
        || keys(&head.proposed_action).any(|key| key.starts_with(KEY))
}

/// The executive plans that a proposal asks to approve.
pub(crate) fn plans_of(head: &ActionProposalHead) -> Vec<DocumentId> {
    let words = |text| str::split(text, [' ', ',', ';', '\n']);
    let named = rationales(head)
        .flat_map(words)
        .filter_map(|word| word.strip_prefix(RATIONALE));
    let keyed = keys(&head.proposed_action).filter_map(|key| {
        let key = key.strip_prefix(KEY)?;
        let (_, plan) = key.strip_suffix(":noop").unwrap_or(key).rsplit_once(':')?;
        Some(plan)
    });
    let mut plans: Vec<DocumentId> = named
        .chain(keyed)
        .filter_map(|plan| DocumentId::parse(plan).ok())
        .collect();
    plans.sort_unstable();
    plans.dedup();
    plans
}

/// The rationales of a proposal and of its action.
pub(crate) fn rationales(head: &ActionProposalHead) -> impl Iterator<Item = &str> {
    let of_proposal = head.rationale.as_deref();
    let of_action = head.proposed_action.get("rationale");
    of_proposal
        .into_iter()
        .chain(of_action.and_then(Value::as_str))
}

/// The idempotency keys of an action and of the action inside it.
pub(crate) fn keys(action: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let inner = action.get("proposed_action");
    let inner = inner.and_then(|inner| inner.get("idempotency_key"));
    let outer = action.get("idempotency_key");
    outer.into_iter().chain(inner).filter_map(Value::as_str)
}
