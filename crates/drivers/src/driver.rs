//! Drivers: build the command lines of worker programs and parse their output, one file per program. Nothing here
//! starts a process; drivers only transform values.

mod claude;
mod codex;
pub mod codex_app_server;
pub mod command;
mod declared;
mod gemini;
mod retry;

use std::{collections::BTreeMap, ffi::OsStr, path::Path};

use protocol::company::session::CompanySessionPermission;
use serde_json::Value;

pub use declared::{DeclaredDriver, DeclaredOutput, DeclaredPrompt};
pub use retry::RetryHint;

use crate::{
    output::Stream,
    threads::{Threads, forked_thread},
    usage::TokenCounts,
};

/// Selects how the command line of a session is built and how its output is parsed.
#[derive(Clone, Debug, PartialEq)]
pub enum Driver {
    /// Any command; the caller supplies the command line.
    Command,
    /// OpenAI Codex, run as `codex exec`.
    Codex,
    /// OpenAI Codex, run as `codex app-server` and driven by JSON-RPC messages.
    CodexAppServer,
    /// Anthropic Claude Code, run as `claude -p`.
    Claude,
    /// Google Gemini CLI.
    Gemini,
    /// A driver declared in `config.toml`, with its name.
    Declared(String, DeclaredDriver),
}

/// The inputs from which a driver builds a command line.
#[derive(Clone, Debug, Default)]
pub struct CommandRequest {
    /// Name or path of the worker program.
    pub bin: String,
    /// The prompt.
    pub prompt: String,
    /// Model to request; absent for the program's default.
    pub model: Option<String>,
    /// Permission level, translated into the program's own sandbox or approval flags.
    pub permission: CompanySessionPermission,
    /// Path of the `AGENTS.md` nearest to the working directory, for programs that do not read it by themselves.
    pub instructions: Option<String>,
    /// Content of that file, for programs that accept no instruction file (Gemini).
    pub instructions_text: Option<String>,
    /// File into which the program writes its last message, where it supports that (Codex).
    pub last_message: String,
    /// JSON schema of the answer, and the path of a file that contains it.
    pub schema: Option<(String, String)>,
    /// Tools the agent may use; empty for the driver's default.
    pub allowed_tools: Vec<String>,
    /// Whether the program persists its session so that it can be resumed.
    pub keeps_session: bool,
}

/// A command line with its input, variables and settings file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandLine {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Text written to standard input; absent if nothing is written.
    pub stdin: Option<String>,
    /// Environment variables that the program needs.
    pub env: BTreeMap<String, String>,
    /// The environment variable that names a settings file, and the content of that file.
    pub settings: Option<(String, Value)>,
}

impl Driver {
    /// Returns the driver for the provider name of a run; [`Driver::Command`] for unknown names.
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

    /// Returns the driver whose program has this file name, optionally followed by `-` and a suffix.
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

    /// Name of the driver on the wire.
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

    /// Signal on which the program terminates itself and its tools.
    pub fn stop_signal(&self) -> StopSignal {
        match self {
            Self::Codex | Self::Claude => StopSignal::Interrupt,
            Self::Command | Self::CodexAppServer | Self::Gemini => StopSignal::Terminate,
            Self::Declared(_, driver) => driver.stop_signal,
        }
    }

    /// Builds the command line; `None` if the caller has to supply it.
    pub fn command_line(&self, request: &CommandRequest) -> Option<CommandLine> {
        match self {
            Self::Command | Self::CodexAppServer => None,
            Self::Codex => Some(codex::command_line(request)),
            Self::Claude => Some(claude::command_line(request)),
            Self::Gemini => Some(gemini::command_line(request)),
            Self::Declared(_, driver) => Some(declared::command_line(driver, request)),
        }
    }

    /// Returns the parser for the program's output.
    pub fn reader(&self) -> Reader {
        match self {
            Self::Command | Self::CodexAppServer => Reader::Nothing,
            Self::Codex => Reader::Codex(codex::CodexOutput::default()),
            Self::Claude => Reader::Claude(claude::ClaudeOutput::default()),
            Self::Gemini => Reader::Gemini(gemini::GeminiOutput::default()),
            Self::Declared(_, driver) => match driver.output {
                DeclaredOutput::Text => Reader::Nothing,
                DeclaredOutput::Codex => Reader::Codex(codex::CodexOutput::default()),
                DeclaredOutput::Claude => Reader::Claude(claude::ClaudeOutput::default()),
                DeclaredOutput::Gemini => Reader::Gemini(gemini::GeminiOutput::default()),
            },
        }
    }

    /// Like [`Driver::reader`], for a program that may continue a thread of earlier runs. `totals` returns what those
    /// runs reported; it is only called for programs that report the usage of whole threads.
    pub fn continuing_reader(&self, argv: &[String], totals: impl FnOnce() -> Threads) -> Reader {
        match self.reader() {
            Reader::Codex(_) => {
                let parent = forked_thread(argv).map(ToOwned::to_owned);
                Reader::Codex(codex::CodexOutput::continuing(totals(), parent))
            }
            reader @ (Reader::Nothing | Reader::Claude(_) | Reader::Gemini(_)) => reader,
        }
    }

    /// Further environment variables that the program reads. A trailing `*` matches any suffix.
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

    /// Environment variables that hold API keys of the provider.
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

/// The first signal sent to stop a session.
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
    /// Name of the signal, such as `SIGTERM`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
        }
    }
}

/// Class of a worker failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// The provider rejected the credentials.
    Auth,
    /// A rate limit or usage limit was reached.
    RateLimited,
    /// The prompt exceeds the context window.
    ContextExceeded,
    /// The account has no credit or billing failed.
    Billing,
    /// Any other failure.
    Other,
}

impl ErrorClass {
    /// Name of the class in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::RateLimited => "rate_limited",
            Self::ContextExceeded => "context_exceeded",
            Self::Billing => "billing",
            Self::Other => "other",
        }
    }

    /// Classifies the text of an error. Must only be applied to messages of the program, never to output of the model.
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

    /// Classifies an HTTP status; `None` for a status that maps to no class.
    pub fn of_status(status: u64) -> Option<Self> {
        match status {
            401 | 403 => Some(Self::Auth),
            402 => Some(Self::Billing),
            429 => Some(Self::RateLimited),
            _ => None,
        }
    }
}

/// The result parsed from a worker's output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Last message of the worker; absent if it failed or printed none.
    pub text: Option<String>,
    /// The program's own id of the session.
    pub session_id: Option<String>,
    /// Structured answer, if a schema was requested and the program supports it.
    pub structured: Option<Value>,
    /// Tokens used by this run.
    pub usage: Option<TokenCounts>,
    /// Tokens used by the whole thread, earlier runs included, where the program reports that.
    pub thread_usage: Option<TokenCounts>,
    /// Cost in US dollars, if the program reports it.
    pub cost_usd: Option<f64>,
    /// Error message; absent if the worker succeeded.
    pub error: Option<String>,
    /// Class of the error; present if `error` is.
    pub error_class: Option<ErrorClass>,
    /// When to retry after a rate limit, if the program reports it.
    pub retry: Option<RetryHint>,
}

impl Outcome {
    /// Whether the answer is complete: programs print usage last, so an answer with usage is not truncated.
    pub fn is_answer(&self) -> bool {
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

/// Parses the output of a worker program line by line.
#[derive(Clone, Debug)]
pub enum Reader {
    /// The output format is unknown; nothing is parsed.
    Nothing,
    /// `codex exec --json`.
    Codex(codex::CodexOutput),
    /// `claude -p`.
    Claude(claude::ClaudeOutput),
    /// `gemini`.
    Gemini(gemini::GeminiOutput),
}

impl Reader {
    /// Parses a line. Returns whether it changed the usage.
    pub fn line(&mut self, stream: Stream, line: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Codex(output) => output.line(stream, line),
            Self::Claude(output) => output.line(stream, line),
            Self::Gemini(output) => output.line(stream, line),
        }
    }

    /// Whether the output has the format of this reader.
    pub fn is_recognised(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Codex(output) => output.is_recognised(),
            Self::Claude(output) => output.is_recognised(),
            Self::Gemini(output) => output.is_recognised(),
        }
    }

    /// Usage reported so far.
    pub fn usage(&self) -> Option<&TokenCounts> {
        match self {
            Self::Nothing => None,
            Self::Codex(output) => output.outcome.usage.as_ref(),
            Self::Claude(output) => output.outcome.usage.as_ref(),
            Self::Gemini(output) => output.outcome.usage.as_ref(),
        }
    }

    /// Number of reported context compactions.
    pub fn compactions(&self) -> u64 {
        match self {
            Self::Nothing | Self::Gemini(_) => 0,
            Self::Codex(output) => output.compactions,
            Self::Claude(output) => output.compactions,
        }
    }

    /// Whether the program keeps retrying although the provider rejects its credentials.
    pub fn is_hopeless(&self) -> bool {
        match self {
            Self::Nothing | Self::Codex(_) | Self::Gemini(_) => false,
            Self::Claude(output) => output.refusals >= 2,
        }
    }

    /// Returns the outcome once the program has exited.
    pub fn finish(self, exit_code: Option<i32>) -> Outcome {
        match self {
            Self::Nothing => Outcome::default(),
            Self::Codex(output) => output.finish(exit_code),
            Self::Claude(output) => output.finish(exit_code),
            Self::Gemini(output) => output.finish(exit_code),
        }
    }
}

/// First line that is not blank.
fn first_line(text: &str) -> Option<&str> {
    text.lines().find(|line| !line.trim().is_empty())
}

/// The tail of standard error, at least the last [`Stderr::KEPT`] bytes, to find an error message in.
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
