//! `POST /sign-in` and `POST /sign-out`: exchange a one-time code for a desktop session, and end the session.
//!
//! The response to a valid code sets the session cookie and contains the page key, which the page keeps in its storage;
//! neither is ever part of a URL. The cookie name contains the port, because browsers share cookies between all ports
//! of a host.

use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    response::{IntoResponse as _, Response},
};
use hyper::{HeaderMap, StatusCode, header};
use serde_json::json;

use super::{
    Http, RemoteClient,
    guard::{NO_TOKEN, unchecked},
    text,
};
use crate::auth::MAX_SESSION_SECONDS;

/// Signs a browser in if the code in the body is valid.
pub(super) async fn sign_in(
    State(http): State<Arc<Http>>,
    Extension(client): Extension<RemoteClient>,
    headers: HeaderMap,
    code: String,
) -> Response {
    let sources = &http.services.sources;
    let sessions = &http.services.desktop_sessions;
    match sessions.redeem_code(code.trim(), sources.clock.now()).await {
        Ok(true) => {}
        Ok(false) => {
            // Delays the response, to slow down guessing.
            let _ = http.refuse(&client, NO_TOKEN).await;
            return text(
                StatusCode::UNAUTHORIZED,
                "This link was used before, or is older than ten minutes. `ac open` makes a new one.\n",
            );
        }
        Err(error) => return unchecked(&error),
    }
    // A signed-in browser keeps its session, because its other tabs use it.
    match http.signed_in(&headers).await {
        Ok(Some(_)) => return StatusCode::NO_CONTENT.into_response(),
        Ok(None) => {}
        Err(error) => return unchecked(&error),
    }
    let user_agent = headers
        .get(header::USER_AGENT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    match sessions.create(user_agent, sources).await {
        Ok(secrets) => {
            let body = json!({"page_key": secrets.page_key}).to_string();
            let cookie = set_cookie(&headers, &secrets.cookie, MAX_SESSION_SECONDS);
            let headers = [
                (header::SET_COOKIE, cookie.as_str()),
                (header::CONTENT_TYPE, "application/json"),
                (header::CACHE_CONTROL, "no-store"),
            ];
            (headers, body).into_response()
        }
        Err(error) => unchecked(&error),
    }
}

/// Ends the session of the calling browser and closes the connections of all its tabs.
pub(super) async fn sign_out(
    State(http): State<Arc<Http>>,
    Extension(client): Extension<RemoteClient>,
    headers: HeaderMap,
) -> Response {
    let principal = match http.principal(&client, &headers).await {
        Ok(principal) => principal,
        Err(refusal) => return refusal,
    };
    let Some(session) = principal.session_id() else {
        return text(
            StatusCode::BAD_REQUEST,
            "there is no desktop session to end: the request has a token\n",
        );
    };
    let ended = http.services.desktop_sessions.end(session).await;
    let closed = match ended {
        Ok(_) => http.services.watch.close_revoked().await,
        Err(error) => Err(error),
    };
    if let Err(error) = closed {
        return unchecked(&error);
    }
    let cookie = set_cookie(&headers, "", 0);
    let headers = [(header::SET_COOKIE, cookie)];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Returns the value of the session cookie of this port.
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

fn set_cookie(headers: &HeaderMap, value: &str, max_age_seconds: i64) -> String {
    let name = cookie_name(headers);
    format!("{name}={value}; Path=/; Max-Age={max_age_seconds}; HttpOnly; SameSite=Strict")
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
}
