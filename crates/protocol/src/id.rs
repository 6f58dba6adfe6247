//! The identifiers of the tree family, one type each.
//!
//! An id is opaque: no order, no time in it. Ours are a prefix and 18 random characters of 62; a client may
//! make its own from `[A-Za-z0-9_-]{1,64}`. A value of these types has been checked, so it may become part of
//! a path or a query as it is.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

/// What every id type can do.
pub trait Id: Sized {
    /// What the ids we make begin with.
    const PREFIX: &'static str;

    /// Checks a client's id; blanks around it are ignored.
    fn parse(text: &str) -> Result<Self, InvalidId>;
}

/// Why a text is not an id.
#[derive(Clone, Debug, PartialEq)]
pub struct InvalidId {
    /// The text as far as it is worth showing.
    shown: String,
    /// What an id of this kind looks like.
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
            /// The text of the id.
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
    /// A workspace of the gateway.
    WorkspaceId = "ws_";
    /// A folder of the thread tree.
    FolderId = "fld_";
    /// A thread.
    ThreadId = "thr_";
    /// One exchange on a thread.
    TurnId = "trn_";
    /// An AGENTS.md document.
    AgentsDocId = "agd_";
    /// A proposed change of an AGENTS.md document.
    AgentsDocProposalId = "agp_";
    /// An artifact.
    ArtifactId = "art_";
    /// A version of an artifact.
    ArtifactVersionId = "av_";
    /// The bytes of a version.
    BlobId = "abl_";
    /// What ties an artifact to a thread, a turn or a message.
    BindingId = "abn_";
    /// An upload.
    UploadId = "upl_";
    /// A download.
    DownloadId = "dwn_";
    /// A message of a turn.
    MessageId = "msg_";
    /// A browser that is signed in to the web desktop.
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
