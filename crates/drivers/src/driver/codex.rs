//! Driver for `codex exec --json`, which prints one JSON object per line. Only `turn.failed` marks a failed turn;
//! `error` lines often announce a retry and are ignored.

use protocol::company::session::CompanySessionPermission as Permission;
use serde_json::Value;

use super::{CommandLine, CommandRequest, ErrorClass, Outcome, Stderr, first_line};
use crate::{
    output::Stream,
    threads::{ThreadTotal, Threads},
    usage::{TokenCounts, whole},
};

/// Builds the command line. In this mode Codex never asks for approval, and reads the `AGENTS.md` of its folder itself.
pub(crate) fn command_line(request: &CommandRequest) -> CommandLine {
    let sandbox = match request.permission {
        Permission::ReadOnly => "read-only",
        Permission::Patch | Permission::RunCommands => "workspace-write",
    };
    let mut argv = vec![
        request.bin.as_str(),
        "exec",
        "--json",
        "--skip-git-repo-check",
        "--color",
        "never",
        "--sandbox",
        sandbox,
    ];
    if let Some(model) = &request.model {
        argv.extend(["--model", model]);
    }
    if let Some((_, file)) = &request.schema {
        argv.extend(["--output-schema", file]);
    }
    argv.extend(["--output-last-message", &request.last_message, "-"]);
    CommandLine {
        argv: argv.into_iter().map(ToOwned::to_owned).collect(),
        stdin: Some(request.prompt.clone()),
        ..CommandLine::default()
    }
}

/// Parser state for the output of Codex.
#[derive(Clone, Debug, Default)]
pub struct CodexOutput {
    pub(super) outcome: Outcome,
    pub(super) compactions: u64,
    recognised: bool,
    failed: bool,
    stderr: Stderr,
    /// Totals of threads that earlier runs reported.
    known: Threads,
    /// Id of the thread from which this run's thread was forked.
    parent: Option<String>,
    /// Usage of the thread (or of its parent) that earlier runs already accounted for.
    counted: ThreadTotal,
}

impl CodexOutput {
    /// Creates a parser for a run that may resume a known thread or a fork of `parent`.
    pub(crate) fn continuing(known: Threads, parent: Option<String>) -> Self {
        Self {
            known,
            parent,
            ..Self::default()
        }
    }

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
        let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
        match line["type"].as_str().unwrap_or_default() {
            "thread.started" => {
                self.recognised = true;
                self.outcome.session_id = text(&line["thread_id"]);
                let own = self.outcome.session_id.as_ref();
                let counted = own
                    .and_then(|id| self.known.get(id))
                    .or_else(|| self.known.get(self.parent.as_ref()?));
                self.counted = counted.copied().unwrap_or_default();
                false
            }
            "item.completed" => {
                let item = &line["item"];
                match item["type"].as_str().unwrap_or_default() {
                    "agent_message" => self.outcome.text = text(&item["text"]),
                    kind if kind.contains("compact") => self.compactions += 1,
                    _ => {}
                }
                false
            }
            "turn.completed" => {
                self.failed = false;
                // Codex reports the sum over the thread, which may include earlier runs.
                let Some(reported) = counts(&line["usage"]) else {
                    return false;
                };
                let usage = Some(self.counted.turn_of(&reported));
                let is_new = usage != self.outcome.usage;
                self.outcome.usage = usage;
                self.outcome.thread_usage = Some(reported);
                is_new
            }
            "turn.failed" => {
                self.failed = true;
                let message = line["error"]["message"]
                    .as_str()
                    .unwrap_or("the turn failed");
                self.outcome.fail(message, ErrorClass::of_text(message));
                false
            }
            _ => false,
        }
    }

    pub(super) fn finish(mut self, exit_code: Option<i32>) -> Outcome {
        if !self.failed && exit_code.is_some_and(|code| code != 0) && self.outcome.error.is_none() {
            let error = first_line(&self.stderr.0).map(ToOwned::to_owned);
            if let Some(error) = error {
                let class = ErrorClass::of_text(&error);
                self.outcome.fail(error, class);
            }
        }
        self.outcome
    }
}

/// Parses the usage. Input includes cached tokens and output includes reasoning; Codex usually reports no total.
fn counts(usage: &Value) -> Option<TokenCounts> {
    let of = |name: &str| usage.get(name).and_then(whole);
    let (input, output) = (of("input_tokens")?, of("output_tokens").unwrap_or(0));
    Some(TokenCounts {
        input: Some(input),
        cached: of("cached_input_tokens"),
        output: Some(output),
        reasoning: of("reasoning_output_tokens"),
        total: of("total_tokens").unwrap_or(input + output),
        captured_from: Some("turn.completed".to_owned()),
        parts_included: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_goes_in_by_stdin_and_the_sandbox_follows_the_permission() {
        let request = CommandRequest {
            bin: "codex".to_owned(),
            prompt: "hello".to_owned(),
            model: Some("m".to_owned()),
            permission: Permission::Patch,
            last_message: "/o/last.md".to_owned(),
            ..CommandRequest::default()
        };
        let line = command_line(&request);
        assert_eq!(
            line.argv.join(" "),
            "codex exec --json --skip-git-repo-check --color never --sandbox workspace-write --model m \
             --output-last-message /o/last.md -"
        );
        assert_eq!(line.stdin.as_deref(), Some("hello"));
    }

    fn used(known: &Threads, parent: Option<&str>, thread: &str, reported: u64) -> u64 {
        let mut output = CodexOutput::continuing(known.clone(), parent.map(ToOwned::to_owned));
        let started = serde_json::json!({"type": "thread.started", "thread_id": thread});
        let usage = serde_json::json!({"input_tokens": reported - 10, "output_tokens": 10});
        let completed = serde_json::json!({"type": "turn.completed", "usage": usage});
        for line in [started, completed] {
            output.line(Stream::Stdout, &line.to_string());
        }
        let outcome = output.finish(Some(0));
        assert_eq!(
            outcome.thread_usage.map(|counts| counts.total),
            Some(reported)
        );
        outcome.usage.map_or(0, |counts| counts.total)
    }

    #[test]
    fn a_resumed_or_forked_thread_is_counted_for_its_turn() {
        let counted = ThreadTotal {
            input: 190,
            output: 10,
            total: 200,
            ..ThreadTotal::default()
        };
        let known = Threads::from([("t1".to_owned(), counted)]);
        assert_eq!(used(&known, None, "t1", 300), 100);
        assert_eq!(used(&known, Some("t1"), "t2", 400), 200);
        assert_eq!(used(&known, None, "t3", 300), 300);
        // A report below the known total covers the turn alone and is taken unchanged.
        assert_eq!(used(&known, None, "t1", 150), 150);
    }
}
