//! `events.*`: subscriptions to the events of runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::{ActorRole, Text, workspace::CompanyOkResponse};

crate::methods! {
    Company family "events";

    /// Subscribe to events as they are written, optionally preceded by the newest existing ones.
    Read EventsSubscribe = "events.subscribe" (EventsSubscribeParams in workspace_dir as actor_role) -> EventsSubscribeResponse;
    /// End a subscription.
    Read EventsUnsubscribe = "events.unsubscribe" (EventsUnsubscribeParams) -> EventsUnsubscribeResponse;
    /// Acknowledge events of a subscription with `max_unacked`, so that the gateway sends further ones.
    ///
    /// Without `last_event_id` and `last_ack_ts_monotonic_ms`, all events sent so far are acknowledged.
    Read EventsAck = "events.ack" (EventsAckParams) -> CompanyOkResponse;

    notifications {
        /// An event was written.
        "events.notification" = EventsNotification;
    }
}

/// Params of [`EventsSubscribe`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventsSubscribeParams {
    /// Id of the subscription. An existing subscription of the connection with this id is replaced. Default: the
    /// gateway generates one.
    #[serde(default)]
    pub subscription_id: Option<Text>,
    /// Send only events of this company folder. Required by `backfill_limit` and `after_event_id`.
    #[serde(default)]
    pub workspace_dir: Option<Text>,
    /// Send only events of this project.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// Send only events of this run.
    #[serde(default)]
    pub run_id: Option<Text>,
    /// Send only events of these types. Empty or absent: all types.
    #[serde(default)]
    pub event_types: Option<Vec<Text>>,
    /// Maximum number of the newest existing events to send first, oldest first. Ignored without `workspace_dir`.
    /// Default: no backfill, unless `after_event_id` is given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub backfill_limit: Option<u32>,
    /// Resume: send first the existing events after this one. Ignored without `workspace_dir`. If the event is not
    /// found, the whole backfill is sent.
    #[serde(default)]
    pub after_event_id: Option<Text>,
    /// Flow control: the gateway pauses while this many events are unacknowledged. Default: no limit.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub max_unacked: Option<u32>,
    /// Id of the person or agent that subscribes; events it may not read are omitted. Default: the caller's own id.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// Role of that actor, at most the role of the caller's token. Default: the role of the token.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`EventsSubscribe`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventsSubscribeResponse {
    /// Id of the subscription.
    pub subscription_id: String,
}

/// Params of [`EventsUnsubscribe`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventsUnsubscribeParams {
    /// Id of the subscription to end.
    pub subscription_id: Text,
}

/// Response of [`EventsUnsubscribe`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventsUnsubscribeResponse {
    /// Whether a subscription with this id existed.
    pub removed: bool,
}

/// Params of [`EventsAck`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventsAckParams {
    /// Id of the subscription.
    pub subscription_id: Text,
    /// Acknowledges the sent events whose `ts_monotonic_ms` is at most this, and no others. The value counts
    /// milliseconds from the start of the process that wrote the event, so use `last_event_id` where several processes
    /// write.
    #[serde(default)]
    pub last_ack_ts_monotonic_ms: Option<u64>,
    /// Acknowledges this event and all events sent before it. Takes precedence over `last_ack_ts_monotonic_ms`.
    #[serde(default)]
    pub last_event_id: Option<Text>,
}

/// Payload of `events.notification`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EventsNotification {
    /// Id of the subscription that receives the event.
    pub subscription_id: String,
    /// Id of the project of the event.
    pub project_id: Option<String>,
    /// The event as stored in `events.jsonl`.
    #[schemars(with = "Value")]
    pub event: Box<RawValue>,
    /// Position of the event among the lines of its log, starting at 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Path of the company folder as the subscription named it, else its root path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_dir: Option<String>,
}
