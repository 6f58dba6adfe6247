//! What of a hook's words may leave the runtime. The rest goes to the log.

use std::collections::BTreeMap;

use crate::{Contribution, Diagnostic, HookError};

/// Stands in for a remark that is not for users.
pub const REDACTED_DIAGNOSTIC: &str = "a hook left a remark; its text is in the log";

/// Stands in for the message of a failure that is not for users.
pub const REDACTED_ERROR: &str = "a hook failed; the reason is in the log";

/// The most characters of a message.
const MAX_MESSAGE_CHARS: usize = 512;

/// The remark as others may see it.
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

/// The failure as others may see it.
pub(crate) fn error(error: HookError) -> HookError {
    HookError {
        message: message(error.message, error.safe_for_user, REDACTED_ERROR),
        ..error
    }
}

/// The contribution as others may see it: a remark for the manifest is a remark like any other.
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
