//! `Upload-Expires`: the expiry of an upload as an HTTP date.

use std::time::{Duration, UNIX_EPOCH};

use hyper::header::HeaderValue;

/// Formats a time in Unix seconds as `Sat, 01 Jan 2000 00:00:00 GMT`.
pub(super) fn value(seconds: i64) -> HeaderValue {
    let moment = UNIX_EPOCH + Duration::from_secs(seconds.unsigned_abs());
    // An HTTP date is printable ASCII.
    HeaderValue::try_from(httpdate::fmt_http_date(moment))
        .unwrap_or_else(|_| HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_http_does() {
        assert_eq!(value(0), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(value(1_777_903_600), "Mon, 04 May 2026 14:06:40 GMT");
    }
}
