//! Lanes: decide which session starts next, by priority, limits, fairness and cool-downs. This module has no clock and
//! starts no process; callers pass the time in.
//!
//! There is one [`Lane`] per company folder. A session occupies a slot from its start until it is over.

use std::collections::BTreeMap;

use protocol::company::session::CompanySessionPriority as Priority;
use serde::{Deserialize, Serialize};

/// Waiting time after which an entry rises one priority level, in milliseconds, so that no entry starves.
const AGEING_MS: i64 = 60_000;
/// Upper bound of a cool-down whose end the provider does not set, in milliseconds.
const LONGEST_COOLDOWN_MS: i64 = 30 * 60_000;
/// Highest back-off level of a cool-down.
const HIGHEST_LEVEL: u32 = 6;

/// Limits on concurrent sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum in the company folder.
    pub workspace: u64,
    /// Maximum per provider.
    pub provider: u64,
    /// Maximum per team.
    pub team: u64,
}

/// The team of a session's agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Team {
    /// Id, which limits and fairness use.
    pub id: String,
    /// Display name.
    pub name: String,
}

/// A session that is to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name of the provider.
    pub provider: String,
    /// Team of the agent. Agents without a team share no team limit.
    pub team: Option<Team>,
    /// Priority of the session.
    pub priority: Priority,
    /// Limits under which this session may start.
    pub limits: Limits,
}

impl Entry {
    /// The key for taking turns: agents without a team take turns as one group.
    fn group(&self) -> &str {
        self.team.as_ref().map_or("", |team| team.id.as_str())
    }
}

/// Why an entry cannot start yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The provider is in a cool-down.
    Cooldown(Cooldown),
    /// The limit of the company folder is reached.
    WorkspaceLimit {
        /// Number of running sessions.
        running: u64,
    },
    /// The limit of the provider is reached.
    ProviderLimit {
        /// Number of running sessions.
        running: u64,
    },
    /// The limit of the team is reached.
    TeamLimit {
        /// The team.
        team: Team,
        /// Number of running sessions.
        running: u64,
    },
}

/// An entry that has not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Position in the queue, from 1.
    pub position: u64,
    /// Why the entry waits; absent if the next [`Lane::start_ready`] starts it.
    pub obstacle: Option<Obstacle>,
    /// The entry.
    pub entry: Entry,
}

/// Identifies an entry in its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

/// Reason for a cool-down of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strain {
    /// The provider reported a rate limit.
    RateLimit,
    /// The network failed.
    Transient,
    /// The program asked for interactive input.
    Interactive,
    /// The provider rejected the credentials.
    Auth,
}

impl Strain {
    /// Name of the reason in `.local/lanes.json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RateLimit => "rate_limit",
            Self::Transient => "transient",
            Self::Interactive => "interactive",
            Self::Auth => "auth",
        }
    }

    fn base_ms(self) -> i64 {
        match self {
            Self::RateLimit => 5 * 60_000,
            Self::Transient => 60_000,
            Self::Interactive => 2 * 60_000,
            Self::Auth => LONGEST_COOLDOWN_MS,
        }
    }
}

/// A cool-down of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cooldown {
    /// End of the cool-down, in Unix milliseconds.
    pub until_ms: i64,
    /// Back-off level: 1 for the first cool-down, plus 1 for every extension.
    pub level: u32,
    /// Cause and detail, such as `rate_limit:…`.
    pub reason: String,
}

impl Cooldown {
    /// The cause: `rate_limit`, `transient`, `interactive` or `auth`.
    pub fn cause(&self) -> &str {
        let cause = self.reason.split_once(':');
        cause.map_or(self.reason.as_str(), |(cause, _)| cause)
    }

    /// Describes the cool-down in a sentence about the provider.
    pub fn sentence(&self, provider: &str) -> String {
        let cause = match self.cause() {
            "rate_limit" => "it reported a rate limit",
            "transient" => "the network failed",
            "interactive" => "it asked for interactive input",
            "auth" => "it refused the login",
            other => other,
        };
        let detail = self.reason.split_once(':').map_or("", |(_, detail)| detail);
        let detail = detail.trim().trim_end_matches('.');
        if detail.is_empty() {
            format!("provider `{provider}` cools down because {cause}")
        } else {
            format!("provider `{provider}` cools down because {cause}: {detail}")
        }
    }
}

/// The running and waiting sessions of one company folder.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    next: u64,
    waiting: BTreeMap<Ticket, (Entry, i64)>,
    running: BTreeMap<Ticket, Entry>,
    /// Number of started sessions per team, so that teams take turns.
    served: BTreeMap<String, u64>,
    cooldowns: BTreeMap<String, Cooldown>,
}

impl Lane {
    /// Creates a lane with the cool-downs that an earlier process stored.
    pub fn with_cooldowns(cooldowns: BTreeMap<String, Cooldown>) -> Self {
        Self {
            cooldowns,
            ..Self::default()
        }
    }

    /// Adds an entry to the queue. [`Lane::start_ready`] returns its ticket once it may start.
    pub fn enter(&mut self, entry: Entry, now_ms: i64) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        // A new team starts at the lowest count, so that it does not catch up on turns it never requested.
        let least = self.served.values().min().copied().unwrap_or(0);
        self.served.entry(entry.group().to_owned()).or_insert(least);
        self.waiting.insert(ticket, (entry, now_ms));
        ticket
    }

    /// Starts all entries that can run, in queue order, and returns their tickets.
    pub fn start_ready(&mut self, now_ms: i64) -> Vec<Ticket> {
        let mut started = Vec::new();
        loop {
            let next = self
                .in_order(now_ms)
                .into_iter()
                .find(|ticket| self.is_runnable(&self.waiting[ticket].0, now_ms));
            let Some(ticket) = next else {
                return started;
            };
            let (entry, _) = self.waiting.remove(&ticket).expect("it was just found");
            *self.served.entry(entry.group().to_owned()).or_insert(0) += 1;
            self.running.insert(ticket, entry);
            started.push(ticket);
        }
    }

    /// Removes an entry, whether it runs or waits.
    pub fn leave(&mut self, ticket: Ticket) {
        self.waiting.remove(&ticket);
        self.running.remove(&ticket);
        if self.waiting.is_empty() && self.running.is_empty() {
            self.served.clear();
        }
    }

    /// Position in the queue, from 1; `None` if the entry does not wait.
    pub fn position(&self, ticket: Ticket, now_ms: i64) -> Option<u64> {
        let place = self
            .in_order(now_ms)
            .iter()
            .position(|other| *other == ticket)?;
        Some(place as u64 + 1)
    }

    /// Position that a new entry would get; `None` if it would start at once.
    pub fn position_of_new(&self, entry: Entry, now_ms: i64) -> Option<u64> {
        let mut lane = self.clone();
        let ticket = lane.enter(entry, now_ms);
        lane.start_ready(now_ms);
        lane.position(ticket, now_ms)
    }

    /// Returns position and obstacle of a waiting entry; `None` if it does not wait.
    pub fn waiting(&self, ticket: Ticket, now_ms: i64) -> Option<Waiting> {
        let (entry, _) = self.waiting.get(&ticket)?;
        Some(Waiting {
            position: self.position(ticket, now_ms)?,
            obstacle: self.obstacle(entry, now_ms),
            entry: entry.clone(),
        })
    }

    /// Number of waiting entries of a provider.
    pub fn waiting_for(&self, provider: &str) -> u64 {
        let waiting = self.waiting.values();
        waiting
            .filter(|(entry, _)| entry.provider == provider)
            .count() as u64
    }

    /// Number of running sessions.
    pub fn running(&self) -> u64 {
        self.running.len() as u64
    }

    /// The active cool-down of a provider.
    pub fn cooldown(&self, provider: &str, now_ms: i64) -> Option<&Cooldown> {
        self.cooldowns
            .get(provider)
            .filter(|cooldown| cooldown.until_ms > now_ms)
    }

    /// All active cool-downs, by provider.
    pub fn cooldowns(&self, now_ms: i64) -> BTreeMap<String, Cooldown> {
        let mut left = self.cooldowns.clone();
        left.retain(|_, cooldown| cooldown.until_ms > now_ms);
        left
    }

    /// Starts or extends the cool-down of a provider. It lasts until `retry_at_ms`, if that is given and in the future;
    /// otherwise it doubles with every extension. `jitter` is between -1 and 1 and varies the duration by up to 10
    /// percent, so that not all gateways retry at the same time.
    pub fn cool_down(
        &mut self,
        provider: &str,
        strain: Strain,
        detail: &str,
        retry_at_ms: Option<i64>,
        now_ms: i64,
        jitter: f64,
    ) {
        let level = match (self.cooldown(provider, now_ms), strain) {
            (Some(active), Strain::RateLimit | Strain::Transient | Strain::Interactive) => {
                (active.level + 1).min(HIGHEST_LEVEL)
            }
            (Some(_) | None, _) => 1,
        };
        let length = (strain.base_ms() << (level - 1)).min(LONGEST_COOLDOWN_MS);
        #[expect(clippy::cast_possible_truncation, reason = "half an hour fits")]
        let length = (length as f64 * (1.0 + 0.1 * jitter.clamp(-1.0, 1.0))) as i64;
        let until_ms = match retry_at_ms {
            Some(retry_at) if retry_at > now_ms => retry_at,
            Some(_) | None => now_ms + length.max(1000),
        };
        let reason = format!("{}:{detail}", strain.as_str());
        self.cooldowns.insert(
            provider.to_owned(),
            Cooldown {
                until_ms,
                level,
                reason,
            },
        );
    }

    /// Ends the active cool-down of a provider, or of all, and returns the cool-downs that it ended.
    pub fn clear_cooldowns(
        &mut self,
        provider: Option<&str>,
        now_ms: i64,
    ) -> BTreeMap<String, Cooldown> {
        let mut cleared = self.cooldowns(now_ms);
        cleared.retain(|name, _| provider.is_none_or(|provider| provider == name));
        self.cooldowns.retain(|name, _| !cleared.contains_key(name));
        cleared
    }

    /// Earliest end of a cool-down that blocks a waiting entry, in Unix milliseconds; `None` if there is none.
    pub fn wake_at(&self, now_ms: i64) -> Option<i64> {
        let providers = self.waiting.values().map(|(entry, _)| &entry.provider);
        let cooldowns = providers.filter_map(|provider| self.cooldown(provider, now_ms));
        cooldowns.map(|cooldown| cooldown.until_ms).min()
    }

    /// The waiting entries in queue order.
    fn in_order(&self, now_ms: i64) -> Vec<Ticket> {
        let mut order: Vec<_> = self
            .waiting
            .iter()
            .map(|(ticket, (entry, since))| {
                let level = match entry.priority {
                    Priority::High => 0,
                    Priority::Normal => 1,
                    Priority::Low => 2,
                };
                let level = (level - (now_ms - since).max(0) / AGEING_MS).max(0);
                let served = self.served.get(entry.group()).copied().unwrap_or(0);
                (level, served, *ticket)
            })
            .collect();
        order.sort_unstable();
        // Teams at one level take turns: the second entry of a team follows the first entries of the others.
        let mut ahead: BTreeMap<(i64, &str), u64> = BTreeMap::new();
        let mut turns: Vec<_> = order
            .iter()
            .map(|(level, served, ticket)| {
                let team = self.waiting[ticket].0.group();
                let behind = ahead.entry((*level, team)).or_insert(0);
                let turn = served + *behind;
                *behind += 1;
                (*level, turn, *ticket)
            })
            .collect();
        turns.sort_unstable();
        turns.into_iter().map(|(_, _, ticket)| ticket).collect()
    }

    fn is_runnable(&self, entry: &Entry, now_ms: i64) -> bool {
        self.obstacle(entry, now_ms).is_none()
    }

    /// Returns why an entry cannot start now. A cool-down takes precedence, because its end is known.
    fn obstacle(&self, entry: &Entry, now_ms: i64) -> Option<Obstacle> {
        let of = |same: &dyn Fn(&Entry) -> bool| {
            self.running.values().filter(|other| same(other)).count() as u64
        };
        if let Some(cooldown) = self.cooldown(&entry.provider, now_ms) {
            return Some(Obstacle::Cooldown(cooldown.clone()));
        }
        let running = self.running();
        if running >= entry.limits.workspace {
            return Some(Obstacle::WorkspaceLimit { running });
        }
        let running = of(&|other| other.provider == entry.provider);
        if running >= entry.limits.provider {
            return Some(Obstacle::ProviderLimit { running });
        }
        let team = entry.team.as_ref()?;
        let running = of(&|other| other.team.as_ref().is_some_and(|other| other.id == team.id));
        (running >= entry.limits.team).then(|| Obstacle::TeamLimit {
            team: team.clone(),
            running,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(team: &str, provider: &str, priority: Priority) -> Entry {
        Entry {
            provider: provider.to_owned(),
            team: (!team.is_empty()).then(|| Team {
                id: team.to_owned(),
                name: team.to_uppercase(),
            }),
            priority,
            limits: Limits {
                workspace: 1,
                provider: 9,
                team: 9,
            },
        }
    }

    /// Runs the entries one after the other and returns their order.
    fn order(entries: &[(&str, Priority)]) -> String {
        let mut lane = Lane::default();
        let tickets: Vec<_> = entries
            .iter()
            .map(|(team, priority)| lane.enter(entry(team, "p", *priority), 0))
            .collect();
        let mut shown = Vec::new();
        loop {
            let started = lane.start_ready(0);
            let [ticket] = started[..] else {
                assert!(started.is_empty());
                return shown.join(" ");
            };
            let place = tickets.iter().position(|other| *other == ticket).unwrap();
            shown.push(format!("{}{place}", entries[place].0));
            lane.leave(ticket);
            assert!(lane.position(ticket, 0).is_none());
        }
    }

    #[test]
    fn priority_goes_before_arrival_and_teams_of_one_priority_take_turns() {
        use Priority::{High, Low, Normal};
        for (entries, expected) in [
            (&[("a", Normal), ("a", Normal)][..], "a0 a1"),
            (&[("a", Low), ("a", Normal), ("a", High)], "a2 a1 a0"),
            (
                &[("a", Normal), ("a", Normal), ("a", Normal), ("b", Normal)],
                "a0 b3 a1 a2",
            ),
            (&[("a", Normal), ("b", Low), ("b", Low)], "a0 b1 b2"),
        ] {
            assert_eq!(order(entries), expected, "{entries:?}");
        }
    }

    #[test]
    fn whoever_waits_a_minute_rises_one_priority() {
        let mut lane = Lane::default();
        let low = lane.enter(entry("a", "p", Priority::Low), 0);
        let high = lane.enter(entry("b", "p", Priority::High), 60_000);
        assert_eq!(lane.position(high, 60_000), Some(1));
        assert_eq!(lane.position(low, 60_000), Some(2));
        assert_eq!(lane.position(low, 120_000), Some(1));
    }

    #[test]
    fn a_blocked_entry_does_not_block_others() {
        let limits = Limits {
            workspace: 3,
            provider: 1,
            team: 2,
        };
        let mut lane = Lane::default();
        let mut enter = |team, provider| {
            let entry = Entry {
                limits,
                ..entry(team, provider, Priority::Normal)
            };
            lane.enter(entry, 0)
        };
        let (first, same_provider, third) = (enter("a", "x"), enter("a", "x"), enter("a", "y"));
        let same_team = enter("a", "z");
        let other = enter("b", "w");
        assert_eq!(lane.start_ready(0), [first, other, third]);
        assert_eq!(lane.position(same_provider, 0), Some(1));
        lane.leave(other);
        assert_eq!(lane.start_ready(0), []);
        lane.leave(first);
        assert_eq!(lane.start_ready(0), [same_provider]);
        assert_eq!(lane.position(same_team, 0), Some(1));
    }

    #[test]
    fn a_provider_rests_longer_each_time_and_until_it_said() {
        let mut lane = Lane::default();
        let ticket = lane.enter(entry("a", "p", Priority::Normal), 0);
        lane.cool_down("p", Strain::Transient, "reset", None, 0, 0.0);
        assert_eq!(lane.start_ready(59_999), []);
        assert_eq!(lane.wake_at(0), Some(60_000));
        lane.cool_down("p", Strain::Transient, "reset", None, 1, 0.0);
        assert_eq!(lane.wake_at(1), Some(120_001));
        lane.cool_down("p", Strain::RateLimit, "later", Some(9_000_000), 2, 0.0);
        assert_eq!(lane.cooldown("p", 2).unwrap().until_ms, 9_000_000);
        assert_eq!(lane.cooldown("p", 2).unwrap().level, 3);
        assert_eq!(lane.start_ready(9_000_000), [ticket]);
    }

    #[test]
    fn agents_without_a_team_share_no_team_limit() {
        let limits = Limits {
            workspace: 9,
            provider: 9,
            team: 1,
        };
        let mut lane = Lane::default();
        let mut enter = |team| {
            let entry = Entry {
                limits,
                ..entry(team, "p", Priority::Normal)
            };
            lane.enter(entry, 0)
        };
        let (first, second) = (enter(""), enter(""));
        let (third, fourth) = (enter("a"), enter("a"));
        let mut started = lane.start_ready(0);
        started.sort();
        assert_eq!(started, [first, second, third]);
        let obstacle = lane.waiting(fourth, 0).unwrap().obstacle;
        let Some(Obstacle::TeamLimit { team, running }) = obstacle else {
            panic!("{obstacle:?}");
        };
        assert_eq!((team.name.as_str(), running), ("A", 1));
    }

    #[test]
    fn an_entry_that_waits_says_what_for() {
        let mut lane = Lane::default();
        let first = lane.enter(entry("", "p", Priority::Normal), 0);
        assert_eq!(lane.start_ready(0), [first]);
        let second = lane.enter(entry("", "q", Priority::Normal), 0);
        let obstacle = |lane: &Lane, now_ms| lane.waiting(second, now_ms).unwrap().obstacle;
        assert_eq!(
            obstacle(&lane, 0),
            Some(Obstacle::WorkspaceLimit { running: 1 })
        );
        lane.cool_down("q", Strain::Transient, "reset", None, 0, 0.0);
        let Some(Obstacle::Cooldown(cooldown)) = obstacle(&lane, 0) else {
            panic!("the cool-down comes first");
        };
        assert_eq!(cooldown.until_ms, 60_000);
        lane.leave(first);
        assert_eq!(lane.start_ready(0), []);
        let cleared = lane.clear_cooldowns(Some("q"), 1);
        assert_eq!(cleared["q"].until_ms, 60_000);
        assert!(lane.clear_cooldowns(None, 1).is_empty());
        assert_eq!(lane.start_ready(1), [second]);
        assert_eq!(lane.waiting(second, 1), None);
    }

    proptest! {
        #[test]
        fn limits_hold_and_everybody_runs_in_the_end(
            entries in prop::collection::vec((0..3u8, 0..3u8, 0..3u8, 1..4u64, 1..4u64, 1..4u64), 1..40),
            picks in prop::collection::vec(any::<u16>(), 200),
        ) {
            let mut lane = Lane::default();
            for (team, provider, priority, workspace, per_provider, per_team) in &entries {
                let priority = [Priority::High, Priority::Normal, Priority::Low][usize::from(*priority)];
                lane.enter(Entry {
                    limits: Limits { workspace: *workspace, provider: *per_provider, team: *per_team },
                    ..entry(&team.to_string(), &provider.to_string(), priority)
                }, 0);
            }
            let mut now = 0;
            let mut running = Vec::new();
            let mut started = 0;
            for pick in picks {
                now += i64::from(pick);
                let batch = lane.start_ready(now);
                started += batch.len();
                running.extend(&batch);
                if let Some(ticket) = batch.last() {
                    // The limits of the entry started last hold, itself included.
                    let own = &lane.running[ticket];
                    let same = |f: &dyn Fn(&Entry) -> bool| lane.running.values().filter(|e| f(e)).count() as u64;
                    prop_assert!(same(&|e| e.provider == own.provider) <= own.limits.provider);
                    prop_assert!(own.team.is_none() || same(&|e| e.team == own.team) <= own.limits.team);
                    prop_assert!(same(&|_| true) <= own.limits.workspace);
                }
                if !running.is_empty() {
                    lane.leave(running.swap_remove(usize::from(pick) % running.len()));
                }
            }
            prop_assert_eq!(started, entries.len());
        }
    }
}
