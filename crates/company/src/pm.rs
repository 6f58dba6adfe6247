//! `pm.*`: the plan of a project and who should do what, from the files of a company folder.

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
    pm::overview::Standings,
    policy::Actor,
};

/// No more runs of a project than this are looked at, the newest first.
const RUNS: usize = 500;

/// `pm.snapshot`: all projects, and the plan of one of them if there is one to tell.
pub fn snapshot(standings: &Standings, project: Option<&ProjectId>) -> PmSnapshotResponse {
    let now_ms = standings.now_ms();
    PmSnapshotResponse {
        workspace_dir: standings.workspace_dir().to_owned(),
        generated_at: iso_time(now_ms),
        scope: match project {
            Some(_) => CompanyScope::Project,
            None => CompanyScope::Workspace,
        },
        workspace: standings.portfolio(),
        project: project
            .map(|project| plan::project_plan(project.clone(), &standings.tasks(project), now_ms)),
    }
}

/// `pm.recommend_allocations`. `providers` tells what is known of a provider on this machine.
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
    runs.truncate(RUNS);
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

/// `pm.export`, as `actor` may see it.
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
