//! The wire protocol of both method families: method declarations, payload types, ids and JSON Schemas.
//!
//! The crate contains no I/O and no business rules; the `gateway` crate implements the methods.
//!
//! The name of a method is the path of its file: `thread/folder/create` is declared in `thread/folder.rs`,
//! `system.capabilities` in `company/system.rs`.

mod id;
mod method;
mod name;
mod openrpc;
mod permit;
mod reference;
mod schema;

pub mod artifact;
pub mod company;
pub mod desktop_session;
pub mod hook;
pub mod provider;
pub mod session;
pub mod system;
pub mod thread;
pub mod transport;
pub mod trash;
pub mod turn;
pub mod workspace;

pub use id::{
    AgentsDocId, AgentsDocProposalId, ArtifactId, ArtifactVersionId, BindingId, BlobId,
    DesktopSessionId, DownloadId, FolderId, Id, InvalidId, MessageId, ThreadId, TurnId, UploadId,
    WorkspaceId,
};
pub use method::{
    Access, Dialect, Family, Method, MethodSpec, Notification, NotificationSpec, Reach, TypeSpec,
};
pub use name::{InvalidName, Name};
pub use openrpc::{describe_methods, openrpc, summary};
pub use permit::{MayExec, MaySpend};
pub use reference::reference;
pub use schema::{schema_of, schemas};

/// All method families of this build, in the order of the reference.
pub const FAMILIES: &[&Family] = &[
    &workspace::FAMILY,
    &thread::FAMILY,
    &thread::folder::FAMILY,
    &thread::agents_doc::FAMILY,
    &thread::agents_doc::proposal::FAMILY,
    &trash::FAMILY,
    &turn::FAMILY,
    &artifact::FAMILY,
    &artifact::upload::FAMILY,
    &artifact::download::FAMILY,
    &hook::FAMILY,
    &provider::FAMILY,
    &desktop_session::FAMILY,
    &session::FAMILY,
    &system::FAMILY,
    &transport::FAMILY,
    &company::system::FAMILY,
    &company::workspace::FAMILY,
    &company::run::FAMILY,
    &company::session::FAMILY,
    &company::job::FAMILY,
    &company::worktree::FAMILY,
    &company::sharepack::FAMILY,
    &company::events::FAMILY,
    &company::adapter::FAMILY,
    &company::task::FAMILY,
    &company::pm::FAMILY,
    &company::conversation::FAMILY,
    &company::comment::FAMILY,
    &company::heartbeat::FAMILY,
    &company::index::FAMILY,
    &company::monitor::FAMILY,
    &company::inbox::FAMILY,
    &company::usage::FAMILY,
    &company::resources::FAMILY,
    &company::agent::FAMILY,
    &company::ui::FAMILY,
    &company::desktop::FAMILY,
    &company::artifact::FAMILY,
    &company::memory::FAMILY,
    &company::context::FAMILY,
    &company::milestone::FAMILY,
    &company::pipeline::FAMILY,
];

/// Returns every method of every family, in the order of [`FAMILIES`].
pub fn methods() -> impl Iterator<Item = (&'static Family, &'static MethodSpec)> {
    FAMILIES
        .iter()
        .flat_map(|family| family.methods.iter().map(move |method| (*family, method)))
}
