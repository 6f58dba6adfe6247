//! Driver for `claude -p`, which prints one JSON object per line, or a single object. The last object, of type
//! `result`, decides the outcome; its `subtype` is `success` even for some errors, so `is_error` is read instead.

use protocol::company::session::CompanySessionPermission as Permission;
use serde_json::Value;

use super::{CommandLine, CommandRequest, ErrorClass, Outcome, RetryHint, Stderr, first_line};
use crate::{
    output::Stream,
    usage::{TokenCounts, whole},
};

/// Builds the command line. Claude does not read `AGENTS.md`, so the file is passed as an addition to the system
/// prompt.
pub(crate) fn command_line(request: &CommandRequest) -> CommandLine {
    let tools = if request.allowed_tools.is_empty() {
        "Bash,Edit,Write,Read".to_owned()
    } else {
        request.allowed_tools.join(",")
    };
    let permissions: &[&str] = match request.permission {
        Permission::ReadOnly => &["--permission-mode", "dontAsk", "--tools", "Read,Glob,Grep"],
        Permission::Patch => &[
            "--permission-mode",
            "acceptEdits",
            "--disallowedTools",
            "Bash",
        ],
        Permission::RunCommands => &["--permission-mode", "dontAsk", "--allowedTools", &tools],
    };
    let mut argv = vec![
        request.bin.as_str(),
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
    ];
    if !request.keeps_session {
        argv.push("--no-session-persistence");
    }
    if let Some(model) = &request.model {
        argv.extend(["--model", model]);
    }
    argv.extend(permissions);
    if let Some((schema, _)) = &request.schema {
        argv.extend(["--json-schema", schema]);
    }
    if let Some(instructions) = &request.instructions {
        argv.extend(["--append-system-prompt-file", instructions]);
    }
    let quiet = [
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "2"),
    ];
    CommandLine {
        argv: argv.into_iter().map(ToOwned::to_owned).collect(),
        stdin: Some(request.prompt.clone()),
        env: quiet
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        settings: None,
    }
}

/// Parser state for the output of Claude.
#[derive(Clone, Debug, Default)]
pub struct ClaudeOutput {
    pub(super) outcome: Outcome,
    pub(super) compactions: u64,
    /// Number of retries after HTTP status 401 or 403.
    pub(super) refusals: u32,
    recognised: bool,
    /// `error` of the last assistant message.
    assistant_error: Option<String>,
    /// Reset time of the rate limit that rejects requests, as the service reports it.
    reset: Option<RetryHint>,
    stderr: Stderr,
}

impl ClaudeOutput {
    pub(super) fn is_recognised(&self) -> bool {
        self.recognised
    }

    pub(super) fn line(&mut self, stream: Stream, line: &str) -> bool {
        if stream == Stream::Stderr {
            self.stderr.push(line);
            return false;
        }
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            return false;
        };
        let Some(session) = line["session_id"].as_str() else {
            return false;
        };
        let kind = line["type"].as_str().unwrap_or_default();
        match (kind, line["subtype"].as_str().unwrap_or_default()) {
            ("system", "init") => self.recognised = true,
            ("system", "compact_boundary") => self.compactions += 1,
            ("system", "api_retry") => {
                if matches!(line["error_status"].as_u64(), Some(401 | 403)) {
                    self.refusals += 1;
                }
                self.outcome.retry = line["retry_delay_ms"].as_u64().map(RetryHint::AfterMs);
            }
            ("rate_limit_event", _) => self.rate_limit(&line["rate_limit_info"]),
            ("assistant", _) => {
                self.assistant_error = line["error"].as_str().map(ToOwned::to_owned);
            }
            ("result", _) => {
                self.recognised = true;
                self.outcome.session_id = Some(session.to_owned());
                return self.result(&line);
            }
            _ => {}
        }
        if self.recognised && self.outcome.session_id.is_none() {
            self.outcome.session_id = Some(session.to_owned());
        }
        false
    }

    /// Stores the reset time of a limit. Only the status `rejected` stops a session; others are warnings.
    fn rate_limit(&mut self, info: &Value) {
        let resets_at = info["resetsAt"].as_i64();
        self.reset = match info["status"].as_str() {
            Some("rejected") => resets_at
                .and_then(|seconds| seconds.checked_mul(1000))
                .map(RetryHint::AtMs),
            Some(_) | None => None,
        };
    }

    fn result(&mut self, line: &Value) -> bool {
        let outcome = &mut self.outcome;
        outcome.usage = Some(counts(line));
        outcome.cost_usd = line["total_cost_usd"].as_f64();
        outcome.structured = line
            .get("structured_output")
            .filter(|value| !value.is_null())
            .cloned();
        let message = line["result"].as_str();
        if line["is_error"] != true {
            outcome.text = message.map(ToOwned::to_owned);
            outcome.retry = None;
            return true;
        }
        let errors = line["errors"].as_array().into_iter().flatten();
        let errors: Vec<_> = errors.filter_map(Value::as_str).collect();
        let error = match message {
            Some(message) => message.to_owned(),
            None if errors.is_empty() => line["subtype"].as_str().unwrap_or("error").to_owned(),
            None => errors.join("\n"),
        };
        let by_assistant = match self.assistant_error.as_deref() {
            Some("authentication_failed") => Some(ErrorClass::Auth),
            Some("rate_limit") => Some(ErrorClass::RateLimited),
            Some("billing_error") => Some(ErrorClass::Billing),
            Some(_) | None => None,
        };
        let class = match line["terminal_reason"].as_str() {
            Some("prompt_too_long") => ErrorClass::ContextExceeded,
            _ if message.is_none() => ErrorClass::Other,
            _ => by_assistant
                .or(line["api_error_status"]
                    .as_u64()
                    .and_then(ErrorClass::of_status))
                .unwrap_or_else(|| ErrorClass::of_text(&error)),
        };
        if class == ErrorClass::RateLimited {
            outcome.retry = self.reset.take().or(outcome.retry.take());
        } else {
            outcome.retry = None;
        }
        outcome.fail(error, class);
        true
    }

    pub(super) fn finish(mut self, exit_code: Option<i32>) -> Outcome {
        let failed = exit_code.is_some_and(|code| code != 0);
        if failed
            && self.outcome.error.is_none()
            && let Some(error) = first_line(&self.stderr.0).map(ToOwned::to_owned)
        {
            let class = ErrorClass::of_text(&error);
            self.outcome.fail(error, class);
        }
        self.outcome
    }
}

/// Parses the usage. `input_tokens` excludes cache reads and writes, so they are added. If a budget ended the run, only
/// `modelUsage` has the sums.
fn counts(line: &Value) -> TokenCounts {
    let of = |value: &Value, name: &str| value.get(name).and_then(whole).unwrap_or(0);
    let usage = &line["usage"];
    let whole_run = [
        of(usage, "input_tokens"),
        of(usage, "cache_read_input_tokens"),
        of(usage, "cache_creation_input_tokens"),
        of(usage, "output_tokens"),
    ];
    let mut models = [0; 4];
    for model in line["modelUsage"]
        .as_object()
        .into_iter()
        .flat_map(|models| models.values())
    {
        const NAMES: [&str; 4] = [
            "inputTokens",
            "cacheReadInputTokens",
            "cacheCreationInputTokens",
            "outputTokens",
        ];
        for (sum, name) in models.iter_mut().zip(NAMES) {
            *sum += of(model, name);
        }
    }
    let larger = if models.iter().sum::<u64>() > whole_run.iter().sum() {
        models
    } else {
        whole_run
    };
    let [fresh, read, created, output] = larger;
    let input = fresh + read + created;
    TokenCounts {
        input: Some(input),
        cached: Some(read),
        output: Some(output),
        reasoning: None,
        total: input + output,
        captured_from: Some("result".to_owned()),
        parts_included: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(permission: Permission) -> String {
        let request = CommandRequest {
            keeps_session: true,
            bin: "claude".to_owned(),
            prompt: "hello".to_owned(),
            model: Some("sonnet".to_owned()),
            permission,
            instructions: Some("/r/AGENTS.md".to_owned()),
            ..CommandRequest::default()
        };
        command_line(&request).argv.join(" ")
    }

    #[test]
    fn the_prompt_is_not_in_the_command_line_and_instructions_are_handed_over() {
        assert_eq!(
            argv(Permission::ReadOnly),
            "claude -p --output-format stream-json --verbose --model sonnet \
             --permission-mode dontAsk --tools Read,Glob,Grep --append-system-prompt-file /r/AGENTS.md"
        );
        assert!(argv(Permission::Patch).contains("acceptEdits --disallowedTools Bash"));
        assert!(argv(Permission::RunCommands).contains("--allowedTools Bash,Edit,Write,Read"));
    }

    #[test]
    fn only_a_session_that_nobody_resumes_is_not_kept() {
        let request = CommandRequest {
            bin: "claude".to_owned(),
            ..CommandRequest::default()
        };
        let line = command_line(&request).argv.join(" ");
        assert!(line.contains("--no-session-persistence"), "{line}");
        assert!(!argv(Permission::Patch).contains("--no-session-persistence"));
    }

    /// Returns the retry hint after a rate limit event with this status and a result that failed with 429.
    fn hint(status: &str) -> Option<RetryHint> {
        let lines = [
            serde_json::json!({"type": "system", "subtype": "init", "session_id": "s"}),
            serde_json::json!({"type": "rate_limit_event", "session_id": "s", "rate_limit_info": {
                "status": status, "resetsAt": 1_794_900_000, "rateLimitType": "five_hour", "overageStatus": "rejected",
            }}),
            serde_json::json!({"type": "system", "subtype": "api_retry", "session_id": "s", "error_status": 429,
                "retry_delay_ms": 500}),
            serde_json::json!({"type": "assistant", "session_id": "s", "error": "rate_limit"}),
            serde_json::json!({"type": "result", "subtype": "success", "session_id": "s", "is_error": true,
                "api_error_status": 429, "result": "You have hit your limit"}),
        ];
        let mut output = ClaudeOutput::default();
        for line in lines {
            output.line(Stream::Stdout, &line.to_string());
        }
        let outcome = output.finish(Some(1));
        assert_eq!(outcome.error_class, Some(ErrorClass::RateLimited));
        outcome.retry
    }

    #[test]
    fn the_reset_time_of_a_rejected_limit_is_when_to_try_again() {
        assert_eq!(hint("rejected"), Some(RetryHint::AtMs(1_794_900_000_000)));
        assert_eq!(hint("allowed_warning"), Some(RetryHint::AfterMs(500)));
    }
}
