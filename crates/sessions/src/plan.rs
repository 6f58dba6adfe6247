//! A validated launch request, and the folder, command line and environment derived from it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use company::{
    Company,
    document::{Agent, Machine, Run, RunSpec, Team},
    layout,
};
use drivers::{
    CommandLine, CommandRequest, Driver, Outcome, Reader,
    environment::{self, EnvironmentRequest, MARK},
};
use protocol::{
    Id as _,
    company::{
        AgentId, JobId, MilestoneId, ProjectId, RepoId, RunId, TaskId, TeamId, Text,
        session::{
            CompanySessionInstruction, CompanySessionLaunchParams, CompanySessionMode,
            CompanySessionPermission,
        },
    },
};
use serde_json::Value;

use crate::{
    Options,
    budget::Budgets,
    gateway_environment, guard,
    instructions::{InstructionsSource, WorkerDescription, WorkerInstructions, WorkerOver},
    names,
    record::SessionRecord,
    run_log::RunLog,
    threads,
    working_folder::{InPlace, WorkingFolder},
    worktree::{self, Worktree},
};

/// A validated launch request.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) company: Company,
    pub(crate) project: ProjectId,
    pub(crate) run: RunId,
    pub(crate) session_ref: String,
    pub(crate) agent: String,
    pub(crate) team: Option<String>,
    /// Name of the team; its id if it has no document.
    pub(crate) team_name: Option<String>,
    pub(crate) provider: String,
    pub(crate) context_pack: String,
    pub(crate) machine: Option<Arc<Machine>>,
    pub(crate) driver: Driver,
    pub(crate) mode: CompanySessionMode,
    pub(crate) argv: Vec<String>,
    pub(crate) repo: Option<RepoId>,
    pub(crate) workdir: Option<String>,
    pub(crate) task: Option<TaskId>,
    pub(crate) milestone: Option<MilestoneId>,
    pub(crate) prompt: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) stdin: Option<String>,
    pub(crate) budgets: Budgets,
    pub(crate) environment_request: EnvironmentRequest,
    pub(crate) permission: CompanySessionPermission,
    pub(crate) timeout: Duration,
    pub(crate) idle_timeout: Duration,
    /// `timeout_ms` and `idle_timeout_ms` of the request; absent where the defaults apply.
    pub(crate) limits: (Option<u64>, Option<u64>),
    /// Whether budgets are enforced while the session runs; if absent, they are if its output is recognised.
    pub(crate) live_budget: Option<bool>,
    /// Present if a person requested that the worker runs in the repository or the company folder itself.
    pub(crate) in_place: Option<InPlace>,
    /// Additional settings of a job.
    pub(crate) extra: Extra,
    /// Provides the instructions that precede a worker's prompt.
    pub(crate) instructions_source: InstructionsSource,
    /// Secrets of the gateway itself, which are redacted from output.
    gateway_secrets: Vec<String>,
    /// Warnings about an unknown agent or provider of the run.
    pub(crate) warnings: Vec<String>,
}

/// Settings that a job adds to a launch; they cannot be set on the wire.
#[derive(Clone, Debug, Default)]
pub struct Extra {
    /// Whether the command line runs a worker program because an agent's template produced it.
    pub is_worker: bool,
    /// Whether the session only returns a text and is never resumed.
    pub is_one_shot: bool,
    /// JSON schema of the answer, for programs that accept one.
    pub schema: Option<Value>,
    /// Tools that the agent may use, for programs that accept such a list.
    pub allowed_tools: Vec<String>,
    /// The job that launches the session.
    pub job: Option<JobId>,
    /// The instructions, if the prompt already contains them.
    pub instructions: Option<WorkerInstructions>,
}

/// The command of a session, with its environment and instruction files.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) line: CommandLine,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) instructions: Vec<CompanySessionInstruction>,
}

impl Plan {
    pub(crate) fn new(
        company: Company,
        params: &CompanySessionLaunchParams,
        run: &Run,
        options: &Options,
        in_place: Option<InPlace>,
        extra: Extra,
    ) -> Self {
        let agent: Option<Arc<Agent>> = AgentId::parse(&run.agent_id).ok().and_then(|id| {
            company
                .read(&format!("{}/agent.yaml", layout::agent(&id)))
                .ok()
        });
        let team = agent
            .and_then(|agent| agent.team_id.clone())
            .filter(|team| !team.is_empty());
        let team_name = team.as_ref().map(|id| {
            let named = TeamId::parse(id).ok().and_then(|id| {
                let path = format!("{}/team.yaml", layout::team(&id));
                company.read::<Team>(&path).ok()
            });
            named.map_or_else(|| id.clone(), |team| team.name.to_string())
        });
        let machine = company::execution::machine::read(&company).ok();
        let argv: Vec<String> = params
            .argv
            .iter()
            .flatten()
            .map(ToString::to_string)
            .collect();
        let by_provider = Driver::of_provider(&run.provider, &options.drivers);
        let driver = match (&by_provider, argv.first()) {
            (Driver::CodexAppServer, _) => by_provider,
            // The program determines the output format more reliably than the provider name.
            (_, Some(program)) => Driver::of_program(program).unwrap_or(by_provider),
            (_, None) => by_provider,
        };
        let mode = match driver {
            Driver::CodexAppServer => CompanySessionMode::CodexAppServer,
            Driver::Command
            | Driver::Codex
            | Driver::Claude
            | Driver::Gemini
            | Driver::Declared(..) => CompanySessionMode::Command,
        };
        let text = |text: &Option<Text>| text.as_ref().map(ToString::to_string);
        let duration = |requested: Option<u64>, default: Duration| {
            requested.map_or(default, Duration::from_millis)
        };
        Self {
            session_ref: text(&params.session_ref)
                .unwrap_or_else(|| format!("local_{}", params.run_id)),
            project: params.project_id.clone(),
            run: params.run_id.clone(),
            agent: run.agent_id.to_string(),
            team,
            team_name,
            provider: run.provider.to_string(),
            context_pack: run.context_pack_id.to_string(),
            machine,
            driver,
            mode,
            argv,
            repo: params.repo_id.clone(),
            workdir: text(&params.workdir_rel),
            task: params.task_id.clone(),
            milestone: params.milestone_id.clone(),
            prompt: params.prompt_text.clone(),
            model: text(&params.model),
            stdin: params.stdin_text.clone(),
            budgets: Budgets::of(
                &company,
                &params.project_id,
                params.budget.clone(),
                params.task_id.as_ref(),
            ),
            environment_request: EnvironmentRequest {
                set: params.env.clone().unwrap_or_default(),
                passthrough: params
                    .env_passthrough
                    .iter()
                    .flatten()
                    .map(ToString::to_string)
                    .collect(),
                allowed: options.environment.clone(),
                inherit: params.inherit_env.unwrap_or(false),
            },
            permission: params.permission_level.unwrap_or_default(),
            timeout: duration(params.timeout_ms, options.timeout),
            idle_timeout: duration(params.idle_timeout_ms, options.idle_timeout),
            limits: (params.timeout_ms, params.idle_timeout_ms),
            live_budget: params.budget_enforcement.map(|when| {
                when == protocol::company::session::CompanySessionBudgetEnforcement::Live
            }),
            in_place,
            extra,
            instructions_source: options.instructions_source.clone(),
            gateway_secrets: options.secrets.values(),
            warnings: [
                names::agent_warning(&company, &run.agent_id),
                drivers::provider_warning(&run.provider, &options.drivers),
            ]
            .into_iter()
            .flatten()
            .collect(),
            company,
        }
    }

    /// The log of the run, for events of this session.
    pub(crate) fn run_log(&self) -> RunLog {
        RunLog {
            company: self.company.clone(),
            project: self.project.clone(),
            run: self.run.clone(),
            session_ref: self.session_ref.clone(),
        }
    }

    /// Path of the run's folder, relative to the company folder.
    pub(crate) fn run_folder(&self) -> String {
        layout::run(&self.project, &self.run)
    }

    /// Path of an output file of the run, relative to the company folder and to the project folder.
    pub(crate) fn output(&self, name: &str) -> (String, String) {
        let relpath = format!("runs/{}/outputs/{name}", self.run);
        (
            format!("{}/{relpath}", layout::project(&self.project)),
            relpath,
        )
    }

    /// The program that a driver-built command line starts: from `provider_bins` of the machine, or else its usual
    /// name.
    pub(crate) fn bin(&self) -> String {
        let bins = self.machine.as_ref().map(|machine| &machine.provider_bins);
        let names: &[&str] = match &self.driver {
            Driver::CodexAppServer => &["codex_app_server", "codex"],
            Driver::Codex => &["codex_cli", "codex"],
            Driver::Claude => &["claude_cli", "claude_code", "claude"],
            Driver::Gemini => &["gemini_cli", "gemini"],
            Driver::Command | Driver::Declared(..) => &[],
        };
        let own = bins.and_then(|bins| bins.get(&self.provider));
        let own = own.filter(|_| !names.is_empty());
        let found = own.or_else(|| names.iter().find_map(|name| bins?.get(*name)));
        found.cloned().unwrap_or_else(|| match &self.driver {
            Driver::CodexAppServer => "codex".to_owned(),
            Driver::Command
            | Driver::Codex
            | Driver::Claude
            | Driver::Gemini
            | Driver::Declared(..) => self.driver.as_str().to_owned(),
        })
    }

    /// The program that is started and that the guard checks.
    pub(crate) fn program(&self) -> String {
        match self.argv.first() {
            Some(program) => program.clone(),
            None => self.bin(),
        }
    }

    /// Environment of the worker. `own` are the variables that the driver needs.
    pub(crate) fn environment(&self, own: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut own = own.clone();
        own.insert(MARK.to_owned(), self.mark_value());
        let policy = guard::policy(self.machine.as_deref(), &self.provider);
        gateway_environment::environment(
            &self.environment_request,
            &self.driver,
            policy.as_ref().map(|(_, policy)| policy),
            &own,
        )
    }

    /// The environment variable by which processes of the session are found, as `NAME=value`.
    pub(crate) fn mark(&self) -> String {
        format!("{MARK}={}", self.mark_value())
    }

    fn mark_value(&self) -> String {
        self.company.path(&self.run_folder()).display().to_string()
    }

    /// Whether this session runs a worker program instead of a plain command of the caller.
    fn is_worker(&self) -> bool {
        match (&self.driver, self.argv.first()) {
            (Driver::CodexAppServer, _) => true,
            (_, Some(program)) => self.extra.is_worker || Driver::of_program(program).is_some(),
            (driver, None) => *driver != Driver::Command,
        }
    }

    /// Whether a worker program may write. Only command lines built by a built-in driver pass the permission level as a
    /// flag that the program enforces. A command line of the caller, an agent's template or a declared driver may write
    /// regardless of the permission level.
    fn may_write(&self) -> bool {
        let is_enforced = match self.driver {
            Driver::Codex | Driver::CodexAppServer | Driver::Claude | Driver::Gemini => {
                self.argv.is_empty()
            }
            Driver::Command | Driver::Declared(..) => false,
        };
        !is_enforced || self.permission != CompanySessionPermission::ReadOnly
    }

    /// Determines where the session runs. Creates nothing.
    pub(crate) fn working_folder(&self) -> Result<WorkingFolder, String> {
        let Some(repo_id) = &self.repo else {
            return Ok(if self.is_worker() && self.in_place.is_none() {
                let scratch = format!("{}/work", self.run_folder());
                WorkingFolder::Scratch(self.company.path(&scratch))
            } else {
                WorkingFolder::Company
            });
        };
        let roots = self.machine.as_ref().map(|machine| &machine.repo_roots);
        let Some(root) = roots.and_then(|roots| roots.get(repo_id.as_str())) else {
            let known: Vec<_> = roots
                .into_iter()
                .flat_map(BTreeMap::keys)
                .map(String::as_str)
                .collect();
            let known = if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            };
            return Err(format!("Unknown repo_id: {repo_id}. Known repos: {known}"));
        };
        let repo = PathBuf::from(root);
        let requirement = match &self.task {
            Some(task) => {
                worktree::requirement(&self.company, &self.project, task, self.milestone.as_ref())?
            }
            None => worktree::Requirement::None,
        };
        let is_isolated = match (requirement, &self.in_place) {
            (worktree::Requirement::Explicit, Some(_)) => {
                let task = self.task.as_ref().map_or("", TaskId::as_str);
                return Err(format!(
                    "task `{task}` requires a worktree, so `in_place` is not possible"
                ));
            }
            (worktree::Requirement::Explicit | worktree::Requirement::Implied, None) => true,
            (worktree::Requirement::Implied | worktree::Requirement::None, Some(_)) => false,
            (worktree::Requirement::None, None) => self.is_worker() && self.may_write(),
        };
        Ok(if is_isolated {
            let worktree = Worktree::of(&self.project, self.task.as_ref(), &self.run);
            WorkingFolder::Worktree { repo, worktree }
        } else {
            WorkingFolder::Checkout(repo)
        })
    }

    /// Path of the file with the schema of the answer.
    pub(crate) fn schema_path(&self) -> PathBuf {
        self.company.path(&self.output("result_schema.json").0)
    }

    /// Resolves the working directory, which must be inside of `base`, the repository or its worktree.
    pub(crate) fn workdir(&self, base: &Path) -> Result<PathBuf, String> {
        let folder = match (&self.workdir, &self.repo) {
            (Some(workdir), Some(_)) => {
                let is_plain = Path::new(workdir)
                    .components()
                    .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
                if !is_plain {
                    return Err(format!("workdir_rel `{workdir}` leaves the repository"));
                }
                base.join(workdir)
            }
            (Some(_) | None, _) => base.to_owned(),
        };
        let (real, real_base) = match (folder.canonicalize(), base.canonicalize()) {
            (Ok(real), Ok(base)) if real.is_dir() => (real, base),
            _ => {
                return Err(format!(
                    "working directory is not a directory: {}",
                    folder.display()
                ));
            }
        };
        if real.starts_with(&real_base) {
            Ok(folder)
        } else {
            Err("workdir_rel resolves to a folder outside of the repository".to_owned())
        }
    }

    /// Returns the parser for the program's output.
    pub(crate) fn reader(&self) -> Reader {
        let totals = || threads::known(&self.company);
        self.driver.continuing_reader(&self.argv, totals)
    }

    /// Values that are redacted from output: the secrets of the environment and those of the gateway.
    pub(crate) fn secrets(&self, environment: &BTreeMap<String, String>) -> Vec<String> {
        let mut secrets = environment::secrets(environment);
        secrets.extend(self.gateway_secrets.iter().cloned());
        secrets
    }

    /// The prompt: the task, preceded by the instructions.
    pub(crate) fn asked(&self, instructions: Option<&WorkerInstructions>) -> String {
        let task = self.task_text().unwrap_or_default();
        match instructions {
            Some(instructions) if !task.trim().is_empty() => instructions.prepend_to(task),
            Some(_) | None => task.to_owned(),
        }
    }

    fn task_text(&self) -> Option<&str> {
        self.prompt.as_deref().or(self.stdin.as_deref())
    }

    /// Whether a driver builds the command line from a prompt, so that instructions precede the prompt.
    fn needs_instructions(&self) -> bool {
        let makes_line = self.argv.is_empty() && self.driver != Driver::Command;
        let has_task = self.task_text().is_some_and(|task| !task.trim().is_empty());
        makes_line && has_task
    }

    /// Describes the worker to the source of instructions.
    pub(crate) fn worker(&self) -> WorkerDescription {
        WorkerDescription {
            company: self.company.clone(),
            project: self.project.clone(),
            run: self.run.clone(),
            job: self.extra.job.clone(),
            agent: self.agent.clone(),
            driver: self.driver.as_str().to_owned(),
            model: self.model.clone(),
            task: self.task_text().unwrap_or_default().to_owned(),
        }
    }

    /// Requests the instructions of the worker; `None` if it needs none or the prompt already contains them.
    pub(crate) async fn instructions(&self) -> Result<Option<WorkerInstructions>, String> {
        if self.extra.instructions.is_none() && self.needs_instructions() {
            self.instructions_source
                .instructions_for(self.worker())
                .await
        } else {
            Ok(None)
        }
    }

    /// Notifies the source of instructions that the worker has ended.
    pub(crate) async fn over(&self, record: &SessionRecord, outcome: Option<&Outcome>) {
        let over = WorkerOver {
            worker: self.worker(),
            had_instructions: self.extra.instructions.is_some() || self.needs_instructions(),
            status: record.status,
            error: record.error.clone(),
            text: outcome.and_then(|outcome| outcome.text.clone()),
        };
        self.instructions_source.over(over).await;
    }

    /// Secrets of the gateway itself, in every form in which they may be printed.
    pub(crate) fn gateway_secrets(&self) -> &[String] {
        &self.gateway_secrets
    }

    /// Builds the command to run in a folder.
    pub(crate) fn command(&self, cwd: &Path, instructions: Option<&WorkerInstructions>) -> Command {
        let files = instruction_files(cwd);
        let makes_line = self.argv.is_empty();
        let delivery = match (&self.driver, makes_line) {
            (Driver::Codex | Driver::CodexAppServer, _) => Some("read_by_worker"),
            (Driver::Claude, true) => Some("system_prompt_file"),
            (Driver::Gemini, true) => Some("prompt"),
            (Driver::Declared(_, driver), true) => driver
                .argv
                .iter()
                .any(|argument| argument.contains("{INSTRUCTIONS}"))
                .then_some("argument"),
            (Driver::Claude | Driver::Gemini | Driver::Declared(..) | Driver::Command, _) => None,
        };
        let nearest = files.last();
        let shown = match (delivery, &self.driver) {
            (None, _) => Vec::new(),
            (Some(delivery), Driver::Codex | Driver::CodexAppServer) => files
                .iter()
                .map(|path| instruction(path, delivery))
                .collect(),
            (Some(delivery), _) => nearest
                .map(|path| instruction(path, delivery))
                .into_iter()
                .collect(),
        };
        let request = CommandRequest {
            bin: self.bin(),
            prompt: self.asked(instructions),
            model: self.model.clone(),
            permission: self.permission,
            instructions: nearest.map(|path| path.display().to_string()),
            instructions_text: match self.driver {
                Driver::Gemini => nearest.and_then(|path| read_instructions(path)),
                Driver::Command
                | Driver::Codex
                | Driver::CodexAppServer
                | Driver::Claude
                | Driver::Declared(..) => None,
            },
            last_message: self
                .company
                .path(&self.output("last_message.md").0)
                .display()
                .to_string(),
            schema: self
                .extra
                .schema
                .as_ref()
                .map(|schema| (schema.to_string(), self.schema_path().display().to_string())),
            allowed_tools: self.extra.allowed_tools.clone(),
            keeps_session: !self.extra.is_one_shot,
        };
        let made = if makes_line && !request.prompt.trim().is_empty() {
            self.driver.command_line(&request)
        } else {
            None
        };
        let line = match (&self.driver, made) {
            (Driver::CodexAppServer, _) => CommandLine {
                argv: vec![self.bin(), "app-server".to_owned()],
                ..CommandLine::default()
            },
            (_, Some(line)) => line,
            (_, None) => CommandLine {
                argv: self.argv.clone(),
                stdin: self.stdin.clone(),
                ..CommandLine::default()
            },
        };
        let mut own = line.env.clone();
        if let Some((variable, _)) = &line.settings {
            own.insert(variable.clone(), self.settings_path().display().to_string());
        }
        Command {
            environment: self.environment(&own),
            line,
            instructions: shown,
        }
    }

    /// Path of the worker's settings file.
    pub(crate) fn settings_path(&self) -> PathBuf {
        self.company
            .path(&format!("{}/settings.json", self.run_folder()))
    }

    /// The spec for `run.yaml`. Values of environment variables are omitted.
    pub(crate) fn spec(
        &self,
        argv: &[String],
        worktree: Option<&Worktree>,
        stdin: Option<&str>,
    ) -> RunSpec {
        let text = |value: Option<&str>| value.and_then(Text::new);
        let repo_id = text(self.repo.as_ref().map(RepoId::as_str));
        let workdir_rel = text(self.workdir.as_deref());
        let task_id = text(self.task.as_ref().map(TaskId::as_str));
        let milestone_id = text(self.milestone.as_ref().map(MilestoneId::as_str));
        let worktree_relpath = text(worktree.map(|worktree| worktree.relpath.as_str()));
        let worktree_branch = text(worktree.map(|worktree| worktree.branch.as_str()));
        let budget = self.budgets.run().cloned();
        match self.mode {
            CompanySessionMode::Command => RunSpec::Command {
                argv: argv.to_vec(),
                repo_id,
                workdir_rel,
                task_id,
                milestone_id,
                worktree_relpath,
                worktree_branch,
                budget,
                env: (!self.environment_request.set.is_empty()).then(|| {
                    let names = self.environment_request.set.keys();
                    names
                        .map(|name| (name.clone(), "[set]".to_owned()))
                        .collect()
                }),
                stdin_relpath: text(stdin),
            },
            CompanySessionMode::CodexAppServer => RunSpec::CodexAppServer {
                prompt_relpath: Text::new(self.output("prompt.txt").1)
                    .expect("a path is not empty"),
                model: text(self.model.as_deref()),
                repo_id,
                workdir_rel,
                task_id,
                milestone_id,
                worktree_relpath,
                worktree_branch,
                budget,
                thread_id: None,
                turn_id: None,
            },
        }
    }

    /// Payload of the event `run.executing`.
    pub(crate) fn executing(
        &self,
        argv: &[String],
        worktree: Option<&Worktree>,
        stdin: Option<&str>,
    ) -> Value {
        let repo = self.repo.as_ref().map(RepoId::as_str);
        let (task, milestone) = (&self.task, &self.milestone);
        if self.mode == CompanySessionMode::CodexAppServer {
            return serde_json::json!({
                "mode": "codex_app_server",
                "provider_bin": self.bin(),
                "prompt_relpath": self.output("prompt.txt").1,
                "model": self.model,
                "repo_id": repo,
                "workdir_rel": self.workdir,
                "task_id": task,
                "milestone_id": milestone,
            });
        }
        let mut payload = serde_json::json!({"argv": argv});
        if let Some(repo) = repo {
            payload["repo_id"] = repo.into();
        }
        if let Some(workdir) = &self.workdir {
            payload["workdir_rel"] = workdir.as_str().into();
        }
        payload["task_id"] = serde_json::json!(task);
        payload["milestone_id"] = serde_json::json!(milestone);
        payload["worktree_relpath"] = serde_json::json!(worktree.map(|worktree| &worktree.relpath));
        payload["worktree_branch"] = serde_json::json!(worktree.map(|worktree| &worktree.branch));
        payload["stdin_relpath"] = serde_json::json!(stdin);
        payload
    }
}

fn instruction(path: &Path, delivery: &str) -> CompanySessionInstruction {
    CompanySessionInstruction {
        path: path.display().to_string(),
        delivery: delivery.to_owned(),
    }
}

/// Returns the `AGENTS.md` files from the root of the repository down to a folder.
fn instruction_files(cwd: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut in_repository = false;
    for folder in cwd.ancestors() {
        let file = folder.join("AGENTS.md");
        if file.is_file() {
            found.push(file);
        }
        if folder.join(".git").exists() {
            in_repository = true;
            break;
        }
    }
    found.reverse();
    if !in_repository {
        // Outside of a repository only the file of the folder itself applies.
        found.retain(|file| file.parent() == Some(cwd));
    }
    found
}

#[allow(
    clippy::disallowed_methods,
    reason = "a file of the worker's repository, not of the company folder"
)]
fn read_instructions(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}
