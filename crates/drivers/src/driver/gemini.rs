//! Driver for `gemini`, which prints one JSON object per line, or a single object over many lines. In the latter format
//! errors appear on standard error, after a stack trace.

use protocol::company::session::CompanySessionPermission as Permission;
use serde_json::{Value, json};

use super::{CommandLine, CommandRequest, ErrorClass, Outcome, Stderr, first_line};
use crate::{
    output::Stream,
    usage::{TokenCounts, whole},
};

/// Largest single object that is parsed, in bytes.
const LARGEST_OBJECT: usize = 8 << 20;

/// Builds the command line. Gemini reads `AGENTS.md` only if its settings name the file. It accepts system settings
/// that do so only from files owned by root, and the user's settings are not modified, so the instructions precede the
/// prompt.
pub(crate) fn command_line(request: &CommandRequest) -> CommandLine {
    let mode = match request.permission {
        Permission::ReadOnly => "default",
        Permission::Patch => "auto_edit",
        Permission::RunCommands => "yolo",
    };
    let mut argv = vec![
        request.bin.as_str(),
        "--output-format",
        "stream-json",
        "--skip-trust",
    ];
    if let Some(model) = &request.model {
        argv.extend(["--model", model]);
    }
    argv.extend(["--approval-mode", mode]);
    let settings = json!({
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "general": {"enableAutoUpdate": false, "maxAttempts": 3},
    });
    let prompt = match &request.instructions_text {
        Some(text) => format!(
            "Instructions from the AGENTS.md of this folder:\n\n{}\n\n---\n\n{}",
            text.trim(),
            request.prompt
        ),
        None => request.prompt.clone(),
    };
    CommandLine {
        argv: argv.into_iter().map(ToOwned::to_owned).collect(),
        stdin: Some(prompt),
        env: [("GEMINI_CLI_NO_RELAUNCH".to_owned(), "true".to_owned())].into(),
        settings: Some(("GEMINI_CLI_SYSTEM_SETTINGS_PATH".to_owned(), settings)),
    }
}

/// Parser state for the output of Gemini.
#[derive(Clone, Debug, Default)]
pub struct GeminiOutput {
    pub(super) outcome: Outcome,
    recognised: bool,
    /// Standard output, collected until it is recognised as a stream.
    object: String,
    answer: String,
    stderr: Stderr,
}

impl GeminiOutput {
    pub(super) fn is_recognised(&self) -> bool {
        self.recognised
    }

    pub(super) fn line(&mut self, stream: Stream, line: &str) -> bool {
        if stream == Stream::Stderr {
            self.stderr.push(line);
            return false;
        }
        let parsed = if line.starts_with('{') {
            serde_json::from_str::<Value>(line).ok()
        } else {
            None
        };
        let Some(parsed) = parsed else {
            if !self.recognised && self.object.len() + line.len() < LARGEST_OBJECT {
                self.object.push_str(line);
                self.object.push('\n');
            }
            return false;
        };
        match parsed["type"].as_str().unwrap_or_default() {
            "init" if parsed["session_id"].is_string() => {
                self.recognised = true;
                self.object = String::new();
                self.outcome.session_id = parsed["session_id"].as_str().map(ToOwned::to_owned);
            }
            "message" if parsed["role"] == "assistant" => {
                self.answer
                    .push_str(parsed["content"].as_str().unwrap_or_default());
            }
            // The answer is the text after the last tool call.
            "tool_result" => self.answer.clear(),
            "result" if self.recognised => {
                self.outcome.usage = stream_counts(&parsed["stats"]);
                match parsed["status"].as_str() {
                    Some("error") => {
                        let message = parsed["error"]["message"].as_str().unwrap_or("error");
                        self.outcome.fail(message, ErrorClass::of_text(message));
                    }
                    _ => self.outcome.text = Some(std::mem::take(&mut self.answer)),
                }
                return true;
            }
            // The single-object format on one line.
            "" if parsed["session_id"].is_string() => {
                self.object = parsed.to_string();
                self.whole_object();
                return self.outcome.usage.is_some();
            }
            _ => {}
        }
        false
    }

    fn whole_object(&mut self) {
        let Ok(object) = serde_json::from_str::<Value>(&self.object) else {
            return;
        };
        let Some(session) = object["session_id"].as_str() else {
            return;
        };
        self.recognised = true;
        self.outcome.session_id = Some(session.to_owned());
        self.outcome.text = object["response"].as_str().map(ToOwned::to_owned);
        self.outcome.usage = object_counts(&object["stats"]);
    }

    pub(super) fn finish(mut self, exit_code: Option<i32>) -> Outcome {
        if !self.recognised {
            self.whole_object();
        }
        let failed = exit_code.is_some_and(|code| code != 0);
        if self.outcome.error.is_some() || !failed {
            return self.outcome;
        }
        let by_exit = match exit_code {
            Some(41) => Some(ErrorClass::Auth),
            // The exit code is the HTTP status modulo 256: 401 and 429.
            Some(145) => Some(ErrorClass::Auth),
            Some(173) => Some(ErrorClass::RateLimited),
            Some(_) | None => None,
        };
        let (error, session) = match last_object(&self.stderr.0) {
            Some(object) => (
                object["error"]["message"].as_str().map(ToOwned::to_owned),
                object["session_id"].as_str().map(ToOwned::to_owned),
            ),
            None => (first_line(&self.stderr.0).map(ToOwned::to_owned), None),
        };
        self.outcome.session_id = self.outcome.session_id.or(session);
        if let Some(error) = error {
            let class = match ErrorClass::of_text(&error) {
                ErrorClass::Other => by_exit.unwrap_or(ErrorClass::Other),
                class @ (ErrorClass::Auth
                | ErrorClass::RateLimited
                | ErrorClass::ContextExceeded
                | ErrorClass::Billing) => class,
            };
            self.outcome.fail(error, class);
        }
        self.outcome
    }
}

/// Finds the last JSON object with an `error` member at the end of a text.
fn last_object(text: &str) -> Option<Value> {
    let mut at = text.len();
    loop {
        at = text[..at].rfind('{')?;
        if at == 0 || text[..at].ends_with('\n') {
            let object = serde_json::from_str::<Value>(text[at..].trim()).ok();
            if object
                .as_ref()
                .is_some_and(|object| object["error"].is_object())
            {
                return object;
            }
        }
    }
}

/// Parses the usage of a stream. `output_tokens` excludes thinking tokens, so the output is the total minus the input.
fn stream_counts(stats: &Value) -> Option<TokenCounts> {
    let of = |name: &str| stats.get(name).and_then(whole);
    let (total, input) = (of("total_tokens")?, of("input_tokens")?);
    Some(TokenCounts {
        input: Some(input),
        cached: of("cached"),
        output: Some(total.saturating_sub(input)),
        reasoning: None,
        total,
        captured_from: Some("result".to_owned()),
        parts_included: true,
    })
}

/// Parses the usage of the single-object format: sums over its models.
fn object_counts(stats: &Value) -> Option<TokenCounts> {
    let models = stats["models"].as_object()?;
    let sum = |name: &str| -> u64 {
        models
            .values()
            .filter_map(|model| model["tokens"].get(name).and_then(whole))
            .sum()
    };
    let thoughts = sum("thoughts");
    Some(TokenCounts {
        input: Some(sum("prompt")),
        cached: Some(sum("cached")),
        output: Some(sum("candidates") + thoughts),
        reasoning: Some(thoughts),
        total: sum("total"),
        captured_from: Some("stats".to_owned()),
        parts_included: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instructions_stand_before_the_prompt() {
        let request = CommandRequest {
            bin: "gemini".to_owned(),
            prompt: "hello".to_owned(),
            permission: Permission::RunCommands,
            instructions_text: Some("# Rules\n- Be brief.\n".to_owned()),
            ..CommandRequest::default()
        };
        let line = command_line(&request);
        assert_eq!(
            line.argv.join(" "),
            "gemini --output-format stream-json --skip-trust --approval-mode yolo"
        );
        let (variable, settings) = line.settings.unwrap();
        assert_eq!(variable, "GEMINI_CLI_SYSTEM_SETTINGS_PATH");
        assert!(settings["context"].is_null());
        assert_eq!(
            line.stdin.as_deref(),
            Some(
                "Instructions from the AGENTS.md of this folder:\n\n# Rules\n- Be brief.\n\n---\n\nhello"
            )
        );
    }
}
