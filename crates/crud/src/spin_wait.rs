//! Adaptive spinning for single writes.
//!
//! Putting a thread to sleep and waking it takes about as long as a commit on a fast disk, and a client that waits for
//! each write would pay for that twice per write. While commits are fast and only one write is in flight, waiting
//! threads therefore spin briefly and yield to other threads. If another thread uses the CPU for long, spinning stops
//! for a cool-down period.

use std::{
    num::NonZero,
    sync::{
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
        mpsc::{Receiver, TryRecvError},
    },
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

/// Maximum spin time. If commits usually take longer, waiting threads sleep instead.
const MAX_SPIN: Duration = Duration::from_micros(300);
/// A yield that takes longer than this indicates CPU contention.
const CONTENDED_YIELD: Duration = Duration::from_micros(500);
/// Cool-down before spinning again after CPU contention. It doubles each time, up to `MAX_COOL_DOWN`, until a spin
/// succeeds.
const MIN_COOL_DOWN: Duration = Duration::from_millis(10);
const MAX_COOL_DOWN: Duration = Duration::from_secs(1);

/// The state shared by the writer thread and the tasks that wait for it.
#[derive(Debug)]
pub(crate) struct SpinWait {
    /// The number of writes in flight.
    in_flight: AtomicUsize,
    commits_are_fast: AtomicBool,
    /// False on a single CPU, where spinning would block the other threads.
    has_spare_cpu: bool,
    begun: Instant,
    /// The end of the cool-down, in microseconds since `begun`.
    cool_down_until: AtomicU64,
    /// The length of the next cool-down, in microseconds.
    next_cool_down: AtomicU64,
}

impl SpinWait {
    pub(crate) fn new() -> Self {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            in_flight: AtomicUsize::new(0),
            commits_are_fast: AtomicBool::new(false),
            has_spare_cpu: processors > 1,
            begun: Instant::now(),
            cool_down_until: AtomicU64::new(0),
            next_cool_down: AtomicU64::new(micros(MIN_COOL_DOWN)),
        }
    }

    /// Sets the estimated commit time, which determines whether spinning is worthwhile.
    pub(crate) fn set_usual_commit(&self, usual: Duration) {
        let is_fast = self.has_spare_cpu && usual <= MAX_SPIN;
        self.commits_are_fast.store(is_fast, Ordering::Relaxed);
    }

    /// Counts one more write in flight until the returned guard is dropped.
    pub(crate) fn begin(&self) -> PendingWrite<'_> {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        PendingWrite(self)
    }

    fn should_spin(&self) -> bool {
        self.commits_are_fast.load(Ordering::Relaxed)
            && self.in_flight.load(Ordering::Relaxed) < 2
            && self.cool_down_until.load(Ordering::Relaxed) <= micros(self.begun.elapsed())
    }

    /// Yields to other threads while the queue is empty, and detects CPU contention.
    fn yield_cpu(&self) {
        let begun = Instant::now();
        thread::yield_now();
        self.note_yield(begun.elapsed());
    }

    fn note_yield(&self, took: Duration) {
        if took > CONTENDED_YIELD {
            let cool_down = self.next_cool_down.load(Ordering::Relaxed);
            let longer = (cool_down * 2).min(micros(MAX_COOL_DOWN));
            self.next_cool_down.store(longer, Ordering::Relaxed);
            let until = micros(self.begun.elapsed()) + cool_down;
            self.cool_down_until.store(until, Ordering::Relaxed);
        }
    }

    /// Spins for the next job. Returns `None` if none arrives in time.
    pub(crate) fn next<J>(&self, queue: &Receiver<J>) -> Option<J> {
        let begun = Instant::now();
        while self.should_spin() {
            match queue.try_recv() {
                Ok(job) => {
                    // No contention was seen meanwhile, or spinning would have stopped.
                    let cool_down = micros(MIN_COOL_DOWN);
                    self.next_cool_down.store(cool_down, Ordering::Relaxed);
                    return Some(job);
                }
                Err(TryRecvError::Empty) if begun.elapsed() < MAX_SPIN => self.yield_cpu(),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return None,
            }
        }
        None
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Guard of a write in flight.
pub(crate) struct PendingWrite<'a>(&'a SpinWait);

impl PendingWrite<'_> {
    /// Waits for the response. Returns `None` if the sender was dropped.
    pub(crate) async fn answer<T>(self, mut answer: oneshot::Receiver<T>) -> Option<T> {
        let begun = Instant::now();
        while self.0.should_spin() {
            match answer.try_recv() {
                Ok(given) => return Some(given),
                Err(oneshot::error::TryRecvError::Closed) => return None,
                Err(oneshot::error::TryRecvError::Empty) if begun.elapsed() < MAX_SPIN => {
                    // Yield to other threads first, including the writer, then to the other tasks of this thread.
                    thread::yield_now();
                    tokio::task::yield_now().await;
                }
                Err(oneshot::error::TryRecvError::Empty) => break,
            }
        }
        answer.await.ok()
    }
}

impl Drop for PendingWrite<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::{Arc, mpsc::channel},
        task::{self, Poll, Wake, Waker},
    };

    use super::*;

    const FAST: Duration = Duration::from_micros(100);

    fn spin_wait(has_spare_cpu: bool, usual_commit: Duration) -> SpinWait {
        let spin_wait = SpinWait {
            has_spare_cpu,
            ..SpinWait::new()
        };
        spin_wait.set_usual_commit(usual_commit);
        spin_wait
    }

    #[test]
    fn only_a_single_write_on_a_fast_disk_with_a_spare_cpu_spins() {
        assert!(!SpinWait::new().should_spin(), "no commit was measured yet");
        assert!(!spin_wait(true, MAX_SPIN * 2).should_spin());
        assert!(!spin_wait(false, FAST).should_spin());
        let spin_wait = spin_wait(true, FAST);
        let first = spin_wait.begin();
        assert!(spin_wait.should_spin());
        let second = spin_wait.begin();
        assert!(!spin_wait.should_spin());
        drop(first);
        assert!(spin_wait.should_spin());
        drop(second);
        spin_wait.set_usual_commit(MAX_SPIN * 2);
        assert!(!spin_wait.should_spin());
    }

    #[test]
    fn each_contended_yield_doubles_the_cool_down() {
        let mut spin_wait = spin_wait(true, FAST);
        spin_wait.note_yield(CONTENDED_YIELD / 2);
        assert!(spin_wait.should_spin());
        let (jobs, queue) = channel();
        // The last cool-down follows a successful spin, which resets its length.
        for cool_down in [10, 20, 40, 80, 160, 320, 640, 1000, 1000, 10].map(Duration::from_millis)
        {
            if cool_down < MAX_COOL_DOWN
                && spin_wait.next_cool_down.load(Ordering::Relaxed) == micros(MAX_COOL_DOWN)
            {
                jobs.send(5).unwrap();
                assert_eq!(spin_wait.next(&queue), Some(5));
            }
            spin_wait.note_yield(CONTENDED_YIELD * 2);
            assert!(!spin_wait.should_spin());
            spin_wait.begun -= cool_down;
            assert!(spin_wait.should_spin(), "{cool_down:?}");
        }
    }

    /// Counts its wake-ups.
    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Wake for Counter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn an_answer_arrives_while_spinning_and_while_sleeping() {
        // A spinning task wakes itself; a sleeping task is woken by the response.
        for (usual_commit, looks, woken) in [(FAST, 1, 1), (MAX_SPIN * 2, 0, 1)] {
            let spin_wait = spin_wait(true, usual_commit);
            let counter = Arc::new(Counter::default());
            let waker = Waker::from(Arc::clone(&counter));
            let mut context = task::Context::from_waker(&waker);
            let (answered, answer) = oneshot::channel();
            let mut waiting = pin!(spin_wait.begin().answer(answer));
            assert_eq!(waiting.as_mut().poll(&mut context), Poll::Pending);
            assert_eq!(counter.0.load(Ordering::Relaxed), looks);
            answered.send(5).unwrap();
            assert_eq!(counter.0.load(Ordering::Relaxed), woken);
            assert_eq!(waiting.poll(&mut context), Poll::Ready(Some(5)));
            assert_eq!(spin_wait.in_flight.load(Ordering::Relaxed), 0);
        }
    }

    #[tokio::test]
    async fn a_dropped_sender_ends_the_wait() {
        for usual_commit in [FAST, MAX_SPIN * 2] {
            let spin_wait = spin_wait(true, usual_commit);
            let (answered, answer) = oneshot::channel::<i32>();
            let gone = async { drop(answered) };
            let (found, ()) = tokio::join!(spin_wait.begin().answer(answer), gone);
            assert_eq!(found, None);
        }
    }

    #[test]
    fn the_next_job_is_received_only_while_spinning() {
        let (jobs, queue) = channel();
        jobs.send(5).unwrap();
        assert_eq!(spin_wait(true, MAX_SPIN * 2).next(&queue), None);
        let spin_wait = spin_wait(true, FAST);
        assert_eq!(spin_wait.next(&queue), Some(5));
        assert_eq!(spin_wait.next(&queue), None);
        drop(jobs);
        assert_eq!(spin_wait.next(&queue), None);
    }
}
