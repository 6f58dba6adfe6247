//! `events.*`: hear of events as they are written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::{ActorRole, Text, workspace::CompanyOkResponse};

crate::methods! {
    Company family "events";

    /// Hear of events from now on, and of the newest ones before, if wanted.
    Read EventsSubscribe = "events.subscribe" (EventsSubscribeParams in workspace_dir as actor_role) -> EventsSubscribeResponse;
    /// Hear of them no longer.
    Read EventsUnsubscribe = "events.unsubscribe" (EventsUnsubscribeParams) -> EventsUnsubscribeResponse;
    /// Acknowledge events of a subscription with `max_unacked`, so that further ones are sent. Without
    /// `last_event_id` and `last_ack_ts_monotonic_ms`, all events sent so far are acknowledged.
    Read EventsAck = "events.ack" (EventsAckParams) -> CompanyOkResponse;

    notifications {
        /// An event was written.
        "events.notification" = EventsNotification;
    }
}

/// Params of [`EventsSubscribe`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventsSubscribeParams {
    /// The name of the subscription; one is made if none is given. A subscription of this name is replaced.
    #[serde(default)]
    pub subscription_id: Option<Text>,
    /// Only events of this company folder.
    #[serde(default)]
    pub workspace_dir: Option<Text>,
    /// Only events of this project.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// Only events of this run.
    #[serde(default)]
    pub run_id: Option<Text>,
    /// Only events of these types; none means all.
    #[serde(default)]
    pub event_types: Option<Vec<Text>>,
    /// How many of the newest events come first. Needs `workspace_dir`.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub backfill_limit: Option<u32>,
    /// Only events after this one come first. Needs `workspace_dir` and `run_id`.
    #[serde(default)]
    pub after_event_id: Option<Text>,
    /// Stop sending while this many events are not acknowledged.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub max_unacked: Option<u32>,
    /// Who listens: events they may not see are left out.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// What they are.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// Their team.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`EventsSubscribe`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventsSubscribeResponse {
    /// The name of the subscription.
    pub subscription_id: String,
}

/// Params of [`EventsUnsubscribe`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventsUnsubscribeParams {
    /// The subscription.
    pub subscription_id: Text,
}

/// Response of [`EventsUnsubscribe`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventsUnsubscribeResponse {
    /// Whether there was one.
    pub removed: bool,
}

/// Params of [`EventsAck`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventsAckParams {
    /// The subscription.
    pub subscription_id: Text,
    /// Acknowledges the sent events whose `ts_monotonic_ms` is at most this, and no others. That time counts from the
    /// start of the process that wrote the event, so `last_event_id` is the exact way where several processes write.
    #[serde(default)]
    pub last_ack_ts_monotonic_ms: Option<u64>,
    /// Acknowledges this event and all that were sent before it; decides alone when both are given.
    #[serde(default)]
    pub last_event_id: Option<Text>,
}

/// Payload of `events.notification`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EventsNotification {
    /// The subscription it is for.
    pub subscription_id: String,
    /// The project.
    pub project_id: Option<String>,
    /// The event as it is in the file.
    #[schemars(with = "Value")]
    pub event: Box<RawValue>,
    /// Its line in the file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The company folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_dir: Option<String>,
}
