//! The worker of the demo: a shell script that writes and prints what it is told to, and nothing else.

use serde_json::json;

/// The provider whose output looks like Codex.
pub(super) const CODEX: &str = "scripted-codex";
/// The provider whose output looks like Claude.
pub(super) const CLAUDE: &str = "scripted-claude";
/// The variable with the steps.
pub(super) const STEPS: &str = "DEMO_STEPS";

/// One line of the steps is a file to begin (`>`), a line of that file (`|`), a line to print (`.`), or the end (`!`).
const SCRIPT: &str = r#"
cat > /dev/null
while IFS= read -r line; do
  rest=${line#?}
  case $line in
    '>'*) file=$rest; mkdir -p "${file%/*}"; : > "$file" ;;
    '|'*) printf '%s\n' "$rest" >> "$file" ;;
    '.'*) printf '%s\n' "$rest" ;;
    '!'*) exit "$rest" ;;
  esac
done <<END
$DEMO_STEPS
END
"#;

/// The `config.toml` of the demo's home.
pub(super) fn config() -> String {
    let driver = |name: &str, output: &str| {
        format!(
            "\n[drivers.{name}]\nargv = [\"/bin/sh\", \"-c\", '''{SCRIPT}''']\nprompt = \"stdin\"\noutput = \"{output}\"\n"
        )
    };
    format!(
        "# The workers of this demo are a shell script that writes and prints what the demo tells it to.\n{}{}",
        driver(CODEX, "codex"),
        driver(CLAUDE, "claude")
    )
}

/// What a worker does, step by step.
#[derive(Default)]
pub(super) struct Steps(String);

impl Steps {
    fn line(mut self, kind: char, text: &str) -> Self {
        self.0.push(kind);
        self.0.push_str(text);
        self.0.push('\n');
        self
    }

    /// Writes a file below the company folder.
    pub(super) fn file(mut self, path: &str, text: &str) -> Self {
        self = self.line('>', path);
        text.lines().fold(self, |steps, line| steps.line('|', line))
    }

    /// Says something and ends, as Codex does.
    pub(super) fn codex(self, thought: &str, answer: &str, input: u64, output: u64) -> Self {
        let lines = [
            json!({"type": "thread.started", "thread_id": "demo"}),
            json!({"type": "turn.started"}),
            json!({"type": "item.completed", "item": {"id": "item_1", "type": "reasoning", "text": thought}}),
            json!({"type": "item.completed", "item": {"id": "item_2", "type": "agent_message", "text": answer}}),
            json!({"type": "turn.completed", "usage": {
                "input_tokens": input, "cached_input_tokens": input / 2, "output_tokens": output,
            }}),
        ];
        lines
            .iter()
            .fold(self, |steps, line| steps.line('.', &line.to_string()))
    }

    /// Says something and ends, as Claude does.
    pub(super) fn claude(self, answer: &str, input: u64, output: u64, cost_usd: f64) -> Self {
        let usage = json!({"input_tokens": input, "output_tokens": output});
        let lines = [
            json!({"type": "system", "subtype": "init", "session_id": "demo"}),
            json!({"type": "assistant", "message": {
                "role": "assistant", "content": [{"type": "text", "text": answer}], "usage": usage,
            }}),
            json!({
                "type": "result", "subtype": "success", "is_error": false, "result": answer, "session_id": "demo",
                "total_cost_usd": cost_usd, "usage": usage,
            }),
        ];
        lines
            .iter()
            .fold(self, |steps, line| steps.line('.', &line.to_string()))
    }

    /// Gives up.
    pub(super) fn fail(self, why: &str) -> Self {
        self.line('.', why).line('!', "1")
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}
