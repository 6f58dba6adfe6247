//! `org/agents/<id>/context_index.md`: the files that an agent should read for its assigned tasks.

use protocol::{
    Id as _,
    company::{AgentId, ProjectId, TaskId, TaskStatus, task::Task},
};

use crate::{
    Company, Error, format::collation, layout, memory::mistake::check_agent, org::project,
};

/// Result of refreshing a context index.
#[derive(Clone, Debug, PartialEq)]
pub struct Refreshed {
    /// Path of the index, relative to the company folder.
    pub relpath: String,
    /// Number of listed tasks.
    pub assignments: usize,
    /// Number of reference lines.
    pub references: usize,
    /// Whether the file changed.
    pub updated: bool,
}

/// Rebuilds the context index of an agent and writes it if it changed. `only` restricts it to the tasks of one project.
pub fn refresh_context(
    company: &Company,
    agent: &AgentId,
    only: Option<&ProjectId>,
    max_tasks: usize,
    max_scope_paths: usize,
) -> Result<Refreshed, Error> {
    check_agent(company, agent)?;
    let tasks = assigned(company, agent, only, max_tasks)?;
    let folder = layout::agent(agent);
    let mut lines = IndexLines(vec![
        format!("- company_contract: `{}`", layout::COMPANY),
        format!("- org_visibility_policy: `{}`", layout::POLICY),
        format!("- agent_profile: `{folder}/agent.yaml`"),
        format!("- agent_role: `{folder}/role.md`"),
        format!("- agent_skills_index: `{folder}/skills_index.md`"),
        format!("- agent_journal: `{folder}/journal.md`"),
    ]);
    let mistakes = format!("{folder}/mistakes.yaml");
    if company.path(&mistakes).is_file() {
        lines.add(format!("- mistakes_log: `{mistakes}`"));
    }
    let (mut paths, mut is_truncated) = (0, false);
    for (project, id, task) in &tasks {
        lines.add(format!("- assigned_task: `{}`", layout::task(project, id)));
        lines.add(format!(
            "- project_memory: `{}`",
            layout::project_memory(project)
        ));
        let Some(scope) = &task.scope else {
            continue;
        };
        let of_task = format!("(task: `{id}`)");
        if let Some(repo) = &scope.repo_id {
            lines.add(format!("- task_scope_repo_id: `{repo}` {of_task}"));
        }
        if let Some(workdir) = &scope.workdir_rel {
            lines.add(format!("- task_scope_workdir: `{workdir}` {of_task}"));
        }
        for path in scope.paths.iter().flatten() {
            if paths == max_scope_paths {
                is_truncated = true;
                break;
            }
            lines.add(format!("- task_scope_path: `{path}` {of_task}"));
            paths += 1;
        }
    }
    if is_truncated {
        lines.add(format!(
            "- task_scope_paths_truncated: true (max_scope_paths={max_scope_paths})"
        ));
    }
    if tasks.is_empty() {
        lines.add("- no_assigned_tasks: true".to_owned());
    }
    let relpath = format!("{folder}/context_index.md");
    let text = format!(
        "# Context Index - {agent}\n\n## References\n{}\n",
        lines.0.join("\n")
    );
    let updated = company.write(|writer| {
        let is_same = company.read_text(&relpath).is_ok_and(|known| known == text);
        if !is_same {
            writer.put_text(&relpath, &text)?;
        }
        Ok(!is_same)
    })?;
    Ok(Refreshed {
        relpath,
        assignments: tasks.len(),
        references: lines.0.len(),
        updated,
    })
}

struct IndexLines(Vec<String>);

impl IndexLines {
    fn add(&mut self, line: String) {
        if !self.0.contains(&line) {
            self.0.push(line);
        }
    }
}

type Assigned = (ProjectId, TaskId, Task);

/// The newest tasks of an agent, at most `max_tasks`, newest first. Open tasks take precedence over done and canceled
/// ones.
fn assigned(
    company: &Company,
    agent: &AgentId,
    only: Option<&ProjectId>,
    max_tasks: usize,
) -> Result<Vec<Assigned>, Error> {
    let projects = match only {
        Some(project) => vec![project.clone()],
        None => project::project_ids(company)?,
    };
    let mut found: Vec<Assigned> = Vec::new();
    for project in projects {
        for name in company.names(&format!("{}/tasks", layout::project(&project)))? {
            let Some(Ok(id)) = name.strip_suffix(".md").map(TaskId::parse) else {
                continue;
            };
            let Ok(task) = company.read_markdown::<Task>(&layout::task(&project, &id)) else {
                continue;
            };
            if task.head.assignee_agent_id.as_deref() == Some(agent.as_str()) {
                found.push((project.clone(), id, task.head.clone()));
            }
        }
    }
    let newest_first = |(_, left_id, left): &Assigned, (_, right_id, right): &Assigned| {
        let by_time = right.created_at.cmp(&left.created_at);
        by_time.then_with(|| collation::compare(left_id.as_str(), right_id.as_str()))
    };
    let is_over =
        |(_, _, task): &Assigned| matches!(task.status, TaskStatus::Done | TaskStatus::Canceled);
    found.sort_by(|left, right| {
        let by_use = is_over(left).cmp(&is_over(right));
        by_use.then_with(|| newest_first(left, right))
    });
    found.truncate(max_tasks);
    found.sort_by(newest_first);
    Ok(found)
}
