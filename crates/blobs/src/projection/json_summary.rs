//! The `json_summary` projection: the structure of a JSON document, read in one pass without holding the document in
//! memory.

use std::{
    cell::Cell,
    collections::BTreeSet,
    fmt,
    io::{self, BufReader, Read},
};

use serde::{
    Deserializer as _,
    de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value, json};

use super::{ExtractedContent, MAX_SOURCE, ProjectionError, cut_text};

const MAX_KEYS: usize = 200;
const MAX_KEY_LENGTH: usize = 256;
const MAX_SUMMARY: usize = 64 * 1024;
/// Below the recursion limit of the parser, so that the cause of the failure is known.
const MAX_DEPTH: usize = 100;

pub(super) fn make(input: impl Read) -> Result<ExtractedContent, ProjectionError> {
    let size = Cell::new(0);
    let counted = Counted {
        input: input.take(MAX_SOURCE + 1),
        size: &size,
    };
    let walk = Walk::default();
    let mut parser = serde_json::Deserializer::from_reader(BufReader::new(counted));
    let parsed = (&mut parser)
        .deserialize_any(Top(&walk))
        .and_then(|summary| parser.end().map(|()| summary));
    if size.get() > MAX_SOURCE {
        return Err(ProjectionError::TOO_LARGE);
    }
    let mut summary = match parsed {
        Ok(summary) => summary,
        Err(_) if walk.is_too_deep.get() => return Err(ProjectionError::TOO_DEEP),
        Err(error) if error.is_io() => return Err(ProjectionError::UNAVAILABLE),
        Err(_) => return Err(ProjectionError::UNDECODABLE),
    };
    summary.insert("depth".to_owned(), Value::from(walk.deepest.get()));
    summary.insert("byte_size".to_owned(), Value::from(size.get()));
    Ok(ExtractedContent {
        content: print_bounded(summary),
        mime: "application/json",
        metadata: Map::new(),
    })
}

/// Serializes the summary with as many keys as fit into [`MAX_SUMMARY`] bytes.
fn print_bounded(mut summary: Map<String, Value>) -> Vec<u8> {
    loop {
        let printed = Value::from(summary.clone()).to_string().into_bytes();
        if printed.len() <= MAX_SUMMARY {
            return printed;
        }
        if let Some(Value::Array(keys)) = summary.get_mut("keys") {
            keys.truncate(keys.len() * 3 / 4);
        }
        summary.insert("keys_truncated".to_owned(), Value::from(true));
    }
}

struct Counted<'a, R> {
    input: R,
    size: &'a Cell<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.size.set(self.size.get() + read as u64);
        Ok(read)
    }
}

#[derive(Default)]
struct Walk {
    deepest: Cell<usize>,
    is_too_deep: Cell<bool>,
}

/// The type of one value, without its content.
enum Shape {
    Null,
    Boolean,
    Number,
    Text,
    Array(u64),
    Object(u64),
}

impl Shape {
    fn type_name(&self) -> &'static str {
        match self {
            Shape::Null => "null",
            Shape::Boolean => "boolean",
            Shape::Number => "number",
            Shape::Text => "string",
            Shape::Array(_) => "array",
            Shape::Object(_) => "object",
        }
    }
}

/// Visits one value below the top level.
#[derive(Clone, Copy)]
struct Below<'a> {
    walk: &'a Walk,
    depth: usize,
}

impl<'a> Below<'a> {
    fn enter<E: serde::de::Error>(self) -> Result<Below<'a>, E> {
        let depth = self.depth + 1;
        if depth > MAX_DEPTH {
            self.walk.is_too_deep.set(true);
            return Err(E::custom("nested too deep"));
        }
        self.walk.deepest.set(self.walk.deepest.get().max(depth));
        Ok(Below { depth, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Below<'_> {
    type Value = Shape;

    fn deserialize<D: serde::Deserializer<'de>>(self, parser: D) -> Result<Shape, D::Error> {
        parser.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Below<'_> {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(Shape::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Shape, E> {
        Ok(Shape::Boolean)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Shape, E> {
        Ok(Shape::Number)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Shape, E> {
        Ok(Shape::Number)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Shape, E> {
        Ok(Shape::Number)
    }

    fn visit_str<E>(self, _: &str) -> Result<Shape, E> {
        Ok(Shape::Text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Shape, A::Error> {
        let below = self.enter()?;
        let mut count = 0;
        while items.next_element_seed(below)?.is_some() {
            count += 1;
        }
        Ok(Shape::Array(count))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Shape, A::Error> {
        let below = self.enter()?;
        let mut count = 0;
        while entries.next_key::<serde::de::IgnoredAny>()?.is_some() {
            entries.next_value_seed(below)?;
            count += 1;
        }
        Ok(Shape::Object(count))
    }
}

/// Visits the top-level value and describes it in more detail.
struct Top<'a>(&'a Walk);

impl Top<'_> {
    fn below(&self) -> Below<'_> {
        Below {
            walk: self.0,
            depth: 0,
        }
    }
}

fn simple(shape: &Shape) -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), Value::from(shape.type_name()))])
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(simple(&Shape::Null))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(simple(&Shape::Boolean))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(simple(&Shape::Number))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(simple(&Shape::Number))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(simple(&Shape::Number))
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(simple(&Shape::Text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let below = self.below().enter::<A::Error>()?;
        let mut length: u64 = 0;
        let mut types = BTreeSet::new();
        while let Some(shape) = items.next_element_seed(below)? {
            length += 1;
            types.insert(shape.type_name());
        }
        let mut summary = simple(&Shape::Array(length));
        summary.insert("length".to_owned(), Value::from(length));
        summary.insert("item_types".to_owned(), json!(types));
        Ok(summary)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let below = self.below().enter::<A::Error>()?;
        let mut count: u64 = 0;
        let mut keys = Vec::new();
        while let Some(key) = entries.next_key::<String>()? {
            let shape = entries.next_value_seed(below)?;
            count = count
                .checked_add(1)
                .ok_or_else(|| A::Error::custom("too many keys"))?;
            if keys.len() < MAX_KEYS {
                keys.push(describe(&key, &shape));
            }
        }
        let mut summary = simple(&Shape::Object(count));
        summary.insert("key_count".to_owned(), Value::from(count));
        summary.insert(
            "keys_truncated".to_owned(),
            Value::from(count > keys.len() as u64),
        );
        summary.insert("keys".to_owned(), Value::from(keys));
        Ok(summary)
    }
}

fn describe(key: &str, shape: &Shape) -> Value {
    let mut entry = simple(shape);
    entry.insert("key".to_owned(), cut_text(key, MAX_KEY_LENGTH).into());
    match shape {
        Shape::Array(length) => {
            entry.insert("length".to_owned(), Value::from(*length));
        }
        Shape::Object(count) => {
            entry.insert("key_count".to_owned(), Value::from(*count));
        }
        Shape::Null | Shape::Boolean | Shape::Number | Shape::Text => {}
    }
    Value::from(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(text: &str) -> Result<Value, ProjectionError> {
        make(text.as_bytes()).map(|made| {
            assert!(made.content.len() <= MAX_SUMMARY);
            serde_json::from_slice(&made.content).expect("a summary is JSON")
        })
    }

    #[test]
    fn an_object_is_its_keys_and_their_types() {
        let text = r#"{"a": 1, "b": [1, 2], "c": {"d": null}, "e": "x", "f": true, "g": null}"#;
        let expected = json!({
            "type": "object", "key_count": 6, "keys_truncated": false, "depth": 2, "byte_size": text.len(),
            "keys": [
                {"key": "a", "type": "number"},
                {"key": "b", "type": "array", "length": 2},
                {"key": "c", "type": "object", "key_count": 1},
                {"key": "e", "type": "string"},
                {"key": "f", "type": "boolean"},
                {"key": "g", "type": "null"},
            ],
        });
        assert_eq!(summary(text).unwrap(), expected);
    }

    #[test]
    fn an_array_is_its_length_and_the_types_in_it() {
        assert_eq!(
            summary("[1, -2.5, {}, [[]]]\n").unwrap(),
            json!({
                "type": "array", "length": 4, "item_types": ["array", "number", "object"],
                "depth": 3, "byte_size": 20,
            })
        );
        assert_eq!(
            summary("7").unwrap(),
            json!({"type": "number", "depth": 0, "byte_size": 1})
        );
    }

    #[test]
    fn many_or_long_keys_are_cut() {
        let entries: Vec<_> = (0..1000).map(|i| format!("\"k{i}\":{i}")).collect();
        let many = summary(&format!("{{{}}}", entries.join(","))).unwrap();
        assert_eq!(many["keys"].as_array().unwrap().len(), MAX_KEYS);
        assert_eq!(many["key_count"], 1000);
        assert_eq!(many["keys_truncated"], true);

        let entries: Vec<_> = (0..200)
            .map(|i| format!("\"{i}{}\":{i}", "\\u0001".repeat(5_000)))
            .collect();
        let long = summary(&format!("{{{}}}", entries.join(","))).unwrap();
        assert_eq!(long["keys_truncated"], true);
    }

    #[test]
    fn deep_or_broken_json_has_no_summary() {
        let deep = "[".repeat(100_000);
        assert_eq!(summary(&deep), Err(ProjectionError::TOO_DEEP));
        let objects = "{\"a\":".repeat(100_000);
        assert_eq!(summary(&objects), Err(ProjectionError::TOO_DEEP));
        for broken in ["", "{", "{}{}", "[1,]", "\u{0}", "nul"] {
            assert_eq!(summary(broken), Err(ProjectionError::UNDECODABLE));
        }
    }
}
