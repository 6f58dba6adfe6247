//! Rewords messages of the protocol for users of the command line.
//!
//! Messages on the wire name methods and params, and some are fixed by the company protocol (`spawn codex ENOENT`). The
//! command line shows commands, flags and a readable cause instead.

use std::borrow::Cow;

/// Params that messages mention, with their flags.
const FLAGS: [(&str, &str); 2] = [("force", "--force"), ("in_place", "--in-place")];

/// Error texts of the operating system, with their replacements.
const CAUSES: [(&str, &str); 6] = [
    (
        "cannot be written: No such file or directory (os error 2)",
        "cannot be written: its folder does not exist",
    ),
    (
        "No such file or directory (os error 2)",
        "it does not exist",
    ),
    ("Is a directory (os error 21)", "it is a folder"),
    (
        "Not a directory (os error 20)",
        "a part of its path is not a folder",
    ),
    (
        "File exists (os error 17)",
        "a file of this name already exists",
    ),
    ("No space left on device (os error 28)", "the disk is full"),
];

/// Rewords a message of the protocol for the command line.
pub(crate) fn reworded(text: &str) -> Cow<'_, str> {
    if let Some(cause) = program_missing(text) {
        return Cow::Owned(cause);
    }
    with_commands(text)
}

/// Replaces error texts of the operating system with plain words.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = text.to_owned();
    for (system_text, words) in CAUSES {
        plain = plain.replace(system_text, words);
    }
    // Any other cause keeps its text without the error number.
    while let Some(at) = plain.find(" (os error ") {
        let Some(length) = plain[at..].find(')') else {
            break;
        };
        plain.replace_range(at..=at + length, "");
    }
    plain
}

/// Converts the doc comment of a method or param into help text: method names become commands, params become flags.
/// Sentences about error codes are left out, because commands have exit codes instead.
pub(crate) fn help(doc: &str, params: &[&str]) -> String {
    let paragraph = |text: &str| {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let text = lines.join(" ");
        let sentences = text.split_inclusive(". ");
        let kept = sentences.filter(|sentence| !sentence.contains("-3260"));
        let text = kept.collect::<String>();
        in_backticks(text.trim(), |piece| {
            let is_param = params.contains(&piece);
            is_param
                .then(|| format!("--{}", piece.replace('_', "-")))
                .or_else(|| command(piece))
        })
        .into_owned()
    };
    let paragraphs = doc
        .trim()
        .split("\n\n")
        .flat_map(|text| text.split("\n \n"));
    let paragraphs = paragraphs.map(paragraph).filter(|text| !text.is_empty());
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// Rewords the message that a worker program cannot be started. `None` for other messages.
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
    // The text before and after the marker is only the name of the program.
    let (_, program) = text.split_once(" binary not found: ")?;
    Some(missing(program))
}

/// Replaces method names in backticks with commands, and the params in [`FLAGS`] with flags.
fn with_commands(text: &str) -> Cow<'_, str> {
    in_backticks(text, |piece| {
        let flag = FLAGS.iter().find(|(param, _)| *param == piece);
        flag.map(|(_, flag)| (*flag).to_owned())
            .or_else(|| command(piece))
    })
}

/// Returns the command of a method. `None` for any other text.
fn command(name: &str) -> Option<String> {
    let (_, method) = protocol::methods().find(|(_, method)| method.name == name)?;
    Some(format!("ac {}", crate::command::command_name(method)))
}

/// Replaces texts in backticks for which `replacement` returns one.
fn in_backticks(text: &str, replacement: impl Fn(&str) -> Option<String>) -> Cow<'_, str> {
    let mut pieces: Vec<Cow<'_, str>> = text.split('`').map(Cow::Borrowed).collect();
    let mut is_changed = false;
    for piece in pieces.iter_mut().skip(1).step_by(2) {
        if let Some(replaced) = replacement(piece) {
            *piece = Cow::Owned(replaced);
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
            (
                "give `force` to use it, or `in_place`",
                "give `--force` to use it, or `--in-place`",
            ),
        ] {
            assert_eq!(reworded(said), expected);
        }
    }

    #[test]
    fn errors_of_the_system_are_shown_in_plain_words() {
        for (said, expected) in [
            (
                "`/x` cannot be used: Is a directory (os error 21)",
                "`/x` cannot be used: it is a folder",
            ),
            (
                "the ready file `/x/r` cannot be written: No such file or directory (os error 2)",
                "the ready file `/x/r` cannot be written: its folder does not exist",
            ),
            (
                "`/x` cannot be used: Too many levels of symbolic links (os error 40)",
                "`/x` cannot be used: Too many levels of symbolic links",
            ),
        ] {
            assert_eq!(plain(said), expected);
        }
    }

    #[test]
    fn help_has_commands_and_flags_and_no_numbers_of_errors() {
        let doc = " Ask. Answers at once; `job.poll` tells\n more. A missing `project_id` is answered with -32601, as\n \
                   the recorded reference does. Done.\n\n With `force`.";
        assert_eq!(
            help(doc, &["force"]),
            "Ask. Answers at once; `ac job:poll` tells more. Done.\n\nWith `--force`."
        );
    }
}
