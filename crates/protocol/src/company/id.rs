//! The identifiers of the company family, one type each.
//!
//! Generated ids are a prefix and a ULID; files written by hand may use any name that is safe as a path component. A
//! value of these types is validated, so it can be used in a path as it is.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{Id, InvalidId};

/// Long enough for every generated id, short enough that a file name can hold two ids and a suffix.
const LONGEST: usize = 96;

const EXPECTED: &str =
    "1 to 96 of the characters A-Z a-z 0-9 . _ - without `..`, beginning with a letter or digit";

/// Returns the text if it is safe as a single path component.
pub(crate) fn checked_id(text: &str) -> Option<&str> {
    let fits = text.len() <= LONGEST
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        && !text.contains("..");
    fits.then_some(text)
}

macro_rules! company_ids {
    ($($(#[doc = $doc:literal])+ $name:ident = $prefix:literal;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Returns the text of the id.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Id for $name {
            const PREFIX: &'static str = $prefix;

            fn parse(text: &str) -> Result<Self, InvalidId> {
                match checked_id(text) {
                    Some(text) => Ok(Self(text.to_owned())),
                    None => Err(InvalidId::new(text, EXPECTED)),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "format": "company-id",
                    "minLength": 1,
                    "maxLength": LONGEST,
                    "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$",
                })
            }
        }
    )+};
}

company_ids! {
    /// Id of a company, which owns one company folder.
    CompanyId = "cmp_";
    /// Id of a team.
    TeamId = "team_";
    /// Id of an agent of the company.
    AgentId = "agent_";
    /// Id of a project.
    ProjectId = "proj_";
    /// Id of a conversation.
    ConversationId = "conv_";
    /// Id of a message in a conversation.
    ConversationMessageId = "msg_";
    /// Id of a task.
    TaskId = "task_";
    /// Id of a milestone of a task.
    MilestoneId = "ms_";
    /// Id of a run: one execution recorded in the company folder.
    RunId = "run_";
    /// Id of a job: a unit of delegated work.
    JobId = "job_";
    /// Id of a document: a Markdown file with front matter. The wire calls it artifact.
    DocumentId = "art_";
    /// Id of a context pack: the references and snapshots that a run received.
    ContextPackId = "ctx_";
    /// Id of a share pack: a redacted bundle of runs for other readers.
    SharePackId = "share_";
    /// Id of a review: a decision about a proposed document.
    ReviewId = "rev_";
    /// Id of a help request to a manager.
    HelpRequestId = "help_";
    /// Id of a comment.
    CommentId = "cmt_";
    /// Id of an event of a run.
    EventId = "evt_";
    /// Id of a repository, as the company names it.
    RepoId = "repo_";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_one_safe_part_of_a_path() {
        for good in ["run_01J8", "human_ceo", "a", "agent.yaml", "v1-2_3"] {
            assert_eq!(RunId::parse(good).unwrap().as_str(), good);
        }
        let long = "a".repeat(97);
        for bad in [
            "", ".", "..", "a..b", "../x", "a/b", "a\\b", "a\0", " a", "-a", "é", &long,
        ] {
            assert!(RunId::parse(bad).is_err(), "{bad}");
        }
    }
}
