//! What does not fit in params or in a stored document: one row per field, in the words of the company protocol.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One thing that does not fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Issue {
    /// The kind of the issue: `invalid_type`, `invalid_value`, `too_small`, `too_big`, `unrecognized_keys`,
    /// `invalid_format`, `invalid_union` or `custom`.
    pub code: String,
    /// Keys and places from the outermost value down to the one that does not fit.
    pub path: Vec<Value>,
    /// A sentence for people.
    pub message: String,
    /// What the code needs besides: `expected`, `values`, `minimum`, `keys`.
    #[serde(flatten)]
    pub details: Map<String, Value>,
}

impl Issue {
    /// An issue without details.
    pub fn new(code: &str, path: &[Value], message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            path: path.to_vec(),
            message: message.into(),
            details: Map::new(),
        }
    }

    /// A rule of ours about one field.
    pub fn custom(field: &str, message: impl Into<String>) -> Self {
        let path: Vec<Value> = field
            .split('.')
            .filter(|key| !key.is_empty())
            .map(Value::from)
            .collect();
        Self::new("custom", &path, message)
    }

    /// Adds a detail.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// The path with dots: `budget.hard_tokens`.
    pub fn dotted(&self) -> String {
        let keys = self.path.iter().map(|key| match key.as_str() {
            Some(key) => key.to_owned(),
            None => key.to_string(),
        });
        keys.collect::<Vec<_>>().join(".")
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.dotted();
        match place.as_str() {
            "" => formatter.write_str(&self.message),
            place => write!(formatter, "{place}: {}", self.message),
        }
    }
}
