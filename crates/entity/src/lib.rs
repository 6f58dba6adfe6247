//! The rows of the gateway database, generated from the migrated schema; do not edit.
//!
//! `UPDATE_GENERATED=1 cargo test -p entity` writes them anew. No serde here: a row is never a wire type.
#![expect(missing_docs, reason = "the columns are described in `migration`")]

pub mod access_token;
pub mod artifact;
pub mod artifact_binding;
pub mod artifact_blob;
pub mod artifact_chunk_hashes;
pub mod artifact_projection;
pub mod artifact_upload_session;
pub mod artifact_version;
pub mod company_project;
pub mod desktop_session;
pub mod desktop_sign_in_code;
pub mod hook_run;
pub mod thread;
pub mod thread_agents_doc;
pub mod thread_agents_doc_proposal;
pub mod thread_agents_doc_revision;
pub mod thread_folder;
pub mod thread_placement;
pub mod trash_binding;
pub mod trash_item;
pub mod trash_member;
pub mod turn;
pub mod turn_event;
pub mod workspace;
