//! `ac trash list|restore|purge`: deleted items of the thread tree, and the confirmation before a folder is deleted.

use clap::{Args, Subcommand};
use gateway::Sources;
use protocol::{
    FolderId, WorkspaceId,
    thread::ThreadTreeResponse,
    trash::{
        TrashItem, TrashItemKind, TrashItemRef, TrashList, TrashListParams, TrashPurge,
        TrashPurgeParams, TrashRestore, TrashRestoreParams,
    },
};
use serde_json::json;

use super::HomeOption;
use crate::{failure::Failure, local::Local, terminal};

/// Maximum number of items that one call may purge.
const BATCH: usize = 1000;
const DAY_SECONDS: i64 = 24 * 60 * 60;

#[derive(Args, Debug)]
pub(crate) struct TrashCommand {
    #[command(flatten)]
    home: HomeOption,
    /// Workspace [default: that of the current company folder, else the default workspace]
    #[arg(long, value_name = "ID", global = true)]
    workspace: Option<String>,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    action: TrashAction,
}

#[derive(Debug, Subcommand)]
enum TrashAction {
    /// List deleted items that can still be restored.
    List,
    /// Restore deleted threads, folders and AGENTS.md files to their original place.
    Restore {
        /// Ids of the items, as listed by `ac trash list`.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
    /// Delete items of the trash permanently, after a confirmation.
    Purge {
        /// Ids of the items, as listed by `ac trash list`.
        #[arg(required_unless_present = "all", value_name = "ID")]
        ids: Vec<String>,
        /// Purge everything in the trash of the workspace.
        #[arg(long, conflicts_with = "ids")]
        all: bool,
        /// Do not ask for confirmation.
        #[arg(long, short)]
        yes: bool,
    },
}

impl TrashCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let Self {
            home,
            workspace,
            json,
            action,
        } = self;
        Local::with(&home, |local| async move {
            let workspace_id = local.workspace(workspace.as_deref()).await?;
            let items = read(&local, &workspace_id).await?;
            match action {
                TrashAction::List if json => terminal::answer(&json!({ "items": items }), true),
                TrashAction::List => Ok(terminal::print(&table(&items))?),
                TrashAction::Restore { ids } => {
                    let chosen = choose(&items, &ids)?;
                    restore(&local, &workspace_id, chosen, json).await
                }
                TrashAction::Purge { ids, all, yes } => {
                    let chosen = if all {
                        items.iter().collect()
                    } else {
                        choose(&items, &ids)?
                    };
                    purge(&local, &workspace_id, &chosen, yes, json).await
                }
            }
        })
        .await
    }
}

/// Loads all items of the trash, newest first.
async fn read(local: &Local, workspace_id: &WorkspaceId) -> Result<Vec<TrashItem>, Failure> {
    let (mut items, mut cursor) = (Vec::new(), None);
    loop {
        let params = TrashListParams {
            workspace_id: workspace_id.clone(),
            limit: Some(1000),
            cursor,
        };
        let page = local.client.call::<TrashList>(params).await?;
        items.extend(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(items);
        }
    }
}

fn choose<'a>(items: &'a [TrashItem], ids: &[String]) -> Result<Vec<&'a TrashItem>, Failure> {
    let find = |id: &String| {
        let found = items.iter().find(|item| item.id == *id);
        found.ok_or_else(|| Failure::Argument {
            detail: format!(
                "`{}` is not in the trash: `ac trash list` lists its items",
                terminal::harmless(id)
            ),
        })
    };
    ids.iter().map(find).collect()
}

async fn restore(
    local: &Local,
    workspace_id: &WorkspaceId,
    items: Vec<&TrashItem>,
    as_json: bool,
) -> Result<(), Failure> {
    let mut answers = Vec::new();
    for item in items {
        let params = TrashRestoreParams {
            workspace_id: workspace_id.clone(),
            kind: item.kind,
            id: item.id.clone(),
        };
        let restored = local.client.call::<TrashRestore>(params).await?;
        if as_json {
            answers.push(json!(restored));
            continue;
        }
        let mut lines = vec![format!("Restored {}.", name(item))];
        lines.extend(restored.notes.iter().map(|note| terminal::harmless(note)));
        terminal::print(&lines.join("\n"))?;
    }
    if as_json {
        terminal::answer(&json!({ "restored": answers }), true)?;
    }
    Ok(())
}

async fn purge(
    local: &Local,
    workspace_id: &WorkspaceId,
    items: &[&TrashItem],
    is_confirmed: bool,
    as_json: bool,
) -> Result<(), Failure> {
    if !is_confirmed && !items.is_empty() {
        let what = match items {
            [one] => name(one),
            several => format!("{} items", several.len()),
        };
        terminal::confirm(&format!(
            "Delete {what} permanently? This cannot be undone."
        ))?;
    }
    let mut purged = 0;
    for batch in items.chunks(BATCH) {
        let reference = |item: &&TrashItem| TrashItemRef {
            kind: item.kind,
            id: item.id.clone(),
        };
        let params = TrashPurgeParams {
            workspace_id: workspace_id.clone(),
            items: batch.iter().map(reference).collect(),
        };
        purged += local.client.call::<TrashPurge>(params).await?.purged;
    }
    if as_json {
        return terminal::answer(&json!({ "purged": purged }), true);
    }
    let sentence = match purged {
        0 => "The trash is empty.".to_owned(),
        1 => "1 item was deleted permanently.".to_owned(),
        many => format!("{many} items were deleted permanently."),
    };
    Ok(terminal::print(&sentence)?)
}

fn table(items: &[TrashItem]) -> String {
    if items.is_empty() {
        return "The trash is empty.".to_owned();
    }
    let now = Sources::system().clock.now();
    let row = |item: &TrashItem| {
        let days = (item.purge_at - now).max(0) / DAY_SECONDS;
        let kept = match days {
            0 => "less than a day".to_owned(),
            1 => "1 day".to_owned(),
            days => format!("{days} days"),
        };
        let folder = item.folder_name.as_deref();
        let contents = [
            item.has_agents_doc.then(|| "AGENTS.md".to_owned()),
            amount(item.thread_count, "thread"),
            amount(item.folder_count, "folder"),
        ];
        let contents: Vec<String> = contents.into_iter().flatten().collect();
        vec![
            terminal::harmless(&item.name),
            kind(item.kind).to_owned(),
            folder.map_or_else(|| "(root)".to_owned(), terminal::harmless),
            contents.join(", "),
            kept,
            item.id.clone(),
        ]
    };
    let rows: Vec<_> = items.iter().map(row).collect();
    terminal::table(&["NAME", "KIND", "WAS IN", "HELD", "KEPT FOR", "ID"], &rows)
}

fn kind(kind: TrashItemKind) -> &'static str {
    match kind {
        TrashItemKind::Thread => "thread",
        TrashItemKind::Folder => "folder",
        TrashItemKind::AgentsDoc => "AGENTS.md",
    }
}

/// Names an item in a sentence.
fn name(item: &TrashItem) -> String {
    let name = terminal::harmless(&item.name);
    match (item.kind, &item.folder_name) {
        (TrashItemKind::Thread, _) => format!("the thread `{name}`"),
        (TrashItemKind::Folder, _) => format!("the folder `{name}`"),
        (TrashItemKind::AgentsDoc, Some(folder)) => {
            format!("the AGENTS.md of `{}`", terminal::harmless(folder))
        }
        (TrashItemKind::AgentsDoc, None) => "the AGENTS.md of the root".to_owned(),
    }
}

/// Describes the effect of deleting a folder and asks for confirmation. An unknown folder passes, because the gateway
/// reports it.
pub(super) fn confirm_folder(tree: &ThreadTreeResponse, folder_id: &str) -> Result<(), Failure> {
    let Some(folder) = tree.folders.iter().find(|one| one.id.as_str() == folder_id) else {
        return Ok(());
    };
    let is_folder = |id: &Option<FolderId>| id.as_ref() == Some(&folder.id);
    let doc = tree
        .agents_docs
        .iter()
        .find(|doc| is_folder(&doc.folder_id));
    let doc = match doc {
        None => "It has no AGENTS.md of its own.".to_owned(),
        Some(doc) => format!(
            "Its AGENTS.md (version {}, {}) is deleted with it: threads that use it get the one of a parent folder instead.",
            doc.version,
            amount(doc.char_count, "character").unwrap_or_else(|| "empty".to_owned())
        ),
    };
    let threads = tree
        .placements
        .iter()
        .filter(|one| is_folder(&one.folder_id));
    let folders = tree
        .folders
        .iter()
        .filter(|one| is_folder(&one.parent_folder_id));
    let inside = [
        amount(threads.count() as u64, "thread"),
        amount(folders.count() as u64, "folder"),
    ];
    let inside: Vec<String> = inside.into_iter().flatten().collect();
    let parent = tree
        .folders
        .iter()
        .find(|one| Some(&one.id) == folder.parent_folder_id.as_ref());
    let target = match parent {
        None => "to the root of the tree".to_owned(),
        Some(parent) => format!("into `{}`", terminal::harmless(&parent.name)),
    };
    let inside = if inside.is_empty() {
        "It is empty.".to_owned()
    } else {
        format!(
            "{} in it are kept and move one level up, {target}.",
            inside.join(" and ")
        )
    };
    terminal::confirm(&format!(
        "Delete the folder `{}`?\n{doc}\n{inside}\nIt can be restored for 30 days: `ac trash restore {}`.",
        terminal::harmless(&folder.name),
        folder.id
    ))
}

fn amount(number: u64, noun: &str) -> Option<String> {
    match number {
        0 => None,
        1 => Some(format!("1 {noun}")),
        many => Some(format!("{many} {noun}s")),
    }
}
