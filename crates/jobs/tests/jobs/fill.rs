//! Tests that fill the documents of a planning package with workers that are small scripts.

use crate::fixture::{Fixture, MAY};
use company::pipeline::intake::{self, NewIntake, Package};
use protocol::{
    Id as _,
    company::{AgentId, pipeline::PipelineGenerationMode},
};
use serde_json::{Value, json};

/// A worker that answers with the requested document and an additional sentence.
const WRITES: &str = r#"echo '{"type":"thread.started","thread_id":"t"}'
text=$(sed -n '/^The document to fill in:$/,$p' | tail -n +3 | sed 's/^\(## [AD][pe].*\)$/\1\n\nWritten by a worker./' \
  | sed 's/\\/\\\\/g; s/"/\\"/g' | awk '{printf "%s\\n", $0}')
printf '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"```markdown\\n%s```"}}\n' "$text""#;

fn package(fixture: &Fixture) -> Package {
    fixture.agent("agent_em", "codex", json!({}));
    let new = NewIntake {
        project_name: "Portal".to_owned(),
        ceo: "human_ceo".to_owned(),
        executive: AgentId::parse("agent_em").expect("an id"),
        text: Some("Build a portal".to_owned()),
        file: None,
        mode: PipelineGenerationMode::ProviderWithFallback,
    };
    intake::run(&fixture.company, &new).expect("a package")
}

/// A director whose provider has no worker program.
fn director(fixture: &Fixture) {
    let put = |path: &str, text: &str| {
        let path = fixture.company.path(path);
        company::files::replace(&path, text.as_bytes()).expect("a file");
    };
    put(
        "org/teams/team_x/team.yaml",
        "schema_version: 1\ntype: team\nid: team_x\nname: X\ncreated_at: \"2024-05-01T09:00:00.000Z\"\n",
    );
    put(
        "org/agents/agent_dir/agent.yaml",
        "schema_version: 1\ntype: agent\nid: agent_dir\nname: Dir\nrole: director\nprovider: manual\nteam_id: team_x\n\
         created_at: \"2024-05-01T09:00:00.000Z\"\n",
    );
}

fn rows(fixture: &Fixture, relpath: &str) -> Vec<Value> {
    let text = fixture.company.read_text(relpath).expect("a log");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a row"))
        .collect()
}

#[tokio::test]
async fn what_workers_write_is_taken_over_and_what_they_cannot_stays_as_it_was() {
    let fixture = Fixture::new();
    director(&fixture);
    let package = package(&fixture);
    fixture.codex(WRITES);
    let filled = jobs::fill(&fixture.sessions, &fixture.company, package, "gpt-9", MAY)
        .await
        .expect("an answer");
    let generation = &filled.generation;
    let log = rows(&fixture, &generation.audit_log_relpath);
    assert_eq!(
        (
            generation.attempted,
            generation.succeeded,
            generation.failed
        ),
        (3, 2, 1),
        "{log:?}"
    );
    let read = |id: &protocol::company::DocumentId| {
        let relpath = format!("work/projects/{}/artifacts/{id}.md", filled.project_id);
        fixture.company.read_text(&relpath).expect("a document")
    };
    let plan = read(&filled.artifacts.executive_plan_artifact_id);
    assert!(plan.contains("Written by a worker."), "{plan}");
    let department = read(&filled.department_plan_artifact_ids["x"]);
    assert!(!department.contains("Written by a worker."), "{department}");
    let report = read(&generation.failure_artifact_ids[0]);
    assert!(report.contains("type: failure_report"), "{report}");
    let events: Vec<_> = log.iter().map(|row| row["event"].as_str()).collect();
    assert_eq!(
        events,
        [
            Some("provider_fill_succeeded"),
            Some("provider_fill_succeeded"),
            Some("provider_fill_failed")
        ]
    );
    assert_eq!(company::documents::validate::validate(&fixture.company), []);
}

#[tokio::test]
async fn a_program_that_is_not_logged_in_writes_nothing() {
    let fixture = Fixture::new();
    let package = package(&fixture);
    fixture.codex(WRITES);
    fixture.login("Not logged in");
    let filled = jobs::fill(&fixture.sessions, &fixture.company, package, "gpt-9", MAY)
        .await
        .expect("an answer");
    let generation = &filled.generation;
    assert_eq!((generation.succeeded, generation.failed), (0, 2));
    assert_eq!(generation.failure_artifact_ids.len(), 2);
    let runs =
        company::execution::run::list(&fixture.company, Some(&filled.project_id)).expect("runs");
    let running = runs
        .iter()
        .filter(|run| run.status == protocol::company::RunStatus::Running)
        .count();
    assert_eq!((runs.len(), running), (3, 0));
}
