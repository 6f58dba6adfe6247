//! Words for the person at the terminal. The only place that writes to standard output and error.

use std::io::{self, Write as _};

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
