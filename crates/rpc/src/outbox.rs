//! The outgoing queue of one connection: bounded, coalescing, and independent of all other connections.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicBool, Ordering},
};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use crate::FileFrame;

/// A text message that connections share without copying.
pub type Text = axum::extract::ws::Utf8Bytes;

/// Reference-counted bytes that are shared without copying.
pub type Bytes = axum::body::Bytes;

/// One outgoing message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outgoing {
    Text(Text),
    /// A binary frame. Only for transports that support binary frames.
    Binary(Bytes),
    /// A binary frame whose payload is read from a file.
    File(FileFrame),
}

/// Maximum number of queued responses; [`Outbox::respond`] waits for room beyond that.
const MAX_RESPONSES: usize = 128;
/// Maximum total size of queued responses, in bytes. A single larger response is accepted when the queue has no other.
const MAX_RESPONSE_BYTES: usize = 4 << 20;
/// Size, in bytes, at which a batch for the transport is full. A batch always contains at least one entry.
const BATCH_BYTES: usize = 128 << 10;
/// Maximum number of queued notifications; a connection that exceeds it is closed as too slow.
const MAX_NOTIFICATIONS: usize = 128;
/// Maximum total size of queued notifications, in bytes.
const MAX_NOTIFICATION_BYTES: usize = 8 << 20;

/// The outgoing queue of one connection.
#[derive(Debug, Default)]
pub struct Outbox {
    state: Mutex<OutboxState>,
    /// Signals that a message is ready to be written.
    ready: Notify,
    /// Signals that there is room for a response.
    room: Notify,
    /// Signals that the connection is closing.
    closed: Notify,
    /// True if the transport does not support binary frames.
    is_text_only: AtomicBool,
}

#[derive(Debug, Default)]
struct OutboxState {
    queue: VecDeque<QueuedMessage>,
    responses: usize,
    response_bytes: usize,
    notifications: usize,
    notification_bytes: usize,
    closing: Option<Closing>,
}

#[derive(Debug)]
enum QueuedMessage {
    /// A response, preceded by the binary frame it describes, if any.
    Response {
        frame: Option<FileFrame>,
        text: Text,
    },
    /// A response that consists of a binary frame only.
    Binary(Bytes),
    Notification {
        text: Text,
        waiting: Waiting,
    },
    /// Retained notifications requested by the client. The hub's retention limits bound their number.
    Replay(Vec<Text>),
}

/// The treatment of a notification that is queued and not written yet.
#[derive(Clone, Debug, PartialEq)]
pub enum Waiting {
    /// The notification must be delivered.
    Kept,
    /// A later notification with the same key replaces it.
    Replaceable(String),
    /// The notification is dropped first when the queue is full, because a later message repeats its content.
    Droppable,
}

/// The reason for ending a connection, in the terms of WebSocket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closing {
    /// The WebSocket close code.
    pub code: u16,
    /// A short machine-readable reason; empty if there is none.
    pub reason: &'static str,
}

impl Closing {
    /// One side asked for an orderly close.
    pub const NORMAL: Self = Self {
        code: 1000,
        reason: "",
    };
    /// The client closed without a code, so none is returned.
    pub const SILENT: Self = Self {
        code: 1005,
        reason: "",
    };
    /// The gateway is shutting down.
    pub const GOING_AWAY: Self = Self {
        code: 1001,
        reason: "shutdown",
    };
    /// Notifications were queued faster than the client read them.
    pub const SLOW_CONSUMER: Self = Self {
        code: 1013,
        reason: "slow_consumer",
    };
    /// The gateway cannot continue this connection.
    pub const INTERNAL: Self = Self {
        code: 1011,
        reason: "internal",
    };
    /// The token has been revoked.
    pub const ACCESS_REVOKED: Self = Self {
        code: 4401,
        reason: "access_revoked",
    };
}

impl Outbox {
    /// Marks the transport as text-only. A transport without binary frames calls this before it accepts the first
    /// request.
    pub fn carry_text_only(&self) {
        self.is_text_only.store(true, Ordering::Relaxed);
    }

    /// Returns whether the transport supports binary frames.
    pub fn carries_frames(&self) -> bool {
        !self.is_text_only.load(Ordering::Relaxed)
    }

    /// Queues a response, waiting for room. Does nothing after the connection has been closed.
    pub async fn respond(&self, text: Text) {
        self.respond_behind(None, text).await;
    }

    /// Queues a binary frame immediately followed by the response that describes it.
    pub async fn respond_behind(&self, frame: Option<FileFrame>, text: Text) {
        self.hold_behind(frame, text).await;
        self.release();
    }

    /// Like [`Outbox::respond_behind`], but does not wake the transport until [`Outbox::release`], so that messages
    /// queued right after are written together.
    pub async fn hold_behind(&self, frame: Option<FileFrame>, text: Text) {
        let bytes = text.len() + frame.as_ref().map_or(0, FileFrame::len);
        self.hold(QueuedMessage::Response { frame, text }, bytes)
            .await;
    }

    /// Queues a binary frame as a response.
    pub(crate) async fn respond_binary(&self, frame: Bytes) {
        let bytes = frame.len();
        self.hold(QueuedMessage::Binary(frame), bytes).await;
        self.release();
    }

    /// Queues a response of the given size, waiting for room.
    async fn hold(&self, response: QueuedMessage, bytes: usize) {
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

    /// Wakes the transport to write all queued messages.
    pub fn release(&self) {
        self.ready.notify_one();
    }

    /// Queues a message of a stream the client requested, waiting for room like a response.
    pub async fn stream(&self, text: Text) {
        self.respond(text).await;
    }

    /// Queues a notification without waiting. Closes the connection if too many notifications are queued.
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
        state.queue.push_back(QueuedMessage::Notification {
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

    /// Queues retained notifications as one entry.
    pub(crate) fn replay(&self, texts: Vec<Text>) {
        let mut state = self.state();
        if state.closing.is_none() && !texts.is_empty() {
            state.queue.push_back(QueuedMessage::Replay(texts));
            drop(state);
            self.ready.notify_one();
        }
    }

    /// Closes the connection after the queued messages are written. For a slow consumer the queue is discarded.
    pub fn close(&self, closing: Closing) {
        let mut state = self.state();
        if state.closing.is_none() {
            if closing == Closing::SLOW_CONSUMER {
                *state = OutboxState::default();
            }
            state.closing = Some(closing);
        }
        drop(state);
        self.ready.notify_one();
        self.room.notify_waiters();
        self.closed.notify_one();
    }

    /// Waits for the next batch of queued messages. Returns the closing reason once the queue is empty and closed.
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

    /// Waits until the connection is closed. Supports a single waiter: the transport.
    pub(crate) async fn closed(&self) -> Closing {
        loop {
            let waiting = self.closed.notified();
            if let Some(closing) = self.state().closing {
                return closing;
            }
            waiting.await;
        }
    }

    /// Returns the number of queued entries.
    pub fn depth(&self) -> usize {
        self.state().queue.len()
    }

    fn state(&self) -> MutexGuard<'_, OutboxState> {
        // No code panics while holding the lock; if it did, the queue would still be consistent.
        self.state.lock()
    }
}

impl OutboxState {
    /// Removes the oldest entries, up to about [`BATCH_BYTES`]. Small batches leave a slow client little to read before
    /// the close frame.
    fn take(&mut self) -> Vec<Outgoing> {
        let (mut taken, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH_BYTES
            && let Some(entry) = self.queue.pop_front()
        {
            match entry {
                QueuedMessage::Response { frame, text } => {
                    let length = text.len() + frame.as_ref().map_or(0, FileFrame::len);
                    self.responses -= 1;
                    self.response_bytes -= length;
                    bytes += length;
                    taken.extend(frame.map(Outgoing::File));
                    taken.push(Outgoing::Text(text));
                }
                QueuedMessage::Binary(frame) => {
                    self.responses -= 1;
                    self.response_bytes -= frame.len();
                    bytes += frame.len();
                    taken.push(Outgoing::Binary(frame));
                }
                QueuedMessage::Notification { text, .. } => {
                    self.notifications -= 1;
                    self.notification_bytes -= text.len();
                    bytes += text.len();
                    taken.push(Outgoing::Text(text));
                }
                QueuedMessage::Replay(replayed) => {
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

    /// Drops the oldest queued notification that matches `fits`. Returns whether one was dropped.
    fn forget_first(&mut self, fits: impl Fn(&Waiting) -> bool) -> bool {
        let position = self
            .queue
            .iter()
            .position(|entry| entry.is_notification(&fits));
        self.forget(position)
    }

    /// Drops the newest queued notification that matches `fits`. Returns whether one was dropped.
    fn forget_last(&mut self, fits: impl Fn(&Waiting) -> bool) -> bool {
        let position = self
            .queue
            .iter()
            .rposition(|entry| entry.is_notification(&fits));
        self.forget(position)
    }

    fn forget(&mut self, position: Option<usize>) -> bool {
        let Some(QueuedMessage::Notification { text, .. }) =
            position.and_then(|position| self.queue.remove(position))
        else {
            return false;
        };
        self.notifications -= 1;
        self.notification_bytes -= text.len();
        true
    }
}

impl QueuedMessage {
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
