//! Converts a worker's answer into a job result. Missing lists are added and unknown fields dropped, and both are
//! noted. An answer that cannot be converted yields errors that a repair prompt can quote.

use std::sync::LazyLock;

use protocol::company::{
    Issue, JobId, Shape, Text,
    job::{
        ChangedFile, CommandRun, HeartbeatReport, JobError, JobResult, JobResultStatus,
        JobResultTag, ManagerDigest, NextAction, Signals,
    },
};
use serde_json::{Map, Value, json};

/// Lists of a result, with the fields of their items.
const LISTS: [(&str, &[&str]); 5] = [
    ("files_changed", &["path", "change_type", "summary"]),
    ("commands_run", &["command", "exit_code", "summary"]),
    ("artifacts", &["relpath", "artifact_id", "kind", "sha256"]),
    ("next_actions", &["action", "rationale"]),
    ("errors", &["code", "message", "details"]),
];
const FIELDS: [&str; 6] = [
    "schema_version",
    "type",
    "job_id",
    "attempt_run_id",
    "status",
    "summary",
];

/// Converts an answer into a result and the notes about its normalization.
pub(crate) fn of_answer(
    mut answer: Map<String, Value>,
    job: &JobId,
    run: &str,
) -> Result<(JobResult, Vec<String>), Vec<JobError>> {
    static SHAPE: LazyLock<Shape> = LazyLock::new(Shape::of::<JobResult>);
    let mut notes = Vec::new();
    if answer
        .get("job_id")
        .and_then(Value::as_str)
        .is_some_and(|id| id != job.as_str())
    {
        let message = format!("job_id is not `{job}`");
        return Err(vec![error("result_job_id_mismatch", &message)]);
    }
    answer.retain(|name, value| {
        let is_known =
            FIELDS.contains(&name.as_str()) || LISTS.iter().any(|(list, _)| list == name);
        if !is_known {
            notes.push(format!("dropped {name}"));
        }
        is_known && !value.is_null()
    });
    for (list, fields) in LISTS {
        let items = answer.entry(list).or_insert_with(|| {
            notes.push(format!("added {list}"));
            json!([])
        });
        for item in items.as_array_mut().into_iter().flatten() {
            if let Some(item) = item.as_object_mut() {
                item.retain(|name, value| {
                    let is_known = fields.contains(&name.as_str());
                    if !is_known {
                        notes.push(format!("dropped {list}[].{name}"));
                    }
                    is_known && !value.is_null()
                });
            }
        }
    }
    answer.entry("schema_version").or_insert_with(|| json!(1));
    answer.entry("type").or_insert_with(|| json!("result"));
    answer.insert("job_id".to_owned(), json!(job));
    // The worker's own value is ignored, because the id becomes part of paths.
    answer.insert("attempt_run_id".to_owned(), json!(run));
    notes.sort_unstable();
    notes.dedup();
    match SHAPE.read::<JobResult>(Value::Object(answer)) {
        Ok(result) => Ok((result, notes)),
        Err(issues) => Err(errors_of("result_schema_invalid", &issues)),
    }
}

/// Converts an answer into a heartbeat report.
pub(crate) fn report_of_answer(
    answer: Map<String, Value>,
) -> Result<HeartbeatReport, Vec<JobError>> {
    static SHAPE: LazyLock<Shape> = LazyLock::new(Shape::of::<HeartbeatReport>);
    let answer = without_nulls(Value::Object(answer));
    let report = SHAPE.read::<HeartbeatReport>(answer);
    let report = report.and_then(|report| match report.refine() {
        issues if issues.is_empty() => Ok(report),
        issues => Err(issues),
    });
    report.map_err(|issues| errors_of("heartbeat_report_schema_invalid", &issues))
}

/// Removes null members: programs that must return every field of a schema set unused ones to null.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(object) => object
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name, without_nulls(value)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

fn errors_of(code: &str, issues: &[Issue]) -> Vec<JobError> {
    issues
        .iter()
        .map(|issue| error(code, &issue.to_string()))
        .collect()
}

/// Creates an error without details.
pub(crate) fn error(code: &str, message: &str) -> JobError {
    JobError {
        code: text(code),
        message: text(message),
        details: None,
    }
}

/// Creates a non-empty text; `-` stands for an empty one.
pub(crate) fn text(text: impl Into<String>) -> Text {
    Text::new(text).unwrap_or_else(|| Text::new("-").expect("a dash is a text"))
}

/// Creates a result on behalf of the gateway, without an answer of a worker.
pub(crate) fn own_result(
    job: &JobId,
    run: &str,
    status: JobResultStatus,
    summary: &str,
    errors: Vec<JobError>,
    next: Option<(&str, &str)>,
) -> JobResult {
    JobResult {
        schema_version: 1,
        r#type: JobResultTag::Result,
        job_id: text(job.as_str()),
        attempt_run_id: text(run),
        status,
        summary: text(summary),
        files_changed: Vec::new(),
        commands_run: Vec::new(),
        artifacts: Vec::new(),
        next_actions: next
            .map(|(action, rationale)| NextAction {
                action: text(action),
                rationale: Some(rationale.to_owned()),
            })
            .into_iter()
            .collect(),
        errors,
    }
}

/// Creates the result of a job from the report of its heartbeat worker.
pub(crate) fn of_report(job: &JobId, run: &str, report: &HeartbeatReport) -> JobResult {
    let next = report.actions().iter().map(|action| NextAction {
        action: text(format!("{}:{}", action.kind(), action.idempotency_key())),
        rationale: action.summary().map(ToString::to_string),
    });
    JobResult {
        next_actions: next.collect(),
        ..own_result(
            job,
            run,
            JobResultStatus::Succeeded,
            &report.summary,
            Vec::new(),
            None,
        )
    }
}

/// Summarizes a result for managers: texts are shortened and lists, except for artifacts, limited to 20 items.
pub(crate) fn digest(result: &JobResult, signals: Signals) -> ManagerDigest {
    const ITEMS: usize = 20;
    let short = |text: &str, most: usize| {
        if text.chars().count() > most {
            text.chars()
                .take(most.saturating_sub(3))
                .chain("...".chars())
                .collect()
        } else {
            text.to_owned()
        }
    };
    let maybe = |text: &Option<String>, most| text.as_deref().map(|text| short(text, most));
    ManagerDigest {
        job_id: result.job_id.clone(),
        attempt_run_id: result.attempt_run_id.clone(),
        status: result.status,
        summary: short(&result.summary, 1200),
        files_changed: result
            .files_changed
            .iter()
            .take(ITEMS)
            .map(|file| ChangedFile {
                summary: maybe(&file.summary, 180),
                ..file.clone()
            })
            .collect(),
        commands_run: result
            .commands_run
            .iter()
            .take(ITEMS)
            .map(|run| CommandRun {
                command: text(short(&run.command, 220)),
                exit_code: run.exit_code,
                summary: maybe(&run.summary, 180),
            })
            .collect(),
        artifacts: result.artifacts.clone(),
        next_actions: result
            .next_actions
            .iter()
            .take(ITEMS)
            .map(|next| NextAction {
                action: text(short(&next.action, 220)),
                rationale: maybe(&next.rationale, 220),
            })
            .collect(),
        errors: result.errors.iter().take(ITEMS).cloned().collect(),
        signals,
    }
}

#[cfg(test)]
mod tests {
    use protocol::Id as _;

    use super::*;

    fn job() -> JobId {
        JobId::parse("job_1").unwrap()
    }

    fn read(answer: &Value) -> Result<(JobResult, Vec<String>), Vec<String>> {
        let answer = answer.as_object().unwrap().clone();
        of_answer(answer, &job(), "run_1").map_err(|errors| {
            errors
                .iter()
                .map(|error| format!("{}: {}", error.code, error.message))
                .collect()
        })
    }

    #[test]
    fn missing_lists_and_unknown_fields_do_not_cost_another_model_call() {
        let answer = json!({
            "status": "succeeded", "summary": "done", "mood": "good",
            "commands_run": [{"command": "ls", "exit_code": null, "pid": 7}],
            "attempt_run_id": "../../x",
        });
        let (result, notes) = read(&answer).unwrap();
        assert_eq!(result.attempt_run_id.as_str(), "run_1");
        assert_eq!(result.commands_run[0].exit_code, None);
        assert_eq!(
            notes,
            [
                "added artifacts",
                "added errors",
                "added files_changed",
                "added next_actions",
                "dropped commands_run[].pid",
                "dropped mood",
            ]
        );
    }

    #[test]
    fn what_cannot_be_understood_is_told_field_by_field() {
        let errors = read(&json!({"status": "great", "files_changed": "none"})).unwrap_err();
        assert_eq!(errors.len(), 3, "{errors:?}");
        let errors = read(&json!({"job_id": "job_2", "status": "failed", "summary": "x"}));
        assert_eq!(
            errors.unwrap_err(),
            ["result_job_id_mismatch: job_id is not `job_1`"]
        );
    }

    #[test]
    fn a_report_is_checked_as_a_whole() {
        let read = |answer: Value| report_of_answer(answer.as_object().unwrap().clone());
        assert!(read(json!({"status": "ok", "summary": "no token"})).is_err());
        assert!(read(json!({"status": "actions", "summary": "none", "actions": []})).is_err());
        assert!(read(json!({"status": "ok", "token": "HEARTBEAT_OK", "summary": "quiet", "actions": null})).is_ok());
        let comment = json!({"kind": "add_comment", "idempotency_key": "k", "risk": "low", "needs_approval": false,
            "project_id": "p", "body": "b", "goal": null});
        assert!(
            read(json!({"status": "actions", "summary": "no target", "actions": [comment]}))
                .is_err()
        );
    }

    #[test]
    fn a_digest_is_short() {
        let mut result = own_result(
            &job(),
            "run_1",
            JobResultStatus::Failed,
            &"é".repeat(2000),
            Vec::new(),
            None,
        );
        result.files_changed = vec![
            ChangedFile {
                path: text("a"),
                change_type: None,
                summary: Some("x".repeat(500))
            };
            30
        ];
        let digest = digest(&result, Signals::default());
        assert_eq!(digest.summary.chars().count(), 1200);
        assert!(digest.summary.ends_with("..."));
        assert_eq!(digest.files_changed.len(), 20);
        assert_eq!(digest.files_changed[0].summary.as_ref().unwrap().len(), 180);
    }
}
