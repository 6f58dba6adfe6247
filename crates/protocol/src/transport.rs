//! `transport/*`: what the connection itself has to say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::methods! {
    Tree family "transport";

    notifications {
        /// A binary frame was not understood and was ignored.
        "transport/frame_rejected" = TransportFrameRejectedNotification;
    }
}

/// Payload of `transport/frame_rejected`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransportFrameRejectedNotification {
    /// Why, in stable snake_case: `unknown_magic`.
    pub kind: String,
    /// The length of the frame in bytes.
    pub size_bytes: u64,
    /// The first four bytes as text, when they are printable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub magic: Option<String>,
}
