//! Words for the person at the terminal. The only place that writes to standard output and error.

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

/// Whether a person can answer a question here.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question that only `y` or `yes` answers. Fails without it, and without asking where no person can answer.
pub(crate) fn confirm(question: &str) -> Result<(), Failure> {
    if !can_ask() {
        return Err(Failure::Argument {
            detail: format!("{question}\nAdd --yes to go on without being asked"),
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
    answer_with(value, &Names::default(), as_json)
}

/// The same, with the names of what the answer refers to.
pub(crate) fn answer_with(value: &Value, names: &Names, as_json: bool) -> Result<(), Failure> {
    let text = if is_for_people(as_json) {
        shown(value, names)
    } else {
        format!("{value:#}")
    };
    Ok(say(&text)?)
}

/// An answer as people read it, also where the output is no terminal.
pub(crate) fn shown(value: &Value, names: &Names) -> String {
    answer::show(value, names, &moment::zone(), width())
}

/// The columns of the terminal, or 100 if they are not known.
fn width() -> usize {
    let named = || std::env::var("COLUMNS").ok()?.parse().ok();
    let measured = || ratatui::crossterm::terminal::size().ok();
    let measured = || measured().map(|(columns, _)| usize::from(columns));
    named()
        .or_else(measured)
        .filter(|columns| *columns > 0)
        .unwrap_or(100)
}

/// Whether a person reads the output, rather than a program.
pub(crate) fn is_for_people(as_json: bool) -> bool {
    !as_json && io::stdout().is_terminal()
}

/// A text in one line, without control characters and without those that turn around what is shown.
pub(crate) fn harmless(text: &str) -> String {
    text.chars().map(harmless_letter).collect()
}

/// A letter that acts on no terminal: a space instead of a control character or one that turns around what is shown.
fn harmless_letter(letter: char) -> char {
    let is_turning = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if letter.is_control() || is_turning {
        ' '
    } else {
        letter
    }
}

/// Prints a piece of a text that a model or a worker writes, as it comes. Its lines and tabs stay, nothing else in it
/// acts on the terminal. Pieces are whole letters, so no control character can hide between two of them.
pub(crate) fn say_piece(piece: &str) -> io::Result<()> {
    let letter = |letter: char| match letter {
        '\n' | '\t' => letter,
        other => harmless_letter(other),
    };
    let text: String = piece.chars().map(letter).collect();
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()
}

/// The first line of a text that has words, as [`harmless`] shows it.
pub(crate) fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty());
    harmless(first.unwrap_or_default())
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
