//! The dispatch table: looks up the wire name, decodes the params, calls the typed handler and returns the JSON
//! response.

use std::{
    any::Any,
    collections::BTreeMap,
    future::Future,
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::{Arc, OnceLock},
    time::Instant,
};

use futures_util::FutureExt as _;
use protocol::{
    Access, Dialect, Method, Reach,
    company::{ActorRole, Shape},
};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::{
    Failure, FailureKind, Request, Text, envelope,
    metrics::{RequestOutcome, RouteMetrics},
};

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Erased<C> =
    Box<dyn Fn(C, Option<&RawValue>) -> BoxFuture<Result<String, Failure>> + Send + Sync>;

/// The methods that this process handles.
pub struct Router<C> {
    rows: BTreeMap<&'static str, Row<C>>,
    /// Metrics of calls to unknown methods.
    unknown: RouteMetrics,
}

struct Row<C> {
    dialect: Dialect,
    handler: Erased<C>,
    metrics: RouteMetrics,
}

/// A call with decoded params, as passed to [`Admit::admit`].
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The wire name of the method.
    pub method: &'static str,
    /// The kind of access the method needs.
    pub access: Access,
    /// The workspace, company folder or other object that the params refer to.
    pub reach: Reach<'a>,
    /// The role the call claims for its actor. Absent if it claims none.
    pub claims: Option<ActorRole>,
    /// The role the caller must have. Absent if the method needs none.
    pub needs: Option<ActorRole>,
}

/// The context of a request, which authorizes each call before dispatch. The gateway implements it.
pub trait Admit: Send + Sync + 'static {
    /// Authorizes the call, or returns the failure to send instead.
    fn admit(&self, call: Call<'_>) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// The response to one request.
#[derive(Debug)]
pub struct Answer {
    /// The complete response message.
    pub text: Text,
    /// The kind of the failure, or `None` if the response is a result.
    pub failure: Option<FailureKind>,
}

impl<C> Default for Router<C> {
    fn default() -> Self {
        Self {
            rows: BTreeMap::new(),
            unknown: RouteMetrics::default(),
        }
    }
}

impl<C> std::fmt::Debug for Router<C> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} methods", self.rows.len())
    }
}

impl<C: Admit> Router<C> {
    /// Registers `handler` for `M`. Panics if `M` already has a handler.
    pub fn on<M: Method>(&mut self, handler: impl Handler<C, M>) -> &mut Self {
        let handler = Arc::new(handler);
        // The shape is built on the first call of a company method.
        let shape = OnceLock::new();
        let erased: Erased<C> = Box::new(move |ctx, params| {
            let params = match M::DIALECT {
                Dialect::Tree => decode::<M::Params>(params),
                Dialect::Company => read(shape.get_or_init(Shape::of::<M::Params>), params),
            };
            let handler = Arc::clone(&handler);
            Box::pin(async move {
                let params = params?;
                let call = Call {
                    method: M::NAME,
                    access: M::ACCESS,
                    reach: M::reach(&params),
                    claims: M::claims(&params),
                    needs: M::NEEDS,
                };
                ctx.admit(call).await?;
                let response = handler.call(ctx, params).await?;
                serde_json::to_string(&response).map_err(|error| {
                    let incident_id = incident();
                    tracing::error!(incident_id, method = M::NAME, %error, "a result cannot be serialized");
                    Failure::internal(incident_id)
                })
            })
        });
        let row = Row {
            dialect: M::DIALECT,
            handler: erased,
            metrics: RouteMetrics::default(),
        };
        let previous = self.rows.insert(M::NAME, row);
        assert!(previous.is_none(), "`{}` has two handlers", M::NAME);
        self
    }

    /// Handles one request and returns its response. A panic in a handler becomes an `internal` failure.
    pub async fn answer(&self, ctx: C, request: &Request) -> Answer {
        let started = Instant::now();
        let Request { id, method, params } = request;
        let (dialect, metrics, result) = match self.rows.get(method.as_str()) {
            Some(row) => {
                let running = async { (row.handler)(ctx, params.as_deref()).await };
                let result = AssertUnwindSafe(running)
                    .catch_unwind()
                    .await
                    .unwrap_or_else(|panic| Err(report_panic(method, &*panic)));
                (row.dialect, &row.metrics, result)
            }
            None => (
                Dialect::of_name(method),
                &self.unknown,
                Err(Failure::method(method)),
            ),
        };
        let (answer, outcome) = match result {
            Ok(json) => {
                let text = envelope::answer(id.get(), "result", &json);
                (
                    Answer {
                        text,
                        failure: None,
                    },
                    RequestOutcome::Ok,
                )
            }
            Err(failure) => {
                tracing::debug!(
                    method,
                    kind = failure.kind().as_str(),
                    "{}",
                    failure.message()
                );
                let json = failure.to_json(method, dialect).to_string();
                let text = envelope::answer(id.get(), "error", &json);
                let failure = Some(failure.kind());
                (Answer { text, failure }, RequestOutcome::Error)
            }
        };
        metrics.record(outcome, started.elapsed());
        answer
    }

    /// Returns the names of the registered methods in code-unit order. The capability lists report exactly these.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.rows.keys().copied()
    }

    /// Returns the metrics of each method; calls to unknown methods are recorded under the name `unknown`.
    pub fn metrics(&self) -> impl Iterator<Item = (&'static str, &RouteMetrics)> {
        let rows = self.rows.iter().map(|(name, row)| (*name, &row.metrics));
        rows.chain([("unknown", &self.unknown)])
    }
}

/// An async function that handles `M`: `async fn(C, M::Params) -> Result<M::Response, Failure>`.
pub trait Handler<C, M: Method>: Send + Sync + 'static {
    /// Calls the function.
    fn call(
        &self,
        ctx: C,
        params: M::Params,
    ) -> impl Future<Output = Result<M::Response, Failure>> + Send;
}

impl<C, M, F, Fut> Handler<C, M> for F
where
    M: Method,
    F: Fn(C, M::Params) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<M::Response, Failure>> + Send + 'static,
{
    fn call(
        &self,
        ctx: C,
        params: M::Params,
    ) -> impl Future<Output = Result<M::Response, Failure>> + Send {
        self(ctx, params)
    }
}

/// Decodes params of the company family and reports every invalid field. Absent params become `{}` if no field is
/// required.
fn read<P: DeserializeOwned>(shape: &Shape, params: Option<&RawValue>) -> Result<P, Failure> {
    let value = match params.map(RawValue::get) {
        None | Some("null") => {
            let nothing = serde_json::json!({});
            if shape.issues(Some(&nothing)).is_empty() {
                nothing
            } else {
                return Err(Failure::issues(shape.issues(None)));
            }
        }
        Some(text) => serde_json::from_str(text)
            .map_err(|error| Failure::param("", without_position(&error.to_string())))?,
    };
    shape.read(value).map_err(Failure::issues)
}

/// Decodes params of the tree family. Absent params become `{}`; a failure points at the first invalid field.
fn decode<P: DeserializeOwned>(params: Option<&RawValue>) -> Result<P, Failure> {
    let text = params.map_or("{}", RawValue::get);
    if !text.starts_with('{') {
        return Err(Failure::param("", "expected an object"));
    }
    if let Ok(params) = serde_json::from_str(text) {
        return Ok(params);
    }
    // Decode again with path tracking, which is slower, to locate the error.
    let mut deserializer = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let mut path = pointer(error.path());
        let detail = without_position(&error.inner().to_string());
        // The path of a missing field is the object that lacks it; append the field, which is what the caller needs.
        if let Some(field) = detail
            .strip_prefix("missing field `")
            .and_then(|rest| rest.strip_suffix('`'))
        {
            path = format!("{path}/{}", escaped(field));
        }
        Failure::param(path, detail)
    })
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    path.iter()
        .map(|segment| match segment {
            Segment::Seq { index } => format!("/{index}"),
            Segment::Map { key } => format!("/{}", escaped(key)),
            Segment::Enum { variant } => format!("/{variant}"),
            Segment::Unknown => String::new(),
        })
        .collect()
}

/// Escapes a key for use in a JSON pointer.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Removes the line and column, which refer to `params` and mean nothing to the caller.
fn without_position(message: &str) -> String {
    let end = message.rfind(" at line ").unwrap_or(message.len());
    message[..end].to_owned()
}

fn report_panic(method: &str, panic: &(dyn Any + Send)) -> Failure {
    let cause = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let incident_id = incident();
    tracing::error!(incident_id, method, cause, "a handler panicked");
    Failure::internal(incident_id)
}

/// Returns a new incident id, which identifies one failure of the gateway in the log.
pub(crate) fn incident() -> String {
    let mut bytes = [0u8; 8];
    // Without randomness the incident is still reported, with an id that is not unique.
    let _ = getrandom::fill(&mut bytes);
    format!("inc_{:016x}", u64::from_be_bytes(bytes))
}

impl Failure {
    /// Converts an unexpected error of a lower layer: logs the whole chain and returns only an incident id.
    pub fn incident(error: &(dyn std::error::Error + 'static)) -> Self {
        let mut chain = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            chain = format!("{chain}: {cause}");
            source = cause.source();
        }
        let incident_id = incident();
        tracing::error!(incident_id, "{chain}");
        Self::internal(incident_id)
    }
}
