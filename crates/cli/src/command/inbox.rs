//! `ac inbox`, `ac approve` and `ac deny`: the items that wait for a decision.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Args, builder::NonEmptyStringValueParser};
use protocol::{
    FolderId, Method as _, WorkspaceId,
    company::{
        ActorRole, ReviewDecision, Text,
        inbox::*,
        memory::{DeltaFilter, MemoryListDeltas},
    },
    thread::{
        agents_doc::proposal::{ThreadAgentsDocProposalStatus as Status, *},
        folder::ThreadFolder,
    },
};
use rpc::Client;
use serde_json::{Value, json};

use super::{HomeOption, method::INVALID, tree};
use crate::{
    failure::Failure, folder::CompanyOption, local::Local, names::Names, terminal, worker_session,
};

mod decision_content;

pub(super) use decision_content::DecisionContent;

/// List items that wait for a decision, or show one of them.
#[derive(Args, Debug)]
pub(crate) struct InboxCommand {
    #[command(flatten)]
    home: HomeOption,
    #[command(flatten)]
    company: CompanyOption,
    /// Id of an item to show in full, with the SHA-256 for `ac approve --sha256`; a unique prefix is sufficient.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Decide about an item that waits for a decision.
#[derive(Args, Debug)]
pub(crate) struct DecideCommand {
    #[command(flatten)]
    home: HomeOption,
    #[command(flatten)]
    company: CompanyOption,
    /// Id of the item, as listed by `ac inbox`; a unique prefix is sufficient.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Notes about the decision.
    #[arg(long)]
    notes: Option<String>,
    /// Decide only if the item still has the SHA-256 that `ac inbox ID` showed; without this option the item is shown,
    /// and on a terminal a confirmation is requested.
    #[arg(long, value_name = "HASH")]
    sha256: Option<String>,
    /// Do not ask for confirmation.
    #[arg(long)]
    yes: bool,
    /// Name of the person who decides; ignored for proposals of an AGENTS.md, which the owner of the home decides.
    #[arg(long = "as", value_name = "NAME", default_value = "human")]
    actor: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Maximum number of pending items and of decisions that are loaded.
const MAX_ITEMS: u32 = 5000;
/// Number of proposals per page.
const PAGE: u32 = 50;

/// An item that waits for a decision.
pub(super) enum PendingItem {
    /// A document of the company folder.
    Document(Box<InboxPending>),
    /// A change of an AGENTS.md.
    Proposal(Box<ThreadAgentsDocProposal>),
}

impl InboxCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let company = self.company;
        let is_for_people = terminal::is_for_people(self.json);
        if let Some(id) = self.id {
            let shown = Local::with(&self.home, |local| async move {
                let inbox_sources = InboxSources::of(&local, &company).await?;
                let subject = named(inbox_sources.waiting().await?, &id)?;
                inbox_sources.show(&local, &subject).await
            });
            let shown = shown.await?;
            return if is_for_people {
                Ok(terminal::print(&shown.with_hash())?)
            } else {
                terminal::answer(&shown.answer, true)
            };
        }
        let (waiting, places, names) = Local::with(&self.home, |local| async move {
            let inbox_sources = InboxSources::of(&local, &company).await?;
            if inbox_sources.folder.is_none() {
                terminal::complain("There is no company folder here: only proposals are shown.");
            }
            let waiting = inbox_sources.waiting().await?;
            let places = proposal_paths(&local, &waiting).await?;
            let names = if is_for_people {
                let rows: Vec<_> = waiting.iter().map(|one| one.row(true, &places)).collect();
                let params = json!({"workspace_dir": inbox_sources.folder});
                Names::of_answer(&local.client, &params, &json!(rows)).await
            } else {
                Names::default()
            };
            Ok((waiting, places, names))
        })
        .await?;
        if waiting.is_empty() && is_for_people {
            return Ok(terminal::print("Nothing waits for a decision.")?);
        }
        let rows: Vec<_> = waiting
            .iter()
            .map(|one| one.row(is_for_people, &places))
            .collect();
        terminal::answer_with(&json!(rows), &names, self.json)?;
        for one in waiting.iter().filter(|_| is_for_people) {
            if let PendingItem::Proposal(proposal) = one {
                terminal::print(&shown(proposal, &places))?;
            }
        }
        Ok(())
    }
}

impl DecideCommand {
    pub(crate) async fn run(self, decision: ReviewDecision) -> Result<(), Failure> {
        let Self {
            home,
            company,
            id,
            notes,
            sha256,
            yes,
            actor,
            json,
        } = self;
        worker_session::refuse_decision()?;
        let actor_id = Text::new(actor).ok_or_else(|| Failure::Argument {
            detail: "--as is empty: expected a name".to_owned(),
        })?;
        let resolved = Local::with(&home, |local| async move {
            let inbox_sources = InboxSources::of(&local, &company).await?;
            let waiting = inbox_sources.waiting().await?;
            if !waiting.iter().any(|one| one.id().starts_with(&id))
                && let Some(before) = inbox_sources.decided(&id).await?
            {
                return Ok((repeat(before, decision)?, Names::default()));
            }
            let subject = named(waiting, &id)?;
            subject.check_usable(decision)?;
            let expected_sha256 = match sha256 {
                Some(sha256) => sha256,
                None => {
                    let shown = inbox_sources.show(&local, &subject).await?;
                    terminal::complain(&shown.with_hash());
                    if !yes && terminal::can_ask() {
                        terminal::confirm(&question(&subject, decision))?;
                    }
                    shown.sha256
                }
            };
            let verdict = ItemDecision {
                decision,
                actor_id,
                notes,
                expected_sha256,
            };
            let folder = inbox_sources.folder.as_ref();
            let title = subject.title().1.to_owned();
            let mut resolved = subject.decide(&local.client, folder, verdict).await?;
            if terminal::is_for_people(json) {
                let params = json!({"workspace_dir": folder});
                let names = Names::of_answer(&local.client, &params, &resolved).await;
                resolved["title"] = title.into();
                return Ok((resolved, names));
            }
            Ok((resolved, Names::default()))
        });
        let (resolved, names) = resolved.await?;
        terminal::answer_with(&resolved, &names, json)
    }
}

/// The sources of items that wait for a decision.
pub(super) struct InboxSources<'a> {
    client: &'a Client,
    /// The company folder whose documents are included. `None` if there is none.
    folder: Option<Text>,
    /// The workspaces whose proposals are included.
    workspaces: Vec<WorkspaceId>,
}

impl<'a> InboxSources<'a> {
    /// Uses the given or current company folder. Without one, includes the proposals of all workspaces of the home, and
    /// the documents of its company folder if it has only one.
    pub(super) async fn of(local: &'a Local, option: &CompanyOption) -> Result<Self, Failure> {
        Ok(Self {
            client: &local.client,
            folder: local.company_if_any(option).await?,
            workspaces: local.workspaces_at(option).await?,
        })
    }

    #[cfg(test)]
    pub(super) fn documents(client: &'a Client, folder: Text) -> Self {
        Self {
            client,
            folder: Some(folder),
            workspaces: Vec::new(),
        }
    }

    /// Loads all items that wait, documents first.
    pub(super) async fn waiting(&self) -> Result<Vec<PendingItem>, Failure> {
        let mut waiting = Vec::new();
        if let Some(folder) = &self.folder {
            let mut pending = snapshot(self.client, folder.clone(), 1).await?.pending;
            mark_unusable(self.client, folder, &mut pending).await?;
            waiting.extend(pending.into_iter().map(Box::new).map(PendingItem::Document));
        }
        let proposals = self.proposals(Some(Status::Pending)).await?;
        waiting.extend(
            proposals
                .into_iter()
                .map(Box::new)
                .map(PendingItem::Proposal),
        );
        Ok(waiting)
    }

    /// Loads the content that a decision about the item is based on.
    async fn show(&self, local: &Local, subject: &PendingItem) -> Result<DecisionContent, Failure> {
        let places = proposal_paths(local, std::slice::from_ref(subject)).await?;
        subject
            .read(self.client, self.folder.as_ref(), &places)
            .await
    }

    /// Finds the earlier decision about the item with this id or unique prefix.
    async fn decided(&self, id: &str) -> Result<Option<EarlierDecision>, Failure> {
        let mut decided: Vec<EarlierDecision> = Vec::new();
        if let Some(folder) = &self.folder {
            let found = snapshot(self.client, folder.clone(), MAX_ITEMS).await?;
            decided.extend(
                found
                    .recent_decisions
                    .into_iter()
                    .map(EarlierDecision::document),
            );
        }
        let proposals = self.proposals(None).await?;
        decided.extend(proposals.into_iter().filter_map(EarlierDecision::proposal));
        let mut decided = decided.into_iter().filter(|one| one.id.starts_with(id));
        Ok(decided.next().filter(|_| decided.next().is_none()))
    }

    async fn proposals(
        &self,
        status: Option<Status>,
    ) -> Result<Vec<ThreadAgentsDocProposal>, Failure> {
        let mut proposals = Vec::new();
        for workspace in &self.workspaces {
            let mut cursor = None;
            loop {
                let params = ThreadAgentsDocProposalListParams {
                    workspace_id: workspace.clone(),
                    scope: None,
                    status,
                    cursor,
                    limit: Some(PAGE),
                };
                let page = self.client.call::<ThreadAgentsDocProposalList>(params);
                let page = page.await?;
                proposals.extend(page.items);
                cursor = page.next_cursor;
                if cursor.is_none() {
                    break;
                }
            }
        }
        Ok(proposals)
    }
}

/// The decision of a person about an item.
pub(super) struct ItemDecision {
    pub(super) decision: ReviewDecision,
    pub(super) actor_id: Text,
    pub(super) notes: Option<String>,
    /// The hash of the content that was shown.
    pub(super) expected_sha256: String,
}

/// Returns the confirmation question.
fn question(subject: &PendingItem, decision: ReviewDecision) -> String {
    let word = match decision {
        ReviewDecision::Approved => "Approve",
        ReviewDecision::Denied => "Deny",
    };
    format!("{word} `{}`?", terminal::harmless(subject.title().1))
}

async fn decide_document(
    client: &Client,
    folder: Option<&Text>,
    subject: &InboxPending,
    verdict: ItemDecision,
) -> Result<Value, Failure> {
    let params = json!({
        "workspace_dir": folder,
        "project_id": subject.project_id,
        "artifact_id": subject.artifact_id,
        "decision": verdict.decision,
        "actor_id": verdict.actor_id,
        "actor_role": ActorRole::Human,
        "notes": verdict.notes,
        "expected_sha256": verdict.expected_sha256,
    });
    let params = serde_json::from_value(params).map_err(|error| Failure::Argument {
        detail: format!("`{}` cannot be decided: {error}", subject.artifact_id),
    })?;
    Ok(json!(client.call::<InboxResolve>(params).await?))
}

/// Returns whether the gateway rejected a decision because the item changed.
fn is_changed(failure: &Failure) -> bool {
    matches!(
        failure,
        Failure::Call(rpc::client::Error::Rpc { data, .. }) if data["actual_sha256"].is_string()
    )
}

async fn decide_proposal(
    client: &Client,
    proposal: ThreadAgentsDocProposal,
    ItemDecision {
        decision,
        notes,
        expected_sha256,
        ..
    }: ItemDecision,
) -> Result<Value, Failure> {
    let params = ThreadAgentsDocProposalDecideParams {
        workspace_id: proposal.workspace_id,
        proposal_id: proposal.id,
        decision: match decision {
            ReviewDecision::Approved => ThreadAgentsDocDecision::Approve,
            ReviewDecision::Denied => ThreadAgentsDocDecision::Deny,
        },
        note: notes,
        expected_sha256: Some(expected_sha256),
    };
    let decided = client.call::<ThreadAgentsDocProposalDecide>(params).await?;
    let proposal = decided.proposal;
    Ok(json!({
        "id": proposal.id,
        "decision": decision,
        "saved_version": proposal.saved_version,
    }))
}

/// An earlier decision.
struct EarlierDecision {
    id: String,
    decision: ReviewDecision,
    by: String,
    at: String,
    /// The result of the earlier decision, as far as it is known.
    answer: Value,
}

impl EarlierDecision {
    fn document(decided: InboxDecision) -> Self {
        Self {
            answer: json!({
                "artifact_id": decided.subject_artifact_id,
                "decision": decided.decision,
                "review_id": decided.review_id,
                "already": true,
            }),
            id: decided.subject_artifact_id,
            decision: decided.decision,
            by: decided.actor_id,
            at: terminal::of_text(&decided.created_at, &terminal::zone())
                .unwrap_or(decided.created_at),
        }
    }

    /// Returns `None` for proposals that are pending or withdrawn.
    fn proposal(proposal: ThreadAgentsDocProposal) -> Option<Self> {
        let decision = match proposal.status {
            Status::Approved => ReviewDecision::Approved,
            Status::Denied => ReviewDecision::Denied,
            Status::Pending | Status::Withdrawn => return None,
        };
        Some(Self {
            answer: json!({
                "id": proposal.id,
                "decision": decision,
                "saved_version": proposal.saved_version,
                "already": true,
            }),
            id: proposal.id.to_string(),
            decision,
            by: proposal.decided_by.unwrap_or_default(),
            at: terminal::of_seconds(proposal.decided_at.unwrap_or_default(), &terminal::zone())
                .unwrap_or_default(),
        })
    }
}

/// Handles a repeated decision: the same decision returns the earlier result, the opposite one fails.
fn repeat(before: EarlierDecision, decision: ReviewDecision) -> Result<Value, Failure> {
    let word = match before.decision {
        ReviewDecision::Approved => "approved",
        ReviewDecision::Denied => "denied",
    };
    let by = terminal::harmless(&before.by);
    let sentence = format!("`{}` was {word} by {by} at {}", before.id, before.at);
    if before.decision == decision {
        terminal::complain(&sentence);
        Ok(before.answer)
    } else {
        Err(Failure::Decided { sentence })
    }
}

/// Loads the pending documents of a company folder and the given number of recent decisions.
async fn snapshot(
    client: &Client,
    folder: Text,
    decisions: u32,
) -> Result<InboxSnapshotResponse, Failure> {
    let params = InboxSnapshotParams {
        workspace_dir: folder,
        project_id: None,
        pending_limit: Some(MAX_ITEMS),
        decisions_limit: Some(decisions),
        refresh_index: None,
        sync_index: None,
        actor_id: None,
        actor_role: Some(ActorRole::Human),
        actor_team_id: None,
    };
    Ok(client.call::<InboxSnapshot>(params).await?)
}

/// Marks memory deltas with an invalid target or patch. The snapshot itself marks only malformed documents.
async fn mark_unusable(
    client: &Client,
    folder: &Text,
    pending: &mut [InboxPending],
) -> Result<(), Failure> {
    let is_delta = |one: &InboxPending| one.artifact_type == "memory_delta";
    if !pending.iter().any(is_delta) {
        return Ok(());
    }
    let params = json!({
        "workspace_dir": folder, "actor_id": "human", "actor_role": ActorRole::Human,
        "status": DeltaFilter::Invalid, "limit": MAX_ITEMS,
    });
    let unusable = client.call_raw(MemoryListDeltas::NAME, params).await?;
    let unusable = unusable["items"].as_array().into_iter().flatten();
    let ids: BTreeSet<_> = unusable
        .filter_map(|row| row["artifact_id"].as_str())
        .map(str::to_owned)
        .collect();
    for one in pending {
        if ids.contains(&one.artifact_id) {
            one.invalid = Some(true);
        }
    }
    Ok(())
}

/// The paths of the files that proposals change, by workspace and folder.
pub(super) type ProposalPaths = BTreeMap<(WorkspaceId, FolderId), String>;

/// Loads the paths for all proposals, reading each tree once.
async fn proposal_paths(local: &Local, waiting: &[PendingItem]) -> Result<ProposalPaths, Failure> {
    let mut places = ProposalPaths::new();
    let workspaces: BTreeSet<_> = waiting
        .iter()
        .filter_map(|one| match one {
            PendingItem::Proposal(proposal) => proposal
                .folder_id
                .as_ref()
                .and(Some(&proposal.workspace_id)),
            PendingItem::Document(_) => None,
        })
        .collect();
    for workspace in workspaces {
        let folders = tree::read(local, Some(workspace.as_str())).await?.folders;
        for folder in &folders {
            let key = (workspace.clone(), folder.id.clone());
            places.insert(key, path(&folders, folder));
        }
    }
    Ok(places)
}

/// Returns the path of the AGENTS.md of a folder, starting at the root.
fn path(folders: &[ThreadFolder], folder: &ThreadFolder) -> String {
    let mut path = format!("{}/AGENTS.md", folder.name);
    let mut above = folder.parent_folder_id.as_ref();
    while let Some(parent) = above.and_then(|id| folders.iter().find(|one| one.id == *id)) {
        path = format!("{}/{path}", parent.name);
        above = parent.parent_folder_id.as_ref();
    }
    path
}

/// Returns the path of the file that a proposal changes.
fn file<'a>(proposal: &'a ThreadAgentsDocProposal, places: &'a ProposalPaths) -> &'a str {
    let Some(folder) = &proposal.folder_id else {
        return "AGENTS.md";
    };
    let place = places.get(&(proposal.workspace_id.clone(), folder.clone()));
    place.map_or(folder.as_str(), String::as_str)
}

impl PendingItem {
    /// Sends a decision about the shown content to the gateway, with the role of a person.
    pub(super) async fn decide(
        self,
        client: &Client,
        folder: Option<&Text>,
        verdict: ItemDecision,
    ) -> Result<Value, Failure> {
        self.check_usable(verdict.decision)?;
        let id = self.id().to_owned();
        let decided = match self {
            Self::Document(subject) => decide_document(client, folder, &subject, verdict).await,
            Self::Proposal(proposal) => decide_proposal(client, *proposal, verdict).await,
        };
        decided.map_err(|failure| {
            if is_changed(&failure) {
                Failure::Changed { id }
            } else {
                failure
            }
        })
    }

    /// Fails if the item is invalid and the decision is an approval: invalid items can only be denied.
    pub(super) fn check_usable(&self, decision: ReviewDecision) -> Result<(), Failure> {
        if !self.is_invalid() || decision == ReviewDecision::Denied {
            return Ok(());
        }
        Err(Failure::Unsound {
            detail: format!(
                "`{}` cannot be approved, because its file, its target or its patch is invalid: `ac deny {}` removes it from the inbox",
                terminal::harmless(self.title().1),
                self.id()
            ),
        })
    }

    /// Returns the kind and the title of the item.
    pub(super) fn title(&self) -> (&str, &str) {
        match self {
            Self::Document(pending) => (
                &pending.artifact_type,
                pending.title.as_deref().unwrap_or(&pending.artifact_id),
            ),
            Self::Proposal(proposal) => ("agents_doc_proposal", &proposal.rationale),
        }
    }

    /// Returns whether the item is invalid, so that it can only be denied.
    fn is_invalid(&self) -> bool {
        match self {
            Self::Document(pending) => pending.invalid == Some(true),
            Self::Proposal(_) => false,
        }
    }

    pub(super) fn id(&self) -> &str {
        match self {
            Self::Document(pending) => &pending.artifact_id,
            Self::Proposal(proposal) => proposal.id.as_str(),
        }
    }

    /// Returns the row of the item in the list. For people it leaves out the proposal, which is shown below the table.
    fn row(&self, is_for_people: bool, places: &ProposalPaths) -> Value {
        match self {
            Self::Document(pending) => {
                let mut row = json!({
                    "id": pending.artifact_id,
                    "kind": kind(&pending.artifact_type, is_for_people),
                    "title": pending.title,
                    "project": pending.project_id,
                    "by": pending.produced_by,
                    "at": pending.created_at,
                });
                if self.is_invalid() && is_for_people {
                    row["state"] = INVALID.into();
                }
                row
            }
            Self::Proposal(proposal) => {
                let mut row = json!({
                    "id": proposal.id,
                    "kind": kind("agents_doc_proposal", is_for_people),
                    "title": proposal.rationale,
                    "workspace": proposal.workspace_id,
                    "file": file(proposal, places),
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

/// Returns the kind of an item, with spaces instead of underscores for people.
fn kind(word: &str, is_for_people: bool) -> String {
    if is_for_people {
        word.replace("agents_doc", "AGENTS.md").replace('_', " ")
    } else {
        word.to_owned()
    }
}

/// Formats a proposal for people.
fn shown(proposal: &ThreadAgentsDocProposal, places: &ProposalPaths) -> String {
    let stale = if proposal.is_stale {
        format!(
            ", based on version {}, current version {}",
            proposal.base_version, proposal.current_version
        )
    } else {
        String::new()
    };
    format!(
        "\n{} by {}, for {}{stale}\n{}\n{}",
        proposal.id,
        terminal::harmless(&proposal.author),
        terminal::harmless(file(proposal, places)),
        terminal::harmless_lines(&proposal.rationale),
        terminal::harmless_lines(&proposal.diff)
    )
}

/// Returns the item with this id or unique prefix.
pub(super) fn named(waiting: Vec<PendingItem>, id: &str) -> Result<PendingItem, Failure> {
    let mut found = waiting.into_iter().filter(|one| one.id().starts_with(id));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(Failure::Argument {
            detail: format!("several items start with `{id}`: expected a longer prefix"),
        }),
        (None, _) => Err(Failure::Argument {
            detail: format!("no item `{id}` waits for a decision: `ac inbox` lists the items"),
        }),
    }
}
