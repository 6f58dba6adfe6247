//! Formats any JSON result for people: labels instead of keys, the name first, names instead of ids, local times.

use std::borrow::Cow;

use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::{
    harmless,
    label::{bytes, full_label, label},
    moment, table,
    wording::reworded,
};
use crate::names::Names;

/// Keys that contain the name of an object, in order of preference.
const NAMES: [&str; 7] = [
    "name",
    "title",
    "display_name",
    "company_name",
    "file_name",
    "goal",
    "label",
];
/// Keys that are shown directly after the name.
const STANDING: [&str; 5] = ["status", "state", "kind", "type", "role"];
/// Keys that are shown first if the objects have no name.
const LEADING: [&str; 3] = ["log", "version", "ts_wallclock"];
/// The length to which a goal is shortened in narrow terminals, in characters; wider terminals show more of it.
const MIN_GOAL: usize = 40;

/// Formats lists of objects as tables and everything else as labels and values. Goals are shortened to fit the width.
pub(crate) fn show(value: &Value, names: &Names, zone: &TimeZone, width: usize) -> String {
    let page = Page {
        names,
        zone,
        goal: MIN_GOAL.max(width / 2),
    };
    let mut lines = Vec::new();
    page.show(value, "", &mut lines);
    lines.join("\n")
}

struct Page<'a> {
    names: &'a Names,
    zone: &'a TimeZone,
    /// The maximum number of characters of a goal that are shown.
    goal: usize,
}

/// A column of a table, or a line of a single object: one key of the shown objects.
struct Column<'a> {
    key: &'a str,
    label: String,
    /// Whether the key contains the id of the object itself.
    is_own: bool,
    /// Sort key among the columns.
    rank: (usize, usize),
}

impl Page<'_> {
    fn show(&self, value: &Value, title: &str, lines: &mut Vec<String>) {
        match value {
            Value::Object(members) => self.show_object(members, title, lines),
            Value::Array(items) if items.is_empty() => lines.push("None.".to_owned()),
            Value::Array(items) if items.iter().all(Value::is_object) => {
                lines.push(self.table_of(items));
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => lines.push(self.cell("", value)),
        }
    }

    fn show_object(&self, members: &Map<String, Value>, title: &str, lines: &mut Vec<String>) {
        let columns = self.columns(&[members]);
        let width = columns.iter().map(|column| column.label.chars().count());
        let width = width.max().unwrap_or(0);
        let is_named = name_of(members).is_some();
        for column in &columns {
            let value = &members[column.key];
            let mut cell = self.column_cell(column, value);
            if !is_named
                && let Some(id) = value.as_str().filter(|_| is_id(column.key))
                && self.names.get(id).is_some()
            {
                // Commands need the id, and this result has no table that would show it.
                cell = format!("{cell} ({})", harmless(id));
            }
            lines.push(format!("{:width$}  {cell}", column.label));
        }
        for (key, value) in members.iter().filter(|(_, value)| !is_plain(value)) {
            let label = label(key);
            let title = match title {
                "" => label,
                title => format!("{title} / {label}"),
            };
            // An object that contains only objects gets no title of its own.
            let has_lines = |members: &Map<String, Value>| members.values().any(is_plain);
            if value.as_object().is_none_or(has_lines) {
                if !lines.is_empty() {
                    lines.push(String::new());
                }
                lines.push(title.clone());
            }
            self.show(value, &title, lines);
        }
    }

    fn table_of(&self, items: &[Value]) -> String {
        let rows: Vec<_> = items.iter().filter_map(Value::as_object).map(row).collect();
        let rows: Vec<&Map<String, Value>> = rows.iter().map(AsRef::as_ref).collect();
        let mut columns = self.columns(&rows);
        columns.retain(|column| {
            let is_filled = |row: &&Map<String, Value>| {
                row.get(column.key).is_some_and(|value| !value.is_null())
            };
            rows.iter().any(is_filled)
        });
        let titles: Vec<String> = columns
            .iter()
            .map(|column| column.label.to_uppercase())
            .collect();
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        let cells = |row: &&Map<String, Value>| {
            let cell = |column: &Column<'_>| {
                let value = row.get(column.key).unwrap_or(&Value::Null);
                self.column_cell(column, value)
            };
            columns.iter().map(cell).collect()
        };
        let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
        table(&titles, &cells)
    }

    /// Returns the columns of objects: the name first, then status, other members and times. The objects' own ids come
    /// last, or first if there is no name.
    fn columns<'a>(&self, objects: &[&'a Map<String, Value>]) -> Vec<Column<'a>> {
        let is_named = objects.iter().any(|object| name_of(object).is_some());
        let mut columns: Vec<Column<'a>> = Vec::new();
        for object in objects {
            for (key, value) in object.iter().filter(|(_, value)| is_plain(value)) {
                let is_nested = |object: &&Map<String, Value>| {
                    object.get(key).is_some_and(|value| !is_plain(value))
                };
                // Hide members that only programs use, and members that are objects in some row.
                let is_hidden = key == "schema_version"
                    || key == "next_cursor" && value.is_null()
                    || objects.iter().any(is_nested);
                if is_hidden || columns.iter().any(|column| column.key == key) {
                    continue;
                }
                let any = |condition: &dyn Fn(&Map<String, Value>, &str) -> bool| {
                    objects.iter().any(|object| {
                        let id = object.get(key).and_then(Value::as_str);
                        id.is_some_and(|id| condition(object, id))
                    })
                };
                let is_known = is_id(key) && any(&|_, id| self.names.get(id).is_some());
                let is_own = key == "id"
                    || is_known
                        && any(&|object, id| {
                            self.names
                                .get(id)
                                .is_some_and(|name| name_of(object) == Some(name))
                        });
                let position = |known: &[&str]| known.iter().position(|one| one == key);
                let rank = if let Some(place) = position(&NAMES) {
                    (0, place)
                } else if let Some(place) = position(&LEADING).filter(|_| !is_named) {
                    (0, place)
                } else if is_own {
                    (if is_named { 5 } else { 0 }, 0)
                } else if is_id(key) && !is_known {
                    (if is_named { 5 } else { 1 }, 1)
                } else if let Some(place) = position(&STANDING) {
                    (2, place)
                } else if key == "at" || key.ends_with("_at") {
                    (4, 0)
                } else {
                    (3, 0)
                };
                columns.push(Column {
                    key,
                    is_own,
                    rank,
                    label: if is_own { "ID".to_owned() } else { label(key) },
                });
            }
        }
        columns.sort_by_key(|column| column.rank);
        // If there are other ids, the label of the object's own id says what it identifies, such as `Project ID`.
        let ids = columns.iter().filter(|column| column.rank.0 == 5).count();
        for column in columns
            .iter_mut()
            .filter(|one| one.is_own && one.key != "id")
        {
            if ids > 1 {
                column.label = full_label(column.key);
            }
        }
        // Keys with the same label get labels with all of their words.
        let labels: Vec<String> = columns.iter().map(|column| column.label.clone()).collect();
        for column in &mut columns {
            if labels
                .iter()
                .filter(|label| **label == column.label)
                .count()
                > 1
            {
                column.label = full_label(column.key);
            }
        }
        columns
    }

    /// Formats the value of a column. The object's own id is not replaced with a name, because commands need it.
    fn column_cell(&self, column: &Column<'_>, value: &Value) -> String {
        if column.is_own {
            plain_cell(value)
        } else {
            self.cell(column.key, value)
        }
    }

    /// Returns the first line of a goal, shortened to the limit.
    fn goal(&self, text: &str) -> String {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = harmless(lines.next().unwrap_or_default());
        let is_whole = lines.next().is_none() && first.chars().count() <= self.goal;
        if is_whole {
            return first;
        }
        let cut: String = first.chars().take(self.goal.saturating_sub(1)).collect();
        format!("{}…", cut.trim_end())
    }

    /// Formats a value in one line, with names instead of ids and local times.
    fn cell(&self, key: &str, value: &Value) -> String {
        let is_moment = key == "at" || key.ends_with("_at");
        let shown = match value {
            Value::String(text) if key == "goal" => Some(self.goal(text)),
            Value::String(text) => self
                .names
                .get(text)
                .map(|name| {
                    // The name of a run is its goal, which may be a long script.
                    if text.starts_with("run_") {
                        self.goal(name)
                    } else {
                        harmless(name)
                    }
                })
                .or_else(|| moment::of_text(text, self.zone))
                .or_else(|| Some(harmless(&reworded(text)))),
            Value::Number(number) if is_moment => number
                .as_i64()
                .and_then(|seconds| moment::of_seconds(seconds, self.zone)),
            Value::Number(number) if key.ends_with("_at_ms") => number
                .as_i64()
                .and_then(|milliseconds| moment::of_milliseconds(milliseconds, self.zone)),
            Value::Number(number) if key.ends_with("_bytes") => number.as_u64().map(bytes),
            Value::Number(number) if number.is_f64() => number.as_f64().map(rounded),
            Value::Bool(true) => Some("yes".to_owned()),
            Value::Bool(false) => Some("no".to_owned()),
            Value::Array(items) if !items.is_empty() => {
                let cells: Vec<_> = items.iter().map(|item| self.cell(key, item)).collect();
                Some(cells.join(", "))
            }
            Value::Array(_) => Some("-".to_owned()),
            Value::Null | Value::Number(_) | Value::Object(_) => None,
        };
        shown.unwrap_or_else(|| plain_cell(value))
    }
}

/// Formats a value without names. Texts are untrusted and may contain control sequences, so they are made harmless.
fn plain_cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => harmless(text),
        Value::Array(_) | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            harmless(&value.to_string())
        }
    }
}

/// Formats a number with at most four decimals, without trailing zeros.
fn rounded(number: f64) -> String {
    let text = format!("{number:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

/// Returns whether a value fits into a table cell.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Object(_) => false,
        Value::Array(items) => items
            .iter()
            .all(|item| !item.is_object() && !item.is_array()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn name_of(members: &Map<String, Value>) -> Option<&str> {
    let named = |key: &&str| members.get(*key).and_then(Value::as_str);
    NAMES.iter().find_map(named).filter(|name| !name.is_empty())
}

fn is_id(key: &str) -> bool {
    key == "id" || key.ends_with("_id") || key.ends_with("_ref")
}

/// Returns the row of an object. The front matter of a document is merged into its row.
fn row(members: &Map<String, Value>) -> Cow<'_, Map<String, Value>> {
    let Some(Value::Object(front)) = members.get("frontmatter") else {
        return Cow::Borrowed(members);
    };
    let mut row = front.clone();
    row.extend(members.clone());
    Cow::Owned(row)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(value: &Value) -> String {
        let names = [("proj_1", "Shop"), ("agent_1", "Ada")];
        let names = names.map(|(id, name)| (id.to_owned(), name.to_owned()));
        let names = Names::from_iter(names);
        show(value, &names, &TimeZone::fixed(jiff::tz::offset(2)), 80)
    }

    #[test]
    fn an_answer_is_shown_as_labels_values_and_tables() {
        let answer = json!({
            "total_count": 2,
            "name": "Acme\u{1b}[2J\u{202e}",
            "runs": [{"id": "run_1", "status": "ended"}, {"id": "run_2", "status": null, "tags": ["a", "b"]}],
            "policy": {"is_allowed": true},
            "none": [],
        });
        let expected = "Name         Acme [2J \nNone         -\nTotal count  2\n\nPolicy\nAllowed  yes\n\nRuns\n\
                        ID     STATUS  TAGS\nrun_1  ended   -\nrun_2  -       a, b";
        assert_eq!(shown(&answer), expected);
    }

    #[test]
    fn the_name_comes_first_and_the_own_id_last() {
        let answer = json!([{
            "project_id": "proj_1", "name": "Shop", "created_at": "2024-05-01T09:00:00.000Z", "status": "active",
            "progress_pct": 12.500_000_1,
        }]);
        let expected = "NAME  STATUS  PROGRESS (%)  CREATED              ID\n\
                        Shop  active  12.5          2024-05-01 11:00:00  proj_1";
        assert_eq!(shown(&answer), expected);
    }

    #[test]
    fn an_own_id_beside_another_one_says_whose_it_is() {
        let answer = json!([{"project_id": "proj_1", "name": "Shop", "session_ref": "local_1"}]);
        let expected = "NAME  PROJECT ID  SESSION\nShop  proj_1      local_1";
        assert_eq!(shown(&answer), expected);
    }

    #[test]
    fn references_are_shown_by_name() {
        let answer = json!([{
            "run_id": "run_1", "project_id": "proj_1", "agent_id": "agent_1", "status": "ended", "created_at": 1_714_554_000,
        }]);
        let expected = "RUN    STATUS  AGENT  PROJECT  CREATED\n\
                        run_1  ended   Ada    Shop     2024-05-01 11:00:00";
        assert_eq!(shown(&answer), expected);
    }

    #[test]
    fn an_answer_about_a_new_thing_names_it_with_its_id() {
        let answer = json!({"project_id": "proj_1", "agent_ids": ["agent_1", "agent_2"]});
        let expected = "Agents   Ada, agent_2\nProject  Shop (proj_1)";
        assert_eq!(shown(&answer), expected);
    }

    #[test]
    fn the_front_matter_of_a_document_belongs_to_its_row() {
        let answer =
            json!([{"relpath": "a.md", "frontmatter": {"title": "Sell seats", "status": "todo"}}]);
        let expected = "TITLE       STATUS  PATH\nSell seats  todo    a.md";
        assert_eq!(shown(&answer), expected);
    }

    #[test]
    fn a_goal_is_shown_by_its_first_line_and_cut_to_the_width() {
        let script = format!("\n  echo {}\ncat", "x".repeat(60));
        let answer = json!([{"goal": "Sell seats"}, {"goal": script}]);
        let expected = format!("GOAL\nSell seats\necho {}…", "x".repeat(34));
        assert_eq!(shown(&answer), expected);
    }

    #[test]
    fn a_member_that_is_an_object_in_one_row_is_no_column() {
        let answer =
            json!([{"name": "a", "decision": null}, {"name": "b", "decision": {"by": "human"}}]);
        assert_eq!(shown(&answer), "NAME\na\nb");
    }

    #[test]
    fn a_version_comes_first_where_there_is_no_name() {
        let answer = json!([{"char_count": 439, "version": 2, "saved_at": 1_714_554_000}]);
        let expected = "VERSION  CHAR COUNT  SAVED\n2        439         2024-05-01 11:00:00";
        assert_eq!(shown(&answer), expected);
    }

    #[test]
    fn an_empty_list_says_so() {
        assert_eq!(shown(&json!([])), "None.");
    }

    #[test]
    fn keys_with_the_same_label_keep_their_words() {
        let answer = json!({"run": "first", "run_id": "run_1"});
        assert_eq!(shown(&answer), "Run ID  run_1\nRun     first");
    }
}
