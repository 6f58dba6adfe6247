//! Decides how a session ended, from the cause, the exit status and the output of its worker. `end` records it.

use std::os::unix::process::ExitStatusExt as _;

use drivers::{Outcome, codex_app_server::Completion};
use protocol::company::RunStatus;
use serde_json::{Value, json};

use super::worker_process::Exit;
use crate::{budget::Phase, process::signal_name};

const UNSEEN_END: &str = "the gateway was restarted while it ran, so nobody saw how it ended";

/// Why a session ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cause {
    /// The process ended by itself.
    Itself,
    /// The turn of the app server is over.
    Completed,
    /// A stop was requested.
    Stopped,
    /// A timeout expired; the error and the reason code.
    TimedOut(String, &'static str),
    /// The usage exceeded the budget of the run.
    OverBudget,
    /// Another error; its message.
    Broken(String),
}

impl Cause {
    /// Whether the worker ended without an intervention of the gateway.
    pub(super) fn is_own_end(&self) -> bool {
        match self {
            Self::Itself | Self::Completed => true,
            Self::Stopped | Self::TimedOut(..) | Self::OverBudget | Self::Broken(_) => false,
        }
    }

    /// The phase in which the budgets are checked at the end.
    pub(super) fn budget_phase(&self) -> Phase {
        match self {
            Self::OverBudget => Phase::Live,
            Self::Itself
            | Self::Completed
            | Self::Stopped
            | Self::TimedOut(..)
            | Self::Broken(_) => Phase::Completion,
        }
    }

    /// Code of the cause in the last event; absent if the status says it all.
    fn reason(&self) -> Option<&'static str> {
        match self {
            Self::TimedOut(_, reason) => Some(reason),
            Self::OverBudget => Some("budget_exceeded"),
            Self::Broken(_) => Some("broken"),
            Self::Itself | Self::Completed | Self::Stopped => None,
        }
    }

    fn error(&self, outcome: Option<&Outcome>) -> Option<String> {
        match self {
            Self::TimedOut(error, _) | Self::Broken(error) => Some(error.clone()),
            Self::OverBudget => Some("the budget of the run is exceeded".to_owned()),
            Self::Itself | Self::Completed => outcome.and_then(|outcome| outcome.error.clone()),
            Self::Stopped => None,
        }
    }
}

/// The turn of the worker at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Turn {
    /// The worker is no app server and has no turns.
    NoServer,
    /// The app server ended before its turn was over.
    Open,
    /// The turn of the app server is over.
    Over(Completion),
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Conclusion {
    pub(super) status: RunStatus,
    /// Error message; absent if the session did not fail.
    pub(super) error: Option<String>,
    /// Exit code of the program; absent if it is unknown or a signal ended the program.
    pub(super) exit_code: Option<i32>,
    /// Name of the signal that ended the program; absent if none did.
    pub(super) signal: Option<String>,
    /// Code of the cause in the last event; absent if the status says it all.
    reason: Option<&'static str>,
    /// Whether the exit status is unknown, because an earlier gateway started the process.
    is_orphaned: bool,
}

/// Decides how a session ended. `survivors` are the ids of processes that may belong to the session and still run.
pub(super) fn conclude(
    cause: &Cause,
    exit: Exit,
    outcome: Option<&Outcome>,
    turn: Turn,
    survivors: &[i32],
) -> Conclusion {
    let exit_code = exit.and_then(|exit| exit.code());
    let mut error = cause.error(outcome);
    let status = match (cause, turn) {
        (Cause::Stopped, _) => RunStatus::Stopped,
        (Cause::TimedOut(..) | Cause::Broken(_) | Cause::OverBudget, _) => RunStatus::Failed,
        (Cause::Itself | Cause::Completed, Turn::Over(completion)) => match completion {
            Completion::Completed => RunStatus::Ended,
            Completion::Interrupted => RunStatus::Stopped,
            Completion::Failed => RunStatus::Failed,
        },
        (Cause::Itself | Cause::Completed, Turn::Open) => {
            error.get_or_insert_with(|| "the app server ended before its turn".to_owned());
            RunStatus::Failed
        }
        (Cause::Itself | Cause::Completed, Turn::NoServer) if exit.is_none() => {
            // The exit status is unknown, so the final output of the worker decides.
            if outcome.is_some_and(Outcome::is_answer) {
                RunStatus::Ended
            } else {
                error.get_or_insert_with(|| UNSEEN_END.to_owned());
                RunStatus::Failed
            }
        }
        (Cause::Itself | Cause::Completed, Turn::NoServer) => match exit_code {
            Some(0) if error.is_none() => RunStatus::Ended,
            Some(_) | None => RunStatus::Failed,
        },
    };
    if status == RunStatus::Stopped {
        if exit.is_none() {
            error.get_or_insert_with(|| UNSEEN_END.to_owned());
        }
        if !survivors.is_empty() {
            error.get_or_insert_with(|| still_running(survivors));
        }
    }
    let is_ended_server = turn != Turn::NoServer && status == RunStatus::Ended;
    Conclusion {
        exit_code: match (turn, exit_code) {
            // An app server that was asked to shut down exits with 0 even if its turn failed.
            (Turn::Open | Turn::Over(_), Some(0) | None) => Some(i32::from(!is_ended_server)),
            (Turn::Open | Turn::Over(_) | Turn::NoServer, code) => code,
        },
        signal: exit
            .and_then(|exit| exit.signal())
            .filter(|_| !is_ended_server)
            .map(signal_name),
        status,
        error,
        reason: cause.reason(),
        is_orphaned: exit.is_none(),
    }
}

fn still_running(survivors: &[i32]) -> String {
    let pids: Vec<_> = survivors.iter().map(ToString::to_string).collect();
    format!(
        "these processes may belong to the session and still run: {}",
        pids.join(", ")
    )
}

impl Conclusion {
    /// Applies that the usage of the finished session exceeds a budget.
    pub(super) fn exceed_budget(&mut self) {
        if self.status == RunStatus::Ended {
            self.status = RunStatus::Failed;
        }
    }

    /// Type of the last event of the run.
    pub(super) fn event_type(&self) -> &'static str {
        match self.status {
            RunStatus::Ended => "run.ended",
            RunStatus::Stopped => "run.stopped",
            RunStatus::Failed | RunStatus::Running => "run.failed",
        }
    }

    /// Payload of the last event of the run, as far as it follows from the conclusion.
    pub(super) fn payload(&self) -> Value {
        let mut payload = json!({
            "exit_code": self.exit_code,
            "signal": self.signal,
            "stopped": self.status == RunStatus::Stopped,
        });
        if self.is_orphaned {
            payload["orphaned"] = true.into();
        }
        if let Some(reason) = self.reason {
            payload["reason"] = reason.into();
        }
        if let Some(error) = &self.error {
            payload["error"] = error.as_str().into();
        }
        payload
    }
}

#[cfg(test)]
mod tests {
    use std::process::ExitStatus;

    use drivers::usage::TokenCounts;

    use super::*;

    fn exited(code: i32) -> Exit {
        Some(ExitStatus::from_raw(code << 8))
    }

    fn killed(signal: i32) -> Exit {
        Some(ExitStatus::from_raw(signal))
    }

    fn failed(error: &str) -> Outcome {
        Outcome {
            error: Some(error.to_owned()),
            ..Outcome::default()
        }
    }

    fn answered() -> Outcome {
        Outcome {
            text: Some("done".to_owned()),
            usage: Some(TokenCounts::default()),
            ..Outcome::default()
        }
    }

    /// Compares a conclusion, shown as status, exit code, signal, reason and error.
    fn check(cause: &Cause, exit: Exit, outcome: Option<&Outcome>, turn: Turn, expected: &str) {
        let found = conclude(cause, exit, outcome, turn, &[]);
        let parts = [
            Some(found.status.to_string()),
            found.exit_code.map(|code| code.to_string()),
            found.signal,
            found.reason.map(ToOwned::to_owned),
            found.error,
        ];
        let parts = parts.map(|part| part.unwrap_or_else(|| "-".to_owned()));
        let shown = parts.join(" | ");
        assert_eq!(shown, expected, "{cause:?} {exit:?} {outcome:?} {turn:?}");
    }

    #[test]
    fn the_end_of_a_command_follows_from_cause_status_and_outcome() {
        use Cause::{Itself, OverBudget, Stopped};
        let (error, answer, silent) = (failed("rate limit"), answered(), Outcome::default());
        let command = |cause: &Cause, exit, outcome, expected: &str| {
            check(cause, exit, outcome, Turn::NoServer, expected);
        };
        command(&Itself, exited(0), None, "ended | 0 | - | - | -");
        command(&Itself, exited(3), None, "failed | 3 | - | - | -");
        command(&Itself, killed(9), None, "failed | - | SIGKILL | - | -");
        command(&Itself, exited(0), Some(&answer), "ended | 0 | - | - | -");
        let limited = "failed | 0 | - | - | rate limit";
        command(&Itself, exited(0), Some(&error), limited);
        // An earlier gateway started the process, so its exit status is unknown.
        let unseen = format!("failed | - | - | - | {UNSEEN_END}");
        command(&Itself, None, None, &unseen);
        command(&Itself, None, Some(&silent), &unseen);
        command(&Itself, None, Some(&answer), "ended | - | - | - | -");
        let limited = "failed | - | - | - | rate limit";
        command(&Itself, None, Some(&error), limited);
        // A stop decides, whatever the worker printed or returned.
        command(&Stopped, exited(0), None, "stopped | 0 | - | - | -");
        let terminated = "stopped | - | SIGTERM | - | -";
        command(&Stopped, killed(15), Some(&error), terminated);
        let unseen = format!("stopped | - | - | - | {UNSEEN_END}");
        command(&Stopped, None, None, &unseen);
        // A cause of the gateway decides as well, and gives the error.
        let late = Cause::TimedOut("timed out after 5 ms".to_owned(), "timeout");
        let expected = "failed | - | SIGTERM | timeout | timed out after 5 ms";
        command(&late, killed(15), Some(&answer), expected);
        let broken = Cause::Broken("no space left".to_owned());
        let expected = "failed | 0 | - | broken | no space left";
        command(&broken, exited(0), Some(&error), expected);
        let expected = "failed | - | SIGINT | budget_exceeded | the budget of the run is exceeded";
        command(&OverBudget, killed(2), Some(&answer), expected);
    }

    #[test]
    fn the_end_of_an_app_server_follows_from_its_turn() {
        use Cause::{Completed, Itself, Stopped};
        let error = failed("context window");
        let completed = Turn::Over(Completion::Completed);
        check(
            &Completed,
            exited(0),
            None,
            completed,
            "ended | 0 | - | - | -",
        );
        // The gateway may have to kill a server whose turn is over.
        check(
            &Completed,
            killed(9),
            None,
            completed,
            "ended | 0 | - | - | -",
        );
        let turn = Turn::Over(Completion::Failed);
        let expected = "failed | 1 | - | - | context window";
        check(&Completed, exited(0), Some(&error), turn, expected);
        let turn = Turn::Over(Completion::Interrupted);
        check(&Completed, exited(0), None, turn, "stopped | 1 | - | - | -");
        let expected = "failed | 1 | - | - | the app server ended before its turn";
        check(&Itself, exited(0), None, Turn::Open, expected);
        let expected = "failed | 7 | - | - | context window";
        check(&Itself, exited(7), Some(&error), Turn::Open, expected);
        let expected = "stopped | 1 | SIGTERM | - | -";
        check(&Stopped, killed(15), None, Turn::Open, expected);
    }

    #[test]
    fn processes_that_may_still_run_are_an_error_of_a_stopped_session_only() {
        let error = |cause: &Cause, exit| {
            let found = conclude(cause, exit, None, Turn::NoServer, &[7, 8]);
            found.error
        };
        assert_eq!(
            error(&Cause::Stopped, exited(0)).as_deref(),
            Some("these processes may belong to the session and still run: 7, 8")
        );
        assert_eq!(error(&Cause::Stopped, None).as_deref(), Some(UNSEEN_END));
        assert_eq!(error(&Cause::Itself, exited(0)), None);
    }

    #[test]
    fn a_budget_that_is_exceeded_at_the_end_fails_an_ended_session_and_keeps_its_exit_code() {
        let mut ended = conclude(&Cause::Itself, exited(0), None, Turn::NoServer, &[]);
        ended.exceed_budget();
        assert_eq!(
            (ended.status, ended.exit_code),
            (RunStatus::Failed, Some(0))
        );
        assert_eq!(ended.event_type(), "run.failed");
        let mut stopped = conclude(&Cause::Stopped, exited(0), None, Turn::NoServer, &[]);
        stopped.exceed_budget();
        assert_eq!(stopped.status, RunStatus::Stopped);
    }
}
