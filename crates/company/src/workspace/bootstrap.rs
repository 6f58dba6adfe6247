//! Creates a whole company in one step: departments, teams, agents, a project and its conversations.
//!
//! The company is built in a staging folder next to its destination and moved there when it is complete, so that a
//! failure while building leaves the existing content unchanged.

#![allow(
    clippy::disallowed_methods,
    reason = "moves a complete new folder to the path that the user names"
)]

use std::fs;

use crate::{
    Company, Error, Writer,
    document::Team,
    files, layout,
    org::{NewAgent, defaults::HUMAN_CEO, text},
    workspace::init::{self, NonEmpty},
};
use protocol::company::{
    AgentId, AgentRole, TeamId, Text,
    heartbeat::{HeartbeatConfig, HierarchyMode},
    workspace::{
        CompanyWorkspaceBootstrapEnterpriseParams as Params,
        CompanyWorkspaceBootstrapEnterpriseResponse as Response, DefaultSession, DepartmentRow,
        LeadingAgents, OrgMode,
    },
};

/// Top-level entries of the company folder that a bootstrap replaces.
const ENTRIES: [&str; 5] = ["company", "org", "work", "inbox", ".local"];

/// A department that a request can name by its key.
struct DepartmentTemplate {
    key: &'static str,
    label: &'static str,
    provider: &'static str,
    charter: &'static str,
}

macro_rules! departments {
    ($($key:literal $label:literal $provider:literal $charter:literal;)+) => {
        const DEPARTMENTS: &[DepartmentTemplate] = &[$(DepartmentTemplate { key: $key, label: $label, provider: $provider, charter: $charter },)+];
    };
}

departments! {
    "frontend" "Frontend" "codex" "Builds what people see and touch, and keeps it quick and accessible.";
    "backend" "Backend" "codex" "Builds the services and the data model, and keeps their contracts.";
    "agent_resources" "Agent Resources" "codex" "Looks after the agents: their roles, their skills and their instructions.";
    "infra" "Infrastructure" "codex" "Keeps machines, pipelines and releases running and repeatable.";
    "engineering" "Engineering" "codex" "Designs and builds the product.";
    "operations" "Operations" "codex" "Keeps the daily work flowing and removes what is in its way.";
    "qa" "QA" "codex" "Finds out what does not work before users do.";
    "security" "Security" "codex" "Finds what could harm us and closes it.";
    "marketing" "Marketing" "claude_code" "Explains the product to those who would want it.";
    "data" "Data" "claude_code" "Measures what happens and says what it means.";
    "product" "Product" "claude_code" "Decides what is worth building, and why.";
    "design" "Design" "claude_code" "Shapes how the product looks, reads and behaves.";
}

/// The requested departments without duplicates and unknown keys, or the default departments of the mode.
fn requested_departments(
    params: &Params,
    mode: OrgMode,
) -> Result<Vec<&'static DepartmentTemplate>, Error> {
    let wanted: Vec<String> = match &params.departments {
        Some(keys) => keys.iter().map(|key| key.trim().to_lowercase()).collect(),
        None => match mode {
            OrgMode::Enterprise => [
                "frontend",
                "backend",
                "agent_resources",
                "marketing",
                "infra",
                "data",
            ]
            .map(String::from)
            .to_vec(),
            OrgMode::Standard => ["engineering", "product"].map(String::from).to_vec(),
        },
    };
    let mut departments: Vec<&DepartmentTemplate> = Vec::new();
    for key in &wanted {
        let department = DEPARTMENTS.iter().find(|department| department.key == key);
        if let Some(department) =
            department.filter(|new| !departments.iter().any(|known| known.key == new.key))
        {
            departments.push(department);
        }
    }
    if departments.is_empty() {
        let mut keys: Vec<_> = DEPARTMENTS
            .iter()
            .map(|department| department.key)
            .collect();
        keys.sort_unstable();
        return Err(Error::Refused(format!(
            "No valid departments were given: expected at least one of {}",
            keys.join(", ")
        )));
    }
    Ok(departments)
}

/// Creates the company and trusts its folder.
pub fn bootstrap(company: &Company, params: &Params) -> Result<Response, Error> {
    let mode = params.org_mode.unwrap_or(OrgMode::Enterprise);
    let departments = requested_departments(params, mode)?;
    init::check_usable(company, NonEmpty::from_force(params.force))?;
    let name = params
        .company_name
        .clone()
        .unwrap_or_else(|| text(init::DEFAULT_NAME));
    let staged = company.staged()?;
    let built = (|| {
        init::init_without_home(&staged, &name)?;
        staged.write(|writer| fill(writer, params, mode, &departments, &name))
    })();
    let mut response = match built {
        Ok(response) => response,
        Err(error) => {
            // Report the original error; a leftover staging folder is harmless.
            let _ = fs::remove_dir_all(staged.root());
            return Err(error);
        }
    };
    response.workspace_dir = company.given().to_owned();
    response.backup_relpath = swap(company, &staged)?;
    company.trust()?;
    Ok(response)
}

/// Moves the existing entries into a backup folder and the new company into their place. Returns the relative path of
/// the backup; `None` if there was nothing to back up.
fn swap(company: &Company, staged: &Company) -> Result<Option<String>, Error> {
    let failed = |error| Error::io("moved", company.root(), error);
    files::make_dir(company.root())?;
    let old: Vec<_> = ENTRIES
        .iter()
        .filter(|entry| company.path(entry).exists())
        .collect();
    let backup = if old.is_empty() {
        None
    } else {
        let backup = init::local_backup(company);
        files::make_dir(&company.path(&backup))?;
        for entry in old {
            fs::rename(company.path(entry), company.path(&backup).join(entry)).map_err(failed)?;
        }
        Some(backup)
    };
    for entry in ENTRIES {
        fs::rename(staged.path(entry), company.path(entry)).map_err(failed)?;
    }
    if let Some(ignored) = init::ignored(company) {
        files::replace(&company.path(layout::GITIGNORE), ignored.as_bytes())?;
    }
    files::sync_dir(company.root())?;
    let _ = fs::remove_dir_all(staged.root());
    Ok(backup)
}

fn fill(
    writer: &Writer<'_>,
    params: &Params,
    mode: OrgMode,
    departments: &[&DepartmentTemplate],
    company_name: &str,
) -> Result<Response, Error> {
    let sources = writer.company().sources();
    let create = |name: &str, title: Option<&str>, role, provider: &str, team: Option<&TeamId>| {
        let id: AgentId = sources.id();
        writer.create_agent(&NewAgent {
            id: id.clone(),
            name,
            display_title: title,
            role,
            provider,
            model_hint: None,
            team,
        })?;
        Ok::<_, Error>(id)
    };
    let mut agents = LeadingAgents::default();
    if params.include_ceo.unwrap_or(true) {
        agents.ceo_agent_id = Some(create("CEO", None, AgentRole::Ceo, "manual", None)?);
    }
    match mode {
        OrgMode::Enterprise => {
            let name = params
                .executive_manager_name
                .as_deref()
                .unwrap_or("Executive Manager");
            let title = Some("Executive Manager");
            let id = create(name, title, AgentRole::Manager, "gemini", None)?;
            agents.executive_manager_agent_id = Some(id);
        }
        OrgMode::Standard if params.include_director.unwrap_or(true) => {
            let id = create("Director", None, AgentRole::Director, "codex", None)?;
            agents.director_agent_id = Some(id);
        }
        OrgMode::Standard => {}
    }
    let mut rows = Vec::new();
    for department in departments {
        let DepartmentTemplate {
            label, provider, ..
        } = department;
        let team_id: TeamId = sources.id();
        let team = Team {
            department_key: Text::new(department.key),
            department_label: Text::new(*label),
            charter: Text::new(department.charter),
            ..Team::new(text(&team_id), text(label), writer.now())
        };
        writer.create_team(&team_id, &team)?;
        let director = format!("{label} Director");
        let director = create(
            &director,
            None,
            AgentRole::Director,
            provider,
            Some(&team_id),
        )?;
        let count = params.workers_per_dept.unwrap_or(1);
        let workers = (1..=count).map(|number| {
            let name = match count {
                1 => format!("{label} Worker"),
                _ => format!("{label} Worker {number}"),
            };
            create(&name, None, AgentRole::Worker, provider, Some(&team_id))
        });
        rows.push(DepartmentRow {
            department_key: department.key.to_owned(),
            department_label: (*label).to_owned(),
            director_agent_id: director,
            worker_agent_ids: workers.collect::<Result<_, _>>()?,
            team_id,
        });
    }
    let project_name = params.project_name.as_deref().unwrap_or("AgentCompany Ops");
    let project_id = writer.create_project(project_name)?;
    let ceo = agents
        .ceo_agent_id
        .as_ref()
        .map_or(HUMAN_CEO, AgentId::as_str);
    let executive = agents.executive_manager_agent_id.as_ref();
    writer.ensure_project_defaults(&project_id, ceo, executive)?;
    if let Some(executive) = executive {
        let config = HeartbeatConfig {
            // The heartbeat starts no workers until a person enables it.
            enabled: false,
            hierarchy_mode: HierarchyMode::EnterpriseV1,
            executive_manager_agent_id: Some(text(executive)),
            allow_director_to_spawn_workers: true,
            ..HeartbeatConfig::default()
        };
        writer.put(layout::HEARTBEAT_CONFIG, &config)?;
    }
    let first = &rows[0];
    let (actor_id, actor_role) = match (executive, &agents.director_agent_id) {
        (Some(executive), _) => (executive.clone(), AgentRole::Manager),
        (None, Some(director)) => (director.clone(), AgentRole::Director),
        (None, None) => (first.director_agent_id.clone(), AgentRole::Director),
    };
    Ok(Response {
        workspace_dir: String::new(),
        company_name: company_name.to_owned(),
        default_session: DefaultSession {
            project_id: project_id.clone(),
            actor_id,
            actor_role,
            actor_team_id: Some(first.team_id.clone()),
        },
        project_id,
        org_mode: mode,
        departments: rows,
        agents,
        backup_relpath: None,
    })
}
