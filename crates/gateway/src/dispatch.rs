//! Answers the requests of one connection.

use std::sync::Arc;

use rpc::{Bytes, FailureKind, Outbox, Request, Router, Service};

use crate::{Context, peer::Peer};

/// A connection and the dispatch table that answers its requests. Transports call it.
#[derive(Debug)]
pub struct Dispatch {
    peer: Arc<Peer>,
    router: Arc<Router<Context>>,
}

impl Dispatch {
    pub(crate) fn new(peer: Arc<Peer>, router: Arc<Router<Context>>) -> Arc<Self> {
        Arc::new(Self { peer, router })
    }
}

impl Service for Dispatch {
    fn outbox(&self) -> &Arc<Outbox> {
        self.peer.outbox()
    }

    async fn serve(self: Arc<Self>, request: Request) {
        let ctx = Context::new(Arc::clone(&self.peer), Arc::clone(&self.router));
        let effects = ctx.effects();
        let answer = self.router.answer(ctx, &request).await;
        let frame = effects.frame().filter(|_| answer.failure.is_none());
        let outbox = self.peer.outbox();
        // The outbox holds the response, so that notifications for the caller are written together with it.
        outbox.hold_behind(frame, answer.text).await;
        match answer.failure {
            // The response is queued; the effects of the request run after it.
            None => effects.carry_out(&self.peer).await,
            Some(FailureKind::UnknownWorkspace) => effects.unfollow(&self.peer),
            Some(_) => {}
        }
        outbox.release();
    }

    async fn binary(&self, frame: Bytes) {
        self.peer.take_frame(frame).await;
    }
}
