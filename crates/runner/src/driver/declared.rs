//! Drivers that `config.toml` declares: a command line with places to fill in, and whose output it prints.
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

use super::{CommandLine, StopSignal, Wish};

/// One driver of `config.toml`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredDriver {
    /// The program and its arguments. `{PROMPT}`, `{MODEL}`, `{PERMISSION_LEVEL}` and `{INSTRUCTIONS}` are filled in;
    /// an argument that needs something that is not there is left out, with the option before it.
    pub argv: Vec<String>,
    /// How the prompt gets in.
    #[serde(default)]
    pub prompt: DeclaredPrompt,
    /// What its output looks like.
    #[serde(default)]
    pub output: DeclaredOutput,
    /// The first signal of a stop.
    #[serde(default)]
    pub stop_signal: StopSignal,
}

/// How a prompt gets in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclaredPrompt {
    /// On standard input.
    #[default]
    Stdin,
    /// In the arguments, where `{PROMPT}` stands.
    Argument,
}

/// What output looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclaredOutput {
    /// Anything.
    #[default]
    Text,
    /// That of `codex exec --json`.
    Codex,
    /// That of `claude -p`.
    Claude,
    /// That of `gemini`.
    Gemini,
}

/// Fills the template in.
pub(crate) fn command_line(driver: &DeclaredDriver, wish: &Wish) -> CommandLine {
    let permission = match wish.permission {
        Permission::ReadOnly => "read-only",
        Permission::Patch => "patch",
        Permission::RunCommands => "run-commands",
    };
    let places = [
        ("{PROMPT}", Some(wish.prompt.as_str())),
        ("{MODEL}", wish.model.as_deref()),
        ("{PERMISSION_LEVEL}", Some(permission)),
        ("{INSTRUCTIONS}", wish.instructions.as_deref()),
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
        // One pass: what is filled in is not looked at again.
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
            DeclaredPrompt::Stdin => Some(wish.prompt.clone()),
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
        let wish = Wish {
            prompt: "say {MODEL}".to_owned(),
            ..Wish::default()
        };
        let line = command_line(&driver, &wish);
        assert_eq!(line.argv, ["coder", "--mode=read-only", "say {MODEL}"]);
        assert_eq!(line.stdin, None);
    }
}
