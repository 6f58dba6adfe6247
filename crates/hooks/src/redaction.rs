//! Redacts messages of hooks that users may not read. The original texts go to the log only.

use std::collections::BTreeMap;

use crate::{Contribution, Diagnostic, HookError};

/// Replaces a diagnostic that users may not read.
pub const REDACTED_DIAGNOSTIC: &str = "a hook reported a diagnostic; its text is in the log";

/// Replaces an error message that users may not read.
pub const REDACTED_ERROR: &str = "a hook failed; the reason is in the log";

/// Character limit of a message; longer messages are truncated.
const MAX_MESSAGE_CHARS: usize = 512;

/// Redacts a diagnostic and removes its metadata.
pub(crate) fn diagnostic(diagnostic: Diagnostic) -> Diagnostic {
    Diagnostic {
        message: message(
            diagnostic.message,
            diagnostic.safe_for_user,
            REDACTED_DIAGNOSTIC,
        ),
        metadata: BTreeMap::new(),
        ..diagnostic
    }
}

/// Redacts an error.
pub(crate) fn error(error: HookError) -> HookError {
    HookError {
        message: message(error.message, error.safe_for_user, REDACTED_ERROR),
        ..error
    }
}

/// Redacts a contribution. Only manifest diagnostics carry messages.
pub(crate) fn contribution(contribution: Contribution) -> Contribution {
    if let Contribution::PromptManifestDiagnostic {
        code,
        message: text,
        severity,
        safe_for_user,
    } = contribution
    {
        Contribution::PromptManifestDiagnostic {
            code,
            message: message(text, safe_for_user, REDACTED_DIAGNOSTIC),
            severity,
            safe_for_user,
        }
    } else {
        contribution
    }
}

fn message(text: String, safe_for_user: bool, redacted: &str) -> String {
    if !safe_for_user {
        return redacted.to_owned();
    }
    if text.chars().nth(MAX_MESSAGE_CHARS).is_none() {
        return text;
    }
    text.chars()
        .take(MAX_MESSAGE_CHARS - 3)
        .chain("...".chars())
        .collect()
}
