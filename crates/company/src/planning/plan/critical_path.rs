//! Which tasks decide when a project ends: a forward and a backward pass over what waits for what.
//!
//! Tasks that wait for each other in a circle take no part: nobody can say when they happen. They are named instead.

use std::collections::BTreeMap;

/// Tasks by their places, and what each must wait for.
#[derive(Clone, Debug)]
pub struct Network {
    /// The places of what each task waits for, each once; circles are cut out.
    needs: Vec<Vec<usize>>,
    /// Every task outside of circles, after everything it waits for.
    order: Vec<usize>,
    /// The tasks in circles, by place.
    cycle: Vec<usize>,
}

/// When tasks happen, in days from the beginning of the project.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The end of the last task.
    pub span_days: u64,
    /// Each task, by place.
    pub slots: Vec<Slot>,
}

/// When a task happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Slot {
    /// It has its place in the order of things.
    OnPath {
        /// When it can begin.
        earliest_start: u64,
        /// When it can be done.
        earliest_finish: u64,
        /// When it must begin so that the project does not end later.
        latest_start: u64,
    },
    /// It waits for itself; this is how long it takes.
    InCycle(u64),
}

impl Slot {
    /// When it can begin.
    pub fn earliest_start(&self) -> u64 {
        match *self {
            Self::OnPath { earliest_start, .. } => earliest_start,
            Self::InCycle(_) => 0,
        }
    }

    /// When it can be done.
    pub fn earliest_finish(&self) -> u64 {
        match *self {
            Self::OnPath {
                earliest_finish, ..
            } => earliest_finish,
            Self::InCycle(days) => days,
        }
    }

    /// How many days it can slip without moving the end of the project.
    pub fn slack_days(&self) -> u64 {
        match *self {
            Self::OnPath {
                earliest_start,
                latest_start,
                ..
            } => latest_start.saturating_sub(earliest_start),
            Self::InCycle(_) => 0,
        }
    }

    /// Whether it cannot slip at all.
    pub fn is_critical(&self) -> bool {
        self.is_on_path() && self.slack_days() == 0
    }

    /// Whether it has its place in the order of things.
    pub fn is_on_path(&self) -> bool {
        matches!(self, Self::OnPath { .. })
    }
}

impl Network {
    /// Ties tasks, given by id, to what they wait for. An id that no task has, and a task that waits for itself alone,
    /// tie nothing. Of two tasks with one id the first is meant.
    pub fn new(tasks: &[(&str, Vec<&str>)]) -> Self {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, (id, _)) in tasks.iter().enumerate() {
            places.entry(id).or_insert(place);
        }
        let mut needs: Vec<Vec<usize>> = tasks
            .iter()
            .enumerate()
            .map(|(place, (_, ids))| {
                let known = ids.iter().filter_map(|id| places.get(id).copied());
                let mut known: Vec<usize> = known.filter(|needed| *needed != place).collect();
                known.sort_unstable();
                known.dedup();
                known
            })
            .collect();
        let groups = groups(&needs);
        let mut order = Vec::with_capacity(tasks.len());
        let mut cycle = Vec::new();
        for group in groups {
            match group.as_slice() {
                [one] => order.push(*one),
                many => cycle.extend_from_slice(many),
            }
        }
        cycle.sort_unstable();
        for (place, needs) in needs.iter_mut().enumerate() {
            match cycle.binary_search(&place) {
                Ok(_) => needs.clear(),
                Err(_) => needs.retain(|needed| cycle.binary_search(needed).is_err()),
            }
        }
        Self {
            needs,
            order,
            cycle,
        }
    }

    /// The tasks that wait for each other in circles, by place.
    pub fn cycle(&self) -> &[usize] {
        &self.cycle
    }

    /// The places of what a task waits for, without circles.
    pub fn needs(&self, place: usize) -> &[usize] {
        &self.needs[place]
    }

    /// When the tasks happen if each takes this many days.
    pub fn schedule(&self, days: &[u64]) -> Schedule {
        let mut starts = vec![0u64; days.len()];
        let mut span_days = 0;
        let finish = |starts: &[u64], place: usize| starts[place].saturating_add(days[place]);
        for &place in &self.order {
            let needs = self.needs[place].iter();
            starts[place] = needs
                .map(|needed| finish(&starts, *needed))
                .max()
                .unwrap_or(0);
            span_days = span_days.max(finish(&starts, place));
        }
        // What must be over when: the end of the project, or the latest start of what waits for it.
        let mut latest_finishes = vec![span_days; days.len()];
        for &place in self.order.iter().rev() {
            let latest_start = latest_finishes[place].saturating_sub(days[place]);
            for &needed in &self.needs[place] {
                latest_finishes[needed] = latest_finishes[needed].min(latest_start);
            }
        }
        let mut slots: Vec<Slot> = days.iter().map(|days| Slot::InCycle(*days)).collect();
        for &place in &self.order {
            slots[place] = Slot::OnPath {
                earliest_start: starts[place],
                earliest_finish: finish(&starts, place),
                latest_start: latest_finishes[place].saturating_sub(days[place]),
            };
        }
        Schedule { span_days, slots }
    }
}

/// The tasks in groups that wait for each other (Tarjan's strongly connected components), each group after everything
/// it waits for. Without recursion, because a chain may be as long as a project.
fn groups(needs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut number = vec![UNSEEN; needs.len()];
    let mut lowest = vec![UNSEEN; needs.len()];
    let mut is_open = vec![false; needs.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut groups = Vec::new();
    let mut count = 0;
    for root in 0..needs.len() {
        if number[root] != UNSEEN {
            continue;
        }
        // The way from the root: a task, and which of its needs is next.
        let mut way = vec![(root, 0)];
        while let Some(&mut (place, ref mut next)) = way.last_mut() {
            if *next == 0 {
                number[place] = count;
                lowest[place] = count;
                count += 1;
                open.push(place);
                is_open[place] = true;
            }
            if let Some(&needed) = needs[place].get(*next) {
                *next += 1;
                if number[needed] == UNSEEN {
                    way.push((needed, 0));
                } else if is_open[needed] {
                    lowest[place] = lowest[place].min(number[needed]);
                }
                continue;
            }
            way.pop();
            if let Some(&(before, _)) = way.last() {
                lowest[before] = lowest[before].min(lowest[place]);
            }
            if lowest[place] == number[place] {
                let first = open
                    .iter()
                    .rposition(|one| *one == place)
                    .expect("a task on the way is open");
                let group = open.split_off(first);
                for one in &group {
                    is_open[*one] = false;
                }
                groups.push(group);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests;
