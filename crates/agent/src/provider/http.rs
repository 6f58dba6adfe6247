//! The HTTP layer of the providers: one shared client, a validated base URL, keys in headers, timeouts, and error
//! responses converted to [`ProviderError`]s.
//!
//! Proxy settings of the environment are ignored and redirects are not followed, because both would send the key to a
//! host that was not configured. Requests are not retried; the turn loop decides about retries.

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

/// The maximum size of a response that is not streamed, in bytes.
const LONGEST_ANSWER: usize = 8 * 1024 * 1024;

/// The maximum number of bytes read from an error response.
const LONGEST_ERROR: usize = 64 * 1024;

/// The timeout for reading an error body. It is short because the status matters more than the text.
const ERROR_BODY: Duration = Duration::from_secs(5);

/// The HTTP client of all providers. Clones share its connection pool.
#[derive(Clone, Debug)]
pub struct HttpClient(Client);

/// The HTTP client could not be created, for instance because the TLS library has no source of randomness.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client could not be created")]
pub struct ClientError(#[source] reqwest::Error);

impl HttpClient {
    /// Creates the client with `timeouts.connect`; the other timeouts are applied by each provider.
    pub fn new(timeouts: &Timeouts) -> Result<Self, ClientError> {
        // An error means that a TLS provider is already installed, which is sufficient.
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
            // Minimal containers have no root certificates. Without any, plain `http` services still work and every
            // `https` service is rejected; certificates are never accepted unverified.
            tracing::warn!(error = chain(&error), "the system has no root certificates");
            builder().tls_certs_only([]).build()
        });
        client.map(Self).map_err(ClientError)
    }
}

/// The base URL of a service: `http` or `https`, without query and fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl(String);

/// Why a base URL is invalid. The messages do not repeat the URL, which may contain a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BaseUrlError {
    /// The text is not a URL.
    #[error("the base URL is not a URL")]
    Malformed,
    /// The scheme is neither `http` nor `https`.
    #[error("the base URL must begin with `http://` or `https://`")]
    Scheme,
    /// The URL contains a user or password, which would reach logs and error messages.
    #[error("the base URL must not contain a user or a password")]
    Credentials,
    /// The URL has a query or fragment, so that paths cannot be appended.
    #[error("the base URL must end with its path, without `?` or `#`")]
    Suffix,
}

impl BaseUrl {
    /// Parses a base URL. Trailing slashes are removed.
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

    /// Returns the URL without a trailing slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The static properties of a provider's service.
#[derive(Debug)]
pub(super) struct ProviderService {
    /// The id of the provider.
    pub(super) id: &'static str,
    /// The base URL of the vendor.
    pub(super) default_base: &'static str,
    /// The environment variable that the key is read from.
    pub(super) key_variable: &'static str,
    /// The request header that contains the key.
    pub(super) key_header: &'static str,
    /// The text before the key in that header, such as `Bearer `.
    pub(super) key_prefix: &'static str,
}

impl ProviderService {
    /// Returns the base URL of the vendor.
    pub(super) fn default_base(&self) -> BaseUrl {
        BaseUrl(self.default_base.to_owned())
    }
}

/// A service at a base URL, with its key, timeouts and client.
#[derive(Debug)]
pub(super) struct Endpoint {
    /// The static properties of the service.
    pub(super) service: &'static ProviderService,
    /// The base URL.
    pub(super) base: BaseUrl,
    /// The API key. `None` is allowed for compatible services at another base URL.
    pub(super) key: Option<ApiKey>,
    /// The timeouts of requests to the service.
    pub(super) timeouts: Timeouts,
    /// The shared HTTP client.
    pub(super) client: HttpClient,
}

impl Endpoint {
    /// Returns whether the base URL is the vendor's own, not that of a compatible service.
    pub(super) fn is_vendor(&self) -> bool {
        self.base.as_str() == self.service.default_base
    }

    /// Returns whether the service can be called. Only the vendor's own service requires a key.
    pub(super) fn availability(&self) -> Availability {
        if self.key.is_none() && self.is_vendor() {
            return Availability::NeedsKey {
                variable: self.service.key_variable,
            };
        }
        Availability::Ready
    }

    /// Creates a request to a path below the base URL, with the key in its header.
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
                    format!("needs an API key, `{variable}` is not set"),
                );
                Err(self.error(Stage::Connect, fault))
            }
            (Availability::Ready, None) => Ok(request),
            (Availability::Ready, Some(key)) => {
                // Keys read from files end with a line feed.
                let value = format!("{}{}", self.service.key_prefix, key.expose().trim());
                let mut value = HeaderValue::from_str(&value).map_err(|_| {
                    let text = "was not called, the API key contains characters that are not allowed in a header";
                    self.error(Stage::Connect, Fault::new(FailureClass::AuthExpired, text))
                })?;
                value.set_sensitive(true);
                Ok(request.header(self.service.key_header, value))
            }
        }
    }

    /// Creates a POST request with a JSON body.
    pub(super) fn post(&self, path: &str, body: &Value) -> Result<RequestBuilder, ProviderError> {
        let request = self.request(Method::POST, path)?;
        Ok(request
            .header(CONTENT_TYPE, "application/json")
            .body(body.to_string()))
    }

    /// Sends a request and returns the response once its headers have arrived with a success status.
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
                    // Retrying would fail the same way.
                    let text = "was not called, the request is not valid HTTP".to_owned();
                    (FailureClass::InvalidRequest, text)
                } else if error.is_timeout() {
                    let text = format!("could not be reached at `{}` in time", self.base);
                    (FailureClass::NetworkTransient, text)
                } else if error.is_connect() {
                    let why = connect_failure(&error);
                    let text = format!("could not be reached at `{}`: {why}", self.base);
                    (FailureClass::NetworkTransient, text)
                } else {
                    let text = "closed the connection before it sent a response".to_owned();
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

    /// Sends a request and parses the whole response as one JSON value.
    pub(super) async fn json(&self, request: RequestBuilder) -> Result<Value, ProviderError> {
        let deadline = Instant::now() + self.timeouts.whole;
        let mut response = self.send(request, deadline).await?;
        let mut body = Vec::new();
        loop {
            let chunk = timeout_at(deadline, response.chunk()).await;
            match chunk.map_err(|_| self.stalled(Stage::MidStream))? {
                Ok(Some(chunk)) if body.len() + chunk.len() > LONGEST_ANSWER => {
                    let fault =
                        Fault::new(FailureClass::Unknown, "sent a response of more than 8 MiB");
                    return Err(self.error(Stage::MidStream, fault));
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => break,
                Err(error) => return Err(self.cut(Stage::MidStream, &error)),
            }
        }
        serde_json::from_slice(&body).map_err(|_| {
            let fault = Fault::new(FailureClass::Unknown, "sent a response that is not JSON");
            self.error(Stage::Finalize, fault)
        })
    }

    /// Returns the error for a response that is not an event stream.
    pub(super) async fn not_a_stream(&self, response: Response) -> ProviderError {
        let body = error_body(response).await;
        let fault = match serde_json::from_slice::<Value>(&body) {
            Ok(body) if body.get("error").is_some() => Fault::from_event(&body),
            Ok(_) | Err(_) => Fault::new(
                FailureClass::Unknown,
                "did not respond with an event stream",
            ),
        };
        self.error(Stage::FirstChunk, fault)
    }

    /// Returns the error for a response that sent no data before the timeout.
    pub(super) fn stalled(&self, stage: Stage) -> ProviderError {
        self.error(
            stage,
            Fault::new(FailureClass::StreamStall, "sent no data before the timeout"),
        )
    }

    /// Logs a broken connection and returns the error for a truncated response.
    pub(super) fn cut(&self, stage: Stage, error: &reqwest::Error) -> ProviderError {
        tracing::debug!(
            provider = self.service.id,
            error = chain(error),
            "answer cut off"
        );
        self.truncated(stage)
    }

    /// Returns the error for a response that ended before it was complete.
    pub(super) fn truncated(&self, stage: Stage) -> ProviderError {
        self.error(
            stage,
            Fault::new(
                FailureClass::StreamTruncated,
                "ended the response before it was complete",
            ),
        )
    }

    /// Adds the stage and the provider id to a fault and redacts the key.
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

/// Reads an error body up to its size limit and timeout.
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
    // A timeout is not an error: the bytes read so far are used.
    let _ = timeout(ERROR_BODY, read).await;
    body
}

/// Describes why no connection was established. The text of the operating system goes to the log only.
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
                return "the connection was refused, no program listens on the port";
            }
            Some(io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => {
                return "no network route to the host exists";
            }
            Some(io::ErrorKind::InvalidData) => return "the service does not use TLS",
            _ => {}
        }
        source = cause.source();
    }
    "the connection failed"
}

/// Formats an error with its sources, for the log.
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
