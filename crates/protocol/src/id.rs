//! Typed identifiers of the tree family, one type per kind of object.
//!
//! Ids are opaque and unordered. The gateway generates a prefix followed by 18 random base-62 characters. Clients may
//! choose their own ids, which must match `[A-Za-z0-9_-]{1,64}`. Every value of these types is validated, so it can be
//! used in a path or a query without escaping. The ids of the company family are in `company/id.rs`.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

/// Operations common to all id types.
pub trait Id: Sized {
    /// The prefix of the ids that the gateway generates.
    const PREFIX: &'static str;

    /// Parses an id received from a client.
    ///
    /// Surrounding whitespace is ignored. Returns [`InvalidId`] unless the rest matches `[A-Za-z0-9_-]{1,64}`.
    fn parse(text: &str) -> Result<Self, InvalidId>;
}

/// The text is not a valid id.
#[derive(Clone, Debug, PartialEq)]
pub struct InvalidId {
    /// The first 64 characters of the rejected text, without control characters.
    shown: String,
    /// A description of the expected format, for the error message.
    expected: &'static str,
}

impl InvalidId {
    pub(crate) fn new(text: &str, expected: &'static str) -> Self {
        let printable = text.chars().filter(|character| !character.is_control());
        Self {
            shown: printable.take(LONGEST).collect(),
            expected,
        }
    }
}

impl fmt::Display for InvalidId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shown, expected } = self;
        write!(formatter, "`{shown}` is not an id: expected {expected}")
    }
}

impl std::error::Error for InvalidId {}

const LONGEST: usize = 64;

fn checked(text: &str) -> Result<&str, InvalidId> {
    const EXPECTED: &str = "1 to 64 of the characters A-Z a-z 0-9 _ -";
    let trimmed = text.trim();
    let fits = (1..=LONGEST).contains(&trimmed.len())
        && trimmed
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    fits.then_some(trimmed)
        .ok_or_else(|| InvalidId::new(trimmed, EXPECTED))
}

macro_rules! id_types {
    ($($(#[doc = $doc:literal])+ $name:ident = $prefix:literal;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Id for $name {
            const PREFIX: &'static str = $prefix;

            fn parse(text: &str) -> Result<Self, InvalidId> {
                checked(text).map(|text| Self(text.to_owned()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = Cow::<'de, str>::deserialize(deserializer)?;
                Self::parse(&text).map_err(de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": concat!($($doc),+),
                    "pattern": "^[A-Za-z0-9_-]{1,64}$",
                })
            }
        }
    )+};
}

id_types! {
    /// The id of a workspace.
    WorkspaceId = "ws_";
    /// The id of a folder of the thread tree.
    FolderId = "fld_";
    /// The id of a thread.
    ThreadId = "thr_";
    /// The id of a turn of a thread.
    TurnId = "trn_";
    /// The id of an AGENTS.md document.
    AgentsDocId = "agd_";
    /// The id of a proposed change to an AGENTS.md document.
    AgentsDocProposalId = "agp_";
    /// The id of an artifact.
    ArtifactId = "art_";
    /// The id of one version of an artifact.
    ArtifactVersionId = "av_";
    /// The id of the stored bytes of an artifact version or of a projection.
    BlobId = "abl_";
    /// The id of a binding between an artifact and a thread, turn, message or task.
    BindingId = "abn_";
    /// The id of an upload.
    UploadId = "upl_";
    /// The id of a download.
    DownloadId = "dwn_";
    /// The id of a message of a turn.
    MessageId = "msg_";
    /// The id of a browser session of the web desktop.
    DesktopSessionId = "dsk_";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_trimmed_and_nothing_else() {
        assert_eq!(ThreadId::parse(" thr-1_A ").unwrap().as_str(), "thr-1_A");
    }

    #[test]
    fn what_could_leave_a_folder_is_no_id() {
        for text in ["", " ", ".", "..", "a/b", "a\\b", "a\0b", "a b", "é", "a.b"] {
            assert!(ThreadId::parse(text).is_err(), "{text:?}");
        }
        assert!(ThreadId::parse(&"x".repeat(64)).is_ok());
        assert!(ThreadId::parse(&"x".repeat(65)).is_err());
    }
}
