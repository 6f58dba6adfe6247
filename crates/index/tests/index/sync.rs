//! The index always matches its folder, whatever happens to either.

use std::{fs, path::Path};

use index::{Freshness, Indexes};
use protocol::company::{
    RunStatus,
    index::{
        IndexListEventParseErrorsParams, IndexListEventsParams, IndexListRunsParams, IndexOrder,
        IndexStatsResponse, IndexSyncResponse,
    },
};

use crate::folder::{self, Folder, line};

fn stats(folder: &Folder) -> IndexStatsResponse {
    folder
        .indexes
        .stats(&folder.company)
        .expect("the index answers")
}

fn sync(folder: &Folder) -> IndexSyncResponse {
    folder
        .indexes
        .sync(&folder.company)
        .expect("the index answers")
}

/// The counts of a sync without the fields that every sync fills.
fn changes(folder: &Folder) -> IndexSyncResponse {
    IndexSyncResponse {
        db_path: String::new(),
        files_scanned: 0,
        files_changed: 0,
        duration_ms: 0,
        ..sync(folder)
    }
}

fn event_types(folder: &Folder, run: &str) -> Vec<String> {
    let params = IndexListEventsParams {
        run_id: protocol::company::Text::new(run),
        order: Some(IndexOrder::Asc),
        ..folder.params()
    };
    let events = folder
        .indexes
        .list_events(&folder.company, &params, None)
        .expect("the index answers");
    events
        .into_iter()
        .map(|event| format!("{} {}", event.seq, event.r#type))
        .collect()
}

fn broken_lines(folder: &Folder) -> Vec<u64> {
    let params: IndexListEventParseErrorsParams = folder.params();
    let errors = folder
        .indexes
        .list_event_parse_errors(&folder.company, &params, None)
        .expect("the index answers");
    errors.into_iter().map(|error| error.seq).collect()
}

/// All rows of the tables that views read, without row ids.
fn dump(folder: &Folder) -> Vec<String> {
    let db = rusqlite::Connection::open(folder.path(".local/index.sqlite")).expect("it is there");
    let mut lines = Vec::new();
    for table in [
        "runs",
        "run_activity",
        "events",
        "event_parse_errors",
        "artifacts",
        "reviews",
        "help_requests",
        "conversations",
        "conversation_participants",
        "messages",
        "comments",
        "tasks",
        "task_milestones",
        "jobs",
        "agents",
        "agent_counters",
        "run_totals",
    ] {
        let mut statement = db
            .prepare(&format!("SELECT * FROM {table}"))
            .expect("it is there");
        let columns = statement.column_count();
        let mut rows = statement.query([]).expect("it is there");
        while let Some(row) = rows.next().expect("it is there") {
            let cells: Vec<String> = (0..columns)
                .map(|column| format!("{:?}", row.get_ref(column).expect("it is there")))
                .collect();
            lines.push(format!("{table} {}", cells.join(" ")));
        }
    }
    lines.sort();
    lines
}

#[test]
fn what_syncs_add_up_to_is_what_a_rebuild_finds() {
    let folder = Folder::with_everything();
    folder
        .indexes
        .rebuild(&folder.company)
        .expect("the index answers");
    folder.run("run_2", "agent_2", "failed");
    folder.events(
        "run_2",
        &[&line("run.started"), "broken", &line("policy.denied")],
    );
    folder.append("run_1", &line("run.ended"));
    folder.run("run_1", "agent_2", "ended");
    folder.remove("inbox/reviews/rev_1.yaml");
    folder.remove("work/projects/proj_1/tasks/task_1.md");
    sync(&folder);
    folder.remove("work/projects/proj_1/runs/run_2");
    folder.write(
        "work/projects/proj_1/artifacts/art_1.md",
        &folder::document("art_1", "proposal", "Another title", "Another text."),
    );
    sync(&folder);
    let synced = dump(&folder);
    folder
        .indexes
        .rebuild(&folder.company)
        .expect("the index answers");
    assert_eq!(synced, dump(&folder));
}

#[test]
fn a_sync_with_nothing_changed_changes_nothing() {
    let folder = Folder::with_everything();
    let built = sync(&folder);
    assert!(built.db_created && built.runs_upserted == 1 && built.tasks_upserted == 1);
    for _ in 0..3 {
        assert_eq!(changes(&folder), IndexSyncResponse::default());
    }
}

#[test]
fn an_appended_event_is_indexed_alone() {
    let folder = Folder::with_everything();
    sync(&folder);
    folder.append("run_1", &line("run.ended"));
    let expected = IndexSyncResponse {
        events_indexed: 1,
        ..IndexSyncResponse::default()
    };
    assert_eq!(changes(&folder), expected);
    assert_eq!(
        event_types(&folder, "run_1"),
        ["1 run.started", "2 policy.decision", "3 run.ended"]
    );
}

#[test]
fn a_line_is_indexed_when_it_has_its_end() {
    let folder = Folder::with_everything();
    sync(&folder);
    let last = line("run.ended");
    let (begin, end) = last.split_at(40);
    folder.append_raw("run_1", begin);
    assert_eq!(changes(&folder), IndexSyncResponse::default());
    folder.append_raw("run_1", &format!("{end}\n"));
    assert_eq!(sync(&folder).events_indexed, 1);
    assert_eq!(broken_lines(&folder), [0; 0]);
}

#[test]
fn a_broken_line_is_told_until_it_is_mended() {
    let folder = Folder::with_everything();
    folder.events(
        "run_1",
        &[&line("run.started"), "broken", "", &line("run.ended")],
    );
    sync(&folder);
    assert_eq!(broken_lines(&folder), [2]);
    assert_eq!(
        event_types(&folder, "run_1"),
        ["1 run.started", "3 run.ended"]
    );
    folder.events(
        "run_1",
        &[&line("run.started"), &line("mended"), &line("run.ended")],
    );
    let counts = sync(&folder);
    assert_eq!(
        (
            counts.event_parse_errors_deleted,
            counts.event_parse_errors_indexed
        ),
        (1, 0)
    );
    assert_eq!(broken_lines(&folder), [0; 0]);
    assert_eq!(event_types(&folder, "run_1").len(), 3);
}

#[test]
fn a_log_that_became_shorter_is_read_afresh() {
    let folder = Folder::with_everything();
    sync(&folder);
    folder.events("run_1", &[&line("other")]);
    let counts = sync(&folder);
    assert_eq!((counts.events_deleted, counts.events_indexed), (2, 1));
    assert_eq!(event_types(&folder, "run_1"), ["1 other"]);
}

#[test]
fn an_event_that_was_written_over_is_noticed() {
    let folder = Folder::with_everything();
    sync(&folder);
    let path = folder.path("work/projects/proj_1/runs/run_1/events.jsonl");
    let text = fs::read_to_string(&path)
        .expect("it is there")
        .replace("run.started", "run.STARTED");
    // The same inode and the same size.
    folder.overwrite(&path, &text);
    assert_eq!(sync(&folder).events_indexed, 2);
    assert_eq!(event_types(&folder, "run_1")[0], "1 run.STARTED");
}

#[test]
fn an_edit_that_keeps_the_size_and_the_time_of_a_file_is_noticed() {
    let folder = Folder::with_everything();
    for (path, from, to) in [
        (
            "work/projects/proj_1/runs/run_1/events.jsonl",
            "run.started",
            "run.STARTED",
        ),
        (
            "work/projects/proj_1/runs/run_1/run.yaml",
            "provider: codex",
            "provider: CODEX",
        ),
    ] {
        let path = folder.path(path);
        // A time long ago, so that the file counts as settled.
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
        let set_time = || {
            let file = fs::File::options()
                .write(true)
                .open(&path)
                .expect("it is there");
            file.set_modified(time).expect("it is ours");
        };
        set_time();
        sync(&folder);
        assert!(folder.indexes.is_current(&folder.company).unwrap());
        let text = fs::read_to_string(&path).expect("it is there");
        assert!(text.contains(from), "{text}");
        folder.overwrite(&path, &text.replace(from, to));
        set_time();
        assert!(!folder.indexes.is_current(&folder.company).unwrap());
        assert!(sync(&folder).files_changed > 0, "{}", path.display());
        assert!(folder.indexes.is_current(&folder.company).unwrap());
    }
    assert_eq!(event_types(&folder, "run_1")[0], "1 run.STARTED");
}

#[test]
fn a_run_whose_document_breaks_goes_with_its_events_and_comes_back_with_them() {
    let folder = Folder::with_everything();
    sync(&folder);
    let before = dump(&folder);
    let path = "work/projects/proj_1/runs/run_1/run.yaml";
    let document = fs::read_to_string(folder.path(path)).expect("it is there");
    folder.write(path, "schema_version: 1\ntype: run\nid: run_1\n");
    let counts = sync(&folder);
    assert_eq!((counts.runs_deleted, counts.events_deleted), (1, 2));
    assert_eq!((stats(&folder).runs, stats(&folder).events), (0, 0));
    folder.append("run_1", &line("while.broken"));
    assert_eq!(changes(&folder), IndexSyncResponse::default());
    folder.write(path, &document);
    assert_eq!(sync(&folder).events_indexed, 3);
    assert_eq!(dump(&folder).len(), before.len() + 1);
}

#[test]
fn a_log_without_a_run_is_not_indexed() {
    let folder = Folder::with_everything();
    folder.write(
        "work/projects/proj_1/runs/run_manual/events.jsonl",
        &format!("{}\n", line("policy.decision")),
    );
    sync(&folder);
    assert_eq!((stats(&folder).runs, stats(&folder).events), (1, 2));
    assert_eq!(changes(&folder), IndexSyncResponse::default());
}

#[test]
fn of_two_files_with_one_id_the_second_takes_over_when_the_first_goes() {
    let folder = Folder::with_everything();
    sync(&folder);
    let document = fs::read_to_string(folder.path("work/projects/proj_1/runs/run_1/run.yaml"))
        .expect("the index answers");
    folder.write("work/projects/proj_1/runs/copy/run.yaml", &document);
    folder.write(
        "work/projects/proj_1/runs/copy/events.jsonl",
        &format!("{}\n", line("of.the.copy")),
    );
    sync(&folder);
    assert_eq!(event_types(&folder, "run_1").len(), 2);
    folder.remove("work/projects/proj_1/runs/run_1");
    sync(&folder);
    assert_eq!(event_types(&folder, "run_1"), ["1 of.the.copy"]);
    let synced = dump(&folder);
    folder
        .indexes
        .rebuild(&folder.company)
        .expect("the index answers");
    assert_eq!(synced, dump(&folder));
}

#[test]
fn an_index_that_cannot_be_used_is_replaced_without_a_word() {
    let folder = Folder::with_everything();
    sync(&folder);
    let index = folder.path(".local/index.sqlite");
    let damage: [&dyn Fn(); 4] = [
        &|| {
            folder.overwrite(
                &index,
                "this is not a database, but it is a file that exists",
            )
        },
        &|| folder.overwrite(&index, ""),
        &|| {
            fs::remove_file(&index).expect("the index answers");
            let db = rusqlite::Connection::open(&index).expect("the index answers");
            db.execute_batch("CREATE TABLE runs (x); PRAGMA user_version = 7")
                .expect("the index answers");
        },
        &|| {
            let mut bytes = fs::read(&index).expect("the index answers");
            let length = bytes.len();
            bytes[4096..length].fill(0x55);
            fs::remove_file(&index).expect("the index answers");
            folder.overwrite_bytes(&index, &bytes);
        },
    ];
    for (place, damage) in damage.iter().enumerate() {
        damage();
        assert_eq!(stats(&folder).events, 2, "{place}");
        damage();
        sync(&folder);
        damage();
        let state = folder.indexes.freshen(&folder.company, Freshness::Synced);
        state.expect("the index answers");
        assert_eq!(event_types(&folder, "run_1").len(), 2, "{place}");
    }
}

#[test]
fn without_an_index_lists_say_so_and_views_build_one() {
    let folder = Folder::with_everything();
    let error = folder.indexes.stats(&folder.company).unwrap_err();
    let path = format!("{}/.local/index.sqlite", folder.company.given());
    assert_eq!(
        error.to_string(),
        format!("Index database not found: {path}. Run index.rebuild first.")
    );
    let state = folder
        .indexes
        .freshen(&folder.company, Freshness::AsItIs)
        .expect("the index answers");
    assert!(state.rebuilt && !state.synced);
    fs::remove_file(folder.path(".local/index.sqlite")).expect("the index answers");
    assert!(sync(&folder).db_created);
}

#[test]
fn a_folder_that_is_no_company_gets_no_files() {
    let folder = tempfile::tempdir().expect("the index answers");
    let company = folder::at(folder.path());
    let indexes = Indexes::new();
    assert!(indexes.sync(&company).is_err());
    assert!(indexes.rebuild(&company).is_err());
    assert!(indexes.freshen(&company, Freshness::Synced).is_err());
    assert_eq!(
        fs::read_dir(folder.path())
            .expect("the index answers")
            .count(),
        0
    );
}

#[test]
fn an_index_that_somebody_else_replaced_is_read_anew() {
    let folder = Folder::with_everything();
    let others = Indexes::new();
    sync(&folder);
    others.sync(&folder.company).expect("it is there");
    folder.append("run_1", &line("run.ended"));
    others.rebuild(&folder.company).expect("it is there");
    assert_eq!(stats(&folder).events, 3);
    folder.append("run_1", &line("run.ended"));
    assert_eq!(sync(&folder).events_indexed, 1);
    assert_eq!(
        others.stats(&folder.company).expect("it is there").events,
        4
    );
    assert_eq!(
        others
            .sync(&folder.company)
            .expect("it is there")
            .events_indexed,
        0
    );
}

#[test]
fn nothing_is_left_beside_the_index_by_those_who_died_building_it() {
    let folder = Folder::with_everything();
    // No process has this id.
    folder.write(".local/.index.sqlite.tmp-2147483646-0", "half");
    folder
        .indexes
        .rebuild(&folder.company)
        .expect("the index answers");
    let names: Vec<String> = names(&folder.path(".local"));
    assert!(
        names.iter().all(|name| !name.contains(".tmp-")),
        "{names:?}"
    );
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it is there");
    entries
        .map(|entry| {
            entry
                .expect("it is there")
                .file_name()
                .into_string()
                .expect("it is there")
        })
        .collect()
}

#[test]
fn runs_are_listed_newest_first_by_status() {
    let folder = Folder::with_everything();
    folder.run("run_2", "agent_1", "failed");
    sync(&folder);
    let list = |status| {
        let params = IndexListRunsParams {
            status,
            ..folder.params()
        };
        let runs = folder
            .indexes
            .list_runs(&folder.company, &params, None)
            .expect("the index answers");
        runs.into_iter().map(|run| run.run_id).collect::<Vec<_>>()
    };
    assert_eq!(list(None), ["run_2", "run_1"]);
    assert_eq!(list(Some(RunStatus::Failed)), ["run_2"]);
}
