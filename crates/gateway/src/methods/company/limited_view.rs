//! Visibility of sessions and jobs: a caller may see those of the runs it may see.

use company::{Company, document::Run, layout, policy, policy::Actor};
use protocol::{
    Id as _,
    company::{Asking, ProjectId, RunId, Text},
};
use rpc::Failure;

use super::{asking, blocking, known};
use crate::Context;

/// A caller with limited visibility and the company folder it reads.
pub(super) struct LimitedView {
    company: Company,
    actor: Actor,
}

impl LimitedView {
    /// Returns the limited view of the caller, or `None` if the caller may see everything.
    pub(super) async fn of(
        ctx: &Context,
        workspace_dir: Option<&Text>,
        claimed: Asking,
    ) -> Result<Option<Self>, Failure> {
        let Some(actor) = asking(ctx, claimed) else {
            return Ok(None);
        };
        let Some(workspace_dir) = workspace_dir.cloned() else {
            return Err(Failure::param(
                "/workspace_dir",
                "expected the company folder, because visibility differs between company folders",
            ));
        };
        let caller = ctx.clone();
        blocking(move || {
            let company = caller.folder_at(&workspace_dir);
            let actor = known(&company, Some(actor))?;
            Ok(actor.map(|actor| Self { company, actor }))
        })
        .await
    }
}

/// Removes the rows that the caller may not see. `agent` returns the agent that a row belongs to.
pub(super) async fn visible<T: Send + 'static>(
    limited_view: Option<LimitedView>,
    mut rows: Vec<T>,
    agent: impl Fn(&Company, &T) -> Option<String> + Send + 'static,
) -> Result<Vec<T>, Failure> {
    let Some(LimitedView { company, actor }) = limited_view else {
        return Ok(rows);
    };
    blocking(move || {
        let mut sees = policy::run_viewer(&company, Some(&actor));
        rows.retain(|row| sees(agent(&company, row).as_deref()));
        Ok(rows)
    })
    .await
}

/// Rejects an item that the caller may not see.
pub(super) async fn check_visible(
    limited_view: Option<LimitedView>,
    id: String,
    agent: impl FnOnce(&Company) -> Option<String> + Send + 'static,
) -> Result<(), Failure> {
    let Some(LimitedView { company, actor }) = limited_view else {
        return Ok(());
    };
    blocking(move || {
        let decision = policy::see_run(&company, &actor, agent(&company).as_deref());
        if decision.allowed {
            return Ok(());
        }
        Err(company::Error::Denied {
            action: policy::Action::Read.as_str(),
            rule_id: decision.rule_id,
            reason: decision.reason,
            actor_id: actor.id,
            resource_id: id,
        })
    })
    .await
}

/// Returns the agent of a run, or `None` if its document cannot be read.
pub(super) fn agent_of_run(company: &Company, project: &str, run: &str) -> Option<String> {
    let (project, run) = (ProjectId::parse(project).ok()?, RunId::parse(run).ok()?);
    let path = format!("{}/run.yaml", layout::run(&project, &run));
    let run = company.read::<Run>(&path).ok()?;
    Some(run.agent_id.to_string())
}
