//! The pipeline from intake to worker tasks, including a process that ends in between.

use company::{
    Company, Error,
    decisions::review::DocumentDecision,
    documents::validate,
    events::replay,
    execution::run,
    inbox::{self, RecordOnly},
    org::project,
    pipeline::{
        assign::{self, Assignment},
        fill,
        intake::{self, NewIntake, Package},
    },
    pm::overview,
    policy::Actor,
};
use protocol::{
    Id as _,
    company::{
        ActorRole, AgentId, ReviewDecision, Text,
        pipeline::{PipelineDepartmentAssignTasksResponse, PipelineGenerationMode},
        run::ReplayMode,
    },
};

use crate::place::Place;

/// A company with a department in `team_b`.
fn place() -> Place {
    let place = Place::new();
    for team in ["team_a", "team_b"] {
        place.put(
            &format!("org/teams/{team}/team.yaml"),
            &format!(
                "schema_version: 1\ntype: team\nid: {team}\nname: Team {team}\ndepartment_key: {team}\n\
                 department_label: Label {team}\ncreated_at: \"2024-05-01T09:00:00.000Z\"\n"
            ),
        );
    }
    place
}

fn wanted() -> NewIntake {
    NewIntake {
        project_name: " Portal ".to_owned(),
        ceo: "agent_c".to_owned(),
        executive: AgentId::parse("agent_m").expect("an id"),
        text: Some("Build a portal".to_owned()),
        file: None,
        mode: PipelineGenerationMode::Deterministic,
    }
}

fn made(place: &Place) -> Package {
    intake::run(&place.company, &wanted()).expect("a package")
}

/// Creates a package and approves its plan as the CEO.
fn approved(place: &Place) -> Package {
    let package = made(place);
    let approved = ReviewDecision::Approved;
    decide(place, &package, approved, "agent_c", ActorRole::Ceo).expect("an approval");
    package
}

fn decide(
    place: &Place,
    package: &Package,
    decision: ReviewDecision,
    actor: &str,
    role: ActorRole,
) -> Result<(), Error> {
    let approval = &package.response.artifacts.approval_artifact_id;
    let verdict = DocumentDecision {
        project_id: package.response.project_id.clone(),
        actor: Actor {
            id: actor.to_owned(),
            role,
            team_id: None,
        },
        ..place.verdict(approval, decision)
    };
    inbox::resolve(&place.company, &verdict, &RecordOnly).map(drop)
}

/// Number of documents that wait for a decision.
fn pending_reviews(place: &Place) -> u64 {
    let snapshot = overview::snapshot(&place.company).expect("a snapshot");
    snapshot.home.summary.pending_reviews
}

fn assigned(
    company: &Company,
    package: &Package,
    workers: &[&str],
) -> Result<PipelineDepartmentAssignTasksResponse, Error> {
    let wanted = Assignment {
        project_id: package.response.project_id.clone(),
        department_key: "TEAM_B".to_owned(),
        director: AgentId::parse("agent_d").expect("an id"),
        workers: workers
            .iter()
            .map(|id| Text::new(*id).expect("an id"))
            .collect(),
        executive_plan: package
            .response
            .artifacts
            .executive_plan_artifact_id
            .clone(),
    };
    assign::run(company, &wanted)
}

#[test]
fn a_package_passes_validation_and_its_run_is_chained() {
    let place = place();
    let package = made(&place);
    assert_eq!(validate::validate(&place.company), []);
    let runs = run::runs(&place.company, Some(&package.response.project_id)).expect("runs");
    let [(project, run)] = runs.as_slice() else {
        panic!("one run, not {}", runs.len());
    };
    let log = place.company.path(&format!(
        "work/projects/{project}/runs/{}/events.jsonl",
        run.id
    ));
    let options = replay::Options {
        mode: ReplayMode::Verified,
        tail: None,
        after_seq: 0,
        limit: None,
        events_tail: run.events_tail.clone(),
    };
    let replayed = replay::replay(&log, &options).expect("a replay").replayed;
    let replayed = serde_json::to_value(&replayed).expect("JSON");
    assert_eq!(replayed["verification_issues"], serde_json::json!([]));
    // Two events of the run, and one each for the brief, department plan, executive plan, transcript and proposal.
    assert_eq!(run.events_tail.as_ref().map(|tail| tail.count), Some(7));
}

#[test]
fn a_package_is_there_whole_or_not_at_all_wherever_the_process_ends() {
    let (mut whole, mut nothing) = (0, 0);
    // Every one of the first writes, which include the commit, then every fifth.
    for writes in (0..6).chain((6..).step_by(5)) {
        let place = place();
        let before = project::project_ids(&place.company).expect("projects");
        let ended = intake::run(&place.ending_after(writes), &wanted());
        let company = place.reopened();
        let after = project::project_ids(&company).expect("projects");
        match after.len() - before.len() {
            0 => nothing += 1,
            _ => {
                whole += 1;
                assert_eq!(validate::validate(&company), [], "after {writes} writes");
                let project = after.iter().find(|id| !before.contains(id)).expect("one");
                let folder = format!("work/projects/{project}");
                for (names, count) in [("artifacts", 5), ("tasks", 1), ("conversations", 6)] {
                    let found = place.names(&format!("{folder}/{names}"));
                    assert_eq!(found.len(), count, "{names} after {writes} writes");
                }
                assert_eq!(place.names(&format!("{folder}/share_packs")), [""; 0]);
            }
        }
        if ended.is_ok() {
            assert!(whole > 5 && nothing > 0 && nothing < 5, "{whole} {nothing}");
            return;
        }
    }
}

#[test]
fn nothing_is_made_of_a_bad_intake() {
    let place = place();
    let check = |change: &dyn Fn(&mut NewIntake), expected: &str| {
        let mut new = wanted();
        change(&mut new);
        let error = intake::run(&place.company, &new).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(project::project_ids(&place.company).unwrap().len(), 1);
        assert!(
            !place
                .company
                .path("org/agents/agent_global_manager")
                .exists()
        );
    };
    check(
        &|new| new.executive = AgentId::parse("agent_nobody").unwrap(),
        "Agent not found: agent_nobody",
    );
    check(
        &|new| new.file = Some("x".to_owned()),
        "Provide only one of intake_text or intake_file",
    );
    check(
        &|new| new.text = Some("use API_TOKEN=abcdef0123456789".to_owned()),
        "found 1 secret(s) in `intake`: remove them and try again",
    );
    check(
        &|new| new.project_name = " ".to_owned(),
        "project_name is required",
    );
    place.put("long.txt", &"x".repeat((1 << 20) + 1));
    check(
        &|new| (new.text, new.file) = (None, Some("long.txt".to_owned())),
        "intake_file `long.txt` is larger than 1 MiB",
    );
}

#[test]
fn two_directors_of_a_department_have_a_plan_each() {
    let place = place();
    place.put(
        "org/agents/agent_e/agent.yaml",
        "schema_version: 1\ntype: agent\nid: agent_e\nname: agent_e\nrole: director\nprovider: codex\nteam_id: team_b\n\
         created_at: \"2024-05-01T09:00:00.000Z\"\n",
    );
    let package = made(&place);
    let keys: Vec<_> = package.response.director_task_ids.keys().collect();
    assert_eq!(keys, ["team_b", "team_b#2"]);
    assert_eq!(package.response.assigned_task_ids.len(), 2);
}

#[test]
fn only_the_ceo_opens_the_gate_and_asking_again_makes_nothing_twice() {
    let place = place();
    let package = made(&place);
    let refused = assigned(&place.company, &package, &["agent_b"]).unwrap_err();
    let plan = &package.response.artifacts.executive_plan_artifact_id;
    assert_eq!(
        refused.to_string(),
        format!("CEO approval required for executive plan {plan}")
    );
    let approved = ReviewDecision::Approved;
    let by_manager = || decide(&place, &package, approved, "agent_m", ActorRole::Manager);
    by_manager().unwrap();
    assert!(assigned(&place.company, &package, &["agent_b"]).is_err());
    assert_eq!(pending_reviews(&place), 1, "it still waits for the CEO");
    let twice = by_manager().unwrap_err();
    assert!(matches!(twice, Error::AlreadyDecided { .. }), "{twice}");
    decide(&place, &package, approved, "agent_c", ActorRole::Ceo).unwrap();
    assert_eq!(pending_reviews(&place), 0);
    let late = by_manager().unwrap_err();
    assert!(matches!(late, Error::AlreadyDecided { .. }), "{late}");

    let workers = ["agent_b", "agent_a", "agent_d", "agent_nobody", "agent_b"];
    let first = assigned(&place.company, &package, &workers).unwrap();
    assert_eq!(first.created_task_ids.len(), 1);
    let reasons: Vec<_> = first
        .denied_assignments
        .iter()
        .map(|denied| (denied.worker_agent_id.as_str(), denied.reason.as_str()))
        .collect();
    assert_eq!(
        reasons,
        [
            ("agent_a", "cross_team_assignment_denied"),
            ("agent_d", "not_worker_role"),
            ("agent_nobody", "agent_not_found")
        ]
    );
    let again = assigned(&place.company, &package, &["agent_b"]).unwrap();
    assert_eq!(again.created_task_ids, []);
    assert_eq!(again.reused_task_ids, first.created_task_ids);
    let text = place.read(&format!(
        "work/projects/{}/tasks/{}.md",
        package.response.project_id, first.created_task_ids[0]
    ));
    let director = package.response.director_task_ids["team_b"].as_str();
    assert!(text.contains(director), "it waits for the plan: {text}");
}

#[test]
fn a_later_denial_closes_the_gate() {
    let place = place();
    let package = approved(&place);
    // Folders written by other programs can contain several reviews of one document.
    let [name] = place.names("inbox/reviews").try_into().expect("one review");
    let review = place.read(&format!("inbox/reviews/{name}"));
    let later = |name: &str, decision: &str, role: &str, at: &str| {
        let id = review
            .lines()
            .find(|line| line.starts_with("id: "))
            .unwrap();
        let created = review
            .lines()
            .find(|line| line.starts_with("created_at: "))
            .unwrap();
        let text = review
            .replace(id, &format!("id: {name}"))
            .replace(created, &format!("created_at: \"{at}\""))
            .replace("decision: approved", &format!("decision: {decision}"))
            .replace("actor_role: ceo", &format!("actor_role: {role}"));
        place.put(&format!("inbox/reviews/{name}.yaml"), &text);
    };
    later("rev_1", "denied", "manager", "2026-01-01T00:00:00.000Z");
    assert!(assigned(&place.company, &package, &["agent_b"]).is_err());
    later("rev_2", "approved", "manager", "2026-01-02T00:00:00.000Z");
    assert!(
        assigned(&place.company, &package, &["agent_b"]).is_ok(),
        "the CEO's approval holds and the denial was taken back"
    );
    later("rev_3", "denied", "ceo", "2026-01-03T00:00:00.000Z");
    later("rev_4", "approved", "manager", "2026-01-04T00:00:00.000Z");
    assert!(assigned(&place.company, &package, &["agent_b"]).is_err());
}

#[test]
fn a_gate_that_stays_closed_names_the_reviews_it_could_not_read() {
    let place = place();
    let package = approved(&place);
    let [name] = place.names("inbox/reviews").try_into().expect("one review");
    place.put(&format!("inbox/reviews/{name}"), "decision: [");
    let refused = assigned(&place.company, &package, &["agent_b"]).unwrap_err();
    let plan = &package.response.artifacts.executive_plan_artifact_id;
    assert_eq!(
        refused.to_string(),
        format!(
            "CEO approval required for executive plan {plan}; not readable: inbox/reviews/{name}"
        )
    );
}

#[test]
fn a_review_that_cannot_be_read_may_be_a_denial() {
    let place = place();
    let package = approved(&place);
    place.put("inbox/reviews/rev_late.yaml", "decision: [");
    let refused = assigned(&place.company, &package, &["agent_b"]).unwrap_err();
    let plan = &package.response.artifacts.executive_plan_artifact_id;
    assert_eq!(
        refused.to_string(),
        format!(
            "executive plan {plan} is approved, but may have been denied since; \
             not readable: inbox/reviews/rev_late.yaml"
        )
    );
}

#[test]
fn tasks_and_their_log_are_there_together_wherever_the_process_ends() {
    for writes in 0.. {
        let place = place();
        let package = approved(&place);
        let ended = assigned(&place.ending_after(writes), &package, &["agent_b"]);
        let company = place.reopened();
        let folder = format!("work/projects/{}", package.response.project_id);
        let (tasks, logs) = (
            place.names(&format!("{folder}/tasks")).len(),
            place.names(&format!("{folder}/logs")).len(),
        );
        assert!(
            [(1, 1), (2, 2)].contains(&(tasks, logs)),
            "after {writes} writes: {tasks} tasks, {logs} logs"
        );
        let again = assigned(&company, &package, &["agent_b"]).unwrap();
        assert_eq!(again.reused_task_ids.len(), tasks - 1);
        if ended.is_ok() {
            return;
        }
    }
}

#[test]
fn what_a_worker_wrote_replaces_a_document_only_if_it_is_that_document() {
    let place = place();
    let package = made(&place);
    let target = &package.targets[0];
    let project = &package.response.project_id;
    let agent = AgentId::parse("agent_m").unwrap();
    let run = run::create(&place.company, project, &agent, "gemini").unwrap();
    let prompt = fill::prompt(&place.company, &package, target, &run).unwrap();
    let (_, template) = prompt.split_once("The document to fill in:\n\n").unwrap();
    let accept =
        |answer: &str| fill::accept(&place.company, &package.response, target, &run, answer);
    assert!(accept("no document").is_err());
    let foreign = template.replace(run.run_id.as_str(), "run_other");
    let error = accept(&foreign).unwrap_err().to_string();
    assert!(error.contains("found `run_other`"), "{error}");
    let filled = template
        .replace("## Approval", "Ours.\n\n## Approval")
        .replace("visibility: managers", "visibility: org");
    accept(&format!("```markdown\n{filled}\n```")).unwrap();
    let relpath = format!("work/projects/{project}/artifacts/{}.md", target.document);
    let text = place.read(&relpath);
    assert!(
        text.contains("Ours.") && text.contains("visibility: managers"),
        "{text}"
    );

    decide(
        &place,
        &package,
        ReviewDecision::Approved,
        "agent_c",
        ActorRole::Ceo,
    )
    .unwrap();
    let error = accept(template).unwrap_err().to_string();
    assert_eq!(
        error,
        "the executive plan was approved or denied in the meantime"
    );
    let report = fill::give_up(
        &place.company,
        &package.response,
        target,
        Some(&run),
        &error,
    );
    let report = report.unwrap();
    assert_eq!(validate::validate(&place.company), []);
    let log = place.read(&package.response.generation.audit_log_relpath);
    let rows: Vec<serde_json::Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let events: Vec<_> = rows
        .iter()
        .map(|row| row["event"].as_str().unwrap())
        .collect();
    assert_eq!(
        events,
        [
            "provider_fill_skipped",
            "provider_fill_succeeded",
            "provider_fill_failed"
        ]
    );
    assert_eq!(rows[2]["failure_artifact_id"], report.as_str());
}
