//! Words for the person at the terminal. The only place that writes to standard output and error.

use std::io::{self, IsTerminal as _, Write as _};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use crate::failure::Failure;

/// Writes lines to standard output.
pub(crate) fn say(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.write_all(b"\n")?;
    output.flush()
}

/// Writes a line to standard error; if that is gone too, nobody is there to tell.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Lines up rows under their titles.
pub(crate) fn table(titles: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([titles[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..titles.len()).map(width).collect();
    let line = |cells: &[String]| {
        let padded = cells
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let head: Vec<String> = titles.iter().map(ToString::to_string).collect();
    let lines: Vec<String> = std::iter::once(line(&head))
        .chain(rows.iter().map(|row| line(row)))
        .collect();
    lines.join("\n")
}

/// Prints an answer: for people on a terminal, as JSON for programs.
pub(crate) fn answer(value: &Value, as_json: bool) -> Result<(), Failure> {
    let text = match is_for_people(as_json) {
        true => show(value),
        false => format!("{value:#}"),
    };
    Ok(say(&text)?)
}

/// Whether somebody reads along, rather than a program.
pub(crate) fn is_for_people(as_json: bool) -> bool {
    !as_json && io::stdout().is_terminal()
}

/// Any answer for people: what belongs together as a table, the rest as names and values.
pub(crate) fn show(value: &Value) -> String {
    let mut lines = Vec::new();
    show_within(value, "", &mut lines);
    lines.join("\n")
}

fn show_within(value: &Value, title: &str, lines: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            let (plain, nested): (Vec<_>, Vec<_>) =
                members.iter().partition(|(_, member)| is_plain(member));
            let width = plain.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
            for (name, member) in plain {
                lines.push(format!("{name:width$}  {}", cell(member)));
            }
            for (name, member) in nested {
                let title = match title {
                    "" => name.clone(),
                    title => format!("{title}.{name}"),
                };
                lines.extend([String::new(), title.to_uppercase()]);
                show_within(member, &title, lines);
            }
        }
        Value::Array(items) if items.iter().all(Value::is_object) => {
            lines.push(table_of(items));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            lines.push(cell(value));
        }
    }
}

/// The plain members of objects as columns, in the order they first appear.
fn table_of(items: &[Value]) -> String {
    let members = || items.iter().filter_map(Value::as_object).flatten();
    let mut titles: Vec<&str> = Vec::new();
    for (name, _) in members().filter(|(_, member)| is_plain(member) && !member.is_null()) {
        if !titles.contains(&name.as_str()) {
            titles.push(name);
        }
    }
    let row = |item: &Value| titles.iter().map(|title| cell(&item[*title])).collect();
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    table(&titles, &rows)
}

/// Whether it fits into a cell.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Object(_) => false,
        Value::Array(items) => items
            .iter()
            .all(|item| !item.is_object() && !item.is_array()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

/// A value in one line. Texts of others may hold anything, also what a terminal would obey.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => harmless(text),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(", "),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

/// A text in one line, without control characters and without those that turn around what is shown.
pub(crate) fn harmless(text: &str) -> String {
    let is_turning = |letter: char| matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let visible = |letter: char| match letter.is_control() || is_turning(letter) {
        true => ' ',
        false => letter,
    };
    text.chars().map(visible).collect()
}

/// A bar on standard error for this many bytes; nothing where that is no terminal.
pub(crate) fn bytes_bar(size: u64) -> ProgressBar {
    let template = "{bar:40} {bytes}/{total_bytes} {bytes_per_sec}";
    styled(ProgressBar::new(size), template)
}

/// The same for work whose end is not known.
pub(crate) fn spinner(template: &str) -> ProgressBar {
    styled(ProgressBar::new_spinner(), template)
}

fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// The same line by line, with its tabs.
pub(crate) fn harmless_lines(text: &str) -> String {
    let columns = |line: &str| {
        line.split('\t')
            .map(harmless)
            .collect::<Vec<_>>()
            .join("\t")
    };
    text.lines().map(columns).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_shown_as_names_values_and_tables() {
        let answer = json!({
            "total": 2,
            "name": "Acme\u{1b}[2J\u{202e}",
            "runs": [{"id": "run_1", "status": "ended"}, {"id": "run_2", "status": null, "tags": ["a", "b"]}],
            "policy": {"allowed": true},
            "none": [],
        });
        let expected = "name   Acme [2J \nnone   \ntotal  2\n\nPOLICY\nallowed  true\n\nRUNS\nid     status  tags\n\
                        run_1  ended   -\nrun_2  -       a, b";
        assert_eq!(show(&answer), expected);
    }
}
