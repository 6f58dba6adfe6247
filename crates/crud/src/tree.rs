//! Reads everything `thread/tree` returns, in one snapshot with a fixed number of statements.

use entity::{thread, thread_folder, thread_placement};
use sea_orm::{
    ColumnTrait as _, Condition, ConnectionTrait as _, DatabaseConnection, EntityTrait as _,
    QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _,
};

use crate::{AgentsDocSummary, Error, ThreadCursor, thread_agents_doc, workspace::active};

/// The parameters of a tree query.
#[derive(Clone, Debug)]
pub struct TreeQuery {
    /// The id of the workspace.
    pub workspace_id: String,
    /// The owner whose drafts are included.
    pub draft_owner: String,
    /// The maximum number of threads per page.
    pub limit: u64,
    /// The cursor of the page. Absent for the first page; further pages contain only threads.
    pub after: Option<ThreadCursor>,
}

/// One page of a thread tree.
#[derive(Clone, Debug)]
pub struct TreePage {
    /// The version of the tree.
    pub version: u64,
    /// The visible threads, most recently updated first.
    pub threads: Vec<thread::Model>,
    /// The cursor of the next page. Absent on the last page.
    pub next: Option<ThreadCursor>,
    /// All folders, by name and id. Empty on further pages.
    pub folders: Vec<thread_folder::Model>,
    /// The placements of the visible threads, by thread id. Empty on further pages.
    pub placements: Vec<thread_placement::Model>,
    /// The agents docs without their texts: the root's first, then by folder. Empty on further pages.
    pub agents_docs: Vec<AgentsDocSummary>,
}

pub(crate) fn read(db: &DatabaseConnection, query: &TreeQuery) -> Result<TreePage, Error> {
    db.execute_unprepared("BEGIN")?;
    let tree = read_snapshot(db, query);
    db.execute_unprepared("COMMIT")?;
    tree
}

fn read_snapshot(db: &DatabaseConnection, query: &TreeQuery) -> Result<TreePage, Error> {
    let workspace = active(db, &query.workspace_id)?;
    let (threads, next) = threads(db, query)?;
    let mut tree = TreePage {
        version: workspace.tree_version.unsigned_abs(),
        threads,
        next,
        folders: Vec::new(),
        placements: Vec::new(),
        agents_docs: Vec::new(),
    };
    if query.after.is_none() {
        tree.folders = thread_folder::Entity::find()
            .filter(thread_folder::Column::WorkspaceId.eq(query.workspace_id.as_str()))
            .order_by_asc(thread_folder::Column::Name)
            .order_by_asc(thread_folder::Column::Id)
            .all(db)?;
        tree.placements = placements(db, query)?;
        tree.agents_docs = thread_agents_doc::summaries(db, &query.workspace_id)?;
    }
    Ok(tree)
}

fn threads(
    db: &DatabaseConnection,
    query: &TreeQuery,
) -> Result<(Vec<thread::Model>, Option<ThreadCursor>), Error> {
    use thread::Column;
    let shown_to_caller = Condition::any()
        .add(Column::Materialized.eq(true))
        .add(Column::DraftOwner.eq(query.draft_owner.as_str()));
    let mut select = thread::Entity::find()
        .filter(Column::WorkspaceId.eq(query.workspace_id.as_str()))
        .filter(listed())
        .filter(shown_to_caller);
    if let Some(after) = &query.after {
        let same_second = Condition::all()
            .add(Column::UpdatedAt.eq(after.updated_at))
            .add(Column::Id.gt(after.id.as_str()));
        select = select.filter(
            Condition::any()
                .add(Column::UpdatedAt.lt(after.updated_at))
                .add(same_second),
        );
    }
    let mut threads = select
        .order_by_desc(Column::UpdatedAt)
        .order_by_asc(Column::Id)
        .limit(query.limit + 1)
        .all(db)?;
    let has_more = threads.len() as u64 > query.limit;
    threads.truncate(usize::try_from(query.limit).unwrap_or(usize::MAX));
    let next = threads
        .last()
        .filter(|_| has_more)
        .map(|last| ThreadCursor {
            updated_at: last.updated_at,
            id: last.id.clone(),
        });
    Ok((threads, next))
}

/// Reads the placements of all listed threads. A placed thread is not a draft, so every caller may see it.
fn placements(
    db: &DatabaseConnection,
    query: &TreeQuery,
) -> Result<Vec<thread_placement::Model>, Error> {
    use thread_placement::Column;
    let shown = thread::Entity::find()
        .select_only()
        .column(thread::Column::Id)
        .filter(thread::Column::WorkspaceId.eq(query.workspace_id.as_str()))
        .filter(listed());
    let placements = thread_placement::Entity::find()
        .filter(Column::WorkspaceId.eq(query.workspace_id.as_str()))
        .filter(Column::ThreadId.in_subquery(shown.into_query()))
        .order_by_asc(Column::ThreadId);
    Ok(placements.all(db)?)
}

fn listed() -> Condition {
    Condition::all()
        .add(thread::Column::SidebarVisibility.eq("visible"))
        .add(thread::Column::ArchivedAt.is_null())
        .add(thread::Column::TrashedAt.is_null())
}
