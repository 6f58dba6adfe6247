//! Parsing of request envelopes and formatting of responses and notifications, shared by all transports and both
//! families.

use std::fmt;

use protocol::{Dialect, Notification};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Value, json, value::RawValue};

use crate::{Failure, Text};

/// A request with a valid envelope; `params` are not decoded yet.
#[derive(Debug)]
pub struct Request {
    /// The id exactly as the client wrote it; the response repeats it verbatim.
    pub(crate) id: Box<RawValue>,
    pub(crate) method: String,
    /// Absent if the request has no params or `null` params.
    pub(crate) params: Option<Box<RawValue>>,
}

/// The envelope rules that differ between transports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rules {
    /// One JSON object per line: a message without `id` is a notification and is ignored, and an empty method is an
    /// invalid request.
    Stdio,
    /// WebSocket frames: a message without `id` is rejected, and an empty method is an unknown method.
    Socket,
}

/// The result of parsing a message.
#[derive(Debug)]
pub(crate) enum ParsedMessage {
    Request(Request),
    /// A client notification. The gateway defines none, and stdio clients expect no response.
    Ignored,
    /// Not a valid request. Contains the error response to send.
    Refused(Text),
}

pub(crate) fn parse(text: &str, rules: Rules) -> ParsedMessage {
    let Ok(members) = serde_json::from_str::<EnvelopeMembers<'_>>(text) else {
        return refused(None, &Failure::parse());
    };
    let id = match members.id.map(checked_id).transpose() {
        Ok(id) => id,
        Err(detail) => return refused(None, &Failure::envelope(detail)),
    };
    let method = match members.check() {
        Ok(method) => method,
        Err(detail) => return refused(id, &Failure::envelope(detail)),
    };
    if method.is_empty() && rules == Rules::Stdio {
        return refused(id, &Failure::envelope("`method` is empty"));
    }
    match (id, rules) {
        (Some(id), _) => ParsedMessage::Request(Request {
            id: id.to_owned(),
            method,
            params: members
                .params
                .filter(|params| params.get() != "null")
                .map(ToOwned::to_owned),
        }),
        (None, Rules::Stdio) => ParsedMessage::Ignored,
        (None, Rules::Socket) => refused(
            None,
            &Failure::envelope("`id` is missing, and this gateway has no client notifications"),
        ),
    }
}

fn refused(id: Option<&RawValue>, failure: &Failure) -> ParsedMessage {
    let id = id.map_or("null", RawValue::get);
    // Without a method the family is unknown; clients of both families understand `data.kind`.
    let error = failure.to_json("", Dialect::Tree);
    ParsedMessage::Refused(answer(id, "error", &error.to_string()))
}

/// Accepts a string of at most 256 characters, a number or `null` as request id.
fn checked_id(id: &RawValue) -> Result<&RawValue, &'static str> {
    const LONGEST: usize = 256;
    match id.get().as_bytes().first() {
        Some(b'"') => match serde_json::from_str::<String>(id.get()) {
            Ok(text) if text.chars().count() <= LONGEST => Ok(id),
            Ok(_) => Err("`id` is longer than 256 characters"),
            Err(_) => Err("`id` is not a valid string"),
        },
        Some(b'0'..=b'9' | b'-' | b'n') => Ok(id),
        _ => Err("`id` is neither a string nor a number"),
    }
}

/// The members of a request object as raw JSON. For a repeated member the last one wins.
#[derive(Default)]
struct EnvelopeMembers<'a> {
    is_object: bool,
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
}

impl EnvelopeMembers<'_> {
    /// Returns the method if every member except `id` is valid, or else the reason.
    fn check(&self) -> Result<String, &'static str> {
        if !self.is_object {
            return Err("expected one object; batches are not supported");
        }
        let version = self
            .jsonrpc
            .map(|raw| serde_json::from_str::<String>(raw.get()));
        if !matches!(version, Some(Ok(version)) if version == "2.0") {
            return Err("`jsonrpc` is not \"2.0\"");
        }
        let method = self.method.ok_or("`method` is missing")?;
        serde_json::from_str(method.get()).map_err(|_| "`method` is not a string")
    }
}

impl<'de> Deserialize<'de> for EnvelopeMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MembersVisitor)
    }
}

/// Accepts any JSON value, so that only text that is not JSON is a parse error.
struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = EnvelopeMembers<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = EnvelopeMembers {
            is_object: true,
            ..EnvelopeMembers::default()
        };
        while let Some(key) = map.next_key::<String>()? {
            let slot = match key.as_str() {
                "jsonrpc" => &mut members.jsonrpc,
                "id" => &mut members.id,
                "method" => &mut members.method,
                "params" => &mut members.params,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *slot = Some(map.next_value()?);
        }
        Ok(members)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(EnvelopeMembers::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(EnvelopeMembers::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(EnvelopeMembers::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(EnvelopeMembers::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(EnvelopeMembers::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(EnvelopeMembers::default())
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(EnvelopeMembers::default())
    }
}

/// Formats a response whose `result` or `error` is already JSON.
pub(crate) fn answer(id: &str, member: &str, json: &str) -> Text {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"{member}":{json}}}"#).into()
}

/// Formats a notification without a sequence number, for a single connection.
pub fn notification<N: Notification>(payload: &N) -> Text {
    json!({"jsonrpc": "2.0", "method": N::NAME, "params": payload})
        .to_string()
        .into()
}

/// Formats a notification whose params are already JSON, with its sequence number in the workspace.
pub(crate) fn numbered_notification(name: &str, params: &str, seq: u64) -> Text {
    let name = Value::from(name);
    format!(r#"{{"jsonrpc":"2.0","method":{name},"params":{params},"seq":{seq}}}"#).into()
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn shown(text: &str, rules: Rules) -> String {
        match parse(text, rules) {
            ParsedMessage::Request(request) => format!(
                "request {} {:?} {}",
                request.id,
                request.method,
                request.params.as_deref().map_or("-", RawValue::get)
            ),
            ParsedMessage::Ignored => "ignored".into(),
            ParsedMessage::Refused(answer) => answer.to_string(),
        }
    }

    #[test]
    fn what_is_a_request() {
        let table = [
            r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"m","params":{"a":[1]}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"m","params":null}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"no","method":"yes","x":[[]]}"#,
            r#"{"jsonrpc":"2.0","id":1.50,"method":"n\u002em"}"#,
        ];
        let transcript: Vec<_> = table
            .iter()
            .map(|text| shown(text, Rules::Socket))
            .collect();
        assert_snapshot!(transcript.join("\n"), @r#"
        request 9007199254740993 "m" {"a":[1]}
        request null "m" -
        request 1 "yes" -
        request 1.50 "n.m" -
        "#);
    }

    #[test]
    fn what_is_refused() {
        let table = [
            "hello",
            "",
            r#"{"jsonrpc":"2.0",}"#,
            "[]",
            "42",
            "null",
            r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#,
            r#"{"jsonrpc":"1.0","id":7,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":"x"}"#,
            r#"{"jsonrpc":"2.0","id":"x","method":5}"#,
            r#"{"jsonrpc":"2.0","method":"m"}"#,
        ];
        let transcript: Vec<_> = table
            .iter()
            .map(|text| shown(text, Rules::Socket))
            .collect();
        assert_snapshot!(transcript.join("\n"), @r#"
        {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"data":{"kind":"parse_error"},"message":"Parse error: expected one JSON object"}}
        {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"data":{"kind":"parse_error"},"message":"Parse error: expected one JSON object"}}
        {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"data":{"kind":"parse_error"},"message":"Parse error: expected one JSON object"}}
        {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"data":{"kind":"invalid_request"},"message":"Invalid Request: expected one object; batches are not supported"}}
        {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"data":{"kind":"invalid_request"},"message":"Invalid Request: expected one object; batches are not supported"}}
        {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"data":{"kind":"invalid_request"},"message":"Invalid Request: expected one object; batches are not supported"}}
        {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"data":{"kind":"invalid_request"},"message":"Invalid Request: `id` is neither a string nor a number"}}
        {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"data":{"kind":"invalid_request"},"message":"Invalid Request: `id` is neither a string nor a number"}}
        {"jsonrpc":"2.0","id":7,"error":{"code":-32600,"data":{"kind":"invalid_request"},"message":"Invalid Request: `jsonrpc` is not \"2.0\""}}
        {"jsonrpc":"2.0","id":"x","error":{"code":-32600,"data":{"kind":"invalid_request"},"message":"Invalid Request: `method` is missing"}}
        {"jsonrpc":"2.0","id":"x","error":{"code":-32600,"data":{"kind":"invalid_request"},"message":"Invalid Request: `method` is not a string"}}
        {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"data":{"kind":"invalid_request"},"message":"Invalid Request: `id` is missing, and this gateway has no client notifications"}}
        "#);
    }

    #[test]
    fn stdio_ignores_notifications_and_refuses_an_empty_method() {
        assert_eq!(
            shown(r#"{"jsonrpc":"2.0","method":"m"}"#, Rules::Stdio),
            "ignored"
        );
        assert!(shown(r#"{"jsonrpc":"2.0","id":1,"method":""}"#, Rules::Stdio).contains("-32600"));
        assert_eq!(
            shown(r#"{"jsonrpc":"2.0","id":1,"method":""}"#, Rules::Socket),
            "request 1 \"\" -"
        );
    }

    #[test]
    fn nesting_without_end_is_no_stack_overflow() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{}{}}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert!(shown(&deep, Rules::Socket).starts_with("request 1"));
        assert!(shown(&"[".repeat(100_000), Rules::Socket).contains("-32700"));
    }
}
