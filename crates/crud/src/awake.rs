//! Waiting without sleep. To put a thread to sleep and to wake it takes about as long as a commit on a fast disk, and
//! one client that waits for each of its writes would pay for that twice with every write. So while commits are fast
//! and a write is the only one, who waits stays awake for a moment, and lets everybody else run who wants to. If
//! somebody does, the processors are needed, and for a while everybody sleeps as usual.

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

/// How long to stay awake at most. Commits that usually take longer are slept through.
const MOMENT: Duration = Duration::from_micros(300);
/// Whoever was let run for longer than this has more to do than to answer us.
const CROWDED: Duration = Duration::from_micros(500);
/// How long nobody stays awake when the processors are needed. Twice as long each time, until nobody needed them.
const SHORTEST_REST: Duration = Duration::from_millis(10);
const LONGEST_REST: Duration = Duration::from_secs(1);

/// What the writing thread and those who wait for it know of each other.
#[derive(Debug)]
pub(crate) struct Awake {
    /// Writes that somebody waits for.
    under_way: AtomicUsize,
    commits_are_fast: AtomicBool,
    /// With a single processor, who stays awake keeps the others from their work.
    has_processors: bool,
    begun: Instant,
    /// When somebody may stay awake again, in microseconds since we begun.
    rests_until: AtomicU64,
    /// How long the next rest is, in microseconds.
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

    /// How long a commit usually takes.
    pub(crate) fn set_usual_commit(&self, usual: Duration) {
        let is_fast = self.has_processors && usual <= MOMENT;
        self.commits_are_fast.store(is_fast, Ordering::Relaxed);
    }

    /// One more write is under way, until the answer is dropped.
    pub(crate) fn begin(&self) -> UnderWay<'_> {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        UnderWay(self)
    }

    fn is_worth_it(&self) -> bool {
        self.commits_are_fast.load(Ordering::Relaxed)
            && self.under_way.load(Ordering::Relaxed) < 2
            && self.rests_until.load(Ordering::Relaxed) <= micros(self.begun.elapsed())
    }

    /// Lets other threads run while there is nothing to write: none of ours runs for long then.
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

    /// The next job, if one comes within a moment.
    pub(crate) fn next<J>(&self, queue: &Receiver<J>) -> Option<J> {
        let begun = Instant::now();
        while self.is_worth_it() {
            match queue.try_recv() {
                Ok(job) => {
                    // Nobody needed the processor meanwhile, or it would not be worth it any more.
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

/// A write that somebody waits for.
pub(crate) struct UnderWay<'a>(&'a Awake);

impl UnderWay<'_> {
    /// Waits for the answer; none if nobody will give it.
    pub(crate) async fn answer<T>(self, mut answer: oneshot::Receiver<T>) -> Option<T> {
        let begun = Instant::now();
        while self.0.is_worth_it() {
            match answer.try_recv() {
                Ok(given) => return Some(given),
                Err(oneshot::error::TryRecvError::Closed) => return None,
                Err(oneshot::error::TryRecvError::Empty) if begun.elapsed() < MOMENT => {
                    // Other threads first, the writing one among them, then the other tasks and sockets of this one.
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
        assert!(!Awake::new().is_worth_it(), "nobody knows the disk yet");
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
        // The last of the rests comes after nobody needed them.
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

    /// Counts how often it is asked to look again.
    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Wake for Counter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn an_answer_is_looked_for_awake_and_asleep() {
        // Who is awake looks again by itself; who sleeps is woken by the answer.
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
