//! Records mistakes of agents and counts how often each one occurred.

use protocol::company::{AgentId, ProjectId, RunId, Text};
use serde_json::json;

use crate::{
    Company, Error,
    document::{Mistake, MistakeLog, Observation},
    folder::intent::WriteSet,
    layout,
    policy::{self, Actor},
    secret,
};

/// Number of observations kept per mistake; `count` includes the older ones.
const KEPT_OBSERVATIONS: usize = 20;

/// A mistake that a manager observed.
#[derive(Clone, Debug)]
pub struct ObservedMistake {
    /// Agent that made the mistake.
    pub worker: AgentId,
    /// Manager that observed it.
    pub manager: Actor,
    /// Key that identifies the mistake.
    pub key: String,
    /// Description of the mistake.
    pub summary: String,
    /// Rule that prevents it.
    pub prevention_rule: String,
    /// Project in which it occurred.
    pub project_id: Option<ProjectId>,
    /// Run in which it occurred.
    pub run_id: Option<RunId>,
    /// Task in which it occurred.
    pub task_id: Option<Text>,
    /// Milestone in which it occurred.
    pub milestone_id: Option<Text>,
    /// Artifact ids that document it.
    pub evidence: Vec<Text>,
    /// Number of occurrences from which a rule is proposed; only recorded in the event.
    pub threshold: u64,
}

/// A mistake that [`record`] has written.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedMistake {
    /// Key of the mistake.
    pub key: String,
    /// Total number of occurrences.
    pub count: u64,
    /// Path of the mistake log, relative to the company folder.
    pub log_relpath: String,
}

/// Records a mistake. The log is read and written under the write lock, so that concurrent observations are all
/// counted.
pub fn record(company: &Company, seen: &ObservedMistake) -> Result<RecordedMistake, Error> {
    if !seen.manager.is_manager() {
        return Err(Error::Refused(
            "Only manager+ roles can record worker mistakes".to_owned(),
        ));
    }
    let required = |name: &str, value: &str| match value.trim() {
        "" => Err(Error::Refused(format!("{name} is required"))),
        value => Ok(value.to_owned()),
    };
    let key = required("mistake_key", &seen.key)?;
    let summary = required("summary", &seen.summary)?;
    let prevention_rule = required("prevention_rule", &seen.prevention_rule)?;
    secret::refuse("mistake.key", &key)?;
    secret::refuse("mistake.summary", &summary)?;
    secret::refuse("mistake.prevention_rule", &prevention_rule)?;
    check_agent(company, &seen.worker)?;
    let log_relpath = format!("{}/mistakes.yaml", layout::agent(&seen.worker));
    company.write(|writer| {
        let now = writer.now().to_string();
        let found = company.read_if_there::<MistakeLog>(&log_relpath)?;
        let mut log = found.map_or_else(MistakeLog::default, |log| MistakeLog::clone(&log));
        log.schema_version = 1;
        log.agent_id = seen.worker.to_string();
        log.updated_at.clone_from(&now);
        let index = match log.entries.iter().position(|known| known.key == key) {
            Some(index) => index,
            None => {
                log.entries.push(Mistake {
                    key: key.clone(),
                    ..Mistake::default()
                });
                log.entries.len() - 1
            }
        };
        let entry = &mut log.entries[index];
        entry.count += 1;
        entry.last_seen_at.clone_from(&now);
        entry.summary = summary;
        entry.prevention_rule = prevention_rule;
        entry.observations.push(Observation {
            at: now,
            observed_by: seen.manager.id.clone(),
            project_id: seen.project_id.as_ref().map(crate::org::text),
            run_id: seen.run_id.as_ref().map(crate::org::text),
            task_id: seen.task_id.clone(),
            milestone_id: seen.milestone_id.clone(),
            evidence_artifact_ids: seen.evidence.clone(),
        });
        let old = entry.observations.len().saturating_sub(KEPT_OBSERVATIONS);
        entry.observations.drain(..old);
        let count = entry.count;
        let mut writes = WriteSet {
            files: vec![(log_relpath.clone(), writer.yaml(&log)?)],
            ..WriteSet::default()
        };
        if let (Some(project), Some(run)) = (&seen.project_id, &seen.run_id) {
            let payload = json!({
                "worker_agent_id": seen.worker,
                "mistake_key": key,
                "count": count,
                "threshold": seen.threshold,
                "task_id": seen.task_id,
                "milestone_id": seen.milestone_id,
                "evidence_artifact_ids": seen.evidence,
            });
            let name = "evaluation.mistake_recorded";
            let event = policy::managers_event(company, run, &seen.manager.id, name, &payload)?;
            writes.events.push((project.clone(), event));
        }
        writer.put_all(&writes)?;
        Ok(RecordedMistake {
            key,
            count,
            log_relpath: log_relpath.clone(),
        })
    })
}

pub(crate) fn check_agent(company: &Company, agent: &AgentId) -> Result<(), Error> {
    let path = format!("{}/agent.yaml", layout::agent(agent));
    if company.path(&path).is_file() {
        Ok(())
    } else {
        Err(Error::NotFound {
            what: "Agent",
            id: agent.to_string(),
        })
    }
}
