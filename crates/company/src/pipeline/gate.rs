//! The approval gate: determines whether the CEO has approved an executive plan. The latest decision counts.

use protocol::{
    Id as _,
    company::{ActorRole, DocumentId, ProjectId, ReviewDecision},
};
use serde_json::{Map, Value};

use crate::{
    Company, Error,
    document::{ActionProposalHead, Review},
    inbox, layout,
};

/// Prefix of the plan id in the rationale of its proposal.
const RATIONALE: &str = "executive_plan_artifact_id=";
/// Prefix of the idempotency key of its action.
const KEY: &str = "approval:executive-plan:";

/// The rationale of a plan's proposal.
pub(super) fn rationale(plan: &DocumentId) -> String {
    format!("{RATIONALE}{plan}")
}

/// The idempotency key of the action in a plan's proposal.
pub(super) fn key(project: &ProjectId, plan: &DocumentId) -> String {
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

/// Returns whether an approval by this role opens the gate.
pub(crate) fn opens(role: ActorRole) -> bool {
    matches!(role, ActorRole::Ceo | ActorRole::Human)
}

/// Returns whether a review decides about its document conclusively. A review of an executive plan by a role that does
/// not open the gate leaves the plan pending.
pub(crate) fn is_final(company: &Company, review: &Review) -> bool {
    let subject = &review.subject;
    if opens(review.actor_role) || *subject.kind != *inbox::ACTION_KIND {
        return true;
    }
    let (Ok(project), Ok(document)) = (
        ProjectId::parse(&subject.project_id),
        DocumentId::parse(&subject.artifact_id),
    ) else {
        return true;
    };
    let relpath = layout::document(&project, &document);
    let proposal = company.read_markdown::<ActionProposalHead>(&relpath);
    !proposal.is_ok_and(|proposal| is_plan_approval(&proposal.head))
}

/// Fails unless the CEO or a human approved the plan and no later review denied it. Unreadable files count as possible
/// denials.
pub fn check(company: &Company, project: &ProjectId, plan: &DocumentId) -> Result<(), Error> {
    let Decided {
        decision,
        mut unreadable,
    } = decision(company, project, plan)?;
    let message = match decision {
        Some(ReviewDecision::Approved) => {
            unreadable.retain(|file| file.may_deny);
            if unreadable.is_empty() {
                return Ok(());
            }
            format!("executive plan {plan} is approved, but may have been denied since")
        }
        Some(ReviewDecision::Denied) | None => {
            format!("CEO approval required for executive plan {plan}")
        }
    };
    let files: Vec<_> = unreadable.into_iter().map(|file| file.path).collect();
    Err(Error::Refused(if files.is_empty() {
        message
    } else {
        format!("{message}; not readable: {}", files.join(", "))
    }))
}

/// Decision about a plan, and the files that could not be evaluated.
pub(super) struct Decided {
    pub(super) decision: Option<ReviewDecision>,
    unreadable: Vec<Unreadable>,
}

/// A file that may contain a decision about a plan.
struct Unreadable {
    path: String,
    may_deny: bool,
}

/// Determines the decision about a plan: the latest review if it is a denial, else the latest review by a role that
/// opens the gate.
pub(super) fn decision(
    company: &Company,
    project: &ProjectId,
    plan: &DocumentId,
) -> Result<Decided, Error> {
    let (mut reviews, mut unreadable) = (Vec::new(), Vec::new());
    for name in company.names(layout::REVIEWS)? {
        let path = format!("{}/{name}", layout::REVIEWS);
        let Ok(review) = company.read::<Review>(&path) else {
            unreadable.push(Unreadable {
                path,
                may_deny: true,
            });
            continue;
        };
        let subject = &review.subject;
        if *subject.kind != *inbox::ACTION_KIND || *subject.project_id != *project.as_str() {
            continue;
        }
        match proposes(company, project, &subject.artifact_id, plan) {
            Ok(true) => reviews.push(review),
            Ok(false) => {}
            Err(path) => unreadable.push(Unreadable {
                // A proposal that no longer exists cannot be one for this plan, because its approval would be missing,
                // too.
                may_deny: review.decision == ReviewDecision::Denied && company.path(&path).exists(),
                path,
            }),
        }
    }
    reviews
        .sort_by(|left, right| (&left.created_at, &left.id).cmp(&(&right.created_at, &right.id)));
    let decisive = match reviews.last() {
        Some(last) if last.decision == ReviewDecision::Denied => Some(last),
        _ => reviews.iter().rfind(|review| opens(review.actor_role)),
    };
    Ok(Decided {
        decision: decisive.map(|review| review.decision),
        unreadable,
    })
}

/// Returns whether a document is a proposal to approve the plan, or its path as error if it cannot be read.
fn proposes(
    company: &Company,
    project: &ProjectId,
    document: &str,
    plan: &DocumentId,
) -> Result<bool, String> {
    let Ok(document) = DocumentId::parse(document) else {
        return Ok(false);
    };
    let relpath = layout::document(project, &document);
    let Ok(proposal) = company.read_markdown::<ActionProposalHead>(&relpath) else {
        return Err(relpath);
    };
    let head = &proposal.head;
    let (rationale, suffix) = (rationale(plan), format!(":{plan}"));
    let is_named = |text: &str| {
        text.split([' ', ',', ';', '\n'])
            .any(|word| word == rationale)
    };
    let is_keyed = |key: &str| key.strip_suffix(":noop").unwrap_or(key).ends_with(&suffix);
    Ok(*head.project_id == *project.as_str()
        && (rationales(head).any(is_named) || keys(&head.proposed_action).any(is_keyed)))
}

/// The rationales of a proposal and of its action.
fn rationales(head: &ActionProposalHead) -> impl Iterator<Item = &str> {
    let of_proposal = head.rationale.as_deref();
    let of_action = head.proposed_action.get("rationale");
    of_proposal
        .into_iter()
        .chain(of_action.and_then(Value::as_str))
}

/// The idempotency keys of an action and of the action inside it.
fn keys(action: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let inner = action.get("proposed_action");
    let inner = inner.and_then(|inner| inner.get("idempotency_key"));
    let outer = action.get("idempotency_key");
    outer.into_iter().chain(inner).filter_map(Value::as_str)
}
