//! Records of hook runs.

use entity::hook_run::{ActiveModel, Column, Entity, Model};
use sea_orm::{
    ActiveModelTrait as _, ColumnTrait as _, Condition, DatabaseConnection, EntityTrait as _,
    IntoActiveModel as _, Iterable as _, QueryFilter as _, QueryOrder as _, QuerySelect as _,
    sea_query::OnConflict,
};

use crate::{CrudStore, Error, workspace};

/// The repository of hook runs.
#[derive(Debug)]
pub struct HookRunRepository<'a>(pub(crate) &'a CrudStore);

/// The filters of a list of hook runs, newest first.
#[derive(Clone, Debug)]
pub struct HookRunQuery {
    /// The id of the workspace.
    pub workspace_id: String,
    /// Only runs of this turn, if set.
    pub turn_id: Option<String>,
    /// Only runs of this thread, if set.
    pub thread_id: Option<String>,
    /// Only runs of this hook, if set.
    pub hook_id: Option<String>,
    /// Only runs with this status, if set.
    pub status: Option<String>,
    /// Only runs of these subscriptions, if set.
    pub subscription_ids: Option<Vec<String>>,
    /// Only runs after this cursor (queue time in milliseconds and run id), if set.
    pub after: Option<(i64, String)>,
    /// The maximum number of runs.
    pub limit: u64,
}

impl HookRunRepository<'_> {
    /// Inserts a run or replaces its record.
    pub async fn save(&self, run: Model) -> Result<(), Error> {
        let work = move |db: &DatabaseConnection| {
            let others = Column::iter().filter(|column| !matches!(column, Column::Id));
            let row: ActiveModel = run.into_active_model().reset_all();
            Entity::insert(row)
                .on_conflict(
                    OnConflict::column(Column::Id)
                        .update_columns(others)
                        .to_owned(),
                )
                .exec_without_returning(db)?;
            Ok(())
        };
        self.0.write(work).await
    }

    /// Returns background runs that are queued, or have been running since before `stale_before_ms`, oldest first.
    pub async fn unfinished(&self, stale_before_ms: i64, limit: u64) -> Result<Vec<Model>, Error> {
        let stale = Condition::all()
            .add(Column::Status.eq("running"))
            .add(Column::StartedAtMs.lt(stale_before_ms));
        let found = Entity::find()
            .filter(Column::IsBackground.eq(true))
            .filter(Condition::any().add(Column::Status.eq("queued")).add(stale))
            .order_by_asc(Column::QueuedAtMs)
            .limit(limit);
        self.0.read(move |db| Ok(found.all(db)?)).await
    }

    /// Lists the runs of a workspace.
    pub async fn list(&self, wanted: HookRunQuery) -> Result<Vec<Model>, Error> {
        let work = move |db: &DatabaseConnection| {
            workspace::active(db, &wanted.workspace_id)?;
            let mut select = Entity::find().filter(Column::WorkspaceId.eq(wanted.workspace_id));
            let filters = [
                (Column::TurnId, wanted.turn_id),
                (Column::ThreadId, wanted.thread_id),
                (Column::HookId, wanted.hook_id),
                (Column::Status, wanted.status),
            ];
            for (column, value) in filters {
                if let Some(value) = value {
                    select = select.filter(column.eq(value));
                }
            }
            if let Some(ids) = wanted.subscription_ids {
                select = select.filter(Column::SubscriptionId.is_in(ids));
            }
            if let Some((time, id)) = wanted.after {
                let same_time = Condition::all()
                    .add(Column::QueuedAtMs.eq(time))
                    .add(Column::Id.lt(id));
                select = select.filter(
                    Condition::any()
                        .add(Column::QueuedAtMs.lt(time))
                        .add(same_time),
                );
            }
            let runs = select
                .order_by_desc(Column::QueuedAtMs)
                .order_by_desc(Column::Id)
                .limit(wanted.limit);
            Ok(runs.all(db)?)
        };
        self.0.read(work).await
    }
}
