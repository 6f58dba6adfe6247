//! Repeated mistakes become rules after evaluation and approval, once per mistake.

use company::{
    Error,
    memory::{
        self,
        guidance::{self, Cycle, Ended, Evaluation},
        mistake::{self, ObservedMistake},
    },
};
use protocol::{
    Id as _,
    company::{
        ActorRole, AgentId, ReviewDecision,
        agent::{AgentSelfImproveCycleResponse, SelfImproveStatus},
    },
};

use crate::place::{Place, actor};

fn seen(place: &Place, key: &str) -> ObservedMistake {
    ObservedMistake {
        worker: AgentId::parse("agent_a").expect("the fixture is as it was made"),
        manager: actor("agent_m", ActorRole::Manager),
        key: key.to_owned(),
        summary: "Forgot tests".to_owned(),
        prevention_rule: "Always add tests".to_owned(),
        project_id: Some(place.project.clone()),
        run_id: Some(place.run.clone()),
        task_id: None,
        milestone_id: None,
        evidence: Vec::new(),
        threshold: 3,
    }
}

fn cycle(place: &Place, key: &str, exit_code: i32) -> Result<AgentSelfImproveCycleResponse, Error> {
    let cycle = Cycle {
        project_id: place.project.clone(),
        seen: ObservedMistake {
            run_id: None,
            ..seen(place, key)
        },
        proposal_threshold: 2,
        evaluation: Evaluation::default(),
    };
    guidance::self_improve(&place.company, &cycle, |_, _| {
        Ok(Ended {
            exit_code: Some(exit_code),
            signal: None,
        })
    })
}

#[test]
fn mistakes_are_counted_and_the_last_twenty_are_kept() {
    let place = Place::new();
    for _ in 0..25 {
        mistake::record(&place.company, &seen(&place, "no-tests")).unwrap();
    }
    let recorded = mistake::record(&place.company, &seen(&place, "no-tests")).unwrap();
    assert_eq!(recorded.count, 26);
    let log = place.read("org/agents/agent_a/mistakes.yaml");
    assert_eq!(log.matches("observed_by").count(), 20);
    assert_eq!(place.count("evaluation.mistake_recorded"), 26);
}

#[test]
fn a_rule_is_proposed_once_and_known_once_it_is_approved() {
    let place = Place::new();
    let status = |key, exit_code| cycle(&place, key, exit_code).unwrap().status;
    assert_eq!(status("slow", 0), SelfImproveStatus::RecordedOnly);
    assert_eq!(status("slow", 4), SelfImproveStatus::EvaluationFailed);
    let made = cycle(&place, "slow", 0).unwrap();
    assert_eq!(
        (made.status, made.reused),
        (SelfImproveStatus::ProposalCreated, None)
    );
    let again = cycle(&place, "slow", 0).unwrap();
    assert_eq!(again.reused, Some(true));
    assert_eq!(again.proposal, made.proposal);
    let delta = made.proposal.unwrap().memory_delta_artifact_id;
    memory::decide(
        &place.company,
        &place.verdict(&delta, ReviewDecision::Approved),
    )
    .unwrap();
    let rule =
        "- <!-- mistake:slow --> [slow] Always add tests (observed 3 repeats; proposed by agent_m)";
    assert!(place.read("org/agents/agent_a/AGENTS.md").contains(rule));
    assert_eq!(status("slow", 0), SelfImproveStatus::AlreadyGuided);
    // A key that is a prefix of another key is a different key.
    cycle(&place, "slo", 0).unwrap();
    assert_eq!(status("slo", 0), SelfImproveStatus::ProposalCreated);
}

#[test]
fn what_cannot_be_a_mistake_is_refused() {
    let place = Place::new();
    let check = |change: fn(&mut ObservedMistake), expected: &str| {
        let mut seen = seen(&place, "key");
        change(&mut seen);
        let refused = mistake::record(&place.company, &seen).unwrap_err();
        assert_eq!(refused.to_string(), expected);
    };
    check(|seen| seen.key = "  ".to_owned(), "mistake_key is required");
    check(
        |seen| seen.manager.role = ActorRole::Worker,
        "Only manager+ roles can record worker mistakes",
    );
    check(
        |seen| seen.worker = AgentId::parse("agent_ghost").unwrap(),
        "Agent not found: agent_ghost",
    );
    check(
        |seen| seen.prevention_rule = "never print token=abc12345".to_owned(),
        "found 1 secret(s) in `mistake.prevention_rule`: remove them and try again",
    );
    assert!(!place.company.path("org/agents/agent_ghost").exists());
    for _ in 0..2 {
        let odd = cycle(&place, "a key --> of its own", 0);
        if let Err(error) = odd {
            assert_eq!(
                error.to_string(),
                "`a key --> of its own` cannot mark a rule: expected 1 to 64 of the characters A-Z a-z 0-9 . _ -"
            );
        }
    }
}

#[test]
fn tasks_that_are_over_make_room_in_the_context_index() {
    let place = Place::new();
    let task = |id: &str, day: u32, status: &str| {
        place.put(
            &format!("work/projects/{}/tasks/{id}.md", place.project),
            &format!(
                "---\nschema_version: 1\ntype: task\nid: {id}\nproject_id: {}\ntitle: T\n\
                 created_at: \"2024-06-0{day}T00:00:00.000Z\"\nstatus: {status}\nvisibility: team\n\
                 assignee_agent_id: agent_a\nscope:\n  paths: [a, b]\nmilestones: []\n---\n\n# T\n",
                place.project
            ),
        );
    };
    task("task_old", 1, "draft");
    task("task_done", 3, "canceled");
    task("task_new", 2, "draft");
    let agent = AgentId::parse("agent_a").unwrap();
    let refresh = || guidance::refresh_context(&place.company, &agent, None, 2, 3).unwrap();
    let refreshed = refresh();
    assert_eq!((refreshed.assignments, refreshed.updated), (2, true));
    let index = place.read("org/agents/agent_a/context_index.md");
    assert!(!index.contains("task_done"), "{index}");
    // The limit truncates the paths, not the tasks.
    assert!(index.contains("tasks/task_old.md"), "{index}");
    assert!(
        index.contains("task_scope_paths_truncated: true (max_scope_paths=3)"),
        "{index}"
    );
    assert!(!refresh().updated);
}
