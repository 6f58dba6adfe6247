//! The lanes of company folders: queued sessions, the slots they wait for, and the cool-downs of providers. The
//! scheduling rules themselves are in `lanes`.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Weak},
    time::Duration,
};

use company::Company;
use protocol::company::{
    ActorRole,
    session::{
        CompanySessionCooldown, CompanySessionLane, CompanySessionLaunchParams,
        CompanySessionQueueReason, CompanySessionQueueReasonCode,
    },
};
use serde_json::json;
use tokio::{sync::oneshot, time::sleep};

use super::{Inner, lock, registry::RegisteredSession};
use crate::{
    Error,
    blocking::blocking,
    lanes::{Cooldown, Entry, Lane, Limits, Obstacle, Strain, Team, Ticket, Waiting},
    plan::Plan,
};

/// Path of the saved cool-downs, relative to the company folder.
const LANES_PATH: &str = ".local/lanes.json";

/// The lane of one company folder, and the channels that start its queued sessions.
#[derive(Debug, Default)]
pub(super) struct Queue {
    lane: Lane,
    grants: BTreeMap<Ticket, oneshot::Sender<()>>,
}

impl Inner {
    fn entry(&self, plan: &Plan, params: &CompanySessionLaunchParams, role: ActorRole) -> Entry {
        let limits = self.options.limits;
        // Every role may lower a limit; only `human` and `ceo` may raise it.
        let limit = |wanted: Option<u64>, usual: u64| match (wanted, role) {
            (Some(wanted), ActorRole::Human | ActorRole::Ceo) => wanted,
            (Some(wanted), ActorRole::Director | ActorRole::Manager | ActorRole::Worker) => {
                wanted.min(usual)
            }
            (None, _) => usual,
        };
        Entry {
            provider: plan.provider.clone(),
            team: plan.team.as_ref().map(|id| Team {
                id: id.clone(),
                name: plan.team_name.clone().unwrap_or_else(|| id.clone()),
            }),
            priority: params.lane_priority.unwrap_or_default(),
            limits: Limits {
                workspace: limit(params.lane_workspace_limit, limits.workspace),
                provider: limit(params.lane_provider_limit, limits.provider),
                team: limit(params.lane_team_limit, limits.team),
            },
        }
    }

    pub(super) fn enter(
        self: &Arc<Self>,
        plan: &Plan,
        params: &CompanySessionLaunchParams,
        role: ActorRole,
    ) -> (Ticket, oneshot::Receiver<()>) {
        let entry = self.entry(plan, params, role);
        let now_ms = plan.company.sources().now_ms();
        let (grant, granted) = oneshot::channel();
        let ticket = {
            let mut lanes = lock(&self.lanes);
            let queue = queue(&mut lanes, &plan.company);
            let ticket = queue.lane.enter(entry, now_ms);
            queue.grants.insert(ticket, grant);
            ticket
        };
        self.start_ready_sessions(&plan.company);
        (ticket, granted)
    }

    pub(super) fn leave(self: &Arc<Self>, company: &Company, ticket: Ticket) {
        {
            let mut lanes = lock(&self.lanes);
            let queue = queue(&mut lanes, company);
            queue.lane.leave(ticket);
            queue.grants.remove(&ticket);
        }
        self.start_ready_sessions(company);
    }

    /// Starts the sessions that can start now, and schedules the next attempt for the end of a cool-down.
    fn start_ready_sessions(self: &Arc<Self>, company: &Company) {
        let now_ms = company.sources().now_ms();
        let wake_at = {
            let mut lanes = lock(&self.lanes);
            let queue = queue(&mut lanes, company);
            for ticket in queue.lane.start_ready(now_ms) {
                if let Some(grant) = queue.grants.remove(&ticket) {
                    // A session that no longer waits leaves the lane itself.
                    let _ = grant.send(());
                }
            }
            queue.lane.wake_at(now_ms)
        };
        if let Some(wake_at) = wake_at {
            let (this, company) = (Arc::downgrade(self), company.clone());
            let wait = Duration::from_millis(u64::try_from(wake_at - now_ms).unwrap_or(0) + 1);
            tokio::spawn(async move {
                sleep(wait).await;
                if let Some(this) = Weak::upgrade(&this) {
                    this.start_ready_sessions(&company);
                }
            });
        }
    }

    pub(super) fn position(&self, session: &RegisteredSession) -> Option<u64> {
        let ticket = (*lock(&session.ticket))?;
        let mut lanes = lock(&self.lanes);
        let now_ms = session.company.sources().now_ms();
        queue(&mut lanes, &session.company)
            .lane
            .position(ticket, now_ms)
    }

    /// The position of a session in the queue, and the reason why it waits. `None` if it does not wait.
    pub(super) fn waiting(
        &self,
        session: &RegisteredSession,
    ) -> Option<(u64, CompanySessionQueueReason)> {
        let ticket = (*lock(&session.ticket))?;
        let now_ms = session.company.sources().now_ms();
        let waiting = {
            let mut lanes = lock(&self.lanes);
            let lane = &queue(&mut lanes, &session.company).lane;
            lane.waiting(ticket, now_ms)?
        };
        let position = waiting.position;
        Some((position, queue_reason(&session.company, waiting)))
    }

    pub(super) fn lane_for(
        &self,
        plan: &Plan,
        params: &CompanySessionLaunchParams,
        role: ActorRole,
    ) -> CompanySessionLane {
        let entry = self.entry(plan, params, role);
        let now_ms = plan.company.sources().now_ms();
        let mut lanes = lock(&self.lanes);
        let lane = &queue(&mut lanes, &plan.company).lane;
        CompanySessionLane {
            priority: entry.priority,
            provider: entry.provider.clone(),
            team_id: plan.team.clone(),
            workspace_limit: entry.limits.workspace,
            provider_limit: entry.limits.provider,
            team_limit: entry.limits.team,
            running: lane.running(),
            cooldown_until: lane
                .cooldown(&entry.provider, now_ms)
                .map(|cooldown| company::iso_time(cooldown.until_ms)),
            queue_position: lane.position_of_new(entry, now_ms),
        }
    }

    /// Starts or extends the cool-down of a provider and saves it, so that it survives a restart.
    pub(super) async fn cool_down(
        &self,
        company: &Company,
        provider: &str,
        strain: Strain,
        detail: &str,
        retry_at_ms: Option<i64>,
    ) {
        let now_ms = company.sources().now_ms();
        let detail: String = detail.chars().take(200).collect();
        let cooldown = {
            let mut lanes = lock(&self.lanes);
            let lane = &mut queue(&mut lanes, company).lane;
            lane.cool_down(provider, strain, &detail, retry_at_ms, now_ms, jitter());
            lane.cooldown(provider, now_ms).cloned()
        };
        let provider = provider.to_owned();
        let saved = save_cooldowns(company, now_ms, move |cooldowns| {
            cooldowns.extend(cooldown.map(|cooldown| (provider, cooldown)));
        });
        if let Err(error) = saved.await {
            tracing::warn!(%error, "a cool-down cannot be saved, so it is lost when this process ends");
        }
    }

    /// Lists the active cool-downs of a company folder.
    pub(super) fn cooldowns(&self, company: &Company) -> Vec<CompanySessionCooldown> {
        let now_ms = company.sources().now_ms();
        let mut lanes = lock(&self.lanes);
        let lane = &queue(&mut lanes, company).lane;
        rows(&lane.cooldowns(now_ms), lane)
    }

    /// Ends cool-downs, also in the saved file, and starts the sessions that waited for them.
    pub(super) async fn clear_cooldowns(
        self: &Arc<Self>,
        company: &Company,
        provider: Option<&str>,
    ) -> Result<Vec<CompanySessionCooldown>, Error> {
        let now_ms = company.sources().now_ms();
        let cleared = {
            let mut lanes = lock(&self.lanes);
            let lane = &mut queue(&mut lanes, company).lane;
            let cleared = lane.clear_cooldowns(provider, now_ms);
            rows(&cleared, lane)
        };
        self.start_ready_sessions(company);
        let named = provider.map(ToOwned::to_owned);
        save_cooldowns(company, now_ms, move |cooldowns| match named {
            Some(provider) => {
                cooldowns.remove(&provider);
            }
            None => cooldowns.clear(),
        })
        .await?;
        Ok(cleared)
    }
}

/// The content of `.local/lanes.json`.
#[derive(serde::Deserialize)]
struct LanesFile {
    cooldowns: BTreeMap<String, Cooldown>,
}

fn read_cooldowns(company: &Company) -> BTreeMap<String, Cooldown> {
    let text = company.read_text(LANES_PATH).ok();
    let saved = text.and_then(|text| serde_json::from_str::<LanesFile>(&text).ok());
    saved.map(|saved| saved.cooldowns).unwrap_or_default()
}

/// Changes the saved cool-downs. Keeps those that other processes saved, and removes expired ones.
async fn save_cooldowns(
    company: &Company,
    now_ms: i64,
    change: impl FnOnce(&mut BTreeMap<String, Cooldown>) + Send + 'static,
) -> Result<(), company::Error> {
    let company = company.clone();
    blocking(move || {
        company.write(|writer| {
            let mut cooldowns = read_cooldowns(&company);
            cooldowns.retain(|_, cooldown| cooldown.until_ms > now_ms);
            change(&mut cooldowns);
            let document = json!({"schema_version": 1, "cooldowns": cooldowns});
            writer.put_text(LANES_PATH, &format!("{document:#}\n"))
        })
    })
    .await
}

fn rows(cooldowns: &BTreeMap<String, Cooldown>, lane: &Lane) -> Vec<CompanySessionCooldown> {
    cooldowns
        .iter()
        .map(|(provider, cooldown)| CompanySessionCooldown {
            provider: provider.clone(),
            reason_code: cooldown.cause().to_owned(),
            reason: cooldown.sentence(provider),
            until: company::iso_time(cooldown.until_ms),
            level: cooldown.level,
            waiting: lane.waiting_for(provider),
        })
        .collect()
}

fn queue_reason(company: &Company, waiting: Waiting) -> CompanySessionQueueReason {
    use CompanySessionQueueReasonCode as Code;
    let Entry {
        provider, limits, ..
    } = waiting.entry;
    let full = |what: &str, limit: u64, running: u64| {
        let sessions = if limit == 1 { "session" } else { "sessions" };
        let are = if running == 1 { "is" } else { "are" };
        format!("{what} may have {limit} {sessions} at a time, and {running} {are} running")
    };
    match waiting.obstacle {
        Some(Obstacle::Cooldown(cooldown)) => CompanySessionQueueReason {
            reason_code: Code::Cooldown,
            reason: cooldown.sentence(&provider),
            subject: provider,
            limit: None,
            until: Some(company::iso_time(cooldown.until_ms)),
        },
        Some(Obstacle::WorkspaceLimit { running }) => {
            let name = company.root().file_name().unwrap_or_default();
            let subject = name.to_string_lossy().into_owned();
            CompanySessionQueueReason {
                reason_code: Code::WorkspaceLimit,
                reason: full(
                    &format!("company folder `{subject}`"),
                    limits.workspace,
                    running,
                ),
                subject,
                limit: Some(limits.workspace),
                until: None,
            }
        }
        Some(Obstacle::ProviderLimit { running }) => CompanySessionQueueReason {
            reason_code: Code::ProviderLimit,
            reason: full(&format!("provider `{provider}`"), limits.provider, running),
            subject: provider,
            limit: Some(limits.provider),
            until: None,
        },
        Some(Obstacle::TeamLimit { team, running }) => CompanySessionQueueReason {
            reason_code: Code::TeamLimit,
            reason: full(&format!("team `{}`", team.name), limits.team, running),
            subject: team.name,
            limit: Some(limits.team),
            until: None,
        },
        None => CompanySessionQueueReason {
            reason_code: Code::Starting,
            reason: "a slot is free and the session is about to start".to_owned(),
            subject: provider,
            limit: None,
            until: None,
        },
    }
}

/// The lane of a company folder, created with the saved cool-downs on first use.
fn queue<'a>(lanes: &'a mut BTreeMap<PathBuf, Queue>, company: &Company) -> &'a mut Queue {
    lanes
        .entry(company.root().to_owned())
        .or_insert_with(|| Queue {
            lane: Lane::with_cooldowns(read_cooldowns(company)),
            grants: BTreeMap::new(),
        })
}

/// A random number between -1 and 1.
fn jitter() -> f64 {
    let mut byte = [0];
    // Without randomness the jitter is -1, so cool-downs that start together also end together.
    let _ = getrandom::fill(&mut byte);
    f64::from(byte[0]) / 127.5 - 1.0
}
