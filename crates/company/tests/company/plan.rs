//! Plans in real folders: task files are read and changed without loss, the numbers of all views agree, and work is
//! allocated evenly.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path, sync::Arc};

use company::{
    Companies, Company, Error, Sources,
    execution::run::LiveRuns,
    planning::{
        plan::allocation::Provider,
        task::{Change, PlannedTask, Tasks},
    },
    pm::{
        self,
        overview::{self, ProjectsOverview},
    },
};
use protocol::{
    Id as _,
    company::{
        ProjectId, TaskId, Text,
        pm::{Allocation, PmRecommendAllocationsResponse},
        task::{TaskExecutionPlanUpdate, TaskScheduleUpdate},
    },
};
use serde_json::{Value, json};

/// 2025-11-15T12:00:00Z in Unix milliseconds.
const NOON: i64 = 1_763_208_000_000;

/// A company with the project `proj_1`.
struct Folder {
    root: tempfile::TempDir,
    company: Company,
    project: ProjectId,
}

impl Folder {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        let head = "schema_version: 1\ncreated_at: \"2024-05-01T08:00:00.000Z\"\n";
        put(
            &root.path().join("company/company.yaml"),
            &format!("{head}type: company\nid: cmp_1\nname: Acme\n"),
        );
        put(
            &root.path().join("work/projects/proj_1/project.yaml"),
            &format!("{head}type: project\nid: proj_1\nname: Alpha\nstatus: active\n"),
        );
        let sources = Sources::with_random(Arc::new(|| NOON), || 0);
        let companies = Companies::new(sources, company::Trust::everywhere(), Arc::new(|_, _| {}));
        let company = companies.open(root.path().to_str().expect("a path"));
        Self {
            company: company.expect("a company folder"),
            root,
            project: ProjectId::parse("proj_1").expect("an id"),
        }
    }

    fn path(&self, relative: &str) -> std::path::PathBuf {
        self.root.path().join(relative)
    }

    fn task_path(&self, id: &str) -> std::path::PathBuf {
        self.path(&format!("work/projects/proj_1/tasks/{id}.md"))
    }

    /// Writes a task with additional lines in its front matter.
    fn task(&self, id: &str, more: &str) -> &Self {
        let text = format!(
            "---\nschema_version: 1\ntype: task\nid: {id}\nproject_id: proj_1\ntitle: Task {id}\n\
             created_at: \"2024-06-01T00:00:00.000Z\"\nvisibility: team\n{more}\n---\n\n# {id}\n\n## Contract\n\n\
             Keep   this.\n\n## Milestones\n"
        );
        put(&self.task_path(id), &text);
        self
    }

    fn agent(&self, id: &str, role: &str, provider: &str, team: &str) -> &Self {
        let text = format!(
            "schema_version: 1\ntype: agent\nid: agent_{id}\nname: {id}\nrole: {role}\nprovider: {provider}\n\
             team_id: {team}\ncreated_at: \"2024-05-01T09:00:00.000Z\"\n"
        );
        put(
            &self.path(&format!("org/agents/agent_{id}/agent.yaml")),
            &text,
        );
        self
    }

    fn run(&self, id: &str, agent: &str, created_at: &str, more: &str) -> &Self {
        let text = format!(
            "schema_version: 1\ntype: run\nid: {id}\nproject_id: proj_1\nagent_id: agent_{agent}\nprovider: codex\n\
             created_at: \"{created_at}\"\ncontext_pack_id: ctx_1\nevents_relpath: runs/{id}/events.jsonl\n{more}\n"
        );
        put(
            &self.path(&format!("work/projects/proj_1/runs/{id}/run.yaml")),
            &text,
        );
        self
    }

    fn update(
        &self,
        task: &str,
        schedule: Change<Value>,
        plan: Change<Value>,
    ) -> Result<PlannedTask, Error> {
        fn typed<T: serde::de::DeserializeOwned>(change: Change<Value>) -> Change<T> {
            match change {
                Change::Keep => Change::Keep,
                Change::Clear => Change::Clear,
                Change::Set(value) => Change::Set(serde_json::from_value(value).expect("params")),
            }
        }
        let task = TaskId::parse(task).expect("an id");
        self.company.write(|writer| {
            let schedule = typed::<TaskScheduleUpdate>(schedule);
            let plan = typed::<TaskExecutionPlanUpdate>(plan);
            writer.update_plan(&self.project, &task, schedule, plan)
        })
    }

    fn apply(&self, items: Value) -> Result<Vec<TaskId>, Error> {
        let items: Vec<Allocation> = serde_json::from_value(items).expect("items");
        let by = Text::new("human").expect("a name");
        self.company
            .write(|writer| writer.apply_allocations(&self.project, &by, "2025-01-01", items))
    }

    fn recommend(
        &self,
        providers: &dyn Fn(&str) -> Option<Provider>,
    ) -> PmRecommendAllocationsResponse {
        let live = LiveRuns::new();
        pm::recommend_allocations(&self.company, &self.project, &live, providers).expect("advice")
    }

    /// The recommended agent for each task.
    fn chosen(&self, providers: &dyn Fn(&str) -> Option<Provider>) -> Vec<String> {
        let rows = self.recommend(providers).recommendations.into_iter();
        rows.map(|row| {
            let agent = row.preferred_agent_id.unwrap_or(row.preferred_provider);
            format!("{} {agent}", row.task_id)
        })
        .collect()
    }

    fn text(&self, task: &str) -> String {
        fs::read_to_string(self.task_path(task)).expect("a task")
    }
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    #[expect(
        clippy::disallowed_methods,
        reason = "a test writes before anybody reads"
    )]
    fs::write(path, text).expect("a file");
}

const DRAFT: &str = "status: draft\nmilestones: []";

fn all_there(_: &str) -> Option<Provider> {
    Some(Provider {
        is_available: true,
        exports_patches: true,
        isolates: true,
    })
}

#[test]
fn planning_keeps_the_body_and_the_rest_of_the_head() {
    let folder = Folder::new();
    folder.task("task_a", "status: draft\nteam_id: team_x\nmilestones: []");
    let schedule = json!({"planned_start": "2031-03-03", "duration_days": 2});
    folder
        .update("task_a", Change::Set(schedule), Change::Keep)
        .unwrap();
    insta::assert_snapshot!(folder.text("task_a"), @r#"
    ---
    schema_version: 1
    type: task
    id: task_a
    project_id: proj_1
    title: Task task_a
    created_at: "2024-06-01T00:00:00.000Z"
    status: draft
    visibility: team
    team_id: team_x
    schedule:
      planned_start: "2031-03-03"
      duration_days: 2
      depends_on_task_ids: []
    milestones: []
    ---

    # task_a

    ## Contract

    Keep   this.

    ## Milestones
    "#);
}

#[test]
fn a_plan_that_changes_nothing_leaves_the_file_alone() {
    let folder = Folder::new();
    folder.task("task_a", DRAFT);
    let inode = || fs::metadata(folder.task_path("task_a")).unwrap().ino();
    let first = inode();
    folder.update("task_a", Change::Keep, Change::Keep).unwrap();
    assert_eq!(inode(), first);
    let schedule = || Change::Set(json!({"duration_days": 2}));
    folder.update("task_a", schedule(), Change::Keep).unwrap();
    let second = inode();
    assert_ne!(second, first);
    folder.update("task_a", schedule(), Change::Keep).unwrap();
    assert_eq!(inode(), second);
}

#[test]
fn a_schedule_is_replaced_and_an_execution_plan_is_merged() {
    let folder = Folder::new();
    folder.task("task_a", DRAFT).task("task_b", DRAFT);
    let schedule = json!({"duration_days": 2, "depends_on_task_ids": ["task_b", "task_b"]});
    let plan =
        json!({"preferred_provider": "codex", "token_budget_hint": 5, "applied_at": "2020-01-01"});
    let planned = folder
        .update("task_a", Change::Set(schedule), Change::Set(plan))
        .unwrap();
    let schedule = planned.task.schedule.unwrap();
    assert_eq!(schedule.depends_on_task_ids.len(), 1);
    let planned = folder
        .update(
            "task_a",
            Change::Set(json!({"planned_end": "2031-03-03"})),
            Change::Set(
                json!({"preferred_model": "m", "applied_by": "human", "applied_at": "2020-01-01"}),
            ),
        )
        .unwrap();
    assert_eq!(
        serde_json::to_value(&planned.task.schedule).unwrap(),
        json!({"planned_end": "2031-03-03", "depends_on_task_ids": []})
    );
    assert_eq!(
        serde_json::to_value(&planned.task.execution_plan).unwrap(),
        json!({
            "preferred_provider": "codex", "preferred_model": "m", "token_budget_hint": 5,
            "applied_by": "human", "applied_at": "2025-11-15T12:00:00.000Z",
        })
    );
    let planned = folder
        .update("task_a", Change::Clear, Change::Clear)
        .unwrap();
    assert_eq!(
        (planned.task.schedule, planned.task.execution_plan),
        (None, None)
    );
}

#[test]
fn forgetting_wins_over_what_is_given() {
    assert!(matches!(Change::new(Some(1), Some(true)), Change::Clear));
    assert!(matches!(Change::new(Some(1), Some(false)), Change::Set(1)));
    assert!(matches!(Change::<u8>::new(None, None), Change::Keep));
}

#[test]
fn circles_and_unknown_tasks_are_warned_of_and_written() {
    let folder = Folder::new();
    folder.task("task_a", DRAFT).task("task_b", DRAFT);
    let needs = |id: &str| Change::Set(json!({"depends_on_task_ids": [id]}));
    let planned = folder
        .update("task_a", needs("task_b"), Change::Keep)
        .unwrap();
    assert!(planned.warnings.is_empty());
    let planned = folder
        .update("task_b", needs("task_a"), Change::Keep)
        .unwrap();
    assert_eq!(planned.warnings, ["dependency_cycle"]);
    let planned = folder
        .update("task_b", needs("task_x"), Change::Keep)
        .unwrap();
    assert_eq!(planned.warnings, ["unknown_dependency:task_x"]);
}

#[test]
fn a_plan_that_makes_no_sense_changes_nothing() {
    let folder = Folder::new();
    folder.task("task_a", DRAFT);
    let before = folder.text("task_a");
    let itself = json!({"depends_on_task_ids": ["task_a"]});
    let error = folder.update("task_a", Change::Set(itself), Change::Keep);
    assert!(matches!(error, Err(Error::Refused(_))), "{error:?}");
    let backwards = json!({"planned_start": "2031-05-02", "planned_end": "2031-05-01T00:00:00Z"});
    let error = folder.update("task_a", Change::Set(backwards), Change::Keep);
    assert!(matches!(error, Err(Error::Params(_))), "{error:?}");
    let error = folder
        .update("task_none", Change::Clear, Change::Keep)
        .unwrap_err();
    assert_eq!(error.to_string(), "Task not found: task_none");
    assert_eq!(folder.text("task_a"), before);
}

#[test]
fn a_list_names_the_files_that_are_no_tasks() {
    let folder = Folder::new();
    folder.task("task_a", DRAFT);
    put(
        &folder.task_path("task_bad"),
        "---\nschema_version: 1\n---\n",
    );
    let text = folder.text("task_a").replace("## Contract", "## Other");
    put(&folder.task_path("task_headless"), &text);
    put(&folder.path("work/projects/proj_1/tasks/readme.txt"), "x");
    let tasks = Tasks::read(&folder.company, &folder.project).unwrap();
    assert_eq!(tasks.files.len(), 1);
    let invalid: Vec<_> = tasks.invalid.iter().map(|file| &file.relpath).collect();
    assert_eq!(
        invalid,
        [
            "work/projects/proj_1/tasks/task_bad.md",
            "work/projects/proj_1/tasks/task_headless.md"
        ]
    );
    assert!(tasks.invalid.iter().all(|file| !file.issues.is_empty()));
}

#[test]
fn newer_tasks_come_first_and_ids_decide_between_equals() {
    let folder = Folder::new();
    folder
        .task("task_b", DRAFT)
        .task("task_A", DRAFT)
        .task("task_new", DRAFT);
    let newer = folder.text("task_new").replace("2024-06-01", "2024-06-02");
    put(&folder.task_path("task_new"), &newer);
    let tasks = Tasks::read(&folder.company, &folder.project).unwrap();
    let ids: Vec<_> = tasks
        .tasks()
        .iter()
        .map(|task| task.id.to_string())
        .collect();
    assert_eq!(ids, ["task_new", "task_A", "task_b"]);
}

#[test]
fn allocations_are_applied_all_or_none_and_keep_what_they_do_not_name() {
    let folder = Folder::new();
    folder
        .task("task_a", DRAFT)
        .task("task_b", DRAFT)
        .agent("ann", "worker", "codex", "team_x");
    let applied = folder.apply(json!([
        {"task_id": "task_a", "preferred_provider": "codex", "preferred_agent_id": "agent_ann"},
        {"task_id": "task_b", "preferred_model": "m"},
        {"task_id": "task_a", "token_budget_hint": 7},
    ]));
    let ids: Vec<_> = applied.unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(ids, ["task_a", "task_b"]);
    let tasks = Tasks::read(&folder.company, &folder.project).unwrap();
    assert_eq!(
        serde_json::to_value(&tasks.tasks()[0].execution_plan).unwrap(),
        json!({
            "preferred_provider": "codex", "preferred_agent_id": "agent_ann", "token_budget_hint": 7,
            "applied_by": "human", "applied_at": "2025-01-01",
        })
    );
    let before = folder.text("task_a");
    let error = folder.apply(json!([
        {"task_id": "task_a", "token_budget_hint": 8},
        {"task_id": "task_none"},
        {"task_id": "task_b", "preferred_agent_id": "agent_none"},
    ]));
    let Err(Error::Tasks(failing)) = error else {
        panic!("{error:?}");
    };
    let failing: Vec<_> = failing
        .iter()
        .map(|(task, error)| format!("{task}: {error}"))
        .collect();
    assert_eq!(
        failing,
        [
            "task_none: Task not found: task_none",
            "task_b: Agent not found: agent_none"
        ]
    );
    assert_eq!(folder.text("task_a"), before);
}

#[test]
fn work_is_spread_over_the_team() {
    let folder = Folder::new();
    folder
        .agent("ann", "worker", "codex", "team_x")
        .agent("ben", "worker", "codex", "team_x")
        .agent("cy", "worker", "codex", "team_y");
    for id in ["task_1", "task_2", "task_3"] {
        folder.task(id, "status: draft\nteam_id: team_x\nmilestones: []");
    }
    folder.task(
        "task_4",
        "status: draft\nassignee_agent_id: agent_ben\nmilestones: []",
    );
    folder.task("task_5", "status: canceled\nmilestones: []");
    assert_eq!(
        folder.chosen(&all_there),
        [
            "task_1 agent_ann",
            // Ben already has the fourth task, so a tie goes to Ann.
            "task_2 agent_ann",
            "task_3 agent_ben",
            "task_4 agent_ben"
        ]
    );
}

#[test]
fn who_runs_something_and_who_failed_is_asked_later() {
    let folder = Folder::new();
    let now = "2025-11-15T11:00:00.000Z";
    folder
        .agent("ann", "worker", "codex", "team_x")
        .agent("ben", "worker", "codex", "team_x")
        .agent("cy", "worker", "codex", "team_x")
        .task("task_1", DRAFT)
        .run("run_1", "ann", now, "status: running")
        .run("run_2", "ben", now, "status: failed")
        .run("run_3", "ben", now, "status: ended")
        .run("run_4", "cy", now, "status: ended")
        // Started too long ago to count as running.
        .run("run_5", "cy", "2025-01-01T00:00:00.000Z", "status: running");
    let advice = folder.recommend(&all_there);
    let row = &advice.recommendations[0];
    assert_eq!(row.preferred_agent_id.as_deref(), Some("agent_cy"));
    assert_eq!(
        row.rationale,
        "Selected cy: 0 open tasks and 0 running runs at the moment, 1 of 1 finished run succeeded."
    );
    assert_eq!(row.reasons.len(), 2);
}

#[test]
fn an_assignee_of_any_role_is_chosen_and_others_must_be_able_to_do_it() {
    let folder = Folder::new();
    folder
        .agent("ann", "worker", "claude", "team_x")
        .agent("ben", "worker", "codex", "team_x")
        .agent("dora", "director", "manual", "team_x")
        .agent("abe", "manager", "codex", "team_x")
        .task(
            "task_1",
            "status: draft\nassignee_agent_id: agent_dora\nmilestones: []",
        )
        .task(
            "task_2",
            "status: draft\nscope:\n  requires_worktree_isolation: true\nmilestones: []",
        );
    let providers = |name: &str| match name {
        "manual" => None,
        name => Some(Provider {
            is_available: true,
            exports_patches: true,
            isolates: name == "codex",
        }),
    };
    assert_eq!(
        folder.chosen(&providers),
        ["task_1 agent_dora", "task_2 agent_abe"]
    );
    let coding = "status: draft\nscope:\n  requires_worktree_isolation: true\nmilestones:\n  - id: ms_1\n    \
                  title: Code\n    kind: coding\n    status: ready\n    acceptance_criteria: []";
    folder.task("task_2", coding);
    assert_eq!(folder.chosen(&providers)[1], "task_2 agent_ben");
}

#[test]
fn a_provider_that_cannot_be_started_is_the_last_choice() {
    let folder = Folder::new();
    folder
        .agent("ann", "worker", "claude", "team_x")
        .agent("ben", "worker", "codex", "team_x")
        .task(
            "task_1",
            "status: draft\nassignee_agent_id: agent_ben\nmilestones: []",
        )
        .task("task_2", DRAFT);
    let only_codex = |name: &str| {
        Some(Provider {
            is_available: name == "codex",
            exports_patches: true,
            isolates: true,
        })
    };
    assert_eq!(
        folder.chosen(&only_codex),
        ["task_1 agent_ben", "task_2 agent_ben"]
    );
    let nothing = |_: &str| {
        Some(Provider {
            is_available: false,
            exports_patches: true,
            isolates: true,
        })
    };
    assert_eq!(
        folder.chosen(&nothing),
        ["task_1 agent_ben", "task_2 agent_ann"]
    );
}

#[test]
fn without_anybody_a_provider_is_named() {
    let folder = Folder::new();
    folder.task("task_1", DRAFT);
    assert_eq!(folder.chosen(&|_| None), ["task_1 codex"]);
}

#[test]
fn tokens_follow_days_milestones_and_title_up_to_the_budget() {
    let folder = Folder::new();
    let tokens = || folder.recommend(&all_there).recommendations[0].token_budget_hint;
    folder.task("task_1", DRAFT);
    assert_eq!(tokens(), 6_000);
    let planned = "status: draft\nschedule:\n  planned_start: 2031-03-03\n  planned_end: 2031-03-05T06:00:00Z\n\
                   milestones: []";
    folder.task("task_1", planned);
    assert_eq!(tokens(), 18_000);
    let text = folder.text("task_1").replace("Task task_1", "ReFactor it");
    put(&folder.task_path("task_1"), &text);
    assert_eq!(tokens(), 24_000);
    folder.task(
        "task_1",
        "status: draft\nbudget:\n  hard_tokens: 100\nmilestones: []",
    );
    assert_eq!(tokens(), 100);
}

#[test]
fn home_and_plan_say_the_same_and_tell_runs_apart() {
    let folder = Folder::new();
    let started = "spec:\n  kind: command\n  argv: [\"true\"]";
    let (today, long_ago) = ("2025-11-15T11:00:00.000Z", "2025-11-10T11:00:00.000Z");
    folder
        .task("task_1", "status: blocked\nmilestones: []")
        .task("task_2", "status: done\nmilestones: []")
        .run("run_1", "ann", today, &format!("status: running\n{started}"))
        .run("run_2", "ann", long_ago, &format!("status: running\n{started}"))
        .run("run_3", "ann", long_ago, &format!("status: running\n{started}"))
        .run("run_4", "ann", today, "status: running")
        .run(
            "run_5",
            "ann",
            today,
            "status: ended\nusage:\n  source: provider_reported\n  confidence: high\n  total_tokens: 70",
        );
    let live = LiveRuns::from(["run_2".to_owned()]);
    let overview = ProjectsOverview::read(&folder.company, &live).unwrap();
    let home = overview.home().summary;
    let plan = pm::snapshot(&overview, Some(&folder.project));
    let summary = &plan.workspace.summary;
    assert_eq!((home.active_runs, home.idle_runs), (2, 1));
    assert_eq!((summary.active_runs, summary.stale_runs), (2, 1));
    assert_eq!(summary.total_tokens, 70);
    assert_eq!((home.progress_pct, summary.progress_pct), (50.0, 50.0));
    assert_eq!(plan.project.unwrap().summary.progress_pct, 50.0);
    assert_eq!((home.blocked_projects, summary.blocked_projects), (1, 1));
    assert_eq!(plan.workspace.projects[0].risk_flags, ["blocked_tasks"]);
    assert_eq!(
        overview::snapshot(&folder.company)
            .unwrap()
            .pm
            .summary
            .active_runs,
        1
    );
}

#[test]
fn a_project_that_is_not_there_has_an_empty_plan() {
    let folder = Folder::new();
    let overview = ProjectsOverview::read(&folder.company, &LiveRuns::new()).unwrap();
    let nowhere = ProjectId::parse("proj_none").unwrap();
    let plan = pm::snapshot(&overview, Some(&nowhere)).project.unwrap();
    assert_eq!(
        plan.summary,
        protocol::company::pm::ProjectPlanSummary::default()
    );
    assert!(plan.gantt.tasks.is_empty());
}
