//! Notification fan-out: numbers notifications per stream (a workspace), retains them for reconnecting clients, and
//! queues them for every subscribed connection without waiting for any of them.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ops::Range,
    sync::Arc,
};

use parking_lot::{Mutex, MutexGuard};
use protocol::Notification;

use crate::{ConnectionId, Outbox, Text, envelope, outbox::Waiting};

/// Maximum number of notifications retained per stream for [`Hub::resume`].
pub const MAX_RETAINED: usize = 1000;
/// Maximum total size of the notifications retained per stream, in bytes.
const MAX_RETAINED_BYTES: usize = 4 << 20;
/// Maximum number of sequence-number ranges remembered per stream.
const MAX_RANGES: usize = 64;
/// Maximum number of streams with retained notifications; the least recently used one is dropped first.
const MAX_STREAMS: usize = 64;

/// The connections of this process and their subscriptions.
#[derive(Debug, Default)]
pub struct Hub {
    state: Mutex<HubState>,
}

#[derive(Default)]
struct HubState {
    members: BTreeMap<ConnectionId, HubMember>,
    /// The subscribers of each topic. A topic is a stream or any other name.
    topics: BTreeMap<String, BTreeSet<ConnectionId>>,
    streams: BTreeMap<String, Stream>,
    /// Logical clock that counts publications and grants, used to find the least recently used stream.
    clock: u64,
}

struct HubMember {
    outbox: Arc<Outbox>,
    /// Returns whether this connection is permitted to see a stream.
    sees: Box<dyn Fn(&str) -> bool + Send + Sync>,
    topics: BTreeSet<String>,
}

/// The numbering and the retained notifications of one stream.
#[derive(Default)]
struct Stream {
    /// Sequence numbers reserved by this process and not used yet.
    granted: Range<u64>,
    /// Ranges granted to this process, oldest first, limited to [`MAX_RANGES`].
    given: VecDeque<Range<u64>>,
    retained: VecDeque<Retained>,
    retained_bytes: usize,
    /// The highest number that is no longer retained or was not granted to this process.
    floor: u64,
    last: u64,
    used_at: u64,
}

struct Retained {
    seq: u64,
    text: Text,
    /// Set for a notification of one topic, which is replayed only to subscribers of that topic.
    topic: Option<String>,
}

/// A notification to be published.
#[derive(Debug)]
pub struct Publication {
    /// The stream whose sequence numbers it uses.
    pub stream: String,
    /// The connections that receive it.
    pub audience: Audience,
    name: &'static str,
    params: String,
    waits: Waits,
}

/// The treatment of a notification while it is queued for a slow client.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Waits {
    Kept,
    Coalesced,
    Dropped,
}

/// The connections that receive a notification.
#[derive(Clone, Debug, PartialEq)]
pub enum Audience {
    /// Every subscriber of the stream.
    Stream,
    /// Every subscriber of a topic within the stream.
    Topic(String),
    /// Every connection that is permitted to see the stream.
    Everyone,
    /// Every connection that is permitted to see the stream and has at least one subscription.
    Listeners,
}

/// The stream has no sequence numbers left; the caller must [`Hub::grant`] more.
#[derive(Debug, PartialEq)]
pub struct NeedsNumbers;

/// The result of [`Hub::resumption`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resumption {
    /// The number of notifications that would be replayed.
    pub replayed: u32,
    /// True if notifications after `after_seq` are no longer retained, or `after_seq` is unknown to this process.
    pub gap: bool,
    /// The lowest sequence number the next notification can have.
    pub next_seq: u64,
}

impl Publication {
    /// Creates a notification for the subscribers of `stream`.
    pub fn new<N: Notification>(stream: impl Into<String>, payload: &N) -> Self {
        Self {
            stream: stream.into(),
            audience: Audience::Stream,
            name: N::NAME,
            // Wire types consist of strings, numbers and lists, so serialization cannot fail.
            params: serde_json::to_string(payload).unwrap_or_else(|_| "{}".to_owned()),
            waits: Waits::Kept,
        }
    }

    /// Sets the audience.
    #[must_use]
    pub fn to(mut self, audience: Audience) -> Self {
        self.audience = audience;
        self
    }

    /// Allows a later notification of the same name and stream to replace this one while it is queued.
    #[must_use]
    pub fn coalesced(mut self) -> Self {
        self.waits = Waits::Coalesced;
        self
    }

    /// Allows the queue of a slow client to drop it, because a later message repeats its content. It is not retained
    /// either.
    #[must_use]
    pub fn droppable(mut self) -> Self {
        self.waits = Waits::Dropped;
        self
    }
}

impl Hub {
    /// Adds a connection. `sees` returns whether the connection is permitted to see a stream.
    pub fn join(
        &self,
        connection: ConnectionId,
        outbox: Arc<Outbox>,
        sees: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) {
        let member = HubMember {
            outbox,
            sees: Box::new(sees),
            topics: BTreeSet::new(),
        };
        self.state().members.insert(connection, member);
    }

    /// Removes a connection. Returns the topics that have no subscribers left.
    pub fn leave(&self, connection: ConnectionId) -> Vec<String> {
        let mut state = self.state();
        let Some(member) = state.members.remove(&connection) else {
            return Vec::new();
        };
        let mut deserted = Vec::new();
        for topic in member.topics {
            if state.drop_listener(&topic, connection) {
                deserted.push(topic);
            }
        }
        deserted
    }

    /// Subscribes a connection to a topic. Returns whether the subscription is new.
    pub fn subscribe(&self, connection: ConnectionId, topic: &str) -> bool {
        self.state().subscribe(connection, topic)
    }

    /// Unsubscribes a connection from a topic. Returns whether it was subscribed.
    pub fn unsubscribe(&self, connection: ConnectionId, topic: &str) -> bool {
        let mut state = self.state();
        let listened = state
            .members
            .get_mut(&connection)
            .is_some_and(|member| member.topics.remove(topic));
        if listened {
            state.drop_listener(topic, connection);
        }
        listened
    }

    /// Returns whether the topic has subscribers.
    pub fn has_listeners(&self, topic: &str) -> bool {
        self.state().topics.contains_key(topic)
    }

    /// Numbers a notification, retains it and queues it for its audience.
    pub fn publish(&self, publication: &Publication) -> Result<(), NeedsNumbers> {
        let mut guard = self.state();
        let state = &mut *guard;
        state.clock += 1;
        let stream = state
            .streams
            .get_mut(&publication.stream)
            .ok_or(NeedsNumbers)?;
        let seq = stream.granted.next().ok_or(NeedsNumbers)?;
        stream.used_at = state.clock;
        let text = envelope::numbered_notification(publication.name, &publication.params, seq);
        let topic = match &publication.audience {
            Audience::Topic(topic) => Some(topic.clone()),
            Audience::Stream | Audience::Everyone | Audience::Listeners => None,
        };
        stream.last = seq;
        if publication.waits != Waits::Dropped {
            stream.retain(Retained {
                seq,
                text: text.clone(),
                topic,
            });
        }

        let waiting = match publication.waits {
            Waits::Kept => Waiting::Kept,
            Waits::Coalesced => {
                Waiting::Replaceable(format!("{} {}", publication.name, publication.stream))
            }
            Waits::Dropped => Waiting::Droppable,
        };
        let listeners = match &publication.audience {
            Audience::Stream => state.topics.get(&publication.stream),
            Audience::Topic(topic) => state.topics.get(topic),
            Audience::Everyone | Audience::Listeners => {
                let is_for_all = publication.audience == Audience::Everyone;
                for member in state.members.values() {
                    let is_meant = is_for_all || !member.topics.is_empty();
                    if is_meant && (member.sees)(&publication.stream) {
                        member.outbox.notify(&text, &waiting);
                    }
                }
                return Ok(());
            }
        };
        for connection in listeners.into_iter().flatten() {
            if let Some(member) = state.members.get(connection) {
                member.outbox.notify(&text, &waiting);
            }
        }
        Ok(())
    }

    /// Grants a stream a range of sequence numbers that no other process and no earlier start has used. Ignored if the
    /// stream still has numbers left.
    pub fn grant(&self, stream: &str, numbers: Range<u64>) {
        let mut state = self.state();
        state.clock += 1;
        let clock = state.clock;
        if !state.streams.contains_key(stream) {
            state.forget_quietest();
            let floor = numbers.start.saturating_sub(1);
            state.streams.insert(
                stream.to_owned(),
                Stream {
                    floor,
                    last: floor,
                    ..Stream::default()
                },
            );
        }
        if let Some(stream) = state.streams.get_mut(stream)
            && stream.granted.is_empty()
        {
            stream.given.push_back(numbers.clone());
            if stream.given.len() > MAX_RANGES {
                stream.given.pop_front();
            }
            stream.granted = numbers;
            stream.used_at = clock;
        }
    }

    /// Returns what a client that has seen everything up to `after_seq` would receive from [`Hub::resume`].
    pub fn resumption(
        &self,
        connection: ConnectionId,
        stream: &str,
        after_seq: u64,
    ) -> Result<Resumption, NeedsNumbers> {
        let state = self.state();
        let found = state.streams.get(stream).ok_or(NeedsNumbers)?;
        let replayed = state.replayable(connection, stream, after_seq, found.last);
        Ok(Resumption {
            replayed: u32::try_from(replayed.len()).unwrap_or(u32::MAX),
            gap: !found.knows(after_seq),
            next_seq: found.last + 1,
        })
    }

    /// Replays the missed notifications and subscribes the connection in one step, so that none is lost in between.
    pub fn resume(
        &self,
        connection: ConnectionId,
        stream: &str,
        after_seq: u64,
        found: &Resumption,
    ) {
        let mut state = self.state();
        let is_new = state.subscribe(connection, stream);
        // An existing subscriber has already received everything published since the resumption was computed.
        let until = if is_new { u64::MAX } else { found.next_seq - 1 };
        let texts = state.replayable(connection, stream, after_seq, until);
        if let Some(member) = state.members.get(&connection) {
            member.outbox.replay(texts);
        }
    }

    /// Returns the number of connections and the total number of entries queued for them.
    pub fn load(&self) -> (usize, usize) {
        let state = self.state();
        let waiting = state
            .members
            .values()
            .map(|member| member.outbox.depth())
            .sum();
        (state.members.len(), waiting)
    }

    /// Closes every connection for which `of` returns true.
    pub fn close(&self, closing: crate::Closing, of: impl Fn(ConnectionId) -> bool) {
        for (connection, member) in &self.state().members {
            if of(*connection) {
                member.outbox.close(closing);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, HubState> {
        // A panic while the lock was held loses at most one notification, and clients tolerate gaps.
        self.state.lock()
    }
}

impl HubState {
    fn subscribe(&mut self, connection: ConnectionId, topic: &str) -> bool {
        let Some(member) = self.members.get_mut(&connection) else {
            return false;
        };
        if !member.topics.insert(topic.to_owned()) {
            return false;
        }
        self.topics
            .entry(topic.to_owned())
            .or_default()
            .insert(connection)
    }

    /// Removes a subscriber. Returns whether it was the last one of the topic.
    fn drop_listener(&mut self, topic: &str, connection: ConnectionId) -> bool {
        let Some(listeners) = self.topics.get_mut(topic) else {
            return false;
        };
        listeners.remove(&connection);
        let deserted = listeners.is_empty();
        if deserted {
            self.topics.remove(topic);
        }
        deserted
    }

    fn replayable(
        &self,
        connection: ConnectionId,
        stream: &str,
        after: u64,
        until: u64,
    ) -> Vec<Text> {
        let topics = self.members.get(&connection).map(|member| &member.topics);
        let concerns = |retained: &&Retained| match &retained.topic {
            None => true,
            Some(topic) => topics.is_some_and(|topics| topics.contains(topic)),
        };
        let retained = self
            .streams
            .get(stream)
            .into_iter()
            .flat_map(|stream| &stream.retained);
        retained
            .filter(|retained| retained.seq > after && retained.seq <= until)
            .filter(concerns)
            .map(|retained| retained.text.clone())
            .collect()
    }

    fn forget_quietest(&mut self) {
        if self.streams.len() >= MAX_STREAMS {
            let quietest = self.streams.iter().min_by_key(|(_, stream)| stream.used_at);
            if let Some(name) = quietest.map(|(name, _)| name.clone()) {
                self.streams.remove(&name);
            }
        }
    }
}

impl Stream {
    fn retain(&mut self, retained: Retained) {
        self.retained_bytes += retained.text.len();
        self.retained.push_back(retained);
        while self.retained.len() > MAX_RETAINED || self.retained_bytes > MAX_RETAINED_BYTES {
            let Some(oldest) = self.retained.pop_front() else {
                break;
            };
            self.retained_bytes -= oldest.text.len();
            self.floor = oldest.seq;
        }
    }

    /// Returns whether `seq` can be the last number a client received from this process, so that nothing after it is
    /// lost. Numbers granted to another process or not used yet are unknown.
    fn knows(&self, seq: u64) -> bool {
        let was_given = self.given.iter().any(|range| range.contains(&seq)) && seq <= self.last;
        seq == self.floor || (was_given && seq > self.floor)
    }
}

impl std::fmt::Debug for HubState {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} connections", self.members.len())
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Id as _, WorkspaceId, thread::ThreadTreeChangedNotification};

    use super::*;

    fn changed(reason: &str) -> Publication {
        let payload = ThreadTreeChangedNotification {
            workspace_id: WorkspaceId::parse("ws_1").unwrap(),
            reason: Some(reason.to_owned()),
            tree_version: None,
        };
        Publication::new("ws_1", &payload)
    }

    /// Adds a connection that is subscribed to `ws_1`.
    fn listener(hub: &Hub) -> (ConnectionId, Arc<Outbox>) {
        let (connection, outbox) = (ConnectionId::next(), Arc::new(Outbox::default()));
        hub.join(connection, outbox.clone(), |_| true);
        hub.subscribe(connection, "ws_1");
        (connection, outbox)
    }

    async fn reasons(outbox: &Outbox) -> Vec<String> {
        let outgoing = outbox.next().await.unwrap();
        outgoing
            .iter()
            .map(|one| {
                let crate::outbox::Outgoing::Text(text) = one else {
                    panic!("a notification is a text");
                };
                let message: serde_json::Value = serde_json::from_str(text).unwrap();
                format!(
                    "{} {}",
                    message["seq"],
                    message["params"]["reason"].as_str().unwrap()
                )
            })
            .collect()
    }

    #[tokio::test]
    async fn listeners_are_told_in_order_and_strangers_are_not() {
        let hub = Hub::default();
        let (_, outbox) = listener(&hub);
        let stranger = Arc::new(Outbox::default());
        hub.join(ConnectionId::next(), stranger.clone(), |_| true);
        assert_eq!(hub.publish(&changed("a")), Err(NeedsNumbers));
        hub.grant("ws_1", 1..3);
        hub.publish(&changed("a")).unwrap();
        hub.publish(&changed("b")).unwrap();
        assert_eq!(hub.publish(&changed("c")), Err(NeedsNumbers));
        assert_eq!(reasons(&outbox).await, ["1 a", "2 b"]);
        assert_eq!(stranger.depth(), 0);
    }

    #[tokio::test]
    async fn everyone_means_everyone_who_may_see_the_stream() {
        let hub = Hub::default();
        let (seeing, blind) = (Arc::new(Outbox::default()), Arc::new(Outbox::default()));
        hub.join(ConnectionId::next(), seeing.clone(), |_| true);
        hub.join(ConnectionId::next(), blind.clone(), |stream| {
            stream != "ws_1"
        });
        hub.grant("ws_1", 1..9);
        hub.publish(&changed("a").to(Audience::Everyone)).unwrap();
        assert_eq!((seeing.depth(), blind.depth()), (1, 0));
    }

    #[test]
    fn who_listens_to_nothing_hears_of_no_new_stream() {
        let hub = Hub::default();
        let join = || {
            let (connection, outbox) = (ConnectionId::next(), Arc::new(Outbox::default()));
            hub.join(connection, outbox.clone(), |_| true);
            (connection, outbox)
        };
        let ((listener, heard), (_, silent)) = (join(), join());
        hub.subscribe(listener, "ws_other");
        hub.grant("ws_1", 1..9);
        hub.publish(&changed("a").to(Audience::Listeners)).unwrap();
        assert_eq!((heard.depth(), silent.depth()), (1, 0));
    }

    #[tokio::test]
    async fn who_comes_back_gets_what_was_missed_and_then_the_rest() {
        let hub = Hub::default();
        hub.grant("ws_1", 1..100);
        for reason in ["a", "b", "c"] {
            hub.publish(&changed(reason)).unwrap();
        }
        let (connection, outbox) = (ConnectionId::next(), Arc::new(Outbox::default()));
        hub.join(connection, outbox.clone(), |_| true);
        let found = hub.resumption(connection, "ws_1", 1).unwrap();
        assert_eq!(
            found,
            Resumption {
                replayed: 2,
                gap: false,
                next_seq: 4
            }
        );
        hub.publish(&changed("d")).unwrap();
        hub.resume(connection, "ws_1", 1, &found);
        hub.publish(&changed("e")).unwrap();
        assert_eq!(reasons(&outbox).await, ["2 b", "3 c", "4 d", "5 e"]);
    }

    #[test]
    fn numbers_we_did_not_give_are_a_gap() {
        let hub = Hub::default();
        let (connection, _outbox) = listener(&hub);
        let gap = |after| hub.resumption(connection, "ws_1", after).unwrap().gap;
        hub.grant("ws_1", 11..12);
        assert!(!gap(10), "the one before our first");
        hub.publish(&changed("a")).unwrap();
        hub.grant("ws_1", 31..40);
        hub.publish(&changed("b")).unwrap();
        assert!(!gap(11) && !gap(31));
        for foreign in [0, 9, 20, 30, 32, u64::MAX] {
            assert!(gap(foreign), "{foreign}");
        }
    }

    #[test]
    fn what_is_retained_is_bounded() {
        let hub = Hub::default();
        let (connection, _outbox) = listener(&hub);
        hub.grant("ws_1", 1..10_000);
        for _ in 0..1500 {
            hub.publish(&changed("x")).unwrap();
        }
        let found = hub.resumption(connection, "ws_1", 0).unwrap();
        assert_eq!(
            found,
            Resumption {
                replayed: 1000,
                gap: true,
                next_seq: 1501
            }
        );
        assert!(!hub.resumption(connection, "ws_1", 500).unwrap().gap);
    }
}
