//! Retry hints: when a rate-limited worker can be used again.

use jiff::{Span, Timestamp, civil, tz::TimeZone};

/// When to retry, as a worker reported it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetryHint {
    /// After this many milliseconds.
    AfterMs(u64),
    /// At this instant, in Unix milliseconds.
    AtMs(i64),
    /// At the next occurrence of this local time of day.
    At(civil::Time),
    /// At this local date and time.
    On(civil::DateTime),
}

impl RetryHint {
    /// Finds a hint in an error message, ignoring case.
    pub fn of_text(text: &str) -> Option<Self> {
        if let Some(rest) = behind(text, "suggested retry after ") {
            let number = rest
                .split_once('s')
                .and_then(|(number, _)| number.parse::<f64>().ok());
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "seconds, not negative"
            )]
            return number.map(|seconds| Self::AfterMs((seconds.max(0.0) * 1000.0) as u64));
        }
        let rest = behind(text, "try again at ")?;
        let mut words = Vec::new();
        for word in rest.split_whitespace().take(5) {
            let word = word.trim_end_matches('.');
            words.push(word);
            if word.eq_ignore_ascii_case("am") || word.eq_ignore_ascii_case("pm") {
                break;
            }
        }
        match words[..] {
            [time, half] => clock(time, half).map(Self::At),
            [month, day, year, time, half] => {
                let day = day
                    .trim_end_matches(|c: char| !c.is_ascii_digit())
                    .parse()
                    .ok()?;
                let date = civil::Date::new(year.parse().ok()?, month_number(month)?, day).ok()?;
                Some(Self::On(date.to_datetime(clock(time, half)?)))
            }
            _ => None,
        }
    }

    /// Resolves the hint to Unix milliseconds, given the current time and the local time zone.
    pub fn at_ms(&self, now_ms: i64, zone: &TimeZone) -> Option<i64> {
        let now = Timestamp::from_millisecond(now_ms)
            .ok()?
            .to_zoned(zone.clone());
        let at = match self {
            Self::AfterMs(ms) => return now_ms.checked_add(i64::try_from(*ms).ok()?),
            Self::AtMs(ms) => return Some(*ms),
            Self::On(time) => time.to_zoned(zone.clone()).ok()?,
            Self::At(time) => {
                let today = now.date().to_datetime(*time).to_zoned(zone.clone()).ok()?;
                if today > now {
                    today
                } else {
                    today.checked_add(Span::new().days(1)).ok()?
                }
            }
        };
        Some(at.timestamp().as_millisecond())
    }
}

/// Returns the text after `words`, which must be lower case and match in any case.
fn behind<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    // ASCII lower-casing keeps the length, so byte positions are valid in the original text.
    let place = text.to_ascii_lowercase().find(words)?;
    text.get(place + words.len()..)
}

/// Parses a 12-hour time such as `9:37` and `AM`.
fn clock(time: &str, half: &str) -> Option<civil::Time> {
    let (hour, minute) = time.split_once(':')?;
    let hour: i8 = hour.parse().ok()?;
    let hour = match (hour, half.to_ascii_uppercase().as_str()) {
        (12, "AM") => 0,
        (12, "PM") => 12,
        (1..=11, "AM") => hour,
        (1..=11, "PM") => hour + 12,
        _ => return None,
    };
    civil::Time::new(hour, minute.parse().ok()?, 0, 0).ok()
}

fn month_number(name: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let name = name.to_lowercase();
    let place = MONTHS.iter().position(|month| name.starts_with(month))?;
    i8::try_from(place + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Resolves the hint relative to noon of the day the samples were recorded.
    fn check(text: &str, expected: Option<&str>) {
        let now = "2026-11-15T12:00:00Z"
            .parse::<Timestamp>()
            .unwrap()
            .as_millisecond();
        let at = RetryHint::of_text(text).and_then(|hint| hint.at_ms(now, &TimeZone::UTC));
        let shown = at.map(|at| Timestamp::from_millisecond(at).unwrap().to_string());
        assert_eq!(shown.as_deref(), expected, "{text}");
    }

    #[test]
    fn hints_are_read_as_the_workers_print_them() {
        check(
            "Rate limit reached\nSuggested retry after 3600s.]",
            Some("2026-11-15T13:00:00Z"),
        );
        check(
            "… more credits or try again at 9:37 AM.",
            Some("2026-11-16T09:37:00Z"),
        );
        check("or try again at 12:05 PM.", Some("2026-11-15T12:05:00Z"));
        check(
            "try again at Nov 18th, 2026 9:14 AM.",
            Some("2026-11-18T09:14:00Z"),
        );
        check(
            "You've reached the limit. Try again at 9:37 AM. Ask your admin.",
            Some("2026-11-16T09:37:00Z"),
        );
        check("TRY AGAIN AT 1:05 pm", Some("2026-11-15T13:05:00Z"));
        check("try again later", None);
    }
}
