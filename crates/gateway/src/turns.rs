//! Assembles the turn loop of a gateway: its hooks, its providers and its notifications.

use std::{future::Future, pin::Pin, sync::Arc};

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
use sources::Sources;

use crate::{
    attachments::TurnAttachments,
    notify::{Notifier, thread_topic},
    providers::Providers,
    rows,
    watch::Watch,
};

/// Builds the turn loop.
pub(crate) fn agent(
    store: &CrudStore,
    sources: &Sources,
    providers: Arc<Providers>,
    listener: TurnNotifications,
    attachments: TurnAttachments,
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
        listener: Arc::new(listener),
        attachments: Arc::new(attachments),
        now_ms,
        new_id: Arc::new(move |prefix| format!("{prefix}{}", ids.suffix())),
        owner,
    };
    Agent::new(store.clone(), options)
}

/// Notifies clients of the progress of turns.
pub(crate) struct TurnNotifications {
    pub(crate) notifier: Notifier,
    pub(crate) watch: Arc<Watch>,
}

impl TurnListener for TurnNotifications {
    fn notify(&self, notice: TurnNotice) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            for publication in publications(&self.watch, notice) {
                self.notifier.publish(&publication).await;
            }
        })
    }
}

fn publications(watch: &Watch, notice: TurnNotice) -> Vec<Publication> {
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
            watch.told_tree(workspace_id.as_str(), tree_version);
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
