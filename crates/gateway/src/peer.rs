//! One connection as the gateway sees it: who is there, what it follows, where its answers wait.

use std::sync::Arc;

use protocol::{ThreadId, WorkspaceId, transport::TransportFrameRejectedNotification};
use rpc::{ConnectionId, Kind, Outbox, Request, Service, Waiting};

use crate::{Context, Gateway, Principal, sources::random_text};

/// One connected client.
#[derive(Debug)]
pub struct Peer {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) connection: ConnectionId,
    pub(crate) principal: Principal,
    /// Names this connection among those of all processes; its drafts carry it.
    pub(crate) key: String,
    outbox: Arc<Outbox>,
}

impl Peer {
    pub(crate) fn new(gateway: Arc<Gateway>, principal: Principal) -> Arc<Self> {
        let connection = ConnectionId::next();
        let outbox = Arc::new(Outbox::default());
        let limits = principal.clone();
        let sees = move |workspace: &str| limits.may_see(workspace);
        gateway.hub.join(connection, Arc::clone(&outbox), sees);
        gateway.watch.joined(connection, principal.token_id());
        Arc::new(Self {
            gateway,
            connection,
            principal,
            key: format!("con_{}", random_text(18)),
            outbox,
        })
    }

    /// Receives the notifications of a workspace from now on. Answers whether that is new.
    pub(crate) fn follow(&self, workspace: &WorkspaceId) -> bool {
        self.gateway
            .hub
            .subscribe(self.connection, workspace.as_str())
    }

    /// Receives them no longer.
    pub(crate) fn unfollow(&self, workspace: &WorkspaceId) {
        self.gateway
            .hub
            .unsubscribe(self.connection, workspace.as_str());
    }

    /// Receives the notifications of a thread from now on. Answers whether that is new.
    pub(crate) fn follow_thread(&self, thread: &ThreadId) -> bool {
        self.gateway
            .hub
            .subscribe(self.connection, &thread_topic(thread))
    }
}

/// The name of a thread among the topics of the hub.
pub(crate) fn thread_topic(thread: &ThreadId) -> String {
    format!("thread {thread}")
}

impl Service for Peer {
    fn outbox(&self) -> &Arc<Outbox> {
        &self.outbox
    }

    async fn serve(self: Arc<Self>, request: Request) {
        let ctx = Context::new(Arc::clone(&self));
        let caused = ctx.caused();
        let answer = self.gateway.router().answer(ctx, &request).await;
        self.outbox.respond(answer.text).await;
        match answer.failure {
            // The caller has its answer; now everybody is told.
            None => caused.carry_out(&self).await,
            Some(Kind::UnknownWorkspace) => caused.unfollow(&self),
            Some(_) => {}
        }
    }

    fn binary(&self, frame: &[u8]) {
        let magic = frame
            .get(..4)
            .filter(|magic| magic.iter().all(u8::is_ascii_graphic));
        let rejected = TransportFrameRejectedNotification {
            kind: "unknown_magic".to_owned(),
            size_bytes: frame.len() as u64,
            magic: magic.map(|magic| String::from_utf8_lossy(magic).into_owned()),
        };
        self.gateway.watch.count_rejected_frame();
        self.outbox
            .notify(&rpc::notification(&rejected), &Waiting::Kept);
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.gateway.hub.leave(self.connection);
        self.gateway.watch.left(self.connection);
    }
}
