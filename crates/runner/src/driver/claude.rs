//! `claude -p`: one JSON object a line, or one object. The last one, `result`, decides; its `subtype` is `success`
//! even when it is an error.

use protocol::company::session::CompanySessionPermission as Permission;
use serde_json::Value;

use super::{CommandLine, ErrorClass, Outcome, RetryHint, Stderr, Wish, first_line};
use crate::{
    output::Stream,
    usage::{TokenCounts, whole},
};

/// The command line. Claude does not read `AGENTS.md`: it is handed over as a file.
pub(crate) fn command_line(wish: &Wish) -> CommandLine {
    let tools = match wish.allowed_tools.is_empty() {
        true => "Bash,Edit,Write,Read".to_owned(),
        false => wish.allowed_tools.join(","),
    };
    let permissions: &[&str] = match wish.permission {
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
        wish.bin.as_str(),
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "--no-session-persistence",
    ];
    if let Some(model) = &wish.model {
        argv.extend(["--model", model]);
    }
    argv.extend(permissions);
    if let Some((schema, _)) = &wish.schema {
        argv.extend(["--json-schema", schema]);
    }
    if let Some(instructions) = &wish.instructions {
        argv.extend(["--append-system-prompt-file", instructions]);
    }
    let quiet = [
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "2"),
    ];
    CommandLine {
        argv: argv.into_iter().map(ToOwned::to_owned).collect(),
        stdin: Some(wish.prompt.clone()),
        env: quiet
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        settings: None,
    }
}

/// What Claude printed.
#[derive(Clone, Debug, Default)]
pub struct Output {
    pub(super) outcome: Outcome,
    pub(super) compactions: u64,
    /// How often it was told that it is not let in, and tries again.
    pub(super) refusals: u32,
    recognised: bool,
    /// What the last message of the assistant says went wrong.
    assistant_error: Option<String>,
    stderr: Stderr,
}

impl Output {
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

    fn result(&mut self, line: &Value) -> bool {
        let outcome = &mut self.outcome;
        outcome.usage = Some(counts(line));
        outcome.cost_usd = line["total_cost_usd"].as_f64();
        outcome.structured = line
            .get("structured_output")
            .filter(|value| !value.is_null())
            .cloned();
        let said = line["result"].as_str();
        if line["is_error"] != true {
            outcome.text = said.map(ToOwned::to_owned);
            outcome.retry = None;
            return true;
        }
        let errors = line["errors"].as_array().into_iter().flatten();
        let errors: Vec<_> = errors.filter_map(Value::as_str).collect();
        let error = match said {
            Some(said) => said.to_owned(),
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
            _ if said.is_none() => ErrorClass::Other,
            _ => by_assistant
                .or(line["api_error_status"]
                    .as_u64()
                    .and_then(ErrorClass::of_status))
                .unwrap_or_else(|| ErrorClass::of_text(&error)),
        };
        if class != ErrorClass::RateLimited {
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

/// Input leaves out what came from and went to the cache. When money ran out the sums are only in `modelUsage`.
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
    let larger = match models.iter().sum::<u64>() > whole_run.iter().sum() {
        true => models,
        false => whole_run,
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
        let wish = Wish {
            bin: "claude".to_owned(),
            prompt: "hello".to_owned(),
            model: Some("sonnet".to_owned()),
            permission,
            instructions: Some("/r/AGENTS.md".to_owned()),
            ..Wish::default()
        };
        command_line(&wish).argv.join(" ")
    }

    #[test]
    fn the_prompt_is_not_in_the_command_line_and_instructions_are_handed_over() {
        assert_eq!(
            argv(Permission::ReadOnly),
            "claude -p --output-format stream-json --verbose --no-session-persistence --model sonnet \
             --permission-mode dontAsk --tools Read,Glob,Grep --append-system-prompt-file /r/AGENTS.md"
        );
        assert!(argv(Permission::Patch).contains("acceptEdits --disallowedTools Bash"));
        assert!(argv(Permission::RunCommands).contains("--allowedTools Bash,Edit,Write,Read"));
    }
}
