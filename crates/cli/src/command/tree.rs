//! `ac tree`: prints the thread tree of a workspace.

use std::collections::BTreeMap;

use clap::Args;
use protocol::{
    FolderId,
    thread::{ThreadTree, ThreadTreeParams, ThreadTreeResponse, folder::ThreadFolder},
};
use serde_json::json;

use super::HomeOption;
use crate::{failure::Failure, local::Local, names::Names, terminal};

/// Print the thread tree of a workspace.
#[derive(Args, Debug)]
pub(crate) struct TreeCommand {
    #[command(flatten)]
    home: HomeOption,
    /// Workspace [default: that of the current company folder, else the default workspace]
    #[arg(long, value_name = "ID")]
    workspace: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl TreeCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let Self {
            home,
            workspace,
            json,
        } = self;
        let read = Local::with(&home, |local| async move {
            let tree = read(&local, workspace.as_deref()).await?;
            let names = Names::of_workspaces(&local.client).await?;
            Ok((tree, names))
        });
        let (tree, names) = read.await?;
        if json {
            terminal::answer(&json!(tree), true)
        } else {
            Ok(terminal::print(&draw(&tree, &names))?)
        }
    }
}

/// Loads the tree of the given workspace, otherwise of the one that [`Local::workspace`] selects.
pub(super) async fn read(
    local: &Local,
    workspace: Option<&str>,
) -> Result<ThreadTreeResponse, Failure> {
    let params = ThreadTreeParams {
        workspace_id: local.workspace(workspace).await?,
        limit: Some(5000),
        cursor: None,
    };
    Ok(local.client.call::<ThreadTree>(params).await?)
}

fn draw(tree: &ThreadTreeResponse, workspaces: &Names) -> String {
    let id = tree.workspace_id.as_str();
    let mut lines = vec![terminal::harmless(workspaces.get(id).unwrap_or(id))];
    let mut branches: BTreeMap<Option<&FolderId>, Vec<Branch<'_>>> = BTreeMap::new();
    for doc in &tree.agents_docs {
        let characters = usize::try_from(doc.char_count).unwrap_or(usize::MAX);
        let line = format!(
            "AGENTS.md  v{} · {}",
            doc.version,
            terminal::count(characters, "character")
        );
        let branch = branches.entry(doc.folder_id.as_ref()).or_default();
        branch.insert(0, Branch { line, below: None });
    }
    for folder in &tree.folders {
        let branch = branches
            .entry(folder.parent_folder_id.as_ref())
            .or_default();
        let name = terminal::harmless(&folder.name);
        let is_same = |one: &&ThreadFolder| {
            one.parent_folder_id == folder.parent_folder_id && one.name == folder.name
        };
        let is_unique = tree.folders.iter().filter(is_same).count() == 1;
        branch.push(Branch {
            line: if is_unique {
                format!("{name}/")
            } else {
                format!("{name}/  {}", folder.id)
            },
            below: Some(&folder.id),
        });
    }
    let places: BTreeMap<_, _> = tree
        .placements
        .iter()
        .map(|place| (&place.thread_id, place.folder_id.as_ref()))
        .collect();
    for thread in &tree.threads {
        let name = thread.name.as_deref().filter(|name| !name.is_empty());
        let line = format!(
            "{}  {}",
            terminal::harmless(name.unwrap_or(&thread.preview)),
            thread.id
        );
        let place = places.get(&thread.id).copied().flatten();
        branches
            .entry(place)
            .or_default()
            .push(Branch { line, below: None });
    }
    branch(&branches, None, "", &mut lines);
    lines.join("\n")
}

struct Branch<'a> {
    line: String,
    /// The id of the folder. `None` for other lines.
    below: Option<&'a FolderId>,
}

fn branch(
    branches: &BTreeMap<Option<&FolderId>, Vec<Branch<'_>>>,
    parent: Option<&FolderId>,
    indent: &str,
    lines: &mut Vec<String>,
) {
    let Some(children) = branches.get(&parent) else {
        return;
    };
    for (index, child) in children.iter().enumerate() {
        let (elbow, rail) = if index + 1 == children.len() {
            ("└─ ", "   ")
        } else {
            ("├─ ", "│  ")
        };
        lines.push(format!("{indent}{elbow}{}", child.line));
        if child.below.is_some() {
            branch(branches, child.below, &format!("{indent}{rail}"), lines);
        }
    }
}
