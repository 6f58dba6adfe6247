//! Validated string types of the company family: non-empty text, and ISO-8601 dates and times.

use std::{borrow::Cow, fmt, ops::Deref};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

macro_rules! checked_texts {
    ($($(#[doc = $doc:literal])+ $name:ident: $fits:expr, $expected:literal, $schema:tt;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Returns the value, or `None` if the text is not valid.
            pub fn new(text: impl Into<String>) -> Option<Self> {
                let text = text.into();
                let fits: fn(&str) -> bool = $fits;
                fits(&text).then_some(Self(text))
            }

            /// Returns the text as a string slice.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::new(text).ok_or_else(|| de::Error::custom(concat!("expected ", $expected)))
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )+};
}

checked_texts! {
    /// A non-empty string.
    Text: |text| !text.is_empty(), "a non-empty string", {"type": "string", "minLength": 1};
    /// An ISO-8601 date and time, such as `2026-11-15T12:00:00.000Z`, with an offset or without a time zone.
    IsoTime: is_iso_time, "an ISO-8601 date and time", {"type": "string", "format": "date-time"};
    /// An ISO-8601 date, such as `2026-11-15`, or a date and time as in [`IsoTime`].
    IsoDate: is_iso_date, "an ISO-8601 date, or date and time", {"type": "string", "format": "iso-date"};
}

/// Returns true if the text has the form `YYYY-MM-DDTHH:MM:SS[.f+](Z|±HH:MM)`, `YYYY-MM-DDTHH:MM:SS[.f+]` or
/// `YYYY-MM-DDTHH:MM` and the day exists in the calendar.
pub(crate) fn is_iso_time(text: &str) -> bool {
    iso_time(text).is_some()
}

/// Returns true if the text is a day that exists in the calendar, with or without a time.
pub(crate) fn is_iso_date(text: &str) -> bool {
    iso_day(text).is_some() || is_iso_time(text)
}

fn iso_time(text: &str) -> Option<()> {
    let (date, time) = text.split_once('T')?;
    iso_day(date)?;
    if time.len() == 5 {
        return hour_and_minute(time);
    }
    hour_and_minute(time.get(..5)?)?;
    let seconds = time.get(5..)?.strip_prefix(':')?;
    if two_digits(seconds.get(..2)?)? > 59 {
        return None;
    }
    let mut rest = seconds.get(2..)?;
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if length == 0 {
            return None;
        }
        rest = &fraction[length..];
    }
    match rest {
        "" | "Z" => Some(()),
        offset => hour_and_minute(offset.strip_prefix(['+', '-'])?),
    }
}

fn iso_day(date: &str) -> Option<()> {
    let [year, month, day] = digits(date, '-')?;
    ((1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day)).then_some(())
}

fn digits(date: &str, separator: char) -> Option<[u32; 3]> {
    let mut parts = date.split(separator);
    let year = parts.next().filter(|year| year.len() == 4)?;
    let is_number = year.bytes().all(|byte| byte.is_ascii_digit());
    let year = is_number.then(|| year.parse().ok()).flatten()?;
    let (month, day) = (two_digits(parts.next()?)?, two_digits(parts.next()?)?);
    parts.next().is_none().then_some([year, month, day])
}

fn two_digits(text: &str) -> Option<u32> {
    let fits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}

fn hour_and_minute(text: &str) -> Option<()> {
    let (hour, minute) = text.split_once(':')?;
    (two_digits(hour)? < 24 && two_digits(minute)? < 60).then_some(())
}

fn days_of(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_real_moment_in_one_of_three_forms() {
        for good in [
            "2026-11-15T12:00:00.000Z",
            "2024-02-29T00:00:00Z",
            "2026-11-15T12:00:00.123456+02:00",
            "2026-11-15T12:00:00",
            "2026-11-15T12:00",
        ] {
            assert!(is_iso_time(good), "{good}");
        }
        for bad in [
            "",
            "2026-11-15",
            "2026-11-15 12:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-11-15T24:00:00Z",
            "2026-11-15T12:00:60Z",
            "2026-11-15t12:00:00z",
            "2026-11-15T12:00:00+0200",
            "2026-11-15T12:00:00.Z",
            "2026-11-15T12:00Z",
            "+026-11-15T12:00:00Z",
            "2026-11-15T12:0é:00Z",
        ] {
            assert!(!is_iso_time(bad), "{bad}");
        }
    }

    #[test]
    fn a_date_may_have_a_time() {
        for good in ["2026-11-15", "2024-02-29", "2026-11-15T12:00:00.000Z"] {
            assert!(is_iso_date(good), "{good}");
        }
        for bad in [
            "",
            "whenever",
            "2026-02-29",
            "2026-11",
            "15.11.2026",
            "2026-11-15 ",
        ] {
            assert!(!is_iso_date(bad), "{bad}");
        }
    }
}
