//! Converts RPC failures to HTTP responses.

use axum::response::Response;
use hyper::StatusCode;
use rpc::{Failure, Kind};

use super::text;

/// Returns the message of a failure with the matching HTTP status.
#[expect(
    clippy::needless_pass_by_value,
    reason = "its callers hand it to `map_err`"
)]
pub(super) fn refuse(failure: Failure) -> Response {
    text(status(failure.kind()), format!("{}\n", failure.message()))
}

fn status(kind: Kind) -> StatusCode {
    match kind {
        Kind::ParseError
        | Kind::InvalidRequest
        | Kind::InvalidParams
        | Kind::Cycle
        | Kind::MissingProjectId
        | Kind::MissingConversationId
        | Kind::InvalidPath => StatusCode::BAD_REQUEST,
        Kind::Forbidden
        | Kind::PolicyDenied
        | Kind::ActorMismatch
        | Kind::BudgetExceeded
        | Kind::SubscriptionUnverified => StatusCode::FORBIDDEN,
        Kind::MethodNotFound
        | Kind::UnknownWorkspace
        | Kind::UnknownFolder
        | Kind::UnknownThread
        | Kind::UnknownTurn
        | Kind::UnknownAgentsDoc
        | Kind::UnknownRevision
        | Kind::UnknownProposal
        | Kind::UnknownArtifact
        | Kind::UnknownUpload
        | Kind::UnknownDownload
        | Kind::UnknownProvider
        | Kind::NotInTrash
        | Kind::NotAWorkspace
        | Kind::Untrusted
        | Kind::NotFound => StatusCode::NOT_FOUND,
        Kind::NotReady
        | Kind::VersionConflict
        | Kind::MergeConflict
        | Kind::Duplicate
        | Kind::InTrash
        | Kind::Refused
        | Kind::SecretDetected
        | Kind::AlreadyDecided
        | Kind::LockTimeout
        | Kind::WorkspaceFileInvalid => StatusCode::CONFLICT,
        Kind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Kind::Busy => StatusCode::TOO_MANY_REQUESTS,
        Kind::HashMismatch => checksum_mismatch(),
        Kind::QuotaExceeded => StatusCode::INSUFFICIENT_STORAGE,
        Kind::ProviderFailed => StatusCode::BAD_GATEWAY,
        Kind::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
        Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Returns the status that the tus protocol defines for a checksum mismatch.
fn checksum_mismatch() -> StatusCode {
    StatusCode::from_u16(460).unwrap_or(StatusCode::BAD_REQUEST)
}
