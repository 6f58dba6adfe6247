//! `desktop_session/*`: the browsers that are signed in to the web desktop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::DesktopSessionId;

crate::methods! {
    Tree family "desktop_session";

    /// List the browsers that are signed in to the web desktop, most recently used first. Owner only.
    Read DesktopSessionList = "desktop_session/list" (DesktopSessionListParams only Human) -> DesktopSessionListResponse;
    /// Sign a browser out and close its connections. Owner only.
    Write DesktopSessionEnd = "desktop_session/end" (DesktopSessionEndParams only Human) -> DesktopSessionEndResponse;
}

/// A browser that is signed in to the web desktop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopSession {
    /// The id of the desktop session.
    pub id: DesktopSessionId,
    /// The `User-Agent` header that the browser sent when it signed in, at most 256 characters; empty if it sent none.
    pub user_agent: String,
    /// The time of sign-in in Unix seconds.
    pub created_at: i64,
    /// The time of last use in Unix seconds; updated at most once per hour.
    pub last_used_at: i64,
    /// The time in Unix seconds at which the session expires: 30 days after the last use, but at most 90 days after
    /// sign-in.
    pub expires_at: i64,
    /// Whether the request was sent by this browser.
    pub is_current: bool,
}

/// Params of [`DesktopSessionList`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopSessionListParams {}

/// Response of [`DesktopSessionList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopSessionListResponse {
    /// The sessions that have not expired, most recently used first.
    pub items: Vec<DesktopSession>,
}

/// Params of [`DesktopSessionEnd`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopSessionEndParams {
    /// The id of the desktop session to end.
    pub session_id: DesktopSessionId,
}

/// Response of [`DesktopSessionEnd`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopSessionEndResponse {
    /// Whether the session existed.
    pub ended: bool,
}
