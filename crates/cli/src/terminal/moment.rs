//! Formats points in time in the local time zone.

use jiff::{Timestamp, tz::TimeZone};

/// Returns the time zone of the user: `TZ`, otherwise that of the system.
pub(crate) fn zone() -> TimeZone {
    TimeZone::system()
}

/// Formats unix seconds as local date and time.
pub(crate) fn of_seconds(seconds: i64, zone: &TimeZone) -> Option<String> {
    Some(written(Timestamp::from_second(seconds).ok()?, zone))
}

/// Formats unix milliseconds as local date and time.
pub(super) fn of_milliseconds(milliseconds: i64, zone: &TimeZone) -> Option<String> {
    Some(written(
        Timestamp::from_millisecond(milliseconds).ok()?,
        zone,
    ))
}

/// Formats an ISO-8601 timestamp in UTC, as used by the company family, as local date and time. `None` for any other
/// text.
pub(crate) fn of_text(text: &str, zone: &TimeZone) -> Option<String> {
    let is_moment = (20..=30).contains(&text.len())
        && text.ends_with('Z')
        && text.as_bytes().get(10) == Some(&b'T');
    if !is_moment {
        return None;
    }
    Some(written(text.parse().ok()?, zone))
}

fn written(moment: Timestamp, zone: &TimeZone) -> String {
    let local = moment.to_zoned(zone.clone());
    local.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_local() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let shown = Some("2024-05-01 11:00:00".to_owned());
        assert_eq!(of_text("2024-05-01T09:00:00.000Z", &zone), shown);
        assert_eq!(of_seconds(1_714_554_000, &zone), shown);
        assert_eq!(of_milliseconds(1_714_554_000_000, &zone), shown);
        for text in [
            "",
            "2024-05-01",
            "yesterday at TeatimeZ",
            "2024-13-01T09:00:00Z",
        ] {
            assert_eq!(of_text(text, &zone), None, "{text}");
        }
    }
}
