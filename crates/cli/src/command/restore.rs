//! `ac restore`: restores a home and its company folders from a backup.

use std::path::{Path, PathBuf};

use clap::Args;
use gateway::Sources;
use serde_json::json;

use super::HomeOption;
use crate::{failure::Failure, folder, terminal};

/// Restore a home and its company folders from a backup.
///
/// All hashes are verified before anything is written. The home and the company folders must not exist or be empty.
/// Parts that `ac backup` leaves out are created again: the owner's token and the index of a company folder. A restored
/// company folder can be read; `ac trust` lets Accord work in it again.
#[derive(Args, Debug)]
pub(crate) struct RestoreCommand {
    /// Backup file written by `ac backup`.
    #[arg(value_parser = folder::argument())]
    file: PathBuf,
    #[command(flatten)]
    home: HomeOption,
    /// Target folder for the company folders; required if the backup contains any.
    #[arg(long, value_name = "DIR", value_parser = folder::argument())]
    companies: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl RestoreCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let home = self.home.path()?;
        let bar = terminal::bytes_bar(0);
        let ticking = bar.clone();
        let restored = super::blocking(move || {
            let request = backup::RestoreRequest {
                file: &self.file,
                home: &home,
                companies: self.companies.as_deref(),
            };
            let now_ms = Sources::system().clock.now_ms();
            backup::restore(&request, now_ms, &mut |done, all| {
                ticking.set_length(all);
                ticking.set_position(done);
            })
        })
        .await?;
        bar.finish_and_clear();
        let restored = restored?;
        if self.json {
            return terminal::answer(&json!(restored), true);
        }
        let mut lines = vec![format!("home     {}", restored.home.display())];
        let companies = restored.companies.iter();
        lines.extend(companies.map(|company| {
            let (to, from) = (company.to.display().to_string(), &company.from);
            terminal::harmless(&format!("company  {to} (was {from})"))
        }));
        for company in &restored.companies {
            let quoted = |path: &Path| terminal::harmless(&folder::quoted(&path.to_string_lossy()));
            lines.push(format!(
                "Next: `ac trust --home {} {}` lets Accord work in this folder.",
                quoted(&restored.home),
                quoted(&company.to)
            ));
        }
        lines.push(format!(
            "Restored {}. `ac serve --home {}` serves this home.",
            terminal::count(restored.files, "file"),
            restored.home.display()
        ));
        Ok(terminal::print(&lines.join("\n"))?)
    }
}
