//! The worker programs, and where they are installed on this machine.

use std::{
    env, fmt,
    path::{Path, PathBuf},
};

/// A worker program. [`drivers::Driver`] defines how it is started and how its output is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    /// Codex, of OpenAI.
    Codex,
    /// Claude Code, of Anthropic.
    Claude,
    /// Gemini CLI, of Google.
    Gemini,
}

/// Error for a provider name that belongs to no worker program.
#[derive(Debug)]
pub struct UnknownProvider(pub String);

impl fmt::Display for UnknownProvider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "unknown provider `{}`: expected codex, claude or gemini",
            self.0
        )
    }
}

impl Program {
    /// The program of a provider, in any of the spellings that files use.
    pub fn of_provider(provider: &str) -> Result<Self, UnknownProvider> {
        match provider {
            "codex" | "codex_app_server" | "codex-app-server" => Ok(Self::Codex),
            "claude" | "claude_code" | "claude-code" => Ok(Self::Claude),
            "gemini" | "gemini_cli" => Ok(Self::Gemini),
            other => Err(UnknownProvider(other.to_owned())),
        }
    }

    /// Official name of the program's binary.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
        }
    }
}

/// The error message for a worker program that is not on this machine.
pub fn not_installed(program: &str) -> String {
    format!("{program} is not installed or not in PATH")
}

/// The executable file of a program. A path is used as it is; a name is searched in `PATH`. `None` if there is no such
/// file or it is not executable.
pub fn executable(bin: &str) -> Option<PathBuf> {
    let may_run = |path: &Path| {
        path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
    };
    let is_path = ["/", "./", "../"]
        .iter()
        .any(|start| bin.starts_with(start));
    if is_path {
        let path = PathBuf::from(bin);
        return may_run(&path).then_some(path);
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .map(|folder| folder.join(bin))
        .find(|path| may_run(path))
}
