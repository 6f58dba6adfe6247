//! The places of sessions: lanes of company folders, who waits in them, and what rests.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Weak},
    time::Duration,
};

use company::Company;
use protocol::company::{
    ActorRole,
    session::{CompanySessionLane, CompanySessionLaunchParams},
};
use serde_json::json;
use tokio::{sync::oneshot, time::sleep};

use super::{Inner, known::Known, lock};
use crate::{
    lanes::{Cooldown, Entry, Lane, Limits, Strain, Ticket},
    plan::Plan,
    session::blocking,
};

/// The rests of providers.
const LANES: &str = ".local/lanes.json";

/// The lane of one company folder, and who waits for a place.
#[derive(Debug, Default)]
pub(super) struct Queue {
    lane: Lane,
    grants: BTreeMap<Ticket, oneshot::Sender<()>>,
}

impl Inner {
    fn entry(&self, plan: &Plan, params: &CompanySessionLaunchParams, role: ActorRole) -> Entry {
        let limits = self.options.limits;
        // Everybody may ask for less, people and the head of the company also for more.
        let limit = |wanted: Option<u64>, usual: u64| match (wanted, role) {
            (Some(wanted), ActorRole::Human | ActorRole::Ceo) => wanted,
            (Some(wanted), ActorRole::Director | ActorRole::Manager | ActorRole::Worker) => {
                wanted.min(usual)
            }
            (None, _) => usual,
        };
        Entry {
            provider: plan.provider.clone(),
            team: plan.team.clone().unwrap_or_default(),
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
        self.give_places(&plan.company);
        (ticket, granted)
    }

    pub(super) fn leave(self: &Arc<Self>, company: &Company, ticket: Ticket) {
        {
            let mut lanes = lock(&self.lanes);
            let queue = queue(&mut lanes, company);
            queue.lane.leave(ticket);
            queue.grants.remove(&ticket);
        }
        self.give_places(company);
    }

    /// Lets those start whose time has come, and looks again when a provider has rested.
    fn give_places(self: &Arc<Self>, company: &Company) {
        let now_ms = company.sources().now_ms();
        let wake_at = {
            let mut lanes = lock(&self.lanes);
            let queue = queue(&mut lanes, company);
            for ticket in queue.lane.start_ready(now_ms) {
                if let Some(grant) = queue.grants.remove(&ticket) {
                    // One that is gone leaves its place by itself.
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
                    this.give_places(&company);
                }
            });
        }
    }

    pub(super) fn position(&self, known: &Known) -> Option<u64> {
        let ticket = (*lock(&known.ticket))?;
        let mut lanes = lock(&self.lanes);
        let now_ms = known.company.sources().now_ms();
        queue(&mut lanes, &known.company)
            .lane
            .position(ticket, now_ms)
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

    /// Lets a provider rest, also after a restart.
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
        let cooldowns = {
            let mut lanes = lock(&self.lanes);
            let lane = &mut queue(&mut lanes, company).lane;
            lane.cool_down(provider, strain, &detail, retry_at_ms, now_ms, jitter());
            lane.cooldowns(now_ms)
        };
        let company = company.clone();
        let saved = blocking(move || {
            let text = format!(
                "{:#}\n",
                json!({"schema_version": 1, "cooldowns": cooldowns})
            );
            company.write(|writer| writer.put_text(LANES, &text))
        });
        if let Err(error) = saved.await {
            tracing::warn!(%error, "the rest of a provider cannot be written down");
        }
    }
}

/// The lane of a company folder. What rests, rests after a restart, too.
fn queue<'a>(lanes: &'a mut BTreeMap<PathBuf, Queue>, company: &Company) -> &'a mut Queue {
    lanes.entry(company.root().to_owned()).or_insert_with(|| {
        #[derive(serde::Deserialize)]
        struct Saved {
            cooldowns: BTreeMap<String, Cooldown>,
        }
        let saved = company
            .read_text(LANES)
            .ok()
            .and_then(|text| serde_json::from_str::<Saved>(&text).ok());
        Queue {
            lane: Lane::with_cooldowns(saved.map(|saved| saved.cooldowns).unwrap_or_default()),
            grants: BTreeMap::new(),
        }
    })
}

/// Between -1 and 1.
fn jitter() -> f64 {
    let mut byte = [0];
    // Without randomness all come back at the same moment.
    let _ = getrandom::fill(&mut byte);
    f64::from(byte[0]) / 127.5 - 1.0
}
