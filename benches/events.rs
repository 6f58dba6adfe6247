//! Measures events: replaying a verified file against parsing and hashing alone, and appending against the disk alone.
//!
//! `cargo bench -p company --bench events` prints a table and exits with code 1 if a target is missed. The measurements
//! alternate over several rounds, and medians are compared: on a machine with other load only ratios are meaningful.
//! The bare parser reads each line into a struct of its members with serde_json and skips the content of the payload;
//! it builds no tree, verifies no hash chain and uses one thread.

#![expect(
    clippy::print_stdout,
    reason = "the benchmark prints its table; stdout is not a JSON-RPC channel here"
)]

use std::{
    borrow::Cow,
    fs::{self, File, OpenOptions},
    hint::black_box,
    io::Write as _,
    num::NonZeroUsize,
    path::Path,
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use company::{
    event_log::{
        Event, Payload,
        log::{EventLogs, LogFile},
    },
    events::replay::{Options, replay},
};
use protocol::{
    Id as _,
    company::{EventId, RunId, Visibility, run::ReplayMode},
};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use sha2::{Digest as _, Sha256};

const ROUNDS: usize = 7;
const SLICE: Duration = Duration::from_millis(700);
const EVENTS: u64 = 50_000;
/// Threads that append to one file concurrently.
const WRITERS: usize = 8;

fn at(path: &Path) -> LogFile {
    LogFile::locate(path).expect("a folder")
}

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str| {
        let path = folder.path().join(name);
        File::create(&path).expect("an empty file");
        path
    };
    let [history, bare, single, grouped] = ["history", "bare", "single", "grouped"].map(file);
    let logs = EventLogs::new();
    for batch in 0..EVENTS / 500 {
        let events: Vec<_> = (0..500).map(|number| event(batch * 500 + number)).collect();
        logs.append(&at(&history), &events).expect("an append");
    }
    let line = logs.append(&at(&single), &[event(1)]).expect("an append")[0]
        .line
        .clone()
        + "\n";

    let mut samples: [Vec<f64>; 7] = Default::default();
    for _ in 0..ROUNDS {
        let round = [
            parse_and_hash(&history),
            verify(&history, ReplayMode::Verified),
            verify(&history, ReplayMode::Raw),
            per_second(1, || bare_append(&bare, line.as_bytes())),
            per_second(1, || append(&logs, &single)),
            per_second(WRITERS, || bare_append(&bare, line.as_bytes())),
            per_second(WRITERS, || append(&logs, &grouped)),
        ];
        for (samples, sample) in samples.iter_mut().zip(round) {
            samples.push(sample);
        }
    }
    let [
        parse,
        verified,
        raw,
        bare_rate,
        single_rate,
        bare_rate_8,
        grouped_rate,
    ] = samples.map(median);

    let bytes = fs::metadata(&history).expect("the history").len();
    println!(
        "{EVENTS} events in {:.1} MB, medians of {ROUNDS} rounds\n",
        bytes as f64 / 1e6
    );
    let mut missed = false;
    let mut row = |what: &str, rate: f64, ratio: f64, target: Option<f64>| {
        let target = match target {
            Some(target) => {
                missed |= ratio < target;
                let verdict = if ratio < target { "MISSED" } else { "ok" };
                format!("≥ {target:.2} {verdict}")
            }
            None => String::new(),
        };
        println!("{what:<52} {rate:>10.0}/s {ratio:>6.2}× {target}");
    };
    row(
        "typed serde_json parse + SHA-256 of each line",
        parse,
        1.0,
        None,
    );
    row(
        "replay, verified, tail 10",
        verified,
        verified / parse,
        Some(0.60),
    );
    row("replay, raw, tail 10", raw, raw / parse, None);
    println!();
    row("open, append, fdatasync", bare_rate, 1.0, None);
    row(
        "append of one event",
        single_rate,
        single_rate / bare_rate,
        Some(1.0 / 3.0),
    );
    println!();
    // The file system itself shares syncs between threads, and other load slows one thread far more than eight. A
    // comparison with the single thread above would credit grouping with both effects, so the baseline is eight
    // threads that append without a hash chain.
    row(
        "open, append, fdatasync by 8 threads",
        bare_rate_8,
        1.0,
        None,
    );
    row(
        "append of one event by 8 threads, grouped",
        grouped_rate,
        grouped_rate / bare_rate_8,
        None,
    );
    ExitCode::from(u8::from(missed))
}

fn event(number: u64) -> Event {
    #[derive(Serialize)]
    struct Raw {
        stream: &'static str,
        chunk: String,
    }
    let chunk = format!("line {number}: {}\n", "some output of a worker ".repeat(6));
    Event {
        ts_wallclock: "2026-11-15T12:00:00.000Z".to_owned(),
        run_id: RunId::parse("run_01JCQZ5X9N8M7K6H5G4F3E2D1C").expect("an id"),
        session_ref: "local_run_01JCQZ5X9N8M7K6H5G4F3E2D1C".to_owned(),
        actor: "agent_01JCQZ5X9N8M7K6H5G4F3E2D1C".to_owned(),
        visibility: Visibility::Team,
        event_type: "provider.raw".to_owned(),
        payload: Payload::new(&Raw {
            stream: "stdout",
            chunk,
        })
        .expect("JSON"),
        event_id: EventId::parse(&format!("evt_01JCQZ5X9N8M7K6H5G{number:08}")).expect("an id"),
        correlation_id: Some("local_run_01JCQZ5X9N8M7K6H5G4F3E2D1C".to_owned()),
        causation_id: None,
        ts_monotonic_ms: number,
    }
}

/// An event as a reader without verification would parse it.
#[derive(Deserialize)]
#[expect(dead_code, reason = "the benchmark measures only the parsing")]
struct Line<'a> {
    schema_version: u32,
    #[serde(borrow)]
    ts_wallclock: Cow<'a, str>,
    #[serde(borrow)]
    run_id: Cow<'a, str>,
    #[serde(borrow)]
    session_ref: Cow<'a, str>,
    #[serde(borrow)]
    actor: Cow<'a, str>,
    #[serde(borrow)]
    visibility: Cow<'a, str>,
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    payload: IgnoredAny,
    #[serde(borrow)]
    event_id: Cow<'a, str>,
    #[serde(borrow)]
    correlation_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    causation_id: Option<Cow<'a, str>>,
    ts_monotonic_ms: u64,
    #[serde(borrow)]
    prev_event_hash: Option<Cow<'a, str>>,
    #[serde(borrow)]
    event_hash: Cow<'a, str>,
}

/// Returns the parsed and hashed events per second.
fn parse_and_hash(path: &Path) -> f64 {
    let begun = Instant::now();
    let text = fs::read_to_string(path).expect("the history");
    for line in text.lines() {
        black_box(serde_json::from_str::<Line<'_>>(line).expect("an event"));
        black_box(Sha256::digest(line));
    }
    EVENTS as f64 / begun.elapsed().as_secs_f64()
}

/// Returns the replayed events per second.
fn verify(path: &Path, mode: ReplayMode) -> f64 {
    let begun = Instant::now();
    let options = Options {
        mode,
        tail: NonZeroUsize::new(10),
        ..Options::default()
    };
    let found = replay(path, &options).expect("the history");
    let elapsed = begun.elapsed();
    assert_eq!(found.replayed.events.len(), 10);
    assert_eq!(
        found.replayed.deterministic_ok,
        mode == ReplayMode::Verified
    );
    assert_eq!(found.issues_outside, 0);
    EVENTS as f64 / elapsed.as_secs_f64()
}

/// Returns how often per second the given number of threads together execute `act`.
fn per_second(threads: usize, act: impl Fn() + Sync) -> f64 {
    let done = AtomicU64::new(0);
    let begun = Instant::now();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while begun.elapsed() < SLICE {
                    act();
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    done.into_inner() as f64 / begun.elapsed().as_secs_f64()
}

fn bare_append(path: &Path, line: &[u8]) {
    let mut file = OpenOptions::new()
        .append(true)
        .open(path)
        .expect("the file");
    file.write_all(line).expect("room for a line");
    file.sync_data().expect("a disk");
}

fn append(logs: &EventLogs, path: &Path) {
    logs.append(&at(path), &[event(1)]).expect("an append");
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
