//! `ac ask`: asks a model in a thread.

use clap::Args;
use gateway::Sources;
use protocol::{
    ThreadId, TurnId,
    thread::{ThreadGet, ThreadGetParams, ThreadStart, ThreadStartParams},
    turn::*,
};
use rpc::client::Incoming;
use serde_json::{Value, json};

use super::HomeOption;
use crate::{failure::Failure, local::Local, terminal};

/// Ask a model, with the AGENTS.md of the thread's folder in the prompt.
#[derive(Args, Debug)]
pub(crate) struct AskCommand {
    #[command(flatten)]
    home: HomeOption,
    /// Workspace [default: that of the current company folder, else the default workspace]
    #[arg(long, value_name = "ID")]
    workspace: Option<String>,
    /// Thread to continue [default: a new thread]
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// Provider, as listed by `ac provider/list`.
    #[arg(long)]
    provider: Option<String>,
    /// Model of the provider.
    #[arg(long)]
    model: Option<String>,
    /// Print the turn as JSON when it ends, instead of streaming the answer.
    #[arg(long)]
    json: bool,
    /// The question.
    #[arg(required = true)]
    words: Vec<String>,
}

impl AskCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        use protocol::Id as _;
        if self.words.iter().all(|word| word.trim().is_empty()) {
            return Err(Failure::Argument {
                detail: "the question is empty: expected words, as in `ac ask What is left to do?`"
                    .to_owned(),
            });
        }
        let thread_id: ThreadId = match &self.thread {
            Some(named) => ThreadId::parse(named)?,
            None => Sources::system().id(),
        };
        let turn_id: TurnId = Sources::system().id();
        let home = self.home.clone();
        let is_new = self.thread.is_none();
        Local::with(&home, |local| async move {
            if !is_new {
                let known = ThreadGetParams {
                    thread_id: thread_id.clone(),
                };
                local.client.call::<ThreadGet>(known).await?;
            }
            let start = ThreadStartParams {
                workspace_id: local.workspace(self.workspace.as_deref()).await?,
                thread_id: thread_id.clone(),
                name: None,
                model: self.model.clone(),
                model_provider: self.provider.clone(),
                sandbox: None,
                mode: None,
                origin_kind: None,
                sidebar_visibility: None,
                agent_nickname: None,
                agent_role: None,
            };
            local.client.call::<ThreadStart>(start).await?;
            let text = UserInput::Text {
                text: self.words.join(" "),
                text_elements: Vec::new(),
            };
            let turn = TurnStartParams {
                thread_id: thread_id.clone(),
                turn_id: turn_id.clone(),
                input: vec![text],
                model: self.model,
                model_provider: self.provider,
                sandbox_policy: None,
                mode: None,
                remember: None,
            };
            local.client.call::<TurnStart>(turn).await?;
            let turn = listen(&local, turn_id.as_str(), self.json).await?;
            if self.json {
                return terminal::answer(&json!({"thread_id": thread_id, "turn": turn}), true);
            }
            terminal::print("")?;
            if is_new {
                terminal::complain(&format!("continue with: ac ask --thread {thread_id} …"));
            }
            Ok(())
        })
        .await
    }
}

/// Waits for the end of the turn and returns it. Streams the answer to standard output unless `quiet`.
async fn listen(local: &Local, turn: &str, quiet: bool) -> Result<Value, Failure> {
    while let Some(Incoming { method, params, .. }) = local.client.notification().await {
        match method.as_str() {
            "item/agent_message/delta" if params["turn_id"] == turn && !quiet => {
                terminal::print_piece(params["delta"].as_str().unwrap_or_default())?;
            }
            "turn/completed" if params["turn"]["id"] == turn => {
                return Ok(params["turn"].clone());
            }
            "turn/failed" if params["turn"]["id"] == turn => {
                let reason = params["turn"]["error"]
                    .as_str()
                    .unwrap_or("the turn failed");
                return Err(Failure::Unsound {
                    detail: terminal::harmless(&terminal::reworded(reason)),
                });
            }
            _ => {}
        }
    }
    Err(Failure::Call(rpc::client::Error::Closed))
}
