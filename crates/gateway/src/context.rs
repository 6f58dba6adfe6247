//! The context of one request: the services a handler may use, and the effects that run after the response.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agent::{Agent, TurnRun};
use company::{Companies, Company};
use crud::{ArtifactDetail, CrudStore};
use index::{Indexes, SyncWorker};
use protocol::{
    Access, Id, MayExec, MaySpend, Notification, Reach, ThreadId, WorkspaceId,
    company::Text as CompanyText, session::SessionResume, workspace::WorkspaceUnsubscribe,
};
use protocol::{
    Method as _,
    thread::{ThreadTreeChangedNotification, agents_doc::ThreadAgentsDocChangedNotification},
};
use rpc::{
    Admit, Audience, Call, Failure, FileFrame, Publication, Resumption, Router, Text, Waiting,
};

use crate::{
    Principal,
    auth::DesktopSessions,
    company_events::CompanySubscription,
    linking,
    notify::{self, thread_topic},
    peer::Peer,
    providers::Providers,
    rows,
    services::Services,
};

/// The context of one request.
#[derive(Clone)]
pub struct Context {
    peer: Arc<Peer>,
    /// The dispatch table that called the handler; capability lists name its methods.
    router: Arc<Router<Self>>,
    effects: Arc<PendingEffects>,
    /// The company folder opened by `admit` when it checked the workspaces of a limited token. The handler uses this
    /// handle, because the path may lead elsewhere by then.
    admitted: Arc<OnceLock<Company>>,
}

/// The effects of a request. They are discarded when the request fails.
#[derive(Default)]
pub(crate) struct PendingEffects {
    queue: Mutex<Vec<PendingEffect>>,
    /// The binary frame to send before the response.
    frame: Mutex<Option<FileFrame>>,
    /// The workspace to which this request subscribed the connection.
    followed: Mutex<Option<WorkspaceId>>,
}

enum PendingEffect {
    Publish(Publication),
    /// Starts the turn after the caller has received its acceptance.
    RunTurn(Box<TurnRun>),
    /// Sends the caller the turn in progress on a thread.
    CatchUp(ThreadId),
    /// Starts to send company events to the caller.
    Subscription(CompanySubscription),
    /// Closes the connections whose access this request has revoked.
    CloseRevoked,
    /// Sends a notification to the caller only.
    Tell(Text, Waiting),
    Resume {
        workspace: WorkspaceId,
        after_seq: u64,
        found: Resumption,
    },
}

impl Context {
    pub(crate) fn new(peer: Arc<Peer>, router: Arc<Router<Self>>) -> Self {
        Self {
            peer,
            router,
            effects: Arc::default(),
            admitted: Arc::default(),
        }
    }

    pub(crate) fn effects(&self) -> Arc<PendingEffects> {
        Arc::clone(&self.effects)
    }

    /// Returns the connection of the caller.
    pub(crate) fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// Returns the services of the gateway.
    pub(crate) fn services(&self) -> &Arc<Services> {
        &self.peer.services
    }

    /// Returns the names of all methods in code-unit order.
    pub(crate) fn method_names(&self) -> impl Iterator<Item = &'static str> {
        self.router.names()
    }

    /// Returns the principal of the caller.
    pub(crate) fn principal(&self) -> &Principal {
        &self.peer.principal
    }

    /// Returns the capability to start, take over and end processes, if the caller has the scope `exec`.
    #[expect(clippy::disallowed_methods, reason = "the scope was just checked")]
    pub(crate) fn may_exec(&self) -> Result<MayExec, Failure> {
        self.principal().check_scope(Access::Exec)?;
        Ok(MayExec::granted())
    }

    /// Returns the capability to call model providers with the owner's keys, if the caller has the scope `spend`.
    #[expect(clippy::disallowed_methods, reason = "the scope was just checked")]
    pub(crate) fn may_spend(&self) -> Result<MaySpend, Failure> {
        self.principal().check_scope(Access::Spend)?;
        Ok(MaySpend::granted())
    }

    /// Returns whether the caller has the scope `write`.
    pub(crate) fn may_write(&self) -> bool {
        self.principal().check_scope(Access::Write).is_ok()
    }

    /// Returns the gateway database.
    pub(crate) fn store(&self) -> &CrudStore {
        &self.peer.services.store
    }

    /// Reads an artifact and rejects the call if the caller may not see it.
    pub(crate) async fn artifact(
        &self,
        workspace: &str,
        artifact: &str,
        version: Option<&str>,
    ) -> Result<ArtifactDetail, Failure> {
        let artifacts = self.store().artifacts();
        let found = artifacts.get(workspace, artifact, version).await;
        let found = found.map_err(rows::failure)?;
        self.principal().check_artifact(&found.artifact)?;
        Ok(found)
    }

    /// Returns the desktop sessions.
    pub(crate) fn desktop_sessions(&self) -> &DesktopSessions {
        &self.peer.services.desktop_sessions
    }

    /// Returns the turn loop.
    pub(crate) fn agent(&self) -> &Agent {
        &self.peer.services.agent
    }

    /// Returns the model providers.
    pub(crate) fn providers(&self) -> &Arc<Providers> {
        &self.peer.services.providers
    }

    /// Returns the factory of company folder handles.
    pub(crate) fn companies(&self) -> &Companies {
        &self.peer.services.companies
    }

    /// Opens the company folder at a path, reusing the handle that `admit` opened. The handle is read-only if the
    /// caller has only the scope `read`. Blocks.
    pub(crate) fn folder_at(&self, dir: &str) -> Company {
        let admitted = self.admitted.get().filter(|company| company.given() == dir);
        let company = admitted.map_or_else(|| self.companies().locate(dir), Company::clone);
        // The scope `write` includes `propose`, so it needs no check of its own.
        let changing = [Access::Propose, Access::Exec];
        let may_change = changing
            .iter()
            .any(|access| self.principal().check_scope(*access).is_ok());
        if may_change {
            company
        } else {
            company.read_only()
        }
    }

    /// Returns the canonical path of a company folder if `admit` opened that folder, otherwise the path as given.
    pub(crate) fn real_dir(&self, dir: CompanyText) -> CompanyText {
        let admitted = self.admitted.get();
        let admitted = admitted.filter(|company| company.given() == &*dir);
        let real = admitted.and_then(|company| CompanyText::new(linking::dir(company)));
        real.unwrap_or(dir)
    }

    /// Returns the worker sessions.
    pub(crate) fn sessions(&self) -> &sessions::Sessions {
        &self.peer.services.sessions
    }

    /// Returns the jobs of workers.
    pub(crate) fn jobs(&self) -> &jobs::Jobs {
        &self.peer.services.jobs
    }

    /// Returns the heartbeats of company folders.
    pub(crate) fn heartbeats(&self) -> &jobs::Heartbeats {
        &self.peer.services.heartbeats
    }

    /// Returns the indexes of company folders.
    pub(crate) fn indexes(&self) -> &Indexes {
        &self.peer.services.indexes
    }

    /// Returns the background worker that keeps the indexes up to date.
    pub(crate) fn index_worker(&self) -> &Arc<SyncWorker> {
        &self.peer.services.index_worker
    }

    /// Starts to send the events of a subscription after the response, which contains its id.
    pub(crate) fn start_subscription(&self, start: CompanySubscription) {
        self.add_effect(PendingEffect::Subscription(start));
    }

    /// Starts a turn after the response.
    pub(crate) fn run_turn(&self, run: TurnRun) {
        self.add_effect(PendingEffect::RunTurn(Box::new(run)));
    }

    /// Sends the caller the turn in progress on a thread after the response.
    pub(crate) fn catch_up(&self, thread: &ThreadId) {
        self.add_effect(PendingEffect::CatchUp(thread.clone()));
    }

    /// Returns the current time in Unix seconds.
    pub(crate) fn now(&self) -> i64 {
        self.peer.services.sources.clock.now()
    }

    /// Creates a new id of type `I`.
    pub(crate) fn new_id<I: Id>(&self) -> I {
        self.peer.services.sources.id()
    }

    /// Creates a new id with a prefix that has no id type.
    pub(crate) fn new_text_id(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.peer.services.sources.ids.suffix())
    }

    /// Creates a subscription id from the current time and a number derived from the id generator.
    pub(crate) fn new_subscription_id(&self) -> String {
        let bytes = self.peer.services.sources.ids.suffix().into_bytes();
        let number = bytes.iter().fold(0u32, |number, byte| {
            number.wrapping_mul(31).wrapping_add(u32::from(*byte))
        });
        let now_ms = self.peer.services.sources.clock.now_ms();
        format!("sub_{now_ms}_{:05}", number % 100_000)
    }

    /// Notifies the subscribers of the workspace that its tree has changed.
    pub(crate) fn tree_changed(&self, workspace: &WorkspaceId, tree_version: u64, reason: &str) {
        self.peer
            .services
            .watch
            .told_tree(workspace.as_str(), tree_version);
        let payload = ThreadTreeChangedNotification {
            workspace_id: workspace.clone(),
            reason: Some(reason.to_owned()),
            tree_version: Some(tree_version),
        };
        self.publish(Publication::new(workspace.as_str(), &payload).coalesced());
    }

    /// Notifies the subscribers of the workspace that an agents doc, or which document is effective, has changed.
    pub(crate) fn agents_doc_changed(&self, payload: &ThreadAgentsDocChangedNotification) {
        self.publish(Publication::new(payload.workspace_id.as_str(), payload));
    }

    /// Notifies every connection that may see the workspace of its new state.
    pub(crate) fn workspace_changed(&self, row: entity::workspace::Model) -> Result<(), Failure> {
        self.peer.services.watch.told_workspace(&row);
        self.publish(notify::workspace_changed(row)?);
        Ok(())
    }

    /// Notifies the subscribers of a thread after the response.
    pub(crate) fn tell_thread<N: Notification>(
        &self,
        workspace: &WorkspaceId,
        thread: &ThreadId,
        payload: &N,
    ) {
        let audience = Audience::Topic(thread_topic(thread));
        self.publish(Publication::new(workspace.as_str(), payload).to(audience));
    }

    /// Notifies the subscribers of a workspace after the response.
    pub(crate) fn tell_workspace<N: Notification>(&self, workspace: &WorkspaceId, payload: &N) {
        self.publish(Publication::new(workspace.as_str(), payload));
    }

    /// Sends a binary frame directly before the response, if the request succeeds.
    pub(crate) fn frame_before_answer(&self, frame: FileFrame) {
        *self
            .effects
            .frame
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(frame);
    }

    /// Sends a notification to the caller only.
    pub(crate) fn tell<N: Notification>(&self, payload: &N) {
        self.add_effect(PendingEffect::Tell(
            rpc::notification(payload),
            Waiting::Kept,
        ));
    }

    /// Sends a notification to the caller only. It may be dropped when the outgoing queue is full.
    pub(crate) fn tell_droppable<N: Notification>(&self, payload: &N) {
        self.add_effect(PendingEffect::Tell(
            rpc::notification(payload),
            Waiting::Droppable,
        ));
    }

    /// Replays the notifications that the caller missed.
    pub(crate) fn resume(&self, workspace: WorkspaceId, after_seq: u64, found: Resumption) {
        self.add_effect(PendingEffect::Resume {
            workspace,
            after_seq,
            found,
        });
    }

    /// Publishes a notification after the response.
    pub(crate) fn publish(&self, publication: Publication) {
        self.add_effect(PendingEffect::Publish(publication));
    }

    /// Closes connections whose access was revoked, after the response, because the caller may be one of them.
    pub(crate) fn close_revoked(&self) {
        self.add_effect(PendingEffect::CloseRevoked);
    }

    fn add_effect(&self, effect: PendingEffect) {
        let mut effects = self
            .effects
            .queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        effects.push(effect);
    }
}

impl PendingEffects {
    pub(crate) async fn carry_out(&self, peer: &Peer) {
        let effects = {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *queue)
        };
        for effect in effects {
            match effect {
                PendingEffect::Publish(publication) => {
                    peer.services.notifier.publish(&publication).await
                }
                PendingEffect::Subscription(start) => start.run(),
                PendingEffect::CloseRevoked => {
                    if let Err(error) = peer.services.watch.close_revoked().await {
                        tracing::warn!(%error, "revoked connections cannot be closed");
                    }
                }
                PendingEffect::Tell(text, waiting) => peer.outbox().notify(&text, &waiting),
                PendingEffect::RunTurn(run) => peer.services.agent.run(*run),
                PendingEffect::CatchUp(thread) => {
                    // Catching up may wait for the turn; the response must not.
                    peer.outbox().release();
                    let tell = |started| {
                        peer.outbox()
                            .notify(&rpc::notification(&started), &Waiting::Kept)
                    };
                    peer.services.agent.catch_up(&thread, tell).await;
                }
                PendingEffect::Resume {
                    workspace,
                    after_seq,
                    found,
                } => {
                    peer.follow_outputs(&workspace);
                    peer.services
                        .hub
                        .resume(peer.connection, workspace.as_str(), after_seq, &found)
                }
            }
        }
    }

    /// Takes the binary frame to send before the response.
    pub(crate) fn frame(&self) -> Option<FileFrame> {
        self.frame
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Undoes the subscription to a workspace that turned out not to exist.
    pub(crate) fn unfollow(&self, peer: &Peer) {
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(workspace) = followed.take() {
            peer.unfollow(&workspace);
        }
    }
}

impl Admit for Context {
    /// Decides access in one place: the scope of the method, the role that the params claim, then the objects they
    /// name.
    async fn admit(&self, call: Call<'_>) -> Result<(), Failure> {
        let principal = self.principal();
        principal.check_scope(call.access)?;
        principal.check_needed(call.needs)?;
        principal.check_role(call.claims)?;
        match call.reach {
            // Tokens limited to some workspaces may not change state that all workspaces share.
            Reach::Home if matches!(call.access, Access::Read | Access::Spend) => {}
            Reach::Home => principal.check_unlimited()?,
            Reach::Company(dir) => {
                self.peer.check_path("workspace_dir", dir)?;
                if principal.is_limited() {
                    let company = self.peer.services.folder_at(dir).await?;
                    let company = self.admitted.get_or_init(|| company);
                    let dir = linking::dir(company);
                    let workspace = self.store().companies().workspace(&dir).await;
                    let workspace = workspace.map_err(rows::failure)?;
                    if !workspace.is_some_and(|workspace| principal.may_see(&workspace)) {
                        return Err(Failure::forbidden(
                            "the token is not valid for the workspace of this company folder",
                        ));
                    }
                }
            }
            Reach::Workspace(workspace) => {
                principal.check_workspace(workspace)?;
                // Subscribes before the handler reads, so that no change is missed between reading and subscribing.
                let follows_by_itself = [WorkspaceUnsubscribe::NAME, SessionResume::NAME];
                if !follows_by_itself.contains(&call.method) && self.peer.follow(workspace) {
                    let mut followed = self
                        .effects
                        .followed
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner);
                    *followed = Some(workspace.clone());
                }
            }
            Reach::Thread(thread) => {
                if principal.is_limited() {
                    let row = self.store().threads().get(thread.as_str()).await;
                    let row = row.map_err(rows::failure)?;
                    if !principal.may_see(&row.workspace_id) {
                        // The message does not name the workspace, which the caller may not see.
                        return Err(Failure::forbidden(format!(
                            "the token is not valid for the workspace of thread `{thread}`"
                        )));
                    }
                }
            }
        }
        Ok(())
    }
}
