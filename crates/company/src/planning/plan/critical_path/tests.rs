//! Compares the two passes with an enumeration of all paths of small graphs.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// A graph indexed by task: duration in days and dependencies of each task.
type Graph = Vec<(u64, BTreeSet<usize>)>;

fn network(graph: &Graph) -> (Network, Vec<u64>) {
    let ids: Vec<String> = (0..graph.len()).map(|index| format!("t{index}")).collect();
    let tasks: Vec<(&str, Vec<&str>)> = graph
        .iter()
        .enumerate()
        .map(|(index, (_, needs))| {
            let needs = needs.iter().map(|needed| ids[*needed].as_str()).collect();
            (ids[index].as_str(), needs)
        })
        .collect();
    let days = graph.iter().map(|(days, _)| *days).collect();
    (Network::new(&tasks), days)
}

/// Every path of a graph, from a task without dependencies to one without dependents, in order of execution.
fn paths(graph: &Graph) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let is_last = |index: usize| graph.iter().all(|(_, needs)| !needs.contains(&index));
    let mut open: Vec<Vec<usize>> = (0..graph.len())
        .filter(|index| is_last(*index))
        .map(|index| vec![index])
        .collect();
    while let Some(path) = open.pop() {
        let (_, needs) = &graph[path[0]];
        if needs.is_empty() {
            found.push(path);
            continue;
        }
        for needed in needs {
            open.push([&[*needed], path.as_slice()].concat());
        }
    }
    found
}

fn reaches(graph: &Graph, from: usize, to: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut open: Vec<usize> = graph[from].1.iter().copied().collect();
    while let Some(index) = open.pop() {
        if index == to {
            return true;
        }
        if seen.insert(index) {
            open.extend(&graph[index].1);
        }
    }
    false
}

/// Graphs with arbitrary dependencies, including self-dependencies.
fn any_graph() -> impl Strategy<Value = Graph> {
    (1..8usize).prop_flat_map(|size| {
        let task = (
            0..9u64,
            prop::collection::btree_set(0..size, 0..size.min(4)),
        );
        prop::collection::vec(task, size)
    })
}

/// Graphs without cycles. The tasks are shuffled, so that indices do not reflect the order.
fn acyclic_graph() -> impl Strategy<Value = Graph> {
    (1..9usize)
        .prop_flat_map(|size| {
            let rank = Just((0..size).collect::<Vec<_>>()).prop_shuffle();
            let edges = prop::collection::vec((0..size, 0..size), 0..3 * size);
            (rank, edges, prop::collection::vec(0..9u64, size))
        })
        .prop_map(|(rank, edges, days)| {
            let mut graph: Graph = days
                .into_iter()
                .map(|days| (days, BTreeSet::new()))
                .collect();
            for (one, other) in edges {
                if rank[one] < rank[other] {
                    graph[other].1.insert(one);
                }
            }
            graph
        })
}

proptest! {
    #[test]
    fn the_two_passes_agree_with_the_longest_of_all_paths(graph in acyclic_graph()) {
        let (network, days) = network(&graph);
        prop_assert!(network.cycle().is_empty());
        let schedule = network.schedule(&days);
        let paths = paths(&graph);
        let length = |path: &[usize]| path.iter().map(|index| days[*index]).sum::<u64>();
        let span = paths.iter().map(|path| length(path)).max().unwrap_or(0);
        prop_assert_eq!(schedule.span_days, span);
        for (index, slot) in schedule.slots.iter().enumerate() {
            let through = paths.iter().filter(|path| path.contains(&index));
            let before = through.clone().map(|path| {
                let until = path.iter().position(|one| *one == index).unwrap();
                length(&path[..until])
            });
            prop_assert_eq!(slot.earliest_start(), before.max().unwrap());
            prop_assert_eq!(slot.earliest_finish(), slot.earliest_start() + days[index]);
            let longest = through.map(|path| length(path)).max().unwrap();
            prop_assert_eq!(slot.slack_days(), span - longest);
            prop_assert_eq!(slot.is_critical(), longest == span);
        }
    }

    #[test]
    fn the_cycle_has_exactly_the_tasks_that_wait_for_themselves(graph in any_graph()) {
        // Dependencies of a task on itself are ignored.
        let graph: Graph = graph
            .into_iter()
            .enumerate()
            .map(|(index, (days, mut needs))| {
                needs.remove(&index);
                (days, needs)
            })
            .collect();
        let (network, days) = network(&graph);
        let expected: Vec<usize> = (0..graph.len())
            .filter(|index| reaches(&graph, *index, *index))
            .collect();
        prop_assert_eq!(network.cycle(), expected);
        for (index, slot) in network.schedule(&days).slots.iter().enumerate() {
            let is_member = network.cycle().contains(&index);
            prop_assert_eq!(slot.is_on_path(), !is_member);
            prop_assert!(!is_member || (!slot.is_critical() && slot.slack_days() == 0));
        }
    }
}

#[test]
fn a_chain_of_a_hundred_thousand_tasks_is_no_deep_call() {
    let ids: Vec<String> = (0..100_000).map(|index| format!("t{index}")).collect();
    let tasks: Vec<(&str, Vec<&str>)> = ids
        .iter()
        .enumerate()
        .map(|(index, id)| {
            let needs = ids.get(index + 1).map(String::as_str);
            (id.as_str(), needs.into_iter().collect())
        })
        .collect();
    let schedule = Network::new(&tasks).schedule(&vec![1; tasks.len()]);
    assert_eq!(schedule.span_days, 100_000);
    assert!(schedule.slots.iter().all(Slot::is_critical));
}

#[test]
fn days_beyond_all_counting_do_not_overflow() {
    let tasks = [("a", vec![]), ("b", vec!["a"]), ("c", vec!["b"])];
    let schedule = Network::new(&tasks).schedule(&[u64::MAX, u64::MAX, 1]);
    assert_eq!(schedule.span_days, u64::MAX);
}

#[test]
fn of_two_tasks_with_one_id_the_first_is_meant() {
    let tasks = [("a", vec![]), ("a", vec!["a"]), ("b", vec!["a", "gone"])];
    let network = Network::new(&tasks);
    assert_eq!(network.needs(1), [0]);
    assert_eq!(network.needs(2), [0]);
}
