//! Stores a context plan with the run it was made for, together with its hash.

use protocol::company::{ContextPackId, RunId, context::ContextPlanForJobResponse};
use serde::Serialize;
use serde_json::{Value, json};

use super::Job;
use crate::{
    Company, Error,
    folder::intent::{WriteSet, sha256},
    layout, policy,
};

/// Location and hash of a stored plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PersistedPlan {
    /// Path of the plan, relative to the company folder.
    pub context_plan_relpath: String,
    /// SHA-256 of the file in hexadecimal.
    pub context_plan_hash: String,
}

/// Writes a plan into the context pack of a run and appends a `context.plan.generated` event with the given session to
/// the log of the run.
pub fn persist(
    company: &Company,
    job: &Job,
    run: &RunId,
    pack: &ContextPackId,
    session_ref: &str,
    plan: &ContextPlanForJobResponse,
) -> Result<PersistedPlan, Error> {
    // The field order determines the order in the file.
    #[derive(Serialize)]
    struct File<'a> {
        schema_version: u32,
        r#type: &'static str,
        generated_at: &'a str,
        run_id: &'a RunId,
        context_pack_id: &'a ContextPackId,
        project_id: &'a protocol::company::ProjectId,
        #[serde(skip_serializing_if = "Option::is_none")]
        worker_agent_id: Option<&'a protocol::company::AgentId>,
        manager_actor_id: &'a str,
        manager_role: &'static str,
        scope: Value,
        result: Value,
    }
    let file = File {
        schema_version: 1,
        r#type: "context_plan",
        generated_at: &plan.generated_at,
        run_id: run,
        context_pack_id: pack,
        project_id: &job.project_id,
        worker_agent_id: job.worker.as_ref(),
        manager_actor_id: &job.manager.id,
        manager_role: job.manager.role.as_str(),
        scope: json!({
            "goal": job.goal,
            "job_kind": job.kind,
            "max_refs": plan.max_refs,
            "scope_kind": plan.scope_kind,
            "scope_ref": plan.scope_ref,
        }),
        result: json!({
            "context_refs": plan.context_refs,
            "layers_used": plan.layers_used,
            "retrieval_trace": plan.retrieval_trace,
            "filtered_by_policy_count": plan.filtered_by_policy_count,
            "filtered_by_sensitivity_count": plan.filtered_by_sensitivity_count,
            "filtered_by_secret_count": plan.filtered_by_secret_count,
        }),
    };
    let text = serde_json::to_string_pretty(&file)
        .map_err(|error| Error::Refused(format!("the plan cannot be written: {error}")))?
        + "\n";
    let relpath = format!(
        "{}/bundle/context_plan.json",
        layout::context_pack(&job.project_id, pack)
    );
    let hash = sha256(text.as_bytes());
    let payload = json!({
        "context_pack_id": pack,
        "context_plan_relpath": relpath,
        "context_plan_hash": hash,
        "layers_used": plan.layers_used,
        "context_ref_count": plan.context_refs.len(),
        "filtered_by_policy_count": plan.filtered_by_policy_count,
        "filtered_by_sensitivity_count": plan.filtered_by_sensitivity_count,
        "filtered_by_secret_count": plan.filtered_by_secret_count,
    });
    let name = "context.plan.generated";
    let mut event = policy::managers_event(company, run, &job.manager.id, name, &payload)?;
    event.session_ref = session_ref.to_owned();
    event.correlation_id = Some(session_ref.to_owned());
    company.write(|writer| {
        writer.put_all(&WriteSet {
            files: vec![(relpath.clone(), text)],
            events: vec![(job.project_id.clone(), event)],
            ..WriteSet::default()
        })
    })?;
    Ok(PersistedPlan {
        context_plan_relpath: relpath,
        context_plan_hash: hash,
    })
}
