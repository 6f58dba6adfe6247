//! JSON printed in the format of ECMAScript, compared with stored cases.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(text: &str, printed: &str) {
    assert_eq!(canonical(text).as_deref(), Some(printed), "{text}");
}

#[test]
fn members_keep_the_order_of_their_first_appearance() {
    check(r#"{"b":1,"a":2,"b":3}"#, r#"{"b":3,"a":2}"#);
    check(r#"{"\u0061":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#);
}

#[test]
fn array_indices_come_first_and_ascend_at_every_level() {
    check(
        r#"{"x":{"b":0,"10":1,"9":2},"2":3,"01":4,"0":5,"4294967295":6,"4294967294":7}"#,
        r#"{"0":5,"2":3,"4294967294":7,"x":{"9":2,"10":1,"b":0},"01":4,"4294967295":6}"#,
    );
}

#[test]
fn numbers_are_doubles_with_the_fewest_digits() {
    for (text, printed) in [
        ("1.0", "1"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("1e21", "1e+21"),
        ("123456789012345678901", "123456789012345680000"),
        ("1e-7", "1e-7"),
        ("0.000001", "0.000001"),
        ("0.00000123", "0.00000123"),
        ("1.5e-9", "1.5e-9"),
        ("9007199254740993", "9007199254740992"),
        ("5e-324", "5e-324"),
        ("1e400", "null"),
        ("-1E+2", "-100"),
        ("12.50", "12.5"),
        ("-902012221306986.25", "-902012221306986.2"),
        ("33516943484187.0625", "33516943484187.062"),
        ("5.684341886080802e-14", "5.684341886080802e-14"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
    ] {
        check(text, printed);
    }
}

#[test]
fn strings_escape_quotes_backslashes_controls_and_lone_surrogates_only() {
    check(
        r#""\/\u007F\u2028\u00e9\"\\\u0022\u0008\u0009\u000a\u000c\u000D\u001F""#,
        "\"/\u{7f}\u{2028}é\\\"\\\\\\\"\\b\\t\\n\\f\\r\\u001f\"",
    );
    check(
        r#""\uD83D\uDE00 \uD83D \uDE00 \uD83D\uD83D\uDE00""#,
        r#""😀 \ud83d \ude00 \ud83d😀""#,
    );
}

#[test]
fn white_space_between_values_goes() {
    check(
        " { \"a\" : [ 1 , 2 , { } , [ ] ] }\r",
        r#"{"a":[1,2,{},[]]}"#,
    );
}

#[test]
fn what_is_no_json_prints_nothing() {
    for text in [
        "",
        " ",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "01",
        "+1",
        "1.",
        ".5",
        "1e",
        "-",
        "tru",
        "nulll",
        "\"\t\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "[1 2]",
        "{\"a\" 1}",
        "[}",
        "{]",
        "1 2",
        "\u{feff}1",
        "\"abc",
    ] {
        assert_eq!(canonical(text), None, "{text}");
    }
}

#[test]
fn texts_are_printed_as_ecmascript_printed_them() {
    for line in include_str!("cases.jsonl").lines() {
        let (text, printed): (String, Option<String>) = serde_json::from_str(line).unwrap();
        assert_eq!(canonical(&text), printed, "{text}");
    }
}

#[test]
fn a_text_nested_too_deep_is_refused_and_harms_nothing() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    check(&nested(MAX_DEPTH), &nested(MAX_DEPTH));
    assert!(!nested_too_deep(&nested(MAX_DEPTH)));
    assert_eq!(canonical(&nested(MAX_DEPTH + 1)), None);
    assert!(nested_too_deep(&nested(MAX_DEPTH + 1)));
    assert_eq!(canonical(&"{\"a\":".repeat(1_000_000)), None);
    assert!(!nested_too_deep(&format!("\"{}\"", "[".repeat(1_000_000))));
}

#[test]
fn an_object_gives_its_members_and_goes_without_one() {
    let mut object = Object::parse(r#"{"b": 1.0, "event_hash": "x", "7": {"k": []}}"#).unwrap();
    assert_eq!(object.get("b"), Some("1"));
    assert_eq!(object.get("7"), Some(r#"{"k":[]}"#));
    assert_eq!(object.get("k"), None);
    assert_eq!(object.text_without("event_hash"), r#"{"7":{"k":[]},"b":1}"#);
    object.set("b", "null".to_owned());
    object.set("c", "2".to_owned());
    assert_eq!(
        object.text(),
        r#"{"7":{"k":[]},"b":null,"event_hash":"x","c":2}"#
    );
    assert_eq!(Object::parse("[1]"), None);
    assert_eq!(Object::parse("{}").unwrap().text(), "{}");
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = canonical(&text);
        let _ = Object::parse(&text);
        let _ = nested_too_deep(&text);
    }

    #[test]
    fn no_text_that_is_nearly_json_panics(text in r#"[\[\]{}:,"\\/u0-9a-fEe.+\- tnlr\u{e9}\u{1f600}]{0,60}"#) {
        let accepted = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
        let printed = canonical(&text);
        prop_assert_eq!(printed.is_some(), accepted);
        if let Some(printed) = printed {
            prop_assert_eq!(canonical(&printed), Some(printed.clone()), "printed text is a fixed point");
        }
    }
}
