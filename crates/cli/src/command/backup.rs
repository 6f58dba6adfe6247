//! `ac backup`

use std::path::PathBuf;

use backup::Secrets;
use clap::Args;
use gateway::{Home, Sources};
use serde_json::json;

use super::HomeOption;
use crate::{failure::Failure, folder, terminal};

/// Save a home and its company folders in one file, while the gateway runs.
///
/// The file is a tar with the database, the settings, the bytes of artifacts and the company folders, each of one
/// moment, and a hash of every file. Of a company folder it has what belongs to the company, without its index, its
/// worktrees and its running sessions. Links are left out and named.
#[derive(Args, Debug)]
pub(crate) struct Backup {
    #[command(flatten)]
    home: HomeOption,
    /// The file to write, such as `accord.tar`.
    #[arg(value_parser = folder::argument())]
    file: PathBuf,
    /// Also save the owner's token and the stored keys of providers; without them a restored home has a new token and
    /// no keys. Keys in `config.toml` are saved in any case.
    #[arg(long)]
    secrets: bool,
    /// Replace a file that is there.
    #[arg(long)]
    force: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Backup {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        if let Ok(there) = self.file.symlink_metadata()
            && !(self.force && there.is_file())
        {
            let what = match there.is_file() {
                true => "is there: use --force to replace it",
                false => "is there, and no plain file: name another one",
            };
            return Err(Failure::Argument {
                detail: format!("`{}` {what}", self.file.display()),
            });
        }
        let path = self.home.path()?;
        if !path.is_dir() {
            return Err(backup::Error::NoHome { path }.into());
        }
        let home = Home::open(&path)?;
        let secrets = match self.secrets {
            true => Secrets::Saved,
            false => Secrets::LeftOut,
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
                    "{} damaged or missing in the home, and so in the backup: upload the same bytes again to heal them",
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
        terminal::say(&format!(
            "{} of the home and {} are saved in {}",
            terminal::count(saved.files, "file"),
            terminal::count(saved.companies.len(), "company folder"),
            saved.file.display()
        ))?;
        ended
    }
}
