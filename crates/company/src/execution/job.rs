//! The files of jobs. What runs them is elsewhere; whoever changes a record reads it under the same lock, so that
//! nobody's change is lost.

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
    Company, Error, Writer, document::Document, folder::intent::Together, format::collation, layout,
};

impl Document for JobRecord {}

/// The result of a job, in its folder.
pub const RESULT: &str = "result.json";
/// What a manager needs to know of it.
pub const DIGEST: &str = "manager_digest.json";
/// What a woken worker reported.
pub const REPORT: &str = "heartbeat_report.json";

/// What a job left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Left {
    /// Its result.
    pub result: Option<JobResult>,
    /// That, in short.
    pub digest: Option<ManagerDigest>,
    /// What a woken worker reported.
    pub report: Option<HeartbeatReport>,
}

/// The record of a job.
pub fn record(
    company: &Company,
    project: &ProjectId,
    job: &JobId,
) -> Result<Arc<JobRecord>, Error> {
    company
        .read(&record_path(project, job))
        .map_err(|error| error.or_not_found("Job", job.as_str()))
}

/// The records of a project that can be read, sorted by id.
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

/// What a job left; a file that is not there or cannot be read is nothing.
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

/// The status of a job's result, if there is a result that can be read.
pub fn result_status(
    company: &Company,
    project: &ProjectId,
    job: &JobId,
) -> Option<JobResultStatus> {
    #[derive(Deserialize)]
    struct Head {
        status: JobResultStatus,
    }
    let text = company.read_text(&format!("{}/{RESULT}", layout::job(project, job)));
    let head: Head = serde_json::from_str(&text.ok()?).ok()?;
    Some(head.status)
}

fn record_path(project: &ProjectId, job: &JobId) -> String {
    format!("{}/job.yaml", layout::job(project, job))
}

impl Writer<'_> {
    /// Writes a new record, and forgets what an earlier job of that id left.
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

    /// Changes a record as it is now.
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

    /// Writes down what a job leaves and changes its record, in one step: a job that says it is over has its result.
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
            (REPORT, report.as_ref().map(printed).transpose()?),
            (RESULT, result.as_ref().map(printed).transpose()?),
            (DIGEST, digest.as_ref().map(printed).transpose()?),
        ] {
            files.extend(text.map(|text| (format!("{folder}/{name}"), text)));
        }
        files.push((record_path(project, job), self.yaml(&changed)?));
        self.put_together(&Together {
            files,
            ..Together::default()
        })?;
        Ok(changed)
    }

    /// A record with a change that is not written yet.
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

fn printed<T: Serialize>(content: &T) -> Result<String, Error> {
    let text = serde_json::to_string_pretty(content);
    let text = text.map_err(|error| {
        Error::Refused(format!("the result of a job cannot be written: {error}"))
    })?;
    Ok(text + "\n")
}
