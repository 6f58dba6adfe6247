//! YAML 1.2 as used in company folders: parsed into a JSON value with limits, printed in block style.

use serde::Serialize;
use serde_json::Value;

use crate::Error;

/// Parses one document. An empty document is `null`; `yes`, `on` and times are strings; a duplicate key is an error.
///
/// The error is one readable sentence with the line number.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        with_snippet: false,
        ignore_binary_tag_for_string: true,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let message = error.to_string();
        let first = message.lines().next().unwrap_or_default();
        first.strip_prefix("error: ").unwrap_or(first).to_owned()
    })
}

/// Prints a value with its fields in declaration order; words that older parsers take for booleans are quoted.
pub(crate) fn print<T: Serialize>(value: &T) -> Result<String, Error> {
    serde_saphyr::to_string(value)
        .map_err(|error| Error::Refused(format!("the document cannot be written: {error}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn scalars_follow_the_core_schema_of_yaml_1_2() {
        let text = "a: yes\nb: 2024-01-01T00:00:00Z\nc: 0x10\nd: on\ne: ~\nf: true\ng: n\nh: 1.5\n";
        let expected = json!({
            "a": "yes", "b": "2024-01-01T00:00:00Z", "c": 16, "d": "on", "e": null, "f": true, "g": "n", "h": 1.5
        });
        assert_eq!(parse(text), Ok(expected));
        assert_eq!(parse(""), Ok(Value::Null));
        assert!(parse("a: 1\na: 2\n").unwrap_err().contains("duplicate"));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[-?:,\\[\\]{}#&*!|>'\"%@`~ yesno0-9.\n\t]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z~#:-]{1,6}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back_the_same(value in any_json()) {
            let text = print(&value).unwrap();
            prop_assert_eq!(parse(&text), Ok(value), "{}", text);
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,200}") {
            let _ = parse(&text);
        }
    }
}
