//! Configuration and persistent state of the heartbeat of a company. This module does not execute ticks.

use std::{
    fs::{File, TryLockError},
    path::Path,
    sync::Arc,
};

use protocol::company::{
    ActorRole, CommentId, JobId,
    heartbeat::{HeartbeatConfig, HeartbeatConfigSetParams, HeartbeatState, ProposedAction},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Company, Error, Writer,
    document::Document,
    files::dir::Dir,
    folder::{
        intent::{WriteSet, sha256},
        lock,
    },
    layout,
    policy::Actor,
};

/// Path of the heartbeat state, relative to the company folder.
pub const STATE: &str = ".local/heartbeat/state.yaml";

impl Document for HeartbeatConfig {}
impl Document for HeartbeatState {}

/// The heartbeat configuration of a company, and whether its file is valid.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The configuration: the default if there is no file, disabled if the file cannot be read.
    pub config: Arc<HeartbeatConfig>,
    /// Whether the configuration file exists; ticks run automatically only then.
    pub is_set: bool,
    /// The error of a configuration file that cannot be read.
    pub error: Option<String>,
}

/// Reads the heartbeat configuration of a company.
pub fn setting(company: &Company) -> Setting {
    match company.read::<HeartbeatConfig>(layout::HEARTBEAT_CONFIG) {
        Ok(config) => Setting {
            config,
            is_set: true,
            error: None,
        },
        Err(error) if error.is_missing() => Setting {
            config: Arc::default(),
            is_set: false,
            error: None,
        },
        Err(error) => Setting {
            config: Arc::new(HeartbeatConfig {
                enabled: false,
                ..HeartbeatConfig::default()
            }),
            is_set: true,
            error: Some(error.to_string()),
        },
    }
}

/// Updates the heartbeat configuration; absent params leave their value unchanged. A dry run returns the result without
/// writing it.
pub fn set(company: &Company, params: HeartbeatConfigSetParams) -> Result<HeartbeatConfig, Error> {
    if params.dry_run == Some(true) {
        return Ok(params.merged_into(&setting(company).config));
    }
    company.write(|writer| {
        let old = setting(company);
        let config = params.merged_into(&old.config);
        if config != *old.config || !old.is_set || old.error.is_some() {
            writer.put(layout::HEARTBEAT_CONFIG, &config)?;
        }
        Ok(config)
    })
}

/// Reads the heartbeat state; a default state if there is no file.
pub fn state(company: &Company) -> Result<HeartbeatState, Error> {
    match company.read::<HeartbeatState>(STATE) {
        Ok(state) => Ok(HeartbeatState::clone(&state)),
        Err(error) if error.is_missing() => Ok(HeartbeatState {
            schema_version: 1,
            ..HeartbeatState::default()
        }),
        Err(error) => Err(error),
    }
}

impl Writer<'_> {
    /// Writes the heartbeat state. A damaged state file is renamed to `state.yaml.invalid` first.
    pub fn put_heartbeat_state(&self, state: &HeartbeatState) -> Result<(), Error> {
        self.put_aside_if_damaged()?;
        self.put(STATE, state)
    }

    fn put_aside_if_damaged(&self) -> Result<(), Error> {
        let company = self.company();
        let is_damaged =
            company.path(STATE).exists() && company.read::<HeartbeatState>(STATE).is_err();
        if is_damaged {
            let aside = Path::new(STATE).with_extension("yaml.invalid");
            company.through("moved", STATE, |dir, place| {
                dir.rename(place, Path::new(aside.file_name().unwrap_or_default()))
            })?;
            tracing::warn!(path = %aside.display(), "the state of a heartbeat was damaged and is put aside");
        }
        Ok(())
    }
}

/// File lock that allows only one tick per company folder at a time, among all processes. The operating system releases
/// it when the process ends.
#[derive(Debug)]
pub struct TickLock(File);

impl TickLock {
    const PATH: &str = ".local/locks/heartbeat.tick.lock";

    /// Acquires the lock; `None` while another process holds it.
    pub fn try_acquire(company: &Company) -> Result<Option<Self>, Error> {
        company.make_dir(lock::LOCKS)?;
        let failed = |error| Error::io("locked", company.path(Self::PATH), error);
        let file = company.through("locked", Self::PATH, Dir::lockable)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

impl Drop for TickLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a worker that is being started may hold a copy of the descriptor.
        let _ = self.0.unlock();
    }
}

/// Folder of actions that were decided and are not known to be completed.
const UNDONE: &str = ".local/heartbeat/undone";

/// An action that is about to be executed. It contains the ids of the objects that it creates, so that a retry creates
/// nothing twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Undone {
    /// The action.
    pub action: ProposedAction,
    /// Id of the actor on whose behalf the action is executed.
    pub actor_id: String,
    /// Role of the actor.
    pub actor_role: ActorRole,
    /// Team of the actor; absent if it has none.
    pub actor_team_id: Option<String>,
    /// The worker that proposed the action.
    pub worker: String,
    /// The run in which the worker proposed it.
    pub run: String,
    /// The context pack of that run.
    pub context_pack: String,
    /// Id of the comment that the action adds, if it adds one.
    pub comment_id: CommentId,
    /// Id of the job that the action launches, if it launches one.
    pub job_id: JobId,
    /// The hour in which the action counts towards the limits; absent if an approval exempts it from the limits.
    pub counted_hour: Option<String>,
    /// The process that executes the action.
    pub owner: Value,
}

impl Undone {
    /// Path of its file, relative to the company folder; one per idempotency key.
    fn path(&self) -> String {
        let key = sha256(self.action.idempotency_key().as_bytes());
        format!("{UNDONE}/{key}.json")
    }

    /// The actor on whose behalf the action is executed.
    pub fn actor(&self) -> Actor {
        Actor {
            id: self.actor_id.clone(),
            role: self.actor_role,
            team_id: self.actor_team_id.clone(),
        }
    }
}

/// Lists the actions that are not known to be completed. Files that this machine did not write are skipped.
pub fn undone(company: &Company) -> Result<Vec<Undone>, Error> {
    let mut found = Vec::new();
    for name in company.names(UNDONE)? {
        let path = format!("{UNDONE}/{name}");
        let text = company.read_text(&path)?;
        match company.open_sealed(&path, &text) {
            Ok(Some(undone)) => found.push(undone),
            Ok(None) => {
                tracing::warn!(
                    name,
                    "an action that was begun is not of this machine and is left alone"
                );
            }
            Err(error) => tracing::warn!(%error, name, "an action that was begun cannot be read"),
        }
    }
    Ok(found)
}

impl Writer<'_> {
    /// Writes the heartbeat state and records an action as started, in one atomic change.
    pub fn begin_action(&self, state: &HeartbeatState, undone: &Undone) -> Result<(), Error> {
        let text = self
            .company()
            .sealed(&undone.path(), undone)
            .map_err(|error| Error::Refused(format!("an action cannot be written: {error}")))?;
        self.put_aside_if_damaged()?;
        self.put_all(&WriteSet {
            files: vec![(STATE.to_owned(), self.yaml(state)?), (undone.path(), text)],
            ..WriteSet::default()
        })
    }

    /// Records that an action is completed.
    pub fn end_action(&self, undone: &Undone) -> Result<(), Error> {
        self.remove(&undone.path())
    }

    /// Writes the heartbeat state and a proposal in one atomic change; removes the started action that the proposal
    /// replaces.
    pub fn propose_action(
        &self,
        state: &HeartbeatState,
        (relpath, text): (String, String),
        instead_of: Option<&Undone>,
    ) -> Result<(), Error> {
        self.put_aside_if_damaged()?;
        self.put_all(&WriteSet {
            files: vec![(relpath, text), (STATE.to_owned(), self.yaml(state)?)],
            removed: instead_of.map(Undone::path).into_iter().collect(),
            ..WriteSet::default()
        })
    }
}
