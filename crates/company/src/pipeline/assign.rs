//! Creates the tasks of a department's workers, once the CEO has approved the executive plan. Repeating a request
//! creates no duplicates.

use std::collections::BTreeMap;

use protocol::company::{
    AgentId, AgentRole, DocumentId, MilestoneKind, ProjectId, TaskId, TaskStatus, Text, Visibility,
    pipeline::{DeniedAssignment, PipelineDepartmentAssignTasksResponse},
    task::Task,
};
use serde_json::{Value, json};

use super::{
    DEPARTMENT_PLAN, EXECUTIVE_PLAN, NewTask, agent, asks_for, department, gate, new_log,
    parsed_agent,
};
use crate::{
    Company, Error,
    document::{Agent, DocumentKind, Team},
    documents::LooseHead,
    folder::intent::WriteSet,
    layout,
    org::{self, project},
    planning::task::Tasks,
};

/// Parameters of [`run`].
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Project of the tasks.
    pub project_id: ProjectId,
    /// Key of the department.
    pub department_key: String,
    /// Director of the department.
    pub director: AgentId,
    /// Agent ids of the workers.
    pub workers: Vec<Text>,
    /// Executive plan; must be approved.
    pub executive_plan: DocumentId,
}

/// Creates a task for each worker of the department, or reuses the worker's open one.
pub fn run(
    company: &Company,
    wanted: &Assignment,
) -> Result<PipelineDepartmentAssignTasksResponse, Error> {
    let (project, plan) = (&wanted.project_id, &wanted.executive_plan);
    company.write(|writer| {
        project::project(company, project)?;
        let document = company
            .read_markdown::<LooseHead>(&layout::document(project, plan))
            .map_err(|error| error.or_not_found("Artifact", plan.as_str()))?;
        if document.head.kind() != Some(DocumentKind::ExecutivePlan.as_str()) {
            return Err(Error::Refused(
                "approved_executive_plan_artifact_id must reference an executive_plan artifact"
                    .to_owned(),
            ));
        }
        gate::check(company, project, plan)?;
        let (team, label) = team(company, wanted)?;
        let tasks = Tasks::read(company, project)?;
        let tasks = tasks.tasks();
        let mut response = PipelineDepartmentAssignTasksResponse {
            project_id: project.clone(),
            department_key: wanted.department_key.clone(),
            director_agent_id: wanted.director.clone(),
            executive_plan_artifact_id: plan.clone(),
            created_task_ids: Vec::new(),
            created_milestone_ids: Vec::new(),
            reused_task_ids: Vec::new(),
            assignment_map: BTreeMap::new(),
            denied_assignments: Vec::new(),
            audit_log_relpath: new_log(company, project, "department_assignment"),
        };
        let (mut writes, mut rows) = (WriteSet::default(), Vec::new());
        let mut row = |event: &str, worker: &str, more: Value| {
            let mut row = json!({
                "ts": writer.now(),
                "event": event,
                "director_agent_id": wanted.director,
                "worker_agent_id": worker,
            });
            for (name, value) in more.as_object().into_iter().flatten() {
                row[name] = value.clone();
            }
            rows.push(format!("{row}\n"));
        };
        let mut seen: Vec<&Text> = Vec::new();
        for worker in &wanted.workers {
            if seen.contains(&worker) {
                continue;
            }
            seen.push(worker);
            let agent = match team_worker(company, worker, &team) {
                Ok(agent) => agent,
                Err(denied) => {
                    let more = json!({
                        "reason": denied.reason,
                        "expected_team_id": denied.expected_team_id,
                        "actual_team_id": denied.actual_team_id,
                    });
                    row("assignment_denied", worker, without_nulls(more));
                    response.denied_assignments.push(denied);
                    continue;
                }
            };
            if let Some(task) = open_task(&tasks, worker, plan) {
                row(
                    "assignment_reused",
                    worker,
                    json!({"team_id": team.id, "task_id": task}),
                );
                response
                    .assignment_map
                    .insert(worker.to_string(), task.clone());
                response.reused_task_ids.push(task);
                continue;
            }
            let task = NewTask {
                title: format!("{label}: Execution Task for {}", agent.name),
                visibility: Visibility::Team,
                team_id: Some(&team.id),
                assignee: worker,
                milestone: "Implement assigned department scope",
                kind: MilestoneKind::Coding,
                criteria: vec![
                    format!("{EXECUTIVE_PLAN}{plan}"),
                    "Director review confirms deliverables are complete".to_owned(),
                    "Evidence artifacts attached for implementation".to_owned(),
                ],
                needs: director_task(&tasks, &wanted.director)
                    .into_iter()
                    .collect(),
            };
            let (task, milestone, text) = task.made(writer, project)?;
            writes.files.push((layout::task(project, &task), text));
            row(
                "assignment_created",
                worker,
                json!({"team_id": team.id, "task_id": task, "milestone_id": milestone}),
            );
            response
                .assignment_map
                .insert(worker.to_string(), task.clone());
            response.created_task_ids.push(task);
            response.created_milestone_ids.push(milestone);
        }
        writes
            .files
            .push((response.audit_log_relpath.clone(), rows.concat()));
        writer.put_all(&writes)?;
        Ok(response)
    })
}

/// Returns the team of the director and the label of its department, after checking role and department key.
fn team(company: &Company, wanted: &Assignment) -> Result<(Team, String), Error> {
    let director = agent(company, &wanted.director)?;
    if director.role != AgentRole::Director {
        return Err(Error::Refused(
            "director_agent_id must reference a director role".to_owned(),
        ));
    }
    let Some(team_id) = &director.team_id else {
        return Err(Error::Refused(
            "director_agent_id must reference a director with a team".to_owned(),
        ));
    };
    let teams = org::teams(company)?;
    let team = teams.iter().find(|team| team.id.as_str() == team_id);
    let team = team.ok_or_else(|| Error::NotFound {
        what: "Team",
        id: team_id.clone(),
    })?;
    let (key, label) = department(team);
    if key.to_lowercase() != wanted.department_key.trim().to_lowercase() {
        return Err(Error::Refused(format!(
            "department_key mismatch: director team department is {key}"
        )));
    }
    Ok((Team::clone(team), label))
}

/// Returns the agent if it is a worker of the team.
fn team_worker(
    company: &Company,
    worker: &Text,
    team: &Team,
) -> Result<std::sync::Arc<Agent>, DeniedAssignment> {
    let denied = |reason: &str, actual: Option<String>| DeniedAssignment {
        worker_agent_id: worker.to_string(),
        reason: reason.to_owned(),
        expected_team_id: Some(team.id.to_string()),
        actual_team_id: actual,
    };
    let found = parsed_agent(worker).and_then(|id| agent(company, &id).ok());
    let Some(found) = found else {
        return Err(denied("agent_not_found", None));
    };
    if found.role != AgentRole::Worker {
        return Err(denied("not_worker_role", found.team_id.clone()));
    }
    if found.team_id.as_deref() != Some(team.id.as_str()) {
        return Err(denied(
            "cross_team_assignment_denied",
            found.team_id.clone(),
        ));
    }
    Ok(found)
}

fn is_open(task: &Task) -> bool {
    !matches!(task.status, TaskStatus::Done | TaskStatus::Canceled)
}

/// Returns the open task of a worker for a plan.
fn open_task(tasks: &[&Task], worker: &Text, plan: &DocumentId) -> Option<TaskId> {
    let criterion = format!("{EXECUTIVE_PLAN}{plan}");
    let task = tasks.iter().find(|task| {
        is_open(task)
            && task.assignee_agent_id.as_ref() == Some(worker)
            && asks_for(task, |found| found == criterion)
    });
    task.and_then(|task| protocol::Id::parse(&task.id).ok())
}

/// Returns the director's planning task for the department.
fn director_task(tasks: &[&Task], director: &AgentId) -> Option<Text> {
    let task = tasks.iter().find(|task| {
        task.status != TaskStatus::Canceled
            && task.assignee_agent_id.as_deref() == Some(director.as_str())
            && asks_for(task, |found| found.starts_with(DEPARTMENT_PLAN))
    });
    task.map(|task| task.id.clone())
}

fn without_nulls(mut value: Value) -> Value {
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    value
}
