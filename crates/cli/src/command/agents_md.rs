//! `ac agents-md import|export`

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use protocol::{FolderId, Id as _, thread::agents_doc::*};
use serde_json::json;

use super::HomeOption;
use crate::{failure::Failure, local::Local, terminal};

/// Folders that hold what people did not write.
const SKIPPED: &[&str] = &["node_modules", "target"];
/// Files at most; a repository has a handful.
const MAX_FILES: usize = 5_000;
/// Bytes of one file at most.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Args, Debug)]
pub(crate) struct AgentsMd {
    #[command(subcommand)]
    action: AgentsMdAction,
}

#[derive(Debug, Subcommand)]
enum AgentsMdAction {
    /// Take the AGENTS.md and CLAUDE.md files of a directory into the thread tree.
    Import {
        #[command(flatten)]
        place: Place,
        /// The directory, usually a repository.
        directory: PathBuf,
        /// Give documents that are there the text of the file; without this they stay as they are.
        #[arg(long)]
        update: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write the documents of the thread tree as AGENTS.md files.
    Export {
        #[command(flatten)]
        place: Place,
        /// The directory.
        directory: PathBuf,
        /// Replace files that are there with another text.
        #[arg(long)]
        force: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Which part of the tree.
#[derive(Args, Debug)]
struct Place {
    #[command(flatten)]
    home: HomeOption,
    /// The workspace [default: that of the company folder around here, else the one to start in]
    #[arg(long, value_name = "ID")]
    workspace: Option<String>,
    /// The folder of the tree that stands for the directory [default: the root]
    #[arg(long, value_name = "ID")]
    folder: Option<String>,
}

impl Place {
    fn folder(&self) -> Result<Option<FolderId>, Failure> {
        Ok(self.folder.as_deref().map(FolderId::parse).transpose()?)
    }
}

impl AgentsMd {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        match self.action {
            AgentsMdAction::Import {
                place,
                directory,
                update,
                json,
            } => import(&place, &directory, update, json).await,
            AgentsMdAction::Export {
                place,
                directory,
                force,
                json,
            } => {
                let written = export(&place, &directory, force).await?;
                let lines = match (json, written.is_empty()) {
                    (true, _) => format!("{:#}", json!({ "files": written })),
                    (false, true) => "There are no documents to write.".to_owned(),
                    (false, false) => written
                        .iter()
                        .map(|path| path.display().to_string())
                        .collect::<Vec<_>>()
                        .join("\n"),
                };
                Ok(terminal::say(&lines)?)
            }
        }
    }
}

async fn import(
    place: &Place,
    directory: &Path,
    update: bool,
    as_json: bool,
) -> Result<(), Failure> {
    let files = instruction_files(directory)?;
    if files.is_empty() {
        return Err(Failure::Argument {
            detail: format!(
                "`{}` has no AGENTS.md and no CLAUDE.md",
                directory.display()
            ),
        });
    }
    let (found, folder_id) = (files.len(), place.folder()?);
    let imported = Local::with(&place.home, |local| async move {
        let params = ThreadAgentsDocImportParams {
            workspace_id: local.workspace(place.workspace.as_deref()).await?,
            folder_id,
            files,
            mode: match update {
                true => ThreadAgentsDocImportMode::Update,
                false => ThreadAgentsDocImportMode::Create,
            },
        };
        Ok(local.client.call::<ThreadAgentsDocImport>(params).await?)
    })
    .await?;
    if as_json {
        return terminal::answer(&json!(imported), true);
    }
    let summary = format!(
        "{found} files found, {} documents changed, {} folders made",
        imported.docs.len(),
        imported.folders.len()
    );
    terminal::say(&summary)?;
    Ok(())
}

/// Answers the files it wrote.
async fn export(place: &Place, directory: &Path, force: bool) -> Result<Vec<PathBuf>, Failure> {
    let folder_id = place.folder()?;
    let exported = Local::with(&place.home, |local| async move {
        let params = ThreadAgentsDocExportParams {
            workspace_id: local.workspace(place.workspace.as_deref()).await?,
            folder_id,
        };
        Ok(local.client.call::<ThreadAgentsDocExport>(params).await?)
    })
    .await?;
    // Everything is looked at before anything is written.
    for file in &exported.files {
        let mut path = directory.to_owned();
        for part in Path::new(&file.path) {
            path.push(part);
            if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
                return Err(Failure::Argument {
                    detail: format!("`{}` is a link and could lead elsewhere", path.display()),
                });
            }
        }
    }
    if !force {
        for file in &exported.files {
            let path = directory.join(&file.path);
            let differs = fs::read_to_string(&path).is_ok_and(|found| found != file.content);
            if differs {
                return Err(Failure::Argument {
                    detail: format!(
                        "`{}` is there with another text: use --force to replace it",
                        path.display()
                    ),
                });
            }
        }
    }
    let mut written = Vec::new();
    for file in &exported.files {
        let path = directory.join(&file.path);
        let failed = |source| Failure::File {
            path: path.clone(),
            source,
        };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        gateway::replace_file(&path, file.content.as_bytes()).map_err(failed)?;
        written.push(path);
    }
    Ok(written)
}

/// Every AGENTS.md and CLAUDE.md below a directory. Links are not followed and hidden folders are left out.
fn instruction_files(directory: &Path) -> Result<Vec<ThreadAgentsDocFile>, Failure> {
    let mut files = Vec::new();
    let mut open = vec![(directory.to_owned(), String::new())];
    while let Some((folder, prefix)) = open.pop() {
        let failed = |source| Failure::File {
            path: folder.clone(),
            source,
        };
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (kind, path) = (entry.file_type().map_err(failed)?, entry.path());
            let Some(name) = entry.file_name().to_str().map(ToOwned::to_owned) else {
                continue;
            };
            let below = format!("{prefix}{name}");
            if kind.is_dir() && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
                open.push((path, format!("{below}/")));
            } else if kind.is_file() && (name == "AGENTS.md" || name == "CLAUDE.md") {
                files.push(read(&path, below)?);
            }
        }
        if files.len() > MAX_FILES {
            return Err(Failure::Argument {
                detail: format!(
                    "`{}` has more than {MAX_FILES} instruction files",
                    directory.display()
                ),
            });
        }
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(files)
}

fn read(path: &Path, below: String) -> Result<ThreadAgentsDocFile, Failure> {
    let failed = |source| Failure::File {
        path: path.to_owned(),
        source,
    };
    if fs::metadata(path).map_err(failed)?.len() > MAX_BYTES {
        return Err(Failure::Argument {
            detail: format!("`{}` is larger than {MAX_BYTES} bytes", path.display()),
        });
    }
    Ok(ThreadAgentsDocFile {
        path: below,
        content: fs::read_to_string(path).map_err(failed)?,
    })
}
