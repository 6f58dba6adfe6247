//! The subscriptions to the events of company folders.
//!
//! Events are stored in files, so nothing is queued in memory: each subscription stores its position in each log and
//! continues to read when it is notified that the log has grown. A slow client delays no other client and loses no
//! event. Events of other processes are detected by watching the subscribed folders. File system watches are only
//! hints, so the lengths of the logs are also compared periodically.

mod watch;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use company::{
    Companies, Company, conversation,
    events::follow::{self, Filter, FoundEvent, LogFileId, LogLocation},
    policy::Actor,
};
use index::SyncWorker;
use protocol::company::{
    conversation::{Conversation, ConversationMessage, ConversationNotification},
    events::EventsNotification,
};
use rpc::{ConnectionId, Outbox, Waiting};
use serde_json::value::RawValue;
use tokio::sync::Notify;

use self::watch::FolderWatch;
use sources::Sources;

/// The event type that represents conversation messages.
const MESSAGE: &str = "conversation.message";
/// The maximum number of subscriptions per connection.
const MAX_SUBSCRIPTIONS: usize = 256;

/// All subscriptions of this process.
#[derive(Debug)]
pub(crate) struct CompanyEvents {
    subscriptions: Mutex<BTreeMap<(ConnectionId, String), Arc<Subscription>>>,
    watch: FolderWatch,
}

/// One subscription: its filter and its positions in the logs.
#[derive(Debug)]
struct Subscription {
    id: String,
    connection: ConnectionId,
    /// The canonical path of the company folder and the path given by the client. `None` subscribes to all folders.
    folder: Option<(PathBuf, String)>,
    filter: Filter,
    outbox: Arc<Outbox>,
    max_unacked: Option<usize>,
    reading: Mutex<Reading>,
    wake: Notify,
    is_over: AtomicBool,
}

#[derive(Debug, Default)]
struct Reading {
    /// The current position in each log.
    positions: BTreeMap<PathBuf, LogPosition>,
    /// Logs that have grown, with the offset to start at if the log has not been read yet.
    grown: BTreeMap<PathBuf, u64>,
    /// Events that were sent and not yet acknowledged. Used only with `max_unacked`.
    unacked: VecDeque<SentEvent>,
}

/// An event that was sent and awaits its acknowledgement.
#[derive(Debug)]
struct SentEvent {
    event_id: String,
    /// Its `ts_monotonic_ms`; 0 if the event has none, so that every acknowledged time covers it.
    ts_monotonic_ms: u64,
}

/// The sent events that a client acknowledges.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Acknowledged<'a> {
    /// Every event sent so far.
    All,
    /// Every event up to and including this event id, in sending order.
    UpToEvent(&'a str),
    /// Every event whose `ts_monotonic_ms` is at most this value.
    UpToTime(u64),
}

#[derive(Clone, Copy, Debug)]
struct LogPosition {
    offset: u64,
    /// The file that the offset refers to; `None` until the log is read.
    file: Option<LogFileId>,
    /// The number of lines before the offset; `None` until the log is read.
    lines: Option<u64>,
}

/// A prepared subscription. It starts after the client has received its id.
#[derive(Debug)]
pub(crate) struct CompanySubscription {
    subscription: Arc<Subscription>,
    outbox: Arc<Outbox>,
    backfill: Vec<FoundEvent>,
}

/// The parameters of [`CompanyEvents::subscribe`].
#[derive(Debug)]
pub(crate) struct SubscriptionRequest {
    pub(crate) id: String,
    pub(crate) folder: Option<Company>,
    pub(crate) filter: Filter,
    pub(crate) backfill_limit: Option<usize>,
    pub(crate) after_event_id: Option<String>,
    pub(crate) max_unacked: Option<usize>,
}

/// Why a subscription was rejected.
#[derive(Debug)]
pub(crate) enum NotSubscribed {
    TooMany,
    Folder(company::Error),
}

impl CompanyEvents {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new_cyclic(|events| Self {
            subscriptions: Mutex::default(),
            watch: FolderWatch::new(Weak::clone(events)),
        })
    }

    /// Creates the company folder factory of this process and connects it to the subscriptions and the index worker.
    pub(crate) fn companies(
        self: &Arc<Self>,
        sources: &Sources,
        trust: company::Trust,
        index_worker: &Arc<SyncWorker>,
    ) -> Companies {
        let clock = Arc::clone(&sources.clock);
        let events = Arc::downgrade(self);
        let index_worker = Arc::downgrade(index_worker);
        let sources = company::Sources::new(Arc::new(move || clock.now_ms()));
        Companies::new(
            sources,
            trust,
            Arc::new(move |path, offset| {
                if let Some(events) = events.upgrade() {
                    events.grown(path, offset);
                }
                let log = follow::log_location(path);
                if let (Some(worker), Some(log)) = (index_worker.upgrade(), log) {
                    worker.notify(&log.root);
                }
            }),
        )
    }

    /// Registers a subscription and reads its backfill. Sends nothing before [`CompanySubscription::run`]. Blocks.
    pub(crate) fn subscribe(
        self: &Arc<Self>,
        connection: ConnectionId,
        outbox: Arc<Outbox>,
        request: SubscriptionRequest,
    ) -> Result<CompanySubscription, NotSubscribed> {
        let SubscriptionRequest {
            id, folder, filter, ..
        } = request;
        let subscription = Arc::new(Subscription {
            id: id.clone(),
            connection,
            folder: folder
                .as_ref()
                .map(|folder| (folder.root().to_owned(), folder.given().to_owned())),
            filter,
            outbox: Arc::clone(&outbox),
            max_unacked: request.max_unacked,
            reading: Mutex::default(),
            wake: Notify::new(),
            is_over: AtomicBool::new(false),
        });
        {
            let mut subscriptions = self.subscriptions();
            let key = (connection, id);
            let count = subscriptions
                .keys()
                .filter(|(owner, _)| *owner == connection)
                .count();
            if count >= MAX_SUBSCRIPTIONS && !subscriptions.contains_key(&key) {
                return Err(NotSubscribed::TooMany);
            }
            // Registers before reading the ends of the logs, so that no event is missed in between.
            if let Some(replaced) = subscriptions.insert(key, Arc::clone(&subscription)) {
                replaced.end();
            }
        }
        let mut backfill = Vec::new();
        if let Some(folder) = &folder {
            self.watch.add(folder.root());
            let prepared = subscription.prepare(
                folder,
                request.backfill_limit,
                request.after_event_id.as_deref(),
            );
            match prepared {
                Ok(found) => backfill = found,
                Err(error) => {
                    self.unsubscribe(connection, &subscription.id);
                    return Err(NotSubscribed::Folder(error));
                }
            }
        }
        Ok(CompanySubscription {
            subscription,
            outbox,
            backfill,
        })
    }

    /// Sends a conversation message to the subscriptions that request messages and may see the conversation.
    pub(crate) fn message_sent(
        &self,
        company: &Company,
        conversation: &Conversation,
        message: &ConversationMessage,
    ) {
        let subscriptions: Vec<_> = self.subscriptions().values().cloned().collect();
        for subscription in subscriptions {
            let Filter {
                project_id,
                event_types,
                actor,
                ..
            } = &subscription.filter;
            let folder = subscription.folder.as_ref();
            let is_wanted = event_types.iter().any(|wanted| wanted == MESSAGE)
                && folder.is_none_or(|(root, _)| root == company.root())
                && (project_id.is_none() || project_id.as_deref() == message.project_id.as_deref());
            let may_see = |actor: &Actor| conversation::may_see(actor, conversation);
            if !is_wanted || !actor.as_ref().is_none_or(may_see) {
                continue;
            }
            let told = ConversationNotification {
                subscription_id: subscription.id.clone(),
                workspace_dir: folder
                    .map_or(company.given(), |(_, given)| given)
                    .to_owned(),
                conversation: conversation.clone(),
                message: message.clone(),
            };
            let text = rpc::notification(&told);
            subscription.outbox.notify(&text, &Waiting::Kept);
        }
    }

    /// Ends a subscription. Returns whether it existed.
    pub(crate) fn unsubscribe(&self, connection: ConnectionId, id: &str) -> bool {
        let removed = self.subscriptions().remove(&(connection, id.to_owned()));
        if let Some(subscription) = &removed {
            subscription.end();
        }
        self.watch.keep_only(&self.folders());
        removed.is_some()
    }

    /// Records the events that a client has processed. Returns whether the subscription exists.
    pub(crate) fn ack(
        &self,
        connection: ConnectionId,
        id: &str,
        acknowledged: Acknowledged<'_>,
    ) -> bool {
        let key = (connection, id.to_owned());
        let Some(subscription) = self.subscriptions().get(&key).cloned() else {
            return false;
        };
        {
            let mut reading = subscription.reading();
            let unacked = &mut reading.unacked;
            match acknowledged {
                Acknowledged::All => unacked.clear(),
                Acknowledged::UpToEvent(last) => {
                    let position = unacked.iter().position(|sent| sent.event_id == last);
                    unacked.drain(..position.map_or(0, |position| position + 1));
                }
                // Each process counts this time from its own start, so it is not monotonic along the queue.
                Acknowledged::UpToTime(last) => unacked.retain(|sent| sent.ts_monotonic_ms > last),
            }
        }
        subscription.wake.notify_one();
        true
    }

    /// Ends all subscriptions of a connection.
    pub(crate) fn left(&self, connection: ConnectionId) {
        let mut subscriptions = self.subscriptions();
        subscriptions.retain(|(owner, _), subscription| {
            let stays = *owner != connection;
            if !stays {
                subscription.end();
            }
            stays
        });
        drop(subscriptions);
        self.watch.keep_only(&self.folders());
    }

    /// Wakes the subscriptions of a log that has new events from `offset` on.
    fn grown(&self, path: &Path, offset: u64) {
        let subscriptions = self.subscriptions();
        if subscriptions.is_empty() {
            return;
        }
        let Some(log) = follow::log_location(path) else {
            return;
        };
        for subscription in subscriptions.values() {
            subscription.grown(path, &log, offset);
        }
    }

    fn folders(&self) -> BTreeSet<PathBuf> {
        let subscriptions = self.subscriptions();
        let folders = subscriptions
            .values()
            .filter_map(|subscription| subscription.folder.as_ref());
        folders.map(|(root, _)| root.clone()).collect()
    }

    fn subscriptions(&self) -> MutexGuard<'_, BTreeMap<(ConnectionId, String), Arc<Subscription>>> {
        self.subscriptions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl SentEvent {
    /// Returns `None` for an event without an id, which a client cannot acknowledge.
    fn new(event_id: Option<String>, ts_monotonic_ms: Option<u64>) -> Option<Self> {
        event_id.map(|event_id| Self {
            event_id,
            ts_monotonic_ms: ts_monotonic_ms.unwrap_or(0),
        })
    }
}

impl Subscription {
    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    fn grown(&self, path: &Path, log: &LogLocation, offset: u64) {
        let is_of_folder = self
            .folder
            .as_ref()
            .is_none_or(|(root, _)| *root == log.root);
        if is_of_folder && self.filter.wants_log(log) {
            self.reading()
                .grown
                .entry(path.to_owned())
                .or_insert(offset);
            self.wake.notify_one();
        }
    }

    /// Records the current ends of the logs and returns the newest events before them.
    fn prepare(
        &self,
        folder: &Company,
        limit: Option<usize>,
        after: Option<&str>,
    ) -> Result<Vec<FoundEvent>, company::Error> {
        let ends = follow::logs(folder, &self.filter)?;
        {
            let mut reading = self.reading();
            for (path, (offset, file)) in &ends {
                let position = LogPosition {
                    offset: *offset,
                    file: Some(*file),
                    lines: None,
                };
                reading.positions.insert(path.clone(), position);
            }
        }
        let limit = match (limit, after) {
            (Some(limit), _) => limit,
            (None, Some(_)) => usize::MAX,
            (None, None) => return Ok(Vec::new()),
        };
        let mut found = follow::newest(&ends, &self.filter, limit)?;
        if let Some(after) = after {
            let position = found
                .iter()
                .position(|event| event.event_id.as_deref() == Some(after));
            found.drain(..position.map_or(0, |position| position + 1));
        }
        Ok(found)
    }

    /// Sends one event. Waits while the client has too many unacknowledged events or a full queue.
    async fn send(
        &self,
        outbox: &Outbox,
        path: &Path,
        seq: u64,
        line: String,
        sent: Option<SentEvent>,
    ) {
        if let Some(most) = self.max_unacked {
            while self.reading().unacked.len() >= most && !self.is_over.load(Ordering::Relaxed) {
                self.wake.notified().await;
            }
            self.reading().unacked.extend(sent);
        }
        let Ok(event) = RawValue::from_string(line) else {
            return;
        };
        let (root, project_id) = match follow::log_location(path) {
            Some(log) => (log.root.display().to_string(), Some(log.project_id)),
            None => (String::new(), None),
        };
        let payload = EventsNotification {
            subscription_id: self.id.clone(),
            project_id,
            event,
            seq: Some(seq),
            workspace_dir: Some(
                self.folder
                    .as_ref()
                    .map_or(root, |(_, given)| given.clone()),
            ),
        };
        outbox.stream(rpc::notification(&payload)).await;
    }
}

impl CompanySubscription {
    /// Returns the subscription id.
    pub(crate) fn id(&self) -> &str {
        &self.subscription.id
    }

    /// Sends the backfill and then new events until the subscription ends.
    pub(crate) fn run(self) {
        tokio::spawn(async move {
            let Self {
                subscription,
                outbox,
                backfill,
            } = self;
            for found in backfill {
                let FoundEvent {
                    path,
                    seq,
                    line,
                    event_id,
                    ts_monotonic_ms,
                    ..
                } = found;
                let sent = SentEvent::new(event_id, ts_monotonic_ms);
                subscription.send(&outbox, &path, seq, line, sent).await;
            }
            while !subscription.is_over.load(Ordering::Relaxed) {
                let next = subscription.reading().grown.pop_first();
                match next {
                    Some((path, offset)) => read_on(&subscription, &outbox, path, offset).await,
                    None => subscription.wake.notified().await,
                }
            }
            tracing::trace!(connection = ?subscription.connection, id = subscription.id, "a subscription ended");
        });
    }
}

/// Sends the events after the current position in a log.
async fn read_on(subscription: &Arc<Subscription>, outbox: &Outbox, path: PathBuf, begin: u64) {
    let mut position = {
        let reading = subscription.reading();
        let known = reading.positions.get(&path).copied();
        known.unwrap_or(LogPosition {
            offset: begin,
            file: None,
            lines: None,
        })
    };
    while !subscription.is_over.load(Ordering::Relaxed) {
        let read = {
            let path = path.clone();
            tokio::task::spawn_blocking(move || {
                let read = follow::read_from(&path, position.offset, position.file)?;
                let lines = match position.lines {
                    Some(lines) if !read.has_moved => lines,
                    Some(_) | None => follow::lines_before(&path, read.begin)?,
                };
                Ok::<_, company::Error>((lines, read))
            })
            .await
        };
        let Ok(Ok((mut seq, read))) = read else {
            // The log was removed, so its position is meaningless.
            subscription.reading().positions.remove(&path);
            return;
        };
        for line in read.lines {
            seq += 1;
            if let Some(wanted) = subscription.filter.wants(&line) {
                let sent = SentEvent::new(wanted.event_id, wanted.ts_monotonic_ms);
                subscription.send(outbox, &path, seq, line, sent).await;
            }
        }
        position = LogPosition {
            offset: read.next_offset,
            file: Some(read.file),
            lines: Some(seq),
        };
        subscription
            .reading()
            .positions
            .insert(path.clone(), position);
        if !read.has_more {
            return;
        }
    }
}
