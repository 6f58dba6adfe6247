//! Converts RPC failures to HTTP responses.

use axum::response::Response;
use hyper::StatusCode;
use rpc::{Failure, FailureKind};

use super::text;

/// Returns the message of a failure with the matching HTTP status.
#[expect(
    clippy::needless_pass_by_value,
    reason = "its callers hand it to `map_err`"
)]
pub(super) fn refuse(failure: Failure) -> Response {
    text(status(failure.kind()), format!("{}\n", failure.message()))
}

fn status(kind: FailureKind) -> StatusCode {
    match kind {
        FailureKind::ParseError
        | FailureKind::InvalidRequest
        | FailureKind::InvalidParams
        | FailureKind::Cycle
        | FailureKind::MissingProjectId
        | FailureKind::MissingConversationId
        | FailureKind::InvalidPath => StatusCode::BAD_REQUEST,
        FailureKind::Forbidden
        | FailureKind::PolicyDenied
        | FailureKind::ActorMismatch
        | FailureKind::BudgetExceeded
        | FailureKind::SubscriptionUnverified => StatusCode::FORBIDDEN,
        FailureKind::MethodNotFound
        | FailureKind::UnknownWorkspace
        | FailureKind::UnknownFolder
        | FailureKind::UnknownThread
        | FailureKind::UnknownTurn
        | FailureKind::UnknownAgentsDoc
        | FailureKind::UnknownRevision
        | FailureKind::UnknownProposal
        | FailureKind::UnknownArtifact
        | FailureKind::UnknownUpload
        | FailureKind::UnknownDownload
        | FailureKind::UnknownProvider
        | FailureKind::NotInTrash
        | FailureKind::NotAWorkspace
        | FailureKind::Untrusted
        | FailureKind::NotFound => StatusCode::NOT_FOUND,
        FailureKind::NotReady
        | FailureKind::VersionConflict
        | FailureKind::MergeConflict
        | FailureKind::Duplicate
        | FailureKind::InTrash
        | FailureKind::Refused
        | FailureKind::SecretDetected
        | FailureKind::AlreadyDecided
        | FailureKind::LockTimeout
        | FailureKind::WorkspaceFileInvalid => StatusCode::CONFLICT,
        FailureKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        FailureKind::Busy => StatusCode::TOO_MANY_REQUESTS,
        FailureKind::HashMismatch => checksum_mismatch(),
        FailureKind::QuotaExceeded => StatusCode::INSUFFICIENT_STORAGE,
        FailureKind::ProviderFailed => StatusCode::BAD_GATEWAY,
        FailureKind::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
        FailureKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Returns the status that the tus protocol defines for a checksum mismatch.
fn checksum_mismatch() -> StatusCode {
    StatusCode::from_u16(460).unwrap_or(StatusCode::BAD_REQUEST)
}
