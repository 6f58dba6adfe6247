//! Turns and their durable event logs.

use entity::{thread, turn::Model, turn_event};
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, DatabaseConnection, FromQueryResult, Value,
};

use crate::{CrudStore, Error, query, workspace::bump_tree};

/// The repository of turns.
#[derive(Debug)]
pub struct TurnRepository<'a>(pub(crate) &'a CrudStore);

/// A turn to start.
#[derive(Clone, Debug)]
pub struct StartTurn {
    /// The id of the turn.
    pub id: String,
    /// The id of the thread.
    pub thread_id: String,
    /// SHA-256 of the input, to distinguish a repeated start from a different one.
    pub input_sha256: String,
    /// The first event of the turn.
    pub event: NewTurnEvent,
    /// The beginning of the input, used as preview of a thread that has none yet.
    pub preview: String,
    /// The model. Absent to use the thread's.
    pub model: Option<String>,
    /// The model provider. Absent to use the thread's.
    pub model_provider: Option<String>,
    /// The mode. Absent to use the thread's.
    pub mode: Option<String>,
    /// True if these values also become the thread's.
    pub remember: bool,
    /// The id of the process that runs the turn.
    pub owner: String,
    /// The current time, in Unix seconds.
    pub now: i64,
    /// The current time, in Unix milliseconds.
    pub now_ms: i64,
}

/// A turn run by a worker program, on its own thread that is hidden in the tree.
#[derive(Clone, Debug)]
pub struct WorkerTurn {
    /// The id of the turn.
    pub id: String,
    /// The id of the thread, which is created if it does not exist.
    pub thread_id: String,
    /// The id of the workspace.
    pub workspace_id: String,
    /// The folder of a new thread. Absent for the root.
    pub folder_id: Option<String>,
    /// The title of a new thread.
    pub name: String,
    /// The name of the worker, if it has one.
    pub agent_nickname: Option<String>,
    /// SHA-256 of the input, to distinguish a repeated turn from a different one.
    pub input_sha256: String,
    /// The events so far.
    pub events: Vec<NewTurnEvent>,
    /// The prompt manifest as JSON.
    pub manifest: String,
    /// The name of the model.
    pub model: String,
    /// The name of the driver.
    pub driver: String,
    /// The id of the process that runs the turn.
    pub owner: String,
    /// The current time, in Unix milliseconds.
    pub now_ms: i64,
}

/// An event to append.
#[derive(Clone, Debug)]
pub struct NewTurnEvent {
    /// The name of the payload type.
    pub kind: String,
    /// The payload as JSON.
    pub payload: String,
}

/// The result of [`TurnRepository::start`].
#[derive(Clone, Debug, PartialEq)]
pub enum TurnStarted {
    /// The turn was started.
    New {
        /// The new turn.
        turn: Model,
        /// The thread of the turn.
        thread: Box<thread::Model>,
        /// The mode of the turn.
        mode: String,
        /// The new version of the tree. Absent if the thread was already visible.
        tree_version: Option<u64>,
    },
    /// The turn was already started with the same input.
    Existing(Model),
}

/// The end of a turn.
#[derive(Clone, Debug)]
pub struct FinishTurn {
    /// The id of the turn.
    pub id: String,
    /// The final status: `Completed`, `Failed` or `Interrupted`.
    pub status: String,
    /// The cause of a failure. Absent for a completed turn.
    pub error: Option<String>,
    /// The last events of the turn.
    pub events: Vec<NewTurnEvent>,
    /// The title for a thread that has none, if known.
    pub title: Option<String>,
    /// The current time, in Unix seconds.
    pub now: i64,
    /// The current time, in Unix milliseconds.
    pub now_ms: i64,
}

/// The result of [`TurnRepository::finish`].
#[derive(Clone, Debug, PartialEq)]
pub struct TurnFinished {
    /// The turn after the update.
    pub turn: Model,
    /// The thread of the turn.
    pub thread: thread::Model,
    /// The new version of the tree. Absent if the thread got no title.
    pub tree_version: Option<u64>,
}

/// One message of a past turn.
#[derive(Clone, Debug, PartialEq, FromQueryResult)]
pub struct PastItem {
    /// The ordinal of its turn within the thread.
    pub ordinal: i64,
    /// The event as JSON.
    pub payload: String,
}

impl TurnRepository<'_> {
    /// Starts a turn. Fails if another turn of the thread is running.
    pub async fn start(&self, start: StartTurn) -> Result<TurnStarted, Error> {
        self.0.write(move |db| self::start(db, &start)).await
    }

    /// Records a worker's turn as running. Idempotent.
    pub async fn record(&self, turn: WorkerTurn) -> Result<(), Error> {
        self.0.write(move |db| record(db, &turn)).await
    }

    /// Appends events. Returns the sequence number of the last one.
    pub async fn append(
        &self,
        turn_id: &str,
        events: Vec<NewTurnEvent>,
        now_ms: i64,
    ) -> Result<i64, Error> {
        let turn_id = turn_id.to_owned();
        self.0
            .write(move |db| append(db, &turn_id, &events, now_ms))
            .await
    }

    /// Stores the prompt manifest of a turn.
    pub async fn set_manifest(&self, turn_id: &str, manifest: String) -> Result<(), Error> {
        let turn_id = turn_id.to_owned();
        let work = move |db: &DatabaseConnection| {
            let sql = "UPDATE turn SET prompt_manifest = $2 WHERE id = $1 RETURNING id";
            query::one(db, sql, [turn_id.as_str().into(), manifest.into()])?;
            Ok(())
        };
        self.0.write(work).await
    }

    /// Ends a running turn. A turn that has already ended is not changed.
    pub async fn finish(&self, finish: FinishTurn) -> Result<TurnFinished, Error> {
        self.0.write(move |db| self::finish(db, &finish)).await
    }

    /// Returns a turn of a thread.
    pub async fn get(&self, thread_id: &str, turn_id: &str) -> Result<Model, Error> {
        let (thread_id, turn_id) = (thread_id.to_owned(), turn_id.to_owned());
        self.0.read(move |db| owned(db, &thread_id, &turn_id)).await
    }

    /// Returns a turn of a thread and its events after `after`.
    pub async fn events(
        &self,
        thread_id: &str,
        turn_id: &str,
        after: i64,
    ) -> Result<(Model, Vec<turn_event::Model>), Error> {
        let (thread_id, turn_id) = (thread_id.to_owned(), turn_id.to_owned());
        let work = move |db: &DatabaseConnection| {
            let turn = owned(db, &thread_id, &turn_id)?;
            let sql =
                "SELECT * FROM turn_event WHERE turn_id = $1 AND sequence > $2 ORDER BY sequence";
            let events = query::list(db, sql, [turn_id.as_str().into(), after.into()])?;
            Ok((turn, events))
        };
        self.0.read(work).await
    }

    /// Returns the newest events of a thread, oldest first.
    pub async fn history(
        &self,
        thread_id: &str,
        limit: u64,
    ) -> Result<Vec<turn_event::Model>, Error> {
        let thread_id = thread_id.to_owned();
        let work = move |db: &DatabaseConnection| {
            let sql = "SELECT event.* FROM turn_event event JOIN turn ON turn.id = event.turn_id \
                       WHERE turn.thread_id = $1 ORDER BY turn.ordinal DESC, event.sequence DESC LIMIT $2";
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut events: Vec<turn_event::Model> =
                query::list(db, sql, [thread_id.into(), limit.into()])?;
            events.reverse();
            Ok(events)
        };
        self.0.read(work).await
    }

    /// Returns the messages of the last `turns` completed turns before this one, oldest first.
    pub async fn conversation(
        &self,
        thread_id: &str,
        before: i64,
        turns: i64,
    ) -> Result<Vec<PastItem>, Error> {
        let thread_id = thread_id.to_owned();
        let work = move |db: &DatabaseConnection| {
            let sql = "SELECT past.ordinal AS ordinal, event.payload AS payload FROM ( \
                         SELECT id, ordinal FROM turn \
                         WHERE thread_id = $1 AND ordinal < $2 AND status = 'Completed' \
                         ORDER BY ordinal DESC LIMIT $3) past \
                       JOIN turn_event event ON event.turn_id = past.id AND event.kind = 'itemCompleted' \
                       ORDER BY past.ordinal, event.sequence";
            query::list(db, sql, [thread_id.into(), before.into(), turns.into()])
        };
        self.0.read(work).await
    }

    /// Returns every turn whose status is `InProgress`.
    pub async fn in_progress(&self) -> Result<Vec<Model>, Error> {
        let work = |db: &DatabaseConnection| {
            query::list(db, "SELECT * FROM turn WHERE status = 'InProgress'", [])
        };
        self.0.read(work).await
    }
}

fn start(db: &DatabaseConnection, start: &StartTurn) -> Result<TurnStarted, Error> {
    let sql = "SELECT * FROM thread WHERE id = $1 AND trashed_at IS NULL";
    let thread: Option<thread::Model> = query::find(db, sql, [start.thread_id.as_str().into()])?;
    let thread = thread.ok_or_else(|| Error::UnknownThread(start.thread_id.clone()))?;
    let sql = "SELECT * FROM turn WHERE id = $1";
    let existing: Option<Model> = query::find(db, sql, [start.id.as_str().into()])?;
    if let Some(existing) = existing {
        let is_same =
            existing.thread_id == start.thread_id && existing.input_sha256 == start.input_sha256;
        return if is_same {
            Ok(TurnStarted::Existing(existing))
        } else {
            Err(Error::TurnDiffers(start.id.clone()))
        };
    }
    if thread.status == "Active" {
        return Err(Error::ThreadBusy(start.thread_id.clone()));
    }

    let model = start.model.clone().unwrap_or_else(|| thread.model.clone());
    let model_provider = start
        .model_provider
        .clone()
        .unwrap_or_else(|| thread.model_provider.clone());
    let mode = start.mode.clone().unwrap_or_else(|| thread.mode.clone());
    let sql = "INSERT INTO turn (id, thread_id, workspace_id, ordinal, status, input_sha256, model, model_provider, \
                 owner, last_sequence, created_at_ms, updated_at_ms) \
               SELECT $1, $2, $3, 1 + COALESCE((SELECT MAX(ordinal) FROM turn WHERE thread_id = $2), 0), 'InProgress', \
                 $4, $5, $6, $7, 0, $8, $8 \
               RETURNING *";
    let values: [Value; 8] = [
        start.id.as_str().into(),
        start.thread_id.as_str().into(),
        thread.workspace_id.as_str().into(),
        start.input_sha256.as_str().into(),
        model.as_str().into(),
        model_provider.as_str().into(),
        start.owner.as_str().into(),
        start.now_ms.into(),
    ];
    let turn: Option<Model> = query::find(db, sql, values)?;
    let mut turn = turn.ok_or_else(|| Error::UnknownTurn(start.id.clone()))?;
    turn.last_sequence = append(
        db,
        &start.id,
        std::slice::from_ref(&start.event),
        start.now_ms,
    )?;

    let becomes_visible = !thread.materialized;
    let has_preview = !thread.preview.is_empty();
    let workspace_id = thread.workspace_id.clone();
    let mut row = thread::ActiveModel::from(thread);
    row.status = Set("Active".to_owned());
    row.updated_at = Set(start.now);
    if becomes_visible {
        row.materialized = Set(true);
        row.draft_owner = Set(None);
    }
    if !has_preview {
        row.preview = Set(start.preview.clone());
    }
    if start.remember {
        row.model = Set(model);
        row.model_provider = Set(model_provider);
        row.mode = Set(mode.clone());
    }
    let thread = Box::new(row.update(db)?);
    let tree_version = if becomes_visible {
        Some(bump_tree(db, &workspace_id)?)
    } else {
        None
    };
    Ok(TurnStarted::New {
        turn,
        thread,
        mode,
        tree_version,
    })
}

fn record(db: &DatabaseConnection, turn: &WorkerTurn) -> Result<(), Error> {
    let now = turn.now_ms / 1000;
    let sql = "INSERT INTO thread (id, workspace_id, name, preview, mode, model, model_provider, status, origin_kind, \
                 sidebar_visibility, agent_nickname, materialized, created_at, updated_at) \
               VALUES ($1, $2, $3, '', 'Agent', $4, $5, 'Idle', 'task_run', 'hidden', $6, TRUE, $7, $7) \
               ON CONFLICT (id) DO NOTHING RETURNING id";
    let values: [Value; 7] = [
        turn.thread_id.as_str().into(),
        turn.workspace_id.as_str().into(),
        turn.name.as_str().into(),
        turn.model.as_str().into(),
        turn.driver.as_str().into(),
        turn.agent_nickname.clone().into(),
        now.into(),
    ];
    if query::one(db, sql, values)?.is_some() {
        let sql = "INSERT INTO thread_placement (thread_id, workspace_id, folder_id, created_at, updated_at) \
                   VALUES ($1, $2, $3, $4, $4) ON CONFLICT (thread_id) DO NOTHING RETURNING thread_id";
        let values: [Value; 4] = [
            turn.thread_id.as_str().into(),
            turn.workspace_id.as_str().into(),
            turn.folder_id.clone().into(),
            now.into(),
        ];
        query::one(db, sql, values)?;
    }
    let sql = "INSERT INTO turn (id, thread_id, workspace_id, ordinal, status, input_sha256, model, model_provider, \
                 owner, prompt_manifest, last_sequence, created_at_ms, updated_at_ms) \
               SELECT $1, $2, $3, 1 + COALESCE((SELECT MAX(ordinal) FROM turn WHERE thread_id = $2), 0), 'InProgress', \
                 $4, $5, $6, $7, $8, 0, $9, $9 \
               WHERE NOT EXISTS (SELECT 1 FROM turn WHERE id = $1) RETURNING id";
    let values: [Value; 9] = [
        turn.id.as_str().into(),
        turn.thread_id.as_str().into(),
        turn.workspace_id.as_str().into(),
        turn.input_sha256.as_str().into(),
        turn.model.as_str().into(),
        turn.driver.as_str().into(),
        turn.owner.as_str().into(),
        turn.manifest.as_str().into(),
        turn.now_ms.into(),
    ];
    if query::one(db, sql, values)?.is_some() {
        append(db, &turn.id, &turn.events, turn.now_ms)?;
    }
    Ok(())
}

fn finish(db: &DatabaseConnection, finish: &FinishTurn) -> Result<TurnFinished, Error> {
    let sql = "SELECT * FROM turn WHERE id = $1";
    let turn: Option<Model> = query::find(db, sql, [finish.id.as_str().into()])?;
    let turn = turn.ok_or_else(|| Error::UnknownTurn(finish.id.clone()))?;
    let sql = "SELECT * FROM thread WHERE id = $1";
    let thread: Option<thread::Model> = query::find(db, sql, [turn.thread_id.as_str().into()])?;
    let thread = thread.ok_or_else(|| Error::UnknownThread(turn.thread_id.clone()))?;
    if turn.status != "InProgress" {
        return Ok(TurnFinished {
            turn,
            thread,
            tree_version: None,
        });
    }
    append(db, &finish.id, &finish.events, finish.now_ms)?;
    let sql = "UPDATE turn SET status = $2, error = $3 WHERE id = $1 RETURNING *";
    let values: [Value; 3] = [
        finish.id.as_str().into(),
        finish.status.as_str().into(),
        finish.error.clone().into(),
    ];
    let turn: Option<Model> = query::find(db, sql, values)?;
    let turn = turn.ok_or_else(|| Error::UnknownTurn(finish.id.clone()))?;
    let is_titled = thread.name.is_none() && finish.title.is_some();
    let mut row = thread::ActiveModel::from(thread);
    row.status = Set("Idle".to_owned());
    row.updated_at = Set(finish.now);
    if is_titled {
        row.name = Set(finish.title.clone());
    }
    let thread = row.update(db)?;
    let tree_version = if is_titled {
        Some(bump_tree(db, &thread.workspace_id)?)
    } else {
        None
    };
    Ok(TurnFinished {
        turn,
        thread,
        tree_version,
    })
}

/// Appends events and updates the event count. Returns the sequence number of the last one.
fn append(
    db: &DatabaseConnection,
    turn_id: &str,
    events: &[NewTurnEvent],
    now_ms: i64,
) -> Result<i64, Error> {
    let count = i64::try_from(events.len()).unwrap_or(i64::MAX);
    let sql = "UPDATE turn SET last_sequence = last_sequence + $2, updated_at_ms = $3 WHERE id = $1 RETURNING last_sequence";
    let row = query::one(db, sql, [turn_id.into(), count.into(), now_ms.into()])?;
    let row = row.ok_or_else(|| Error::UnknownTurn(turn_id.to_owned()))?;
    let last: i64 = row.try_get("", "last_sequence")?;
    for (event, sequence) in events.iter().zip(last - count + 1..) {
        let sql = "INSERT INTO turn_event (turn_id, sequence, created_at_ms, kind, payload) \
                   VALUES ($1, $2, $3, $4, $5) RETURNING sequence";
        let values: [Value; 5] = [
            turn_id.into(),
            sequence.into(),
            now_ms.into(),
            event.kind.as_str().into(),
            event.payload.as_str().into(),
        ];
        query::one(db, sql, values)?;
    }
    Ok(last)
}

fn owned(db: &DatabaseConnection, thread_id: &str, turn_id: &str) -> Result<Model, Error> {
    let sql = "SELECT * FROM turn WHERE id = $1 AND thread_id = $2 \
                 AND EXISTS (SELECT 1 FROM thread WHERE thread.id = $2 AND thread.trashed_at IS NULL)";
    let found: Option<Model> = query::find(db, sql, [turn_id.into(), thread_id.into()])?;
    found.ok_or_else(|| Error::UnknownTurn(turn_id.to_owned()))
}

/// Deletes every turn of a thread that is being deleted.
pub(crate) fn forget(db: &DatabaseConnection, thread_id: &str) -> Result<(), Error> {
    let sql = "DELETE FROM turn_event WHERE turn_id IN (SELECT id FROM turn WHERE thread_id = $1) RETURNING sequence";
    query::all(db, sql, [thread_id.into()])?;
    query::all(
        db,
        "DELETE FROM turn WHERE thread_id = $1 RETURNING id",
        [thread_id.into()],
    )?;
    Ok(())
}
