//! The end of a session: its status, its usage and cost, and the last events of its run.

use std::os::unix::process::ExitStatusExt as _;

use company::{
    document::{Run, RunSpec, Usage},
    event_log::Event,
};
use drivers::{ErrorClass, Outcome, codex_app_server::Completion, usage};
use protocol::company::{RunStatus, Text};
use serde_json::{Value, json};

use super::{leader::Exit, started::Cause};
use crate::{
    budget::{self, Phase, Spent},
    plan::Plan,
    process::{ProcessId, signal_name},
    record::SessionRecord,
    run_log::{RunLog, cause_of},
    sink::Sink,
    threads,
};

const UNSEEN_END: &str = "the gateway was restarted while it ran, so nobody saw how it ended";

/// How the process of a session ended, and why.
pub(super) struct End {
    pub(super) cause: Cause,
    pub(super) status: Exit,
    /// Length of the input of the process, in UTF-16 code units.
    pub(super) chars_in: u64,
    /// Processes that still run and may belong to the session.
    pub(super) survivors: Vec<ProcessId>,
}

impl End {
    /// Records the end of the session: events, `run.yaml`, output files and the session record. If this cannot be
    /// written, the returned record is failed and carries the error.
    pub(super) fn write(
        self,
        plan: &Plan,
        run_log: &RunLog,
        mut sink: Sink,
        mut record: SessionRecord,
    ) -> (SessionRecord, Option<Outcome>) {
        let conversation = sink
            .conversation
            .as_ref()
            .map(|(conversation, _)| conversation.clone());
        let recognised = sink.is_recognised();
        let exit_code = self.status.and_then(|status| status.code());
        let outcome = sink.outcome(exit_code);
        let own_end = matches!(self.cause, Cause::Itself | Cause::Completed);
        let (counts, is_final) = match &outcome {
            Some(outcome) if outcome.usage.is_some() => (outcome.usage.clone(), true),
            // The session was stopped or failed before the worker reported its final count.
            Some(_) => (sink.largest_usage(), false),
            None => (sink.usage(), own_end),
        };
        let mut error = match (&self.cause, &outcome) {
            (Cause::TimedOut(error, _) | Cause::Broken(error), _) => Some(error.clone()),
            (Cause::OverBudget, _) => Some("the budget of the run is exceeded".to_owned()),
            (Cause::Itself | Cause::Completed, Some(outcome)) => outcome.error.clone(),
            (Cause::Itself | Cause::Completed, None) | (Cause::Stopped, _) => None,
        };
        let completion = conversation
            .as_ref()
            .and_then(|conversation| conversation.completion);
        let mut status = match (&self.cause, &conversation) {
            (Cause::Stopped, _) => RunStatus::Stopped,
            (Cause::TimedOut(..) | Cause::Broken(_) | Cause::OverBudget, _) => RunStatus::Failed,
            (_, Some(_)) => match completion {
                Some(Completion::Completed) => RunStatus::Ended,
                Some(Completion::Interrupted) => RunStatus::Stopped,
                Some(Completion::Failed) => RunStatus::Failed,
                None => {
                    error.get_or_insert_with(|| "the app server ended before its turn".to_owned());
                    RunStatus::Failed
                }
            },
            (Cause::Itself | Cause::Completed, None) if self.status.is_none() => {
                // The exit status is unknown, so the final output of the worker decides.
                if outcome.as_ref().is_some_and(Outcome::is_answer) {
                    RunStatus::Ended
                } else {
                    error.get_or_insert_with(|| UNSEEN_END.to_owned());
                    RunStatus::Failed
                }
            }
            (Cause::Itself | Cause::Completed, None) => match exit_code {
                Some(0) if error.is_none() => RunStatus::Ended,
                Some(_) | None => RunStatus::Failed,
            },
        };
        if self.status.is_none() && status == RunStatus::Stopped {
            error.get_or_insert_with(|| UNSEEN_END.to_owned());
        }
        let survivors: Vec<_> = self.survivors.iter().map(|process| process.pid).collect();
        if !survivors.is_empty() && status == RunStatus::Stopped {
            let pids: Vec<_> = survivors.iter().map(ToString::to_string).collect();
            error.get_or_insert_with(|| {
                format!(
                    "these processes may belong to the session and still run: {}",
                    pids.join(", ")
                )
            });
        }
        record.exit_code = match (&conversation, exit_code, status) {
            // An app server that was asked to shut down exits with 0 even if its turn failed.
            (Some(_), Some(0) | None, RunStatus::Ended) => Some(0),
            (Some(_), Some(0) | None, _) => Some(1),
            (_, code, _) => code,
        };
        record.signal = self
            .status
            .and_then(|status| status.signal())
            .map(signal_name);
        if conversation.is_some() && status == RunStatus::Ended {
            record.signal = None;
        }

        let usage = match &counts {
            Some(counts) if is_final => counts.reported(&plan.provider),
            Some(counts) => counts.reported_so_far(&plan.provider),
            None => usage::estimated(&plan.provider, self.chars_in, sink.chars()),
        };
        let parts_included = counts.as_ref().is_some_and(|counts| counts.parts_included);
        let reported_cost = outcome.as_ref().and_then(|outcome| outcome.cost_usd);
        let cost = usage::cost(
            plan.machine.as_deref(),
            &plan.provider,
            &usage,
            parts_included,
            reported_cost,
        );
        let mut closing = Closing {
            run_log,
            events: Vec::new(),
        };
        if counts.is_none() {
            closing.add("usage.estimated", &json!(usage));
        } else if outcome.is_some() && (!recognised || !is_final) {
            // The output was recognised only at its end, or the final count is missing, so `usage.reported` has not
            // been written yet.
            closing.add("usage.reported", &json!(usage));
        }
        if let Some(usd) = cost.usd() {
            let (source, card) = match &cost {
                usage::Cost::RateCard(_, card) => ("provider_rate_card", Some(card)),
                usage::Cost::Reported(_) | usage::Cost::Unknown => ("provider_reported", None),
            };
            let payload = json!({"cost_usd": usd, "currency": "USD", "source": source, "rate_card_provider": card});
            closing.add("usage.cost_computed", &payload);
        }
        let mut priced = usage.clone();
        cost.price(&mut priced);

        let spent = Spent {
            tokens: usage.total_tokens,
            cost_usd: cost.usd().unwrap_or(0.0),
        };
        let phase = match self.cause {
            Cause::OverBudget => Phase::Live,
            Cause::Itself
            | Cause::Completed
            | Cause::Stopped
            | Cause::TimedOut(..)
            | Cause::Broken(_) => Phase::Completion,
        };
        // The run's document does not have its usage yet.
        let checks = plan
            .budgets
            .checks(&plan.company, &plan.project, spent, &|_| spent);
        let checks = checks.unwrap_or_default();
        for (event_type, payload) in budget::events(&checks, phase) {
            closing.add(event_type, &payload);
        }
        let budget_exceeded = budget::is_exceeded(&checks);
        if budget_exceeded && status == RunStatus::Ended {
            status = RunStatus::Failed;
        }

        let mut payload = json!({
            "exit_code": record.exit_code,
            "signal": record.signal,
            "stopped": status == RunStatus::Stopped,
            "budget_exceeded": budget_exceeded,
        });
        if self.status.is_none() {
            payload["orphaned"] = true.into();
        }
        if !survivors.is_empty() {
            payload["may_still_run"] = survivors.into();
        }
        if let Some(conversation) = &conversation {
            payload["completion_status"] = json!(completion.map(Completion::as_str));
            payload["completion_error"] = json!(conversation.completion_error);
        }
        let reason = match &self.cause {
            Cause::TimedOut(_, reason) => Some(*reason),
            Cause::OverBudget => Some("budget_exceeded"),
            Cause::Broken(_) => Some("broken"),
            Cause::Itself | Cause::Completed | Cause::Stopped => None,
        };
        if let Some(reason) = reason {
            payload["reason"] = reason.into();
        }
        if let Some(error) = &error {
            payload["error"] = error.as_str().into();
        }
        if let Some(class) = outcome.as_ref().and_then(|outcome| outcome.error_class) {
            payload["error_class"] = class.as_str().into();
            if class == ErrorClass::RateLimited {
                payload["retry_at"] =
                    json!(retry_at(plan, outcome.as_ref()).map(company::iso_time));
            }
        }
        let event_type = match status {
            RunStatus::Ended => "run.ended",
            RunStatus::Stopped => "run.stopped",
            RunStatus::Failed | RunStatus::Running => "run.failed",
        };
        closing.add(event_type, &payload);
        if budget_exceeded {
            let cause = cause_of(&closing.events, "budget.exceeded");
            if let Some(last) = closing.events.last_mut() {
                last.causation_id = cause;
            }
        }

        record.status = status;
        record.error = error;
        record.ended_at_ms = Some(plan.company.sources().now_ms());
        let mut files = vec![(
            plan.output("token_usage.json").0,
            token_usage(&priced, &cost),
        )];
        if let Some(text) = outcome.as_ref().and_then(|outcome| outcome.text.as_ref()) {
            files.push((plan.output("last_message.md").0, text.clone()));
        }
        let cycles = sink.context_cycles();
        let ids = conversation.map(|conversation| (conversation.thread_id, conversation.turn_id));
        let change = |run: &mut Run| {
            run.usage = Some(priced);
            run.context_cycles = Some(cycles);
            if let (
                Some(RunSpec::CodexAppServer {
                    thread_id, turn_id, ..
                }),
                Some((thread, turn)),
            ) = (&mut run.spec, ids)
            {
                *thread_id = thread.and_then(Text::new);
                *turn_id = turn.and_then(Text::new);
            }
        };
        if let Some(outcome) = &outcome
            && let (Some(thread), Some(reported)) = (&outcome.session_id, &outcome.thread_usage)
            && let Err(error) = threads::remember(&plan.company, thread, reported)
        {
            tracing::warn!(%error, "the reported usage of a thread cannot be stored");
        }
        if let Err(failure) = run_log.end(&closing.events, status, change, &files, Some(&record)) {
            tracing::error!(error = %failure, "the end of a run cannot be recorded");
            record.status = RunStatus::Failed;
            record.error = Some(format!("the end of the run cannot be recorded: {failure}"));
        }
        (record, outcome)
    }
}

/// Time at which a rate-limited worker may be used again, in Unix milliseconds. `None` if its outcome has no retry
/// hint.
pub(crate) fn retry_at(plan: &Plan, outcome: Option<&Outcome>) -> Option<i64> {
    retry_at_of(&plan.company, outcome?)
}

/// Like [`retry_at`], for an outcome without a plan.
pub fn retry_at_of(company: &company::Company, outcome: &Outcome) -> Option<i64> {
    let hint = outcome.retry.as_ref()?;
    hint.at_ms(company.sources().now_ms(), &jiff::tz::TimeZone::system())
}

/// The last events of a run. An event that cannot be created is skipped and logged.
struct Closing<'a> {
    run_log: &'a RunLog,
    events: Vec<Event>,
}

impl Closing<'_> {
    fn add(&mut self, event_type: &str, payload: &Value) {
        match self.run_log.event(event_type, payload) {
            Ok(event) => self.events.push(event),
            Err(error) => tracing::error!(%error, event_type, "an event cannot be created"),
        }
    }
}

/// Content of `token_usage.json`.
fn token_usage(usage: &Usage, cost: &usage::Cost) -> String {
    let mut value = json!(usage);
    if matches!(cost, usage::Cost::Reported(_)) {
        value["cost_source"] = "provider_reported".into();
    }
    format!("{value:#}\n")
}
