//! Exports a plan to formats of other tools. Titles are untrusted input, so each format receives only characters
//! without a special meaning in it.

use protocol::company::{
    ProjectId, TaskStatus,
    pm::{Gantt, GanttTask},
};

use super::{DAY_MS, date, printable};
use crate::unix_ms;

/// Exports a Mermaid Gantt diagram with one section per team.
pub fn mermaid(name: &str, gantt: &Gantt) -> String {
    let mut lines = vec![
        "gantt".to_owned(),
        format!("    title {}", mermaid_text(name)),
        "    dateFormat YYYY-MM-DD HH:mm".to_owned(),
        "    axisFormat %Y-%m-%d".to_owned(),
    ];
    let mut teams: Vec<Option<&str>> = Vec::new();
    for task in &gantt.tasks {
        if !teams.contains(&task.team_id.as_deref()) {
            teams.push(task.team_id.as_deref());
        }
    }
    for team in teams {
        lines.push(format!(
            "    section {}",
            team.map_or_else(|| "No team".to_owned(), mermaid_text)
        ));
        for (index, task) in gantt.tasks.iter().enumerate() {
            if task.team_id.as_deref() != team {
                continue;
            }
            let is_active = matches!(task.status, TaskStatus::InProgress | TaskStatus::Blocked);
            let marks = [
                ("crit, ", task.critical),
                ("done, ", task.status == TaskStatus::Done),
                ("active, ", is_active),
            ];
            let marks: String = marks
                .into_iter()
                .filter(|(_, is_set)| *is_set)
                .map(|(mark, _)| mark)
                .collect();
            let (start_at, end_at) = drawable_span(task);
            lines.push(format!(
                "    {} :{marks}t{}, {}, {}",
                mermaid_text(&task.title),
                index + 1,
                format_time(&start_at, "%Y-%m-%d %H:%M"),
                format_time(&end_at, "%Y-%m-%d %H:%M"),
            ));
        }
    }
    lines.join("\n") + "\n"
}

/// Start and end of a bar for formats that do not allow an end before the start: such a bar ends at its planned end and
/// starts its duration earlier.
fn drawable_span(task: &GanttTask) -> (String, String) {
    let (start_at, end_at) = (task.start_at.clone(), task.end_at.clone());
    let Some(end_ms) = date(&end_at).filter(|_| end_at < start_at) else {
        return (start_at, end_at);
    };
    let days = i64::try_from(task.duration_days).unwrap_or(i64::MAX);
    let start_ms = printable(end_ms.saturating_sub(days.saturating_mul(DAY_MS)));
    (crate::iso_time(start_ms), end_at)
}

/// Exports a CSV table with a header line and one line per task.
pub fn csv(gantt: &Gantt) -> String {
    let mut text = "task_id,title,status,team_id,assignee_agent_id,progress_pct,start_at,end_at,duration_days,\
                    slack_days,critical,depends_on_task_ids\r\n"
        .to_owned();
    for task in &gantt.tasks {
        let cells = [
            csv_text(&task.task_id),
            csv_text(&task.title),
            task.status.to_string(),
            csv_text(task.team_id.as_deref().unwrap_or_default()),
            csv_text(task.assignee_agent_id.as_deref().unwrap_or_default()),
            task.progress_pct.to_string(),
            task.start_at.clone(),
            task.end_at.clone(),
            task.duration_days.to_string(),
            task.slack_days.to_string(),
            task.critical.to_string(),
            csv_text(&task.depends_on_task_ids.join(" ")),
        ];
        text.push_str(&cells.join(","));
        text.push_str("\r\n");
    }
    text
}

/// Exports an iCalendar file with one event per task.
pub(crate) fn ics(name: &str, project: &ProjectId, gantt: &Gantt, now_ms: i64) -> String {
    const MOMENT: &str = "%Y%m%dT%H%M%SZ";
    let stamp = format_time(&crate::iso_time(now_ms), MOMENT);
    let mut lines = vec![
        "BEGIN:VCALENDAR".to_owned(),
        "VERSION:2.0".to_owned(),
        "PRODID:-//Accord//Plan//EN".to_owned(),
        format!("X-WR-CALNAME:{}", ics_text(name)),
    ];
    for task in &gantt.tasks {
        let (start_at, end_at) = drawable_span(task);
        lines.extend([
            "BEGIN:VEVENT".to_owned(),
            format!("UID:{}", ics_uid(&task.task_id, project)),
            format!("DTSTAMP:{stamp}"),
            format!("DTSTART:{}", format_time(&start_at, MOMENT)),
            format!("DTEND:{}", format_time(&end_at, MOMENT)),
            format!("SUMMARY:{}", ics_text(&task.title)),
            format!("DESCRIPTION:{}", ics_text(&description(task))),
            format!(
                "STATUS:{}",
                match task.status {
                    TaskStatus::Canceled => "CANCELLED",
                    TaskStatus::Draft => "TENTATIVE",
                    TaskStatus::Ready
                    | TaskStatus::InProgress
                    | TaskStatus::Blocked
                    | TaskStatus::Done => "CONFIRMED",
                }
            ),
            // Plan events do not mark the time as busy.
            "TRANSP:TRANSPARENT".to_owned(),
        ]);
        let needs = task.depends_on_task_ids.iter();
        lines.extend(
            needs.map(|id| format!("RELATED-TO;RELTYPE=DEPENDS-ON:{}", ics_uid(id, project))),
        );
        lines.push("END:VEVENT".to_owned());
    }
    lines.push("END:VCALENDAR".to_owned());
    lines.iter().map(|line| fold_line(line)).collect()
}

fn description(task: &GanttTask) -> String {
    let mut text = format!("{}, {} % done", task.status, task.progress_pct);
    if let Some(agent) = &task.assignee_agent_id {
        text.push_str(&format!(", by {agent}"));
    }
    if task.critical {
        text.push_str(", critical");
    } else {
        text.push_str(&format!(", {} days of slack", task.slack_days));
    }
    text
}

/// Formats a time; the times of bars are always in the printable range.
fn format_time(iso: &str, format: &str) -> String {
    let time = unix_ms(iso).and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    time.unwrap_or_default().strftime(format).to_string()
}

/// Keywords that have a special meaning at the start of a line in a Gantt diagram.
const MERMAID_KEYWORDS: [&str; 16] = [
    "accdescr",
    "acctitle",
    "axisformat",
    "click",
    "dateformat",
    "excludes",
    "gantt",
    "includes",
    "inclusiveenddates",
    "section",
    "tickinterval",
    "title",
    "todaymarker",
    "topaxis",
    "weekday",
    "weekend",
];

/// Escapes a text for Mermaid, which interprets colons, semicolons, commas and hashes, takes `%%` for a comment and may
/// take the first word for a keyword.
fn mermaid_text(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|character| match character {
            ':' | ';' | '#' | ',' | '%' | '<' | '>' | '"' | '{' | '}' => ' ',
            other if other.is_control() => ' ',
            other => other,
        })
        .collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let first = words.first().map(|word| word.to_lowercase());
    match first {
        None => "-".to_owned(),
        Some(first) if MERMAID_KEYWORDS.contains(&first.as_str()) => {
            format!("'{}", words.join(" "))
        }
        Some(_) => words.join(" "),
    }
}

/// Escapes a CSV cell. A text that a spreadsheet would take for a formula gets a leading quote.
fn csv_text(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

fn ics_uid(task: &str, project: &ProjectId) -> String {
    ics_text(&format!("{task}.{project}@accord"))
}

fn ics_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | ';' | ',' => escaped.extend(['\\', character]),
            '\n' => escaped.push_str("\\n"),
            other if other.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}

/// Folds a line to at most 75 bytes per line; continuation lines start with a space.
fn fold_line(line: &str) -> String {
    const MAX_BYTES: usize = 75;
    let mut text = String::with_capacity(line.len() + 8);
    let mut length = 0;
    for character in line.chars() {
        if length + character.len_utf8() > MAX_BYTES {
            text.push_str("\r\n ");
            length = 1;
        }
        text.push(character);
        length += character.len_utf8();
    }
    text.push_str("\r\n");
    text
}
