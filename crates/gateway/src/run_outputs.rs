//! Stores the outputs of runs as artifacts of their workspace.

use std::{io::Read as _, sync::Arc};

use artifacts::{Artifacts, OutputFile, limits};
use blobs::{key::ContentHash, kind};
use company::{Company, layout};
use crud::BindTargets;
use protocol::company::{ProjectId, RunId};
use serde_json::json;

use crate::artifact_notifications::ArtifactNotifications;

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
pub(crate) async fn keep(
    artifacts: &Arc<Artifacts>,
    notifications: &ArtifactNotifications,
    outputs: RunOutputs,
) {
    let reading = outputs.clone();
    let names = tokio::task::spawn_blocking(move || reading.names()).await;
    for name in names.unwrap_or_default() {
        if let Err(error) = keep_one(artifacts, notifications, &outputs, name.clone()).await {
            tracing::warn!(error, name, run = %outputs.run, "a result of a run is not an artifact");
        }
    }
}

async fn keep_one(
    artifacts: &Arc<Artifacts>,
    notifications: &ArtifactNotifications,
    outputs: &RunOutputs,
    name: String,
) -> Result<(), String> {
    let run = outputs.clone();
    let read = tokio::task::spawn_blocking(move || run.read(&name)).await;
    let Some(output) = read.map_err(|panic| panic.to_string())?? else {
        return Ok(());
    };
    let kept = artifacts.keep_output(output).await;
    let kept = kept.map_err(|error| error.to_string())?;
    let published = notifications.publish_finished(kept).await;
    published
        .map(drop)
        .map_err(|failure| failure.message().to_owned())
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

    /// Reads an output file. Returns `None` if it is not a file, is empty or is too large. Blocks.
    fn read(&self, name: &str) -> Result<Option<OutputFile>, String> {
        let file = self.company.open(&format!("{}/{name}", self.folder()));
        let file = file.map_err(|error| error.to_string())?;
        let about = file.metadata().map_err(|error| error.to_string())?;
        if !about.is_file() || about.len() == 0 || about.len() > limits::MAX_UPLOAD {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let read = file.take(limits::MAX_UPLOAD).read_to_end(&mut bytes);
        read.map_err(|error| error.to_string())?;
        let head = &bytes[..bytes.len().min(kind::HEAD_LENGTH)];
        let detected = kind::detect(head, name, None);
        Ok(Some(OutputFile {
            artifact_id: artifact_id(&self.run, name),
            kind: None,
            workspace_id: self.workspace_id.clone(),
            file_name: name.to_owned(),
            bytes,
            detected,
            author: self.agent.clone(),
            metadata: json!({"source_kind": "run_output", "run_id": self.run.as_str()}),
            targets: self.targets.clone(),
            binding_kind: "task_result",
            role: "task",
        }))
    }
}

/// Returns the artifact id of an output file. It is derived from run and name, so that no file is stored twice.
fn artifact_id(run: &RunId, name: &str) -> String {
    let hash = ContentHash::of(format!("{run}/{name}").as_bytes()).to_string();
    format!("art_{}", &hash[..18])
}
