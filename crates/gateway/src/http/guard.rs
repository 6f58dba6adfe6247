//! Checks every HTTP request: `Host` and `Origin` must be allowed, and most routes need a token or the cookie and page
//! key of a desktop session.

use std::{net::IpAddr, sync::Arc, time::Instant};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use hyper::{
    HeaderMap, StatusCode, header,
    header::{HeaderName, HeaderValue},
};
use protocol::Access;

use super::{Http, RemoteClient, refusal::refuse, sign_in, text};
use crate::{
    Authenticator as _, Credential, Principal,
    auth::{SessionProof, ThrottleDecision},
};

/// The message for a request without a token.
pub(super) const NO_TOKEN: &str = "a token is needed: send `Authorization: Bearer <token>`, the token is in the file `token` of the home";

/// The header with the page key in requests other than WebSocket upgrades.
const PAGE_KEY: HeaderName = HeaderName::from_static("accord-page-key");

/// The `Host` and `Origin` values that this gateway accepts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allowed {
    /// Host names accepted in addition to the loopback names.
    pub(crate) hosts: Vec<String>,
    /// Origins accepted in addition to the loopback origins, such as `https://desk.example`.
    pub(crate) origins: Vec<String>,
}

/// Rejects requests with a foreign `Host` or `Origin`.
pub(super) async fn check(State(http): State<Arc<Http>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    // A host in the request target overrides the `Host` header (RFC 9112, section 3.2.2), so it is checked too.
    let is_our_target = request
        .uri()
        .host()
        .is_none_or(|host| http.allowed.is_ours(host));
    if !is_our_target || !http.allowed.host(headers) {
        return text(
            StatusCode::FORBIDDEN,
            "the Host header names another host than this gateway\n",
        );
    }
    if !http.allowed.origin(headers) {
        return text(
            StatusCode::FORBIDDEN,
            "pages of that Origin may not use this gateway\n",
        );
    }
    next.run(request).await
}

impl Allowed {
    fn host(&self, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return false;
        };
        host.to_str()
            .is_ok_and(|host| self.is_ours(without_port(host)))
    }

    /// Returns whether every `Origin` header is allowed. Browsers always send one, other programs usually none.
    fn origin(&self, headers: &HeaderMap) -> bool {
        headers.get_all(header::ORIGIN).iter().all(|origin| {
            let Ok(origin) = origin.to_str() else {
                return false;
            };
            let is_local = ["http://", "https://"]
                .iter()
                .filter_map(|scheme| origin.strip_prefix(scheme))
                .any(|host| is_loopback(without_port(host)));
            is_local
                || self
                    .origins
                    .iter()
                    .any(|allowed| allowed.eq_ignore_ascii_case(origin))
        })
    }

    fn is_ours(&self, host: &str) -> bool {
        is_loopback(host)
            || self
                .hosts
                .iter()
                .any(|allowed| allowed.eq_ignore_ascii_case(host))
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// Removes the port: `localhost:17878` → `localhost`, `[::1]:17878` → `[::1]`.
fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port))
            if port.bytes().all(|byte| byte.is_ascii_digit()) && !host.ends_with(':') =>
        {
            host
        }
        _ => authority,
    }
}

impl Http {
    /// Authenticates a request by its token or desktop session. Returns the principal or the error response.
    pub(super) async fn principal(
        &self,
        client: &RemoteClient,
        headers: &HeaderMap,
    ) -> Result<Principal, Response> {
        let credential = credential(headers);
        let found = match &credential {
            Some(credential) => self.services.tokens.authenticate(credential).await,
            None => self.signed_in(headers).await,
        };
        match found {
            Ok(Some(principal)) => {
                client.slot.authenticated();
                Ok(principal)
            }
            Ok(None) => {
                let cause = match credential {
                    Some(credential) => self.services.tokens.why_unknown(credential).await,
                    None => NO_TOKEN,
                };
                Err(self.refuse(client, cause).await)
            }
            Err(error) => Err(unchecked(&error)),
        }
    }

    /// Returns the owner if the request is sent by the desktop page in a browser that has signed in.
    ///
    /// The cookie is no proof of its own: a server on another port of this machine receives it too and can claim any
    /// `Origin`.
    pub(super) async fn signed_in(
        &self,
        headers: &HeaderMap,
    ) -> Result<Option<Principal>, crud::Error> {
        let (Some(cookie), Some(page_key)) = (sign_in::cookie(headers), page_key(headers)) else {
            return Ok(None);
        };
        if !is_our_page(headers) {
            return Ok(None);
        }
        let now = self.services.sources.clock.now();
        let proof = SessionProof { cookie, page_key };
        self.services
            .desktop_sessions
            .authenticate(&proof, now)
            .await
    }

    /// Authenticates a request and checks its scope. Returns the principal or the error response.
    pub(super) async fn admit(
        &self,
        client: &RemoteClient,
        headers: &HeaderMap,
        access: Access,
    ) -> Result<Principal, Response> {
        let principal = self.principal(client, headers).await?;
        principal.check_scope(access).map_err(refuse)?;
        Ok(principal)
    }

    /// Rejects a request with the message `cause`, with a delay that grows with each failure from the same address.
    pub(super) async fn refuse(&self, client: &RemoteClient, cause: &str) -> Response {
        let address = client.address.ip();
        match self.throttle.failed(address, Instant::now()) {
            ThrottleDecision::RefuseAfter(delay) => {
                tokio::time::sleep(delay).await;
                self.throttle.waited(address);
                let mut response = text(StatusCode::UNAUTHORIZED, format!("{cause}\n"));
                let challenge = HeaderValue::from_static("Bearer");
                response
                    .headers_mut()
                    .insert(header::WWW_AUTHENTICATE, challenge);
                response
            }
            ThrottleDecision::TooMany => {
                text(StatusCode::TOO_MANY_REQUESTS, "too many wrong tokens\n")
            }
        }
    }
}

/// Builds the response for a failed database query during authentication.
pub(super) fn unchecked(error: &crud::Error) -> Response {
    tracing::error!(%error, "a token or a sign-in cannot be checked");
    text(
        StatusCode::SERVICE_UNAVAILABLE,
        "tokens cannot be checked at the moment\n",
    )
}

/// Returns whether the browser reports that the request is sent by the desktop page. This keeps out pages of other
/// ports of this machine even if they know the page key. Programs other than browsers can claim any origin.
fn is_our_page(headers: &HeaderMap) -> bool {
    let text = |name| {
        headers
            .get(name)
            .and_then(|value: &HeaderValue| value.to_str().ok())
    };
    let origin = text(header::ORIGIN).map(|origin| {
        let ours = text(header::HOST).unwrap_or_default();
        let host = ["http://", "https://"].iter();
        host.filter_map(|scheme| origin.strip_prefix(scheme))
            .any(|host| host.eq_ignore_ascii_case(ours))
    });
    // Requests for images and downloads have no `Origin`.
    let site = text(HeaderName::from_static("sec-fetch-site"));
    origin.unwrap_or(matches!(site, Some("same-origin" | "none")))
}

/// Returns the token from the `Authorization` header or from a sub-protocol `bearer.<token>`, for browsers, which
/// cannot set headers on a WebSocket. Tokens in the URL are not accepted, because URLs are logged.
fn credential(headers: &HeaderMap) -> Option<Credential> {
    if let Some(authorization) = headers.get(header::AUTHORIZATION) {
        let (scheme, token) = authorization.to_str().ok()?.trim().split_once(' ')?;
        let token = token.trim();
        return (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty())
            .then(|| Credential::new(token));
    }
    sub_protocol(headers, "bearer.").map(Credential::new)
}

/// Returns the page key from its header or from a sub-protocol `page-key.<key>`.
fn page_key(headers: &HeaderMap) -> Option<&str> {
    match headers.get(PAGE_KEY) {
        Some(key) => key.to_str().ok(),
        None => sub_protocol(headers, "page-key."),
    }
}

/// Returns the text after `prefix` in one of the offered WebSocket sub-protocols.
fn sub_protocol<'a>(headers: &'a HeaderMap, prefix: &str) -> Option<&'a str> {
    headers
        .get_all(header::SEC_WEBSOCKET_PROTOCOL)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .find_map(|protocol| protocol.trim().strip_prefix(prefix))
        .filter(|secret| !secret.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn hosts_that_are_ours() {
        let allowed = Allowed {
            hosts: vec!["desk.example".into()],
            origins: vec![],
        };
        let host = |host| allowed.host(&header(header::HOST, host));
        for ours in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:17878",
            "127.9.9.9",
            "[::1]:80",
            "[::1]",
            "desk.example:443",
        ] {
            assert!(host(ours), "{ours}");
        }
        for foreign in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "",
            "localhost:x",
        ] {
            assert!(!host(foreign), "{foreign}");
        }
        assert!(!allowed.host(&HeaderMap::new()));
    }

    #[test]
    fn our_page_is_the_one_of_our_host_and_port() {
        let headers = |lines: &[(&'static str, &str)]| -> HeaderMap {
            let line = |(name, value): &(&'static str, &str)| {
                (HeaderName::from_static(name), value.parse().unwrap())
            };
            lines.iter().map(line).collect()
        };
        let host = ("host", "localhost:17878");
        for (ours, lines) in [
            (true, vec![host, ("origin", "http://localhost:17878")]),
            (true, vec![host, ("sec-fetch-site", "same-origin")]),
            (true, vec![host, ("sec-fetch-site", "none")]),
            (false, vec![host, ("origin", "http://localhost:5173")]),
            (false, vec![host, ("origin", "null")]),
            (false, vec![host, ("sec-fetch-site", "same-site")]),
            (
                false,
                vec![
                    host,
                    ("origin", "http://localhost:1"),
                    ("sec-fetch-site", "same-origin"),
                ],
            ),
            (false, vec![host]),
        ] {
            assert_eq!(is_our_page(&headers(&lines)), ours, "{lines:?}");
        }
    }

    #[test]
    fn origins_that_are_ours() {
        let allowed = Allowed {
            hosts: vec![],
            origins: vec!["https://desk.example".into()],
        };
        let origin = |origin| allowed.origin(&header(header::ORIGIN, origin));
        assert!(allowed.origin(&HeaderMap::new()));
        for ours in [
            "http://localhost:5173",
            "http://127.0.0.1:3000",
            "https://[::1]",
            "https://desk.example",
        ] {
            assert!(origin(ours), "{ours}");
        }
        for foreign in [
            "null",
            "http://evil.example",
            "https://desk.example.evil",
            "http://desk.example",
            "file://localhost",
        ] {
            assert!(!origin(foreign), "{foreign}");
        }
    }
}
