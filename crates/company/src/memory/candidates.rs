//! Derives memory candidates from the results of a job. Candidates are suggestions; this module changes no memory.

use protocol::{
    Id as _,
    company::{
        JobId, MemoryScopeKind, ProjectId, RunId, Sensitivity,
        job::Signals,
        memory::{MemoryCandidate, MemoryExtractCandidatesResponse},
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Company, Error,
    format::yaml,
    layout,
    policy::{self, Actor},
    secret::{self, SecretCounts},
};

/// Maximum number of paths or signals that one candidate lists.
const MAX_LISTED: usize = 5;

/// Parameters of [`extract_candidates`].
#[derive(Clone, Debug)]
pub struct CandidateQuery {
    /// Project of the job.
    pub project_id: ProjectId,
    /// Job to extract from; if absent, the job that `run_id` is an attempt of.
    pub job_id: Option<JobId>,
    /// Run to extract from; if absent, the last attempt of the job.
    pub run_id: Option<RunId>,
    /// Actor that requests the candidates.
    pub actor: Actor,
    /// Maximum number of candidates.
    pub limit: usize,
}

/// Extracts the candidates, writes them as a report into the outputs of the run, and returns them.
pub fn extract_candidates(
    company: &Company,
    wanted: &CandidateQuery,
) -> Result<MemoryExtractCandidatesResponse, Error> {
    let project = &wanted.project_id;
    let (job_id, job) = find_job(company, wanted)?;
    let run_id = run_of(&job_id, &job, wanted.run_id.as_ref())?;
    let folder = layout::run(project, &run_id);
    if !company.path(&format!("{folder}/run.yaml")).is_file() {
        return Err(Error::NotFound {
            what: "Run",
            id: run_id.to_string(),
        });
    }
    let job_folder = layout::job(project, &job_id);
    let result = read_json(company, &format!("{job_folder}/result.json"))?;
    let signals = read_signals(company, &format!("{job_folder}/manager_digest.json"))?;
    let outcome = JobEvidence {
        project,
        job: &job_id,
        run: &run_id,
        goal: job["job"]["goal"].as_str().unwrap_or_default(),
        worker: job["job"]["worker_agent_id"].as_str(),
        evidence: evidence(&run_id, &job_id, &result),
        result: &result,
        signals: &signals,
    };
    let (mut candidates, mut blocked, mut matches) = (Vec::new(), 0, SecretCounts::default());
    for candidate in outcome.candidates() {
        let lines = candidate.insert_lines.join("\n");
        let text = [
            &*candidate.title,
            &candidate.rationale,
            &lines,
            &candidate.evidence.join("\n"),
        ]
        .join("\n");
        let counts = secret::detect(&text);
        if counts.total() > 0 {
            blocked += 1;
            matches.add_all(&counts);
        } else if candidates.len() < wanted.limit {
            candidates.push(candidate);
        }
    }
    let report_relpath = format!("{folder}/outputs/memory_candidates.json");
    let actor = &wanted.actor;
    let report = CandidateReport {
        schema_version: 1,
        r#type: "memory_candidate_report",
        generated_at: company.sources().now_text(),
        project_id: project,
        job_id: &job_id,
        run_id: &run_id,
        actor_id: &actor.id,
        actor_role: actor.role.as_str(),
        actor_team_id: actor.team_id.as_deref(),
        blocked_secret_count: blocked,
        blocked_matches_by_kind: matches,
        count: candidates.len(),
        candidates: &candidates,
    };
    let report = serde_json::to_string_pretty(&report)
        .map_err(|error| Error::Refused(format!("the report cannot be written: {error}")))?;
    company.write(|writer| writer.put_text(&report_relpath, &(report + "\n")))?;
    let payload = json!({
        "job_id": job_id,
        "report_relpath": report_relpath,
        "candidate_count": candidates.len(),
        "blocked_secret_count": blocked,
    });
    let name = "memory.candidates.generated";
    let event = policy::managers_event(company, &run_id, &actor.id, name, &payload)?;
    if let Err(error) = company.append_events(project, &run_id, &[event]) {
        tracing::warn!(%error, "the event for extracted memory candidates cannot be appended");
    }
    Ok(MemoryExtractCandidatesResponse {
        report_relpath,
        count: candidates.len() as u64,
        blocked_secret_count: blocked,
        candidates,
    })
}

#[derive(Serialize)]
struct CandidateReport<'a> {
    schema_version: u32,
    r#type: &'static str,
    generated_at: String,
    project_id: &'a ProjectId,
    job_id: &'a JobId,
    run_id: &'a RunId,
    actor_id: &'a str,
    actor_role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor_team_id: Option<&'a str>,
    blocked_secret_count: u64,
    blocked_matches_by_kind: SecretCounts,
    count: usize,
    candidates: &'a [MemoryCandidate],
}

fn find_job(company: &Company, wanted: &CandidateQuery) -> Result<(JobId, Value), Error> {
    let read = |job: &JobId| {
        let path = format!("{}/job.yaml", layout::job(&wanted.project_id, job));
        let text = company.read_text(&path)?;
        yaml::parse(&text).map_err(|detail| Error::FileInvalid {
            path,
            issues: vec![protocol::company::Issue::new("parse_error", &[], detail)],
        })
    };
    if let Some(job) = &wanted.job_id {
        let record = read(job).map_err(|error| error.or_not_found("Job", job.as_str()))?;
        return Ok((job.clone(), record));
    }
    let run = wanted.run_id.as_ref().map_or("", RunId::as_str);
    let folder = format!("{}/jobs", layout::project(&wanted.project_id));
    for name in company.names(&folder)? {
        let Ok(job) = JobId::parse(&name) else {
            continue;
        };
        let Ok(record) = read(&job) else {
            continue;
        };
        if runs(&record).any(|known| known == run) {
            return Ok((job, record));
        }
    }
    Err(Error::Refused(format!(
        "No job record found for run_id={run}"
    )))
}

fn runs(job: &Value) -> impl Iterator<Item = &str> {
    let attempts = job["attempts"].as_array().into_iter().flatten();
    attempts.filter_map(|attempt| attempt["run_id"].as_str())
}

/// Returns `wanted` or the last attempt. The run must be an attempt in the job record; run ids in worker results are
/// not trusted.
fn run_of(job_id: &JobId, job: &Value, wanted: Option<&RunId>) -> Result<RunId, Error> {
    let run = match wanted {
        Some(wanted) => runs(job)
            .find(|run| *run == wanted.as_str())
            .ok_or_else(|| {
                Error::Refused(format!(
                    "run `{wanted}` is not an attempt of job `{job_id}`"
                ))
            })?,
        None => runs(job).last().ok_or_else(|| {
            Error::Refused(format!(
                "job `{job_id}` has no attempts to extract candidates from"
            ))
        })?,
    };
    RunId::parse(run).map_err(|error| Error::Refused(error.to_string()))
}

fn read_json(company: &Company, relative: &str) -> Result<Value, Error> {
    match company.read_text(relative) {
        Ok(text) => Ok(serde_json::from_str(&text).unwrap_or_default()),
        Err(error) if error.is_missing() => Ok(Value::Null),
        Err(error) => Err(error),
    }
}

/// Returns the signals of a digest in the order in which they were written.
fn read_signals(company: &Company, relative: &str) -> Result<Vec<(String, Value)>, Error> {
    #[derive(Default, Deserialize)]
    struct DigestFields {
        #[serde(default)]
        signals: Signals,
    }
    match company.read_text(relative) {
        Ok(text) => {
            let digest: DigestFields = serde_json::from_str(&text).unwrap_or_default();
            Ok(digest.signals.0)
        }
        Err(error) if error.is_missing() => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn evidence(run: &RunId, job: &JobId, result: &Value) -> Vec<String> {
    let mut evidence = vec![format!("run:{run}"), format!("job:{job}")];
    for artifact in rows(result, "artifacts") {
        let id = artifact["artifact_id"].as_str();
        if let Some(id) = id.filter(|id| !evidence.iter().any(|known| known == id)) {
            evidence.push(id.to_owned());
        }
    }
    evidence
}

fn rows<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

struct JobEvidence<'a> {
    project: &'a ProjectId,
    job: &'a JobId,
    run: &'a RunId,
    goal: &'a str,
    worker: Option<&'a str>,
    evidence: Vec<String>,
    result: &'a Value,
    signals: &'a [(String, Value)],
}

impl JobEvidence<'_> {
    fn candidates(&self) -> Vec<MemoryCandidate> {
        let job = self.job;
        let status = self.result["status"].as_str().unwrap_or_default();
        // Blocked and canceled jobs produced no work to learn from.
        let is_noise = matches!(status, "blocked" | "canceled");
        let files = rows(self.result, "files_changed");
        let errors = rows(self.result, "errors");
        let mut candidates = Vec::new();
        if self.result.is_object() && !is_noise {
            let summary = self.result["summary"].as_str().unwrap_or_default();
            let commands = rows(self.result, "commands_run").len();
            let counts = format!(
                "- files_changed={}, commands_run={commands}, errors={}",
                files.len(),
                errors.len()
            );
            let rationale = format!(
                "Derived from job {job} result status={status} for goal: {}",
                one_line(self.goal)
            );
            let lines = vec![format!("- {}", one_line(summary)), counts];
            candidates.push(MemoryCandidate {
                confidence: if status == "succeeded" { 0.72 } else { 0.58 },
                ..self.of_project(format!("Run insight ({status})"), lines, rationale)
            });
        }
        let paths = files.iter().filter_map(|file| file["path"].as_str());
        let paths: Vec<String> = paths.take(MAX_LISTED).map(one_line).collect();
        if !paths.is_empty() {
            candidates.push(MemoryCandidate {
                confidence: 0.63,
                ..self.of_project(
                    "Frequently touched paths".to_owned(),
                    vec![format!("- Recent run touched: {}", paths.join(", "))],
                    format!("Extracted from files_changed for job {job}."),
                )
            });
        }
        if let (Some(error), Some(worker)) = (errors.first(), self.worker) {
            let code = error["code"].as_str().unwrap_or("unknown");
            let message = error["message"].as_str().unwrap_or_default();
            candidates.push(MemoryCandidate {
                scope_kind: MemoryScopeKind::AgentGuidance,
                scope_ref: worker.to_owned(),
                confidence: 0.60,
                suggested_heading: Some("## Recurring Mistakes To Avoid".to_owned()),
                ..self.of_project(
                    format!("Avoid repeat error: {code}"),
                    vec![format!("- {}", one_line(message))],
                    format!(
                        "Run {} reported {code}; capture prevention guidance for the assigned worker.",
                        self.run
                    ),
                )
            });
        }
        let signals: Vec<String> = self
            .signals
            .iter()
            .take(MAX_LISTED)
            .map(|(name, value)| match value.as_str() {
                Some(value) => format!("{name}={}", one_line(value)),
                None => format!("{name}={value}"),
            })
            .collect();
        if !signals.is_empty() && !is_noise {
            candidates.push(MemoryCandidate {
                confidence: 0.54,
                ..self.of_project(
                    "Manager signal summary".to_owned(),
                    vec![format!("- {}", signals.join(", "))],
                    format!("Signal snapshot from manager digest for job {job}."),
                )
            });
        }
        candidates
    }

    fn of_project(
        &self,
        title: String,
        insert_lines: Vec<String>,
        rationale: String,
    ) -> MemoryCandidate {
        MemoryCandidate {
            scope_kind: MemoryScopeKind::ProjectMemory,
            scope_ref: self.project.to_string(),
            sensitivity: Sensitivity::Internal,
            title,
            insert_lines,
            rationale,
            evidence: self.evidence.clone(),
            confidence: 0.0,
            suggested_heading: Some("## Decisions".to_owned()),
        }
    }
}

/// Collapses whitespace, so that the text fits into one line of a list.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
