//! Sentences of the protocol in the words of the command line.
//!
//! Messages on the wire name methods, and some are fixed by the company protocol (`spawn codex ENOENT`). A person who
//! types commands reads the command and the cause instead.

use std::borrow::Cow;

/// Rewords a message for the person at the terminal.
pub(crate) fn reworded(text: &str) -> Cow<'_, str> {
    if let Some(cause) = program_missing(text) {
        return Cow::Owned(cause);
    }
    with_commands(text)
}

/// A worker program that cannot be started, or none if the sentence is about something else.
fn program_missing(text: &str) -> Option<String> {
    let missing = |program: &str| format!("{program} is not installed or not in PATH");
    if let Some(spawned) = text.strip_prefix("spawn ") {
        if let Some(program) = spawned.strip_suffix(" ENOENT") {
            return Some(missing(program));
        }
        let program = spawned.strip_suffix(" EACCES")?;
        return Some(format!(
            "{program} may not be executed: check its permissions"
        ));
    }
    // Nothing but the name of the program stands before and behind.
    let (_, program) = text.split_once(" binary not found: ")?;
    Some(missing(program))
}

/// Names of methods in backticks become the commands they are.
fn with_commands(text: &str) -> Cow<'_, str> {
    let mut pieces: Vec<Cow<'_, str>> = text.split('`').map(Cow::Borrowed).collect();
    let mut is_changed = false;
    for piece in pieces.iter_mut().skip(1).step_by(2) {
        let method = protocol::methods().find(|(_, method)| method.name == *piece);
        if let Some((_, method)) = method {
            let command = crate::command::command_name(method);
            *piece = Cow::Owned(format!("ac {command}"));
            is_changed = true;
        }
    }
    if is_changed {
        Cow::Owned(pieces.join("`"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_commands_and_causes() {
        for (said, expected) in [
            (
                "make one with `workspace.init` or `workspace.bootstrap.enterprise`",
                "make one with `ac workspace:init` or `ac workspace:bootstrap:enterprise`",
            ),
            ("expected `thread/tree`", "expected `ac thread/tree`"),
            (
                "spawn codex ENOENT",
                "codex is not installed or not in PATH",
            ),
            (
                "codex binary not found: codex",
                "codex is not installed or not in PATH",
            ),
            (
                "spawn ./worker EACCES",
                "./worker may not be executed: check its permissions",
            ),
            ("folder `fld_1` is gone", "folder `fld_1` is gone"),
        ] {
            assert_eq!(reworded(said), expected);
        }
    }
}
