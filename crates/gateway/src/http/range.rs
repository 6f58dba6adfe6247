//! Parses `Range` and `If-Range`, which select bytes, and `If-None-Match`, which names versions the client has.
//!
//! A single range is served. Several ranges or an invalid range return the whole content, as RFC 9110 allows.

use std::ops::Range;

use hyper::{HeaderMap, header};

/// The bytes to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    Whole,
    Part(Range<u64>),
    /// The range is empty or starts after the end.
    Unsatisfiable,
}

/// Returns the bytes that a `GET` selects from content with this entity tag and size.
pub(super) fn select(headers: &HeaderMap, etag: &str, size: u64) -> Selection {
    let mut ranges = headers.get_all(header::RANGE).iter();
    let (Some(range), None) = (ranges.next(), ranges.next()) else {
        return Selection::Whole;
    };
    // A date never matches, because responses have no `Last-Modified`.
    let mut conditions = headers.get_all(header::IF_RANGE).iter();
    if conditions.any(|condition| condition.as_bytes() != etag.as_bytes()) {
        return Selection::Whole;
    }
    let range = range.to_str().ok();
    range.map_or(Selection::Whole, |range| parse(range, size))
}

/// Returns whether the client already has the content with this entity tag.
pub(super) fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == etag)
}

fn parse(range: &str, size: u64) -> Selection {
    let bounds = range
        .split_once('=')
        .filter(|(unit, _)| unit.trim().eq_ignore_ascii_case("bytes"))
        .and_then(|(_, bounds)| bounds.trim().split_once('-'));
    let Some((first, last)) = bounds else {
        return Selection::Whole;
    };
    match (position(first), position(last)) {
        (Ok(Some(first)), Ok(last)) if last.is_none_or(|last| first <= last) => {
            let end = last.map_or(size, |last| last.saturating_add(1).min(size));
            satisfiable(first..end)
        }
        (Ok(None), Ok(Some(length))) => satisfiable(size.saturating_sub(length)..size),
        _ => Selection::Whole,
    }
}

fn satisfiable(range: Range<u64>) -> Selection {
    if range.is_empty() {
        Selection::Unsatisfiable
    } else {
        Selection::Part(range)
    }
}

/// Parses digits or an empty text. A number that overflows `u64` exceeds every size.
fn position(text: &str) -> Result<Option<u64>, NotANumber> {
    match text {
        "" => Ok(None),
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Ok(Some(digits.parse().unwrap_or(u64::MAX)))
        }
        _ => Err(NotANumber),
    }
}

struct NotANumber;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_a_part_and_everything_else_is_the_whole() {
        use Selection::{Part, Unsatisfiable, Whole};
        for (range, expected) in [
            ("bytes=0-0", Part(0..1)),
            ("bytes=2-4", Part(2..5)),
            ("BYTES=2-4", Part(2..5)),
            ("bytes= 2-4 ", Part(2..5)),
            ("bytes=8-", Part(8..10)),
            ("bytes=8-99999999999999999999999", Part(8..10)),
            ("bytes=-3", Part(7..10)),
            ("bytes=-30", Part(0..10)),
            ("bytes=10-", Unsatisfiable),
            ("bytes=10-20", Unsatisfiable),
            ("bytes=-0", Unsatisfiable),
            ("bytes=99999999999999999999999-", Unsatisfiable),
            ("bytes=4-2", Whole),
            ("bytes=0-1,3-4", Whole),
            ("bytes=-", Whole),
            ("bytes=", Whole),
            ("bytes=+1-2", Whole),
            ("bytes=1 - 2", Whole),
            ("bytes=a-b", Whole),
            ("lines=0-1", Whole),
            ("0-1", Whole),
        ] {
            assert_eq!(parse(range, 10), expected, "{range}");
        }
        for range in ["bytes=0-", "bytes=0-0", "bytes=-1"] {
            assert_eq!(parse(range, 0), Unsatisfiable, "{range}");
        }
    }

    #[test]
    fn a_range_holds_only_for_the_version_it_was_asked_of() {
        let check = |lines: &[(header::HeaderName, &str)], expected| {
            let lines = lines.iter().cloned();
            let headers = lines.map(|(name, value)| (name, value.parse().unwrap()));
            let mut map = HeaderMap::new();
            headers.for_each(|(name, value)| {
                map.append(name, value);
            });
            assert_eq!(select(&map, "\"tag\"", 10), expected, "{map:?}");
        };
        let range = (header::RANGE, "bytes=1-2");
        check(std::slice::from_ref(&range), Selection::Part(1..3));
        check(&[range.clone(), range.clone()], Selection::Whole);
        let with = |condition| [range.clone(), (header::IF_RANGE, condition)];
        check(&with("\"tag\""), Selection::Part(1..3));
        check(&with("\"other\""), Selection::Whole);
        check(&with("W/\"tag\""), Selection::Whole);
        check(&with("Sun, 06 Nov 1994 08:49:37 GMT"), Selection::Whole);
    }

    #[test]
    fn a_known_tag_is_found_in_any_list() {
        let check = |value: &str, expected| {
            let headers = HeaderMap::from_iter([(header::IF_NONE_MATCH, value.parse().unwrap())]);
            assert_eq!(is_known(&headers, "\"tag\""), expected, "{value}");
        };
        check("\"tag\"", true);
        check("W/\"tag\"", true);
        check("\"a\", \"tag\"", true);
        check("*", true);
        check("\"a\"", false);
        check("tag", false);
        check("", false);
    }
}
