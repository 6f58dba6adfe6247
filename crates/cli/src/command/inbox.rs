//! `ac inbox`, `ac approve` and `ac deny`

use clap::Args;
use protocol::company::{ActorRole, ReviewDecision, Text, inbox::*};
use serde_json::json;

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
    /// Who decides.
    #[arg(long = "as", value_name = "NAME", default_value = "human")]
    actor: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Inbox {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let folder = self.company.find()?;
        let pending = Local::with(
            &self.home,
            |local| async move { pending(&local, folder).await },
        );
        let pending = pending.await?;
        if pending.is_empty() && !self.json {
            return Ok(terminal::say("Nothing waits for a decision.")?);
        }
        let rows: Vec<_> = pending.iter().map(row).collect();
        terminal::answer(&json!(rows), self.json)
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
        let folder = company.find()?;
        let actor_id = Text::new(actor).ok_or_else(|| Failure::Argument {
            detail: "--as is empty: expected a name".to_owned(),
        })?;
        let resolved = Local::with(&home, |local| async move {
            let subject = named(&pending(&local, folder.clone()).await?, &id)?;
            let params = json!({
                "workspace_dir": folder,
                "project_id": subject.project_id,
                "artifact_id": subject.artifact_id,
                "decision": decision,
                "actor_id": actor_id,
                "actor_role": ActorRole::Human,
                "notes": notes,
            });
            let params = serde_json::from_value(params).map_err(|error| Failure::Argument {
                detail: format!("`{id}` cannot be decided: {error}"),
            })?;
            Ok(local.client.call::<InboxResolve>(params).await?)
        })
        .await?;
        terminal::answer(&json!(resolved), json)
    }
}

async fn pending(local: &Local, folder: Text) -> Result<Vec<InboxPending>, Failure> {
    let params = InboxSnapshotParams {
        workspace_dir: folder,
        project_id: None,
        pending_limit: None,
        decisions_limit: Some(1),
        refresh_index: None,
        sync_index: None,
        actor_id: None,
        actor_role: Some(ActorRole::Human),
        actor_team_id: None,
    };
    Ok(local.client.call::<InboxSnapshot>(params).await?.pending)
}

fn row(pending: &InboxPending) -> serde_json::Value {
    json!({
        "id": pending.artifact_id,
        "kind": pending.artifact_type,
        "title": pending.title,
        "project": pending.project_id,
        "by": pending.produced_by,
        "at": pending.created_at,
    })
}

/// The one that is called or begins like this.
fn named(pending: &[InboxPending], id: &str) -> Result<InboxPending, Failure> {
    let mut found = pending.iter().filter(|one| one.artifact_id.starts_with(id));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one.clone()),
        (Some(_), Some(_)) => Err(Failure::Argument {
            detail: format!("several things that wait begin with `{id}`: expected more of it"),
        }),
        (None, _) => Err(Failure::Argument {
            detail: format!("nothing that waits is called `{id}`: `ac inbox` shows what does"),
        }),
    }
}
