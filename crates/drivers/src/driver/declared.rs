//! Drivers declared in `config.toml`: a command line template and the output format of the program.
//!
//! ```toml
//! [drivers.mycoder]
//! argv = ["mycoder", "--model", "{MODEL}", "--mode", "{PERMISSION_LEVEL}"]
//! prompt = "stdin"        # or "argument": {PROMPT} in argv
//! output = "text"         # or "codex", "claude", "gemini"
//! stop_signal = "interrupt"
//! ```

use protocol::company::session::CompanySessionPermission as Permission;
use serde::Deserialize;

use super::{CommandLine, CommandRequest, StopSignal};

/// A `[drivers.<name>]` table of `config.toml`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredDriver {
    /// The program and its arguments. `{PROMPT}`, `{MODEL}`, `{PERMISSION_LEVEL}` and `{INSTRUCTIONS}` are replaced. An
    /// argument whose placeholder has no value is omitted, together with the option before it.
    pub argv: Vec<String>,
    /// How the prompt is passed. Default: `stdin`.
    #[serde(default)]
    pub prompt: DeclaredPrompt,
    /// Format of the program's output. Default: `text`.
    #[serde(default)]
    pub output: DeclaredOutput,
    /// First signal sent to stop the program. Default: `terminate`.
    #[serde(default)]
    pub stop_signal: StopSignal,
}

/// How the prompt is passed to the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclaredPrompt {
    /// On standard input.
    #[default]
    Stdin,
    /// In the arguments, in place of `{PROMPT}`.
    Argument,
}

/// Output format of a declared program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclaredOutput {
    /// Any text; only token counts are searched for.
    #[default]
    Text,
    /// The format of `codex exec --json`.
    Codex,
    /// The format of `claude -p`.
    Claude,
    /// The format of `gemini`.
    Gemini,
}

/// Fills the template with the values of the request.
pub(crate) fn command_line(driver: &DeclaredDriver, request: &CommandRequest) -> CommandLine {
    let permission = match request.permission {
        Permission::ReadOnly => "read-only",
        Permission::Patch => "patch",
        Permission::RunCommands => "run-commands",
    };
    let places = [
        ("{PROMPT}", Some(request.prompt.as_str())),
        ("{MODEL}", request.model.as_deref()),
        ("{PERMISSION_LEVEL}", Some(permission)),
        ("{INSTRUCTIONS}", request.instructions.as_deref()),
    ];
    let mut argv: Vec<String> = Vec::with_capacity(driver.argv.len());
    for argument in &driver.argv {
        let missing = places
            .iter()
            .any(|(place, value)| value.is_none() && argument.contains(place));
        if missing {
            if argv.len() > 1 && argv.last().is_some_and(|before| before.starts_with('-')) {
                argv.pop();
            }
            continue;
        }
        // A single pass, so that placeholders inside of inserted values are not replaced.
        let mut filled = String::new();
        let mut rest = argument.as_str();
        'argument: while !rest.is_empty() {
            for (place, value) in places {
                if let (Some(after), Some(value)) = (rest.strip_prefix(place), value) {
                    filled.push_str(value);
                    rest = after;
                    continue 'argument;
                }
            }
            let next = rest.char_indices().nth(1).map_or(rest.len(), |(at, _)| at);
            filled.push_str(&rest[..next]);
            rest = &rest[next..];
        }
        argv.push(filled);
    }
    CommandLine {
        argv,
        stdin: match driver.prompt {
            DeclaredPrompt::Stdin => Some(request.prompt.clone()),
            DeclaredPrompt::Argument => None,
        },
        ..CommandLine::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_filled_in_once_and_options_without_value_are_left_out() {
        let driver = DeclaredDriver {
            argv: [
                "coder",
                "--model",
                "{MODEL}",
                "--mode={PERMISSION_LEVEL}",
                "{PROMPT}",
            ]
            .map(ToOwned::to_owned)
            .to_vec(),
            prompt: DeclaredPrompt::Argument,
            output: DeclaredOutput::Text,
            stop_signal: StopSignal::Terminate,
        };
        let request = CommandRequest {
            prompt: "say {MODEL}".to_owned(),
            ..CommandRequest::default()
        };
        let line = command_line(&driver, &request);
        assert_eq!(line.argv, ["coder", "--mode=read-only", "say {MODEL}"]);
        assert_eq!(line.stdin, None);
    }
}
