//! The client pipeline, from a client request to worker tasks: the planning package of a project ([`intake`]), the
//! documents that workers fill in ([`fill`]), the CEO's approval of the executive plan ([`gate`]), and the tasks of a
//! department ([`assign`]).

pub mod assign;
pub mod fill;
pub mod gate;
pub mod intake;

use protocol::{
    Id as _,
    company::{
        AgentId, MilestoneId, MilestoneKind, MilestoneStatus, ProjectId, TaskId, TaskStatus, Text,
        Visibility,
        task::{Milestone, MilestoneEvidence, Task, TaskSchedule, TaskTag},
    },
};

use crate::{
    Company, Error, Writer,
    document::{Agent, Team},
    format::front_matter,
    layout,
    org::text,
    policy::Actor,
};

/// Requires a declared actor to be a manager or above. Requests without an actor are accepted.
pub fn check_leads(actor: Option<&Actor>, resource_id: &str) -> Result<(), Error> {
    match actor.filter(|actor| !actor.is_manager()) {
        None => Ok(()),
        Some(actor) => Err(Error::Denied {
            action: "pipeline",
            rule_id: "pipeline.role",
            reason: "role_not_allowed",
            actor_id: actor.id.clone(),
            resource_id: resource_id.to_owned(),
        }),
    }
}

fn agent(company: &Company, id: &AgentId) -> Result<std::sync::Arc<Agent>, Error> {
    company
        .read::<Agent>(&format!("{}/agent.yaml", layout::agent(id)))
        .map_err(|error| error.or_not_found("Agent", id.as_str()))
}

/// Returns the key and the label of a department.
fn department(team: &Team) -> (String, String) {
    let key = team.department_key.as_deref().map_or_else(
        || team.name.to_lowercase().replace(' ', "_"),
        ToOwned::to_owned,
    );
    let label = team.department_label.as_deref().unwrap_or(&team.name);
    (key, label.to_owned())
}

/// A task with one milestone, assigned to an agent of a team.
struct NewTask<'a> {
    title: String,
    visibility: Visibility,
    team_id: Option<&'a str>,
    assignee: &'a str,
    milestone: &'static str,
    kind: MilestoneKind,
    criteria: Vec<String>,
    needs: Vec<Text>,
}

impl NewTask<'_> {
    /// Creates the ids of the task and its milestone, and prints the content of the task file.
    fn made(
        self,
        writer: &Writer<'_>,
        project: &ProjectId,
    ) -> Result<(TaskId, MilestoneId, String), Error> {
        let sources = writer.company().sources();
        let (task_id, milestone_id): (TaskId, MilestoneId) = (sources.id(), sources.id());
        let is_coding = self.kind == MilestoneKind::Coding;
        let task = Task {
            schema_version: 1,
            r#type: TaskTag::Task,
            id: text(&task_id),
            project_id: text(project),
            title: text(&self.title),
            created_at: text(writer.now()),
            status: TaskStatus::Draft,
            visibility: self.visibility,
            team_id: self.team_id.map(text),
            assignee_agent_id: Some(text(self.assignee)),
            scope: None,
            schedule: (!self.needs.is_empty()).then(|| TaskSchedule {
                depends_on_task_ids: self.needs,
                ..TaskSchedule::default()
            }),
            execution_plan: None,
            budget: None,
            deliverables: None,
            acceptance_criteria: None,
            milestones: vec![Milestone {
                id: text(&milestone_id),
                title: text(self.milestone),
                kind: self.kind,
                status: MilestoneStatus::Ready,
                acceptance_criteria: self.criteria.iter().map(text).collect(),
                evidence: Some(MilestoneEvidence {
                    requires_patch: is_coding,
                    requires_tests: is_coding,
                }),
            }],
        };
        let body = format!("# {}\n\n## Contract\n\n## Milestones\n", self.title);
        Ok((task_id, milestone_id, front_matter::join(&task, &body)?))
    }
}

/// Returns the path of a project log that does not exist yet, relative to the company folder.
fn new_log(company: &Company, project: &ProjectId, name: &str) -> String {
    let mut at_ms = company.sources().now_ms();
    loop {
        let relpath = format!("{}/logs/{name}_{at_ms}.jsonl", layout::project(project));
        if !company.path(&relpath).exists() {
            return relpath;
        }
        at_ms += 1;
    }
}

/// Prefix of the acceptance criterion in a director's task that names the department plan.
const DEPARTMENT_PLAN: &str = "Department plan artifact exists: ";
/// Prefix of the acceptance criterion in a worker's task that names the executive plan.
const EXECUTIVE_PLAN: &str = "Executive plan reference: ";

/// Returns whether an acceptance criterion of one of the task's milestones satisfies `fits`.
fn asks_for(task: &Task, fits: impl Fn(&str) -> bool) -> bool {
    let milestones = task.milestones.iter();
    let mut criteria = milestones.flat_map(|milestone| &milestone.acceptance_criteria);
    criteria.any(|criterion| fits(criterion))
}

fn parsed_agent(id: &str) -> Option<AgentId> {
    AgentId::parse(id).ok()
}
