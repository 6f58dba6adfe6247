//! `ac doc show|edit|propose|history|restore`: the AGENTS.md of a folder.

use std::{
    env,
    fs::{self, DirBuilder},
    io::{self, IsTerminal as _, Read as _},
    os::unix::fs::DirBuilderExt as _,
    process::Command,
};

use clap::{Args, Subcommand};
use gateway::replace_file;
use protocol::{
    FolderId, WorkspaceId,
    thread::{ThreadTreeResponse, agents_doc::*, folder::ThreadFolder},
};
use serde_json::json;

use super::{HomeOption, tree};
use crate::{failure::Failure, local::Local, terminal};

/// Show and change the AGENTS.md of a folder of the thread tree.
#[derive(Args, Debug)]
pub(crate) struct DocCommand {
    #[command(subcommand)]
    action: DocAction,
}

#[derive(Debug, Subcommand)]
enum DocAction {
    /// Print the effective AGENTS.md, which may be inherited.
    Show {
        #[command(flatten)]
        options: DocOptions,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Edit the text in $EDITOR, or replace it with standard input.
    Edit {
        #[command(flatten)]
        options: DocOptions,
        /// Save an empty text.
        #[arg(long)]
        allow_empty: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Propose a new text, from $EDITOR or standard input, for a person to approve.
    Propose {
        #[command(flatten)]
        options: DocOptions,
        /// Reason for the change.
        #[arg(long, value_name = "WHY")]
        because: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the versions, newest first.
    History {
        #[command(flatten)]
        options: DocOptions,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Restore an old version as a new one.
    Restore {
        #[command(flatten)]
        options: DocOptions,
        /// Version to restore [default: the one before the current version]
        #[arg(long)]
        version: Option<i64>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// The options that select a document.
#[derive(Args, Clone, Debug)]
struct DocOptions {
    #[command(flatten)]
    home: HomeOption,
    /// Workspace [default: that of the current company folder, else the default workspace]
    #[arg(long, value_name = "ID")]
    workspace: Option<String>,
    /// Folder as a path such as `Backend/API`, or its id [default: the root]
    folder: Option<String>,
}

/// A resolved folder of a workspace.
struct ResolvedFolder {
    workspace_id: WorkspaceId,
    folder_id: Option<FolderId>,
}

impl DocCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        match self.action {
            DocAction::Show { options, json } => show(options, json).await,
            DocAction::Edit {
                options,
                allow_empty,
                json,
            } => {
                let empty = if allow_empty {
                    EmptyText::Save
                } else {
                    EmptyText::Refuse
                };
                edit(options, empty, json).await
            }
            DocAction::Propose {
                options,
                because,
                json,
            } => propose(options, because, json).await,
            DocAction::History { options, json } => history(options, json).await,
            DocAction::Restore {
                options,
                version,
                json,
            } => restore(options, version, json).await,
        }
    }
}

impl DocOptions {
    async fn find(&self, local: &Local) -> Result<ResolvedFolder, Failure> {
        let tree = tree::read(local, self.workspace.as_deref()).await?;
        let mut folder_id = None;
        let names = self.folder.as_deref().unwrap_or_default().split('/');
        for name in names.filter(|name| !name.is_empty()) {
            folder_id = Some(child(&tree, folder_id.as_ref(), name)?);
        }
        Ok(ResolvedFolder {
            workspace_id: tree.workspace_id,
            folder_id,
        })
    }
}

/// Finds a folder by its name below a parent, or by its id anywhere.
fn child(
    tree: &ThreadTreeResponse,
    parent: Option<&FolderId>,
    name: &str,
) -> Result<FolderId, Failure> {
    if let Some(found) = tree.folders.iter().find(|one| one.id.as_str() == name) {
        return Ok(found.id.clone());
    }
    let has_name =
        |one: &&ThreadFolder| one.parent_folder_id.as_ref() == parent && one.name == name;
    let found: Vec<_> = tree.folders.iter().filter(has_name).collect();
    match found.as_slice() {
        [only] => Ok(only.id.clone()),
        [] => Err(Failure::Argument {
            detail: format!("there is no folder `{name}`: `ac tree` shows the folders"),
        }),
        several => {
            let ids: Vec<_> = several.iter().map(|one| one.id.as_str()).collect();
            Err(Failure::Argument {
                detail: format!(
                    "{} folders have the name `{name}`: name one by its id, {}",
                    several.len(),
                    ids.join(" or ")
                ),
            })
        }
    }
}

impl ResolvedFolder {
    async fn get(&self, local: &Local) -> Result<ThreadAgentsDocGetResponse, Failure> {
        let params = ThreadAgentsDocGetParams {
            workspace_id: self.workspace_id.clone(),
            folder_id: self.folder_id.clone(),
        };
        Ok(local.client.call::<ThreadAgentsDocGet>(params).await?)
    }

    /// Returns the document of the folder itself. Fails if the folder only inherits one.
    async fn own_doc(&self, local: &Local) -> Result<ThreadAgentsDocPayload, Failure> {
        let found = self.get(local).await?.explicit;
        found.ok_or_else(|| Failure::Argument {
            detail: "this folder has no AGENTS.md of its own: `ac doc edit` creates one".to_owned(),
        })
    }
}

async fn show(options: DocOptions, json: bool) -> Result<(), Failure> {
    let home = options.home.clone();
    let found = Local::with(&home, |local| async move {
        options.find(&local).await?.get(&local).await
    })
    .await?;
    if json {
        return terminal::answer(&json!(found), true);
    }
    let Some(effective) = found.effective else {
        return Ok(terminal::print("No AGENTS.md applies here.")?);
    };
    if effective.inherited {
        let source = if effective.source_path.is_empty() {
            "the root".to_owned()
        } else {
            effective.source_path.join("/")
        };
        terminal::complain(&format!("inherited from {source}"));
    }
    let content = effective.doc.content.trim_end();
    // A pipe or file gets the exact bytes, a terminal a text without control characters.
    Ok(if terminal::is_for_people(false) {
        terminal::print(&terminal::harmless_lines(content))
    } else {
        terminal::print(content)
    }?)
}

/// Whether an empty or blank text is saved or rejected.
#[derive(Clone, Copy, Debug, PartialEq)]
enum EmptyText {
    Save,
    Refuse,
}

async fn edit(options: DocOptions, empty: EmptyText, json: bool) -> Result<(), Failure> {
    let home = options.home.clone();
    let saved = Local::with(&home, |local| async move {
        let scope = options.find(&local).await?;
        let before = scope.get(&local).await?.explicit;
        let text = before.as_ref().map_or("", |doc| doc.content.as_str());
        let content = edited(text)?;
        if empty == EmptyText::Refuse && content.trim().is_empty() {
            return Err(Failure::Argument {
                detail: "the new text is empty, so nothing was saved: add --allow-empty to save an empty AGENTS.md"
                    .to_owned(),
            });
        }
        let params = ThreadAgentsDocSaveParams {
            workspace_id: scope.workspace_id,
            folder_id: scope.folder_id,
            content,
            expected_version: Some(before.map_or(0, |doc| doc.version)),
            save_reason: Some(ThreadAgentsDocSaveReason::Manual),
        };
        Ok(local.client.call::<ThreadAgentsDocSave>(params).await?)
    })
    .await?;
    if json {
        return terminal::answer(&json!(saved), true);
    }
    for warning in &saved.content_warnings {
        terminal::complain(&format!("warning: {warning}"));
    }
    Ok(terminal::print(&format!("version {}", saved.doc.version))?)
}

async fn propose(options: DocOptions, because: String, json: bool) -> Result<(), Failure> {
    let home = options.home.clone();
    let proposed = Local::with(&home, |local| async move {
        let scope = options.find(&local).await?;
        let before = scope.get(&local).await?.explicit;
        let text = before.as_ref().map_or("", |doc| doc.content.as_str());
        let params = ThreadAgentsDocProposeParams {
            workspace_id: scope.workspace_id,
            folder_id: scope.folder_id,
            content: edited(text)?,
            rationale: because,
            base_version: Some(before.map_or(0, |doc| doc.version)),
        };
        Ok(local.client.call::<ThreadAgentsDocPropose>(params).await?)
    })
    .await?;
    let proposal = proposed.proposal;
    if !terminal::is_for_people(json) {
        return terminal::answer(&json!(proposal), json);
    }
    Ok(terminal::print(&format!(
        "{}\n\n{} waits for a decision: `ac approve {0}` or `ac deny {0}` in its company folder",
        terminal::harmless_lines(&proposal.diff),
        proposal.id
    ))?)
}

/// Returns the new text: from an editor opened with `text`, or from standard input if that is not a terminal.
fn edited(text: &str) -> Result<String, Failure> {
    if !io::stdin().is_terminal() {
        let mut text = String::new();
        let read = io::stdin().read_to_string(&mut text);
        read.map_err(|error| Failure::Argument {
            detail: format!("standard input cannot be read as text: {error}"),
        })?;
        return Ok(text);
    }
    // A folder of its own with an unpredictable name, because other accounts can write to the shared one.
    let mut name = [0; 8];
    getrandom::fill(&mut name).map_err(|error| Failure::Argument {
        detail: format!("the system gives no random numbers: {error}"),
    })?;
    let folder = env::temp_dir().join(format!("accord-{:016x}", u64::from_ne_bytes(name)));
    let path = folder.join("AGENTS.md");
    let failed = |source| Failure::File {
        path: path.clone(),
        source,
    };
    DirBuilder::new()
        .mode(0o700)
        .create(&folder)
        .and_then(|()| replace_file(&path, text.as_bytes()))
        .map_err(failed)?;
    let editor = env::var("VISUAL").or_else(|_| env::var("EDITOR"));
    let editor = editor.unwrap_or_else(|_| "vi".to_owned());
    // The variable may contain arguments, as in `code --wait`.
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let ended = Command::new(program).args(words).arg(&path).status();
    let text = fs::read_to_string(&path);
    // An editor may leave backup files beside the text.
    let _ = fs::remove_dir_all(&folder);
    match ended {
        Ok(status) if status.success() => text.map_err(failed),
        Ok(_) => Err(Failure::Argument {
            detail: format!("`{editor}` failed, so nothing was saved"),
        }),
        Err(source) => Err(Failure::Argument {
            detail: format!(
                "`{editor}` cannot be started ({source}): set EDITOR, or give the text on standard input"
            ),
        }),
    }
}

async fn history(options: DocOptions, json: bool) -> Result<(), Failure> {
    let home = options.home.clone();
    let found = Local::with(&home, |local| async move {
        let scope = options.find(&local).await?;
        let params = ThreadAgentsDocRevisionsParams {
            doc_id: scope.own_doc(&local).await?.id,
            workspace_id: scope.workspace_id,
            cursor: None,
            limit: None,
        };
        Ok(local
            .client
            .call::<ThreadAgentsDocRevisions>(params)
            .await?)
    })
    .await?;
    terminal::answer(&json!(found.items), json)
}

async fn restore(options: DocOptions, version: Option<i64>, json: bool) -> Result<(), Failure> {
    let home = options.home.clone();
    let restored = Local::with(&home, |local| async move {
        let scope = options.find(&local).await?;
        let doc = scope.own_doc(&local).await?;
        let params = ThreadAgentsDocRestoreParams {
            workspace_id: scope.workspace_id,
            doc_id: doc.id,
            version,
            expected_version: Some(doc.version),
        };
        Ok(local.client.call::<ThreadAgentsDocRestore>(params).await?)
    })
    .await?;
    if json {
        return terminal::answer(&json!(restored), true);
    }
    Ok(terminal::print(&format!(
        "version {}",
        restored.doc.version
    ))?)
}
