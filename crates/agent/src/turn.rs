//! Runs one turn from start to end: hooks, prompt, model call and response.

use std::sync::Arc;

use crud::{FinishTurn, NewTurnEvent};
use futures_util::StreamExt as _;
use hooks::{Actor, Contributed, Contribution, Diagnostic, HookContext, Phase, PhaseError};
use prompt::{CompiledPrompt, PromptInput, PromptReader};
use protocol::turn::{
    ItemAgentMessageDeltaNotification, ItemCompletedNotification, ItemStartedNotification,
    PromptAttachment, PromptProfile, Turn, TurnEventPayload, TurnItem, TurnStatus, TurnUsage,
};

use crate::{
    Agent, Error, TurnNotice, TurnRun,
    agent::{event, wire},
    attachment::{Attachments, GeneratedImage, UnreadableAttachment},
    conversation,
    provider::{Image, Message, ModelEvent, ModelRequest, ProviderError, Usage},
    running::PartialAnswer,
};

/// How a turn ended, before the result is stored.
enum TurnOutcome {
    Completed { usage: Option<Usage> },
    Failed { error: String },
    Interrupted { reason: String },
}

/// Why a turn failed. The text is stored with the turn and sent to clients.
#[derive(Debug, thiserror::Error)]
enum TurnError {
    #[error("{0}")]
    Hook(#[from] PhaseError),
    #[error("{0}")]
    Provider(#[from] ProviderError),
    #[error("there is no provider `{0}`")]
    UnknownProvider(String),
    #[error("{0}")]
    Attachment(#[from] UnreadableAttachment),
    /// Storage failed. The text of the database goes to the log only.
    #[error("the turn could not be stored")]
    Agent(#[from] Error),
}

impl Agent {
    pub(crate) async fn run_to_end(&self, run: TurnRun) {
        let running = Arc::clone(&run.running);
        let outcome = tokio::select! {
            biased;
            reason = running.cancellation() => TurnOutcome::Interrupted { reason },
            ended = self.attempt(&run) => match ended {
                Ok(usage) => TurnOutcome::Completed { usage },
                Err(error) => {
                    tracing::warn!(turn = %running.turn_id, %error, "a turn failed");
                    TurnOutcome::Failed { error: error.to_string() }
                }
            },
        };
        if let Err(error) = self.finish(&run, outcome).await {
            // The turn stays in progress in the database; the next start of the gateway marks it as interrupted.
            tracing::error!(turn = %running.turn_id, %error, "the result of a turn cannot be stored");
        }
        self.inner.running.remove(&running);
        self.post_turn(&run).await;
    }

    async fn attempt(&self, run: &TurnRun) -> Result<Option<Usage>, TurnError> {
        let running = &run.running;
        let turn = wire(run.row.clone())?;
        self.notify(TurnNotice::Started {
            workspace_id: running.workspace_id.clone(),
            thread_id: running.thread_id.clone(),
            turn,
        })
        .await;
        let user_item = TurnItem::UserMessage {
            id: format!("user_{}", running.turn_id),
            text: conversation::text(&run.input),
            attachments: run.attachments.clone(),
        };
        self.append(
            run,
            &[
                TurnEventPayload::ItemStarted {
                    item: user_item.clone(),
                },
                TurnEventPayload::ItemCompleted {
                    item: user_item.clone(),
                },
            ],
        )
        .await?;
        self.notify(TurnNotice::ItemStarted(
            self.started(run, user_item.clone()),
        ))
        .await;
        self.notify(TurnNotice::ItemCompleted(self.completed(run, user_item)))
            .await;

        let provider_id = run.row.model_provider.clone();
        let provider = (self.inner.options.providers)(provider_id.clone()).await;
        let image_types = provider.as_ref().map(|provider| provider.image_types());
        let (compiled, messages) = self.compile(run, image_types.unwrap_or_default()).await?;
        let provider = provider.ok_or(TurnError::UnknownProvider(provider_id))?;
        let request = ModelRequest {
            model: run.row.model.clone(),
            messages,
            system_stable: compiled.stable,
            system_dynamic: compiled.dynamic,
            max_output_tokens: None,
            may: run.may,
        };
        self.stream(run, provider.stream(request)).await
    }

    /// Returns the messages up to this turn, including attachments, and the record of the attached files.
    async fn conversation(
        &self,
        run: &TurnRun,
        compiled: &CompiledPrompt,
        image_types: &'static [&'static str],
    ) -> Result<(Vec<Message>, Vec<PromptAttachment>), TurnError> {
        let running = &run.running;
        let mut attachments = Attachments::new(
            Arc::clone(&self.inner.options.attachments),
            run.row.workspace_id.clone(),
            image_types,
        );
        let attached = attachments
            .render_current(&running.turn_id, &run.attachments)
            .await?;
        let words = conversation::text(&run.input);
        let taken =
            compiled.stable.len() + compiled.dynamic.len() + words.len() + attached.weight();
        let past = self
            .inner
            .store
            .turns()
            .conversation(
                running.thread_id.as_str(),
                run.row.ordinal,
                conversation::MAX_TURNS,
            )
            .await
            .map_err(Error::Store)?;
        let question = conversation::user_message(&words, attached);
        let messages = conversation::messages(&past, question, taken, &mut attachments).await;
        Ok((messages, attachments.into_record()))
    }

    /// Compiles the system prompt and the messages and stores the prompt manifest. If a required hook fails or an
    /// attached file cannot be read, the turn ends before any request is sent.
    async fn compile(
        &self,
        run: &TurnRun,
        image_types: &'static [&'static str],
    ) -> Result<(CompiledPrompt, Vec<Message>), TurnError> {
        let context = self.context(run);
        let (mut compiled, contributions) =
            self.compile_prompt(&context, PromptReader::Model).await?;
        let (messages, attachments) = self.conversation(run, &compiled, image_types).await?;
        compiled.manifest.attachments = attachments;
        let manifest = manifest_json(&compiled)?;
        let stored = self
            .inner
            .store
            .turns()
            .set_manifest(&run.row.id, manifest)
            .await;
        stored.map_err(Error::Store)?;
        let earlier = Arc::new(handed_on(&contributions));
        self.inner
            .options
            .hooks
            .run_phase(Phase::TurnPostPromptCompile, context, earlier)
            .await?;
        Ok((compiled, messages))
    }

    /// Runs the hook phases that precede the model call and compiles their contributions.
    pub(crate) async fn compile_prompt(
        &self,
        context: &HookContext,
        reader: PromptReader,
    ) -> Result<(CompiledPrompt, Vec<Contributed>), PhaseError> {
        let mut contributions: Vec<Contributed> = Vec::new();
        let mut diagnostics: Vec<(String, Diagnostic)> = Vec::new();
        for phase in [
            Phase::TurnPrePolicy,
            Phase::TurnPrePromptContext,
            Phase::TurnPreToolMaterialization,
            Phase::TurnPrePromptCompile,
        ] {
            let earlier = Arc::new(handed_on(&contributions));
            let outcome = self
                .inner
                .options
                .hooks
                .run_phase(phase, context.clone(), earlier)
                .await?;
            contributions.extend(outcome.contributions);
            diagnostics.extend(outcome.diagnostics);
        }
        let compiled = prompt::compile(&PromptInput {
            reader,
            profile: PromptProfile::AssistantFull,
            contributions: contributions.clone(),
            diagnostics,
        });
        Ok((compiled, contributions))
    }

    /// Consumes the provider's event stream and notifies the listener of each text delta. Returns the last reported
    /// usage.
    async fn stream(
        &self,
        run: &TurnRun,
        mut events: crate::provider::ModelStream,
    ) -> Result<Option<Usage>, TurnError> {
        let running = &run.running;
        let item_id = (self.inner.options.new_id)("itm_");
        let empty = TurnItem::AgentMessage {
            id: item_id.clone(),
            text: String::new(),
        };
        self.append(
            run,
            &[TurnEventPayload::ItemStarted {
                item: empty.clone(),
            }],
        )
        .await?;
        {
            let mut answer = running.answer.lock().await;
            *answer = Some(PartialAnswer {
                item_id: item_id.clone(),
                ..PartialAnswer::default()
            });
            self.notify(TurnNotice::ItemStarted(self.started(run, empty)))
                .await;
        }
        let mut usage = None;
        let mut images = 0;
        while let Some(event) = events.next().await {
            let delta = match event? {
                ModelEvent::Text(delta) => delta,
                ModelEvent::Image(image) => {
                    images += 1;
                    self.keep_image(run, &item_id, images, image).await
                }
                ModelEvent::Usage(reported) => {
                    usage = Some(reported);
                    continue;
                }
                // Reasoning is not part of the conversation and is not forwarded to clients.
                ModelEvent::Reasoning(_) | ModelEvent::Finished(_) => continue,
            };
            let mut answer = running.answer.lock().await;
            let Some(partial) = answer.as_mut() else {
                break;
            };
            partial.text.push_str(&delta);
            let seq = partial.next_seq;
            partial.next_seq += 1;
            self.notify(TurnNotice::Delta(ItemAgentMessageDeltaNotification {
                workspace_id: running.workspace_id.clone(),
                thread_id: running.thread_id.clone(),
                turn_id: running.turn_id.clone(),
                item_id: item_id.clone(),
                delta,
                seq,
            }))
            .await;
        }
        Ok(usage)
    }

    /// Stores a generated image as an artifact. Returns the line that represents it in the response text.
    async fn keep_image(
        &self,
        run: &TurnRun,
        item_id: &str,
        number: usize,
        image: Image,
    ) -> String {
        let made = GeneratedImage {
            workspace_id: run.row.workspace_id.clone(),
            thread_id: run.row.thread_id.clone(),
            turn_id: run.row.id.clone(),
            item_id: item_id.to_owned(),
            number,
            provider: run.row.model_provider.clone(),
            image,
        };
        match self.inner.options.attachments.keep(made).await {
            Ok(kept) => format!(
                "\n[generated image: {}, artifact {}]\n",
                kept.display_name, kept.artifact_id
            ),
            Err(error) => {
                tracing::warn!(turn = %run.running.turn_id, %error, "a generated image cannot be stored");
                format!("\n[generated image {number} could not be stored: {error}]\n")
            }
        }
    }

    /// Stores the result of the turn and notifies the listener. The response text received so far is stored for every
    /// outcome.
    async fn finish(&self, run: &TurnRun, outcome: TurnOutcome) -> Result<(), Error> {
        let running = &run.running;
        let answer = running.answer.lock().await.take();
        let item = answer.map(|partial| TurnItem::AgentMessage {
            id: partial.item_id,
            text: partial.text,
        });
        let mut events: Vec<NewTurnEvent> = Vec::new();
        if let Some(item) = &item {
            events.push(event(&TurnEventPayload::ItemCompleted {
                item: item.clone(),
            })?);
        }
        let (status, error, last) = match outcome {
            TurnOutcome::Completed { usage } => {
                let usage = usage.map(|usage| TurnUsage {
                    input_tokens: usage.input_tokens,
                    cached_input_tokens: usage.cached_input_tokens,
                    output_tokens: usage.output_tokens,
                });
                ("Completed", None, TurnEventPayload::TurnCompleted { usage })
            }
            TurnOutcome::Failed { error } => {
                let failed = TurnEventPayload::TurnFailed {
                    status: TurnStatus::Failed,
                    error: error.clone(),
                };
                ("Failed", Some(error), failed)
            }
            TurnOutcome::Interrupted { reason } => {
                let failed = TurnEventPayload::TurnFailed {
                    status: TurnStatus::Interrupted,
                    error: reason.clone(),
                };
                ("Interrupted", Some(reason), failed)
            }
        };
        events.push(event(&last)?);
        let may_be_titled = status == "Completed" && run.thread.origin_kind == "user";
        let now_ms = (self.inner.options.now_ms)();
        let finish = FinishTurn {
            id: run.row.id.clone(),
            status: status.to_owned(),
            error,
            events,
            title: conversation::title(&conversation::text(&run.input)).filter(|_| may_be_titled),
            now: now_ms / 1000,
            now_ms,
        };
        let finished = self.inner.store.turns().finish(finish).await?;
        if let Some(item) = item {
            self.notify(TurnNotice::ItemCompleted(self.completed(run, item)))
                .await;
        }
        let turn: Turn = wire(finished.turn)?;
        self.notify(TurnNotice::Ended {
            workspace_id: running.workspace_id.clone(),
            thread_id: running.thread_id.clone(),
            turn: Box::new(turn),
        })
        .await;
        if let Some(tree_version) = finished.tree_version {
            let thread = Box::new(finished.thread);
            self.notify(TurnNotice::Titled {
                thread,
                tree_version,
            })
            .await;
        }
        Ok(())
    }

    async fn post_turn(&self, run: &TurnRun) {
        let context = self.context(run);
        let hooks = &self.inner.options.hooks;
        if let Err(error) = hooks
            .run_phase(Phase::TurnPostTurn, context, Arc::default())
            .await
        {
            // The turn has already ended, so the failure is only logged.
            tracing::warn!(turn = %run.running.turn_id, %error, "a hook failed after the turn");
        }
    }

    async fn append(&self, run: &TurnRun, payloads: &[TurnEventPayload]) -> Result<(), Error> {
        let events = payloads.iter().map(event).collect::<Result<_, _>>()?;
        let now_ms = (self.inner.options.now_ms)();
        self.inner
            .store
            .turns()
            .append(&run.row.id, events, now_ms)
            .await?;
        Ok(())
    }

    async fn notify(&self, notice: TurnNotice) {
        self.inner.options.listener.notify(notice).await;
    }

    fn context(&self, run: &TurnRun) -> HookContext {
        HookContext {
            workspace_id: Some(run.row.workspace_id.clone()),
            thread_id: Some(run.row.thread_id.clone()),
            turn_id: Some(run.row.id.clone()),
            mode: Some(run.mode.to_ascii_lowercase()),
            origin_kind: Some(run.thread.origin_kind.clone()),
            model_provider: Some(run.row.model_provider.clone()),
            actor: Some(Actor {
                kind: "user".to_owned(),
                id: None,
            }),
            now_unix: (self.inner.options.now_ms)() / 1000,
            ..HookContext::default()
        }
    }

    fn started(&self, run: &TurnRun, item: TurnItem) -> ItemStartedNotification {
        ItemStartedNotification {
            workspace_id: run.running.workspace_id.clone(),
            thread_id: run.running.thread_id.clone(),
            turn_id: run.running.turn_id.clone(),
            item,
        }
    }

    fn completed(&self, run: &TurnRun, item: TurnItem) -> ItemCompletedNotification {
        ItemCompletedNotification {
            workspace_id: run.running.workspace_id.clone(),
            thread_id: run.running.thread_id.clone(),
            turn_id: run.running.turn_id.clone(),
            item,
        }
    }
}

/// Serializes the prompt manifest for storage.
pub(crate) fn manifest_json(compiled: &CompiledPrompt) -> Result<String, Error> {
    serde_json::to_string(&compiled.manifest).map_err(|error| Error::Damaged(error.to_string()))
}

/// Returns the policies and prompt context, which every later phase of the turn receives.
fn handed_on(contributions: &[Contributed]) -> Vec<Contribution> {
    contributions
        .iter()
        .map(|contributed| &contributed.contribution)
        .filter(|contribution| {
            matches!(
                contribution,
                Contribution::Policy { .. } | Contribution::PromptContext { .. }
            )
        })
        .cloned()
        .collect()
}
