//! Which session starts next: priorities, limits, fairness and cool-downs, without clocks or processes.
//!
//! One [`Lane`] per company folder. A place is held from the start of a session until it is over.

use std::collections::BTreeMap;

use protocol::company::session::CompanySessionPriority as Priority;
use serde::{Deserialize, Serialize};

/// One level up for every so many milliseconds of waiting, so that nobody waits for ever.
const AGEING_MS: i64 = 60_000;
/// No provider rests longer.
const LONGEST_COOLDOWN_MS: i64 = 30 * 60_000;
/// How often the rest of a provider doubles.
const HIGHEST_LEVEL: u32 = 6;

/// How many sessions may run at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// In the company folder.
    pub workspace: u64,
    /// Of one provider.
    pub provider: u64,
    /// Of one team.
    pub team: u64,
}

/// The team of a session's agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Team {
    /// Its id, which limits and fairness go by.
    pub id: String,
    /// Its name, for people.
    pub name: String,
}

/// A session that wants to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its provider.
    pub provider: String,
    /// Its team. Agents without one share no team limit.
    pub team: Option<Team>,
    /// Its priority.
    pub priority: Priority,
    /// What it must not exceed.
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
    /// Its provider cools down.
    Cooldown(Cooldown),
    /// As many sessions run in the company folder as it accepts.
    WorkspaceLimit {
        /// How many run.
        running: u64,
    },
    /// As many sessions of its provider run as it accepts.
    ProviderLimit {
        /// How many run.
        running: u64,
    },
    /// As many sessions of its team run as it accepts.
    TeamLimit {
        /// The team.
        team: Team,
        /// How many run.
        running: u64,
    },
}

/// An entry that has not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its place in the line, from 1.
    pub position: u64,
    /// What it waits for; none if it starts with the next look at the lane.
    pub obstacle: Option<Obstacle>,
    /// The entry.
    pub entry: Entry,
}

/// The name of an entry in its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

/// Why a provider has to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strain {
    /// It says that it was asked too often.
    RateLimit,
    /// The network did not work.
    Transient,
    /// It wanted to ask a person.
    Interactive,
    /// It does not let us in.
    Auth,
}

impl Strain {
    /// The word in `.local/lanes.json`.
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

/// The rest of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cooldown {
    /// When it is over, in Unix milliseconds.
    pub until_ms: i64,
    /// How often it was prolonged.
    pub level: u32,
    /// Why: `rate_limit:…`.
    pub reason: String,
}

impl Cooldown {
    /// What caused it: `rate_limit`, `transient`, `interactive` or `auth`.
    pub fn cause(&self) -> &str {
        let cause = self.reason.split_once(':');
        cause.map_or(self.reason.as_str(), |(cause, _)| cause)
    }

    /// What caused it, in a sentence about the provider.
    pub fn sentence(&self, provider: &str) -> String {
        let cause = match self.cause() {
            "rate_limit" => "it reported a rate limit",
            "transient" => "the network failed",
            "interactive" => "it asked for input that nobody could give",
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

/// The sessions of one company folder that run or wait.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    next: u64,
    waiting: BTreeMap<Ticket, (Entry, i64)>,
    running: BTreeMap<Ticket, Entry>,
    /// How many sessions of each team were started, so that teams take turns.
    served: BTreeMap<String, u64>,
    cooldowns: BTreeMap<String, Cooldown>,
}

impl Lane {
    /// A lane whose providers rest as an earlier process left them.
    pub fn with_cooldowns(cooldowns: BTreeMap<String, Cooldown>) -> Self {
        Self {
            cooldowns,
            ..Self::default()
        }
    }

    /// Stands in line. [`Lane::start_ready`] tells when it is time.
    pub fn enter(&mut self, entry: Entry, now_ms: i64) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        // A team that comes new does not catch up on what it did not want before.
        let least = self.served.values().min().copied().unwrap_or(0);
        self.served.entry(entry.group().to_owned()).or_insert(least);
        self.waiting.insert(ticket, (entry, now_ms));
        ticket
    }

    /// Gives free places away, best first.
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

    /// Goes away: from its place, or from the line.
    pub fn leave(&mut self, ticket: Ticket) {
        self.waiting.remove(&ticket);
        self.running.remove(&ticket);
        if self.waiting.is_empty() && self.running.is_empty() {
            self.served.clear();
        }
    }

    /// The place in the line, from 1; none if it does not wait.
    pub fn position(&self, ticket: Ticket, now_ms: i64) -> Option<u64> {
        let place = self
            .in_order(now_ms)
            .iter()
            .position(|other| *other == ticket)?;
        Some(place as u64 + 1)
    }

    /// The place an entry would get in the line; none if it would start at once.
    pub fn position_of_new(&self, entry: Entry, now_ms: i64) -> Option<u64> {
        let mut lane = self.clone();
        let ticket = lane.enter(entry, now_ms);
        lane.start_ready(now_ms);
        lane.position(ticket, now_ms)
    }

    /// What an entry that has not started waits for; none if it does not wait.
    pub fn waiting(&self, ticket: Ticket, now_ms: i64) -> Option<Waiting> {
        let (entry, _) = self.waiting.get(&ticket)?;
        Some(Waiting {
            position: self.position(ticket, now_ms)?,
            obstacle: self.obstacle(entry, now_ms),
            entry: entry.clone(),
        })
    }

    /// How many entries of a provider have not started.
    pub fn waiting_for(&self, provider: &str) -> u64 {
        let waiting = self.waiting.values();
        waiting
            .filter(|(entry, _)| entry.provider == provider)
            .count() as u64
    }

    /// How many run.
    pub fn running(&self) -> u64 {
        self.running.len() as u64
    }

    /// The rest of a provider, if it is not over.
    pub fn cooldown(&self, provider: &str, now_ms: i64) -> Option<&Cooldown> {
        self.cooldowns
            .get(provider)
            .filter(|cooldown| cooldown.until_ms > now_ms)
    }

    /// All rests that are not over.
    pub fn cooldowns(&self, now_ms: i64) -> BTreeMap<String, Cooldown> {
        let mut left = self.cooldowns.clone();
        left.retain(|_, cooldown| cooldown.until_ms > now_ms);
        left
    }

    /// Lets a provider rest: until it said it can be asked again, else longer each time. `jitter` is between -1 and
    /// 1, so that not all come back at the same moment.
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

    /// Ends the cool-down of a provider, or of all, and answers those that had not ended by themselves.
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

    /// When somebody who waits could start although nothing ends.
    pub fn wake_at(&self, now_ms: i64) -> Option<i64> {
        let providers = self.waiting.values().map(|(entry, _)| &entry.provider);
        let rests = providers.filter_map(|provider| self.cooldown(provider, now_ms));
        rests.map(|cooldown| cooldown.until_ms).min()
    }

    /// Those that wait, who is next first.
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
        // Teams of one level take turns: the second of a team comes behind the first of the others.
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

    /// Why an entry cannot start at this moment. A cool-down comes first, because its end is known.
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

    /// Lets the entries run one after the other and tells the order.
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
            // Keep the memory of who was served.
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
                    // Whoever starts last finds its own limits kept, itself included.
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
