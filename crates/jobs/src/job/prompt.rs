//! Compiles the prompt of a job: sections with headings, in a fixed order. The caller prepends the instructions, such as
//! the instructions of the project.

use protocol::company::{
    JobKind,
    context::ContextRef,
    job::{JobError, JobSpec},
};

/// Maximum number of characters of an earlier answer that a repair prompt quotes.
const MAX_QUOTED_CHARS: usize = 8000;

/// The inputs of a prompt.
#[derive(Debug)]
pub(crate) struct Situation<'a> {
    /// The contract.
    pub(crate) job: &'a JobSpec,
    /// Context references that the worker can read.
    pub(crate) refs: &'a [ContextRef],
    /// The run of this attempt.
    pub(crate) run: &'a str,
    /// The company folder.
    pub(crate) folder: &'a str,
}

/// Why the answer of the previous attempt was rejected.
#[derive(Clone, Debug)]
pub(crate) struct Flaw {
    /// The validation errors.
    pub(crate) errors: Vec<JobError>,
    /// The rejected answer.
    pub(crate) output: String,
}

/// Compiles the first prompt of a job, or a repair prompt if there is a `flaw`. With `reformat` the repair prompt
/// addresses a different worker that only reformats the answer.
pub(crate) fn compile(situation: &Situation<'_>, flaw: Option<&Flaw>, reformat: bool) -> String {
    let job = situation.job;
    let mut sections: Vec<(&str, String)> = Vec::new();
    match (flaw, reformat) {
        (None, _) => {
            sections.push(("Task", opening(job)));
            sections.push(("Goal", job.goal.to_string()));
            sections.push(("Constraints", list(&job.constraints)));
            if job.job_kind == JobKind::Execution {
                sections.push(("Deliverables", list(&job.deliverables)));
                sections.push(("Permission level", job.permission_level.to_string()));
            }
            sections.push(("Context references", references(situation)));
        }
        (Some(flaw), reformat) => {
            let task = if reformat {
                format!(
                    "You are a formatter. Another worker did job `{}`; its answer below cannot be read. \
                     Do not do the work again and do not run anything: put that answer into the form below. \
                     Say nothing that it does not say.",
                    job.job_id
                )
            } else {
                format!(
                    "Your answer for job `{}` cannot be read. Give it again in the form below; do not do the work again.",
                    job.job_id
                )
            };
            sections.push(("Task", task));
            let wrong: Vec<_> = flaw
                .errors
                .iter()
                .map(|error| format!("- {}: {}", error.code, error.message))
                .collect();
            sections.push(("What was wrong", wrong.join("\n")));
            let output: String = flaw.output.chars().take(MAX_QUOTED_CHARS).collect();
            sections.push(("The answer as it was", output));
        }
    }
    let form = match job.job_kind {
        JobKind::Execution => result_form(situation),
        JobKind::Heartbeat => report_form(situation),
    };
    sections.push(("Answer", form));
    let sections: Vec<_> = sections
        .into_iter()
        .filter(|(_, body)| !body.is_empty())
        .map(|(heading, body)| format!("# {heading}\n\n{body}\n"))
        .collect();
    sections.join("\n")
}

fn opening(job: &JobSpec) -> String {
    let kind = match job.job_kind {
        JobKind::Execution => "Do this job to its end.",
        JobKind::Heartbeat => {
            "You were woken to look around. Do no work yourself: say whether something is to be done, and what."
        }
    };
    format!(
        "Job `{}`. {kind} Nobody answers questions while you work: decide, or say in the answer what you need.",
        job.job_id
    )
}

fn list(items: &[protocol::company::Text]) -> String {
    let items: Vec<_> = items.iter().map(|item| format!("- {item}")).collect();
    items.join("\n")
}

fn references(situation: &Situation<'_>) -> String {
    let mut lines: Vec<_> = situation
        .refs
        .iter()
        .map(|reference| {
            let description = reference.description.as_ref();
            let description = description
                .map(|description| format!(" ({description})"))
                .unwrap_or_default();
            format!(
                "- {}: {}{description}",
                reference.kind.as_str(),
                reference.value
            )
        })
        .collect();
    if !lines.is_empty() {
        lines.insert(
            0,
            format!(
                "Files are relative to `{}`, which you may read and must not change.",
                situation.folder
            ),
        );
    }
    lines.join("\n")
}

fn result_form(situation: &Situation<'_>) -> String {
    format!(
        r#"Answer with one JSON object and nothing else: no prose, no code fence.

{{"schema_version": 1, "type": "result", "job_id": "{job}", "attempt_run_id": "{run}",
 "status": "succeeded | needs_input | blocked | failed",
 "summary": "what happened, in a few sentences",
 "files_changed": [{{"path": "…", "change_type": "added | modified | deleted | renamed", "summary": "…"}}],
 "commands_run": [{{"command": "…", "exit_code": 0, "summary": "…"}}],
 "artifacts": [{{"relpath": "…", "artifact_id": "…", "kind": "…", "sha256": "…"}}],
 "next_actions": [{{"action": "…", "rationale": "…"}}],
 "errors": [{{"code": "…", "message": "…"}}]}}

Every list may be empty. Only `path`, `command`, `relpath`, `action`, `code` and `message` are needed in their items."#,
        job = situation.job.job_id,
        run = situation.run,
    )
}

fn report_form(situation: &Situation<'_>) -> String {
    format!(
        r#"Answer with one JSON object and nothing else: no prose, no code fence. If nothing is to be done:

{{"schema_version": 1, "type": "heartbeat_worker_report", "status": "ok", "token": "HEARTBEAT_OK", "summary": "…"}}

Otherwise `"status": "actions"`, no `token`, and `"actions": [ … ]` with at least one of

{{"kind": "launch_job", "idempotency_key": "…", "risk": "low | medium | high", "needs_approval": false,
 "project_id": "{project}", "goal": "…", "worker_kind": "codex | claude | gemini",
 "permission_level": "read-only | patch | run-commands", "constraints": [], "deliverables": []}}
{{"kind": "add_comment", "idempotency_key": "…", "risk": "low", "needs_approval": false, "project_id": "{project}",
 "body": "…", "target_agent_id": "…"}}
{{"kind": "create_approval_item", "idempotency_key": "…", "risk": "medium", "needs_approval": true,
 "project_id": "{project}", "title": "…", "rationale": "…"}}
{{"kind": "noop", "idempotency_key": "…", "risk": "low", "needs_approval": false, "reason": "…"}}

The key tells the same request from a new one: use the same key for the same request. Never put a secret into an action."#,
        project = situation.job.project_id,
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job(kind: &str) -> JobSpec {
        serde_json::from_value(json!({
            "job_id": "job_1", "job_kind": kind, "worker_kind": "codex", "workspace_dir": "/c", "project_id": "proj_1",
            "goal": "Ship it", "constraints": ["small"], "deliverables": ["patch"], "permission_level": "patch",
            "context_refs": [{"kind": "file", "value": "company/policy.yaml", "description": "rules"}],
        }))
        .unwrap()
    }

    fn headings(text: &str) -> Vec<&str> {
        text.lines()
            .filter_map(|line| line.strip_prefix("# "))
            .collect()
    }

    #[test]
    fn a_woken_worker_is_not_told_of_deliverables() {
        let job = job("heartbeat");
        let situation = Situation {
            refs: &job.context_refs,
            job: &job,
            run: "run_1",
            folder: "/c",
        };
        assert_eq!(
            headings(&compile(&situation, None, false)),
            [
                "Task",
                "Goal",
                "Constraints",
                "Context references",
                "Answer"
            ]
        );
    }

    #[test]
    fn a_repair_shows_what_was_wrong_and_not_more_than_it_must() {
        let job = job("execution");
        let situation = Situation {
            refs: &job.context_refs,
            job: &job,
            run: "run_2",
            folder: "/c",
        };
        let flaw = Flaw {
            errors: vec![super::super::result::error(
                "result_unparseable",
                "no JSON object",
            )],
            output: "x".repeat(20_000),
        };
        let text = compile(&situation, Some(&flaw), false);
        assert_eq!(
            headings(&text),
            ["Task", "What was wrong", "The answer as it was", "Answer"]
        );
        assert!(text.len() < 10_000);
        assert!(compile(&situation, Some(&flaw), true).contains("You are a formatter"));
    }
}
