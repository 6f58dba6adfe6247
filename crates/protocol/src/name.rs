//! The validated display name of a workspace, folder or thread.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

/// A display name of 1 to 200 characters, trimmed and without control characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Name(String);

/// The text is not a valid [`Name`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InvalidName {
    /// The text is empty after control characters and surrounding whitespace are removed.
    Blank,
    /// The text has more than [`Name::MAX_CHARS`] characters; the value is its length in characters.
    TooLong(usize),
}

impl Name {
    /// The maximum length of a name in characters.
    pub const MAX_CHARS: usize = 200;

    /// Removes control characters and surrounding whitespace, then validates the length.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        let kept: String = text
            .chars()
            .filter(|character| !character.is_control())
            .collect();
        let trimmed = kept.trim();
        match trimmed.chars().count() {
            0 => Err(InvalidName::Blank),
            count if count > Self::MAX_CHARS => Err(InvalidName::TooLong(count)),
            _ => Ok(Self(trimmed.to_owned())),
        }
    }

    /// Like [`Name::parse`], but truncates a long text to [`Name::MAX_CHARS`]. Returns `None` if the text is blank.
    pub fn shortened(text: &str) -> Option<Self> {
        let kept = text.trim().chars().filter(|c| !c.is_control());
        let kept: String = kept.take(Self::MAX_CHARS).collect();
        Self::parse(&kept).ok()
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl fmt::Display for InvalidName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => write!(formatter, "expected a name, found only whitespace"),
            Self::TooLong(count) => write!(
                formatter,
                "expected a name of at most {} characters, found {count}",
                Name::MAX_CHARS
            ),
        }
    }
}

impl std::error::Error for InvalidName {}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

impl JsonSchema for Name {
    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A display name: trimmed, without control characters.",
            "minLength": 1,
            "maxLength": Name::MAX_CHARS,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_blanks_around_are_dropped() {
        assert_eq!(Name::parse("  Back\u{7}end ").unwrap().as_str(), "Backend");
    }

    #[test]
    fn length_counts_characters_not_bytes() {
        assert!(Name::parse(&"é".repeat(200)).is_ok());
        assert_eq!(
            Name::parse(&"é".repeat(201)),
            Err(InvalidName::TooLong(201))
        );
        assert_eq!(Name::parse(" \n "), Err(InvalidName::Blank));
    }
}
