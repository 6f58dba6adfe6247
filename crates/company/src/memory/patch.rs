//! Inserts lines under a heading, and creates and applies the unified diffs of such changes.

use diffy::{DiffOptions, Line, Patch, PatchFormatter, apply};

use crate::Error;

/// Number of context lines around a change.
const CONTEXT_LINES: usize = 4;

/// Inserts lines below the first line that equals `heading`: after the blank line below the heading, if there is one,
/// and followed by a blank line. The line endings of the text are kept.
pub(super) fn insert_under(
    text: &str,
    heading: &str,
    lines: &[impl AsRef<str>],
) -> Result<String, Error> {
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut all: Vec<&str> = text
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .collect();
    let found = all.iter().position(|line| line.trim_end() == heading);
    let heading = found.ok_or_else(|| Error::Refused(format!("Heading not found: {heading}")))?;
    let is_blank = all.get(heading + 1).is_some_and(|line| line.is_empty());
    let index = heading + 1 + usize::from(is_blank);
    let new = lines.iter().map(AsRef::as_ref).chain([""]);
    all.splice(index..index, new);
    Ok(all.join(line_end))
}

/// Creates the patch from `before` to `after` in the format that other programs write.
pub(super) fn between(file: &str, before: &str, after: &str) -> String {
    let mut options = DiffOptions::new();
    options.set_context_len(CONTEXT_LINES);
    let patch = options.create_patch(before, after);
    let printed = PatchFormatter::new()
        .suppress_blank_empty(false)
        .fmt_patch(&patch)
        .to_string();
    let hunks = printed.find("@@ ").map_or("", |start| &printed[start..]);
    format!(
        "{}\n--- a/{file}\t\n+++ b/{file}\t\n{hunks}",
        "=".repeat(67)
    )
}

/// Applies a patch completely; `None` if the patch is invalid, empty, or one of its hunks does not apply.
pub(super) fn applied(patch: &str, text: &str) -> Option<String> {
    let patch = Patch::from_str(patch).ok()?;
    match patch.hunks() {
        [] => None,
        _ => apply(text, &patch).ok(),
    }
}

/// Returns whether `patch` is a non-empty patch of `file`. A patch that names no file matches every file.
pub(super) fn changes(patch: &str, file: &str) -> bool {
    let Ok(patch) = Patch::from_str(patch) else {
        return false;
    };
    let is_file = |name: &str| {
        let name = name.trim_end();
        name.strip_prefix("b/").unwrap_or(name) == file
    };
    !patch.hunks().is_empty() && patch.modified().is_none_or(is_file)
}

/// Returns whether a text is a unified diff with file names.
pub(crate) fn is_patch(text: &str) -> bool {
    let has_names = text.lines().any(|line| line.starts_with("--- "))
        && text.lines().any(|line| line.starts_with("+++ "));
    has_names && Patch::from_str(text).is_ok()
}

/// The lines that a patch inserts, if it has exactly one hunk and deletes nothing; otherwise `None`.
pub(super) fn only_inserted(patch: &str) -> Option<Vec<String>> {
    let patch = Patch::from_str(patch).ok()?;
    let [hunk] = patch.hunks() else {
        return None;
    };
    let mut inserted = Vec::new();
    for line in hunk.lines() {
        match line {
            Line::Context(_) => {}
            Line::Insert(line) => inserted.push(line.trim_end_matches(['\n', '\r']).to_owned()),
            Line::Delete(_) => return None,
        }
    }
    // `insert_under` adds the trailing blank line again.
    while inserted.last().is_some_and(String::is_empty) {
        inserted.pop();
    }
    (!inserted.is_empty()).then_some(inserted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MEMORY: &str = "# Project Memory (Curated)\n\n## Summary\n\n## Decisions\n\n## Links\n";

    #[test]
    fn lines_go_under_their_heading_with_blank_lines_around() {
        let check = |text: &str, expected: &str| {
            assert_eq!(insert_under(text, "## A", &["- x"]).unwrap(), expected);
        };
        check("## A\n\n## B\n", "## A\n\n- x\n\n## B\n");
        check("## A\n## B\n", "## A\n- x\n\n## B\n");
        check("## A  \n\n- old\n", "## A  \n\n- x\n\n- old\n");
        check("## A", "## A\n- x\n");
        check("## A\r\n\r\n## B\r\n", "## A\r\n\r\n- x\r\n\r\n## B\r\n");
        let error = insert_under(MEMORY, "## Nowhere", &["- x"]).unwrap_err();
        assert_eq!(error.to_string(), "Heading not found: ## Nowhere");
    }

    #[test]
    fn a_patch_looks_as_other_programs_write_it() {
        let after = insert_under(MEMORY, "## Decisions", &["- service listens on 8080"]).unwrap();
        let patch = between("memory.md", MEMORY, &after);
        let rule = "=".repeat(67);
        assert_eq!(
            patch,
            format!(
                "{rule}\n--- a/memory.md\t\n+++ b/memory.md\t\n@@ -3,5 +3,7 @@\n ## Summary\n \n \
                 ## Decisions\n \n+- service listens on 8080\n+\n ## Links\n"
            )
        );
        assert_eq!(applied(&patch, MEMORY).as_deref(), Some(&*after));
        assert_eq!(
            only_inserted(&patch),
            Some(vec!["- service listens on 8080".to_owned()])
        );
        assert_eq!(applied(&patch, &after), None);
        assert_eq!(applied("no patch", MEMORY), None);
        assert!(is_patch("--- a\n+++ b\n") && !is_patch("") && !is_patch("ok 1\n"));
    }

    proptest! {
        #[test]
        fn a_patch_of_an_insertion_gives_the_text_it_was_made_from(
            text in "([a-z]{0,3}(\r)?\n){0,9}## A(\n[a-z]{0,3}){0,9}\n?",
            lines in prop::collection::vec("- [a-z]{1,5}", 1..4),
        ) {
            let after = insert_under(&text, "## A", &lines).unwrap();
            let patch = between("f", &text, &after);
            prop_assert_eq!(applied(&patch, &text), Some(after), "{}", patch);
        }

        #[test]
        fn no_patch_panics(patch in "(@@ -[0-9]{1,3},[0-9] \\+[0-9],[0-9] @@\n|[ +-][a-z]{0,3}\n|--- a\n|\\PC{0,9}\n){0,12}") {
            let _ = (applied(&patch, MEMORY), only_inserted(&patch), is_patch(&patch));
        }
    }
}
