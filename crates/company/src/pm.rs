//! `pm.*`: project plans and agent allocations, computed from the files of a company folder.

pub mod overview;

use protocol::company::{
    CompanyScope, ProjectId,
    pm::{
        PlanFormat, PmExportResponse, PmRecommendAllocationsResponse, PmSnapshotResponse,
        Recommendation,
    },
};

use crate::{
    Company, Error,
    execution::run::{self, LiveRuns},
    iso_time,
    org::{self, project},
    planning::{
        plan::{self, allocation},
        task::Tasks,
    },
    pm::overview::ProjectsOverview,
    policy::Actor,
};

/// Maximum number of runs of a project that are considered, newest first.
const MAX_RUNS: usize = 500;

/// `pm.snapshot`: the portfolio of all projects, and the plan of one project if `project` is given.
pub fn snapshot(overview: &ProjectsOverview, project: Option<&ProjectId>) -> PmSnapshotResponse {
    let now_ms = overview.now_ms();
    PmSnapshotResponse {
        workspace_dir: overview.workspace_dir().to_owned(),
        generated_at: iso_time(now_ms),
        scope: match project {
            Some(_) => CompanyScope::Project,
            None => CompanyScope::Workspace,
        },
        workspace: overview.portfolio(),
        project: project
            .map(|project| plan::project_plan(project.clone(), &overview.tasks(project), now_ms)),
    }
}

/// `pm.recommend_allocations`. `providers` returns the state of a provider on this machine, if it is known.
pub fn recommend_allocations(
    company: &Company,
    project: &ProjectId,
    live: &LiveRuns,
    providers: &dyn Fn(&str) -> Option<allocation::Provider>,
) -> Result<PmRecommendAllocationsResponse, Error> {
    Ok(PmRecommendAllocationsResponse {
        workspace_dir: company.given().to_owned(),
        project_id: project.clone(),
        generated_at: company.sources().now_text(),
        recommendations: recommendations(company, project, live, providers)?,
    })
}

fn recommendations(
    company: &Company,
    project: &ProjectId,
    live: &LiveRuns,
    providers: &dyn Fn(&str) -> Option<allocation::Provider>,
) -> Result<Vec<Recommendation>, Error> {
    let now_ms = company.sources().now_ms();
    let tasks = Tasks::read(company, project)?;
    let agents = org::agents(company)?;
    let mut runs = run::runs(company, Some(project))?;
    runs.sort_by(|(_, left), (_, right)| right.created_at.cmp(&left.created_at));
    runs.truncate(MAX_RUNS);
    let mut records = allocation::Records::default();
    for (_, run) in &runs {
        records.add(run, live, now_ms);
    }
    let staff = allocation::Staff {
        project,
        agents: agents.iter().map(AsRef::as_ref).collect(),
        records,
        providers,
    };
    Ok(staff.recommend(&tasks.tasks()))
}

/// `pm.export`. Titles of tasks that `actor` may not see are replaced by their ids; without an actor, all are shown.
pub fn export(
    company: &Company,
    project: &ProjectId,
    format: PlanFormat,
    actor: Option<&Actor>,
) -> Result<PmExportResponse, Error> {
    let name = project::project(company, project)?.name.to_string();
    let now_ms = company.sources().now_ms();
    let tasks = Tasks::read(company, project)?.shown_to(company, actor);
    let gantt = plan::gantt(&tasks.tasks(), now_ms);
    let (media_type, ending, content) = match format {
        PlanFormat::Mermaid => (
            "text/vnd.mermaid",
            "mmd",
            plan::export::mermaid(&name, &gantt),
        ),
        PlanFormat::Csv => ("text/csv", "csv", plan::export::csv(&gantt)),
        PlanFormat::Ics => (
            "text/calendar",
            "ics",
            plan::export::ics(&name, project, &gantt, now_ms),
        ),
    };
    Ok(PmExportResponse {
        workspace_dir: company.given().to_owned(),
        project_id: project.clone(),
        format,
        generated_at: iso_time(now_ms),
        media_type: media_type.to_owned(),
        file_name: format!("{project}.{ending}"),
        content,
    })
}
