//! How all projects stand: tasks, runs and what waits for a decision.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{
    Id as _,
    company::{
        MilestoneStatus, ProjectId, ReviewDecision, RunStatus, TaskId, TaskStatus,
        task::Task,
        workspace::{
            CompanyWorkspaceHomeSnapshotResponse, HomeProject, HomeSnapshot, HomeSummary,
            PortfolioProject, PortfolioSnapshot, PortfolioSummary, ProjectRow, RepoLink,
        },
    },
};

use crate::{
    Company, Error,
    document::{DocumentHead, DocumentKind, Project, Review},
    layout, project, run,
};

/// What is counted of one project.
struct Standing {
    id: ProjectId,
    project: std::sync::Arc<Project>,
    repo_links: Vec<RepoLink>,
    pending_reviews: u64,
    active_runs: u64,
    idle_runs: u64,
    total_tokens: u64,
    task_count: u64,
    blocked_tasks: u64,
    progress_pct: f64,
    has_cycle: bool,
}

/// How far a task is, from 0 to 1: its done milestones, or whether it is done.
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

/// The mean of shares as per cent with one decimal; 0 for none.
pub fn mean_pct(shares: impl ExactSizeIterator<Item = f64>) -> f64 {
    match shares.len() {
        0 => 0.0,
        count => (shares.sum::<f64>() / count as f64 * 1000.0).round() / 10.0,
    }
}

/// The tasks of a project that can be read.
pub fn tasks(company: &Company, project: &ProjectId) -> Result<Vec<Task>, Error> {
    let names = company.names(&format!("{}/tasks", layout::project(project)))?;
    let ids = names
        .iter()
        .filter_map(|name| TaskId::parse(name.strip_suffix(".md")?).ok());
    let read = ids.filter_map(|id| {
        company
            .read_markdown::<Task>(&layout::task(project, &id))
            .ok()
    });
    Ok(read.map(|task| task.head.clone()).collect())
}

/// `workspace.home.snapshot`.
pub fn snapshot(company: &Company) -> Result<CompanyWorkspaceHomeSnapshotResponse, Error> {
    let standings = standings(company)?;
    let sum = |count: fn(&Standing) -> u64| standings.iter().map(count).sum::<u64>();
    let summary = HomeSummary {
        project_count: standings.len() as u64,
        pending_reviews: sum(|standing| standing.pending_reviews),
        active_runs: sum(|standing| standing.active_runs),
        idle_runs: sum(|standing| standing.idle_runs),
        task_count: sum(|standing| standing.task_count),
        progress_pct: mean_pct(
            standings
                .iter()
                .map(|standing| standing.progress_pct / 100.0),
        ),
        blocked_projects: sum(|standing| u64::from(standing.blocked_tasks > 0)),
    };
    let pm = PortfolioSnapshot {
        summary: PortfolioSummary {
            project_count: summary.project_count,
            active_runs: summary.active_runs,
            pending_reviews: summary.pending_reviews,
            total_tokens: sum(|standing| standing.total_tokens),
            progress_pct: summary.progress_pct,
            blocked_projects: summary.blocked_projects,
        },
        projects: standings.iter().map(Standing::portfolio).collect(),
    };
    Ok(CompanyWorkspaceHomeSnapshotResponse {
        home: HomeSnapshot {
            workspace_dir: company.given().to_owned(),
            generated_at: company.sources().now_text(),
            projects: standings.iter().map(Standing::home).collect(),
            summary,
        },
        pm,
    })
}

/// `workspace.projects.list`.
pub fn list_projects(company: &Company) -> Result<Vec<ProjectRow>, Error> {
    Ok(standings(company)?.iter().map(Standing::row).collect())
}

fn standings(company: &Company) -> Result<Vec<Standing>, Error> {
    let decided = decided(company)?;
    project::projects(company)?
        .into_iter()
        .map(|(id, project)| Standing::of(company, id, project, &decided))
        .collect()
}

/// The documents of each project that somebody decided about.
fn decided(company: &Company) -> Result<BTreeMap<String, BTreeSet<String>>, Error> {
    let mut decided: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for name in company.names(layout::REVIEWS)? {
        if let Ok(review) = company.read::<Review>(&format!("{}/{name}", layout::REVIEWS)) {
            match review.decision {
                ReviewDecision::Approved | ReviewDecision::Denied => decided
                    .entry(review.subject.project_id.to_string())
                    .or_default()
                    .insert(review.subject.artifact_id.to_string()),
            };
        }
    }
    Ok(decided)
}

/// Whether somebody has to decide about documents of this type.
pub fn needs_decision(kind: DocumentKind) -> bool {
    matches!(
        kind,
        DocumentKind::MemoryDelta
            | DocumentKind::MilestoneReport
            | DocumentKind::HeartbeatActionProposal
    )
}

impl Standing {
    fn of(
        company: &Company,
        id: ProjectId,
        project: std::sync::Arc<Project>,
        decided: &BTreeMap<String, BTreeSet<String>>,
    ) -> Result<Self, Error> {
        let folder = format!("{}/artifacts", layout::project(&id));
        let documents = company.names(&folder)?;
        let pending_reviews = documents
            .iter()
            .filter(|name| name.ends_with(".md"))
            .filter_map(|name| {
                company
                    .read_markdown::<DocumentHead>(&format!("{folder}/{name}"))
                    .ok()
            })
            .filter(|document| needs_decision(document.head.r#type))
            .filter(|document| {
                let of_project = decided.get(id.as_str());
                !of_project.is_some_and(|ids| ids.contains(document.head.id.as_str()))
            })
            .count() as u64;
        let (mut active_runs, mut idle_runs, mut total_tokens) = (0, 0, 0);
        for (_, run) in run::runs(company, Some(&id))? {
            total_tokens += run.usage.as_ref().map_or(0, |usage| usage.total_tokens);
            match (run.status, &run.spec) {
                (RunStatus::Running, Some(_)) => active_runs += 1,
                // Made and never started.
                (RunStatus::Running, None) => idle_runs += 1,
                (RunStatus::Ended | RunStatus::Failed | RunStatus::Stopped, _) => {}
            }
        }
        let tasks = tasks(company, &id)?;
        Ok(Self {
            repo_links: project::repo_links(company, &id)?,
            pending_reviews,
            active_runs,
            idle_runs,
            total_tokens,
            task_count: tasks.len() as u64,
            blocked_tasks: tasks
                .iter()
                .filter(|task| task.status == TaskStatus::Blocked)
                .count() as u64,
            progress_pct: mean_pct(tasks.iter().map(progress)),
            has_cycle: has_cycle(&tasks),
            id,
            project,
        })
    }

    fn home_flags(&self) -> Vec<String> {
        let flags = [
            ("pending_reviews", self.pending_reviews > 0),
            ("blocked_tasks", self.blocked_tasks > 0),
        ];
        raised(&flags)
    }

    fn plan_flags(&self) -> Vec<String> {
        let flags = [
            ("blocked_tasks", self.blocked_tasks > 0),
            ("pending_reviews", self.pending_reviews > 0),
            ("dependency_cycle", self.has_cycle),
        ];
        raised(&flags)
    }

    fn row(&self) -> ProjectRow {
        ProjectRow {
            project_id: self.id.to_string(),
            name: self.project.name.to_string(),
            status: self.project.status,
            created_at: self.project.created_at.to_string(),
            repo_links: self.repo_links.clone(),
            pending_reviews: self.pending_reviews,
            active_runs: self.active_runs,
            task_count: self.task_count,
            progress_pct: self.progress_pct,
            blocked_tasks: self.blocked_tasks,
            risk_flags: self.plan_flags(),
        }
    }

    fn home(&self) -> HomeProject {
        HomeProject {
            project_id: self.id.to_string(),
            name: self.project.name.to_string(),
            status: self.project.status,
            created_at: self.project.created_at.to_string(),
            repo_ids: self
                .repo_links
                .iter()
                .map(|link| link.repo_id.to_string())
                .collect(),
            pending_reviews: self.pending_reviews,
            active_runs: self.active_runs,
            idle_runs: self.idle_runs,
            task_count: self.task_count,
            progress_pct: self.progress_pct,
            blocked_tasks: self.blocked_tasks,
            risk_flags: self.home_flags(),
        }
    }

    fn portfolio(&self) -> PortfolioProject {
        PortfolioProject {
            project_id: self.id.to_string(),
            name: self.project.name.to_string(),
            task_count: self.task_count,
            progress_pct: self.progress_pct,
            blocked_tasks: self.blocked_tasks,
            active_runs: self.active_runs,
            pending_reviews: self.pending_reviews,
            risk_flags: self.plan_flags(),
        }
    }
}

fn raised(flags: &[(&str, bool)]) -> Vec<String> {
    let raised = flags.iter().filter(|(_, is_raised)| *is_raised);
    raised.map(|(flag, _)| (*flag).to_owned()).collect()
}

/// Whether tasks wait for each other in a circle.
fn has_cycle(tasks: &[Task]) -> bool {
    let ids: BTreeSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    let mut waits_for: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for task in tasks {
        let needed = task
            .schedule
            .iter()
            .flat_map(|schedule| &schedule.depends_on_task_ids);
        let needed = needed
            .map(|id| id.as_str())
            .filter(|id| ids.contains(id) && *id != task.id.as_str());
        waits_for
            .entry(task.id.as_str())
            .or_default()
            .extend(needed);
    }
    // Whatever waits for nothing goes, until nothing goes any more.
    loop {
        let free: Vec<&str> = waits_for
            .iter()
            .filter(|(_, needed)| needed.is_empty())
            .map(|(id, _)| *id)
            .collect();
        if free.is_empty() {
            return !waits_for.is_empty();
        }
        for id in &free {
            waits_for.remove(id);
        }
        for needed in waits_for.values_mut() {
            for id in &free {
                needed.remove(id);
            }
        }
    }
}
