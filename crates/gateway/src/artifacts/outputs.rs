//! Stores the outputs of runs as artifacts of their workspace.

use std::{io::Read as _, sync::Arc};

use blobs::{
    key::{ContentHash, WorkspaceSegment},
    kind,
    store::BlobStore as _,
};
use company::{Company, layout};
use crud::{BindTargets, NewArtifact, NewOutput};
use protocol::company::{ProjectId, RunId};
use serde_json::json;

use super::{limits, new_artifact, upload};
use crate::{Gateway, notify};

/// A completed run whose outputs are stored.
#[derive(Clone, Debug)]
pub(crate) struct RunOutputs {
    pub(crate) company: Company,
    pub(crate) project: ProjectId,
    pub(crate) run: RunId,
    pub(crate) workspace_id: String,
    /// The thread, turn, job and run that the artifacts are bound to.
    pub(crate) targets: BindTargets,
    /// The id of the agent that worked on the run.
    pub(crate) agent: String,
}

/// Stores the output files of a run as artifacts. A file that cannot be stored is logged and does not affect the run.
pub(crate) async fn keep(gateway: &Arc<Gateway>, outputs: RunOutputs) {
    let reading = outputs.clone();
    let names = tokio::task::spawn_blocking(move || reading.names()).await;
    for name in names.unwrap_or_default() {
        if let Err(error) = keep_one(gateway, &outputs, name.clone()).await {
            tracing::warn!(error, name, run = %outputs.run, "a result of a run is not an artifact");
        }
    }
}

async fn keep_one(
    gateway: &Arc<Gateway>,
    outputs: &RunOutputs,
    name: String,
) -> Result<(), String> {
    let (worker, run) = (Arc::clone(gateway), outputs.clone());
    let placed = tokio::task::spawn_blocking(move || run.place(&worker, &name)).await;
    let Some(output) = placed.map_err(|panic| panic.to_string())?? else {
        return Ok(());
    };
    let kept = gateway.store.artifacts().keep_output(output).await;
    let kept = kept.map_err(|error| error.to_string())?;
    if kept.is_new {
        gateway.artifacts.added(&kept.detail, false);
    }
    let (_, publications) =
        upload::announce(gateway, kept).map_err(|failure| failure.message().to_owned())?;
    for publication in publications {
        notify::publish(gateway, &publication).await;
    }
    Ok(())
}

impl RunOutputs {
    fn folder(&self) -> String {
        layout::run_outputs(&self.project, &self.run)
    }

    /// Returns the names of the output files that are results. Blocks.
    fn names(&self) -> Vec<String> {
        let mut names = self.company.names(&self.folder()).unwrap_or_default();
        names.retain(|name| sessions::is_result(name));
        names.truncate(limits::MAX_FILES_PER_TURN as usize);
        names
    }

    /// Stores the bytes of a file in the blob store. Returns `None` if it is not a file, is empty or is too large.
    /// Blocks.
    fn place(&self, gateway: &Gateway, name: &str) -> Result<Option<NewOutput>, String> {
        let file = self.company.open(&format!("{}/{name}", self.folder()));
        let file = file.map_err(|error| error.to_string())?;
        let about = file.metadata().map_err(|error| error.to_string())?;
        if !about.is_file() || about.len() == 0 || about.len() > limits::MAX_UPLOAD {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let read = file.take(limits::MAX_UPLOAD).read_to_end(&mut bytes);
        read.map_err(|error| error.to_string())?;
        let workspace = WorkspaceSegment::new(&self.workspace_id);
        let committed = workspace.and_then(|workspace| {
            let blobs = gateway.artifacts.blobs();
            blobs.put(&workspace, &bytes)
        });
        let committed = committed.map_err(|error| error.to_string())?;
        let head = &bytes[..bytes.len().min(kind::HEAD_LENGTH)];
        let detected = kind::detect(head, name, None);
        let metadata = json!({"source_kind": "run_output", "run_id": self.run.as_str()});
        let new = new_artifact(
            gateway,
            detected,
            committed.size,
            name,
            &self.agent,
            &metadata,
        );
        Ok(Some(NewOutput {
            workspace_id: self.workspace_id.clone(),
            sha256: committed.key.sha256().to_string(),
            size_bytes: i64::try_from(committed.size).unwrap_or(i64::MAX),
            targets: self.targets.clone(),
            binding_kind: "task_result",
            role: "task",
            new: NewArtifact {
                artifact_id: artifact_id(&self.run, name),
                ..new
            },
            quota: gateway.artifacts.quota,
        }))
    }
}

/// Returns the artifact id of an output file. It is derived from run and name, so that no file is stored twice.
fn artifact_id(run: &RunId, name: &str) -> String {
    let hash = ContentHash::of(format!("{run}/{name}").as_bytes()).to_string();
    format!("art_{}", &hash[..18])
}
