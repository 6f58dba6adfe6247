//! The dispatch table: wire name in, typed handler called, JSON text out.

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
    Failure, Kind, Request, Text, envelope,
    metrics::{Outcome, RouteMetrics},
};

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Erased<C> =
    Box<dyn Fn(C, Option<&RawValue>) -> BoxFuture<Result<String, Failure>> + Send + Sync>;

/// Every method this process answers.
pub struct Router<C> {
    rows: BTreeMap<&'static str, Row<C>>,
    /// What calls of unknown methods cost.
    unknown: RouteMetrics,
}

struct Row<C> {
    dialect: Dialect,
    handler: Erased<C>,
    metrics: RouteMetrics,
}

/// A call with decoded params, seen by whoever decides whether it may happen.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The wire name.
    pub method: &'static str,
    /// What it does.
    pub access: Access,
    /// What it names.
    pub reach: Reach<'a>,
    /// The role it claims for whoever acts.
    pub claims: Option<ActorRole>,
    /// The role the caller must have.
    pub needs: Option<ActorRole>,
}

/// The context of a request; it decides before dispatch whether a call may happen. The gateway implements it.
pub trait Admit: Send + Sync + 'static {
    /// Refuses the call, or lets it pass to its handler.
    fn admit(&self, call: Call<'_>) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// What goes back to the caller.
#[derive(Debug)]
pub struct Answer {
    /// The whole response.
    pub text: Text,
    /// The kind of the failure, or none for a result.
    pub failure: Option<Kind>,
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
    /// Answers `M` with `handler`.
    pub fn on<M: Method>(&mut self, handler: impl Handler<C, M>) -> &mut Self {
        let handler = Arc::new(handler);
        // Made by the first call of the company family that needs it.
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
                    tracing::error!(incident_id, method = M::NAME, %error, "a result is not JSON");
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
        assert!(previous.is_none(), "`{}` is answered twice", M::NAME);
        self
    }

    /// Answers one request. A panic in a handler is an answer too.
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
                    Outcome::Ok,
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
                (Answer { text, failure }, Outcome::Error)
            }
        };
        metrics.record(outcome, started.elapsed());
        answer
    }

    /// The names with a handler, in code-unit order. The capability lists report exactly these.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.rows.keys().copied()
    }

    /// What each method cost so far; calls of unknown methods stand under the name `unknown`.
    pub fn metrics(&self) -> impl Iterator<Item = (&'static str, &RouteMetrics)> {
        let rows = self.rows.iter().map(|(name, row)| (*name, &row.metrics));
        rows.chain([("unknown", &self.unknown)])
    }
}

/// An async function that answers `M`: `async fn(C, M::Params) -> Result<M::Response, Failure>`.
pub trait Handler<C, M: Method>: Send + Sync + 'static {
    /// Runs the function.
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

/// The company family tells every field that does not fit. Absent params are `{}` where nothing must be given.
fn read<P: DeserializeOwned>(shape: &Shape, params: Option<&RawValue>) -> Result<P, Failure> {
    let value = match params.map(RawValue::get) {
        None | Some("null") => {
            let nothing = serde_json::json!({});
            match shape.issues(Some(&nothing)).is_empty() {
                true => nothing,
                false => return Err(Failure::issues(shape.issues(None))),
            }
        }
        Some(text) => serde_json::from_str(text)
            .map_err(|error| Failure::param("", without_position(&error.to_string())))?,
    };
    shape.read(value).map_err(Failure::issues)
}

/// Absent params are `{}`; a failure points at the field.
fn decode<P: DeserializeOwned>(params: Option<&RawValue>) -> Result<P, Failure> {
    let text = params.map_or("{}", RawValue::get);
    if !text.starts_with('{') {
        return Err(Failure::param("", "expected an object"));
    }
    if let Ok(params) = serde_json::from_str(text) {
        return Ok(params);
    }
    // Once more, to find out where it went wrong.
    let mut deserializer = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let mut path = pointer(error.path());
        let detail = without_position(&error.inner().to_string());
        // The path of a missing field is the object that lacks it; the field is what the caller looks for.
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

/// A key as a JSON pointer has it.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Line and column within `params` mean nothing to the caller.
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

/// A name for one failure of ours, to find it in the log.
pub(crate) fn incident() -> String {
    let mut bytes = [0u8; 8];
    // Without randomness the incident is still told, under a name that is not unique.
    let _ = getrandom::fill(&mut bytes);
    format!("inc_{:016x}", u64::from_be_bytes(bytes))
}

impl Failure {
    /// An unforeseen error of a lower layer: the whole chain goes to the log, an incident id to the client.
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
