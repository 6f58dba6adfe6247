//! Loads the data of the board and performs its actions, through public methods only.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use protocol::company::{
    ActorRole, Asking, ReviewDecision, RunStatus, Text,
    run::{RunList, RunListParams, RunRow},
    session::{
        CompanySessionList, CompanySessionListParams, CompanySessionParams, CompanySessionStop,
    },
};
use rpc::{Client, client::Incoming};
use serde_json::{Value, json};

use super::board::{ActionOutcome, BoardAction, CompanySnapshot, InboxLine, RunLine, SessionLine};
use crate::{
    command::{
        inbox::{self, InboxSources, ItemDecision, ProposalPaths},
        method::NOT_STARTED,
    },
    failure::Failure,
    names::Names,
    terminal, worker_session,
};

/// Maximum number of runs that are shown.
const MAX_RUNS: usize = 100;

/// A company folder, accessed through a gateway.
pub(super) struct CompanySource<'a> {
    client: &'a Client,
    dir: Text,
    inbox_sources: InboxSources<'a>,
    /// The name of the folder.
    pub(super) company: String,
    /// The names of agents, teams and projects.
    names: Names,
}

impl<'a> CompanySource<'a> {
    pub(super) async fn new(
        client: &'a Client,
        dir: Text,
        inbox_sources: InboxSources<'a>,
    ) -> Result<Self, Failure> {
        let names = Names::of_company(client, &dir).await?;
        let name = Path::new(dir.as_str()).file_name().unwrap_or_default();
        Ok(Self {
            client,
            company: name.to_string_lossy().into_owned(),
            names,
            dir,
            inbox_sources,
        })
    }

    /// Returns the name of an agent or a project, or its id if the name is unknown.
    fn name(&self, id: &str) -> String {
        terminal::harmless(self.names.get(id).unwrap_or(id))
    }

    /// Loads the current state.
    pub(super) async fn look(&self, now_ms: i64) -> Result<CompanySnapshot, Failure> {
        let sessions = CompanySessionListParams {
            workspace_dir: Some(self.dir.clone()),
            status: Some(RunStatus::Running),
            ..CompanySessionListParams::default()
        };
        let sessions = self.client.call::<CompanySessionList>(sessions).await?.0;
        let runs = RunListParams {
            workspace_dir: self.dir.clone(),
            project_id: None,
            asking: Asking::default(),
        };
        let runs = self.client.call::<RunList>(runs).await?.0;
        let inbox = self.inbox_sources.waiting().await?;
        let agents: BTreeMap<&str, &str> = runs
            .iter()
            .map(|run| (run.run_id.as_str(), run.agent_id.as_str()))
            .collect();
        let queued: BTreeSet<String> = sessions
            .iter()
            .filter(|session| session.state.queued == Some(true))
            .map(|session| session.state.run_id.clone())
            .collect();
        let mut sessions: Vec<_> = sessions
            .iter()
            .map(|session| SessionLine {
                session_ref: session.state.session_ref.clone(),
                agent: self.name(agents.get(session.state.run_id.as_str()).unwrap_or(&"?")),
                project: self.name(&session.state.project_id),
                queue_position: session.state.queue_position,
                queue_reason: session.state.queue_reason.clone(),
                seconds: (now_ms - session.started_at_ms).max(0) / 1000,
            })
            .collect();
        sessions.sort_by_key(|session| (session.queue_position, -session.seconds));
        Ok(CompanySnapshot {
            inbox: inbox
                .iter()
                .map(|waiting| {
                    let (kind, title) = waiting.title();
                    InboxLine {
                        id: waiting.id().to_owned(),
                        kind: terminal::harmless(kind),
                        title: terminal::harmless(title),
                    }
                })
                .collect(),
            runs: runs
                .iter()
                .take(MAX_RUNS)
                .map(|run| RunLine {
                    goal: run.goal.as_deref().map(terminal::first_line),
                    agent: self.name(&run.agent_id),
                    project: self.name(run.project_id.as_str()),
                    provider: terminal::harmless(&run.provider),
                    status: status_of(run, &queued).to_owned(),
                    run_id: run.run_id.clone(),
                })
                .collect(),
            sessions,
        })
    }

    /// Subscribes to events, starting with the most recent ones.
    pub(super) async fn subscribe(&self) -> Result<(), Failure> {
        let params = json!({
            "workspace_dir": self.dir, "backfill_limit": 30, "actor_id": "human", "actor_role": ActorRole::Human,
        });
        self.client.call_raw("events.subscribe", params).await?;
        Ok(())
    }

    pub(super) async fn notification(&self) -> Option<Incoming> {
        self.client.notification().await
    }

    /// Formats an event in one line.
    pub(super) fn line_of(&self, params: &Value) -> String {
        let event = &params["event"];
        let word = |name: &str| event[name].as_str().unwrap_or_default();
        let time = terminal::of_text(word("ts_wallclock"), &terminal::zone());
        let time = time.as_deref().and_then(|time| time.get(11..));
        let time = time.unwrap_or_default();
        let who = self.name(word("actor"));
        terminal::harmless(&format!("{time}  {:24} {who}", word("type")))
    }

    /// Performs an action and returns its result.
    pub(super) async fn perform(&self, wish: &BoardAction) -> Result<ActionOutcome, Failure> {
        match wish {
            BoardAction::Refresh => Ok(ActionOutcome::Done(String::new())),
            BoardAction::Stop { session_ref, whose } => {
                let params = CompanySessionParams {
                    session_ref: word(session_ref)?,
                    workspace_dir: Some(self.dir.clone()),
                    asking: Asking::default(),
                };
                self.client.call::<CompanySessionStop>(params).await?;
                Ok(ActionOutcome::Done(format!(
                    "The session of {whose} is being stopped"
                )))
            }
            BoardAction::Show { subject, decision } => {
                worker_session::refuse_decision()?;
                let waiting = self.inbox_sources.waiting().await?;
                let waiting = inbox::named(waiting, &subject.id)?;
                waiting.check_usable(*decision)?;
                let places = ProposalPaths::new();
                let shown = waiting.read(self.client, Some(&self.dir), &places).await?;
                Ok(ActionOutcome::Ask(BoardAction::Decide {
                    subject: subject.clone(),
                    decision: *decision,
                    shown,
                }))
            }
            BoardAction::Decide {
                subject,
                decision,
                shown,
            } => {
                let waiting = self.inbox_sources.waiting().await?;
                let waiting = inbox::named(waiting, &subject.id)?;
                let verdict = ItemDecision {
                    decision: *decision,
                    actor_id: word("human")?,
                    notes: None,
                    expected_sha256: shown.sha256.clone(),
                };
                waiting
                    .decide(self.client, Some(&self.dir), verdict)
                    .await?;
                let word = match decision {
                    ReviewDecision::Approved => "approved",
                    ReviewDecision::Denied => "denied",
                };
                Ok(ActionOutcome::Done(format!(
                    "`{}` is {word}",
                    subject.title
                )))
            }
        }
    }
}

/// Returns the status of a run for people. On the wire, queued and unlaunched runs are `running`, too.
fn status_of(run: &RunRow, queued: &BTreeSet<String>) -> &'static str {
    if queued.contains(&run.run_id) {
        "queued"
    } else if run.not_started == Some(true) {
        NOT_STARTED
    } else {
        run.status.as_str()
    }
}

/// Converts a text for the wire, which rejects empty texts.
fn word(text: &str) -> Result<Text, Failure> {
    Text::new(text).ok_or_else(|| Failure::Argument {
        detail: "a name is empty".to_owned(),
    })
}
