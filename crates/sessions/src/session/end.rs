//! Records the end of a session: its status, its usage and cost, and the last events of its run.

use company::{
    document::{Run, RunSpec, Usage},
    event_log::Event,
};
use drivers::{
    ErrorClass, Outcome,
    codex_app_server::{Completion, Conversation},
    usage::{self, Cost},
};
use protocol::company::{RunStatus, Text};
use serde_json::{Value, json};

use super::{
    conclusion::{Cause, Conclusion, Turn, conclude},
    worker_process::Exit,
};
use crate::{
    budget::{self, Spent},
    plan::Plan,
    process::ProcessId,
    record::SessionRecord,
    run_log::{RunLog, cause_of},
    sink::Sink,
    threads,
};

/// How the process of a session ended, and why.
pub(super) struct End {
    pub(super) cause: Cause,
    pub(super) exit: Exit,
    /// Length of the input of the process, in UTF-16 code units.
    pub(super) chars_in: u64,
    /// Processes that still run and may belong to the session.
    pub(super) survivors: Vec<ProcessId>,
}

impl End {
    /// Records the end of the session: events, `run.yaml`, output files and the session record. If this cannot be
    /// written, the returned record is failed and carries the error.
    pub(super) fn record(
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
        let was_recognised = sink.is_recognised();
        let outcome = sink.outcome(self.exit.and_then(|exit| exit.code()));
        let survivors: Vec<_> = self.survivors.iter().map(|process| process.pid).collect();
        let turn = turn(conversation.as_ref());
        let mut conclusion = conclude(&self.cause, self.exit, outcome.as_ref(), turn, &survivors);
        let account = self.account(plan, &sink, outcome.as_ref());

        let mut events = LastEvents {
            run_log,
            events: Vec::new(),
        };
        // If the output was recognised only at its end, or the final count is missing, `usage.reported` has not been
        // written yet.
        let is_unreported = outcome.is_some() && (!was_recognised || !account.is_final);
        events.add_account(&account, is_unreported);
        let spent = account.spent();
        // The run's document does not have its usage yet.
        let checks = plan
            .budgets
            .checks(&plan.company, &plan.project, spent, &|_| spent)
            .unwrap_or_default();
        for (event_type, payload) in budget::events(&checks, self.cause.budget_phase()) {
            events.add(event_type, &payload);
        }
        let mut payload_parts = PayloadParts {
            budget_exceeded: budget::is_exceeded(&checks),
            survivors,
            conversation: conversation.as_ref(),
            outcome: outcome.as_ref(),
        };
        if payload_parts.budget_exceeded {
            conclusion.exceed_budget();
        }
        let payload = payload_parts.payload(plan, &conclusion);
        events.add(conclusion.event_type(), &payload);
        if payload_parts.budget_exceeded {
            events.set_cause("budget.exceeded");
        }

        record.exit_code = conclusion.exit_code;
        record.signal = conclusion.signal;
        record.status = conclusion.status;
        record.error = conclusion.error;
        record.ended_at_ms = Some(plan.company.sources().now_ms());
        remember_thread(plan, outcome.as_ref());
        let files = output_files(plan, &account, outcome.as_ref());
        let cycles = sink.context_cycles();
        let ids = conversation.map(|conversation| (conversation.thread_id, conversation.turn_id));
        let change = |run: &mut Run| {
            run.usage = Some(account.priced());
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
        let status = record.status;
        if let Err(failure) = run_log.end(&events.events, status, change, &files, Some(&record)) {
            tracing::error!(error = %failure, "the end of a run cannot be recorded");
            record.status = RunStatus::Failed;
            record.error = Some(format!("the end of the run cannot be recorded: {failure}"));
        }
        (record, outcome)
    }

    /// Determines usage and cost. Must be called after the outcome was taken from the sink.
    fn account(&self, plan: &Plan, sink: &Sink, outcome: Option<&Outcome>) -> Account {
        let (counts, is_final) = match outcome {
            Some(outcome) if outcome.usage.is_some() => (outcome.usage.clone(), true),
            // The session was stopped or failed before the worker reported its final count.
            Some(_) => (sink.largest_usage(), false),
            None => (sink.usage(), self.cause.is_own_end()),
        };
        let usage = match &counts {
            Some(counts) if is_final => counts.reported(&plan.provider),
            Some(counts) => counts.reported_so_far(&plan.provider),
            None => usage::estimated(&plan.provider, self.chars_in, sink.chars()),
        };
        let cost = usage::cost(
            plan.machine.as_deref(),
            &plan.provider,
            &usage,
            counts.as_ref().is_some_and(|counts| counts.parts_included),
            outcome.and_then(|outcome| outcome.cost_usd),
        );
        Account {
            usage,
            cost,
            is_estimated: counts.is_none(),
            is_final,
        }
    }
}

/// The usage of a session and its cost.
struct Account {
    usage: Usage,
    cost: Cost,
    /// Whether the worker reported no counts.
    is_estimated: bool,
    /// Whether the counts are final; otherwise they are a lower bound.
    is_final: bool,
}

impl Account {
    fn spent(&self) -> Spent {
        Spent {
            tokens: self.usage.total_tokens,
            cost_usd: self.cost.usd().unwrap_or(0.0),
        }
    }

    /// The usage with its cost, as in `run.yaml`.
    fn priced(&self) -> Usage {
        let mut priced = self.usage.clone();
        self.cost.price(&mut priced);
        priced
    }
}

/// The last events of a run. An event that cannot be created is skipped and logged.
struct LastEvents<'a> {
    run_log: &'a RunLog,
    events: Vec<Event>,
}

impl LastEvents<'_> {
    fn add(&mut self, event_type: &str, payload: &Value) {
        match self.run_log.event(event_type, payload) {
            Ok(event) => self.events.push(event),
            Err(error) => tracing::error!(%error, event_type, "an event cannot be created"),
        }
    }

    fn add_account(&mut self, account: &Account, is_unreported: bool) {
        if account.is_estimated {
            self.add("usage.estimated", &json!(account.usage));
        } else if is_unreported {
            self.add("usage.reported", &json!(account.usage));
        }
        if let Some(usd) = account.cost.usd() {
            let (source, card) = match &account.cost {
                Cost::RateCard(_, card) => ("provider_rate_card", Some(card)),
                Cost::Reported(_) | Cost::Unknown => ("provider_reported", None),
            };
            let payload = json!({"cost_usd": usd, "currency": "USD", "source": source, "rate_card_provider": card});
            self.add("usage.cost_computed", &payload);
        }
    }

    /// Sets an earlier event as the cause of the last one.
    fn set_cause(&mut self, event_type: &str) {
        let cause = cause_of(&self.events, event_type);
        if let Some(last) = self.events.last_mut() {
            last.causation_id = cause;
        }
    }
}

fn turn(conversation: Option<&Conversation>) -> Turn {
    match conversation.map(|conversation| conversation.completion) {
        None => Turn::NoServer,
        Some(None) => Turn::Open,
        Some(Some(completion)) => Turn::Over(completion),
    }
}

/// The parts of the payload of the last event that do not follow from the conclusion.
struct PayloadParts<'a> {
    budget_exceeded: bool,
    survivors: Vec<i32>,
    conversation: Option<&'a Conversation>,
    outcome: Option<&'a Outcome>,
}

impl PayloadParts<'_> {
    fn payload(&mut self, plan: &Plan, conclusion: &Conclusion) -> Value {
        let mut payload = conclusion.payload();
        payload["budget_exceeded"] = self.budget_exceeded.into();
        if !self.survivors.is_empty() {
            payload["may_still_run"] = std::mem::take(&mut self.survivors).into();
        }
        if let Some(conversation) = self.conversation {
            payload["completion_status"] = json!(conversation.completion.map(Completion::as_str));
            payload["completion_error"] = json!(conversation.completion_error);
        }
        if let Some(class) = self.outcome.and_then(|outcome| outcome.error_class) {
            payload["error_class"] = class.as_str().into();
            if class == ErrorClass::RateLimited {
                payload["retry_at"] = json!(retry_at(plan, self.outcome).map(company::iso_time));
            }
        }
        payload
    }
}

/// Stores the total that the worker reported for its thread, so that the next run of the thread subtracts it.
fn remember_thread(plan: &Plan, outcome: Option<&Outcome>) {
    if let Some(outcome) = outcome
        && let (Some(thread), Some(reported)) = (&outcome.session_id, &outcome.thread_usage)
        && let Err(error) = threads::remember(&plan.company, thread, reported)
    {
        tracing::warn!(%error, "the reported usage of a thread cannot be stored");
    }
}

/// The files that are written among the outputs of the run, with their content.
fn output_files(
    plan: &Plan,
    account: &Account,
    outcome: Option<&Outcome>,
) -> Vec<(String, String)> {
    let mut usage = json!(account.priced());
    if matches!(account.cost, Cost::Reported(_)) {
        usage["cost_source"] = "provider_reported".into();
    }
    let mut files = vec![(plan.output("token_usage.json").0, format!("{usage:#}\n"))];
    if let Some(text) = outcome.and_then(|outcome| outcome.text.as_ref()) {
        files.push((plan.output("last_message.md").0, text.clone()));
    }
    files
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
