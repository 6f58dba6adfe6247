//! The worker of the demo: a shell script that only writes and prints the given steps. Installed worker programs are
//! never started: stand-in scripts replace them (`write_stand_ins`).

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use gateway::replace_file;
use serde_json::json;

/// The provider with output in the format of Codex.
pub(super) const CODEX: &str = "scripted-codex";
/// The provider with output in the format of Claude.
pub(super) const CLAUDE: &str = "scripted-claude";
/// The environment variable with the steps.
pub(super) const STEPS: &str = "DEMO_STEPS";
/// The environment variable with the company folder, below which the worker writes.
pub(super) const FOLDER: &str = "DEMO_FOLDER";

/// The worker programs that are replaced by stand-ins.
const PROGRAMS: [&str; 3] = ["codex", "claude", "gemini"];

/// The stand-in script: prints output in the format of the program whose name it has, and does nothing else.
const STAND_IN: &str = r#"#!/bin/sh
# Stands in for a worker program: nothing in the demo starts the real one.
case "$*" in
  *--version*|*--help*) echo 'demo stand-in'; exit 0 ;;
  'login status') echo 'Logged in using ChatGPT'; exit 0 ;;
  'auth status'*) echo '{"loggedIn":true,"authMethod":"claude.ai"}'; exit 0 ;;
  app-server*) echo 'This is the demo: no app server is started here.' >&2; exit 1 ;;
esac
said='This is the demo: no worker program is started here. Make a company of your own to use yours.'
case "$(cat)" in
  *heartbeat_worker_report*)
    said='{\"status\":\"ok\",\"token\":\"HEARTBEAT_OK\",\"summary\":\"'$said'\"}' ;;
  *attempt_run_id*)
    lists='\"files_changed\":[],\"commands_run\":[],\"artifacts\":[],\"next_actions\":[],\"errors\":[]'
    said='{\"status\":\"blocked\",\"summary\":\"'$said'\",'$lists'}' ;;
esac
case "${0##*/}" in
  codex)
    printf '{"type":"thread.started","thread_id":"demo-%s"}\n' $$
    printf '{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"%s"}}\n' "$said"
    printf '{"type":"turn.completed","usage":{"input_tokens":0,"output_tokens":0}}\n' ;;
  claude)
    printf '{"type":"system","subtype":"init","session_id":"demo"}\n'
    printf '{"type":"result","subtype":"success","is_error":false,"session_id":"demo","usage":{},"result":"%s"}\n' "$said" ;;
  gemini)
    printf '{"type":"init","session_id":"demo","model":"demo"}\n'
    printf '{"type":"message","role":"assistant","content":"%s"}\n' "$said"
    printf '{"type":"result","status":"success","stats":{"total_tokens":0,"input_tokens":0,"output_tokens":0}}\n' ;;
esac
"#;

/// The worker script. Each line of the steps starts a file (`>`), adds a line to that file (`|`), prints a line (`.`)
/// or exits (`!`).
const SCRIPT: &str = r#"
cat > /dev/null
cd "$DEMO_FOLDER" || exit 1
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

/// Returns the `config.toml` of the demo's home.
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

/// Writes the stand-ins to a folder and configures the company to use them instead of the programs in `PATH`.
pub(super) fn write_stand_ins(folder: &Path, company: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut bins = String::new();
    for program in PROGRAMS {
        let path = folder.join(program);
        replace_file(&path, STAND_IN.as_bytes())?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))?;
        bins.push_str(&format!("\n  {program}: {}", json!(path)));
    }
    let machine = company.join(".local/machine.yaml");
    let text = fs::read_to_string(&machine)?;
    let changed = text.replacen("provider_bins: {}", &format!("provider_bins:{bins}"), 1);
    if changed == text {
        let missing = "the machine settings of the demo already name programs";
        return Err(io::Error::other(missing));
    }
    replace_file(&machine, changed.as_bytes())
}

/// The steps of a worker.
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

    /// Prints an answer and ends, in the format of Codex.
    pub(super) fn codex(self, thought: &str, answer: &str, input: u64, output: u64) -> Self {
        let lines = [
            json!({"type": "thread.started", "thread_id": format!("demo-{input}-{output}")}),
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

    /// Prints an answer and ends, in the format of Claude.
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

    /// Prints the reason and exits with code 1.
    pub(super) fn fail(self, why: &str) -> Self {
        self.line('.', why).line('!', "1")
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}
