//! Protocol of `codex app-server`: JSON-RPC in both directions, without the `jsonrpc` member. [`Conversation`] is a
//! state machine that returns the messages to send and records those received; it does no I/O.

use serde_json::{Value, json};

use super::{ErrorClass, Outcome};
use crate::usage::{Cycle, TokenCounts, whole};

/// Parameters of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnRequest {
    /// Working directory.
    pub cwd: String,
    /// The prompt.
    pub prompt: String,
    /// Model to request; absent for the server's default.
    pub model: Option<String>,
    /// `read-only` or `workspace-write`.
    pub sandbox: &'static str,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// The turn succeeded.
    Completed,
    /// The turn was stopped by `turn/interrupt`.
    Interrupted,
    /// The turn failed.
    Failed,
}

impl Completion {
    /// Name of the completion in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }
}

/// Effects of a received message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reaction {
    /// Messages to send to the server.
    pub send: Vec<Value>,
    /// Usage, if it changed.
    pub usage: Option<TokenCounts>,
    /// Detected context compactions.
    pub cycles: Vec<Cycle>,
    /// Whether the message assigned the thread id or the turn id.
    pub named: bool,
}

/// One turn on a thread created for it.
#[derive(Clone, Debug)]
pub struct Conversation {
    request: TurnRequest,
    next_id: u64,
    /// Id and step of the request that awaits its response.
    awaited: Option<(u64, Step)>,
    /// Thread id, once `thread/start` returned.
    pub thread_id: Option<String>,
    /// Turn id, once `turn/start` returned.
    pub turn_id: Option<String>,
    /// How the turn ended; absent while it runs.
    pub completion: Option<Completion>,
    /// Error message of the turn or of the last `error` notification.
    pub completion_error: Option<String>,
    outcome: Outcome,
    /// Text of an agent message that is not completed yet.
    delta: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Initialize,
    StartThread,
    StartTurn,
}

impl Conversation {
    /// Starts a conversation and returns the first message to send.
    pub fn begin(request: TurnRequest) -> (Self, Value) {
        let mut conversation = Self {
            request,
            next_id: 1,
            awaited: None,
            thread_id: None,
            turn_id: None,
            completion: None,
            completion_error: None,
            outcome: Outcome::default(),
            delta: String::new(),
        };
        let params = json!({
            "clientInfo": {"name": "accord", "title": null, "version": env!("CARGO_PKG_VERSION")},
            "capabilities": null,
        });
        let first = conversation.request(Step::Initialize, "initialize", &params);
        (conversation, first)
    }

    /// Whether a request awaits its response.
    pub fn is_waiting(&self) -> bool {
        self.awaited.is_some()
    }

    /// Handles a line printed by the server. Lines that are not JSON objects are ignored.
    pub fn line(&mut self, line: &str) -> Reaction {
        match serde_json::from_str::<Value>(line) {
            Ok(message) if message.is_object() => self.message(&message),
            Ok(_) | Err(_) => Reaction::default(),
        }
    }

    /// Returns the message that interrupts the turn; `None` before the turn has an id.
    pub fn interrupt(&mut self) -> Option<Value> {
        let params =
            json!({"threadId": self.thread_id.as_ref()?, "turnId": self.turn_id.as_ref()?});
        let id = self.next_id;
        self.next_id += 1;
        Some(json!({"id": id, "method": "turn/interrupt", "params": params}))
    }

    /// Returns the outcome of the turn.
    pub fn finish(mut self) -> Outcome {
        if self.outcome.text.is_none() && !self.delta.is_empty() {
            self.outcome.text = Some(std::mem::take(&mut self.delta));
        }
        self.outcome
    }

    fn request(&mut self, step: Step, method: &str, params: &Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.awaited = Some((id, step));
        json!({"id": id, "method": method, "params": params})
    }

    fn message(&mut self, message: &Value) -> Reaction {
        let id = message.get("id").filter(|id| !id.is_null());
        match (id, message["method"].as_str()) {
            (Some(id), None) => self.answer(id, message),
            (Some(id), Some(method)) => Reaction {
                send: vec![json!({
                    "id": id,
                    "error": {"code": -32601, "message": format!("method `{method}` is not supported by this client")},
                })],
                ..Reaction::default()
            },
            (None, Some(method)) => self.notification(method, &message["params"]),
            (None, None) => Reaction::default(),
        }
    }

    fn answer(&mut self, id: &Value, message: &Value) -> Reaction {
        let Some((awaited, step)) = self.awaited else {
            return Reaction::default();
        };
        if id.as_u64() != Some(awaited) {
            return Reaction::default();
        }
        self.awaited = None;
        if let Some(error) = message.get("error") {
            let text = error["message"]
                .as_str()
                .unwrap_or("the request was refused");
            self.end(Completion::Failed, Some(text), &error["data"]);
            return Reaction::default();
        }
        let result = &message["result"];
        let mut reaction = Reaction::default();
        match step {
            Step::Initialize => {
                let params = json!({
                    "model": self.request.model,
                    "cwd": self.request.cwd,
                    "approvalPolicy": "never",
                    "sandbox": self.request.sandbox,
                });
                let start = self.request(Step::StartThread, "thread/start", &params);
                reaction.send = vec![json!({"method": "initialized"}), start];
            }
            Step::StartThread => {
                let Some(thread) = result["thread"]["id"].as_str() else {
                    self.end(
                        Completion::Failed,
                        Some("`thread/start` returned no thread id"),
                        &Value::Null,
                    );
                    return reaction;
                };
                self.thread_id = Some(thread.to_owned());
                self.outcome.session_id = Some(thread.to_owned());
                let mut params = json!({
                    "threadId": thread,
                    "input": [{"type": "text", "text": self.request.prompt, "text_elements": []}],
                });
                if let Some(model) = &self.request.model {
                    params["model"] = model.as_str().into();
                }
                reaction.named = true;
                reaction.send = vec![self.request(Step::StartTurn, "turn/start", &params)];
            }
            Step::StartTurn => {
                self.turn_id = result["turn"]["id"].as_str().map(ToOwned::to_owned);
                reaction.named = true;
            }
        }
        reaction
    }

    fn notification(&mut self, method: &str, params: &Value) -> Reaction {
        let mut reaction = Reaction::default();
        match method {
            "item/agentMessage/delta" => {
                self.delta
                    .push_str(params["delta"].as_str().unwrap_or_default());
            }
            "item/completed" if params["item"]["type"] == "agentMessage" => {
                self.outcome.text = params["item"]["text"].as_str().map(ToOwned::to_owned);
                self.delta.clear();
            }
            "thread/tokenUsage/updated" => {
                let counts = counts(&params["tokenUsage"]);
                if counts.is_some() && counts != self.outcome.usage {
                    self.outcome.usage.clone_from(&counts);
                    reaction.usage = counts;
                }
            }
            "error" => {
                let error = &params["error"];
                self.completion_error = error["message"].as_str().map(ToOwned::to_owned);
            }
            "turn/completed" => {
                let turn = &params["turn"];
                let completion = match turn["status"].as_str() {
                    Some("completed") => Completion::Completed,
                    Some("interrupted") => Completion::Interrupted,
                    _ => Completion::Failed,
                };
                let message = turn["error"]["message"].as_str();
                self.end(completion, message, &turn["error"]["codexErrorInfo"]);
            }
            _ if method.to_lowercase().contains("compact") => {
                reaction.cycles.push(Cycle {
                    count: 1,
                    signal_type: method.to_owned(),
                    source: "provider_notification",
                });
            }
            _ => {}
        }
        reaction
    }

    fn end(&mut self, completion: Completion, message: Option<&str>, info: &Value) {
        self.completion = Some(completion);
        match completion {
            Completion::Completed => self.completion_error = None,
            Completion::Interrupted => {
                self.completion_error = message.map(ToOwned::to_owned);
            }
            Completion::Failed => {
                let message = message
                    .map(ToOwned::to_owned)
                    .or(self.completion_error.take());
                let message = message.unwrap_or_else(|| "the turn failed".to_owned());
                let status = info.as_object().and_then(|info| {
                    info.values()
                        .find_map(|inner| inner["httpStatusCode"].as_u64())
                });
                let class = match info.as_str() {
                    Some("usageLimitExceeded") => ErrorClass::RateLimited,
                    Some("contextWindowExceeded") => ErrorClass::ContextExceeded,
                    Some(_) | None => status
                        .and_then(ErrorClass::of_status)
                        .unwrap_or_else(|| ErrorClass::of_text(&message)),
                };
                self.outcome.fail(message.clone(), class);
                self.completion_error = Some(message);
            }
        }
    }
}

/// Parses the sums over the thread. After the context is exhausted the server sends an update without input and output,
/// which yields no counts.
fn counts(usage: &Value) -> Option<TokenCounts> {
    let usage = ["total", "last"]
        .iter()
        .find_map(|name| usage.get(*name).filter(|inner| inner.is_object()))
        .unwrap_or(usage);
    let of = |name: &str| usage.get(name).and_then(whole);
    let (input, output) = (of("inputTokens"), of("outputTokens"));
    let sum = input.unwrap_or(0) + output.unwrap_or(0);
    if sum == 0 {
        return None;
    }
    Some(TokenCounts {
        input,
        cached: of("cachedInputTokens"),
        output,
        reasoning: of("reasoningOutputTokens"),
        total: of("totalTokens").unwrap_or(sum),
        captured_from: Some("thread/tokenUsage/updated".to_owned()),
        parts_included: true,
    })
}
