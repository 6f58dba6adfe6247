//! Reads and writes the files of jobs: the record and the three result files in the job's folder.
//!
//! This module does not run jobs. Every change of a record re-reads the record under the write lock, so that concurrent
//! changes are not lost.

use std::sync::Arc;

use protocol::{
    Id as _,
    company::{
        JobId, ProjectId, Text,
        job::{HeartbeatReport, JobRecord, JobResult, JobResultStatus, ManagerDigest},
    },
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    Company, Error, Writer, document::Document, folder::intent::WriteSet, format::collation, layout,
};

impl Document for JobRecord {}

/// File name of a job's result, relative to the job's folder.
pub const RESULT: &str = "result.json";
/// File name of the summary for managers, relative to the job's folder.
pub(crate) const DIGEST: &str = "manager_digest.json";
/// File name of the report of a heartbeat worker, relative to the job's folder.
pub(crate) const REPORT: &str = "heartbeat_report.json";

/// Result files of a job. A field is `None` if the job has not written that file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Left {
    /// Outcome of the job.
    pub result: Option<JobResult>,
    /// Summary of the result for managers.
    pub digest: Option<ManagerDigest>,
    /// Report of a worker that the heartbeat started.
    pub report: Option<HeartbeatReport>,
}

/// Reads the record of a job.
pub fn record(
    company: &Company,
    project: &ProjectId,
    job: &JobId,
) -> Result<Arc<JobRecord>, Error> {
    company
        .read(&record_path(project, job))
        .map_err(|error| error.or_not_found("Job", job.as_str()))
}

/// Returns the records of a project, sorted by id. Records that cannot be read are skipped.
pub fn records(
    company: &Company,
    project: &ProjectId,
) -> Result<Vec<(JobId, Arc<JobRecord>)>, Error> {
    let names = company.names(&format!("{}/jobs", layout::project(project)))?;
    let mut found: Vec<_> = names
        .iter()
        .filter_map(|name| {
            let job = JobId::parse(name).ok()?;
            let record = company
                .read::<JobRecord>(&record_path(project, &job))
                .ok()?;
            Some((job, record))
        })
        .collect();
    found.sort_by(|(left, _), (right, _)| collation::compare(left.as_str(), right.as_str()));
    Ok(found)
}

/// Reads the result files of a job; a file that is missing or cannot be parsed yields `None`.
pub fn left(company: &Company, project: &ProjectId, job: &JobId) -> Left {
    fn json<T: DeserializeOwned>(company: &Company, path: &str) -> Option<T> {
        serde_json::from_str(&company.read_text(path).ok()?).ok()
    }
    let folder = layout::job(project, job);
    Left {
        result: json(company, &format!("{folder}/{RESULT}")),
        digest: json(company, &format!("{folder}/{DIGEST}")),
        report: json(company, &format!("{folder}/{REPORT}")),
    }
}

/// Reads only the status of a job's result; `None` if the result is missing or cannot be parsed.
pub fn result_status(
    company: &Company,
    project: &ProjectId,
    job: &JobId,
) -> Option<JobResultStatus> {
    #[derive(Deserialize)]
    struct ResultStatusField {
        status: JobResultStatus,
    }
    let text = company.read_text(&format!("{}/{RESULT}", layout::job(project, job)));
    let head: ResultStatusField = serde_json::from_str(&text.ok()?).ok()?;
    Some(head.status)
}

fn record_path(project: &ProjectId, job: &JobId) -> String {
    format!("{}/job.yaml", layout::job(project, job))
}

impl Writer<'_> {
    /// Writes a new record and removes the result files of an earlier job with the same id.
    pub fn create_job(
        &self,
        project: &ProjectId,
        job: &JobId,
        record: &JobRecord,
    ) -> Result<(), Error> {
        let folder = layout::job(project, job);
        for name in [RESULT, DIGEST, REPORT] {
            self.company().remove(&format!("{folder}/{name}"))?;
        }
        self.put(&record_path(project, job), record)
    }

    /// Applies `change` to the current record and writes it.
    pub fn change_job(
        &self,
        project: &ProjectId,
        job: &JobId,
        change: impl FnOnce(&mut JobRecord),
    ) -> Result<JobRecord, Error> {
        let changed = self.changed(project, job, change)?;
        self.put(&record_path(project, job), &changed)?;
        Ok(changed)
    }

    /// Writes the result files of a job and its changed record in one atomic step, so that a finished job always has
    /// its result.
    pub fn finish_job(
        &self,
        project: &ProjectId,
        job: &JobId,
        left: &Left,
        change: impl FnOnce(&mut JobRecord),
    ) -> Result<JobRecord, Error> {
        let changed = self.changed(project, job, change)?;
        let mut files = Vec::new();
        let folder = layout::job(project, job);
        let Left {
            result,
            digest,
            report,
        } = left;
        for (name, text) in [
            (REPORT, report.as_ref().map(to_json_text).transpose()?),
            (RESULT, result.as_ref().map(to_json_text).transpose()?),
            (DIGEST, digest.as_ref().map(to_json_text).transpose()?),
        ] {
            files.extend(text.map(|text| (format!("{folder}/{name}"), text)));
        }
        files.push((record_path(project, job), self.yaml(&changed)?));
        self.put_all(&WriteSet {
            files,
            ..WriteSet::default()
        })?;
        Ok(changed)
    }

    /// Applies `change` to the current record and sets `updated_at`, without writing it.
    fn changed(
        &self,
        project: &ProjectId,
        job: &JobId,
        change: impl FnOnce(&mut JobRecord),
    ) -> Result<JobRecord, Error> {
        let mut changed = JobRecord::clone(&*record(self.company(), project, job)?);
        change(&mut changed);
        changed.updated_at =
            Text::new(self.company().sources().now_text()).expect("a time is not empty");
        Ok(changed)
    }
}

fn to_json_text<T: Serialize>(content: &T) -> Result<String, Error> {
    let text = serde_json::to_string_pretty(content);
    let text = text.map_err(|error| {
        Error::Refused(format!("the result of a job cannot be written: {error}"))
    })?;
    Ok(text + "\n")
}
