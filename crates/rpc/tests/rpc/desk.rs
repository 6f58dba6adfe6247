//! A small service with its own methods, declared the way another crate would declare them.
#![expect(
    unreachable_pub,
    reason = "the families of the protocol are public, and so are those declared like them"
)]

use std::sync::Arc;

use protocol::Id as _;
use rpc::{Admit, Call, Failure, Outbox, Request, Router, Service};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

protocol::methods! {
    Tree family "desk";

    /// Returns its params.
    Read DeskEcho = "desk/echo" (DeskEchoParams) -> DeskEchoResponse;
    /// Panics.
    Read DeskPanic = "desk/panic" (DeskParams) -> DeskResponse;
    /// Returns once the gate is open.
    Read DeskWait = "desk/wait" (DeskParams) -> DeskResponse;
    /// Opens the gate for one waiting call.
    Write DeskOpen = "desk/open" (DeskParams) -> DeskResponse;
    /// Is rejected by the authorization.
    Write DeskSecret = "desk/secret" (DeskSecretParams in workspace_id) -> DeskResponse;
}

/// The company family has a different error format.
pub mod company {
    use super::{DeskEchoParams, DeskEchoResponse};

    protocol::methods! {
        Company family "desk";

        /// Returns its params.
        Read CompanyDeskEcho = "desk.echo" (DeskEchoParams) -> DeskEchoResponse;
    }
}

/// Empty params.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeskParams {}

/// An empty response.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeskResponse {}

/// Params with nested fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeskEchoParams {
    /// A text that the response repeats.
    pub text: String,
    /// Nested objects, to test error paths.
    #[serde(default)]
    pub drawers: Vec<Drawer>,
}

/// A nested object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drawer {
    /// A number, to test type errors.
    #[serde(rename = "a/b")]
    pub count: u32,
}

/// The echoed text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeskEchoResponse {
    /// The text of the params.
    pub text: String,
}

/// Params that refer to a workspace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeskSecretParams {
    /// The id of the workspace.
    pub workspace_id: protocol::WorkspaceId,
}

/// The context of the handlers.
#[derive(Clone, Debug)]
pub struct DeskContext {
    gate: Arc<Semaphore>,
}

impl Admit for DeskContext {
    async fn admit(&self, call: Call<'_>) -> Result<(), Failure> {
        let secret = protocol::WorkspaceId::parse("ws_secret").expect("it is an id");
        if call.reach == protocol::Reach::Workspace(&secret) {
            Err(Failure::forbidden(format!(
                "`{}` is not for you",
                call.method
            )))
        } else {
            Ok(())
        }
    }
}

/// One connection of the service.
#[derive(Debug)]
pub struct Desk {
    outbox: Arc<Outbox>,
    router: Router<DeskContext>,
    /// Closed until a call opens it.
    pub gate: Arc<Semaphore>,
}

impl Desk {
    /// Creates a connection with every method registered.
    pub fn new() -> Arc<Self> {
        let mut router = Router::default();
        router
            .on::<DeskEcho>(echo)
            .on::<company::CompanyDeskEcho>(echo)
            .on::<DeskPanic>(panic)
            .on::<DeskWait>(wait)
            .on::<DeskOpen>(open)
            .on::<DeskSecret>(secret);
        Arc::new(Self {
            outbox: Arc::default(),
            router,
            gate: Arc::new(Semaphore::new(0)),
        })
    }
}

impl Service for Desk {
    fn outbox(&self) -> &Arc<Outbox> {
        &self.outbox
    }

    async fn serve(self: Arc<Self>, request: Request) {
        let gate = Arc::clone(&self.gate);
        let answer = self.router.answer(DeskContext { gate }, &request).await;
        self.outbox.respond(answer.text).await;
    }

    async fn binary(&self, _: rpc::Bytes) {}
}

async fn echo(_: DeskContext, params: DeskEchoParams) -> Result<DeskEchoResponse, Failure> {
    Ok(DeskEchoResponse { text: params.text })
}

async fn panic(_: DeskContext, _: DeskParams) -> Result<DeskResponse, Failure> {
    panic!("the secret is 42")
}

async fn wait(ctx: DeskContext, _: DeskParams) -> Result<DeskResponse, Failure> {
    let opened = ctx.gate.acquire().await;
    opened.expect("the gate is never closed for good").forget();
    Ok(DeskResponse {})
}

async fn open(ctx: DeskContext, _: DeskParams) -> Result<DeskResponse, Failure> {
    ctx.gate.add_permits(1);
    Ok(DeskResponse {})
}

async fn secret(_: DeskContext, _: DeskSecretParams) -> Result<DeskResponse, Failure> {
    Ok(DeskResponse {})
}
