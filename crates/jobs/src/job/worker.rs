//! Selects the agent of a job and applies the command line template of its document.

use std::sync::Arc;

use company::{Company, Error, document::Agent, format::collation, org};
use protocol::company::{
    AgentRole, PermissionLevel, Text, WorkerKind,
    job::JobSpec,
    session::{CompanySessionLaunchParams, CompanySessionPermission},
};
use serde_json::Value;

/// Selects the agent of a job: the named one, or else the first by name that fits the worker kind. `None` if no agent
/// fits.
pub(crate) fn choose(company: &Company, job: &JobSpec) -> Result<Option<Arc<Agent>>, Error> {
    let agents = by_name(company)?;
    let fits = |agent: &Agent| agent.provider.starts_with(job.worker_kind.as_str());
    Ok(match &job.worker_agent_id {
        Some(id) => agents
            .into_iter()
            .find(|agent| *agent.id == *id.as_str() && fits(agent)),
        None => agents.into_iter().find(|agent| works(agent) && fits(agent)),
    })
}

/// Selects the agent that reformats an answer: a Codex worker, or else a Claude worker, or else the author.
pub(crate) fn formatter(company: &Company, author: &Arc<Agent>) -> Result<Arc<Agent>, Error> {
    let agents = by_name(company)?;
    let first = |kind: WorkerKind| {
        agents
            .iter()
            .find(|agent| works(agent) && agent.provider.starts_with(kind.as_str()))
    };
    let found = first(WorkerKind::Codex).or_else(|| first(WorkerKind::Claude));
    Ok(Arc::clone(found.unwrap_or(author)))
}

/// Worker kind of an agent's provider; `codex` for unknown providers.
pub(crate) fn kind(agent: &Agent) -> WorkerKind {
    if agent.provider.starts_with("claude") {
        WorkerKind::Claude
    } else if agent.provider.starts_with("gemini") {
        WorkerKind::Gemini
    } else {
        WorkerKind::Codex
    }
}

fn works(agent: &Agent) -> bool {
    matches!(agent.role, AgentRole::Worker | AgentRole::Manager)
}

fn by_name(company: &Company) -> Result<Vec<Arc<Agent>>, Error> {
    let mut agents = org::agents(company)?;
    agents.sort_by(|left, right| collation::compare(&left.name, &right.name));
    Ok(agents)
}

/// `allowed_tools` of an agent's launcher; empty if it has none.
pub(crate) fn allowed_tools(agent: &Agent) -> Vec<String> {
    let tools = agent
        .launcher
        .as_ref()
        .and_then(|launcher| launcher.get("allowed_tools"));
    let tools = tools.and_then(Value::as_array).into_iter().flatten();
    tools
        .filter_map(Value::as_str)
        .map(ToOwned::to_owned)
        .collect()
}

/// Fills the command line template of an agent, if it has one. Shells are rejected, because they would execute their
/// arguments as programs.
pub(crate) fn template(
    agent: &Agent,
    prompt: &str,
    model: Option<&str>,
    permission: &str,
) -> Result<Option<Template>, String> {
    const SHELLS: [&str; 7] = ["sh", "bash", "zsh", "fish", "cmd", "powershell", "pwsh"];
    let written = agent
        .launcher
        .as_ref()
        .and_then(|launcher| launcher.get("command_argv_template"))
        .and_then(Value::as_array);
    let Some(written) = written.filter(|items| !items.is_empty()) else {
        return Ok(None);
    };
    let items: Option<Vec<&str>> = written.iter().map(Value::as_str).collect();
    let Some(items) = items else {
        return Err("command_argv_template is not a list of strings".to_owned());
    };
    if items.iter().any(|item| item.contains(['\n', '\r'])) {
        return Err("command_argv_template has an item with a line break".to_owned());
    }
    let base = items[0].rsplit('/').next().unwrap_or_default();
    if SHELLS.contains(&base) {
        return Err(format!("command_argv_template starts a shell (`{base}`)"));
    }
    let takes_prompt = items.iter().any(|item| item.contains("{PROMPT}"));
    let argv = items
        .iter()
        .map(|item| {
            item.replace("{MODEL}", model.unwrap_or_default())
                .replace("{PERMISSION_LEVEL}", permission)
                .replace("{OUTPUT_FORMAT}", "json")
                .replace("{PROMPT}", prompt)
        })
        .collect();
    Ok(Some(Template { argv, takes_prompt }))
}

/// Sets the prompt and the permission level of a launch, using the agent's command line template if it has one. Returns
/// whether it has one.
pub(crate) fn set_prompt(
    params: &mut CompanySessionLaunchParams,
    agent: &Agent,
    prompt: String,
    permission: PermissionLevel,
) -> Result<bool, Error> {
    params.permission_level = Some(match permission {
        PermissionLevel::ReadOnly => CompanySessionPermission::ReadOnly,
        PermissionLevel::Patch => CompanySessionPermission::Patch,
        PermissionLevel::RunCommands => CompanySessionPermission::RunCommands,
    });
    let template = template(agent, &prompt, params.model.as_deref(), permission.as_str());
    let Some(template) = template.map_err(Error::Refused)? else {
        params.prompt_text = Some(prompt);
        return Ok(false);
    };
    let argv: Option<Vec<Text>> = template.argv.into_iter().map(Text::new).collect();
    params.argv = Some(
        argv.ok_or_else(|| Error::Refused("command_argv_template has an empty item".to_owned()))?,
    );
    params.stdin_text = (!template.takes_prompt).then_some(prompt);
    Ok(true)
}

/// A filled command line template of an agent.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) argv: Vec<String>,
    /// Whether the prompt is part of the arguments; otherwise it is written to standard input.
    pub(crate) takes_prompt: bool,
}
