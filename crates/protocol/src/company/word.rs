//! The words of the company family that appear in many methods and files.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! words {
    ($($(#[doc = $doc:literal])+ $name:ident { $($(#[doc = $word_doc:literal])+ $variant:ident = $word:literal,)+ })+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        pub enum $name {
            $($(#[doc = $word_doc])+ #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// The word on the wire and in files.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(self.as_str())
            }
        }
    )+};
}

words! {
    /// Who may see something.
    Visibility {
        /// The agent that made it, and people.
        PrivateAgent = "private_agent",
        /// The team it belongs to, and managers.
        Team = "team",
        /// Managers and above.
        Managers = "managers",
        /// Everybody in the company.
        Org = "org",
    }
    /// What somebody who acts is.
    ActorRole {
        /// A person.
        Human = "human",
        /// The head of the company.
        Ceo = "ceo",
        /// The head of a department.
        Director = "director",
        /// Leads work.
        Manager = "manager",
        /// Does work.
        Worker = "worker",
    }
    /// How a deciding caller was present, as the gateway knows it from the connection.
    Presence {
        /// A browser that signed in to the desktop.
        Desktop = "desktop",
        /// A process that can read the home: `ac`, a client on stdio, or one with the owner's token.
        Terminal = "terminal",
        /// A client with a stored token.
        Token = "token",
    }
    /// What an agent is.
    AgentRole {
        /// The head of the company.
        Ceo = "ceo",
        /// The head of a department.
        Director = "director",
        /// Leads work.
        Manager = "manager",
        /// Does work.
        Worker = "worker",
    }
    /// Whether a project is worked on.
    ProjectStatus {
        /// It is.
        Active = "active",
        /// It is over.
        Archived = "archived",
    }
    /// Where a run stands.
    RunStatus {
        /// From its creation until it ends.
        Running = "running",
        /// It ended well.
        Ended = "ended",
        /// It failed.
        Failed = "failed",
        /// Somebody stopped it.
        Stopped = "stopped",
    }
    /// Where a task stands.
    TaskStatus {
        /// Being written.
        Draft = "draft",
        /// Can be started.
        Ready = "ready",
        /// Being worked on.
        InProgress = "in_progress",
        /// Waits for something.
        Blocked = "blocked",
        /// Finished.
        Done = "done",
        /// Given up.
        Canceled = "canceled",
    }
    /// Where a milestone stands.
    MilestoneStatus {
        /// Being written.
        Draft = "draft",
        /// Can be started.
        Ready = "ready",
        /// Being worked on.
        InProgress = "in_progress",
        /// Waits for something.
        Blocked = "blocked",
        /// Finished.
        Done = "done",
    }
    /// What a milestone asks for.
    MilestoneKind {
        /// Code.
        Coding = "coding",
        /// Knowledge.
        Research = "research",
        /// A plan.
        Planning = "planning",
    }
    /// What a conversation or a plan is about.
    CompanyScope {
        /// The whole company.
        Workspace = "workspace",
        /// One project.
        Project = "project",
    }
    /// What a conversation is.
    ConversationKind {
        /// The first place of its scope.
        Home = "home",
        /// Open to its members.
        Channel = "channel",
        /// Between two.
        Dm = "dm",
    }
    /// What a message is.
    MessageKind {
        /// Somebody said it.
        Text = "text",
        /// The company said it.
        System = "system",
        /// A worker's report.
        Report = "report",
    }
    /// How secret something is.
    Sensitivity {
        /// For everybody.
        Public = "public",
        /// For the company.
        Internal = "internal",
        /// For directors and above.
        Restricted = "restricted",
    }
    /// What a memory delta changes.
    MemoryScopeKind {
        /// The memory of a project.
        ProjectMemory = "project_memory",
        /// The guidance of an agent.
        AgentGuidance = "agent_guidance",
    }
    /// What was decided about something proposed.
    ReviewDecision {
        /// It happens.
        Approved = "approved",
        /// It does not.
        Denied = "denied",
    }
    /// What a job is for.
    JobKind {
        /// Work.
        Execution = "execution",
        /// A look around.
        Heartbeat = "heartbeat",
    }
    /// What runs a job.
    WorkerKind {
        /// OpenAI's.
        Codex = "codex",
        /// Anthropic's.
        Claude = "claude",
        /// Google's.
        Gemini = "gemini",
    }
    /// What a job may do.
    PermissionLevel {
        /// Look.
        ReadOnly = "read-only",
        /// Propose changes.
        Patch = "patch",
        /// Run commands.
        RunCommands = "run-commands",
    }
}

#[expect(clippy::derivable_impls, reason = "the enum is made by a macro")]
impl Default for JobKind {
    fn default() -> Self {
        Self::Execution
    }
}

#[expect(clippy::derivable_impls, reason = "the enum is made by a macro")]
impl Default for WorkerKind {
    fn default() -> Self {
        Self::Codex
    }
}

#[expect(clippy::derivable_impls, reason = "the enum is made by a macro")]
impl Default for PermissionLevel {
    fn default() -> Self {
        Self::ReadOnly
    }
}
