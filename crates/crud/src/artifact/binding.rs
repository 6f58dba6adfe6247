//! Bindings of artifacts to threads, turns, messages, tool calls and tasks.

use entity::{artifact_binding, turn};
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, ColumnTrait as _, DatabaseConnection,
    EntityTrait as _, QueryFilter as _,
};

use super::{ArtifactRepository, owned};
use crate::{Error, workspace};

/// The objects an artifact can be bound to. Absent fields are not bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BindTargets {
    /// The id of the thread.
    pub thread_id: Option<String>,
    /// The id of the turn.
    pub turn_id: Option<String>,
    /// The id of the message.
    pub message_id: Option<String>,
    /// The id of the item of the turn.
    pub turn_item_id: Option<String>,
    /// The id of the tool call.
    pub tool_call_id: Option<String>,
    /// The id of the task.
    pub task_id: Option<String>,
    /// The id of the run of the task.
    pub task_run_id: Option<String>,
}

impl BindTargets {
    /// Returns the columns and their values.
    pub(super) fn columns(&self) -> [(&'static str, Option<&str>); 7] {
        [
            ("thread_id", self.thread_id.as_deref()),
            ("turn_id", self.turn_id.as_deref()),
            ("message_id", self.message_id.as_deref()),
            ("turn_item_id", self.turn_item_id.as_deref()),
            ("tool_call_id", self.tool_call_id.as_deref()),
            ("task_id", self.task_id.as_deref()),
            ("task_run_id", self.task_run_id.as_deref()),
        ]
    }
}

/// A binding to create.
#[derive(Clone, Debug)]
pub struct NewBinding {
    /// The id for the binding if it is new.
    pub id: String,
    /// The id of the workspace.
    pub workspace_id: String,
    /// The id of the artifact.
    pub artifact_id: String,
    /// The id of the version. Absent to bind whichever version is the newest.
    pub version_id: Option<String>,
    /// The objects the artifact is bound to.
    pub targets: BindTargets,
    /// The purpose of the binding.
    pub binding_kind: String,
    /// The direction of the binding.
    pub direction: String,
    /// The index among several items, if any.
    pub item_index: Option<i64>,
    /// The role that provided the artifact, if known.
    pub role: Option<String>,
    /// The current time, in Unix seconds.
    pub now: i64,
}

impl ArtifactRepository<'_> {
    /// Binds a usable artifact to existing objects. An identical binding is returned instead of duplicated.
    pub async fn bind(&self, new: NewBinding) -> Result<artifact_binding::Model, Error> {
        self.0
            .write(move |db| {
                workspace::active(db, &new.workspace_id)?;
                let artifact = owned(db, &new.workspace_id, &new.artifact_id)?;
                if artifact.status != "ready" {
                    return Err(Error::ArtifactNotReady {
                        artifact_id: new.artifact_id,
                        status: artifact.status,
                    });
                }
                if let Some(version_id) = &new.version_id {
                    super::detail(db, &new.workspace_id, &new.artifact_id, Some(version_id))?;
                }
                if let Some(thread_id) = &new.targets.thread_id {
                    crate::thread::owned(db, &new.workspace_id, thread_id)?;
                }
                if let Some(turn_id) = &new.targets.turn_id {
                    let turn = turn::Entity::find_by_id(turn_id.as_str()).one(db)?;
                    turn.filter(|turn| turn.workspace_id == new.workspace_id)
                        .ok_or_else(|| Error::UnknownTurn(turn_id.clone()))?;
                }
                insert(db, new)
            })
            .await
    }
}

/// Inserts a binding, or returns the identical existing one.
pub(super) fn insert(
    db: &DatabaseConnection,
    new: NewBinding,
) -> Result<artifact_binding::Model, Error> {
    use artifact_binding::Column;
    let same = artifact_binding::Entity::find()
        .filter(Column::ArtifactId.eq(new.artifact_id.as_str()))
        .all(db)?
        .into_iter()
        .find(|binding| {
            let targets = BindTargets {
                thread_id: binding.thread_id.clone(),
                turn_id: binding.turn_id.clone(),
                message_id: binding.message_id.clone(),
                turn_item_id: binding.turn_item_id.clone(),
                tool_call_id: binding.tool_call_id.clone(),
                task_id: binding.task_id.clone(),
                task_run_id: binding.task_run_id.clone(),
            };
            targets == new.targets
                && binding.artifact_version_id == new.version_id
                && binding.binding_kind == new.binding_kind
                && binding.direction == new.direction
                && binding.item_index == new.item_index
        });
    if let Some(same) = same {
        return Ok(same);
    }
    let row = artifact_binding::ActiveModel {
        id: Set(new.id),
        workspace_id: Set(new.workspace_id),
        artifact_id: Set(new.artifact_id),
        artifact_version_id: Set(new.version_id),
        thread_id: Set(new.targets.thread_id),
        turn_id: Set(new.targets.turn_id),
        message_id: Set(new.targets.message_id),
        turn_item_id: Set(new.targets.turn_item_id),
        tool_call_id: Set(new.targets.tool_call_id),
        task_id: Set(new.targets.task_id),
        task_run_id: Set(new.targets.task_run_id),
        binding_kind: Set(new.binding_kind),
        direction: Set(new.direction),
        item_index: Set(new.item_index),
        role: Set(new.role),
        created_at: Set(new.now),
    };
    Ok(row.insert(db)?)
}
