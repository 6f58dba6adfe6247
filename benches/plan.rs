//! Measures `pm.snapshot` of a project with 2 000 tasks against reading and parsing its files.
//!
//! `cargo bench -p company --bench plan` prints a table and exits with code 1 if a target is missed. Both measurements
//! alternate, and their medians are compared.

#![expect(
    clippy::print_stdout,
    reason = "the benchmark prints its table; stdout is not a JSON-RPC channel here"
)]

use std::{
    fs,
    path::Path,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use company::{
    Companies, Company, Sources,
    execution::run::LiveRuns,
    planning::task::Tasks,
    pm::{self, overview::ProjectsOverview},
};
use protocol::{Id as _, company::ProjectId};

const TASKS: usize = 2_000;
const ROUNDS: usize = 15;
/// Maximum median duration of a snapshot when the files are cached.
const TARGET: Duration = Duration::from_millis(30);

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let project = ProjectId::parse("proj_bench").expect("an id");
    fill(folder.path(), &project);
    let dir = folder.path().to_str().expect("a path of text");

    let warm = companies().open(dir).expect("a company folder");
    // Files that were modified very recently are not cached, so the first rounds read all of them again.
    snapshot(&warm, &project);
    snapshot(&warm, &project);
    let (mut cold_times, mut warm_times) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let cold = companies().open(dir).expect("a company folder");
        cold_times.push(timed(|| {
            let tasks = Tasks::read(&cold, &project).expect("tasks");
            assert_eq!(tasks.files.len(), TASKS);
        }));
        warm_times.push(timed(|| snapshot(&warm, &project)));
    }
    let (cold, warm) = (median(&mut cold_times), median(&mut warm_times));
    let ratio = warm.as_secs_f64() / cold.as_secs_f64();
    println!("{TASKS} tasks                     median");
    println!("read and parse, cold     {:>8.1} ms", milliseconds(cold));
    println!("pm.snapshot, warm        {:>8.1} ms", milliseconds(warm));
    println!("ratio                    {ratio:>8.3}");
    if warm <= TARGET {
        ExitCode::SUCCESS
    } else {
        println!("missed: a warm snapshot takes at most {TARGET:?}");
        ExitCode::FAILURE
    }
}

fn companies() -> Companies {
    let now = || {
        #[expect(clippy::disallowed_methods, reason = "the benchmark runs in real time")]
        let now = SystemTime::now();
        let since = now.duration_since(UNIX_EPOCH).expect("a time after 1970");
        i64::try_from(since.as_millis()).expect("a time before the year 292 million")
    };
    Companies::new(
        Sources::new(Arc::new(now)),
        company::Trust::everywhere(),
        Arc::new(|_, _| {}),
    )
}

/// Computes the whole response and serializes it.
fn snapshot(company: &Company, project: &ProjectId) {
    let standings = ProjectsOverview::read(company, &LiveRuns::new()).expect("standings");
    let answer = pm::snapshot(&standings, Some(project));
    let text = serde_json::to_string(&answer).expect("JSON");
    assert!(text.len() > TASKS * 100);
}

fn timed(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Writes a company with one project whose tasks depend on up to three others each.
fn fill(root: &Path, project: &ProjectId) {
    let write = |relative: String, text: String| {
        let path = root.join(relative);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        #[expect(
            clippy::disallowed_methods,
            reason = "no other process reads the files of a benchmark"
        )]
        fs::write(path, text).expect("a file");
    };
    let head = "schema_version: 1\ncreated_at: \"2024-05-01T08:00:00.000Z\"\n";
    write(
        "company/company.yaml".to_owned(),
        format!("{head}type: company\nid: cmp_bench\nname: Bench\n"),
    );
    write(
        format!("work/projects/{project}/project.yaml"),
        format!("{head}type: project\nid: {project}\nname: Bench\nstatus: active\n"),
    );
    for number in 0..TASKS {
        let needs = [1, 7, 40].map(|back| number.checked_sub(back));
        let needs: String = needs
            .into_iter()
            .flatten()
            .map(|needed| format!("    - task_{needed:04}\n"))
            .collect();
        let needs = if needs.is_empty() {
            " []\n".to_owned()
        } else {
            format!("\n{needs}")
        };
        let status = ["done", "in_progress", "ready", "blocked"][number % 4];
        let days = number % 9 + 1;
        let minute = number / 60 % 60;
        let second = number % 60;
        write(
            format!("work/projects/{project}/tasks/task_{number:04}.md"),
            format!(
                "---\nschema_version: 1\ntype: task\nid: task_{number:04}\nproject_id: {project}\n\
                 title: Implement part {number}\ncreated_at: \"2024-06-01T00:{minute:02}:{second:02}.000Z\"\n\
                 status: {status}\nvisibility: team\nteam_id: team_x\nschedule:\n  duration_days: {days}\n  \
                 depends_on_task_ids:{needs}deliverables:\n  - One deliverable\nacceptance_criteria:\n  - It works\n\
                 milestones:\n  - id: ms_1\n    title: Code\n    kind: coding\n    status: done\n    \
                 acceptance_criteria:\n      - done means done\n  - id: ms_2\n    title: Plan\n    kind: planning\n    \
                 status: ready\n    acceptance_criteria:\n      - done means done\n---\n\n# Part {number}\n\n\
                 ## Contract\n\n## Milestones\n"
            ),
        );
    }
}
