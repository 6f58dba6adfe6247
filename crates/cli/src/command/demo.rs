//! `ac demo`: creates a small demo company and serves it.
//!
//! All content is created through the public methods (`content.rs`). The workers of the demo are a shell script
//! (`worker.rs`).

use std::{
    env,
    fs::{self, DirBuilder, File, TryLockError},
    io,
    net::SocketAddr,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::PathBuf,
};

use clap::Args;
use gateway::{Home, ServeOptions, replace_file};
use serde_json::{Value, json};

use super::{HomeOption, open, serve};
use crate::{failure::Failure, folder, local::Local, terminal};

mod content;
mod documents;
mod picture;
mod worker;

/// The file that marks the folder of a demo and records whether the demo is complete.
const MARKER: &str = "demo.json";
/// The file that is locked while the demo is being created.
const LOCK: &str = "demo.lock";
const HOME: &str = "home";
/// The folder below the home with the stand-ins for worker programs.
const WORKERS: &str = "workers";
const COMPANY: &str = "fernway";

/// Create a small demo company and serve it.
///
/// Nothing leaves this machine: the workers are a shell script that comes with the demo, and installed worker programs
/// are never started. Running the command again serves the existing demo.
#[derive(Args, Debug)]
pub(crate) struct DemoCommand {
    #[command(flatten)]
    home: HomeOption,
    /// Folder of the demo, which must be empty or contain a demo [default: a folder in the temporary directory]
    #[arg(value_parser = folder::argument())]
    directory: Option<PathBuf>,
    /// Address to listen on; port 0 selects a free port [default: 127.0.0.1:17878, or a free port if that is in use]
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = serve::address)]
    listen: Option<SocketAddr>,
    /// Write `{"url","http","pid","token_file"}` to this file when ready.
    #[arg(long, value_name = "FILE", value_parser = folder::argument())]
    ready_file: Option<PathBuf>,
    /// Create the demo without serving it.
    #[arg(long)]
    no_serve: bool,
}

impl DemoCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        if self.home.is_named() {
            let detail =
                "a demo has its own home: name its folder without --home, as in `ac demo DIR`";
            return Err(Failure::Argument {
                detail: detail.to_owned(),
            });
        }
        let place = DemoFolder::open(self.directory)?;
        place.complete().await?;
        if self.no_serve {
            return Ok(terminal::print(&format!(
                "The demo is in {}",
                place.folder.display()
            ))?);
        }
        let home = place.home();
        let opened = Home::open(&home)?;
        if let Some(served_at) = opened.served_at() {
            let address = open::address(&opened, &served_at).await?;
            return Ok(terminal::print(&format!(
                "The demo is already being served:\n  desktop    {address}"
            ))?);
        }
        let options = |listen| ServeOptions {
            home: home.clone(),
            listen,
            ready_file: self.ready_file.clone(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
        };
        let served = serve::serve(options(self.listen.unwrap_or(serve::LISTEN))).await;
        match served {
            Err(Failure::Gateway(gateway::Error::Listen { source, .. }))
                if self.listen.is_none() && source.kind() == io::ErrorKind::AddrInUse =>
            {
                serve::serve(options(SocketAddr::new(serve::LISTEN.ip(), 0))).await
            }
            served => served,
        }
    }
}

/// The folder of a demo.
struct DemoFolder {
    folder: PathBuf,
}

impl DemoFolder {
    /// Opens or creates the folder. Fails if it belongs to another account or contains anything but a demo.
    fn open(named: Option<PathBuf>) -> Result<Self, Failure> {
        let user = rustix::process::getuid().as_raw();
        let folder = match named {
            Some(named) => folder::whole(&named)?,
            None => env::temp_dir().join(format!("accord-demo-{user}")),
        };
        let failed = |source| Failure::File {
            path: folder.clone(),
            source,
        };
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder);
        made.map_err(failed)?;
        let refused = |why: &str| Failure::Argument {
            detail: format!("`{}` {why}: name an empty folder", folder.display()),
        };
        // Another account may have created a folder with this name in the temporary directory.
        if fs::symlink_metadata(&folder).map_err(failed)?.uid() != user {
            return Err(refused("belongs to another account"));
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(&folder).map_err(failed)? {
            names.push(entry.map_err(failed)?.file_name());
        }
        let ours = [MARKER, LOCK, HOME, COMPANY];
        let is_ours = names
            .iter()
            .all(|name| ours.iter().any(|ours| name == ours));
        let is_new = names.iter().all(|name| name == LOCK);
        let place = Self {
            folder: folder.clone(),
        };
        // Completing a demo removes files, so refuse folders that contain anything else.
        if is_new || (is_ours && place.read_marker().is_some()) {
            Ok(place)
        } else {
            Err(refused("contains something other than a demo"))
        }
    }

    /// Returns whether the marker says that the demo is complete, or `None` if there is no valid marker.
    fn read_marker(&self) -> Option<bool> {
        let note = fs::read(self.folder.join(MARKER)).ok()?;
        let note: Value = serde_json::from_slice(&note).ok()?;
        let whole = note["whole"].as_bool()?;
        (note == marker(whole)).then_some(whole)
    }

    fn home(&self) -> PathBuf {
        self.folder.join(HOME)
    }

    /// Creates the demo unless it is complete. An incomplete demo is removed and created again.
    async fn complete(&self) -> Result<(), Failure> {
        let failed = |source| Failure::File {
            path: self.folder.clone(),
            source,
        };
        let lock = File::create(self.folder.join(LOCK)).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::Argument {
                    detail: format!(
                        "another `ac demo` is creating the demo in `{}`: try again when it is done",
                        self.folder.display()
                    ),
                });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        if self.is_complete() {
            return Ok(());
        }
        terminal::complain(&format!("Creating a demo in {}", self.folder.display()));
        self.write_marker(false).map_err(failed)?;
        for part in [HOME, COMPANY] {
            match fs::remove_dir_all(self.folder.join(part)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => removed.map_err(failed)?,
            }
        }
        let home = Home::open(&self.home())?;
        let config = home.path().join("config.toml");
        replace_file(&config, worker::config().as_bytes()).map_err(failed)?;
        let company = self.folder.join(COMPANY);
        let home = HomeOption {
            home: Some(self.home()),
        };
        Local::with(&home, |local| async move {
            content::create(&local, &company).await
        })
        .await?;
        worker::write_stand_ins(&self.home().join(WORKERS), &self.folder.join(COMPANY))
            .map_err(failed)?;
        self.write_marker(true).map_err(failed)
    }

    fn is_complete(&self) -> bool {
        let is_there = |path: &str| self.folder.join(path).is_file();
        self.read_marker() == Some(true)
            && is_there("home/gateway.db")
            && is_there("fernway/company/company.yaml")
    }

    fn write_marker(&self, whole: bool) -> io::Result<()> {
        let content = marker(whole).to_string();
        replace_file(&self.folder.join(MARKER), content.as_bytes())
    }
}

fn marker(whole: bool) -> Value {
    json!({"demo": 1, "whole": whole})
}
