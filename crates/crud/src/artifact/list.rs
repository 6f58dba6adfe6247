//! Lists of artifacts, filtered in the query so that pages are full.

use std::collections::BTreeMap;

use entity::{artifact, artifact_version};
use sea_orm::{ColumnTrait as _, DatabaseConnection, EntityTrait as _, QueryFilter as _, Value};

use super::{ArtifactDetail, BindTargets, details};
use crate::{Error, query, workspace};

/// The JSON fragment that marks the metadata of a run's output.
const RUN_OUTPUT: &str = r#""source_kind":"run_output""#;

/// Returns whether an artifact is the output of a run, according to its metadata.
pub fn is_run_output(artifact: &artifact::Model) -> bool {
    artifact.metadata.contains(RUN_OUTPUT)
}

/// The filters of a list of artifacts.
#[derive(Clone, Debug)]
pub struct ArtifactQuery {
    /// The id of the workspace.
    pub workspace_id: String,
    /// Only artifacts with a binding that matches all given targets.
    pub targets: BindTargets,
    /// Only artifacts of these kinds. Empty for all.
    pub kinds: Vec<String>,
    /// True to include deleted artifacts.
    pub include_deleted: bool,
    /// True to include outputs of runs.
    pub include_run_outputs: bool,
    /// Only artifacts after this cursor (time and id), if set.
    pub after: Option<(i64, String)>,
    /// The maximum number of artifacts.
    pub limit: u64,
}

/// A page of artifacts.
#[derive(Clone, Debug)]
pub struct ArtifactPage {
    /// The artifacts of the page.
    pub items: Vec<ArtifactDetail>,
    /// The cursor of the next page. Absent on the last page.
    pub next: Option<(i64, String)>,
}

pub(super) fn page(db: &DatabaseConnection, wanted: &ArtifactQuery) -> Result<ArtifactPage, Error> {
    workspace::active(db, &wanted.workspace_id)?;
    if let Some(thread_id) = &wanted.targets.thread_id {
        crate::thread::owned(db, &wanted.workspace_id, thread_id)?;
    }
    let (sql, values) = statement(wanted);
    let rows = query::all_of(db, &sql, values)?;
    let mut keys: Vec<(i64, String)> = Vec::new();
    for row in &rows {
        keys.push((row.try_get("", "sort_time")?, row.try_get("", "id")?));
    }
    let has_more = keys.len() as u64 > wanted.limit;
    keys.truncate(usize::try_from(wanted.limit).unwrap_or(usize::MAX));

    let ids: Vec<&str> = keys.iter().map(|(_, id)| id.as_str()).collect();
    let artifacts = artifact::Entity::find()
        .filter(artifact::Column::Id.is_in(ids))
        .all(db)?;
    let current: Vec<&str> = artifacts
        .iter()
        .map(|artifact| artifact.current_version_id.as_str())
        .collect();
    let versions = artifact_version::Entity::find()
        .filter(artifact_version::Column::Id.is_in(current))
        .all(db)?;
    let mut versions: BTreeMap<_, _> = versions
        .into_iter()
        .map(|version| (version.artifact_id.clone(), version))
        .collect();
    let mut artifacts: BTreeMap<_, _> = artifacts
        .into_iter()
        .map(|artifact| (artifact.id.clone(), artifact))
        .collect();
    let found = keys
        .iter()
        .filter_map(|(_, id)| Some((artifacts.remove(id)?, versions.remove(id)?)));
    let items = details(db, found.collect())?;
    Ok(ArtifactPage {
        items,
        next: keys.last().filter(|_| has_more).cloned(),
    })
}

/// Builds the statement. Orders by the newest matching binding, or by the last change, newest first.
fn statement(wanted: &ArtifactQuery) -> (String, Vec<Value>) {
    let mut values: Vec<Value> = vec![wanted.workspace_id.as_str().into()];
    let mut target = |value: Value| {
        values.push(value);
        format!("${}", values.len())
    };
    let mut filters = vec!["artifact.workspace_id = $1".to_owned()];
    if !wanted.include_deleted {
        filters.push("artifact.status <> 'deleted'".to_owned());
    }
    if !wanted.include_run_outputs {
        let mark = target(format!("%{RUN_OUTPUT}%").into());
        filters.push(format!("artifact.metadata NOT LIKE {mark}"));
    }
    if !wanted.kinds.is_empty() {
        let kinds: Vec<String> = wanted
            .kinds
            .iter()
            .map(|kind| target(kind.as_str().into()))
            .collect();
        filters.push(format!("artifact.kind IN ({})", kinds.join(", ")));
    }
    let bound: Vec<String> = wanted
        .targets
        .columns()
        .into_iter()
        .filter_map(|(column, value)| Some(format!("binding.{column} = {}", target(value?.into()))))
        .collect();
    let source = if bound.is_empty() {
        "SELECT artifact.id AS id, artifact.updated_at AS sort_time FROM artifact".to_owned()
    } else {
        filters.extend(bound);
        "SELECT artifact.id AS id, MAX(binding.created_at) AS sort_time FROM artifact \
             JOIN artifact_binding binding ON binding.artifact_id = artifact.id"
            .to_owned()
    };
    let grouped = if source.contains("MAX(") {
        " GROUP BY artifact.id"
    } else {
        ""
    };
    let behind = match &wanted.after {
        None => String::new(),
        Some((time, id)) => {
            let (time, id) = (target((*time).into()), target(id.as_str().into()));
            format!(
                " WHERE found.sort_time < {time} OR (found.sort_time = {time} AND found.id < {id})"
            )
        }
    };
    let limit = target(i64::try_from(wanted.limit + 1).unwrap_or(i64::MAX).into());
    let sql = format!(
        "SELECT found.id AS id, found.sort_time AS sort_time FROM ({source} WHERE {}{grouped}) found{behind} \
         ORDER BY found.sort_time DESC, found.id DESC LIMIT {limit}",
        filters.join(" AND ")
    );
    (sql, values)
}
