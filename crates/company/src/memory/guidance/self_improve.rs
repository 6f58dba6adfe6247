//! Self-improvement: a mistake that is observed often enough leads to a proposed rule, if an evaluation passes. The
//! rule takes effect when the proposal is approved.

use std::collections::BTreeMap;

use protocol::{
    Id as _,
    company::{
        AgentId, DocumentId, MemoryScopeKind, ProjectId, RepoId, RunId, Sensitivity, Text,
        Visibility,
        agent::{
            AgentSelfImproveCycleResponse, SelfImproveEvaluation, SelfImproveProposal,
            SelfImproveStatus,
        },
    },
};
use serde_json::{Value, json};

use crate::{
    Company, Error,
    decisions::{
        memory_delta,
        review::{self, ReviewKey},
    },
    document::{DocumentHead, DocumentKind},
    documents,
    execution::run::{self, CreatedRun},
    folder::intent::WriteSet,
    layout,
    memory::{
        self, NewDelta, Proposed,
        mistake::{self, ObservedMistake},
    },
    org::text,
    policy, secret,
};

/// Parameters of a self-improvement cycle.
#[derive(Clone, Debug)]
pub struct Cycle {
    /// Project of the cycle.
    pub project_id: ProjectId,
    /// The observed mistake.
    pub seen: ObservedMistake,
    /// Number of observations from which on a rule is proposed.
    pub proposal_threshold: u64,
    /// The command that must succeed before a rule is proposed.
    pub evaluation: Evaluation,
}

/// The command that must succeed before a rule is proposed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// Program and arguments; empty for no evaluation.
    pub argv: Vec<String>,
    /// Repository to run in; absent if there is none.
    pub repo_id: Option<RepoId>,
    /// Working folder, relative to the repository; absent for its root.
    pub workdir_rel: Option<Text>,
    /// Environment variables.
    pub env: BTreeMap<String, String>,
    /// Task of the evaluation; absent if there is none.
    pub task_id: Option<Text>,
    /// Milestone of the evaluation; absent if there is none.
    pub milestone_id: Option<Text>,
}

/// Exit status of a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ended {
    /// Exit code; absent if a signal ended the command.
    pub exit_code: Option<i32>,
    /// Signal that ended the command; absent if it exited.
    pub signal: Option<String>,
}

impl Ended {
    fn is_success(&self) -> bool {
        self.exit_code == Some(0) && self.signal.is_none()
    }
}

/// Records the mistake and, if the threshold is reached, runs the evaluation and proposes a rule. `evaluate` executes
/// the command as the given run and records the result in the log of that run.
pub fn self_improve(
    company: &Company,
    cycle: &Cycle,
    evaluate: impl FnOnce(&CreatedRun, &Evaluation) -> Result<Ended, Error>,
) -> Result<AgentSelfImproveCycleResponse, Error> {
    let ObservedMistake {
        worker, manager, ..
    } = &cycle.seen;
    let recorded = mistake::record(company, &cycle.seen)?;
    let key = recorded.key.as_str();
    let answer = |status| AgentSelfImproveCycleResponse {
        status,
        worker_agent_id: worker.clone(),
        project_id: cycle.project_id.clone(),
        mistake_key: key.to_owned(),
        mistake_count: recorded.count,
        proposal_threshold: cycle.proposal_threshold,
        promoted_to_agents_md: false,
        reused: None,
        evaluation: None,
        proposal: None,
    };
    if recorded.count < cycle.proposal_threshold {
        return Ok(answer(SelfImproveStatus::RecordedOnly));
    }
    let is_key = key.len() <= 64
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if !is_key {
        return Err(Error::Refused(format!(
            "`{key}` cannot mark a rule: expected 1 to 64 of the characters A-Z a-z 0-9 . _ -"
        )));
    }
    let mark = format!("<!-- mistake:{key} -->");
    let guidance = company.read_text(&layout::agent_guidance(worker));
    if guidance.is_ok_and(|guidance| guidance.contains(&mark)) {
        return Ok(answer(SelfImproveStatus::AlreadyGuided));
    }
    let reused = |proposal| AgentSelfImproveCycleResponse {
        reused: Some(true),
        proposal: Some(proposal),
        ..answer(SelfImproveStatus::ProposalCreated)
    };
    if let Some(pending) = pending_proposal(company, cycle, &mark)? {
        return Ok(reused(pending));
    }
    let agent = AgentId::parse(&manager.id).map_err(|error| Error::Refused(error.to_string()))?;
    let run = run::create(company, &cycle.project_id, &agent, "self_improve")?;
    let mut evaluation = cycle.evaluation.clone();
    if evaluation.argv.is_empty() {
        let nothing = ["/bin/echo", "no evaluation command was given"];
        evaluation.argv = nothing.map(ToOwned::to_owned).into();
    }
    let ended = evaluate(&run, &evaluation)?;
    let report = EvaluationReport {
        company,
        cycle,
        run: &run,
        argv: &evaluation.argv,
        key,
        count: recorded.count,
        ended: &ended,
        id: company.sources().id(),
    };
    if !ended.is_success() {
        return Ok(AgentSelfImproveCycleResponse {
            evaluation: Some(report.write(None)?),
            ..answer(SelfImproveStatus::EvaluationFailed)
        });
    }
    let rule = one_line(&cycle.seen.prevention_rule);
    let delta = NewDelta {
        id: None,
        project_id: cycle.project_id.clone(),
        title: text(format!("Self-improvement rule for {worker}: {key}")),
        scope_kind: MemoryScopeKind::AgentGuidance,
        scope_ref: Some(text(worker)),
        sensitivity: Sensitivity::Internal,
        rationale: "Promote repeated mistake-prevention guidance into curated agent rules after evaluated repeats."
            .to_owned(),
        under_heading: "## Recurring Mistakes To Avoid".to_owned(),
        insert_lines: vec![text(format!(
            "- {mark} [{key}] {rule} (observed {} repeats; proposed by {})",
            recorded.count, manager.id
        ))],
        visibility: Visibility::Managers,
        produced_by: text(&manager.id),
        run_id: run.run_id.clone(),
        context_pack_id: run.context_pack_id.clone(),
        evidence: [vec![text(&report.id)], cycle.seen.evidence.clone()].concat(),
    };
    // Another cycle may have proposed the same rule while the command was running.
    let proposed = company.write(|writer| match pending_proposal(company, cycle, &mark)? {
        Some(pending) => Ok(Err(pending)),
        None => memory::propose_within(writer, &delta).map(Ok),
    })?;
    let proposed = match proposed {
        Ok(proposed) => proposed,
        Err(pending) => return Ok(reused(pending)),
    };
    Ok(AgentSelfImproveCycleResponse {
        evaluation: Some(report.write(Some(&proposed))?),
        proposal: Some(SelfImproveProposal {
            memory_delta_artifact_id: proposed.artifact_id,
            memory_delta_artifact_relpath: proposed.artifact_relpath,
            memory_delta_patch_relpath: proposed.patch_relpath,
            target_file: proposed.target_file,
        }),
        ..answer(SelfImproveStatus::ProposalCreated)
    })
}

/// The undecided proposal of a rule against this mistake, if there is one.
fn pending_proposal(
    company: &Company,
    cycle: &Cycle,
    mark: &str,
) -> Result<Option<SelfImproveProposal>, Error> {
    let project = &cycle.project_id;
    let decisions = review::latest(company)?;
    for listed in documents::list(company, project, &[DocumentKind::MemoryDelta])? {
        if decisions.contains_key(&ReviewKey::of(project, &listed.id, memory_delta::KIND))
            || !listed.document.body.contains(mark)
        {
            continue;
        }
        let path = layout::document(project, &listed.id);
        let Ok(delta) = memory::Delta::read(company, &path) else {
            continue;
        };
        let is_theirs = delta.scope_kind == MemoryScopeKind::AgentGuidance
            && delta.scope_ref.as_str() == cycle.seen.worker.as_str();
        if is_theirs {
            return Ok(Some(SelfImproveProposal {
                memory_delta_artifact_id: listed.id,
                memory_delta_artifact_relpath: path,
                memory_delta_patch_relpath: delta.head().patch_file.to_string(),
                target_file: delta.head().target_file.to_string(),
            }));
        }
    }
    Ok(None)
}

/// Report on an evaluation, visible to managers.
struct EvaluationReport<'a> {
    company: &'a Company,
    cycle: &'a Cycle,
    run: &'a CreatedRun,
    argv: &'a [String],
    key: &'a str,
    count: u64,
    ended: &'a Ended,
    id: DocumentId,
}

impl EvaluationReport<'_> {
    /// Writes the report and appends events about it and the proposal to the log of the run.
    fn write(&self, proposed: Option<&Proposed>) -> Result<SelfImproveEvaluation, Error> {
        let Self {
            company,
            cycle,
            run,
            key,
            ..
        } = self;
        let (kind, title) = match proposed {
            Some(_) => (
                DocumentKind::ManagerDigest,
                format!("Self-improvement evaluation ({key})"),
            ),
            None => (
                DocumentKind::FailureReport,
                format!("Self-improvement failure ({key})"),
            ),
        };
        let head = DocumentHead {
            schema_version: 1,
            r#type: kind,
            id: text(&self.id),
            created_at: text(company.sources().now_text()),
            title: text(&title),
            visibility: Visibility::Managers,
            produced_by: text(&cycle.seen.manager.id),
            run_id: text(&run.run_id),
            context_pack_id: text(&run.context_pack_id),
        };
        let relpath = layout::document(&cycle.project_id, &self.id);
        let produced = |id: &DocumentId, relpath: &str, kind: DocumentKind| {
            let payload =
                json!({"artifact_id": id, "relpath": relpath, "artifact_type": kind.as_str()});
            self.event("artifact.produced", &payload)
        };
        let mut events = vec![produced(&self.id, &relpath, kind)?];
        let mut payload = json!({
            "mistake_key": key,
            "mistake_count": self.count,
            "proposal_threshold": cycle.proposal_threshold,
            "evaluation_artifact_id": self.id,
        });
        match proposed {
            Some(proposed) => {
                events.push(produced(
                    &proposed.artifact_id,
                    &proposed.artifact_relpath,
                    DocumentKind::MemoryDelta,
                )?);
                payload["status"] = "proposal_created".into();
                payload["memory_delta_artifact_id"] = json!(proposed.artifact_id);
                payload["target_file"] = json!(proposed.target_file);
            }
            None => {
                payload["status"] = "evaluation_failed".into();
                payload["evaluation_exit_code"] = json!(self.ended.exit_code);
                payload["evaluation_signal"] = json!(self.ended.signal);
            }
        }
        events.push(self.event("evaluation.self_improve_cycle", &payload)?);
        let writes = WriteSet {
            files: vec![(
                relpath.clone(),
                documents::print(&head, &self.body(&title, proposed))?,
            )],
            events,
            ..WriteSet::default()
        };
        company.write(|writer| writer.put_all(&writes))?;
        Ok(SelfImproveEvaluation {
            run_id: run.run_id.clone(),
            context_pack_id: run.context_pack_id.clone(),
            evaluation_exit_code: self.ended.exit_code,
            evaluation_signal: self.ended.signal.clone(),
            evaluation_artifact_id: self.id.clone(),
            evaluation_artifact_relpath: relpath,
            evaluation_artifact_type: kind.as_str().to_owned(),
        })
    }

    fn event(
        &self,
        name: &str,
        payload: &Value,
    ) -> Result<(ProjectId, crate::event_log::Event), Error> {
        let run: &RunId = &self.run.run_id;
        let actor = &self.cycle.seen.manager.id;
        let event = policy::managers_event(self.company, run, actor, name, payload)?;
        Ok((self.cycle.project_id.clone(), event))
    }

    fn body(&self, title: &str, proposed: Option<&Proposed>) -> String {
        let ObservedMistake {
            worker,
            manager,
            summary,
            prevention_rule,
            evidence,
            ..
        } = &self.cycle.seen;
        let (key, count, threshold) = (self.key, self.count, self.cycle.proposal_threshold);
        let outcome = match proposed {
            Some(_) => "passed".to_owned(),
            None => {
                let code = self
                    .ended
                    .exit_code
                    .map_or("null".to_owned(), |code| code.to_string());
                let signal = self.ended.signal.as_deref().unwrap_or("null");
                format!("failed (exit_code={code}, signal={signal})")
            }
        };
        let (manager, run) = (&manager.id, &self.run.run_id);
        let (summary, rule) = (one_line(summary), one_line(prevention_rule));
        let argv = one_line(&self.argv.join(" "));
        let (argv, _) = secret::redact(&argv);
        let delta = proposed.map_or("(none)".to_owned(), |proposed| {
            format!("`{}`", proposed.artifact_id)
        });
        let evidence = match evidence.as_slice() {
            [] => " (none)".to_owned(),
            some => some.iter().map(|one| format!("\n  - `{one}`")).collect(),
        };
        let end = match proposed {
            Some(_) => {
                "## Risks\n\n- Ensure manager review approves the pending memory delta before apply.\n"
            }
            None => {
                "## Cause\n\n- Evaluation command did not pass quality gates.\n\n\
                 ## Next Steps\n\n- Inspect run outputs and fix failing checks before proposing changes.\n"
            }
        };
        format!(
            "# {title}\n\n## Summary\n\n- worker_agent_id: `{worker}`\n- manager_actor_id: `{manager}`\n\
             - mistake_key: `{key}`\n- mistake_count: {count} (threshold={threshold})\n\
             - evaluation: {outcome}\n- run_id: `{run}`\n\n\
             ## Decisions\n\n- summary: {summary}\n- prevention_rule: {rule}\n- evaluation_argv: `{argv}`\n\
             - proposed_memory_delta_artifact_id: {delta}\n- evidence:{evidence}\n\n{end}"
        )
    }
}

/// Joins a text to one line, because a rule is one list item.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
