//! The `Content-Disposition` header (RFC 6266): whether a browser shows or saves a file, and under which name.

use std::fmt::Write as _;

use hyper::header::HeaderValue;

/// The types that a browser shows without running anything in them. All others, in particular HTML and SVG, are saved.
const SHOWN: [&str; 7] = [
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "text/plain",
    "application/pdf",
    "application/json",
];

/// Builds the header for a file of this type and name.
pub(super) fn disposition(mime: &str, name: &str) -> HeaderValue {
    let kind = if SHOWN.contains(&mime) {
        "inline"
    } else {
        "attachment"
    };
    let value = format!(
        "{kind}; filename=\"{}\"; filename*=UTF-8''{}",
        fallback(name),
        percent_encoded(name)
    );
    // Both forms are printable ASCII.
    HeaderValue::from_str(&value).unwrap_or_else(|_| HeaderValue::from_static("attachment"))
}

/// Returns an ASCII form of the name for older clients. Some of them decode `%`, so it is replaced like quotes.
fn fallback(name: &str) -> String {
    let safe = |character: char| match character {
        '"' | '\\' | '%' | '/' => '_',
        ' '..='~' => character,
        _ => '_',
    };
    name.chars().map(safe).collect()
}

/// Encodes the name as `ext-value` of RFC 8187: every character except `attr-char` is percent-encoded.
fn percent_encoded(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
            encoded.push(char::from(byte))
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leaves_its_quotes() {
        for (name, expected) in [
            (
                "a.txt",
                r#"inline; filename="a.txt"; filename*=UTF-8''a.txt"#,
            ),
            (
                "a\"; b=\\c.txt",
                r#"inline; filename="a_; b=_c.txt"; filename*=UTF-8''a%22%3B%20b%3D%5Cc.txt"#,
            ),
            (
                "a\r\nSet-Cookie: b\0",
                r#"inline; filename="a__Set-Cookie: b_"; filename*=UTF-8''a%0D%0ASet-Cookie%3A%20b%00"#,
            ),
            (
                "né ☃ 100%.txt",
                r#"inline; filename="n_ _ 100_.txt"; filename*=UTF-8''n%C3%A9%20%E2%98%83%20100%25.txt"#,
            ),
        ] {
            assert_eq!(disposition("text/plain", name), expected);
        }
    }

    #[test]
    fn only_what_runs_nothing_is_shown() {
        let is_shown = |mime| disposition(mime, "x").as_bytes().starts_with(b"inline;");
        assert!(SHOWN.into_iter().all(is_shown));
        for saved in [
            "text/html",
            "image/svg+xml",
            "application/xhtml+xml",
            "text/xml",
            "text/plain, text/html",
            "",
        ] {
            assert!(!is_shown(saved), "{saved}");
        }
    }
}
