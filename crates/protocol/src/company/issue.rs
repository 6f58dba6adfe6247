//! Validation issues of params and stored documents: one per field, in the vocabulary of the company protocol.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One violation of the schema or of a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Issue {
    /// Kind of the issue: `invalid_type`, `invalid_value`, `too_small`, `too_big`, `unrecognized_keys`,
    /// `invalid_format`, `invalid_union` or `custom`.
    pub code: String,
    /// Keys and array positions from the outermost value down to the invalid one. Empty for the whole value.
    pub path: Vec<Value>,
    /// Description of the issue for people.
    pub message: String,
    /// Additional fields that depend on the code: `expected`, `values`, `minimum`, `keys`.
    #[serde(flatten)]
    pub details: Map<String, Value>,
}

impl Issue {
    /// Creates an issue without details.
    pub fn new(code: &str, path: &[Value], message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            path: path.to_vec(),
            message: message.into(),
            details: Map::new(),
        }
    }

    /// Creates an issue with the code `custom` for a field, given as a dotted path.
    pub fn custom(field: &str, message: impl Into<String>) -> Self {
        let path: Vec<Value> = field
            .split('.')
            .filter(|key| !key.is_empty())
            .map(Value::from)
            .collect();
        Self::new("custom", &path, message)
    }

    /// Adds a detail and returns the issue.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// Returns the path joined with dots, for example `budget.hard_tokens`.
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
