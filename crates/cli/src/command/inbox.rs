//! `ac inbox`, `ac approve` and `ac deny`

use clap::Args;
use protocol::{
    AgentsDocProposalId, Id as _,
    company::{ActorRole, ReviewDecision, Text, inbox::*},
    thread::agents_doc::proposal::*,
};
use rpc::Client;
use serde_json::{Value, json};

use super::HomeOption;
use crate::{failure::Failure, folder::CompanyOption, local::Local, terminal};

/// What waits for a decision.
#[derive(Args, Debug)]
pub(crate) struct Inbox {
    #[command(flatten)]
    home: HomeOption,
    #[command(flatten)]
    company: CompanyOption,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A decision about something that waits for it.
#[derive(Args, Debug)]
pub(crate) struct Decide {
    #[command(flatten)]
    home: HomeOption,
    #[command(flatten)]
    company: CompanyOption,
    /// What it is about, as `ac inbox` shows it; the beginning is enough if only one begins so.
    id: String,
    /// What you want to say about it.
    #[arg(long)]
    notes: Option<String>,
    /// Who decides; about an AGENTS.md it is always the owner of the home.
    #[arg(long = "as", value_name = "NAME", default_value = "human")]
    actor: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// How many decisions are looked through for one that was made before.
const LAST_DECISIONS: u32 = 1000;

/// One thing that waits.
pub(super) enum Waiting {
    /// A document of the company folder.
    Document(Box<InboxPending>),
    /// A change of an AGENTS.md.
    Proposal(Box<ThreadAgentsDocProposal>),
}

impl Inbox {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let company = self.company;
        let waiting = Local::with(&self.home, |local| async move {
            let folder = local.company_if_any(&company).await?;
            if folder.is_none() {
                terminal::complain("There is no company folder here: only proposals are shown.");
            }
            everything(&local, folder).await
        });
        let waiting = waiting.await?;
        if waiting.is_empty() && !self.json {
            return Ok(terminal::say("Nothing waits for a decision.")?);
        }
        let is_for_people = terminal::is_for_people(self.json);
        let rows: Vec<_> = waiting.iter().map(|one| one.row(is_for_people)).collect();
        terminal::answer(&json!(rows), self.json)?;
        for one in waiting.iter().filter(|_| is_for_people) {
            if let Waiting::Proposal(proposal) = one {
                terminal::say(&shown(proposal))?;
            }
        }
        Ok(())
    }
}

impl Decide {
    pub(crate) async fn run(self, decision: ReviewDecision) -> Result<(), Failure> {
        let Self {
            home,
            company,
            id,
            notes,
            actor,
            json,
        } = self;
        let actor_id = Text::new(actor).ok_or_else(|| Failure::Argument {
            detail: "--as is empty: expected a name".to_owned(),
        })?;
        let resolved = Local::with(&home, |local| async move {
            let folder = local.company_if_any(&company).await?;
            let mut waiting = everything(&local, folder.clone()).await?;
            if !waiting.iter().any(|one| one.id().starts_with(&id)) {
                match elsewhere(&local, folder.clone(), &id).await? {
                    Some(Elsewhere::Waits(proposal)) => waiting.push(Waiting::Proposal(proposal)),
                    Some(Elsewhere::Decided(before)) => return already(before, decision),
                    None => {}
                }
            }
            let verdict = Verdict {
                decision,
                actor_id,
                notes,
            };
            let subject = named(waiting, &id)?;
            subject
                .decide(&local.client, folder.as_ref(), verdict)
                .await
        })
        .await?;
        terminal::answer(&resolved, json)
    }
}

/// What somebody says to something that waits.
pub(super) struct Verdict {
    pub(super) decision: ReviewDecision,
    pub(super) actor_id: Text,
    pub(super) notes: Option<String>,
}

async fn decide_proposal(
    client: &Client,
    proposal: ThreadAgentsDocProposal,
    Verdict {
        decision, notes, ..
    }: Verdict,
) -> Result<Value, Failure> {
    let params = ThreadAgentsDocProposalDecideParams {
        workspace_id: proposal.workspace_id,
        proposal_id: proposal.id,
        decision: match decision {
            ReviewDecision::Approved => ThreadAgentsDocDecision::Approve,
            ReviewDecision::Denied => ThreadAgentsDocDecision::Deny,
        },
        note: notes,
        expected_sha256: Some(proposal.content_sha256),
    };
    let decided = client.call::<ThreadAgentsDocProposalDecide>(params).await?;
    let proposal = decided.proposal;
    Ok(json!({
        "id": proposal.id,
        "decision": decision,
        "saved_version": proposal.saved_version,
    }))
}

/// What is not among the first that wait.
enum Elsewhere {
    /// It waits behind many others.
    Waits(Box<ThreadAgentsDocProposal>),
    Decided(Before),
}

/// A decision that was made before.
struct Before {
    id: String,
    decision: ReviewDecision,
    by: String,
    at: String,
    /// What was answered then, as far as it is known.
    answer: Value,
}

/// What is called exactly so: a proposal, or a document that was decided about.
async fn elsewhere(
    local: &Local,
    folder: Option<Text>,
    id: &str,
) -> Result<Option<Elsewhere>, Failure> {
    if let Ok(proposal_id) = AgentsDocProposalId::parse(id) {
        let params = ThreadAgentsDocProposalGetParams {
            workspace_id: local.workspace_at(folder.as_ref()).await?,
            proposal_id,
        };
        let found = local.client.call::<ThreadAgentsDocProposalGet>(params);
        match found.await {
            Ok(found) => return Ok(proposed(found.proposal)),
            // No proposal is called so.
            Err(rpc::client::Error::Rpc { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let Some(folder) = folder else {
        return Ok(None);
    };
    let found = snapshot(&local.client, folder, LAST_DECISIONS).await?;
    let mut decisions = found.recent_decisions.into_iter();
    let found = decisions.find(|one| one.subject_artifact_id == id);
    Ok(found.map(|found| {
        Elsewhere::Decided(Before {
            answer: json!({
                "artifact_id": found.subject_artifact_id,
                "decision": found.decision,
                "review_id": found.review_id,
                "already": true,
            }),
            id: found.subject_artifact_id,
            decision: found.decision,
            by: found.actor_id,
            at: found.created_at,
        })
    }))
}

/// How a proposal stands; one that was taken back is not there.
fn proposed(proposal: ThreadAgentsDocProposal) -> Option<Elsewhere> {
    let decision = match proposal.status {
        ThreadAgentsDocProposalStatus::Pending => {
            return Some(Elsewhere::Waits(Box::new(proposal)));
        }
        ThreadAgentsDocProposalStatus::Approved => ReviewDecision::Approved,
        ThreadAgentsDocProposalStatus::Denied => ReviewDecision::Denied,
        ThreadAgentsDocProposalStatus::Withdrawn => return None,
    };
    Some(Elsewhere::Decided(Before {
        answer: json!({
            "id": proposal.id,
            "decision": decision,
            "saved_version": proposal.saved_version,
            "already": true,
        }),
        id: proposal.id.to_string(),
        decision,
        by: proposal.decided_by.unwrap_or_default(),
        at: proposal.decided_at.unwrap_or_default().to_string(),
    }))
}

/// Whoever decides the same again gets the same answer, once more.
fn already(before: Before, decision: ReviewDecision) -> Result<Value, Failure> {
    let word = match before.decision {
        ReviewDecision::Approved => "approved",
        ReviewDecision::Denied => "denied",
    };
    let by = terminal::harmless(&before.by);
    let sentence = format!("`{}` was {word} by {by} at {}", before.id, before.at);
    match before.decision == decision {
        true => {
            terminal::complain(&sentence);
            Ok(before.answer)
        }
        false => Err(Failure::Decided { sentence }),
    }
}

/// What waits, and as many of the last decisions.
async fn snapshot(
    client: &Client,
    folder: Text,
    decisions: u32,
) -> Result<InboxSnapshotResponse, Failure> {
    let params = InboxSnapshotParams {
        workspace_dir: folder,
        project_id: None,
        pending_limit: None,
        decisions_limit: Some(decisions),
        refresh_index: None,
        sync_index: None,
        actor_id: None,
        actor_role: Some(ActorRole::Human),
        actor_team_id: None,
    };
    Ok(client.call::<InboxSnapshot>(params).await?)
}

/// Everything that waits: in a company, or without one the proposals of the workspace.
async fn everything(local: &Local, folder: Option<Text>) -> Result<Vec<Waiting>, Failure> {
    let Some(folder) = folder else {
        let params = ThreadAgentsDocProposalListParams {
            workspace_id: local.workspace_at(None).await?,
            scope: None,
            status: Some(ThreadAgentsDocProposalStatus::Pending),
            cursor: None,
            limit: None,
        };
        let found = local.client.call::<ThreadAgentsDocProposalList>(params);
        return Ok(proposals(found.await?.items).collect());
    };
    waiting(&local.client, folder).await
}

/// Everything that waits in a company, the documents of the folder first.
pub(super) async fn waiting(client: &Client, folder: Text) -> Result<Vec<Waiting>, Failure> {
    let found = snapshot(client, folder, 1).await?;
    let documents = found.pending.into_iter().map(Box::new);
    Ok(documents
        .map(Waiting::Document)
        .chain(proposals(found.agents_doc_proposals))
        .collect())
}

fn proposals(found: Vec<ThreadAgentsDocProposal>) -> impl Iterator<Item = Waiting> {
    found.into_iter().map(Box::new).map(Waiting::Proposal)
}

impl Waiting {
    /// Decides about it, as a person.
    pub(super) async fn decide(
        self,
        client: &Client,
        folder: Option<&Text>,
        verdict: Verdict,
    ) -> Result<Value, Failure> {
        let subject = match self {
            Self::Document(subject) => subject,
            Self::Proposal(proposal) => return decide_proposal(client, *proposal, verdict).await,
        };
        let params = json!({
            "workspace_dir": folder,
            "project_id": subject.project_id,
            "artifact_id": subject.artifact_id,
            "decision": verdict.decision,
            "actor_id": verdict.actor_id,
            "actor_role": ActorRole::Human,
            "notes": verdict.notes,
        });
        let params = serde_json::from_value(params).map_err(|error| Failure::Argument {
            detail: format!("`{}` cannot be decided: {error}", subject.artifact_id),
        })?;
        Ok(json!(client.call::<InboxResolve>(params).await?))
    }

    /// What kind of thing it is, and what it is called.
    pub(super) fn title(&self) -> (&str, &str) {
        match self {
            Self::Document(pending) => (
                &pending.artifact_type,
                pending.title.as_deref().unwrap_or("?"),
            ),
            Self::Proposal(proposal) => ("agents_doc_proposal", &proposal.rationale),
        }
    }

    pub(super) fn id(&self) -> &str {
        match self {
            Self::Document(pending) => &pending.artifact_id,
            Self::Proposal(proposal) => proposal.id.as_str(),
        }
    }

    /// A line of a table, which has no room for a diff.
    fn row(&self, is_for_people: bool) -> Value {
        match self {
            Self::Document(pending) => json!({
                "id": pending.artifact_id,
                "kind": pending.artifact_type,
                "title": pending.title,
                "project": pending.project_id,
                "by": pending.produced_by,
                "at": pending.created_at,
            }),
            Self::Proposal(proposal) => {
                let mut row = json!({
                    "id": proposal.id,
                    "kind": "agents_doc_proposal",
                    "title": proposal.rationale,
                    "by": proposal.author,
                    "at": proposal.created_at,
                });
                if !is_for_people {
                    row["proposal"] = json!(proposal);
                }
                row
            }
        }
    }
}

/// A proposal for people.
fn shown(proposal: &ThreadAgentsDocProposal) -> String {
    let stale = match proposal.is_stale {
        true => format!(
            ", against version {} while there is version {}",
            proposal.base_version, proposal.current_version
        ),
        false => String::new(),
    };
    format!(
        "\n{} by {}{stale}\n{}\n{}",
        proposal.id,
        terminal::harmless(&proposal.author),
        terminal::harmless_lines(&proposal.rationale),
        terminal::harmless_lines(&proposal.diff)
    )
}

/// The one that is called or begins like this.
pub(super) fn named(waiting: Vec<Waiting>, id: &str) -> Result<Waiting, Failure> {
    let mut found = waiting.into_iter().filter(|one| one.id().starts_with(id));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(Failure::Argument {
            detail: format!("several things that wait begin with `{id}`: expected more of it"),
        }),
        (None, _) => Err(Failure::Argument {
            detail: format!("nothing that waits is called `{id}`: `ac inbox` shows what does"),
        }),
    }
}
