//! `desktop_session/*`: the browsers that are signed in to the web desktop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::DesktopSessionId;

crate::methods! {
    Tree family "desktop_session";

    /// List the browsers that are signed in to the web desktop, the one used last first. For the owner alone.
    Read DesktopSessionList = "desktop_session/list" (DesktopSessionListParams only Human) -> DesktopSessionListResponse;
    /// Sign a browser out; its connections are closed. For the owner alone.
    Write DesktopSessionEnd = "desktop_session/end" (DesktopSessionEndParams only Human) -> DesktopSessionEndResponse;
}

/// A browser that is signed in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopSession {
    /// Its id.
    pub id: DesktopSessionId,
    /// What the browser said it is when it signed in, its `User-Agent`; empty when it said nothing.
    pub user_agent: String,
    /// When it signed in, Unix seconds.
    pub created_at: i64,
    /// When it was last used, Unix seconds, to the hour.
    pub last_used_at: i64,
    /// When it ends unless it is used before, Unix seconds: 30 days after the last use, 90 days after signing in at most.
    pub expires_at: i64,
    /// Whether the caller is this browser.
    pub is_current: bool,
}

/// Params of [`DesktopSessionList`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopSessionListParams {}

/// Response of [`DesktopSessionList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopSessionListResponse {
    /// The sessions that have not ended.
    pub items: Vec<DesktopSession>,
}

/// Params of [`DesktopSessionEnd`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopSessionEndParams {
    /// The session.
    pub session_id: DesktopSessionId,
}

/// Response of [`DesktopSessionEnd`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopSessionEndResponse {
    /// Whether there was such a session to end.
    pub ended: bool,
}
