//! How worker programs are started and what they print, one file per program. Nothing here starts a process: command
//! lines are made and output is read as values.

pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod codex_app_server;
pub(crate) mod command;
pub(crate) mod declared;
pub(crate) mod gemini;
mod retry;
#[cfg(test)]
mod samples;

use std::{collections::BTreeMap, ffi::OsStr, path::Path};

use protocol::company::session::CompanySessionPermission;
use serde_json::Value;

pub use declared::{DeclaredDriver, DeclaredOutput, DeclaredPrompt};
pub use retry::RetryHint;

use crate::{output::Stream, usage::TokenCounts};

/// How a session's program is started and read.
#[derive(Clone, Debug, PartialEq)]
pub enum Driver {
    /// Any command.
    Command,
    /// OpenAI's, by its command line.
    Codex,
    /// OpenAI's, by messages.
    CodexAppServer,
    /// Anthropic's.
    Claude,
    /// Google's.
    Gemini,
    /// One that `config.toml` declares.
    Declared(String, DeclaredDriver),
}

/// What a driver makes a command line of.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// The program.
    pub bin: String,
    /// What the worker is asked.
    pub prompt: String,
    /// The model.
    pub model: Option<String>,
    /// What it may do.
    pub permission: CompanySessionPermission,
    /// The file with its instructions, where it does not read it by itself.
    pub instructions: Option<String>,
    /// What is in that file, for a program that cannot be pointed to it.
    pub instructions_text: Option<String>,
    /// Where its last words go.
    pub last_message: String,
    /// The form of the answer as JSON, and the file it is in.
    pub schema: Option<(String, String)>,
    /// What it may use, if its agent says so.
    pub allowed_tools: Vec<String>,
    /// Whether the program keeps the session, so that it can be resumed.
    pub keeps_session: bool,
}

/// A command line, and what belongs to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandLine {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// What it reads.
    pub stdin: Option<String>,
    /// Variables it needs.
    pub env: BTreeMap<String, String>,
    /// A settings file it is pointed to by this variable, and what is in it.
    pub settings: Option<(String, Value)>,
}

impl Driver {
    /// The driver of a provider's name, as runs have it.
    pub fn of_provider(provider: &str, declared: &BTreeMap<String, DeclaredDriver>) -> Self {
        if let Some(driver) = declared.get(provider) {
            return Self::Declared(provider.to_owned(), driver.clone());
        }
        match provider {
            "codex_app_server" | "codex-app-server" => Self::CodexAppServer,
            "codex" | "codex_cli" => Self::Codex,
            "claude" | "claude_code" | "claude-code" | "claude_cli" => Self::Claude,
            "gemini" | "gemini_cli" => Self::Gemini,
            _ => Self::Command,
        }
    }

    /// The driver whose program this is, by its name.
    pub fn of_program(program: &str) -> Option<Self> {
        let base = Path::new(program).file_name().and_then(OsStr::to_str)?;
        let is = |name: &str| {
            base == name
                || base
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.starts_with('-'))
        };
        [
            ("codex", Self::Codex),
            ("claude", Self::Claude),
            ("gemini", Self::Gemini),
        ]
        .into_iter()
        .find_map(|(name, driver)| is(name).then_some(driver))
    }

    /// Its name in answers.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Command => "command",
            Self::Codex => "codex",
            Self::CodexAppServer => "codex_app_server",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
            Self::Declared(name, _) => name,
        }
    }

    /// The signal on which the program ends itself and its tools.
    pub fn stop_signal(&self) -> StopSignal {
        match self {
            Self::Codex | Self::Claude => StopSignal::Interrupt,
            Self::Command | Self::CodexAppServer | Self::Gemini => StopSignal::Terminate,
            Self::Declared(_, driver) => driver.stop_signal,
        }
    }

    /// The command line for a wish; none where the caller has to give one.
    pub fn command_line(&self, wish: &Wish) -> Option<CommandLine> {
        match self {
            Self::Command | Self::CodexAppServer => None,
            Self::Codex => Some(codex::command_line(wish)),
            Self::Claude => Some(claude::command_line(wish)),
            Self::Gemini => Some(gemini::command_line(wish)),
            Self::Declared(_, driver) => Some(declared::command_line(driver, wish)),
        }
    }

    /// What reads the output. A program is first of all read as what it is called, then as what its run says.
    pub fn reader(&self) -> Reader {
        match self {
            Self::Command | Self::CodexAppServer => Reader::Nothing,
            Self::Codex => Reader::Codex(codex::Output::default()),
            Self::Claude => Reader::Claude(claude::Output::default()),
            Self::Gemini => Reader::Gemini(gemini::Output::default()),
            Self::Declared(_, driver) => match driver.output {
                DeclaredOutput::Text => Reader::Nothing,
                DeclaredOutput::Codex => Reader::Codex(codex::Output::default()),
                DeclaredOutput::Claude => Reader::Claude(claude::Output::default()),
                DeclaredOutput::Gemini => Reader::Gemini(gemini::Output::default()),
            },
        }
    }

    /// What else it is known to read from its environment. A `*` at the end stands for the rest of a name.
    pub fn variables(&self) -> &'static [&'static str] {
        match self {
            Self::Codex | Self::CodexAppServer => &["CODEX_*", "OPENAI_*"],
            Self::Claude => &[
                "ANTHROPIC_*",
                "CLAUDE_CONFIG_DIR",
                "CLAUDE_CODE_*",
                "AWS_REGION",
                "AWS_PROFILE",
                "CLOUD_ML_REGION",
            ],
            Self::Gemini => &["GEMINI_*", "GOOGLE_*"],
            Self::Command | Self::Declared(..) => &[],
        }
    }

    /// The variables with keys of its provider.
    pub fn key_variables(&self) -> &'static [&'static str] {
        match self {
            Self::Codex | Self::CodexAppServer => &["OPENAI_API_KEY", "CODEX_API_KEY"],
            Self::Claude => &[
                "ANTHROPIC_API_KEY",
                "ANTHROPIC_AUTH_TOKEN",
                "CLAUDE_CODE_OAUTH_TOKEN",
            ],
            Self::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Self::Command | Self::Declared(..) => &[],
        }
    }
}

/// The first signal of a stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopSignal {
    /// `SIGINT`.
    Interrupt,
    /// `SIGTERM`.
    #[default]
    Terminate,
}

impl StopSignal {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
        }
    }
}

/// How a worker failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// It is not let in.
    Auth,
    /// It was asked too often, or used what it may.
    RateLimited,
    /// What it was given is too much.
    ContextExceeded,
    /// It is not paid for.
    Billing,
    /// Anything else.
    Other,
}

impl ErrorClass {
    /// The word in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::RateLimited => "rate_limited",
            Self::ContextExceeded => "context_exceeded",
            Self::Billing => "billing",
            Self::Other => "other",
        }
    }

    /// The class of an error's own text. Never to be asked about what a model said.
    pub fn of_text(text: &str) -> Self {
        let text = text.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if has(&["credit balance", "billing_error"]) {
            Self::Billing
        } else if has(&[
            "context window",
            "prompt is too long",
            "exceeds the maximum number of tokens",
            "context_length_exceeded",
        ]) {
            Self::ContextExceeded
        } else if has(&["429", "rate limit", "usage limit", "quota"]) {
            Self::RateLimited
        } else if has(&[
            "401",
            "403 forbidden",
            "unauthorized",
            "unauthenticated",
            "authentication",
            "not logged in",
            "invalid api key",
            "missing environment variable",
            "auth method",
        ]) {
            Self::Auth
        } else {
            Self::Other
        }
    }

    /// The class of an HTTP status.
    pub fn of_status(status: u64) -> Option<Self> {
        match status {
            401 | 403 => Some(Self::Auth),
            402 => Some(Self::Billing),
            429 => Some(Self::RateLimited),
            _ => None,
        }
    }
}

/// What was read out of a worker's output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Its last words.
    pub text: Option<String>,
    /// What it calls its own session.
    pub session_id: Option<String>,
    /// The answer in the form that was asked for.
    pub structured: Option<Value>,
    /// What it used.
    pub usage: Option<TokenCounts>,
    /// What its whole thread used, earlier runs included, where the program reports that.
    pub thread_usage: Option<TokenCounts>,
    /// What it cost, if it says so.
    pub cost_usd: Option<f64>,
    /// What went wrong.
    pub error: Option<String>,
    /// What kind of thing that is.
    pub error_class: Option<ErrorClass>,
    /// When to try again.
    pub retry: Option<RetryHint>,
}

impl Outcome {
    /// Whether it is a whole answer: what a worker counts comes last.
    pub(crate) fn is_answer(&self) -> bool {
        self.error.is_none() && self.text.is_some() && self.usage.is_some()
    }

    fn fail(&mut self, error: impl Into<String>, class: ErrorClass) {
        let error = error.into();
        self.text = None;
        if class == ErrorClass::RateLimited && self.retry.is_none() {
            self.retry = RetryHint::of_text(&error);
        }
        self.error = Some(error);
        self.error_class = Some(class);
    }
}

/// Reads the output of a worker program line by line.
#[derive(Clone, Debug)]
pub enum Reader {
    /// Nothing is known of its output.
    Nothing,
    /// Codex.
    Codex(codex::Output),
    /// Claude.
    Claude(claude::Output),
    /// Gemini.
    Gemini(gemini::Output),
}

impl Reader {
    /// Takes a line. True if it says something new about usage.
    pub fn line(&mut self, stream: Stream, line: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Codex(output) => output.line(stream, line),
            Self::Claude(output) => output.line(stream, line),
            Self::Gemini(output) => output.line(stream, line),
        }
    }

    /// Whether it is what this reader reads.
    pub fn is_recognised(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Codex(output) => output.is_recognised(),
            Self::Claude(output) => output.is_recognised(),
            Self::Gemini(output) => output.is_recognised(),
        }
    }

    /// What was used so far.
    pub fn usage(&self) -> Option<&TokenCounts> {
        match self {
            Self::Nothing => None,
            Self::Codex(output) => output.outcome.usage.as_ref(),
            Self::Claude(output) => output.outcome.usage.as_ref(),
            Self::Gemini(output) => output.outcome.usage.as_ref(),
        }
    }

    /// How often it said that its context was renewed.
    pub fn compactions(&self) -> u64 {
        match self {
            Self::Nothing | Self::Gemini(_) => 0,
            Self::Codex(output) => output.compactions,
            Self::Claude(output) => output.compactions,
        }
    }

    /// Whether waiting any longer is in vain: it will not be let in.
    pub fn is_hopeless(&self) -> bool {
        match self {
            Self::Nothing | Self::Codex(_) | Self::Gemini(_) => false,
            Self::Claude(output) => output.refusals >= 2,
        }
    }

    /// What it all means, once the program has ended.
    pub fn finish(self, exit_code: Option<i32>) -> Outcome {
        match self {
            Self::Nothing => Outcome::default(),
            Self::Codex(output) => output.finish(exit_code),
            Self::Claude(output) => output.finish(exit_code),
            Self::Gemini(output) => output.finish(exit_code),
        }
    }
}

/// The first line of a text that has something in it.
fn first_line(text: &str) -> Option<&str> {
    text.lines().find(|line| !line.trim().is_empty())
}

/// The end of what was printed to standard error, enough to find an error in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stderr(String);

impl Stderr {
    const KEPT: usize = 64 << 10;

    fn push(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
        if self.0.len() > 2 * Self::KEPT {
            let cut = self.0.ceil_char_boundary(self.0.len() - Self::KEPT);
            self.0.drain(..cut);
        }
    }
}
