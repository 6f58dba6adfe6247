//! Markdown files that start with YAML front matter between two `---` lines.

use serde::Serialize;
use serde_json::Value;

use crate::{Error, format::yaml};

/// The two parts of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontMatter {
    /// The parsed YAML between the two lines.
    pub head: Value,
    /// Everything after the closing line, with LF line endings.
    pub body: String,
}

/// Splits a file into front matter and body; the error is the code that `workspace.validate` reports.
pub fn split(text: &str) -> Result<FrontMatter, String> {
    let text = text.replace("\r\n", "\n");
    if !text.starts_with("---") {
        return Err("missing_frontmatter".to_owned());
    }
    let Some(rest) = text.strip_prefix("---\n") else {
        let word = match text.lines().next() {
            Some("---") => "frontmatter_unclosed",
            _ => "frontmatter_invalid_start",
        };
        return Err(word.to_owned());
    };
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end_matches('\n') == "---" {
            let head = yaml::parse(&rest[..end])
                .map_err(|detail| format!("frontmatter_yaml_parse_error: {detail}"))?;
            return Ok(FrontMatter {
                head,
                body: rest[end + line.len()..].to_owned(),
            });
        }
        end += line.len();
    }
    Err("frontmatter_unclosed".to_owned())
}

/// Renders a file, with one blank line between front matter and body.
pub fn join<T: Serialize>(head: &T, body: &str) -> Result<String, Error> {
    let head = yaml::print(head)?;
    let body = body.trim_start_matches('\n');
    let newline = if head.ends_with('\n') { "" } else { "\n" };
    Ok(format!("---\n{head}{newline}---\n\n{body}"))
}

/// Whether the body has the heading `## <title>`, ignoring case and surrounding white space. Lines inside a code fence
/// are not headings.
pub(crate) fn has_heading(body: &str, title: &str) -> bool {
    let mut fence: Option<&str> = None;
    body.lines().any(|line| {
        let line = line.trim();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| line.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        if fence.is_some() {
            return false;
        }
        line.strip_prefix("##")
            .filter(|rest| rest.starts_with([' ', '\t']))
            .is_some_and(|rest| rest.trim().to_lowercase() == title.to_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_is_split_at_the_closing_line() {
        let expected = FrontMatter {
            head: json!({"id": "x"}),
            body: "\n# Title\n---\nmore\n".to_owned(),
        };
        for text in [
            "---\nid: x\n---\n\n# Title\n---\nmore\n",
            "---\r\nid: x\r\n---\r\n\r\n# Title\r\n---\r\nmore\r\n",
        ] {
            assert_eq!(split(text), Ok(expected.clone()));
        }
        assert_eq!(
            join(&json!({"id": "x"}), "a\n").unwrap(),
            "---\nid: x\n---\n\na\n"
        );
    }

    #[test]
    fn what_is_wrong_has_a_word() {
        for (text, word) in [
            ("", "missing_frontmatter"),
            ("# Title", "missing_frontmatter"),
            ("---", "frontmatter_unclosed"),
            ("---\nid: x\n", "frontmatter_unclosed"),
            ("--- x\n---\n", "frontmatter_invalid_start"),
        ] {
            assert_eq!(split(text), Err(word.to_owned()), "{text:?}");
        }
        assert!(
            split("---\na: [\n---\n")
                .unwrap_err()
                .starts_with("frontmatter_yaml_parse_error: ")
        );
    }

    #[test]
    fn headings_are_found_whatever_their_case() {
        assert!(has_heading(
            "text\n  ##  success CRITERIA \n",
            "Success Criteria"
        ));
        assert!(!has_heading("### Summary\n# Summary\n##Summary", "Summary"));
        let fenced = "```text\n## Summary\n~~~\n```\n## Next\n";
        assert!(!has_heading(fenced, "Summary"));
        assert!(has_heading(fenced, "Next"));
    }
}
