//! Copies artifacts referenced by jobs into the inputs of their runs.

use std::{io::Read as _, sync::Arc};

use artifacts::Artifacts;
use company::{Company, Error, execution::run, secret};
use crud::{ArtifactDetail, BindTargets, CrudStore, NewBinding};
use protocol::{
    ArtifactId, Id as _,
    company::{
        JobId, ProjectId, RunId, Text,
        context::{ContextRef, ContextRefKind},
    },
};
use sources::Sources;
use tokio::runtime::Handle;

use crate::{linking, rows};

/// The number of characters after the prefix of an artifact id. Document ids of company folders are longer.
const ID_LETTERS: usize = 18;

/// Access to the artifacts of a gateway for its jobs. All methods block.
#[derive(Clone, Debug)]
pub(crate) struct RunInputs {
    pub(crate) store: CrudStore,
    pub(crate) sources: Sources,
    pub(crate) artifacts: Arc<Artifacts>,
}

impl RunInputs {
    /// Rejects references to artifacts that do not exist, are not ready or contain a secret.
    pub(crate) fn check(&self, company: &Company, refs: &[ContextRef]) -> Result<(), Error> {
        for id in refs.iter().filter_map(artifact) {
            self.read(company, &id)?;
        }
        Ok(())
    }

    /// Copies artifacts into the inputs of a run. Returns the references with each artifact replaced by its file.
    pub(crate) fn copy(
        &self,
        company: &Company,
        refs: &[ContextRef],
        (project, run_id, job): (&ProjectId, &RunId, &JobId),
    ) -> Result<Vec<ContextRef>, Error> {
        let mut told = Vec::with_capacity(refs.len());
        for reference in refs {
            let Some(id) = artifact(reference) else {
                told.push(reference.clone());
                continue;
            };
            let (detail, bytes) = self.read(company, &id)?;
            let shown = &detail.artifact.display_name;
            let relpath = run::give(company, (project, run_id), &id, shown, &bytes)?;
            self.bind(&detail, (run_id, job))?;
            let what = match &reference.description {
                Some(what) => format!("{what}; artifact {id}, `{shown}`"),
                None => format!("artifact {id}, `{shown}`"),
            };
            // The path is never empty, so the conversion succeeds.
            told.extend(Text::new(relpath).map(|value| ContextRef {
                kind: ContextRefKind::File,
                value,
                description: Text::new(what),
            }));
        }
        Ok(told)
    }

    /// Reads an artifact of the workspace linked to a company folder, with its bytes.
    fn read(&self, company: &Company, id: &ArtifactId) -> Result<(ArtifactDetail, Vec<u8>), Error> {
        let dir = linking::dir(company);
        let (companies, artifacts) = (self.store.companies(), self.store.artifacts());
        let found = Handle::current().block_on(async {
            let workspace = companies.workspace(&dir).await.ok().flatten()?;
            artifacts.get(&workspace, id.as_str(), None).await.ok()
        });
        let found = found.filter(|detail| detail.artifact.status == "ready");
        let detail = found.ok_or_else(|| {
            Error::Refused(format!(
                "`{id}` in context_refs is no artifact of this company's workspace"
            ))
        })?;
        let bytes = Handle::current().block_on(self.artifacts.open_bytes(&detail.blob));
        let mut bytes_read = Vec::new();
        bytes
            .map_err(|error| rows::artifact_failure(error).message().to_owned())
            .and_then(|mut bytes| {
                let read = bytes.read_to_end(&mut bytes_read);
                read.map_err(|error| error.to_string())
            })
            .map_err(|error| Error::Refused(format!("artifact `{id}` cannot be read: {error}")))?;
        // Only text can be searched for secrets; binary content is not inspected.
        let is_secret = std::str::from_utf8(&bytes_read)
            .is_ok_and(|content| secret::detect(content).total() > 0);
        if is_secret {
            Err(Error::Refused(format!(
                "artifact `{id}` holds what looks like a secret and is not given to a worker"
            )))
        } else {
            Ok((detail, bytes_read))
        }
    }

    fn bind(&self, detail: &ArtifactDetail, (run, job): (&RunId, &JobId)) -> Result<(), Error> {
        let binding = NewBinding {
            id: format!("abn_{}", self.sources.ids.suffix()),
            workspace_id: detail.artifact.workspace_id.clone(),
            artifact_id: detail.artifact.id.clone(),
            version_id: Some(detail.version.id.clone()),
            targets: BindTargets {
                task_id: Some(job.to_string()),
                task_run_id: Some(run.to_string()),
                ..BindTargets::default()
            },
            binding_kind: "context_attachment".to_owned(),
            direction: "context".to_owned(),
            item_index: None,
            role: Some("task".to_owned()),
            now: self.sources.clock.now(),
        };
        let bound = Handle::current().block_on(self.store.artifacts().bind(binding));
        bound
            .map(drop)
            .map_err(|error| Error::Refused(format!("an artifact cannot be bound: {error}")))
    }
}

/// Returns the artifact id of a reference, or `None` if it refers to a document of the company folder or to anything
/// else.
fn artifact(reference: &ContextRef) -> Option<ArtifactId> {
    let is_ours = reference.kind == ContextRefKind::Artifact
        && reference.value.len() == ArtifactId::PREFIX.len() + ID_LETTERS;
    let id = is_ours.then(|| ArtifactId::parse(&reference.value))?;
    id.ok()
}
