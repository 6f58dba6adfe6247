//! How the heartbeat of a company is set, and what it remembers. What it does is done elsewhere.

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
        intent::{Together, sha256},
        lock,
    },
    layout,
    policy::Actor,
};

/// What the heartbeat remembers, relative to the company folder.
pub const STATE: &str = ".local/heartbeat/state.yaml";

impl Document for HeartbeatConfig {}
impl Document for HeartbeatState {}

/// How a heartbeat is set, and what is wrong with its file.
#[derive(Clone, Debug)]
pub struct Setting {
    /// How it is set. A file that cannot be read means that it does not beat.
    pub config: Arc<HeartbeatConfig>,
    /// Whether somebody ever set it: only then it beats by itself.
    pub is_set: bool,
    /// What is wrong with the file.
    pub error: Option<String>,
}

/// How the heartbeat of a company is set.
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

/// Changes how it is set; what is not given stays. A dry run only answers what it would be.
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

/// What the heartbeat remembers; nothing at first.
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
    /// Keeps what the heartbeat remembers. A file that cannot be read is put aside first.
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

/// The system lock of the one tick of a folder, among all processes. The system frees it when a process dies.
#[derive(Debug)]
pub struct TickLock(File);

impl TickLock {
    const PATH: &str = ".local/locks/heartbeat.tick.lock";

    /// Takes the lock, or answers `None` while another process holds it.
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
        // Closing is not enough: a worker being started right now may hold a copy of the descriptor.
        let _ = self.0.unlock();
    }
}

/// Where actions are that were decided about and are not known to be done.
const UNDONE: &str = ".local/heartbeat/undone";

/// An action that is going to be done, with the ids of what it makes: doing it again makes nothing twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Undone {
    /// What is to be done.
    pub action: ProposedAction,
    /// In whose name.
    pub actor_id: String,
    /// What they are.
    pub actor_role: ActorRole,
    /// Their team.
    pub actor_team_id: Option<String>,
    /// The worker that wants it.
    pub worker: String,
    /// The run it said so in.
    pub run: String,
    /// What that run was given to know.
    pub context_pack: String,
    /// The comment it makes.
    pub comment_id: CommentId,
    /// The job it starts.
    pub job_id: JobId,
    /// The hour it is counted in; none if limits do not hold for it, because somebody approved it.
    pub counted_hour: Option<String>,
    /// The process that does it.
    pub owner: Value,
}

impl Undone {
    /// Its file, relative to the company folder: one per key.
    fn path(&self) -> String {
        let key = sha256(self.action.idempotency_key().as_bytes());
        format!("{UNDONE}/{key}.json")
    }

    /// In whose name it is done.
    pub fn actor(&self) -> Actor {
        Actor {
            id: self.actor_id.clone(),
            role: self.actor_role,
            team_id: self.actor_team_id.clone(),
        }
    }
}

/// The actions that are not known to be done.
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
    /// Remembers something, and in the same step that an action is going to be done.
    pub fn begin_action(&self, state: &HeartbeatState, undone: &Undone) -> Result<(), Error> {
        let text = self
            .company()
            .sealed(&undone.path(), undone)
            .map_err(|error| Error::Refused(format!("an action cannot be written: {error}")))?;
        self.put_aside_if_damaged()?;
        self.put_together(&Together {
            files: vec![(STATE.to_owned(), self.yaml(state)?), (undone.path(), text)],
            ..Together::default()
        })
    }

    /// An action is done.
    pub fn end_action(&self, undone: &Undone) -> Result<(), Error> {
        self.remove(&undone.path())
    }

    /// Remembers something, and in the same step writes a proposal instead of doing what was begun.
    pub fn propose_action(
        &self,
        state: &HeartbeatState,
        (relpath, text): (String, String),
        instead_of: Option<&Undone>,
    ) -> Result<(), Error> {
        self.put_aside_if_damaged()?;
        self.put_together(&Together {
            files: vec![(relpath, text), (STATE.to_owned(), self.yaml(state)?)],
            removed: instead_of.map(Undone::path).into_iter().collect(),
            ..Together::default()
        })
    }
}
