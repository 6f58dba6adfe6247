//! Lists tasks and changes their plans. A task is a Markdown file; a plan change rewrites its front matter and keeps
//! its body.

use std::{cmp::Ordering, sync::Arc};

use protocol::company::{
    AgentId, Issue, MilestoneStatus, ProjectId, TaskId, TaskStatus, Text,
    pm::Allocation,
    task::{
        InvalidTaskFile, MilestoneCounts, Task, TaskExecutionPlan, TaskExecutionPlanUpdate,
        TaskRow, TaskSchedule, TaskScheduleUpdate,
    },
};

use crate::{
    Company, Error, Writer,
    document::{Agent, Markdown, TASK_HEADINGS},
    documents::validate,
    format::{collation, front_matter},
    layout,
    planning::plan,
    policy::{self, Action, Actor, Resource},
    unix_ms,
};

/// A task with the path of its file.
#[derive(Clone, Debug)]
pub struct TaskFile {
    /// Path of the file, relative to the company folder.
    pub relpath: String,
    document: Arc<Markdown<Task>>,
}

/// The tasks of a project.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    /// Readable tasks, newest first.
    pub files: Vec<TaskFile>,
    /// Files that are not valid tasks.
    pub invalid: Vec<InvalidTaskFile>,
}

impl TaskFile {
    /// The front matter of the task.
    pub fn task(&self) -> &Task {
        &self.document.head
    }

    /// Returns whether an actor may see the task. The assignee always may.
    pub fn is_seen_by(&self, company: &Company, actor: &Actor) -> bool {
        let task = self.task();
        let assignee = task.assignee_agent_id.as_deref();
        let of_assignee = assignee.and_then(|agent| policy::team_of(company, agent));
        let resource = Resource {
            team_id: task.team_id.as_deref().or(of_assignee.as_deref()),
            producing_actor_id: assignee,
            ..Resource::visible(task.visibility)
        };
        policy::decide(actor, Action::Read, &resource).allowed
    }

    /// The row of `task.list`.
    pub fn row(&self, company: &Company, project: &ProjectId) -> TaskRow {
        let task = self.task();
        TaskRow {
            task_id: task.id.to_string(),
            project_id: project.to_string(),
            abs_path: company.shown_path(&self.relpath),
            relpath: self.relpath.clone(),
            frontmatter: task.clone(),
            progress_ratio: progress(task),
            milestone_counts: milestone_counts(task),
        }
    }
}

impl Tasks {
    /// Reads the tasks of a project; empty if the project does not exist.
    pub fn read(company: &Company, project: &ProjectId) -> Result<Self, Error> {
        let folder = format!("{}/tasks", layout::project(project));
        let mut tasks = Self::default();
        for name in company.names(&folder)? {
            if !name.ends_with(".md") {
                continue;
            }
            let relpath = format!("{folder}/{name}");
            match read(company, &relpath) {
                Ok(document) => tasks.files.push(TaskFile { relpath, document }),
                Err(Error::FileInvalid { path, issues }) => tasks.invalid.push(InvalidTaskFile {
                    relpath: path,
                    issues,
                }),
                // The file was removed after the folder was listed.
                Err(error) if error.is_missing() => {}
                Err(error) => return Err(error),
            }
        }
        tasks.files.sort_by(newest_first);
        Ok(tasks)
    }

    /// Replaces the titles of tasks that the actor may not see by their ids. The tasks stay in the list, because a plan
    /// needs all of them.
    #[must_use]
    pub fn shown_to(mut self, company: &Company, actor: Option<&Actor>) -> Self {
        let Some(actor) = actor else {
            return self;
        };
        for file in &mut self.files {
            if !file.is_seen_by(company, actor) {
                let task = &mut Arc::make_mut(&mut file.document).head;
                task.title = task.id.clone();
            }
        }
        self
    }

    /// The front matter of all readable tasks.
    pub fn tasks(&self) -> Vec<&Task> {
        self.files.iter().map(TaskFile::task).collect()
    }
}

fn newest_first(left: &TaskFile, right: &TaskFile) -> Ordering {
    let (left, right) = (left.task(), right.task());
    let newest = right.created_at.cmp(&left.created_at);
    newest.then_with(|| collation::compare(&left.id, &right.id))
}

/// Reads a task and checks that it has the required headings.
fn read(company: &Company, relpath: &str) -> Result<Arc<Markdown<Task>>, Error> {
    let document = company.read_markdown::<Task>(relpath)?;
    let missing = validate::missing_headings(&document.body, &TASK_HEADINGS);
    if missing.is_empty() {
        Ok(document)
    } else {
        Err(Error::FileInvalid {
            path: relpath.to_owned(),
            issues: missing,
        })
    }
}

fn milestone_counts(task: &Task) -> MilestoneCounts {
    let mut counts = MilestoneCounts {
        total: task.milestones.len() as u64,
        ..MilestoneCounts::default()
    };
    for milestone in &task.milestones {
        let count = match milestone.status {
            MilestoneStatus::Done => &mut counts.done,
            MilestoneStatus::InProgress => &mut counts.in_progress,
            MilestoneStatus::Blocked => &mut counts.blocked,
            MilestoneStatus::Ready => &mut counts.ready,
            MilestoneStatus::Draft => &mut counts.draft,
        };
        *count += 1;
    }
    counts
}

/// Change of one part of a plan.
#[derive(Clone, Debug)]
pub enum Change<T> {
    /// Keep the current value.
    Keep,
    /// Remove the value.
    Clear,
    /// Replace or merge with this value.
    Set(T),
}

impl<T> Change<T> {
    /// Builds a change from request parameters; `clear` takes precedence over a given value.
    pub fn new(given: Option<T>, clear: Option<bool>) -> Self {
        match (clear, given) {
            (Some(true), _) => Self::Clear,
            (_, Some(given)) => Self::Set(given),
            (_, None) => Self::Keep,
        }
    }
}

/// A task after a plan change.
#[derive(Clone, Debug)]
pub struct PlannedTask {
    /// The changed task.
    pub task: Task,
    /// Path of the file, relative to the company folder.
    pub relpath: String,
    /// Warnings about dependencies: `unknown_dependency:<id>` or `dependency_cycle`.
    pub warnings: Vec<String>,
}

impl Writer<'_> {
    /// Changes the schedule and the execution plan of a task.
    pub fn update_plan(
        &self,
        project: &ProjectId,
        task: &TaskId,
        schedule: Change<TaskScheduleUpdate>,
        execution_plan: Change<TaskExecutionPlanUpdate>,
    ) -> Result<PlannedTask, Error> {
        let company = self.company();
        let (relpath, document) = find(company, project, task)?;
        let mut head = document.head.clone();
        let is_scheduled = matches!(schedule, Change::Set(_));
        match schedule {
            Change::Keep => {}
            Change::Clear => head.schedule = None,
            Change::Set(update) => head.schedule = Some(scheduled(&head.id, task, update)?),
        }
        match execution_plan {
            Change::Keep => {}
            Change::Clear => head.execution_plan = None,
            Change::Set(update) => {
                let now = self.now().to_string();
                merge(head.execution_plan.get_or_insert_default(), update, &now);
            }
        }
        self.put_task(&relpath, &document, &head)?;
        let warnings = if is_scheduled {
            warnings(&Tasks::read(company, project)?.tasks(), &head)
        } else {
            Vec::new()
        };
        Ok(PlannedTask {
            task: head,
            relpath,
            warnings,
        })
    }

    /// Records execution plans for tasks with the time `applied_at`. If one task cannot be changed, none is. Returns
    /// each task once, in the given order.
    pub fn apply_allocations(
        &self,
        project: &ProjectId,
        applied_by: &Text,
        applied_at: &str,
        items: Vec<Allocation>,
    ) -> Result<Vec<TaskId>, Error> {
        let mut changed: Vec<(TaskId, String, Arc<Markdown<Task>>, Task)> = Vec::new();
        let mut failing: Vec<(TaskId, Error)> = Vec::new();
        for item in items {
            let id = item.task_id.clone();
            if let Err(error) = self.check_agent(item.preferred_agent_id.as_ref()) {
                failing.push((id, error));
                continue;
            }
            let index = match changed.iter().position(|(known, ..)| *known == id) {
                Some(index) => index,
                None => match find(self.company(), project, &id) {
                    Ok((relpath, document)) => {
                        let head = document.head.clone();
                        changed.push((id, relpath, document, head));
                        changed.len() - 1
                    }
                    Err(error) => {
                        failing.push((id, error));
                        continue;
                    }
                },
            };
            let update = TaskExecutionPlanUpdate {
                preferred_provider: item.preferred_provider,
                preferred_model: item.preferred_model,
                preferred_agent_id: item.preferred_agent_id.map(crate::org::text),
                token_budget_hint: item.token_budget_hint,
                applied_by: Some(applied_by.clone()),
                applied_at: None,
            };
            let plan = &mut changed[index].3.execution_plan;
            merge(plan.get_or_insert_default(), update, applied_at);
        }
        if !failing.is_empty() {
            return Err(Error::Tasks(failing));
        }
        for (_, relpath, document, head) in &changed {
            self.put_task(relpath, document, head)?;
        }
        Ok(changed.into_iter().map(|(id, ..)| id).collect())
    }

    fn check_agent(&self, agent: Option<&AgentId>) -> Result<(), Error> {
        let Some(agent) = agent else { return Ok(()) };
        let file = format!("{}/agent.yaml", layout::agent(agent));
        let read = self.company().read::<Agent>(&file);
        read.map_err(|error| error.or_not_found("Agent", agent.as_str()))?;
        Ok(())
    }

    /// Writes a task with new front matter, unless nothing changed.
    fn put_task(&self, relpath: &str, old: &Markdown<Task>, head: &Task) -> Result<(), Error> {
        if old.head == *head {
            return Ok(());
        }
        self.put_text(relpath, &front_matter::join(head, &old.body)?)
    }
}

fn find(
    company: &Company,
    project: &ProjectId,
    task: &TaskId,
) -> Result<(String, Arc<Markdown<Task>>), Error> {
    let relpath = layout::task(project, task);
    let document = read(company, &relpath);
    let document = document.map_err(|error| error.or_not_found("Task", task.as_str()))?;
    Ok((relpath, document))
}

/// Converts a schedule update to the stored form, after validating it.
fn scheduled(id: &Text, file: &TaskId, update: TaskScheduleUpdate) -> Result<TaskSchedule, Error> {
    let mut needs: Vec<Text> = Vec::new();
    for needed in update.depends_on_task_ids.into_iter().flatten() {
        if needed == *id || needed.as_str() == file.as_str() {
            let message = "schedule.depends_on_task_ids cannot contain the task itself";
            return Err(Error::Refused(message.to_owned()));
        }
        if !needs.contains(&needed) {
            needs.push(needed);
        }
    }
    let start = update.planned_start.as_deref().and_then(unix_ms);
    let end = update.planned_end.as_deref().and_then(unix_ms);
    if matches!((start, end), (Some(start), Some(end)) if end < start) {
        let message = "schedule.planned_end must be >= schedule.planned_start";
        return Err(Error::Params(vec![Issue::custom("planned_end", message)]));
    }
    Ok(TaskSchedule {
        planned_start: update.planned_start.map(crate::org::text),
        planned_end: update.planned_end.map(crate::org::text),
        duration_days: update.duration_days,
        depends_on_task_ids: needs,
    })
}

/// Sets the given fields and keeps the others. An update with `applied_by` gets the current time as `applied_at`.
fn merge(plan: &mut TaskExecutionPlan, update: TaskExecutionPlanUpdate, now: &str) {
    fn set<T>(field: &mut Option<T>, given: Option<T>) {
        if given.is_some() {
            *field = given;
        }
    }
    let applied_at = match update.applied_by {
        Some(_) => Text::new(now),
        None => update.applied_at.map(crate::org::text),
    };
    set(&mut plan.preferred_provider, update.preferred_provider);
    set(&mut plan.preferred_model, update.preferred_model);
    set(&mut plan.preferred_agent_id, update.preferred_agent_id);
    set(&mut plan.token_budget_hint, update.token_budget_hint);
    set(&mut plan.applied_by, update.applied_by);
    set(&mut plan.applied_at, applied_at);
}

/// Returns warnings about unknown dependencies and dependency cycles of a changed task.
fn warnings(tasks: &[&Task], changed: &Task) -> Vec<String> {
    let is_known = |id: &str| tasks.iter().any(|task| task.id.as_str() == id);
    let unknown = plan::needs(changed).filter(|id| !is_known(id));
    let mut warnings: Vec<String> = unknown
        .map(|id| format!("unknown_dependency:{id}"))
        .collect();
    let network = plan::network(tasks.iter().copied());
    let mut cycle = network.cycle().iter();
    if cycle.any(|index| tasks[*index].id == changed.id) {
        warnings.push("dependency_cycle".to_owned());
    }
    warnings
}

/// Progress of a task from 0 to 1: the share of its done milestones; without milestones, 1 if the task is done.
pub fn progress(task: &Task) -> f64 {
    match task.milestones.len() {
        0 if task.status == TaskStatus::Done => 1.0,
        0 => 0.0,
        all => {
            let is_done = |status| status == MilestoneStatus::Done;
            let done = task
                .milestones
                .iter()
                .filter(|milestone| is_done(milestone.status))
                .count();
            done as f64 / all as f64
        }
    }
}
