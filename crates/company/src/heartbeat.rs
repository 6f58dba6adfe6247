//! How the heartbeat of a company is set, and what it remembers. What it does is done elsewhere.

use std::{fs, sync::Arc};

use protocol::company::heartbeat::{HeartbeatConfig, HeartbeatConfigSetParams, HeartbeatState};

use crate::{Company, Error, Writer, document::Document, layout};

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

/// Changes how it is set; what is not given stays.
pub fn set(company: &Company, params: HeartbeatConfigSetParams) -> Result<HeartbeatConfig, Error> {
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
        let path = self.company().path(STATE);
        let is_damaged = path.exists() && self.company().read::<HeartbeatState>(STATE).is_err();
        if is_damaged {
            let aside = path.with_extension("yaml.invalid");
            fs::rename(&path, &aside).map_err(|error| Error::io("moved", &path, error))?;
            tracing::warn!(path = %aside.display(), "the state of a heartbeat was damaged and is put aside");
        }
        self.put(STATE, state)
    }
}
