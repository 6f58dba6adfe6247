//! `ac backup`: saves a home and its company folders.

use std::path::PathBuf;

use backup::Secrets;
use clap::Args;
use gateway::{Home, Sources};
use serde_json::json;

use super::HomeOption;
use crate::{failure::Failure, folder, terminal};

/// Back up a home and its company folders to one file, even while the gateway runs.
///
/// The file is a tar archive with the database, the settings, the contents of artifacts and the company folders, each
/// as a consistent snapshot, and a hash of every file. Of a company folder it leaves out the index, the worktrees and
/// the running sessions. Links are left out and listed.
#[derive(Args, Debug)]
pub(crate) struct BackupCommand {
    #[command(flatten)]
    home: HomeOption,
    /// File to write, such as `accord.tar`.
    #[arg(value_parser = folder::argument())]
    file: PathBuf,
    /// Include the owner's token and the stored keys of providers; without them a restored home has a new token and no
    /// keys. Keys in `config.toml` are always included.
    #[arg(long)]
    secrets: bool,
    /// Replace an existing file.
    #[arg(long)]
    force: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl BackupCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        if let Ok(existing) = self.file.symlink_metadata()
            && !(self.force && existing.is_file())
        {
            let problem = if existing.is_file() {
                "already exists: use --force to replace it"
            } else {
                "exists and is not a regular file: name another one"
            };
            return Err(Failure::Argument {
                detail: format!("`{}` {problem}", self.file.display()),
            });
        }
        let path = self.home.path()?;
        if !path.is_dir() {
            return Err(backup::Error::NoHome { path }.into());
        }
        let home = Home::open(&path)?;
        let secrets = if self.secrets {
            Secrets::Saved
        } else {
            Secrets::LeftOut
        };
        let bar = terminal::spinner("{spinner} {bytes} saved");
        let ticking = bar.clone();
        let saved = super::blocking(move || {
            let mut progress = |bytes| ticking.set_position(bytes);
            backup::create(
                home.path(),
                &self.file,
                secrets,
                &Sources::system(),
                &mut progress,
            )
        })
        .await?;
        bar.finish_and_clear();
        let saved = saved?;
        let ended = if saved.damaged.is_empty() {
            Ok(())
        } else {
            Err(Failure::Unsound {
                detail: format!(
                    "{} damaged or missing in the home and therefore in the backup: upload the same content again to repair them",
                    terminal::count(saved.damaged.len(), "file")
                ),
            })
        };
        if self.json {
            return terminal::answer(&json!(saved), true).and(ended);
        }
        for damaged in &saved.damaged {
            terminal::complain(&terminal::harmless(damaged));
        }
        for left_out in &saved.left_out {
            terminal::complain(&format!("left out: {}", terminal::harmless(left_out)));
        }
        terminal::print(&format!(
            "{} of the home and {} are saved in {}",
            terminal::count(saved.files, "file"),
            terminal::count(saved.companies.len(), "company folder"),
            saved.file.display()
        ))?;
        ended
    }
}
