//! Handlers of `desktop.*`.

use company::{
    conversation::{self, ConversationScope},
    org,
    pm::{self, overview::ProjectsOverview},
};
use protocol::company::{
    Asking, CompanyScope, Text, desktop::*, pm::PmRecommendAllocationsParams, ui::UiSnapshotParams,
};
use rpc::{Failure, FailureKind, Router};

use super::{asking, inbox, indexed, known, live, live_runs, pm as pm_methods, scope};
use crate::{Context, linking};

/// The number of messages in the snapshot of a conversation.
const MESSAGES: usize = 3000;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<DesktopBootstrapSnapshot>(bootstrap_snapshot);
}

async fn bootstrap_snapshot(
    ctx: Context,
    params: DesktopBootstrapSnapshotParams,
) -> Result<DesktopBootstrapSnapshotResponse, Failure> {
    let scope = scope(params.scope, params.project_id.clone())?;
    if params.view == DesktopView::Conversation && params.conversation_id.is_none() {
        return Err(Failure::usage(
            FailureKind::MissingConversationId,
            "conversation_id is required when view=conversation",
        ));
    }
    let recommendations = match (&scope, params.view) {
        (ConversationScope::Project(project), DesktopView::Home) => {
            let wanted = PmRecommendAllocationsParams {
                workspace_dir: params.workspace_dir.clone(),
                project_id: project.clone(),
            };
            pm_methods::recommend_allocations(ctx.clone(), wanted)
                .await?
                .recommendations
        }
        (ConversationScope::Project(_) | ConversationScope::Workspace, _) => Vec::new(),
    };
    let asking = asking(
        &ctx,
        Asking {
            actor_id: Some(params.actor_id.clone()),
            ..Asking::default()
        },
    );
    let live = live(&ctx, &params.workspace_dir).await?;
    let worker = super::index::worker_status(&ctx, ctx.index_worker().status());
    // Only the activities view reads the index, so that the first page of a folder is available before its index is
    // built.
    let (mut found, dir) = indexed(
        &ctx,
        params.workspace_dir.clone(),
        move |indexes, company| {
            let actor = known(company, asking)?;
            let actor = actor.as_ref();
            let standings =
                ProjectsOverview::read(company, &live_runs(&live))?.shown_to(company, actor);
            let project = match &scope {
                ConversationScope::Workspace => None,
                ConversationScope::Project(project) => Some(project),
            };
            let project_text = project.and_then(|project| Text::new(project.as_str()));
            let resources = standings.resources(company, project.map(|id| id.as_str()))?;
            let resources_summary = resources.totals.clone();
            let mut activity_summary = ActivitySummary::default();
            let view_data = match params.view {
                DesktopView::Home => DesktopViewData::Home(Box::new(DesktopHome {
                    workspace_home: standings.home(),
                    pm: pm::snapshot(&standings, project),
                    resources,
                    recommendations: recommendations
                        .into_iter()
                        .map(|recommendation| DesktopRecommendation {
                            reason: recommendation.rationale.clone(),
                            recommendation,
                        })
                        .collect(),
                })),
                DesktopView::Activities => {
                    let wanted = UiSnapshotParams {
                        workspace_dir: params.workspace_dir.clone(),
                        project_id: project_text,
                        monitor_limit: None,
                        pending_limit: None,
                        decisions_limit: None,
                        refresh_index: None,
                        sync_index: None,
                        actor_id: None,
                        actor_role: None,
                        actor_team_id: None,
                    };
                    let ui = indexes.ui(company, &wanted, &live, actor, &worker)?;
                    activity_summary = ActivitySummary {
                        pending_reviews: ui.review_inbox.pending.len() as u64,
                        recent_decisions: ui.review_inbox.recent_decisions.len() as u64,
                        monitor_rows: ui.monitor.rows.len() as u64,
                    };
                    DesktopViewData::Activities { ui: Box::new(ui) }
                }
                DesktopView::Resources => DesktopViewData::Resources { resources },
                DesktopView::Conversation => {
                    let messages = match &params.conversation_id {
                        Some(id) => {
                            conversation::messages(company, &scope, id, MESSAGES, None, actor)?
                        }
                        None => Vec::new(),
                    };
                    DesktopViewData::Conversation { messages }
                }
            };
            let found = DesktopBootstrapSnapshotResponse {
                workspace_dir: company.given().to_owned(),
                actor_id: params.actor_id.into(),
                scope: params.scope,
                project_id: project.cloned(),
                view: params.view,
                conversation_id: params.conversation_id,
                projects: standings.rows(),
                agents: org::list_agents(company, None, None)?,
                teams: org::list_teams(company)?,
                conversations: conversation::list(company, &scope, actor)?,
                view_data,
                resources_summary,
                activity_summary,
                pm_summary: standings.portfolio().summary,
                sync_ts: company.sources().now_text(),
            };
            Ok((found, linking::dir(company)))
        },
    )
    .await?;
    if let DesktopViewData::Activities { ui } = &mut found.view_data {
        let project = params
            .project_id
            .as_ref()
            .filter(|_| params.scope == CompanyScope::Project)
            .and_then(|project| Text::new(project.as_str()));
        ui.review_inbox.agents_doc_proposals =
            inbox::proposals(&ctx, &dir, project.as_ref()).await?;
    }
    Ok(found)
}
