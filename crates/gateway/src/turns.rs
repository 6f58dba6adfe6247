//! Assembles the turn loop of a gateway: its hooks, its providers and its notifications.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Weak},
};

use agent::{Agent, AgentOptions, HookRuns, TurnListener, TurnNotice};
use crud::CrudStore;
use hooks::Runtime;
use protocol::{
    WorkspaceId,
    thread::{ThreadTreeChangedNotification, ThreadUpdatedNotification},
    turn::{
        TurnCompletedNotification, TurnFailedNotification, TurnStartedNotification, TurnStatus,
    },
};
use rpc::{Audience, Publication};

use crate::{
    Gateway, Sources, artifacts::attachments::TurnAttachments, notify, peer::thread_topic,
    providers::Providers, rows,
};

/// Builds the turn loop. The listener holds a weak reference because the gateway is still under construction.
pub(crate) fn agent(
    gateway: Weak<Gateway>,
    store: &CrudStore,
    sources: &Sources,
    providers: Arc<Providers>,
    owner: String,
) -> Agent {
    let clock = Arc::clone(&sources.clock);
    let now_ms: Arc<dyn Fn() -> i64 + Send + Sync> = Arc::new(move || clock.now_ms());
    let ids = Arc::clone(&sources.ids);
    let hook_ids = Arc::clone(&ids);
    let hooks = Runtime::builder(
        Arc::new(HookRuns(store.clone())),
        Arc::clone(&now_ms),
        Arc::new(move || format!("hkr_{}", hook_ids.suffix())),
    )
    .install(prompt::agents_doc::package(store.clone()))
    .expect("the built-in packages fit together")
    .build();
    let options = AgentOptions {
        hooks,
        providers: Arc::new(move |id| {
            let providers = Arc::clone(&providers);
            // The first provider that uses the network reads certificates from disk, which blocks.
            Box::pin(async move {
                let found = tokio::task::spawn_blocking(move || providers.get(&id)).await;
                found.ok().flatten()
            })
        }),
        listener: Arc::new(Listener(gateway.clone())),
        attachments: Arc::new(TurnAttachments::new(gateway)),
        now_ms,
        new_id: Arc::new(move |prefix| format!("{prefix}{}", ids.suffix())),
        owner,
    };
    Agent::new(store.clone(), options)
}

struct Listener(Weak<Gateway>);

impl TurnListener for Listener {
    fn notify(&self, notice: TurnNotice) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            let Some(gateway) = self.0.upgrade() else {
                return;
            };
            for publication in publications(&gateway, notice) {
                notify::publish(&gateway, &publication).await;
            }
        })
    }
}

fn publications(gateway: &Gateway, notice: TurnNotice) -> Vec<Publication> {
    let to_thread = |publication: Publication, thread: &protocol::ThreadId| {
        publication.to(Audience::Topic(thread_topic(thread)))
    };
    match notice {
        TurnNotice::Started {
            workspace_id,
            thread_id,
            turn,
        } => {
            let payload = TurnStartedNotification {
                workspace_id,
                thread_id,
                turn,
            };
            vec![to_thread(
                Publication::new(payload.workspace_id.as_str(), &payload),
                &payload.thread_id,
            )]
        }
        TurnNotice::ItemStarted(payload) => {
            vec![to_thread(
                Publication::new(payload.workspace_id.as_str(), &payload),
                &payload.thread_id,
            )]
        }
        TurnNotice::Delta(payload) => {
            // `item/completed` carries the whole text, so deltas may be dropped for a slow client.
            let publication = Publication::new(payload.workspace_id.as_str(), &payload).droppable();
            vec![to_thread(publication, &payload.thread_id)]
        }
        TurnNotice::ItemCompleted(payload) => {
            vec![to_thread(
                Publication::new(payload.workspace_id.as_str(), &payload),
                &payload.thread_id,
            )]
        }
        TurnNotice::Ended {
            workspace_id,
            thread_id,
            turn,
        } => {
            let stream = workspace_id.as_str().to_owned();
            let topic = thread_id.clone();
            let publication = match turn.status {
                TurnStatus::Completed | TurnStatus::InProgress => Publication::new(
                    stream,
                    &TurnCompletedNotification {
                        workspace_id,
                        thread_id,
                        turn: *turn,
                    },
                ),
                TurnStatus::Failed | TurnStatus::Interrupted => Publication::new(
                    stream,
                    &TurnFailedNotification {
                        workspace_id,
                        thread_id,
                        turn: *turn,
                    },
                ),
            };
            vec![to_thread(publication, &topic)]
        }
        TurnNotice::Titled {
            thread,
            tree_version,
        } => {
            // Rows that cannot be converted were already reported when they were read.
            let Ok(thread) = rows::thread(*thread) else {
                return Vec::new();
            };
            let workspace_id: WorkspaceId = thread.workspace_id.clone();
            gateway.watch.told_tree(workspace_id.as_str(), tree_version);
            let updated = ThreadUpdatedNotification {
                thread,
                placement: None,
            };
            let changed = ThreadTreeChangedNotification {
                workspace_id: workspace_id.clone(),
                reason: Some("thread/updated".to_owned()),
                tree_version: Some(tree_version),
            };
            vec![
                to_thread(
                    Publication::new(workspace_id.as_str(), &updated),
                    &updated.thread.id,
                ),
                Publication::new(workspace_id.as_str(), &changed).coalesced(),
            ]
        }
    }
}
