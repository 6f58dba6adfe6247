//! The method handlers, one file per family, at the same paths as in `protocol`.

mod artifact;
mod company;
mod desktop_session;
mod hook;
mod provider;
mod session;
mod system;
mod thread;
mod trash;
mod turn;
mod workspace;

use crate::Context;

/// Builds the dispatch table with the handlers of all methods.
pub fn router() -> rpc::Router<Context> {
    let mut router = rpc::Router::default();
    workspace::routes(&mut router);
    thread::routes(&mut router);
    thread::folder::routes(&mut router);
    thread::agents_doc::routes(&mut router);
    thread::agents_doc::proposal::routes(&mut router);
    trash::routes(&mut router);
    turn::routes(&mut router);
    artifact::routes(&mut router);
    artifact::upload::routes(&mut router);
    artifact::download::routes(&mut router);
    hook::routes(&mut router);
    provider::routes(&mut router);
    desktop_session::routes(&mut router);
    session::routes(&mut router);
    system::routes(&mut router);
    company::system::routes(&mut router);
    company::workspace::routes(&mut router);
    company::run::routes(&mut router);
    company::session::routes(&mut router);
    company::job::routes(&mut router);
    company::worktree::routes(&mut router);
    company::sharepack::routes(&mut router);
    company::events::routes(&mut router);
    company::adapter::routes(&mut router);
    company::conversation::routes(&mut router);
    company::comment::routes(&mut router);
    company::heartbeat::routes(&mut router);
    company::task::routes(&mut router);
    company::pm::routes(&mut router);
    company::index::routes(&mut router);
    company::monitor::routes(&mut router);
    company::inbox::routes(&mut router);
    company::usage::routes(&mut router);
    company::resources::routes(&mut router);
    company::agent::routes(&mut router);
    company::ui::routes(&mut router);
    company::desktop::routes(&mut router);
    company::artifact::routes(&mut router);
    company::memory::routes(&mut router);
    company::context::routes(&mut router);
    company::milestone::routes(&mut router);
    company::pipeline::routes(&mut router);
    router
}
