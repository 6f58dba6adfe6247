//! Explains what a launch would do, without doing it: the checks, the queue, the instructions and the command.

use std::{sync::Arc, time::Duration};

use company::{document::Run, policy::Actor};
use drivers::{Driver, command, redaction::redacted};
use protocol::company::{
    RunStatus,
    session::{
        CompanySessionCommand, CompanySessionExplanation, CompanySessionInstruction,
        CompanySessionLaunchParams, CompanySessionLaunchResponse, CompanySessionLaunchState,
        CompanySessionPolicy,
    },
};

use super::{
    Sessions,
    preflight::{applies_guard, check_program, decide},
};
use crate::{
    Error, blocking::blocking, budget, guard::ProgramCheck, instruction_file, plan::Plan, program,
    session, working_folder::WorkingFolder,
};

impl Sessions {
    pub(super) async fn explain(
        &self,
        params: &CompanySessionLaunchParams,
        plan: &Arc<Plan>,
        run: &Arc<Run>,
        actor: &Actor,
    ) -> Result<CompanySessionLaunchResponse, Error> {
        let decision = decide(plan, actor);
        let mut refusal = None;
        let mut refuse = |reason: String| {
            refusal.get_or_insert(reason);
        };
        let busy = {
            let (inner, plan, run) = (Arc::clone(&self.inner), Arc::clone(plan), Arc::clone(run));
            blocking(move || Ok(inner.busy(&plan, &run))).await?
        };
        if let Some(other) = busy {
            refuse(Error::AlreadyRunning(other).to_string());
        }
        if run.status != RunStatus::Running {
            refuse(session::not_running(run.status));
        }
        if !decision.allowed {
            refuse(format!(
                "Policy denied launch: {} ({})",
                decision.rule_id, decision.reason
            ));
        } else if applies_guard(params, plan)
            && let ProgramCheck::Failed { message, .. } = check_program(plan).await
        {
            refuse(message);
        }
        let instructions = match plan.instructions().await {
            Ok(instructions) => instructions,
            Err(error) => {
                refuse(error);
                None
            }
        };
        let file = instructions
            .as_ref()
            .and_then(|instructions| instructions.file.clone());
        let (checks, command) = {
            let (inner, plan) = (Arc::clone(&self.inner), plan.clone());
            blocking(move || {
                let checks = inner.budget_checks_but(&plan, None)?;
                let command = plan.working_folder().and_then(|folder| {
                    let cwd = match (&folder, folder.existing(&plan.company)) {
                        (WorkingFolder::Scratch(scratch), _) => scratch.clone(),
                        (_, Some(base)) => plan.workdir(base)?,
                        (_, None) => plan.company.root().to_owned(),
                    };
                    // A file of the checkout would also be in a new worktree, and is never overwritten.
                    let is_taken = folder.existing(&plan.company).is_some_and(|base| {
                        base.join(instruction_file::file_name(&plan.driver))
                            .exists()
                    });
                    Ok((
                        folder,
                        plan.command(&cwd, instructions.as_ref()),
                        cwd,
                        is_taken,
                    ))
                });
                Ok((checks, command))
            })
            .await?
        };
        if budget::is_exceeded(&checks) {
            refuse(budget::refusal(&checks));
        }
        let (instructions, command) = match command {
            Err(error) => {
                refuse(error);
                (Vec::new(), None)
            }
            Ok((folder, command, cwd, is_taken)) => {
                let secrets = plan.secrets(&command.environment);
                let argv = command.line.argv.iter();
                let argv: Vec<_> = argv.map(|argument| redacted(argument, &secrets)).collect();
                if let Some(error) = command::refusal(&argv) {
                    refuse(error.to_owned());
                }
                if let Some(program) = not_installed(plan, &argv).await {
                    refuse(program::not_installed(&program));
                }
                let worktree = folder.worktree();
                let mut instructions = command.instructions;
                instructions.extend(file.map(|file| CompanySessionInstruction {
                    path: file.name,
                    delivery: if worktree.is_some() && !is_taken {
                        "prompt_and_file".to_owned()
                    } else {
                        "prompt".to_owned()
                    },
                }));
                let cwd = match worktree {
                    Some(worktree) => plan.company.path(&worktree.relpath),
                    None => cwd,
                };
                let millis =
                    |length: Duration| u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
                let shown = CompanySessionCommand {
                    driver: plan.driver.as_str().to_owned(),
                    argv,
                    cwd: cwd.display().to_string(),
                    env: command.environment.keys().cloned().collect(),
                    stdin_chars: command
                        .line
                        .stdin
                        .as_ref()
                        .map_or(0, |text| text.chars().count() as u64),
                    worktree_relpath: worktree.map(|worktree| worktree.relpath.clone()),
                    worktree_branch: worktree.map(|worktree| worktree.branch.clone()),
                    stop_signal: plan.driver.stop_signal().as_str().to_owned(),
                    timeout_ms: millis(plan.timeout),
                    idle_timeout_ms: millis(plan.idle_timeout),
                };
                (instructions, Some(shown))
            }
        };
        let explanation = CompanySessionExplanation {
            would_launch: refusal.is_none(),
            refusal,
            policy: CompanySessionPolicy {
                allowed: decision.allowed,
                rule_id: decision.rule_id.to_owned(),
                reason: decision.reason.to_owned(),
            },
            lane: self.inner.lane_for(plan, params, actor.role),
            budget: checks.iter().map(budget::Check::row).collect(),
            instructions,
            command,
        };
        Ok(CompanySessionLaunchResponse {
            session_ref: plan.session_ref.clone(),
            state: CompanySessionLaunchState::Explained,
            queue_position: None,
            queue_reason: None,
            error: None,
            explain: Some(Box::new(explanation)),
            warnings: plan.warnings.clone(),
        })
    }
}

/// Returns the worker program of a command line if it is not installed on this machine. Plain commands are not checked,
/// because the system resolves them from the working directory.
async fn not_installed(plan: &Plan, argv: &[String]) -> Option<String> {
    let program = argv.first()?.clone();
    if plan.driver == Driver::Command {
        return None;
    }
    let looked = blocking(move || {
        let is_there = program::executable(&program).is_some();
        Ok((!is_there).then_some(program))
    });
    looked.await.ok().flatten()
}
