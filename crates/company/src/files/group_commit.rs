//! Group commit: threads that want the same kind of write share one.
//!
//! Every [`Group`] has a first-in, first-out queue. The thread at its head performs one write for all requests that
//! wait and answers each of them; threads that arrive meanwhile form the next group. What a write does is up to the
//! caller: [`crate::event_log::log`] appends lines, [`crate::conversation::comment`] creates files.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex, MutexGuard};

/// One write takes requests until they reach about this many bytes.
const MAX_WRITE_BYTES: usize = 256 * 1024;
/// A disk that syncs faster than this gains nothing from waiting for more requests.
const FAST_SYNC: Duration = Duration::from_millis(2);
/// The longest time a write waits for more requests.
const MAX_GATHER: Duration = Duration::from_millis(150);

/// Requests of type `T` that are written together and answered with one `R` each.
pub(crate) struct Group<T, R> {
    queue: Mutex<GroupQueue<T, R>>,
    /// Notified when a write has ended.
    written: Condvar,
    /// Notified when a request has joined the queue.
    arrived: Condvar,
}

struct GroupQueue<T, R> {
    /// Requests for the next write, in order of arrival.
    waiting: VecDeque<GroupedRequest<T, R>>,
    /// Whether a thread is writing. The others leave their requests to the next write.
    writing: bool,
    /// Duration of the last write, nearly all of it the sync.
    last_write: Duration,
    /// Number of requests in the last two writes.
    last_sizes: [usize; 2],
}

/// A request, and the slot in which its thread receives the answer.
struct GroupedRequest<T, R> {
    item: T,
    bytes: usize,
    answer: Arc<Mutex<AnswerSlot<R>>>,
}

/// The state of an answer.
enum AnswerSlot<R> {
    Pending,
    Given(R),
    /// The write panicked.
    Interrupted,
}

/// The write that a request was part of panicked.
#[derive(Debug)]
pub(crate) struct Interrupted;

impl<T, R> Default for Group<T, R> {
    fn default() -> Self {
        Self {
            queue: Mutex::new(GroupQueue {
                waiting: VecDeque::new(),
                writing: false,
                last_write: Duration::ZERO,
                last_sizes: [0; 2],
            }),
            written: Condvar::new(),
            arrived: Condvar::new(),
        }
    }
}

impl<T, R> Group<T, R> {
    /// Submits an item of about `bytes` bytes, which this thread or another one writes, and returns its answer. `write`
    /// returns one answer per item, in the order of the items.
    pub(crate) fn submit(
        &self,
        item: T,
        bytes: usize,
        write: impl Fn(Vec<T>) -> Vec<R>,
    ) -> Result<R, Interrupted> {
        let answer = Arc::new(Mutex::new(AnswerSlot::Pending));
        let mut queue = self.queue.lock();
        queue.waiting.push_back(GroupedRequest {
            item,
            bytes,
            answer: Arc::clone(&answer),
        });
        self.arrived.notify_one();
        loop {
            match std::mem::replace(&mut *answer.lock(), AnswerSlot::Pending) {
                AnswerSlot::Given(answer) => return Ok(answer),
                AnswerSlot::Interrupted => return Err(Interrupted),
                AnswerSlot::Pending => {}
            }
            if queue.writing {
                self.written.wait(&mut queue);
                continue;
            }
            queue.writing = true;
            queue = self.gather(queue);
            let requests = queue.next_write();
            queue.last_sizes = [requests.len(), queue.last_sizes[0]];
            drop(queue);
            let turn = WriteTurn {
                group: self,
                began: Instant::now(),
            };
            let (items, mut unanswered): (Vec<_>, Vec<_>) = requests
                .into_iter()
                .map(|request| (request.item, Unanswered(Some(request.answer))))
                .unzip();
            for (unanswered, answer) in unanswered.iter_mut().zip(write(items)) {
                unanswered.give(answer);
            }
            drop(unanswered);
            drop(turn);
            queue = self.queue.lock();
        }
    }

    /// On a slow disk, waits until as many requests are in the queue as the last writes had. Threads that were answered
    /// together come back together; a write that starts with the first of them costs the others another sync.
    fn gather<'a>(
        &'a self,
        mut queue: MutexGuard<'a, GroupQueue<T, R>>,
    ) -> MutexGuard<'a, GroupQueue<T, R>> {
        if queue.last_write < FAST_SYNC {
            return queue;
        }
        let expected = queue.last_sizes.into_iter().max().unwrap_or(0);
        let deadline = Instant::now() + (queue.last_write / 2).min(MAX_GATHER);
        while queue.waiting.len() < expected {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.arrived.wait_for(&mut queue, left);
        }
        queue
    }
}

impl<T, R> GroupQueue<T, R> {
    fn next_write(&mut self) -> Vec<GroupedRequest<T, R>> {
        let (mut requests, mut bytes) = (Vec::new(), 0);
        while bytes < MAX_WRITE_BYTES
            && let Some(request) = self.waiting.pop_front()
        {
            bytes += request.bytes;
            requests.push(request);
        }
        requests
    }
}

/// The exclusive right to write, released on drop, even if the write panics.
struct WriteTurn<'a, T, R> {
    group: &'a Group<T, R>,
    began: Instant,
}

impl<T, R> Drop for WriteTurn<'_, T, R> {
    fn drop(&mut self) {
        let mut queue = self.group.queue.lock();
        queue.writing = false;
        queue.last_write = self.began.elapsed();
        self.group.written.notify_all();
    }
}

/// The answer slot of a thread that waits for a write. Dropping it without an answer marks the write as interrupted.
struct Unanswered<R>(Option<Arc<Mutex<AnswerSlot<R>>>>);

impl<R> Unanswered<R> {
    fn give(&mut self, given: R) {
        if let Some(answer) = self.0.take() {
            *answer.lock() = AnswerSlot::Given(given);
        }
    }
}

impl<R> Drop for Unanswered<R> {
    fn drop(&mut self) {
        // The write panicked: wake the thread, which would otherwise wait forever.
        if let Some(answer) = self.0.take() {
            *answer.lock() = AnswerSlot::Interrupted;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        sync::mpsc,
        thread,
    };

    use super::*;

    #[test]
    fn requests_that_arrive_during_a_write_share_the_next_one() {
        let group: Group<u32, usize> = Group::default();
        let (started, has_started) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let released = Mutex::new(released);
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                group.submit(0, 1, |items| {
                    let _ = started.send(());
                    let _ = released.lock().recv();
                    vec![items.len(); items.len()]
                })
            });
            has_started.recv().unwrap();
            let all = |items: Vec<u32>| vec![items.len(); items.len()];
            let group = &group;
            let others: Vec<_> = (1..=8)
                .map(|item| scope.spawn(move || group.submit(item, 1, all)))
                .collect();
            while group.queue.lock().waiting.len() < 8 {
                thread::yield_now();
            }
            release.send(()).unwrap();
            assert_eq!(first.join().unwrap().unwrap(), 1);
            for other in others {
                assert_eq!(other.join().unwrap().unwrap(), 8);
            }
        });
    }

    #[test]
    fn a_write_that_panics_leaves_no_thread_waiting() {
        let group: Group<(), ()> = Group::default();
        let panics = AssertUnwindSafe(|| group.submit((), 1, |_| panic!("a defect")));
        assert!(catch_unwind(panics).is_err());
        assert!(group.submit((), 1, |items| items).is_ok());
    }
}
