//! What waits to be written to one connection: bounded, coalescing, and never in the way of another connection.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::Notify;

use crate::FileFrame;

/// A text frame that many connections can share without a copy.
pub type Text = axum::extract::ws::Utf8Bytes;

/// Bytes that are shared without a copy.
pub type Bytes = axum::body::Bytes;

/// One message on its way out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outgoing {
    Text(Text),
    /// Only for transports that have binary frames.
    Binary(Bytes),
    /// The same, with bytes of a file.
    File(FileFrame),
}

/// Responses that may wait; whoever answers waits for room.
const MAX_RESPONSES: usize = 128;
/// Bytes of responses that may wait, besides one that is larger by itself.
const MAX_RESPONSE_BYTES: usize = 4 << 20;
/// Bytes that are given to the transport at once, besides one entry that is larger by itself.
const BATCH_BYTES: usize = 128 << 10;
/// Notifications that may wait; a connection with more is too slow and is closed.
const MAX_NOTIFICATIONS: usize = 128;
/// Bytes of notifications that may wait.
const MAX_NOTIFICATION_BYTES: usize = 8 << 20;

/// The outgoing queue of one connection.
#[derive(Debug, Default)]
pub struct Outbox {
    state: Mutex<State>,
    /// Something to write.
    ready: Notify,
    /// Room for a response.
    room: Notify,
    /// The end.
    closed: Notify,
    /// Whether the transport has no binary frames.
    is_text_only: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Entry>,
    responses: usize,
    response_bytes: usize,
    notifications: usize,
    notification_bytes: usize,
    closing: Option<Closing>,
}

#[derive(Debug)]
enum Entry {
    /// A response, behind the binary frame it is about.
    Response {
        frame: Option<FileFrame>,
        text: Text,
    },
    /// A response that is a binary frame alone.
    Binary(Bytes),
    Notification {
        text: Text,
        waiting: Waiting,
    },
    /// Retained notifications, asked for by the client: bounded by what is retained.
    Replay(Vec<Text>),
}

/// What may happen to a notification while it waits.
#[derive(Clone, Debug, PartialEq)]
pub enum Waiting {
    /// Nothing.
    Kept,
    /// A later one with the same key replaces it.
    Replaceable(String),
    /// It goes first when there is no room: something later says it all.
    Droppable,
}

/// Why a connection ends, as WebSocket tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closing {
    /// The close code.
    pub code: u16,
    /// A short machine-readable reason.
    pub reason: &'static str,
}

impl Closing {
    /// Somebody asked for it.
    pub const NORMAL: Self = Self {
        code: 1000,
        reason: "",
    };
    /// Somebody asked for it without giving a code; none is given back.
    pub const SILENT: Self = Self {
        code: 1005,
        reason: "",
    };
    /// The gateway stops.
    pub const GOING_AWAY: Self = Self {
        code: 1001,
        reason: "shutdown",
    };
    /// Notifications came faster than the client read them.
    pub const SLOW_CONSUMER: Self = Self {
        code: 1013,
        reason: "slow_consumer",
    };
    /// The gateway cannot go on with this connection.
    pub const INTERNAL: Self = Self {
        code: 1011,
        reason: "internal",
    };
    /// The token is no longer valid.
    pub const ACCESS_REVOKED: Self = Self {
        code: 4401,
        reason: "access_revoked",
    };
}

impl Outbox {
    /// Notes that the transport of this connection carries lines of text only. A transport without binary frames calls
    /// this before it takes the first request.
    pub fn carry_text_only(&self) {
        self.is_text_only.store(true, Ordering::Relaxed);
    }

    /// Whether binary frames reach the client.
    pub fn carries_frames(&self) -> bool {
        !self.is_text_only.load(Ordering::Relaxed)
    }

    /// Queues a response, waiting for room. After the end it goes nowhere.
    pub async fn respond(&self, text: Text) {
        self.respond_behind(None, text).await;
    }

    /// Queues a binary frame and the response that follows it at once.
    pub async fn respond_behind(&self, frame: Option<FileFrame>, text: Text) {
        self.hold_behind(frame, text).await;
        self.release();
    }

    /// The same, and lets it wait for [`Outbox::release`], so that what follows at once is written with it.
    pub async fn hold_behind(&self, frame: Option<FileFrame>, text: Text) {
        let bytes = text.len() + frame.as_ref().map_or(0, FileFrame::len);
        self.hold(Entry::Response { frame, text }, bytes).await;
    }

    /// Queues a binary frame as a response.
    pub(crate) async fn respond_binary(&self, frame: Bytes) {
        let bytes = frame.len();
        self.hold(Entry::Binary(frame), bytes).await;
        self.release();
    }

    /// Queues a response of so many bytes, waiting for room.
    async fn hold(&self, response: Entry, bytes: usize) {
        loop {
            let waiting = self.room.notified();
            {
                let mut state = self.state();
                if state.closing.is_some() {
                    return;
                }
                let has_room = state.responses < MAX_RESPONSES
                    && state.response_bytes + bytes <= MAX_RESPONSE_BYTES;
                if has_room || state.responses == 0 {
                    state.responses += 1;
                    state.response_bytes += bytes;
                    state.queue.push_back(response);
                    return;
                }
            }
            waiting.await;
        }
    }

    /// Lets the transport write what was held. What is queued by others goes with it, and does the same.
    pub fn release(&self) {
        self.ready.notify_one();
    }

    /// Queues a message of a stream the client asked for, waiting for room as a response does.
    pub async fn stream(&self, text: Text) {
        self.respond(text).await;
    }

    /// Queues a notification without waiting for room. A connection that has too many waiting is closed.
    pub fn notify(&self, text: &Text, waiting: &Waiting) {
        let mut state = self.state();
        if state.closing.is_some() {
            return;
        }
        if let Waiting::Replaceable(_) = waiting {
            state.forget_last(|queued| queued == waiting);
        }
        state.notifications += 1;
        state.notification_bytes += text.len();
        state.queue.push_back(Entry::Notification {
            text: text.clone(),
            waiting: waiting.clone(),
        });
        while state.is_overfull() {
            if !state.forget_first(|queued| *queued == Waiting::Droppable) {
                drop(state);
                self.close(Closing::SLOW_CONSUMER);
                return;
            }
        }
        drop(state);
        self.ready.notify_one();
    }

    /// Queues retained notifications in one piece.
    pub(crate) fn replay(&self, texts: Vec<Text>) {
        let mut state = self.state();
        if state.closing.is_none() && !texts.is_empty() {
            state.queue.push_back(Entry::Replay(texts));
            drop(state);
            self.ready.notify_one();
        }
    }

    /// Ends the connection once what waits is written; of a slow reader nothing more is written.
    pub fn close(&self, closing: Closing) {
        let mut state = self.state();
        if state.closing.is_none() {
            if closing == Closing::SLOW_CONSUMER {
                *state = State::default();
            }
            state.closing = Some(closing);
        }
        drop(state);
        self.ready.notify_one();
        self.room.notify_waiters();
        self.closed.notify_one();
    }

    /// The oldest of what waits, for the transport to write; the reason once the connection ends.
    pub(crate) async fn next(&self) -> Result<Vec<Outgoing>, Closing> {
        loop {
            let waiting = self.ready.notified();
            {
                let mut state = self.state();
                if !state.queue.is_empty() {
                    let taken = state.take();
                    drop(state);
                    self.room.notify_waiters();
                    return Ok(taken);
                }
                if let Some(closing) = state.closing {
                    return Err(closing);
                }
            }
            waiting.await;
        }
    }

    /// Waits until somebody has closed the connection. For one waiter: the transport.
    pub(crate) async fn closed(&self) -> Closing {
        loop {
            let waiting = self.closed.notified();
            if let Some(closing) = self.state().closing {
                return closing;
            }
            waiting.await;
        }
    }

    /// How many entries wait.
    pub fn depth(&self) -> usize {
        self.state().queue.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock; if one did, the queue itself would still be whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// What is written next: the oldest entries, in all about as much as is worth one write. Whoever reads slowly then
    /// has little to read before the goodbye.
    fn take(&mut self) -> Vec<Outgoing> {
        let (mut taken, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH_BYTES
            && let Some(entry) = self.queue.pop_front()
        {
            match entry {
                Entry::Response { frame, text } => {
                    let length = text.len() + frame.as_ref().map_or(0, FileFrame::len);
                    self.responses -= 1;
                    self.response_bytes -= length;
                    bytes += length;
                    taken.extend(frame.map(Outgoing::File));
                    taken.push(Outgoing::Text(text));
                }
                Entry::Binary(frame) => {
                    self.responses -= 1;
                    self.response_bytes -= frame.len();
                    bytes += frame.len();
                    taken.push(Outgoing::Binary(frame));
                }
                Entry::Notification { text, .. } => {
                    self.notifications -= 1;
                    self.notification_bytes -= text.len();
                    bytes += text.len();
                    taken.push(Outgoing::Text(text));
                }
                Entry::Replay(replayed) => {
                    bytes += replayed.iter().map(|text| text.len()).sum::<usize>();
                    taken.extend(replayed.into_iter().map(Outgoing::Text));
                }
            }
        }
        taken
    }

    fn is_overfull(&self) -> bool {
        self.notifications > MAX_NOTIFICATIONS || self.notification_bytes > MAX_NOTIFICATION_BYTES
    }

    /// Drops the oldest waiting notification that fits. Answers whether there was one.
    fn forget_first(&mut self, fits: impl Fn(&Waiting) -> bool) -> bool {
        let position = self
            .queue
            .iter()
            .position(|entry| entry.is_notification(&fits));
        self.forget(position)
    }

    /// Drops the newest waiting notification that fits.
    fn forget_last(&mut self, fits: impl Fn(&Waiting) -> bool) -> bool {
        let position = self
            .queue
            .iter()
            .rposition(|entry| entry.is_notification(&fits));
        self.forget(position)
    }

    fn forget(&mut self, position: Option<usize>) -> bool {
        let Some(Entry::Notification { text, .. }) =
            position.and_then(|position| self.queue.remove(position))
        else {
            return false;
        };
        self.notifications -= 1;
        self.notification_bytes -= text.len();
        true
    }
}

impl Entry {
    fn is_notification(&self, fits: impl Fn(&Waiting) -> bool) -> bool {
        matches!(self, Self::Notification { waiting, .. } if fits(waiting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Text {
        text.to_owned().into()
    }

    fn texts(outgoing: Vec<Outgoing>) -> Vec<String> {
        let as_text = |one| match one {
            Outgoing::Text(text) => text.to_string(),
            Outgoing::Binary(bytes) => format!("{} bytes", bytes.len()),
            Outgoing::File(frame) => format!("{} bytes of a file", frame.len()),
        };
        outgoing.into_iter().map(as_text).collect()
    }

    async fn drain(outbox: &Outbox) -> Vec<String> {
        texts(outbox.next().await.unwrap())
    }

    #[tokio::test]
    async fn a_waiting_notification_is_replaced_by_its_successor() {
        let outbox = Outbox::default();
        let tree = Waiting::Replaceable("tree".to_owned());
        outbox.notify(&text("tree 1"), &tree);
        outbox.notify(&text("doc"), &Waiting::Kept);
        outbox.notify(&text("tree 2"), &tree);
        assert_eq!(drain(&outbox).await, ["doc", "tree 2"]);
    }

    #[tokio::test]
    async fn who_does_not_read_is_closed_and_frees_the_memory() {
        let outbox = Outbox::default();
        for _ in 0..=MAX_NOTIFICATIONS {
            outbox.notify(&text("x"), &Waiting::Kept);
        }
        assert_eq!(outbox.next().await, Err(Closing::SLOW_CONSUMER));
        assert_eq!(outbox.depth(), 0);
    }

    #[tokio::test]
    async fn too_many_bytes_are_as_slow_as_too_many_notifications() {
        let outbox = Outbox::default();
        let big = text(&"x".repeat(MAX_NOTIFICATION_BYTES / 2 + 1));
        outbox.notify(&big, &Waiting::Kept);
        outbox.notify(&big, &Waiting::Kept);
        assert_eq!(outbox.next().await, Err(Closing::SLOW_CONSUMER));
    }

    #[tokio::test]
    async fn what_may_be_dropped_goes_before_the_connection() {
        let outbox = Outbox::default();
        outbox.notify(&text("first"), &Waiting::Kept);
        for number in 0..1000 {
            outbox.notify(&text(&format!("delta {number}")), &Waiting::Droppable);
        }
        outbox.notify(&text("last"), &Waiting::Kept);
        let texts = drain(&outbox).await;
        assert_eq!(texts.len(), MAX_NOTIFICATIONS);
        assert_eq!(
            (texts[0].as_str(), texts[1].as_str()),
            ("first", "delta 874")
        );
        assert_eq!(texts.last().unwrap(), "last");
    }

    #[tokio::test]
    async fn large_responses_wait_for_each_other() {
        let outbox = std::sync::Arc::new(Outbox::default());
        let large = text(&"x".repeat(MAX_RESPONSE_BYTES + 1));
        outbox.respond(large.clone()).await;
        let waiting = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.respond(large).await }
        });
        assert_eq!(drain(&outbox).await.len(), 1);
        assert_eq!(drain(&outbox).await.len(), 1);
        waiting.await.unwrap();
    }

    #[tokio::test]
    async fn large_entries_are_given_out_a_few_at_a_time() {
        let outbox = Outbox::default();
        for number in 0..5 {
            let half = format!("{number}{}", "x".repeat(BATCH_BYTES / 2));
            outbox.respond(text(&half)).await;
        }
        for expected in ["01", "23", "4"] {
            let taken = drain(&outbox).await;
            let first: String = taken.iter().map(|text| &text[..1]).collect();
            assert_eq!(first, expected);
        }
        assert_eq!(outbox.depth(), 0);
    }

    #[tokio::test]
    async fn a_frame_goes_right_before_its_response() {
        let outbox = Outbox::default();
        outbox.notify(&text("note"), &Waiting::Kept);
        let frame = FileFrame {
            head: Bytes::from_static(b"abc"),
            file: std::sync::Arc::new(tempfile::tempfile().unwrap()),
            offset: 0,
            length: 7,
        };
        outbox.respond_behind(Some(frame), text("answer")).await;
        let expected = ["note", "10 bytes of a file", "answer"];
        assert_eq!(drain(&outbox).await, expected);
    }

    #[tokio::test]
    async fn responses_wait_for_room_instead_of_closing() {
        let outbox = std::sync::Arc::new(Outbox::default());
        for _ in 0..MAX_RESPONSES {
            outbox.respond(text("x")).await;
        }
        let waiting = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.respond(text("last")).await }
        });
        assert_eq!(drain(&outbox).await.len(), MAX_RESPONSES);
        assert_eq!(drain(&outbox).await, ["last"]);
        waiting.await.unwrap();
    }
}
