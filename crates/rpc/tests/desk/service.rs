//! A small service with methods of its own, as another crate would declare them.
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

    /// Answers what it is given.
    Read DeskEcho = "desk/echo" (DeskEchoParams) -> DeskEchoResponse;
    /// Panics.
    Read DeskPanic = "desk/panic" (DeskParams) -> DeskResponse;
    /// Answers once the gate is open.
    Read DeskWait = "desk/wait" (DeskParams) -> DeskResponse;
    /// Opens the gate for one that waits.
    Write DeskOpen = "desk/open" (DeskParams) -> DeskResponse;
    /// Is not for everybody.
    Write DeskSecret = "desk/secret" (DeskSecretParams in workspace_id) -> DeskResponse;
}

/// The company family describes its failures differently.
pub mod company {
    use super::{DeskEchoParams, DeskEchoResponse};

    protocol::methods! {
        Company family "desk";

        /// Answers what it is given.
        Read CompanyDeskEcho = "desk.echo" (DeskEchoParams) -> DeskEchoResponse;
    }
}

/// No params.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeskParams {}

/// Nothing to say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeskResponse {}

/// Params with something inside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeskEchoParams {
    /// A text.
    pub text: String,
    /// Drawers.
    #[serde(default)]
    pub drawers: Vec<Drawer>,
}

/// Something inside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drawer {
    /// How many things are in it.
    #[serde(rename = "a/b")]
    pub count: u32,
}

/// Says it back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeskEchoResponse {
    /// The text.
    pub text: String,
}

/// Names a workspace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeskSecretParams {
    /// The workspace.
    pub workspace_id: protocol::WorkspaceId,
}

/// What the handlers reach.
#[derive(Clone, Debug)]
pub struct DeskContext {
    gate: Arc<Semaphore>,
}

impl Admit for DeskContext {
    async fn admit(&self, call: Call<'_>) -> Result<(), Failure> {
        let secret = protocol::WorkspaceId::parse("ws_secret").expect("it is an id");
        match call.reach == protocol::Reach::Workspace(&secret) {
            true => Err(Failure::forbidden(format!(
                "`{}` is not for you",
                call.method
            ))),
            false => Ok(()),
        }
    }
}

/// One connection of the service.
#[derive(Debug)]
pub struct Desk {
    outbox: Arc<Outbox>,
    router: Router<DeskContext>,
    /// Closed until somebody opens it.
    pub gate: Arc<Semaphore>,
}

impl Desk {
    /// A connection with every method.
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
