//! One final decision per document, and its effects.

use company::{
    Error,
    documents::validate::validate,
    inbox::{self, RecordOnly},
    memory,
    planning::milestone,
};
use protocol::{
    Id as _,
    company::{
        ActorRole, DocumentId, MilestoneId, MilestoneStatus, ReviewDecision, Sensitivity, TaskId,
        TaskStatus, Visibility,
        memory::{DeltaFilter, DeltaStatus},
    },
};

use crate::place::{Place, actor, human, text};

fn message<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.expect_err("it is refused").to_string()
}

#[test]
fn two_deltas_under_one_heading_can_both_be_approved() {
    let place = Place::new();
    let first = place.propose("- first").artifact_id;
    let second = place.propose("- second").artifact_id;
    let approve = |id| memory::decide(&place.company, &place.verdict(id, ReviewDecision::Approved));
    assert!(!approve(&first).unwrap().rebased);
    assert!(approve(&second).unwrap().rebased);
    assert_eq!(
        place.memory(),
        "# Project Memory (Curated)\n\n## Summary\n\n## Decisions\n\n- second\n\n- first\n\n## Links\n"
    );
}

#[test]
fn the_first_decision_is_final_and_the_second_hears_of_it() {
    let place = Place::new();
    for first in [ReviewDecision::Approved, ReviewDecision::Denied] {
        let id = place.propose("- line").artifact_id;
        let review = memory::decide(&place.company, &place.verdict(&id, first)).unwrap();
        let before = place.memory();
        for second in [ReviewDecision::Approved, ReviewDecision::Denied] {
            match inbox::resolve(&place.company, &place.verdict(&id, second), &RecordOnly) {
                Err(Error::AlreadyDecided {
                    review_id,
                    decision,
                    ..
                }) => {
                    assert_eq!(
                        (review_id.as_str(), decision),
                        (review.review_id.as_str(), first)
                    );
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(place.memory(), before);
    }
    assert_eq!(place.names("inbox/reviews").len(), 2);
}

#[test]
fn a_delta_changes_the_memory_it_names_and_no_other_file() {
    let place = Place::new();
    let project = &place.project;
    let id = place.propose("- line").artifact_id;
    let file = format!("work/projects/{project}/artifacts/{id}.md");
    let written = place.read(&file);
    for target in [
        "company/policy.yaml",
        "../outside.md",
        "org/agents/agent_b/AGENTS.md",
        "org/agents/../../company/AGENTS.md",
    ] {
        let memory = format!("work/projects/{project}/memory.md");
        let edited = written.replace(
            &format!("target_file: {memory}"),
            &format!("target_file: {target}"),
        );
        assert_ne!(edited, written);
        place.put(&file, &edited);
        let verdict = place.verdict(&id, ReviewDecision::Approved);
        let refused = message(memory::decide(&place.reopened(), &verdict));
        assert_eq!(
            refused,
            format!("a delta of project `{project}` cannot change `{target}`")
        );
    }
    assert_eq!(place.names("inbox/reviews"), [""; 0]);
}

#[test]
fn a_document_that_is_no_delta_can_be_denied_and_not_approved() {
    let place = Place::new();
    let project = &place.project;
    let id = place.propose("- line").artifact_id;
    let file = format!("work/projects/{project}/artifacts/{id}.md");
    let edited = place
        .read(&file)
        .replace("type: memory_delta", "type: memory_delta\nextra: 1");
    place.put(&file, &edited);
    let company = place.reopened();
    let approve = place.verdict(&id, ReviewDecision::Approved);
    let refused = inbox::resolve(&company, &approve, &RecordOnly);
    assert!(
        matches!(refused, Err(Error::FileInvalid { .. })),
        "{refused:?}"
    );
    let deny = place.verdict(&id, ReviewDecision::Denied);
    let denied = inbox::resolve(&company, &deny, &RecordOnly).unwrap();
    assert_eq!(denied.subject_kind, "memory_delta");
    assert_eq!(place.names("inbox/reviews").len(), 1);
}

#[test]
fn a_secret_is_stored_nowhere() {
    let place = Place::new();
    let secret = format!("sk-ant-{}", "a1".repeat(20));
    let mut in_title = place.delta("- line");
    in_title.title = text(&format!("Key {secret}"));
    let mut in_rationale = place.delta("- line");
    in_rationale.rationale = format!("Because {secret}");
    let in_line = place.delta(&format!("- {secret}"));
    for (delta, label) in [
        (in_title, "memory_delta.title"),
        (in_rationale, "memory_delta.rationale"),
        (in_line, "memory_delta.insert_lines"),
    ] {
        assert_eq!(
            message(memory::propose(&place.company, &delta)),
            format!("found 1 secret(s) in `{label}`: remove them and try again")
        );
    }
    let id = place.propose("- line").artifact_id;
    let mut verdict = place.verdict(&id, ReviewDecision::Approved);
    verdict.notes = Some(format!("fine, {secret}"));
    assert_eq!(
        message(memory::decide(&place.company, &verdict)),
        "found 1 secret(s) in `review.notes`: remove them and try again"
    );
    // A secret that was added to the memory by hand blocks changes of the same file.
    let memory_file = format!("work/projects/{}/memory.md", place.project);
    place.put(
        &memory_file,
        &(place.memory() + "\nDB_PASSWORD=hunter2hunter2\n"),
    );
    verdict.notes = None;
    assert_eq!(
        message(memory::decide(&place.reopened(), &verdict)),
        "found 1 secret(s) in `memory_delta.target_after_apply`: remove them and try again"
    );
    assert_eq!(place.names("inbox/reviews"), [""; 0]);
}

#[test]
fn lines_that_would_break_the_section_are_refused() {
    let place = Place::new();
    let check = |line: &str, expected: &str| {
        let refused = message(memory::propose(&place.company, &place.delta(line)));
        assert_eq!(refused, expected);
    };
    check(
        "- one\n- two",
        "a line of insert_lines contains a line break: pass each line as a separate entry",
    );
    check(
        "# Other",
        "a line of insert_lines is a heading of level 1, which would end the section `## Decisions`",
    );
    memory::propose(&place.company, &place.delta("### Details")).unwrap();
    let mut restricted = place.delta("- line");
    restricted.sensitivity = Sensitivity::Restricted;
    restricted.visibility = Visibility::Org;
    assert_eq!(
        message(memory::propose(&place.company, &restricted)),
        "restricted memory deltas cannot use org visibility"
    );
}

#[test]
fn a_list_tells_how_many_deltas_the_actor_may_not_see() {
    let place = Place::new();
    place.propose("- for managers");
    let mut restricted = place.delta("- restricted");
    restricted.sensitivity = Sensitivity::Restricted;
    memory::propose(&place.company, &restricted).unwrap();
    let list = |id: &str, role| {
        let wanted = memory::DeltaQuery {
            actor: actor(id, role).known(&place.company).unwrap(),
            project: None,
            status: DeltaFilter::Pending,
            limit: 10,
        };
        let listed = memory::list(&place.company, wanted).unwrap();
        (listed.count, listed.filtered_by_policy_count)
    };
    assert_eq!(list("human", ActorRole::Human), (2, 0));
    assert_eq!(list("agent_m", ActorRole::Manager), (1, 1));
    assert_eq!(list("agent_b", ActorRole::Worker), (0, 2));
    // The producer can read its own delta, unless it is restricted.
    assert_eq!(list("agent_a", ActorRole::Worker), (1, 1));
}

#[test]
fn an_agent_is_at_most_what_its_file_says() {
    let place = Place::new();
    let refused = actor("agent_m", ActorRole::Director).known(&place.company);
    assert_eq!(
        message(refused),
        "`agent_m` claims the role director but has the role manager"
    );
    let known = actor("agent_m", ActorRole::Worker)
        .known(&place.company)
        .unwrap();
    assert_eq!(known.team_id.as_deref(), Some("team_a"));
    assert_eq!(human().known(&place.company).unwrap(), human());
}

#[test]
fn a_milestone_is_accepted_when_its_proof_is_there() {
    let place = Place::new();
    let (task, milestone) = (
        TaskId::parse("task_1").unwrap(),
        MilestoneId::parse("ms_2").unwrap(),
    );
    let report = place.report("art_1", "ms_2", "tests_artifacts: [art_log]\n");
    let approve = || {
        let verdict = place.verdict(&report, ReviewDecision::Approved);
        milestone::decide(&place.company, &verdict, Some((&task, &milestone)))
    };
    let proof = |name: &str, text: &str| {
        place.put(
            &format!("work/projects/{}/artifacts/{name}", place.project),
            text,
        );
    };
    let no_patch = "Missing required patch evidence (.patch) for milestone approval";
    assert_eq!(message(approve()), no_patch);
    proof("art_diff.patch", "");
    assert_eq!(message(approve()), no_patch);
    proof("art_diff.patch", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n");
    assert_eq!(
        message(approve()),
        "Missing required tests evidence (.txt or .json) for milestone approval"
    );
    proof("art_log.txt", "ok 1\n");
    let decided = approve().unwrap();
    assert_eq!(decided.milestone_status, MilestoneStatus::Done);
    assert_eq!(decided.task_status, TaskStatus::InProgress);
    let other = place.report("art_2", "ms_1", "");
    let verdict = place.verdict(&other, ReviewDecision::Approved);
    let decided = milestone::decide(&place.company, &verdict, None).unwrap();
    assert_eq!(decided.task_status, TaskStatus::Done);
}

#[test]
fn a_decision_of_policy_about_a_run_that_is_not_there_is_kept_beside_the_runs() {
    let place = Place::new();
    let project = &place.project;
    place.put(
        &format!("work/projects/{project}/artifacts/art_1.md"),
        "---\ntype: proposal\nid: art_1\nvisibility: managers\nproduced_by: human\nrun_id: run_manual\n---\n",
    );
    let id = DocumentId::parse("art_1").unwrap();
    let worker = actor("agent_b", ActorRole::Worker);
    let refused = company::documents::read(&place.company, project, &id, &worker, None);
    assert_eq!(
        message(refused),
        "Policy denied read: vis.managers (role_not_allowed)"
    );
    let audit = place.read(&format!("work/projects/{project}/logs/policy_audit.jsonl"));
    let kinds: Vec<String> = audit
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|event| event["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["policy.decision", "policy.denied"]);
    assert!(
        !place
            .company
            .path(&format!("work/projects/{project}/runs/run_manual"))
            .exists()
    );
}

#[test]
fn approving_one_milestone_of_a_draft_without_a_contract_leaves_a_valid_folder() {
    let place = Place::new();
    let task = format!("work/projects/{}/tasks/task_1.md", place.project);
    let text = place.read(&task).replace(
        "deliverables: [A service]\nacceptance_criteria: [It works]\n",
        "",
    );
    place.put(&task, &text);
    let before = validate(&place.company);
    let report = place.report("art_1", "ms_1", "");
    let verdict = place.verdict(&report, ReviewDecision::Approved);
    let decided = milestone::decide(&place.company, &verdict, None).unwrap();
    assert_eq!(decided.milestone_status, MilestoneStatus::Done);
    assert_eq!(decided.task_status, TaskStatus::Draft);
    assert_eq!(validate(&place.company), before);
}

#[test]
fn a_claimed_role_above_the_stored_one_is_told_in_the_log_of_the_agent() {
    let place = Place::new();
    actor("agent_m", ActorRole::Director)
        .known(&place.company)
        .unwrap_err();
    actor("agent_m", ActorRole::Manager)
        .known(&place.company)
        .unwrap();
    let log = place.read("org/agents/agent_m/logs/policy_audit.jsonl");
    let events: Vec<serde_json::Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["type"], "policy.denied");
    assert_eq!(events[0]["actor"], "agent_m");
    assert_eq!(events[0]["payload"]["action"], "claim_role");
    assert_eq!(events[0]["payload"]["claimed_role"], "director");
    assert_eq!(events[0]["payload"]["stored_role"], "manager");
}

#[test]
fn a_delta_is_denied_whatever_is_wrong_with_it_and_listed_as_invalid_before() {
    type Damage = fn(&Place, &DocumentId);
    let document = |place: &Place, id: &DocumentId, ending: &str| {
        format!("work/projects/{}/artifacts/{id}.{ending}", place.project)
    };
    let damages: [Damage; 9] = [
        // The patch is malformed.
        |place, id| {
            let path = format!("work/projects/{}/artifacts/{id}.patch", place.project);
            place.put(&path, "garbage");
        },
        // The patch is missing.
        |place, id| {
            let path = format!("work/projects/{}/artifacts/{id}.patch", place.project);
            std::fs::remove_file(place.company.path(&path)).unwrap();
        },
        // The target is not a memory file.
        |place, id| edit(place, id, "/memory.md", "/../../../company/policy.yaml"),
        // The delta names another project.
        |place, id| {
            let project = format!("project_id: {}", place.project);
            edit(place, id, &project, "project_id: proj_other");
        },
        // A required member is missing.
        |place, id| edit(place, id, "\npatch_file: ", "\nno_patch_file: "),
        // The visibility is unknown.
        |place, id| edit(place, id, "\nvisibility: ", "\nvisibility: x"),
        // The id inside differs from the file name.
        |place, id| edit(place, id, &format!("\nid: {id}"), "\nid: art_other"),
        // The patch is for another file.
        |place, id| {
            let path = format!("work/projects/{}/artifacts/{id}.patch", place.project);
            let other =
                "--- a/company/company.yaml\n+++ b/company/company.yaml\n@@ -1,1 +1,1 @@\n-x\n+y\n";
            place.put(&path, other);
        },
        // The target is a folder.
        |place, _| {
            let memory = place
                .company
                .path(&format!("work/projects/{}/memory.md", place.project));
            std::fs::remove_file(&memory).unwrap();
            std::fs::create_dir(&memory).unwrap();
        },
    ];
    let statuses = |place: &Place, status| {
        let wanted = memory::DeltaQuery {
            actor: human(),
            project: None,
            status,
            limit: 10,
        };
        let listed = memory::list(&place.company, wanted).unwrap().items;
        listed.iter().map(|row| row.status).collect::<Vec<_>>()
    };
    for (number, damage) in damages.iter().enumerate() {
        let place = Place::new();
        let id = place.propose("- service listens on 8080").artifact_id;
        assert_eq!(statuses(&place, DeltaFilter::All), [DeltaStatus::Pending]);
        damage(&place, &id);
        assert!(place.company.path(&document(&place, &id, "md")).exists());
        assert_eq!(
            statuses(&place, DeltaFilter::All),
            [DeltaStatus::Invalid],
            "{number}"
        );
        assert_eq!(statuses(&place, DeltaFilter::Invalid).len(), 1, "{number}");
        assert_eq!(statuses(&place, DeltaFilter::Pending), [], "{number}");
        let verdict = place.verdict(&id, ReviewDecision::Approved);
        memory::decide(&place.company, &verdict).unwrap_err();
        let verdict = place.verdict(&id, ReviewDecision::Denied);
        memory::decide(&place.company, &verdict).unwrap();
        assert_eq!(
            statuses(&place, DeltaFilter::All),
            [DeltaStatus::Denied],
            "{number}"
        );
        let memory = format!("work/projects/{}/memory.md", place.project);
        let memory = place.company.read_text(&memory).unwrap_or_default();
        assert!(!memory.contains("8080"));
    }
}

#[test]
fn a_delta_without_readable_front_matter_can_be_denied() {
    for text in ["", "---\n: : [\n---\n", "no front matter"] {
        let place = Place::new();
        let id = place.propose("- service listens on 8080").artifact_id;
        place.put(
            &format!("work/projects/{}/artifacts/{id}.md", place.project),
            text,
        );
        memory::decide(&place.company, &place.verdict(&id, ReviewDecision::Denied)).unwrap();
        assert_eq!(place.names("inbox/reviews").len(), 1);
    }
}

/// Replaces a text in the file of a delta.
fn edit(place: &Place, id: &DocumentId, from: &str, to: &str) {
    let path = format!("work/projects/{}/artifacts/{id}.md", place.project);
    let text = place.read(&path);
    assert!(text.contains(from), "{text}");
    place.put(&path, &text.replace(from, to));
}
