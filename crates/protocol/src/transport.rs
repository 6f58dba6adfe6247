//! `transport/*`: notifications about the connection itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::methods! {
    Tree family "transport";

    notifications {
        /// The gateway ignored a binary frame because it does not know its type.
        "transport/frame_rejected" = TransportFrameRejectedNotification;
    }
}

/// Payload of `transport/frame_rejected`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransportFrameRejectedNotification {
    /// The reason as a stable snake_case name; always `unknown_magic`.
    pub kind: String,
    /// The size of the frame in bytes.
    pub size_bytes: u64,
    /// The first four bytes of the frame as text. Absent if the frame is shorter or one of them is not a printable
    /// ASCII character.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub magic: Option<String>,
}
