//! Status of all projects: tasks, runs and documents that wait for a decision.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use protocol::company::{
    ProjectId, TaskStatus,
    resources::ResourcesSnapshotResponse,
    task::Task,
    workspace::{
        CompanyWorkspaceHomeSnapshotResponse, HomeProject, HomeSnapshot, HomeSummary,
        PortfolioProject, PortfolioSnapshot, PortfolioSummary, ProjectRow, RepoLink,
    },
};

use crate::{
    Company, Error,
    document::{DocumentHead, DocumentKind, Project, Review, Run},
    execution::{
        resources,
        run::{self, Activity, LiveRuns},
    },
    iso_time, layout,
    org::project,
    pipeline::gate,
    planning::{plan, task::Tasks},
    planning::{plan::mean_pct, task::progress},
    policy::Actor,
};

/// Status of all projects at one moment, read once. The snapshots are views of it.
#[derive(Clone, Debug)]
pub struct ProjectsOverview {
    workspace_dir: String,
    now_ms: i64,
    /// Projects, newest first.
    projects: Vec<ProjectOverview>,
    /// Runs of all projects.
    runs: Vec<(ProjectId, Arc<Run>)>,
    /// Runs with a live session.
    live: LiveRuns,
}

/// Status and counters of one project.
#[derive(Clone, Debug)]
struct ProjectOverview {
    id: ProjectId,
    project: Arc<Project>,
    repo_links: Vec<RepoLink>,
    pending_reviews: u64,
    active_runs: u64,
    idle_runs: u64,
    stale_runs: u64,
    total_tokens: u64,
    tasks: Tasks,
    blocked_tasks: u64,
    progress_pct: f64,
    has_cycle: bool,
}

impl ProjectsOverview {
    /// Reads the status of every project. `live` contains the runs with a live session.
    pub fn read(company: &Company, live: &LiveRuns) -> Result<Self, Error> {
        let now_ms = company.sources().now_ms();
        let decided = decided(company)?;
        let runs = run::runs(company, None)?;
        let by_project: BTreeMap<_, _> = runs
            .chunk_by(|(one, _), (other, _)| one == other)
            .map(|runs| (&runs[0].0, runs))
            .collect();
        let projects = project::projects(company)?
            .into_iter()
            .map(|(id, project)| {
                let runs = by_project.get(&id).copied().unwrap_or_default();
                ProjectOverview::of(company, id, project, runs, &decided, live, now_ms)
            });
        Ok(Self {
            workspace_dir: company.given().to_owned(),
            now_ms,
            projects: projects.collect::<Result<_, _>>()?,
            runs,
            live: live.clone(),
        })
    }

    /// Removes the titles of tasks that the actor may not see.
    #[must_use]
    pub fn shown_to(mut self, company: &Company, actor: Option<&Actor>) -> Self {
        for standing in &mut self.projects {
            let tasks = std::mem::take(&mut standing.tasks);
            standing.tasks = tasks.shown_to(company, actor);
        }
        self
    }

    /// Agents and their resource usage, in all projects or in one of them.
    pub fn resources(
        &self,
        company: &Company,
        project: Option<&str>,
    ) -> Result<ResourcesSnapshotResponse, Error> {
        resources::of_runs(company, project, &self.live, &self.runs)
    }

    /// The path of the company folder as the caller wrote it.
    pub fn workspace_dir(&self) -> &str {
        &self.workspace_dir
    }

    /// Time of reading, in Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        self.now_ms
    }

    /// The tasks of a project, newest first; empty if the project does not exist.
    pub fn tasks(&self, project: &ProjectId) -> Vec<&Task> {
        let mut projects = self.projects.iter();
        let found = projects.find(|standing| standing.id == *project);
        found.map_or_else(Vec::new, |standing| standing.tasks.tasks())
    }

    /// The rows of `workspace.projects.list`.
    pub fn rows(&self) -> Vec<ProjectRow> {
        self.projects.iter().map(ProjectOverview::row).collect()
    }

    /// The `home` part of `workspace.home.snapshot`.
    pub fn home(&self) -> HomeSnapshot {
        HomeSnapshot {
            workspace_dir: self.workspace_dir.clone(),
            generated_at: iso_time(self.now_ms),
            projects: self.projects.iter().map(ProjectOverview::home).collect(),
            summary: HomeSummary {
                project_count: self.projects.len() as u64,
                pending_reviews: self.sum(|standing| standing.pending_reviews),
                active_runs: self.sum(|standing| standing.active_runs),
                idle_runs: self.sum(|standing| standing.idle_runs),
                task_count: self.sum(ProjectOverview::task_count),
                progress_pct: self.progress_pct(),
                blocked_projects: self.blocked_projects(),
            },
        }
    }

    /// The `pm` part of `workspace.home.snapshot`: the projects for planning.
    pub fn portfolio(&self) -> PortfolioSnapshot {
        PortfolioSnapshot {
            summary: PortfolioSummary {
                project_count: self.projects.len() as u64,
                active_runs: self.sum(|standing| standing.active_runs),
                stale_runs: self.sum(|standing| standing.stale_runs),
                pending_reviews: self.sum(|standing| standing.pending_reviews),
                total_tokens: self.sum(|standing| standing.total_tokens),
                progress_pct: self.progress_pct(),
                blocked_projects: self.blocked_projects(),
            },
            projects: self
                .projects
                .iter()
                .map(ProjectOverview::portfolio)
                .collect(),
        }
    }

    fn sum(&self, count: impl Fn(&ProjectOverview) -> u64) -> u64 {
        self.projects.iter().map(count).sum()
    }

    fn progress_pct(&self) -> f64 {
        let shares = self.projects.iter();
        mean_pct(shares.map(|standing| standing.progress_pct / 100.0))
    }

    fn blocked_projects(&self) -> u64 {
        self.sum(|standing| u64::from(standing.blocked_tasks > 0))
    }
}

/// Builds the response of `workspace.home.snapshot`.
pub fn snapshot(company: &Company) -> Result<CompanyWorkspaceHomeSnapshotResponse, Error> {
    let overview = ProjectsOverview::read(company, &LiveRuns::new())?;
    Ok(CompanyWorkspaceHomeSnapshotResponse {
        home: overview.home(),
        pm: overview.portfolio(),
    })
}

/// Builds the rows of `workspace.projects.list`.
pub fn list_projects(company: &Company) -> Result<Vec<ProjectRow>, Error> {
    Ok(ProjectsOverview::read(company, &LiveRuns::new())?.rows())
}

/// Ids of the documents with a final decision, by project.
fn decided(company: &Company) -> Result<BTreeMap<String, BTreeSet<String>>, Error> {
    let mut decided: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for name in company.names(layout::REVIEWS)? {
        let review = company.read::<Review>(&format!("{}/{name}", layout::REVIEWS));
        if let Ok(review) = review
            && gate::is_final(company, &review)
        {
            decided
                .entry(review.subject.project_id.to_string())
                .or_default()
                .insert(review.subject.artifact_id.to_string());
        }
    }
    Ok(decided)
}

/// Whether documents of this type require a decision.
pub fn needs_decision(kind: DocumentKind) -> bool {
    matches!(
        kind,
        DocumentKind::MemoryDelta
            | DocumentKind::MilestoneReport
            | DocumentKind::HeartbeatActionProposal
    )
}

impl ProjectOverview {
    fn of(
        company: &Company,
        id: ProjectId,
        project: Arc<Project>,
        runs: &[(ProjectId, Arc<Run>)],
        decided: &BTreeMap<String, BTreeSet<String>>,
        live: &LiveRuns,
        now_ms: i64,
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
        let (mut active_runs, mut idle_runs, mut stale_runs, mut total_tokens) = (0, 0, 0, 0);
        for (_, run) in runs {
            let used = run.usage.as_ref().map_or(0, |usage| usage.total_tokens);
            total_tokens = used.saturating_add(total_tokens);
            match run::activity(run, live, now_ms) {
                Activity::Active => active_runs += 1,
                Activity::Idle => idle_runs += 1,
                Activity::Stale => stale_runs += 1,
                Activity::Over => {}
            }
        }
        let files = Tasks::read(company, &id)?;
        let tasks = files.tasks();
        let blocked = tasks
            .iter()
            .filter(|task| task.status == TaskStatus::Blocked);
        Ok(Self {
            repo_links: project::repo_links(company, &id)?,
            pending_reviews,
            active_runs,
            idle_runs,
            stale_runs,
            total_tokens,
            blocked_tasks: blocked.count() as u64,
            progress_pct: mean_pct(tasks.iter().map(|task| progress(task))),
            has_cycle: !plan::network(tasks.iter().copied()).cycle().is_empty(),
            tasks: files,
            id,
            project,
        })
    }

    fn task_count(&self) -> u64 {
        self.tasks.files.len() as u64
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
            task_count: self.task_count(),
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
            task_count: self.task_count(),
            progress_pct: self.progress_pct,
            blocked_tasks: self.blocked_tasks,
            risk_flags: self.home_flags(),
        }
    }

    fn portfolio(&self) -> PortfolioProject {
        PortfolioProject {
            project_id: self.id.to_string(),
            name: self.project.name.to_string(),
            task_count: self.task_count(),
            progress_pct: self.progress_pct,
            blocked_tasks: self.blocked_tasks,
            active_runs: self.active_runs,
            stale_runs: self.stale_runs,
            pending_reviews: self.pending_reviews,
            risk_flags: self.plan_flags(),
        }
    }
}

fn raised(flags: &[(&str, bool)]) -> Vec<String> {
    let raised = flags.iter().filter(|(_, is_raised)| *is_raised);
    raised.map(|(flag, _)| (*flag).to_owned()).collect()
}
