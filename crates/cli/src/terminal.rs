//! Output to the terminal and questions to the user. Only this module writes to standard output and error.

use std::io::{self, IsTerminal as _, Write as _};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use crate::{failure::Failure, names::Names};

mod answer;
mod label;
mod moment;
mod wording;

pub(crate) use label::{bytes, count};
pub(crate) use moment::{of_seconds, of_text, zone};
pub(crate) use wording::{help, plain, reworded};

/// Writes lines to standard output.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.write_all(b"\n")?;
    output.flush()
}

/// Writes a line to standard error. Errors are ignored, because there is no other way to report them.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Returns whether the user can be asked, that is, input and output are terminals.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a yes/no question. Fails unless the answer is `y` or `yes`, and without asking if there is no terminal.
pub(crate) fn confirm(question: &str) -> Result<(), Failure> {
    if !can_ask() {
        return Err(Failure::Argument {
            detail: format!("{question}\nAdd --yes to skip this question"),
        });
    }
    let mut output = io::stderr().lock();
    output.write_all(format!("{question}\n[y/N] ").as_bytes())?;
    output.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::Unsound {
            detail: "nothing was changed".to_owned(),
        }),
    }
}

/// Formats rows as a table with aligned columns.
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

/// Prints a result: as text on a terminal, otherwise or with `as_json` as JSON.
pub(crate) fn answer(value: &Value, as_json: bool) -> Result<(), Failure> {
    answer_with(value, &Names::default(), as_json)
}

/// Like [`answer`], with names for the ids in the result.
pub(crate) fn answer_with(value: &Value, names: &Names, as_json: bool) -> Result<(), Failure> {
    let text = if is_for_people(as_json) {
        shown(value, names)
    } else {
        format!("{value:#}")
    };
    Ok(print(&text)?)
}

/// Formats a result as text for people, also if the output is not a terminal.
pub(crate) fn shown(value: &Value, names: &Names) -> String {
    answer::show(value, names, &moment::zone(), width())
}

/// Returns the width of the terminal in columns, or 100 if it is unknown.
fn width() -> usize {
    let named = || std::env::var("COLUMNS").ok()?.parse().ok();
    let measured = || ratatui::crossterm::terminal::size().ok();
    let measured = || measured().map(|(columns, _)| usize::from(columns));
    named()
        .or_else(measured)
        .filter(|columns| *columns > 0)
        .unwrap_or(100)
}

/// Returns whether the output is for people: standard output is a terminal and JSON was not requested.
pub(crate) fn is_for_people(as_json: bool) -> bool {
    !as_json && io::stdout().is_terminal()
}

/// Makes a text safe for one line of a terminal: replaces control characters and bidirectional controls with spaces.
pub(crate) fn harmless(text: &str) -> String {
    text.chars().map(harmless_letter).collect()
}

/// Returns a space for a control character, a line separator or a bidirectional control, otherwise the character.
fn harmless_letter(letter: char) -> char {
    let is_bidi_control = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if letter.is_control() || is_bidi_control {
        ' '
    } else {
        letter
    }
}

/// Prints a piece of streamed text of a model or a worker. Line feeds and tabs are kept, other control characters are
/// replaced. Pieces consist of whole characters, so no control character can span two of them.
pub(crate) fn print_piece(piece: &str) -> io::Result<()> {
    let letter = |letter: char| match letter {
        '\n' | '\t' => letter,
        other => harmless_letter(other),
    };
    let text: String = piece.chars().map(letter).collect();
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()
}

/// Returns the first line of a text that is not blank, made safe by [`harmless`].
pub(crate) fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty());
    harmless(first.unwrap_or_default())
}

/// Creates a progress bar on standard error for this many bytes. Hidden if standard error is not a terminal.
pub(crate) fn bytes_bar(size: u64) -> ProgressBar {
    let template = "{bar:40} {bytes}/{total_bytes} {bytes_per_sec}";
    styled(ProgressBar::new(size), template)
}

/// Creates a progress display for work of unknown length.
pub(crate) fn spinner(template: &str) -> ProgressBar {
    styled(ProgressBar::new_spinner(), template)
}

fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Like [`harmless`], but keeps line feeds and tabs.
pub(crate) fn harmless_lines(text: &str) -> String {
    let columns = |line: &str| {
        line.split('\t')
            .map(harmless)
            .collect::<Vec<_>>()
            .join("\t")
    };
    text.lines().map(columns).collect::<Vec<_>>().join("\n")
}
