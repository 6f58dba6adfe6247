//! The critical path method: a forward and a backward pass over the dependencies of tasks.
//!
//! Tasks in a dependency cycle have no defined dates. They are excluded from the passes and reported by
//! [`Network::cycle`].

use std::collections::BTreeMap;

/// Dependency network of tasks. Tasks are identified by their index.
#[derive(Clone, Debug)]
pub struct Network {
    /// Dependencies of each task, without duplicates; dependencies from and to cycles are removed.
    needs: Vec<Vec<usize>>,
    /// Tasks outside of cycles in topological order: each after its dependencies.
    order: Vec<usize>,
    /// Tasks in cycles, sorted.
    cycle: Vec<usize>,
}

/// Result of the two passes, in days from the start of the project.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// End of the last task.
    pub(crate) span_days: u64,
    /// Slots, indexed like the tasks.
    pub slots: Vec<Slot>,
}

/// Dates of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Slot {
    /// The task is not part of a cycle.
    OnPath {
        /// Earliest possible start.
        earliest_start: u64,
        /// Earliest possible end.
        earliest_finish: u64,
        /// Latest start that does not delay the project.
        latest_start: u64,
    },
    /// The task is part of a dependency cycle; the value is its duration.
    InCycle(u64),
}

impl Slot {
    /// Earliest possible start; 0 in a cycle.
    pub(crate) fn earliest_start(&self) -> u64 {
        match *self {
            Self::OnPath { earliest_start, .. } => earliest_start,
            Self::InCycle(_) => 0,
        }
    }

    /// Earliest possible end; the duration in a cycle.
    pub(crate) fn earliest_finish(&self) -> u64 {
        match *self {
            Self::OnPath {
                earliest_finish, ..
            } => earliest_finish,
            Self::InCycle(days) => days,
        }
    }

    /// Days by which the task can slip without delaying the project; 0 in a cycle.
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

    /// Returns whether the task has no slack and is not part of a cycle.
    pub(crate) fn is_critical(&self) -> bool {
        self.is_on_path() && self.slack_days() == 0
    }

    /// Returns whether the task is not part of a cycle.
    pub(crate) fn is_on_path(&self) -> bool {
        matches!(self, Self::OnPath { .. })
    }
}

impl Network {
    /// Builds the network from task ids and the ids of their dependencies. Unknown ids and dependencies of a task on
    /// itself are ignored. If two tasks have the same id, it refers to the first one.
    pub fn new(tasks: &[(&str, Vec<&str>)]) -> Self {
        let mut indices: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, (id, _)) in tasks.iter().enumerate() {
            indices.entry(id).or_insert(index);
        }
        let mut needs: Vec<Vec<usize>> = tasks
            .iter()
            .enumerate()
            .map(|(index, (_, ids))| {
                let known = ids.iter().filter_map(|id| indices.get(id).copied());
                let mut known: Vec<usize> = known.filter(|needed| *needed != index).collect();
                known.sort_unstable();
                known.dedup();
                known
            })
            .collect();
        let components = components(&needs);
        let mut order = Vec::with_capacity(tasks.len());
        let mut cycle = Vec::new();
        for component in components {
            match component.as_slice() {
                [one] => order.push(*one),
                many => cycle.extend_from_slice(many),
            }
        }
        cycle.sort_unstable();
        for (index, needs) in needs.iter_mut().enumerate() {
            match cycle.binary_search(&index) {
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

    /// Tasks in dependency cycles, sorted.
    pub fn cycle(&self) -> &[usize] {
        &self.cycle
    }

    /// Dependencies of a task, without those on tasks in cycles.
    pub fn needs(&self, index: usize) -> &[usize] {
        &self.needs[index]
    }

    /// Computes the schedule for the given durations in days.
    pub fn schedule(&self, days: &[u64]) -> Schedule {
        let mut starts = vec![0u64; days.len()];
        let mut span_days = 0;
        let finish = |starts: &[u64], index: usize| starts[index].saturating_add(days[index]);
        for &index in &self.order {
            let needs = self.needs[index].iter();
            starts[index] = needs
                .map(|needed| finish(&starts, *needed))
                .max()
                .unwrap_or(0);
            span_days = span_days.max(finish(&starts, index));
        }
        // A task must end before the latest start of every task that depends on it, or at the end of the project.
        let mut latest_finishes = vec![span_days; days.len()];
        for &index in self.order.iter().rev() {
            let latest_start = latest_finishes[index].saturating_sub(days[index]);
            for &needed in &self.needs[index] {
                latest_finishes[needed] = latest_finishes[needed].min(latest_start);
            }
        }
        let mut slots: Vec<Slot> = days.iter().map(|days| Slot::InCycle(*days)).collect();
        for &index in &self.order {
            slots[index] = Slot::OnPath {
                earliest_start: starts[index],
                earliest_finish: finish(&starts, index),
                latest_start: latest_finishes[index].saturating_sub(days[index]),
            };
        }
        Schedule { span_days, slots }
    }
}

/// Groups tasks into strongly connected components (Tarjan's algorithm); each group comes after its dependencies. The
/// algorithm is iterative, because dependency chains can be as long as a project.
fn components(needs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut number = vec![UNSEEN; needs.len()];
    let mut lowest = vec![UNSEEN; needs.len()];
    let mut is_open = vec![false; needs.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut components = Vec::new();
    let mut count = 0;
    for root in 0..needs.len() {
        if number[root] != UNSEEN {
            continue;
        }
        // Path from the root: each task with the index of its next dependency to visit.
        let mut path = vec![(root, 0)];
        while let Some(&mut (index, ref mut next)) = path.last_mut() {
            if *next == 0 {
                number[index] = count;
                lowest[index] = count;
                count += 1;
                open.push(index);
                is_open[index] = true;
            }
            if let Some(&needed) = needs[index].get(*next) {
                *next += 1;
                if number[needed] == UNSEEN {
                    path.push((needed, 0));
                } else if is_open[needed] {
                    lowest[index] = lowest[index].min(number[needed]);
                }
                continue;
            }
            path.pop();
            if let Some(&(before, _)) = path.last() {
                lowest[before] = lowest[before].min(lowest[index]);
            }
            if lowest[index] == number[index] {
                let first = open
                    .iter()
                    .rposition(|one| *one == index)
                    .expect("a task on the path is open");
                let component = open.split_off(first);
                for one in &component {
                    is_open[*one] = false;
                }
                components.push(component);
            }
        }
    }
    components
}

#[cfg(test)]
mod tests;
