//! The idempotency key, which identifies runs that do the same work.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use crate::{Contribution, HookContext, Phase, Subscription};

/// Returns `sha256:` followed by the hash of the run's inputs. Time and attempt number are not included.
pub(crate) fn key(
    phase: Phase,
    subscription: &Subscription,
    context: &HookContext,
    earlier: &[Contribution],
) -> String {
    // Contributions and actors consist of strings, numbers, lists and maps with string keys, so serialisation cannot
    // fail.
    let payload = serde_json::to_string(earlier).unwrap_or_default();
    let actor = context
        .actor
        .as_ref()
        .and_then(|actor| serde_json::to_string(actor).ok());
    let segments = [
        ("phase", Some(phase.as_str())),
        ("input_kind", Some("earlier_contributions")),
        ("input_payload", Some(payload.as_str())),
        ("subscription", Some(subscription.subscription_id.as_str())),
        ("hook", Some(subscription.hook_id.as_str())),
        ("workspace", context.workspace_id.as_deref()),
        ("thread", context.thread_id.as_deref()),
        ("turn", context.turn_id.as_deref()),
        ("task", context.task_id.as_deref()),
        ("agent", context.agent_id.as_deref()),
        ("mode", context.mode.as_deref()),
        ("actor", actor.as_deref()),
    ];
    let mut hash = Sha256::new();
    // UTF-8 never contains 0xFF, so adjacent segments are unambiguous. Absent values have no segment.
    for (label, value) in segments {
        if let Some(value) = value {
            hash.update(label);
            hash.update([0x00]);
            hash.update(value);
            hash.update([0xFF]);
        }
    }
    format!("sha256:{}", HEXLOWER.encode(&hash.finalize()))
}
