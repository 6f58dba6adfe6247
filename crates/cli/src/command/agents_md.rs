//! `ac agents-md import|export|sync`: AGENTS.md files of a directory and documents of the thread tree.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use protocol::{FolderId, Id as _, thread::agents_doc::*};
use serde_json::json;

use super::HomeOption;
use crate::{failure::Failure, folder, local::Local, terminal};

mod compare;
mod files;
mod git;
mod sync;

#[derive(Args, Debug)]
pub(crate) struct AgentsMdCommand {
    #[command(subcommand)]
    action: AgentsMdAction,
}

#[derive(Debug, Subcommand)]
enum AgentsMdAction {
    /// Import the AGENTS.md and CLAUDE.md files of a directory into the thread tree.
    Import {
        #[command(flatten)]
        tree_options: TreeOptions,
        /// Directory to read, usually a repository.
        #[arg(value_parser = folder::argument())]
        directory: PathBuf,
        /// Replace existing documents with the text of the file; by default they are kept.
        #[arg(long)]
        update: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Export the documents of the thread tree as AGENTS.md files.
    Export {
        #[command(flatten)]
        tree_options: TreeOptions,
        /// Directory to write.
        #[arg(value_parser = folder::argument())]
        directory: PathBuf,
        /// Replace existing files that have another text.
        #[arg(long)]
        force: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    Sync(sync::AgentsMdSync),
}

/// The options that select a part of the tree.
#[derive(Args, Clone, Debug)]
struct TreeOptions {
    #[command(flatten)]
    home: HomeOption,
    /// Workspace [default: that of the current company folder, else the default workspace]
    #[arg(long, value_name = "ID")]
    workspace: Option<String>,
    /// Folder of the tree that corresponds to the directory [default: the root]
    #[arg(long, value_name = "ID")]
    folder: Option<String>,
}

impl TreeOptions {
    fn folder(&self) -> Result<Option<FolderId>, Failure> {
        Ok(self.folder.as_deref().map(FolderId::parse).transpose()?)
    }
}

impl AgentsMdCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        match self.action {
            AgentsMdAction::Import {
                tree_options,
                directory,
                update,
                json,
            } => import(&tree_options, &directory, update, json).await,
            AgentsMdAction::Export {
                tree_options,
                directory,
                force,
                json,
            } => {
                let written = export(&tree_options, &directory, force).await?;
                let lines = match (json, written.is_empty()) {
                    (true, _) => format!("{:#}", json!({ "files": written })),
                    (false, true) => "There are no documents to export.".to_owned(),
                    (false, false) => written
                        .iter()
                        .map(|path| path.display().to_string())
                        .collect::<Vec<_>>()
                        .join("\n"),
                };
                Ok(terminal::print(&lines)?)
            }
            AgentsMdAction::Sync(sync) => sync.run().await,
        }
    }
}

async fn import(
    tree_options: &TreeOptions,
    directory: &Path,
    update: bool,
    as_json: bool,
) -> Result<(), Failure> {
    let files = files::read_all(directory)?;
    if files.is_empty() {
        return Err(Failure::Argument {
            detail: format!(
                "`{}` has no AGENTS.md and no CLAUDE.md",
                directory.display()
            ),
        });
    }
    let (found, folder_id) = (files.len(), tree_options.folder()?);
    let imported = Local::with(&tree_options.home, |local| async move {
        let params = ThreadAgentsDocImportParams {
            workspace_id: local.workspace(tree_options.workspace.as_deref()).await?,
            folder_id,
            files,
            mode: if update {
                ThreadAgentsDocImportMode::Update
            } else {
                ThreadAgentsDocImportMode::Create
            },
        };
        Ok(local.client.call::<ThreadAgentsDocImport>(params).await?)
    })
    .await?;
    if as_json {
        return terminal::answer(&json!(imported), true);
    }
    let summary = format!(
        "{} found, {} changed, {} created",
        terminal::count(found, "file"),
        terminal::count(imported.docs.len(), "document"),
        terminal::count(imported.folders.len(), "folder")
    );
    terminal::print(&summary)?;
    Ok(())
}

/// Writes the documents and returns the paths of the files.
async fn export(
    tree_options: &TreeOptions,
    directory: &Path,
    force: bool,
) -> Result<Vec<PathBuf>, Failure> {
    let folder_id = tree_options.folder()?;
    let exported = Local::with(&tree_options.home, |local| async move {
        let params = ThreadAgentsDocExportParams {
            workspace_id: local.workspace(tree_options.workspace.as_deref()).await?,
            folder_id,
        };
        Ok(local.client.call::<ThreadAgentsDocExport>(params).await?)
    })
    .await?;
    // Check all files before writing any of them.
    for file in &exported.files {
        files::check_place(directory, &file.path)?;
    }
    if !force {
        for file in &exported.files {
            let path = directory.join(&file.path);
            let differs = fs::read_to_string(&path).is_ok_and(|found| found != file.content);
            if differs {
                return Err(Failure::Argument {
                    detail: format!(
                        "`{}` exists with another text: use --force to replace it",
                        path.display()
                    ),
                });
            }
        }
    }
    let mut written = Vec::new();
    for file in &exported.files {
        written.push(files::write(directory, &file.path, &file.content)?);
    }
    Ok(written)
}
