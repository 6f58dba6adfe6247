//! Labels for the keys of a result, and numbers with their nouns.

/// Returns the label of a key: `Created` for `created_at`, `Agent` for `agent_id`, `Size` for `size_bytes`.
pub(super) fn label(key: &str) -> String {
    let spelled = respelled(key);
    let mut words: Vec<&str> = words(&spelled).collect();
    if words.len() > 1 && words[0] == "is" {
        words.remove(0);
    }
    let mut unit = "";
    if words.len() > 1 {
        unit = match words[words.len() - 1] {
            "ms" => " (ms)",
            "seconds" => " (s)",
            "pct" => " (%)",
            "usd" => " (USD)",
            _ => "",
        };
        if !unit.is_empty() {
            words.pop();
        }
    }
    let mut is_plural = false;
    if let Some(last) = words.last().copied().filter(|_| words.len() > 1)
        && matches!(last, "id" | "ids" | "at" | "bytes")
    {
        is_plural = last == "ids";
        if last == "at" {
            // A point in time has no unit: it is shown as a local time.
            unit = "";
        }
        words.pop();
    }
    let mut text = written(&words);
    if is_plural {
        text = plural(&text);
    }
    text + unit
}

/// Returns a label with all words of the key, for keys of one object that would otherwise have the same label.
pub(super) fn full_label(key: &str) -> String {
    written(&words(&respelled(key)).collect::<Vec<_>>())
}

/// Formats a number with its noun: `1 file`, `2 files`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        number => format!("{number} {}", plural(noun)),
    }
}

/// Formats a number of bytes in a suitable unit: `22 B`, `1.5 KiB`, `50 MiB`.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut whole, mut unit, mut remainder) = (number, 0, 0);
    while whole >= 1024 && unit + 1 < UNITS.len() {
        (remainder, whole, unit) = (whole % 1024, whole / 1024, unit + 1);
    }
    let tenths = remainder * 10 / 1024;
    if tenths == 0 || whole >= 100 {
        format!("{whole} {}", UNITS[unit])
    } else {
        format!("{whole}.{tenths} {}", UNITS[unit])
    }
}

fn plural(noun: &str) -> String {
    let is_vowel = |letter: char| "aeiou".contains(letter);
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(is_vowel) => format!("{stem}ies"),
        _ if noun.ends_with(['s', 'x']) || noun.ends_with("ch") => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// Replaces keys and parts of keys whose words would be misleading.
fn respelled(key: &str) -> String {
    match key {
        "workspace_dir" => "company_folder".to_owned(),
        "ts_wallclock" => "time".to_owned(),
        "session_ref" => "session".to_owned(),
        _ => key
            .replace("agents_doc", "AGENTS.md")
            .replace("agents_md", "AGENTS.md"),
    }
}

fn words(key: &str) -> impl Iterator<Item = &str> {
    key.split('_').filter(|word| !word.is_empty())
}

/// Joins the words with a leading capital and spells abbreviations in the usual way.
fn written(words: &[&str]) -> String {
    let spelled: Vec<&str> = words
        .iter()
        .map(|word| match *word {
            "id" => "ID",
            "ids" => "IDs",
            "ok" => "OK",
            "url" => "URL",
            "api" => "API",
            "cli" => "CLI",
            "ceo" => "CEO",
            "cpu" => "CPU",
            "pid" => "PID",
            "pm" => "PM",
            "mime" => "MIME",
            "json" => "JSON",
            "sha256" => "SHA-256",
            "ms" => "milliseconds",
            "pct" => "percent",
            "relpath" => "path",
            "relpaths" => "paths",
            "dir" => "folder",
            "md" => "Markdown",
            word => word,
        })
        .collect();
    let text = spelled.join(" ");
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_shown_as_words() {
        for (key, expected) in [
            ("name", "Name"),
            ("id", "ID"),
            ("agent_id", "Agent"),
            ("included_run_ids", "Included runs"),
            ("created_at", "Created"),
            ("last_run_at_ms", "Last run"),
            ("timeout_ms", "Timeout (ms)"),
            ("progress_pct", "Progress (%)"),
            ("size_bytes", "Size"),
            ("is_current", "Current"),
            ("content_sha256", "Content SHA-256"),
            ("manifest_relpath", "Manifest path"),
            ("agents_md_relpath", "AGENTS.md path"),
            ("workspace_dir", "Company folder"),
        ] {
            assert_eq!(label(key), expected, "{key}");
        }
        assert_eq!(full_label("run_id"), "Run ID");
    }

    #[test]
    fn counts_agree_with_their_noun() {
        assert_eq!(count(1, "file"), "1 file");
        assert_eq!(count(0, "file"), "0 files");
        assert_eq!(count(2, "company folder"), "2 company folders");
        assert_eq!(count(3, "entry"), "3 entries");
        assert_eq!(count(2, "branch"), "2 branches");
    }

    #[test]
    fn bytes_are_shown_in_the_unit_that_fits() {
        for (number, expected) in [
            (0, "0 B"),
            (22, "22 B"),
            (1536, "1.5 KiB"),
            (50 << 20, "50 MiB"),
            (3 << 30, "3 GiB"),
        ] {
            assert_eq!(bytes(number), expected);
        }
    }
}
