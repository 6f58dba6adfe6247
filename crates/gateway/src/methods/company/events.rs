//! Handlers of `events.*`.

use company::events::follow::Filter;
use protocol::company::{Asking, events::*, workspace::CompanyOkResponse};
use rpc::{Failure, FailureKind, Router};

use super::{asking, failure, known};
use crate::{
    Context,
    blocking::blocking,
    company_events::{Acknowledged, NotSubscribed, SubscriptionRequest},
};

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<EventsSubscribe>(subscribe)
        .on::<EventsUnsubscribe>(unsubscribe)
        .on::<EventsAck>(ack);
}

async fn subscribe(
    ctx: Context,
    params: EventsSubscribeParams,
) -> Result<EventsSubscribeResponse, Failure> {
    let text = |text: Option<protocol::company::Text>| text.map(String::from);
    let id = text(params.subscription_id).unwrap_or_else(|| ctx.new_subscription_id());
    let actor = asking(
        &ctx,
        Asking {
            actor_id: params.actor_id,
            actor_role: params.actor_role,
            actor_team_id: params.actor_team_id,
        },
    );
    let mut filter = Filter {
        project_id: text(params.project_id),
        run_id: text(params.run_id),
        event_types: params
            .event_types
            .into_iter()
            .flatten()
            .map(String::from)
            .collect(),
        actor,
    };
    let peer = ctx.peer();
    let (events, caller) = (peer.services.company_events.clone(), ctx.clone());
    let (connection, outbox) = (peer.connection, peer.outbox().clone());
    let runtime = tokio::runtime::Handle::current();
    let begun = blocking(move || {
        let _inside = runtime.enter();
        let folder = match params.workspace_dir {
            Some(workspace_dir) => {
                let company = caller.folder_at(&workspace_dir);
                company.check_is_company().map_err(NotSubscribed::Folder)?;
                Some(company)
            }
            None => None,
        };
        if let Some(folder) = &folder {
            let actor = known(folder, filter.actor.take());
            filter.actor = actor.map_err(NotSubscribed::Folder)?;
        }
        let request = SubscriptionRequest {
            id,
            folder,
            filter,
            backfill_limit: params.backfill_limit.map(|limit| limit as usize),
            after_event_id: params.after_event_id.map(String::from),
            max_unacked: params.max_unacked.map(|most| most as usize),
        };
        events.subscribe(connection, outbox, request)
    });
    let subscription = begun.await?.map_err(|error| match error {
        NotSubscribed::TooMany => Failure::state(
            FailureKind::Refused,
            "the connection has too many subscriptions: expected at most 256",
        ),
        NotSubscribed::Folder(error) => failure(&error),
    })?;
    let subscription_id = subscription.id().to_owned();
    ctx.start_subscription(subscription);
    Ok(EventsSubscribeResponse { subscription_id })
}

async fn unsubscribe(
    ctx: Context,
    params: EventsUnsubscribeParams,
) -> Result<EventsUnsubscribeResponse, Failure> {
    let peer = ctx.peer();
    let removed = peer
        .services
        .company_events
        .unsubscribe(peer.connection, &params.subscription_id);
    Ok(EventsUnsubscribeResponse { removed })
}

async fn ack(ctx: Context, params: EventsAckParams) -> Result<CompanyOkResponse, Failure> {
    let peer = ctx.peer();
    let EventsAckParams {
        subscription_id,
        last_ack_ts_monotonic_ms,
        last_event_id,
    } = params;
    let acknowledged = match (&last_event_id, last_ack_ts_monotonic_ms) {
        (Some(last), _) => Acknowledged::UpToEvent(last),
        (None, Some(last)) => Acknowledged::UpToTime(last),
        (None, None) => Acknowledged::All,
    };
    let events = &peer.services.company_events;
    if events.ack(peer.connection, &subscription_id, acknowledged) {
        Ok(CompanyOkResponse { ok: true })
    } else {
        Err(Failure::state(
            FailureKind::NotFound,
            format!("Unknown subscription_id: {subscription_id}"),
        ))
    }
}
