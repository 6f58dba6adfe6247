//! A process that ends between any two writes leaves a decision either complete or not made.

use std::sync::atomic::{AtomicU64, Ordering};

use company::{
    Company, Error,
    events::replay,
    inbox::{self, ActionExecutor, ApprovedAction, RecordOnly},
    memory,
    planning::milestone,
};
use protocol::{
    Id as _,
    company::{
        DocumentId, MilestoneId, ReviewDecision, TaskId, inbox::ActionExecution, run::ReplayMode,
    },
};

use crate::place::Place;

/// Ends the process after each number of writes that `decide` makes, reopens the folder and passes to `check` whether
/// the decision was made. Returns the number of writes.
fn at_every_write(
    prepare: impl Fn(&Place) -> DocumentId,
    decide: impl Fn(&Company, &Place, &DocumentId) -> Result<(), Error>,
    check: impl Fn(&Place, &DocumentId, bool),
) -> u64 {
    let (mut done_after_end, mut undone) = (0, 0);
    for writes in 0.. {
        let place = Place::new();
        let id = prepare(&place);
        let ended = decide(&place.ending_after(writes), &place, &id);
        let company = place.reopened();
        assert_eq!(
            place.names(".local/intents"),
            [""; 0],
            "after {writes} writes"
        );
        let is_done = !place.names("inbox/reviews").is_empty();
        check(&place, &id, is_done);
        check_chain(&company, &place);
        // A retry reports an existing decision, and otherwise succeeds.
        let again = decide(&company, &place, &id);
        if is_done {
            assert!(
                matches!(again, Err(Error::AlreadyDecided { .. })),
                "{again:?}"
            )
        } else {
            again.expect("the fixture is as it was made")
        }
        check(&place, &id, true);
        match (ended, is_done) {
            (Ok(()), _) => {
                assert!(done_after_end > 0 && undone > 0);
                return writes;
            }
            (Err(_), true) => done_after_end += 1,
            (Err(_), false) => undone += 1,
        }
    }
    unreachable!("every decision ends")
}

fn check_chain(company: &Company, place: &Place) {
    let log = format!(
        "work/projects/{}/runs/{}/events.jsonl",
        place.project, place.run
    );
    let options = replay::Options {
        mode: ReplayMode::Verified,
        tail: None,
        after_seq: 0,
        limit: None,
        events_tail: None,
    };
    let replayed = replay::replay(&company.path(&log), &options)
        .expect("the fixture is as it was made")
        .replayed;
    let issues = serde_json::to_value(&replayed).expect("the fixture is as it was made")["verification_issues"].clone();
    assert_eq!(issues, serde_json::json!([]));
}

#[test]
fn an_approved_delta_is_remembered_once_wherever_the_process_ends() {
    let writes = at_every_write(
        |place| place.propose("- service listens on 8080").artifact_id,
        |company, place, id| {
            let verdict = place.verdict(id, ReviewDecision::Approved);
            memory::decide(company, &verdict).map(drop)
        },
        |place, _, is_done| {
            let times = usize::from(is_done);
            assert_eq!(place.memory().matches("8080").count(), times);
            assert_eq!(place.count("approval.decided"), times);
            assert_eq!(place.names("inbox/reviews").len(), times);
        },
    );
    // The policy decision, the intent, the review, the memory, the event and the removal of the intent.
    assert_eq!(writes, 6);
}

/// A function that decides about a document.
type Decide = dyn Fn(&Company, &Place, &DocumentId) -> Result<(), Error>;

#[test]
fn a_milestone_is_accepted_once_wherever_the_process_ends() {
    let by_inbox = |company: &Company, place: &Place, id: &DocumentId| {
        let verdict = place.verdict(id, ReviewDecision::Approved);
        inbox::resolve(company, &verdict, &RecordOnly).map(drop)
    };
    let by_name = |company: &Company, place: &Place, id: &DocumentId| {
        let verdict = place.verdict(id, ReviewDecision::Approved);
        let named = (
            TaskId::parse("task_1").expect("an id"),
            MilestoneId::parse("ms_1").expect("an id"),
        );
        milestone::decide(company, &verdict, Some((&named.0, &named.1))).map(drop)
    };
    let ways: [&Decide; 2] = [&by_inbox, &by_name];
    for decide in ways {
        at_every_write(
            |place| place.report("art_1", "ms_1", ""),
            decide,
            |place, _, is_done| {
                let task = place.read(&format!("work/projects/{}/tasks/task_1.md", place.project));
                let times = usize::from(is_done);
                assert_eq!(task.matches("status: done").count(), times);
                assert_eq!(place.count("approval.decided"), times);
                assert_eq!(place.names("inbox/reviews").len(), times);
            },
        );
    }
}

#[test]
fn what_is_denied_is_denied_once_wherever_the_process_ends() {
    let documents: [fn(&Place) -> DocumentId; 3] = [
        |place| place.propose("- service listens on 8080").artifact_id,
        |place| place.report("art_1", "ms_1", ""),
        |place| place.proposal("art_1"),
    ];
    for prepare in documents {
        at_every_write(
            prepare,
            |company, place, id| {
                let verdict = place.verdict(id, ReviewDecision::Denied);
                inbox::resolve(company, &verdict, &RecordOnly).map(drop)
            },
            |place, _, is_done| {
                let times = usize::from(is_done);
                let task = place.read(&format!("work/projects/{}/tasks/task_1.md", place.project));
                assert!(!task.contains("status: done"));
                assert!(!place.memory().contains("8080"));
                assert_eq!(place.count("approval.decided"), times);
                assert_eq!(place.names("inbox/reviews").len(), times);
                assert_eq!(place.names(".local/approved_actions"), [""; 0]);
            },
        );
    }
}

/// A [`ActionExecutor`] that executes only once, as a job runner does by means of the idempotency key.
#[derive(Default)]
struct Counting {
    done: AtomicU64,
}

impl ActionExecutor for Counting {
    fn check(&self, _: &Company, _: &ApprovedAction) -> Result<(), Error> {
        Ok(())
    }

    fn execute(&self, _: &Company, action: &ApprovedAction) -> Result<ActionExecution, Error> {
        assert_eq!(action.kind(), "noop");
        let before = self.done.fetch_max(1, Ordering::Relaxed);
        Ok(ActionExecution {
            executed_actions: 1 - before,
            deduped_actions: before,
            ..ActionExecution::default()
        })
    }
}

#[test]
fn an_approved_action_is_carried_out_and_told_of_once_wherever_the_process_ends() {
    for writes in 0.. {
        let place = Place::new();
        let id = place.proposal("art_1");
        let carry = Counting::default();
        let verdict = place.verdict(&id, ReviewDecision::Approved);
        let ended = inbox::resolve(&place.ending_after(writes), &verdict, &carry);
        let company = place.reopened();
        inbox::execute_pending(&company, &carry).unwrap();
        let is_done = !place.names("inbox/reviews").is_empty();
        let times = usize::from(is_done);
        assert_eq!(carry.done.load(Ordering::Relaxed), u64::from(is_done));
        assert_eq!(
            place.count("approval.decided"),
            times,
            "after {writes} writes"
        );
        assert_eq!(place.names(".local/approved_actions"), [""; 0]);
        let again = inbox::resolve(&company, &verdict, &carry);
        assert_eq!(again.is_err(), is_done);
        assert_eq!(place.count("approval.decided"), 1);
        if ended.is_ok() {
            return;
        }
    }
}

#[test]
fn a_proposal_is_there_whole_or_not_at_all_wherever_the_process_ends() {
    for writes in 0.. {
        let place = Place::new();
        let delta = place.delta("- one");
        let ended = memory::propose(&place.ending_after(writes), &delta);
        place.reopened();
        let folder = format!("work/projects/{}/artifacts", place.project);
        let names = place.names(&folder);
        assert!(names.is_empty() || names.len() == 2, "{names:?}");
        assert_eq!(place.count("memory.delta.proposed"), names.len() / 2);
        if ended.is_ok() {
            return;
        }
    }
}

#[test]
fn what_somebody_edits_before_a_decision_is_finished_is_kept_beside() {
    let place = Place::new();
    let id = place.propose("- service listens on 8080").artifact_id;
    let verdict = place.verdict(&id, ReviewDecision::Approved);
    // The two writes are the policy decision and the intent.
    memory::decide(&place.ending_after(2), &verdict).unwrap_err();
    place.put(
        &format!("work/projects/{}/memory.md", place.project),
        "edited by hand\n",
    );
    place.reopened();
    assert!(place.memory().contains("8080"));
    let names = place.names(".local/recovered");
    assert_eq!(names.len(), 1);
    assert_eq!(
        place.read(&format!(".local/recovered/{}", names[0])),
        "edited by hand\n"
    );
}

/// A hook that fails with a full disk, starting with the `first` write to a path for which `is_meant` returns true.
fn full_from(
    first: u64,
    is_meant: impl Fn(&str) -> bool + Send + Sync + 'static,
) -> impl Fn(&std::path::Path) -> Result<(), Error> + Send + Sync + 'static {
    let seen = AtomicU64::new(0);
    move |path| {
        let is_full =
            is_meant(&path.to_string_lossy()) && seen.fetch_add(1, Ordering::Relaxed) + 1 >= first;
        if is_full {
            return Err(Error::DiskFull);
        }
        Ok(())
    }
}

#[test]
fn a_decision_that_fails_half_way_is_undone_and_does_not_happen_later() {
    let place = Place::new();
    let id = place.propose("- service listens on 8080").artifact_id;
    let verdict = place.verdict(&id, ReviewDecision::Approved);
    let company = place.with_before_write(full_from(1, |path| path.ends_with("memory.md")));
    memory::decide(&company, &verdict).unwrap_err();
    for _ in 0..2 {
        // The change is undone at once and does not reappear when the folder is opened again.
        assert_eq!(place.names(".local/intents"), [""; 0]);
        assert_eq!(place.names("inbox/reviews"), [""; 0]);
        assert_eq!(place.count("approval.decided"), 0);
        assert!(!place.memory().contains("8080"));
        place.reopened();
    }
    memory::decide(&place.company, &verdict).unwrap();
    assert_eq!(place.memory().matches("8080").count(), 1);
}

#[test]
fn a_decision_that_was_told_of_is_not_an_error_although_its_end_fails() {
    let place = Place::new();
    let id = place.propose("- service listens on 8080").artifact_id;
    let verdict = place.verdict(&id, ReviewDecision::Approved);
    // The second write is the removal of the intent, after the event.
    let company = place.with_before_write(full_from(2, |path| path.contains(".local/intents")));
    memory::decide(&company, &verdict).unwrap();
    place.reopened();
    assert_eq!(place.names(".local/intents"), [""; 0]);
    assert_eq!(place.count("approval.decided"), 1);
    assert_eq!(place.memory().matches("8080").count(), 1);
}

#[test]
fn an_intent_that_can_never_be_finished_does_not_keep_others_from_writing() {
    let place = Place::new();
    let id = place.propose("- service listens on 8080").artifact_id;
    let verdict = place.verdict(&id, ReviewDecision::Approved);
    memory::decide(&place.ending_after(2), &verdict).unwrap_err();
    let memory = format!("work/projects/{}/memory.md", place.project);
    std::fs::remove_file(place.company.path(&memory)).unwrap();
    std::fs::create_dir(place.company.path(&memory)).unwrap();
    let company = place.reopened();
    company
        .write(|writer| writer.create_project("Beta"))
        .unwrap();
    let names = place.names(".local/intents");
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(names[0].ends_with(".json.failed"), "{names:?}");
    // The other parts of the intent were applied.
    assert_eq!(place.names("inbox/reviews").len(), 1);
    assert_eq!(place.count("approval.decided"), 1);
}

#[test]
fn an_intent_that_cannot_be_read_is_put_aside_and_the_doctor_reports_it() {
    let place = Place::new();
    let intents = place.company.path(".local/intents");
    std::fs::create_dir_all(intents.join("evt_a.json")).unwrap();
    place.put(".local/intents/evt_b.json", "not JSON");
    let huge = std::fs::File::create(intents.join("evt_c.json")).unwrap();
    huge.set_len(17 << 20).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", intents.join("evt_d.json")).unwrap();
    place
        .reopened()
        .write(|writer| writer.create_project("Beta"))
        .unwrap();
    let expected = ["a", "b", "c", "d"].map(|name| format!("evt_{name}.json.damaged"));
    assert_eq!(place.names(".local/intents"), expected);
    let outside = company::workspace::doctor::Outside {
        providers: Vec::new(),
        index: Vec::new(),
        verify_events: &|_| Ok(Vec::new()),
    };
    let found = company::workspace::doctor::doctor(&place.company, outside);
    let check = found.checks.iter().find(|check| check.id == "intents");
    let details = check.expect("a check").details.clone().expect("details");
    assert_eq!(
        details,
        expected.map(|name| format!(".local/intents/{name}"))
    );
}

#[test]
fn an_intent_whose_event_cannot_be_told_is_tried_again_and_others_write_meanwhile() {
    let place = Place::new();
    let id = place.propose("- service listens on 8080").artifact_id;
    let verdict = place.verdict(&id, ReviewDecision::Approved);
    memory::decide(&place.ending_after(2), &verdict).unwrap_err();
    let log = place.company.path(&format!(
        "work/projects/{}/runs/{}/events.jsonl",
        place.project, place.run
    ));
    let aside = log.with_extension("aside");
    std::fs::rename(&log, &aside).unwrap();
    std::fs::create_dir(&log).unwrap();
    let company = place.reopened();
    company
        .write(|writer| writer.create_project("Beta"))
        .unwrap();
    assert_eq!(place.names("inbox/reviews").len(), 1);
    // A later edit of the memory must not be overwritten.
    let memory = format!("work/projects/{}/memory.md", place.project);
    place.put(&memory, "edited later\n");
    std::fs::remove_dir(&log).unwrap();
    std::fs::rename(&aside, &log).unwrap();
    place.reopened();
    assert_eq!(place.names(".local/intents"), [""; 0]);
    assert_eq!(place.count("approval.decided"), 1);
    assert_eq!(place.memory(), "edited later\n");
}

#[test]
fn a_project_is_there_with_all_its_defaults_or_not_at_all_wherever_the_process_ends() {
    let make = |company: &company::Company| {
        let repos = [protocol::Id::parse("site").unwrap()];
        company
            .write(|writer| writer.create_project_with_defaults("Beta", &repos, "human_ceo", None))
    };
    let mut ends = 0;
    loop {
        let place = Place::new();
        let before = place.names("work/projects").len();
        let made = make(&place.ending_after(ends));
        let company = place.reopened();
        let projects = place.names("work/projects");
        if projects.len() > before {
            let beta = projects
                .iter()
                .find(|name| **name != place.project.to_string())
                .unwrap();
            let folder = format!("work/projects/{beta}");
            assert_eq!(place.names(&format!("{folder}/conversations")).len(), 4);
            assert!(company.read_text(&format!("{folder}/repos.yaml")).is_ok());
            let secretary = format!("org/agents/agent_secretary_{beta}/agent.yaml");
            assert!(company.read_text(&secretary).is_ok());
        } else {
            assert!(made.is_err());
        }
        assert_eq!(company::documents::validate::validate(&company), []);
        if made.is_ok() {
            return;
        }
        ends += 1;
    }
}

#[test]
fn a_project_that_cannot_be_made_leaves_no_folder_behind() {
    let place = Place::new();
    let agents = place.names("org/agents");
    let projects = place.names("work/projects");
    let failing = place.with_before_write(full_from(1, |path| path.ends_with("memory.md")));
    failing
        .write(|writer| writer.create_project_with_defaults("Beta", &[], "human_ceo", None))
        .unwrap_err();
    assert_eq!(place.names("work/projects"), projects);
    assert_eq!(place.names("org/agents"), agents);
    assert_eq!(company::documents::validate::validate(&place.company), []);
}
