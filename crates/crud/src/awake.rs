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
const MOMENT: Duration = Duration::from_micros(300);
/// A yield that takes longer than this indicates CPU contention.
const CROWDED: Duration = Duration::from_micros(500);
/// Cool-down before spinning again after CPU contention. It doubles each time, up to `LONGEST_REST`, until a spin
/// succeeds.
const SHORTEST_REST: Duration = Duration::from_millis(10);
const LONGEST_REST: Duration = Duration::from_secs(1);

/// The state shared by the writer thread and the tasks that wait for it.
#[derive(Debug)]
pub(crate) struct Awake {
    /// The number of writes in flight.
    under_way: AtomicUsize,
    commits_are_fast: AtomicBool,
    /// False on a single CPU, where spinning would block the other threads.
    has_processors: bool,
    begun: Instant,
    /// The end of the cool-down, in microseconds since `begun`.
    rests_until: AtomicU64,
    /// The length of the next cool-down, in microseconds.
    next_rest: AtomicU64,
}

impl Awake {
    pub(crate) fn new() -> Self {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            under_way: AtomicUsize::new(0),
            commits_are_fast: AtomicBool::new(false),
            has_processors: processors > 1,
            begun: Instant::now(),
            rests_until: AtomicU64::new(0),
            next_rest: AtomicU64::new(micros(SHORTEST_REST)),
        }
    }

    /// Sets the estimated commit time, which determines whether spinning is worthwhile.
    pub(crate) fn set_usual_commit(&self, usual: Duration) {
        let is_fast = self.has_processors && usual <= MOMENT;
        self.commits_are_fast.store(is_fast, Ordering::Relaxed);
    }

    /// Counts one more write in flight until the returned guard is dropped.
    pub(crate) fn begin(&self) -> UnderWay<'_> {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        UnderWay(self)
    }

    fn is_worth_it(&self) -> bool {
        self.commits_are_fast.load(Ordering::Relaxed)
            && self.under_way.load(Ordering::Relaxed) < 2
            && self.rests_until.load(Ordering::Relaxed) <= micros(self.begun.elapsed())
    }

    /// Yields to other threads while the queue is empty, and detects CPU contention.
    fn make_way(&self) {
        let begun = Instant::now();
        thread::yield_now();
        self.made_way(begun.elapsed());
    }

    fn made_way(&self, took: Duration) {
        if took > CROWDED {
            let rest = self.next_rest.load(Ordering::Relaxed);
            let longer = (rest * 2).min(micros(LONGEST_REST));
            self.next_rest.store(longer, Ordering::Relaxed);
            let until = micros(self.begun.elapsed()) + rest;
            self.rests_until.store(until, Ordering::Relaxed);
        }
    }

    /// Spins for the next job. Returns `None` if none arrives in time.
    pub(crate) fn next<J>(&self, queue: &Receiver<J>) -> Option<J> {
        let begun = Instant::now();
        while self.is_worth_it() {
            match queue.try_recv() {
                Ok(job) => {
                    // No contention was seen meanwhile, or spinning would have stopped.
                    let rest = micros(SHORTEST_REST);
                    self.next_rest.store(rest, Ordering::Relaxed);
                    return Some(job);
                }
                Err(TryRecvError::Empty) if begun.elapsed() < MOMENT => self.make_way(),
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
pub(crate) struct UnderWay<'a>(&'a Awake);

impl UnderWay<'_> {
    /// Waits for the response. Returns `None` if the sender was dropped.
    pub(crate) async fn answer<T>(self, mut answer: oneshot::Receiver<T>) -> Option<T> {
        let begun = Instant::now();
        while self.0.is_worth_it() {
            match answer.try_recv() {
                Ok(given) => return Some(given),
                Err(oneshot::error::TryRecvError::Closed) => return None,
                Err(oneshot::error::TryRecvError::Empty) if begun.elapsed() < MOMENT => {
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

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
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

    fn awake(has_processors: bool, usual_commit: Duration) -> Awake {
        let awake = Awake {
            has_processors,
            ..Awake::new()
        };
        awake.set_usual_commit(usual_commit);
        awake
    }

    #[test]
    fn only_a_single_write_on_a_fast_disk_with_processors_to_spare_is_worth_it() {
        assert!(!Awake::new().is_worth_it(), "no commit was measured yet");
        assert!(!awake(true, MOMENT * 2).is_worth_it());
        assert!(!awake(false, FAST).is_worth_it());
        let awake = awake(true, FAST);
        let first = awake.begin();
        assert!(awake.is_worth_it());
        let second = awake.begin();
        assert!(!awake.is_worth_it());
        drop(first);
        assert!(awake.is_worth_it());
        drop(second);
        awake.set_usual_commit(MOMENT * 2);
        assert!(!awake.is_worth_it());
    }

    #[test]
    fn whoever_needs_the_processors_gets_them_for_longer_each_time() {
        let mut awake = awake(true, FAST);
        awake.made_way(CROWDED / 2);
        assert!(awake.is_worth_it());
        let (jobs, queue) = channel();
        // The last cool-down follows a successful spin, which resets its length.
        for rest in [10, 20, 40, 80, 160, 320, 640, 1000, 1000, 10].map(Duration::from_millis) {
            if rest < LONGEST_REST
                && awake.next_rest.load(Ordering::Relaxed) == micros(LONGEST_REST)
            {
                jobs.send(5).unwrap();
                assert_eq!(awake.next(&queue), Some(5));
            }
            awake.made_way(CROWDED * 2);
            assert!(!awake.is_worth_it());
            awake.begun -= rest;
            assert!(awake.is_worth_it(), "{rest:?}");
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
    fn an_answer_is_looked_for_awake_and_asleep() {
        // A spinning task wakes itself; a sleeping task is woken by the response.
        for (usual_commit, looks, woken) in [(FAST, 1, 1), (MOMENT * 2, 0, 1)] {
            let awake = awake(true, usual_commit);
            let counter = Arc::new(Counter::default());
            let waker = Waker::from(Arc::clone(&counter));
            let mut context = task::Context::from_waker(&waker);
            let (answered, answer) = oneshot::channel();
            let mut waiting = pin!(awake.begin().answer(answer));
            assert_eq!(waiting.as_mut().poll(&mut context), Poll::Pending);
            assert_eq!(counter.0.load(Ordering::Relaxed), looks);
            answered.send(5).unwrap();
            assert_eq!(counter.0.load(Ordering::Relaxed), woken);
            assert_eq!(waiting.poll(&mut context), Poll::Ready(Some(5)));
            assert_eq!(awake.under_way.load(Ordering::Relaxed), 0);
        }
    }

    #[tokio::test]
    async fn nobody_waits_for_an_answer_that_never_comes() {
        for usual_commit in [FAST, MOMENT * 2] {
            let awake = awake(true, usual_commit);
            let (answered, answer) = oneshot::channel::<i32>();
            let gone = async { drop(answered) };
            let (found, ()) = tokio::join!(awake.begin().answer(answer), gone);
            assert_eq!(found, None);
        }
    }

    #[test]
    fn the_next_job_is_found_awake_and_left_to_those_who_sleep() {
        let (jobs, queue) = channel();
        jobs.send(5).unwrap();
        assert_eq!(awake(true, MOMENT * 2).next(&queue), None);
        let awake = awake(true, FAST);
        assert_eq!(awake.next(&queue), Some(5));
        assert_eq!(awake.next(&queue), None);
        drop(jobs);
        assert_eq!(awake.next(&queue), None);
    }
}
