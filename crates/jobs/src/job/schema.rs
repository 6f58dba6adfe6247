//! JSON schemas of answers, for programs that accept a schema. These require every property to be listed as required,
//! so optional fields are nullable instead.

use protocol::company::{JobKind, job::JobSpec};
use serde_json::{Map, Value, json};

/// Returns the schema of the answer to a job.
pub(crate) fn of(job: &JobSpec, run: &str) -> Value {
    match job.job_kind {
        JobKind::Execution => result(&job.job_id, run),
        JobKind::Heartbeat => report(),
    }
}

fn result(job: &str, run: &str) -> Value {
    let text = || json!({"type": "string"});
    let maybe = || json!({"type": ["string", "null"]});
    let changes = json!({"type": ["string", "null"], "enum": ["added", "modified", "deleted", "renamed", null]});
    object(&[
        ("schema_version", json!({"type": "integer", "enum": [1]})),
        ("type", json!({"type": "string", "enum": ["result"]})),
        ("job_id", json!({"type": "string", "enum": [job]})),
        ("attempt_run_id", json!({"type": "string", "enum": [run]})),
        (
            "status",
            json!({"type": "string", "enum": ["succeeded", "needs_input", "blocked", "failed", "canceled"]}),
        ),
        ("summary", text()),
        (
            "files_changed",
            list(&[
                ("path", text()),
                ("change_type", changes),
                ("summary", maybe()),
            ]),
        ),
        (
            "commands_run",
            list(&[
                ("command", text()),
                ("exit_code", json!({"type": ["integer", "null"]})),
                ("summary", maybe()),
            ]),
        ),
        (
            "artifacts",
            list(&[
                ("relpath", text()),
                ("artifact_id", maybe()),
                ("kind", maybe()),
                ("sha256", maybe()),
            ]),
        ),
        (
            "next_actions",
            list(&[("action", text()), ("rationale", maybe())]),
        ),
        ("errors", list(&[("code", text()), ("message", text())])),
    ])
}

fn report() -> Value {
    let maybe = || json!({"type": ["string", "null"]});
    let texts = json!({"type": ["array", "null"], "items": {"type": "string"}});
    let words = |words: &[&str]| {
        let mut words: Vec<Value> = words.iter().map(|word| json!(word)).collect();
        words.push(Value::Null);
        json!({"type": ["string", "null"], "enum": words})
    };
    let mut fields = vec![
        ("idempotency_key", json!({"type": "string"})),
        (
            "risk",
            json!({"type": "string", "enum": ["low", "medium", "high"]}),
        ),
        ("needs_approval", json!({"type": "boolean"})),
        (
            "visibility",
            words(&["private_agent", "team", "managers", "org"]),
        ),
        ("job_kind", words(&["execution", "heartbeat"])),
        ("target_role", words(&["director", "worker"])),
        ("worker_kind", words(&["codex", "claude", "gemini"])),
        (
            "permission_level",
            words(&["read-only", "patch", "run-commands"]),
        ),
        ("constraints", texts.clone()),
        ("deliverables", texts),
    ];
    for name in [
        "summary",
        "project_id",
        "goal",
        "worker_agent_id",
        "context_note",
        "task_id",
        "milestone_id",
        "body",
        "target_agent_id",
        "target_artifact_id",
        "target_run_id",
        "title",
        "rationale",
        "reason",
    ] {
        fields.push((name, maybe()));
    }
    let kind = |words: &[&str]| json!({"type": "string", "enum": words});
    let mut inner = fields.clone();
    inner.push(("kind", kind(&["launch_job", "add_comment", "noop"])));
    let mut inner = object(&inner);
    inner["type"] = json!(["object", "null"]);
    fields.push(("proposed_action", inner));
    fields.push((
        "kind",
        kind(&["launch_job", "add_comment", "create_approval_item", "noop"]),
    ));
    object(&[
        ("schema_version", json!({"type": "integer", "enum": [1]})),
        ("type", kind(&["heartbeat_worker_report"])),
        ("status", kind(&["ok", "actions"])),
        ("token", words(&["HEARTBEAT_OK"])),
        ("summary", json!({"type": "string"})),
        (
            "actions",
            json!({"type": ["array", "null"], "items": object(&fields)}),
        ),
    ])
}

fn list(fields: &[(&str, Value)]) -> Value {
    json!({"type": "array", "items": object(fields)})
}

fn object(fields: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    let required: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}
