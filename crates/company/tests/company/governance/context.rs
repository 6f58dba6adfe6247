//! The context of a worker, and the candidates that are filtered out.

use company::memory::{
    self,
    context_plan::{self, Job, by_words},
};
use protocol::{
    Id as _,
    company::{
        ActorRole, AgentId, JobKind, ReviewDecision, Sensitivity, Visibility,
        context::{
            ContextDecision, ContextLayer, ContextPlanForJobResponse, ContextRef, ContextRefKind,
        },
    },
};

use crate::place::{Place, actor, text};

fn job(place: &Place) -> Job {
    Job {
        project_id: place.project.clone(),
        worker: None,
        manager: actor("agent_m", ActorRole::Manager),
        kind: JobKind::Execution,
        goal: "Ship it".to_owned(),
        particulars: Vec::new(),
        seeds: Vec::new(),
        max_refs: None,
    }
}

fn plan(place: &Place, job: &Job) -> ContextPlanForJobResponse {
    context_plan::plan(&place.company, job, &by_words).expect("the fixture is as it was made")
}

fn approved(place: &Place, title: &str, change: impl Fn(&mut memory::NewDelta)) -> String {
    let mut delta = place.delta(&format!("- {title}"));
    delta.title = text(title);
    change(&mut delta);
    let id = memory::propose(&place.company, &delta)
        .expect("the fixture is as it was made")
        .artifact_id;
    memory::decide(
        &place.company,
        &place.verdict(&id, ReviewDecision::Approved),
    )
    .expect("the fixture is as it was made");
    id.to_string()
}

fn chosen(plan: &ContextPlanForJobResponse) -> Vec<&str> {
    plan.context_refs
        .iter()
        .map(|chosen| chosen.value.as_str())
        .collect()
}

#[test]
fn what_fits_the_goal_goes_first_within_its_layer_and_others_guidance_last() {
    let place = Place::new();
    let guidance = approved(&place, "Rules of the login", |delta| {
        delta.scope_kind = protocol::company::MemoryScopeKind::AgentGuidance;
        delta.scope_ref = Some(text("agent_b"));
        delta.under_heading = "## Operating Rules".to_owned();
    });
    let fits = approved(&place, "Login page", |_| {});
    let newer = approved(&place, "Colours", |_| {});
    let mut job = job(&place);
    job.goal = "Mend the login page".to_owned();
    let planned = plan(&place, &job);
    let memory: Vec<&str> = chosen(&planned)
        .into_iter()
        .filter(|id| id.starts_with("art_"))
        .collect();
    assert_eq!(memory, [fits.as_str(), &newer, &guidance]);
    let row = planned
        .retrieval_trace
        .iter()
        .find(|row| row.source_id == fits)
        .unwrap();
    assert_eq!(row.relevance, Some(50.0));
    job.worker = Some(AgentId::parse("agent_b").unwrap());
    let planned = plan(&place, &job);
    let memory: Vec<&str> = chosen(&planned)
        .into_iter()
        .filter(|id| id.starts_with("art_"))
        .collect();
    assert_eq!(memory, [fits.as_str(), &guidance, &newer]);
}

#[test]
fn a_seed_with_a_secret_is_dropped_and_its_text_is_nowhere() {
    let place = Place::new();
    let seed = |value: &str| ContextRef {
        kind: ContextRefKind::Note,
        value: text(value),
        description: None,
    };
    let mut job = job(&place);
    job.seeds = vec![seed("read the notes"), seed("password=swordfish")];
    let planned = plan(&place, &job);
    assert_eq!(planned.filtered_by_secret_count, 1);
    assert_eq!(chosen(&planned)[0], "read the notes");
    let printed = serde_json::to_string(&planned).unwrap();
    assert!(!printed.contains("swordfish"), "{printed}");
    assert!(printed.contains("seed:note:sha256:"), "{printed}");
}

#[test]
fn a_file_with_a_secret_is_not_given() {
    let place = Place::new();
    place.put(
        "AGENTS.md",
        "# Rules\n\nexport OPENAI_API_KEY=a1b2c3d4e5f6\n",
    );
    let project = &place.project;
    let digest = |id: &str, text: &str| {
        place.put(
            &format!("work/projects/{project}/artifacts/{id}.md"),
            &format!(
                "---\nschema_version: 1\ntype: manager_digest\nid: {id}\ncreated_at: \"2024-02-01T00:00:00.000Z\"\n\
                 title: Digest\nvisibility: managers\nproduced_by: human\nrun_id: run_1\ncontext_pack_id: ctx_1\n---\n\n{text}\n"
            ),
        );
    };
    digest("art_clean", "all is well");
    digest("art_leak", "the token: ghp_abcdefghijklmnopqrstuvwx");
    let planned = plan(&place, &job(&place));
    assert_eq!(planned.filtered_by_secret_count, 2);
    let chosen = chosen(&planned);
    assert!(chosen.contains(&"art_clean") && !chosen.contains(&"art_leak"));
    assert!(!chosen.contains(&"AGENTS.md"));
}

#[test]
fn nothing_is_given_that_the_manager_may_not_give_or_nobody_approved() {
    let place = Place::new();
    let restricted = approved(&place, "Restricted", |delta| {
        delta.sensitivity = Sensitivity::Restricted;
    });
    let private = approved(&place, "Private", |delta| {
        delta.visibility = Visibility::PrivateAgent;
    });
    let pending = place.propose("- pending").artifact_id.to_string();
    place.put(
        &format!("work/projects/{}/artifacts/art_odd.md", place.project),
        "---\ntype: failure_report\nid: art_odd\ntitle: Odd\n---\n",
    );
    let planned = plan(&place, &job(&place));
    let decision = |id: &str| {
        let mut rows = planned.retrieval_trace.iter();
        let row = rows.find(|row| row.source_id == id).unwrap();
        (row.decision, row.reason.as_str())
    };
    assert_eq!(
        decision(&restricted),
        (
            ContextDecision::FilteredSensitivity,
            "restricted_requires_director"
        )
    );
    assert_eq!(
        decision(&private),
        (ContextDecision::FilteredPolicy, "not_owner")
    );
    assert_eq!(
        decision(&pending),
        (
            ContextDecision::FilteredNotApproved,
            "memory_delta_not_approved"
        )
    );
    assert_eq!(
        decision("art_odd"),
        (ContextDecision::FilteredPolicy, "visibility_unknown")
    );
    assert_eq!(
        (
            planned.filtered_by_policy_count,
            planned.filtered_by_sensitivity_count
        ),
        (2, 1)
    );
    assert_eq!(planned.layers_used, [ContextLayer::L0]);
}

#[test]
fn a_quarter_of_the_room_is_kept_for_what_was_learned() {
    let place = Place::new();
    let ids: Vec<String> = (0..3)
        .map(|n| approved(&place, &format!("Lesson {n}"), |_| {}))
        .collect();
    let mut job = job(&place);
    job.max_refs = Some(4);
    place.put("AGENTS.md", "# Rules\n");
    let planned = plan(&place, &job);
    assert_eq!(
        chosen(&planned),
        [
            "AGENTS.md",
            "company/company.yaml",
            "company/policy.yaml",
            &ids[2]
        ]
    );
    assert_eq!(planned.context_refs.len(), 4);
}

#[test]
fn a_long_trace_is_cut_and_says_so() {
    let place = Place::new();
    for n in 0..210 {
        place.put(
            &format!("work/projects/{}/artifacts/art_{n}.md", place.project),
            &format!("---\ntype: memory_delta\nid: art_{n}\n---\n"),
        );
    }
    let planned = plan(&place, &job(&place));
    assert_eq!(planned.retrieval_trace.len(), 200);
    assert_eq!(planned.trace_truncated_count, Some(13));
}

#[test]
fn a_plan_is_kept_with_its_run_and_its_hash_is_that_of_the_file() {
    let place = Place::new();
    let job = job(&place);
    let planned = plan(&place, &job);
    let kept = context_plan::persist(
        &place.company,
        &job,
        &place.run,
        &place.pack,
        "local_x",
        &planned,
    )
    .unwrap();
    let text = place.read(&kept.context_plan_relpath);
    assert!(text.ends_with("}\n"));
    use sha2::Digest as _;
    let hash: String = sha2::Sha256::digest(&text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(kept.context_plan_hash, hash);
    assert_eq!(place.count("context.plan.generated"), 1);
}
