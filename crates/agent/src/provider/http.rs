//! How providers reach their services: one client for all, a checked base URL, keys in headers, time limits, and error
//! answers turned into [`ProviderError`]s.
//!
//! What follows is left out on purpose. Proxies of the environment are ignored and redirects are not followed, since
//! both would send a key to where nobody configured it. Nothing is asked twice; that is for the turn loop to decide.

use std::{error::Error, fmt, io, time::Duration};

use reqwest::{
    Client, Method, RequestBuilder, Response, Url,
    header::{CONTENT_TYPE, HeaderValue},
    redirect::Policy,
};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use super::{
    ApiKey, Availability, FailureClass, ProviderError, Stage, Timeouts,
    failure::{Fault, sentence},
};

/// The longest answer that is not streamed, in bytes.
const LONGEST_ANSWER: usize = 8 * 1024 * 1024;

/// The most bytes of an error answer that are looked at.
const LONGEST_ERROR: usize = 64 * 1024;

/// How long the rest of an error answer may take: its status is worth more than its text.
const ERROR_BODY: Duration = Duration::from_secs(5);

/// The client of all providers, with their open connections. Clones share them.
#[derive(Clone, Debug)]
pub struct HttpClient(Client);

/// No client could be made, for instance because the TLS library found no randomness.
#[derive(Debug, thiserror::Error)]
#[error("no HTTP client could be made")]
pub struct ClientError(#[source] reqwest::Error);

impl HttpClient {
    /// Makes the client. Of the time limits it takes `connect`; the others are each provider's own.
    pub fn new(timeouts: &Timeouts) -> Result<Self, ClientError> {
        // An error says that a TLS provider is installed already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || {
            Client::builder()
                .user_agent(concat!("accord/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(timeouts.connect)
                .redirect(Policy::none())
                .referer(false)
                .no_proxy()
        };
        let client = builder().build().or_else(|error| {
            // Small containers come without certificates. Local services need none, so they still work; any `https`
            // service is then refused, never trusted blindly.
            tracing::warn!(error = chain(&error), "no certificates of the system");
            builder().tls_certs_only([]).build()
        });
        client.map(Self).map_err(ClientError)
    }
}

/// Where a service is: an `http` or `https` URL with nothing after its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl(String);

/// What is wrong with a base URL. It does not repeat the URL, which may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BaseUrlError {
    /// It cannot be read.
    #[error("the base URL is not a URL")]
    Malformed,
    /// It is for another protocol.
    #[error("the base URL must begin with `http://` or `https://`")]
    Scheme,
    /// A password would reach logs and error messages.
    #[error("the base URL must not hold a user or a password")]
    Credentials,
    /// Paths are appended to it.
    #[error("the base URL must end with its path, without `?` or `#`")]
    Suffix,
}

impl BaseUrl {
    /// Reads a base URL. A slash at its end does not matter.
    pub fn parse(text: &str) -> Result<Self, BaseUrlError> {
        let url = Url::parse(text.trim()).map_err(|_| BaseUrlError::Malformed)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(BaseUrlError::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BaseUrlError::Credentials);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(BaseUrlError::Suffix);
        }
        Ok(Self(url.as_str().trim_end_matches('/').to_owned()))
    }

    /// The URL, without a slash at its end.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What distinguishes the services before anything is asked.
#[derive(Debug)]
pub(super) struct Service {
    /// The provider's id.
    pub(super) id: &'static str,
    /// The vendor's own base.
    pub(super) default_base: &'static str,
    /// The environment variable in which the key is looked for.
    pub(super) key_variable: &'static str,
    /// The header that carries the key.
    pub(super) key_header: &'static str,
    /// What stands before the key in it.
    pub(super) key_prefix: &'static str,
}

impl Service {
    /// The vendor's own base.
    pub(super) fn default_base(&self) -> BaseUrl {
        BaseUrl(self.default_base.to_owned())
    }
}

/// A service at a place, with a key.
#[derive(Debug)]
pub(super) struct Endpoint {
    /// Which service.
    pub(super) service: &'static Service,
    /// Where it is.
    pub(super) base: BaseUrl,
    /// The key; services of one's own may need none.
    pub(super) key: Option<ApiKey>,
    /// How long it may take.
    pub(super) timeouts: Timeouts,
    /// The shared client.
    pub(super) client: HttpClient,
}

impl Endpoint {
    /// Whether this is the vendor's own service rather than a compatible one.
    pub(super) fn is_vendor(&self) -> bool {
        self.base.as_str() == self.service.default_base
    }

    /// Whether it can be used.
    pub(super) fn availability(&self) -> Availability {
        if self.key.is_none() && self.is_vendor() {
            return Availability::NeedsKey {
                variable: self.service.key_variable,
            };
        }
        Availability::Ready
    }

    /// Begins a request to a path below the base, with the key in its header.
    pub(super) fn request(
        &self,
        method: Method,
        path: &str,
    ) -> Result<RequestBuilder, ProviderError> {
        let request = self
            .client
            .0
            .request(method, format!("{}{path}", self.base));
        match (self.availability(), &self.key) {
            (Availability::NeedsKey { variable }, _) => {
                let fault = Fault::new(
                    FailureClass::AuthExpired,
                    format!("needs a key, `{variable}` is not set"),
                );
                Err(self.error(Stage::Connect, fault))
            }
            (Availability::Ready, None) => Ok(request),
            (Availability::Ready, Some(key)) => {
                // Keys read from files end with a line feed.
                let value = format!("{}{}", self.service.key_prefix, key.expose().trim());
                let mut value = HeaderValue::from_str(&value).map_err(|_| {
                    let text = "was not asked, the key holds characters that no key has";
                    self.error(Stage::Connect, Fault::new(FailureClass::AuthExpired, text))
                })?;
                value.set_sensitive(true);
                Ok(request.header(self.service.key_header, value))
            }
        }
    }

    /// Begins a request that carries JSON.
    pub(super) fn post(&self, path: &str, body: &Value) -> Result<RequestBuilder, ProviderError> {
        let request = self.request(Method::POST, path)?;
        Ok(request
            .header(CONTENT_TYPE, "application/json")
            .body(body.to_string()))
    }

    /// Sends a request and gives back the answer once its headers are there and it is no error.
    pub(super) async fn send(
        &self,
        request: RequestBuilder,
        deadline: Instant,
    ) -> Result<Response, ProviderError> {
        let sent = timeout_at(deadline, request.send()).await;
        let response = sent
            .map_err(|_| self.stalled(Stage::FirstChunk))?
            .map_err(|error| {
                tracing::debug!(
                    provider = self.service.id,
                    error = chain(&error),
                    "no answer"
                );
                let (class, text) = if error.is_builder() {
                    // The same request would fail again.
                    let text = "could not be asked, the request is not valid HTTP".to_owned();
                    (FailureClass::InvalidRequest, text)
                } else if error.is_timeout() {
                    let text = format!("could not be reached at `{}` in time", self.base);
                    (FailureClass::NetworkTransient, text)
                } else if error.is_connect() {
                    let why = connect_failure(&error);
                    let text = format!("could not be reached at `{}`: {why}", self.base);
                    (FailureClass::NetworkTransient, text)
                } else {
                    let text = "closed the connection before it answered".to_owned();
                    (FailureClass::NetworkTransient, text)
                };
                self.error(Stage::Connect, Fault::new(class, text))
            })?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let mut fault = Fault::from_answer(status, &headers, &error_body(response).await);
        if (300..400).contains(&status) {
            fault.detail = format!("answered {status}, a redirect, which is not followed");
        }
        Err(self.error(Stage::FirstChunk, fault))
    }

    /// Sends a request whose answer is one JSON value.
    pub(super) async fn json(&self, request: RequestBuilder) -> Result<Value, ProviderError> {
        let deadline = Instant::now() + self.timeouts.whole;
        let mut response = self.send(request, deadline).await?;
        let mut body = Vec::new();
        loop {
            let chunk = timeout_at(deadline, response.chunk()).await;
            match chunk.map_err(|_| self.stalled(Stage::MidStream))? {
                Ok(Some(chunk)) if body.len() + chunk.len() > LONGEST_ANSWER => {
                    let fault = Fault::new(FailureClass::Unknown, "gave too long an answer");
                    return Err(self.error(Stage::MidStream, fault));
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => break,
                Err(error) => return Err(self.cut(Stage::MidStream, &error)),
            }
        }
        serde_json::from_slice(&body).map_err(|_| {
            let fault = Fault::new(FailureClass::Unknown, "answered something that is not JSON");
            self.error(Stage::Finalize, fault)
        })
    }

    /// The failure of an answer that should have been a stream.
    pub(super) async fn not_a_stream(&self, response: Response) -> ProviderError {
        let body = error_body(response).await;
        let fault = match serde_json::from_slice::<Value>(&body) {
            Ok(body) if body.get("error").is_some() => Fault::from_event(&body),
            Ok(_) | Err(_) => Fault::new(
                FailureClass::Unknown,
                "did not answer with a stream of events",
            ),
        };
        self.error(Stage::FirstChunk, fault)
    }

    /// The failure of an answer that says nothing for too long.
    pub(super) fn stalled(&self, stage: Stage) -> ProviderError {
        self.error(
            stage,
            Fault::new(FailureClass::StreamStall, "said nothing for too long"),
        )
    }

    /// The failure of a connection that broke.
    pub(super) fn cut(&self, stage: Stage, error: &reqwest::Error) -> ProviderError {
        tracing::debug!(
            provider = self.service.id,
            error = chain(error),
            "answer cut off"
        );
        self.truncated(stage)
    }

    /// The failure of an answer that ended before it was complete.
    pub(super) fn truncated(&self, stage: Stage) -> ProviderError {
        self.error(
            stage,
            Fault::new(FailureClass::StreamTruncated, "cut its answer off"),
        )
    }

    /// Adds to a failure when it happened and whose it is, and takes secrets out.
    pub(super) fn error(&self, stage: Stage, fault: Fault) -> ProviderError {
        let mut text = fault.detail;
        text.insert_str(0, &format!("`{}` ", self.service.id));
        ProviderError {
            class: fault.class,
            stage,
            message: sentence(&text, self.key.as_ref()),
            retry_after: fault.retry_after,
        }
    }
}

/// As much of an error answer as comes soon.
async fn error_body(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    let read = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = LONGEST_ERROR - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if body.len() == LONGEST_ERROR {
                break;
            }
        }
    };
    // Late or not, what has come is what there is.
    let _ = timeout(ERROR_BODY, read).await;
    body
}

/// Why no connection could be made, in our own words: the text of the system stays in the log.
fn connect_failure(error: &reqwest::Error) -> &'static str {
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if text.contains("dns error") {
            return "its host name cannot be resolved";
        }
        if text.contains("certificate") {
            return "its certificate is not trusted";
        }
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        match kind {
            Some(io::ErrorKind::ConnectionRefused) => {
                return "the connection was refused, so no program listens there";
            }
            Some(io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => {
                return "there is no network route to it";
            }
            Some(io::ErrorKind::InvalidData) => return "it does not speak TLS there",
            _ => {}
        }
        source = cause.source();
    }
    "the connection failed"
}

/// An error with its causes, for the log.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_checked() {
        let check = |text, expected: Result<&str, BaseUrlError>| {
            let base = BaseUrl::parse(text);
            assert_eq!(
                base.as_ref().map(BaseUrl::as_str),
                expected.as_ref().copied()
            );
        };
        check("http://[::1]:1", Ok("http://[::1]:1"));
        check(" http://127.0.0.1:1/v1/ ", Ok("http://127.0.0.1:1/v1"));
        check("127.0.0.1", Err(BaseUrlError::Malformed));
        check("file:///tmp", Err(BaseUrlError::Scheme));
        check("http://user@127.0.0.1", Err(BaseUrlError::Credentials));
        check("http://:word@127.0.0.1", Err(BaseUrlError::Credentials));
        check("http://127.0.0.1/?key=1", Err(BaseUrlError::Suffix));
        check("http://127.0.0.1/#", Err(BaseUrlError::Suffix));
    }
}
