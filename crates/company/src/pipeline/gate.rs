//! The approval gate: determines whether the CEO has approved an executive plan. The latest decision counts.

use protocol::{
    Id as _,
    company::{ActorRole, DocumentId, ProjectId, ReviewDecision},
};

use crate::{
    Company, Error,
    decisions::{
        plan_approval::{is_plan_approval, keys, rationale, rationales},
        review::ACTION_KIND,
    },
    document::{ActionProposalHead, Review},
    layout,
};

/// Returns whether an approval by this role opens the gate.
pub(crate) fn opens(role: ActorRole) -> bool {
    matches!(role, ActorRole::Ceo | ActorRole::Human)
}

/// Returns whether a review decides about its document conclusively. A review of an executive plan by a role that does
/// not open the gate leaves the plan pending.
pub(crate) fn is_final(company: &Company, review: &Review) -> bool {
    let subject = &review.subject;
    if opens(review.actor_role) || *subject.kind != *ACTION_KIND {
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
    let PlanDecision {
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
pub(super) struct PlanDecision {
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
) -> Result<PlanDecision, Error> {
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
        if *subject.kind != *ACTION_KIND || *subject.project_id != *project.as_str() {
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
    Ok(PlanDecision {
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
