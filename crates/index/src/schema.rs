//! The tables of the index. Table names, column names and keys match those that other readers of such files expect;
//! additional columns come last.

use rusqlite::Connection;

use crate::Error;

/// Schema version. It changes with the tables and with the meaning of their content; an index of another version is
/// rebuilt.
pub(crate) const VERSION: i64 = 0x0ac0_0002;

/// How long a writer waits for the lock of another writer.
const BUSY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(20);

const TABLES: &str = "
CREATE TABLE runs (
    project_id TEXT NOT NULL, run_id TEXT NOT NULL, created_at TEXT NOT NULL, status TEXT NOT NULL,
    provider TEXT NOT NULL, agent_id TEXT NOT NULL, context_pack_id TEXT NOT NULL, events_relpath TEXT NOT NULL,
    usage_total_tokens INTEGER, usage_cost_usd REAL, usage_source TEXT, usage_confidence TEXT,
    context_cycles_count INTEGER, context_cycles_source TEXT,
    spec_model TEXT, spec_task_id TEXT, spec_milestone_id TEXT,
    usage_input_tokens INTEGER, usage_output_tokens INTEGER, is_launched INTEGER NOT NULL, relpath TEXT NOT NULL,
    PRIMARY KEY (project_id, run_id));
CREATE TABLE run_activity (
    project_id TEXT NOT NULL, run_id TEXT NOT NULL,
    last_event_json TEXT, parse_error_count INTEGER NOT NULL,
    policy_decision_count INTEGER NOT NULL, policy_denied_count INTEGER NOT NULL,
    budget_decision_count INTEGER NOT NULL, budget_alert_count INTEGER NOT NULL, budget_exceeded_count INTEGER NOT NULL,
    latest_policy_decision_json TEXT, latest_policy_denied_json TEXT, latest_budget_decision_json TEXT,
    PRIMARY KEY (project_id, run_id)) WITHOUT ROWID;
CREATE TABLE events (
    project_id TEXT NOT NULL, run_id TEXT NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL,
    ts_wallclock TEXT, ts_monotonic_ms NUMERIC, actor TEXT, session_ref TEXT, visibility TEXT,
    payload_json TEXT NOT NULL, raw_json TEXT NOT NULL);
CREATE TABLE event_parse_errors (
    project_id TEXT NOT NULL, run_id TEXT NOT NULL, seq INTEGER NOT NULL, error TEXT NOT NULL, raw_line TEXT NOT NULL,
    PRIMARY KEY (project_id, run_id, seq));
CREATE TABLE artifacts (
    project_id TEXT NOT NULL, artifact_id TEXT NOT NULL, type TEXT NOT NULL, title TEXT, visibility TEXT,
    produced_by TEXT, run_id TEXT, context_pack_id TEXT, created_at TEXT, relpath TEXT NOT NULL,
    is_valid INTEGER NOT NULL, is_plan_approval INTEGER NOT NULL,
    PRIMARY KEY (project_id, artifact_id));
CREATE TABLE reviews (
    review_id TEXT PRIMARY KEY, created_at TEXT NOT NULL, decision TEXT NOT NULL, actor_id TEXT NOT NULL,
    actor_role TEXT NOT NULL, subject_kind TEXT NOT NULL, subject_artifact_id TEXT NOT NULL,
    project_id TEXT NOT NULL, notes TEXT, relpath TEXT NOT NULL);
CREATE TABLE help_requests (
    help_request_id TEXT PRIMARY KEY, created_at TEXT NOT NULL, title TEXT NOT NULL, visibility TEXT NOT NULL,
    requester TEXT NOT NULL, target_manager TEXT NOT NULL, project_id TEXT, share_pack_id TEXT, relpath TEXT NOT NULL);
CREATE TABLE conversations (
    conversation_id TEXT PRIMARY KEY, scope TEXT NOT NULL, project_id TEXT, kind TEXT NOT NULL, name TEXT NOT NULL,
    slug TEXT NOT NULL, visibility TEXT NOT NULL, created_at TEXT NOT NULL, created_by TEXT NOT NULL,
    auto_generated INTEGER NOT NULL, dm_peer_agent_id TEXT, relpath TEXT NOT NULL);
CREATE TABLE conversation_participants (
    conversation_id TEXT NOT NULL, participant_kind TEXT NOT NULL, participant_id TEXT NOT NULL,
    PRIMARY KEY (conversation_id, participant_kind, participant_id));
CREATE TABLE messages (
    message_id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, project_id TEXT, seq INTEGER NOT NULL,
    created_at TEXT NOT NULL, author_id TEXT NOT NULL, author_role TEXT NOT NULL, kind TEXT NOT NULL,
    visibility TEXT NOT NULL, body TEXT NOT NULL, mentions_json TEXT NOT NULL);
CREATE TABLE comments (
    comment_id TEXT PRIMARY KEY, created_at TEXT NOT NULL, project_id TEXT NOT NULL, relpath TEXT NOT NULL);
CREATE TABLE tasks (
    project_id TEXT NOT NULL, task_id TEXT NOT NULL, title TEXT NOT NULL, status TEXT NOT NULL,
    visibility TEXT NOT NULL, team_id TEXT, assignee_agent_id TEXT, created_at TEXT NOT NULL,
    schedule_planned_start TEXT, schedule_planned_end TEXT, schedule_duration_days INTEGER,
    schedule_depends_on_json TEXT NOT NULL, execution_preferred_provider TEXT, execution_preferred_model TEXT,
    execution_preferred_agent_id TEXT, execution_token_budget_hint INTEGER, execution_applied_by TEXT,
    execution_applied_at TEXT, progress_ratio REAL NOT NULL, relpath TEXT NOT NULL,
    PRIMARY KEY (project_id, task_id));
CREATE TABLE task_milestones (
    project_id TEXT NOT NULL, task_id TEXT NOT NULL, milestone_id TEXT NOT NULL, seq INTEGER NOT NULL,
    title TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL, acceptance_criteria_json TEXT NOT NULL,
    evidence_requires_patch INTEGER, evidence_requires_tests INTEGER,
    PRIMARY KEY (project_id, task_id, milestone_id));
CREATE TABLE jobs (
    project_id TEXT NOT NULL, job_id TEXT NOT NULL, status TEXT NOT NULL, relpath TEXT NOT NULL,
    PRIMARY KEY (project_id, job_id));
CREATE TABLE agents (
    agent_id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, provider TEXT NOT NULL, model_hint TEXT,
    team_id TEXT, relpath TEXT NOT NULL);
-- Usage of runs, aggregated incrementally, so that no view has to read all runs.
CREATE TABLE run_totals (
    project_id TEXT NOT NULL, provider TEXT NOT NULL, run_count INTEGER NOT NULL, total_tokens INTEGER NOT NULL,
    total_cost_usd REAL NOT NULL, priced_runs INTEGER NOT NULL, reported_runs INTEGER NOT NULL,
    estimated_runs INTEGER NOT NULL, context_cycles_count INTEGER NOT NULL,
    context_cycles_known_runs INTEGER NOT NULL, context_cycles_unknown_runs INTEGER NOT NULL,
    PRIMARY KEY (project_id, provider)) WITHOUT ROWID;
CREATE TABLE agent_counters (
    agent_id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, provider TEXT NOT NULL, model_hint TEXT,
    team_id TEXT, total_runs INTEGER NOT NULL, running_runs INTEGER NOT NULL, ended_runs INTEGER NOT NULL,
    failed_runs INTEGER NOT NULL, stopped_runs INTEGER NOT NULL, total_tokens INTEGER NOT NULL,
    total_cost_usd REAL NOT NULL, context_cycles_count INTEGER NOT NULL, context_cycles_known_runs INTEGER NOT NULL,
    context_cycles_unknown_runs INTEGER NOT NULL);

-- State of each file when it was last read: a file whose metadata is unchanged is not read again.
CREATE TABLE file_state (
    path TEXT PRIMARY KEY, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL, inode INTEGER NOT NULL,
    -- Indexed part of a JSON Lines file: bytes and lines. 0 for a document.
    read_bytes INTEGER NOT NULL, lines INTEGER NOT NULL,
    -- Hash of a whole document, or of the end of the indexed part of a JSON Lines file.
    hash INTEGER NOT NULL,
    -- Id of the row made from the file; null if there is no such row.
    row_id TEXT, ctime_ns INTEGER NOT NULL) WITHOUT ROWID;

-- Full text. Events are added in the background in the order of their rows; `indexed_events` is the last row added.
CREATE TABLE texts (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, project_id TEXT, text_id TEXT NOT NULL, conversation_id TEXT,
    title TEXT, body TEXT NOT NULL, author_id TEXT, team_id TEXT, visibility TEXT, created_at TEXT,
    relpath TEXT NOT NULL);
CREATE VIRTUAL TABLE texts_fts USING fts5(
    title, body, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE events_fts USING fts5(
    payload, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2');
CREATE TABLE counts (indexed_events INTEGER NOT NULL);
INSERT INTO counts VALUES (0);
";

/// Created after a rebuild has filled the tables: sorting once is cheaper than maintaining the order of each insert.
const INDEXES: &str = "
CREATE UNIQUE INDEX events_key ON events(project_id, run_id, seq);
CREATE INDEX events_time ON events(ts_wallclock, seq);
CREATE INDEX events_type ON events(type, ts_wallclock, seq);
CREATE INDEX runs_created ON runs(created_at, run_id);
CREATE INDEX runs_of_project ON runs(project_id, created_at, run_id);
CREATE INDEX runs_agent ON runs(agent_id, status, provider, usage_total_tokens, usage_cost_usd,
    context_cycles_count, context_cycles_source, project_id);
CREATE INDEX comments_created ON comments(project_id, created_at, comment_id);
CREATE INDEX runs_task ON runs(spec_task_id);
CREATE INDEX artifacts_type ON artifacts(type, created_at, artifact_id);
CREATE INDEX artifacts_run ON artifacts(run_id);
CREATE INDEX reviews_created ON reviews(created_at, review_id);
CREATE INDEX reviews_subject ON reviews(project_id, subject_artifact_id, subject_kind);
CREATE INDEX help_requests_created ON help_requests(created_at, help_request_id);
CREATE INDEX conversations_slug ON conversations(scope, project_id, kind, slug);
CREATE INDEX participants ON conversation_participants(participant_id);
CREATE INDEX messages_place ON messages(conversation_id, seq);
CREATE INDEX messages_created ON messages(created_at);
CREATE INDEX tasks_status ON tasks(project_id, status);
CREATE INDEX tasks_assignee ON tasks(assignee_agent_id);
CREATE INDEX milestones_place ON task_milestones(project_id, task_id, seq);
CREATE INDEX jobs_status ON jobs(project_id, status);
CREATE INDEX texts_of_file ON texts(relpath);
";

/// Creates the tables of a new index.
pub(crate) fn create_tables(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(TABLES)
}

/// Creates the SQLite indexes, and marks the file as complete by setting its version.
pub(crate) fn finish(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(INDEXES)?;
    connection.pragma_update(None, "user_version", VERSION)
}

/// Configures a connection to an existing index and checks its schema version.
pub(crate) fn prepare(connection: &Connection) -> Result<(), Error> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(64);
    // The file may have been replaced since it was opened; then its WAL belongs to the old file, and a closing
    // connection must not checkpoint it.
    let keep = rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(keep, true)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    match found {
        VERSION => Ok(()),
        found => Err(Error::OtherVersion {
            found,
            expected: VERSION,
        }),
    }
}
