//! `/?code=…`: a browser signs in.
//!
//! The cookie is named after the port, because browsers keep one jar for all ports of a machine.

use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    response::{IntoResponse as _, Response},
};
use hyper::{HeaderMap, StatusCode, header};

use super::{Guest, Http, guard::NO_TOKEN, text};

/// How long a browser stays signed in, in seconds.
const MAX_AGE: u32 = 90 * 24 * 60 * 60;

/// The code in the query of an address.
pub(super) fn code(query: Option<&str>) -> Option<&str> {
    query?
        .split('&')
        .find_map(|pair| pair.strip_prefix("code="))
}

/// Turns the code into a cookie and leads on to the same place without the code.
pub(super) async fn sign_in(
    State(http): State<Arc<Http>>,
    Extension(guest): Extension<Guest>,
    headers: &HeaderMap,
    code: &str,
) -> Response {
    let now = http.gateway.sources.clock.now();
    let Some(value) = http.gateway.tokens.sign_in(code, now) else {
        // Slow for whoever guesses.
        let _ = http.refuse(&guest, NO_TOKEN).await;
        return text(
            StatusCode::UNAUTHORIZED,
            "This link was used before, or is older than ten minutes. `ac open` makes a new one.\n",
        );
    };
    let cookie = format!(
        "{}={value}; Path=/; Max-Age={MAX_AGE}; HttpOnly; SameSite=Strict",
        cookie_name(headers)
    );
    let headers = [
        (header::LOCATION, "/"),
        (header::SET_COOKIE, cookie.as_str()),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (StatusCode::SEE_OTHER, headers).into_response()
}

/// The value of our cookie.
pub(super) fn cookie(headers: &HeaderMap) -> Option<&str> {
    let name = cookie_name(headers);
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(key, value)| (key == name).then_some(value))
}

fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let port = host
        .and_then(|host| host.rsplit_once(':'))
        .map(|(_, port)| port);
    let is_number = |port: &&str| port.bytes().all(|byte| byte.is_ascii_digit());
    format!("accord_{}", port.filter(is_number).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_of_this_port_is_found_among_others() {
        let headers: HeaderMap = [
            (header::HOST, "127.0.0.1:17878".parse().unwrap()),
            (
                header::COOKIE,
                "accord_1=no; accord_17878=yes; theme=dark".parse().unwrap(),
            ),
        ]
        .into_iter()
        .collect();
        assert_eq!(cookie(&headers), Some("yes"));
        assert_eq!(cookie(&HeaderMap::new()), None);
    }

    #[test]
    fn the_code_is_one_of_the_parts_of_a_query() {
        assert_eq!(code(Some("a=1&code=x.y")), Some("x.y"));
        assert_eq!(code(Some("a=1")), None);
        assert_eq!(code(None), None);
    }
}
