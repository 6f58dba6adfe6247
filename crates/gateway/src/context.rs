//! What a handler may reach while it answers one request, and what the request causes once it is answered.

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
    Admit, Audience, Call, Failure, FileFrame, Publication, Resumption, Service as _, Text, Waiting,
};

use crate::{
    DesktopSessions, Peer, Principal, company_events::CompanySubscription, linking, notify,
    peer::thread_topic, providers::Providers, rows, watch,
};

/// One per request.
#[derive(Clone)]
pub struct Context {
    peer: Arc<Peer>,
    caused: Arc<Caused>,
    /// The company folder that was looked up to decide whether a caller of some workspaces may reach it. What answers
    /// uses this one: its path may lead elsewhere by then.
    admitted: Arc<OnceLock<Company>>,
}

/// What a request causes. A failed request causes nothing.
#[derive(Default)]
pub(crate) struct Caused {
    effects: Mutex<Vec<Effect>>,
    /// What goes before the answer.
    frame: Mutex<Option<FileFrame>>,
    /// The workspace this request made the connection follow.
    followed: Mutex<Option<WorkspaceId>>,
}

enum Effect {
    Publish(Publication),
    /// The caller knows that its turn was accepted; now it runs.
    RunTurn(Box<TurnRun>),
    /// The caller hears the answer that is under way on a thread.
    CatchUp(ThreadId),
    /// The caller hears of events of a company.
    Subscription(CompanySubscription),
    /// Whoever has lost its rights by this request is disconnected.
    CloseRevoked,
    /// For the caller alone.
    Tell(Text, Waiting),
    Resume {
        workspace: WorkspaceId,
        after_seq: u64,
        found: Resumption,
    },
}

impl Context {
    pub(crate) fn new(peer: Arc<Peer>) -> Self {
        Self {
            peer,
            caused: Arc::default(),
            admitted: Arc::default(),
        }
    }

    pub(crate) fn caused(&self) -> Arc<Caused> {
        Arc::clone(&self.caused)
    }

    /// The connection that asks.
    pub(crate) fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// Who asks.
    pub(crate) fn principal(&self) -> &Principal {
        &self.peer.principal
    }

    /// The right to start, take over and end processes, if whoever asks has it.
    #[expect(clippy::disallowed_methods, reason = "the scope was just checked")]
    pub(crate) fn may_exec(&self) -> Result<MayExec, Failure> {
        self.principal().check_scope(Access::Exec)?;
        Ok(MayExec::granted())
    }

    /// The right to ask model providers with the owner's keys, if whoever asks has it.
    #[expect(clippy::disallowed_methods, reason = "the scope was just checked")]
    pub(crate) fn may_spend(&self) -> Result<MaySpend, Failure> {
        self.principal().check_scope(Access::Spend)?;
        Ok(MaySpend::granted())
    }

    /// Whether whoever asks may change something.
    pub(crate) fn may_write(&self) -> bool {
        self.principal().check_scope(Access::Write).is_ok()
    }

    /// The database.
    pub(crate) fn store(&self) -> &CrudStore {
        &self.peer.gateway.store
    }

    /// An artifact that whoever asks may see.
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

    /// Which browsers are signed in.
    pub(crate) fn desktop_sessions(&self) -> &DesktopSessions {
        &self.peer.gateway.desktop_sessions
    }

    /// The turn loop.
    pub(crate) fn agent(&self) -> &Agent {
        &self.peer.gateway.agent
    }

    /// The model providers.
    pub(crate) fn providers(&self) -> &Arc<Providers> {
        &self.peer.gateway.providers
    }

    /// The company folders.
    pub(crate) fn companies(&self) -> &Companies {
        &self.peer.gateway.companies
    }

    /// The company folder at a path: the one the call was admitted to, or whatever is there. Nothing can be written
    /// through it if whoever asks may only read. Blocks.
    pub(crate) fn folder_at(&self, dir: &str) -> Company {
        let admitted = self.admitted.get().filter(|company| company.given() == dir);
        let company = admitted.map_or_else(|| self.companies().at(dir), Company::clone);
        // Whoever may write may propose, too.
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

    /// The path of a company folder without links, if the call was admitted to that folder alone.
    pub(crate) fn real_dir(&self, dir: CompanyText) -> CompanyText {
        let admitted = self.admitted.get();
        let admitted = admitted.filter(|company| company.given() == &*dir);
        let real = admitted.and_then(|company| CompanyText::new(linking::dir(company)));
        real.unwrap_or(dir)
    }

    /// The worker sessions.
    pub(crate) fn sessions(&self) -> &runner::Sessions {
        &self.peer.gateway.sessions
    }

    /// The jobs of workers.
    pub(crate) fn jobs(&self) -> &runner::Jobs {
        &self.peer.gateway.jobs
    }

    /// The heartbeats of company folders.
    pub(crate) fn heartbeats(&self) -> &runner::Heartbeats {
        &self.peer.gateway.heartbeats
    }

    /// The indexes of company folders.
    pub(crate) fn indexes(&self) -> &Indexes {
        &self.peer.gateway.indexes
    }

    /// What keeps them up to date.
    pub(crate) fn index_worker(&self) -> &Arc<SyncWorker> {
        &self.peer.gateway.index_worker
    }

    /// Sends what a subscription asked for, once the caller knows its name.
    pub(crate) fn start_subscription(&self, start: CompanySubscription) {
        self.cause(Effect::Subscription(start));
    }

    /// Runs a turn once the caller has its answer.
    pub(crate) fn run_turn(&self, run: TurnRun) {
        self.cause(Effect::RunTurn(Box::new(run)));
    }

    /// Lets the caller hear the answer that is under way on a thread.
    pub(crate) fn catch_up(&self, thread: &ThreadId) {
        self.cause(Effect::CatchUp(thread.clone()));
    }

    /// Unix seconds.
    pub(crate) fn now(&self) -> i64 {
        self.peer.gateway.sources.clock.now()
    }

    /// A new id.
    pub(crate) fn new_id<I: Id>(&self) -> I {
        self.peer.gateway.sources.id()
    }

    /// A new id that no type stands for.
    pub(crate) fn new_text_id(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.peer.gateway.sources.ids.suffix())
    }

    /// A new name for a subscription: the time and a number.
    pub(crate) fn new_subscription_id(&self) -> String {
        let bytes = self.peer.gateway.sources.ids.suffix().into_bytes();
        let number = bytes.iter().fold(0u32, |number, byte| {
            number.wrapping_mul(31).wrapping_add(u32::from(*byte))
        });
        let now_ms = self.peer.gateway.sources.clock.now_ms();
        format!("sub_{now_ms}_{:05}", number % 100_000)
    }

    /// Tells everybody who follows the workspace that its tree changed.
    pub(crate) fn tree_changed(&self, workspace: &WorkspaceId, tree_version: u64, reason: &str) {
        self.peer
            .gateway
            .watch
            .told_tree(workspace.as_str(), tree_version);
        let payload = ThreadTreeChangedNotification {
            workspace_id: workspace.clone(),
            reason: Some(reason.to_owned()),
            tree_version: Some(tree_version),
        };
        self.publish(Publication::new(workspace.as_str(), &payload).coalesced());
    }

    /// Tells everybody who follows the workspace that a document, or what is in force, changed.
    pub(crate) fn agents_doc_changed(&self, payload: &ThreadAgentsDocChangedNotification) {
        self.publish(Publication::new(payload.workspace_id.as_str(), payload));
    }

    /// Tells every connection that may see the workspace what became of it.
    pub(crate) fn workspace_changed(&self, row: entity::workspace::Model) -> Result<(), Failure> {
        self.peer.gateway.watch.told_workspace(&row);
        self.publish(notify::workspace_changed(row)?);
        Ok(())
    }

    /// Tells everybody who follows the thread.
    pub(crate) fn tell_thread<N: Notification>(
        &self,
        workspace: &WorkspaceId,
        thread: &ThreadId,
        payload: &N,
    ) {
        let audience = Audience::Topic(thread_topic(thread));
        self.publish(Publication::new(workspace.as_str(), payload).to(audience));
    }

    /// Tells everybody who follows the workspace.
    pub(crate) fn tell_workspace<N: Notification>(&self, workspace: &WorkspaceId, payload: &N) {
        self.publish(Publication::new(workspace.as_str(), payload));
    }

    /// Sends a binary frame right before the answer, if there is one.
    pub(crate) fn frame_before_answer(&self, frame: FileFrame) {
        *self
            .caused
            .frame
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(frame);
    }

    /// Tells the caller alone.
    pub(crate) fn tell<N: Notification>(&self, payload: &N) {
        self.cause(Effect::Tell(rpc::notification(payload), Waiting::Kept));
    }

    /// Tells the caller alone, unless too much waits for it.
    pub(crate) fn tell_droppable<N: Notification>(&self, payload: &N) {
        self.cause(Effect::Tell(rpc::notification(payload), Waiting::Droppable));
    }

    /// Replays what the caller missed.
    pub(crate) fn resume(&self, workspace: WorkspaceId, after_seq: u64, found: Resumption) {
        self.cause(Effect::Resume {
            workspace,
            after_seq,
            found,
        });
    }

    /// Publishes once the caller has its answer.
    pub(crate) fn publish(&self, publication: Publication) {
        self.cause(Effect::Publish(publication));
    }

    /// Closes the connections that have lost their rights once the caller, who may be one of them, has its answer.
    pub(crate) fn close_revoked(&self) {
        self.cause(Effect::CloseRevoked);
    }

    fn cause(&self, effect: Effect) {
        let mut effects = self
            .caused
            .effects
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        effects.push(effect);
    }
}

impl Caused {
    pub(crate) async fn carry_out(&self, peer: &Peer) {
        let effects = {
            let mut effects = self.effects.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *effects)
        };
        for effect in effects {
            match effect {
                Effect::Publish(publication) => notify::publish(&peer.gateway, &publication).await,
                Effect::Subscription(start) => start.run(),
                Effect::CloseRevoked => {
                    if let Err(error) = watch::close_revoked(&peer.gateway).await {
                        tracing::warn!(%error, "revoked connections cannot be closed");
                    }
                }
                Effect::Tell(text, waiting) => peer.outbox().notify(&text, &waiting),
                Effect::RunTurn(run) => peer.gateway.agent.run(*run),
                Effect::CatchUp(thread) => {
                    // This may wait for the turn, and the answer must not.
                    peer.outbox().release();
                    let tell = |started| {
                        peer.outbox()
                            .notify(&rpc::notification(&started), &Waiting::Kept)
                    };
                    peer.gateway.agent.catch_up(&thread, tell).await;
                }
                Effect::Resume {
                    workspace,
                    after_seq,
                    found,
                } => {
                    peer.gateway
                        .hub
                        .resume(peer.connection, workspace.as_str(), after_seq, &found)
                }
            }
        }
    }

    /// The binary frame that goes before the answer.
    pub(crate) fn frame(&self) -> Option<FileFrame> {
        self.frame
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Takes back that the connection follows a workspace that turned out not to exist.
    pub(crate) fn unfollow(&self, peer: &Peer) {
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(workspace) = followed.take() {
            peer.unfollow(&workspace);
        }
    }
}

impl Admit for Context {
    /// The one place where access is decided: the scope of the method, the role the params claim, then what they name.
    async fn admit(&self, call: Call<'_>) -> Result<(), Failure> {
        let principal = self.principal();
        principal.check_scope(call.access)?;
        principal.check_needed(call.needs)?;
        principal.check_role(call.claims)?;
        match call.reach {
            // What belongs to all workspaces is not for a token of some.
            Reach::Home if matches!(call.access, Access::Read | Access::Spend) => {}
            Reach::Home => principal.check_unlimited()?,
            Reach::Company(dir) => {
                self.peer.check_path("workspace_dir", dir)?;
                if principal.is_limited() {
                    let company = self.peer.gateway.folder_at(dir).await?;
                    let company = self.admitted.get_or_init(|| company);
                    let dir = linking::dir(company);
                    let workspace = self.store().companies().workspace(&dir).await;
                    let workspace = workspace.map_err(rows::failure)?;
                    if !workspace.is_some_and(|workspace| principal.may_see(&workspace)) {
                        return Err(Failure::forbidden(
                            "the token is not made for the workspace of this company folder",
                        ));
                    }
                }
            }
            Reach::Workspace(workspace) => {
                principal.check_workspace(workspace)?;
                // Before the handler reads anything, so that no change falls between reading and listening.
                let follows_by_itself = [WorkspaceUnsubscribe::NAME, SessionResume::NAME];
                if !follows_by_itself.contains(&call.method) && self.peer.follow(workspace) {
                    let mut followed = self
                        .caused
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
                        // Without naming the workspace, which is not the caller's to know.
                        return Err(Failure::forbidden(format!(
                            "the token is not made for the workspace of thread `{thread}`"
                        )));
                    }
                }
            }
        }
        Ok(())
    }
}
