//! Detects and redacts secrets in text.
//!
//! Detection decides whether a text may be stored, so it ignores prose such as `token: use fewer`. Redaction decides
//! which text others see, so it replaces everything that could be a value. Neither returns a secret.

use std::{borrow::Cow, ops::Range, sync::LazyLock};

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of secrets of each kind. All five counts are serialised, including zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub struct SecretCounts {
    /// API keys of providers such as OpenAI and Anthropic.
    pub(crate) openai_api_key: u64,
    /// GitHub tokens.
    pub(crate) github_token: u64,
    /// Slack tokens.
    pub(crate) slack_token: u64,
    /// `Bearer …` values and JSON Web Tokens.
    pub(crate) bearer_token: u64,
    /// Assignments such as `password=…`, keys of AWS and Google, and private keys.
    pub(crate) generic_credential_assignment: u64,
}

impl SecretCounts {
    /// Sum of all counts.
    pub fn total(&self) -> u64 {
        let Self {
            openai_api_key,
            github_token,
            slack_token,
            bearer_token,
            generic_credential_assignment,
        } = self;
        openai_api_key + github_token + slack_token + bearer_token + generic_credential_assignment
    }

    /// Adds the counts of another text.
    pub(crate) fn add_all(&mut self, other: &Self) {
        self.openai_api_key += other.openai_api_key;
        self.github_token += other.github_token;
        self.slack_token += other.slack_token;
        self.bearer_token += other.bearer_token;
        self.generic_credential_assignment += other.generic_credential_assignment;
    }

    fn add(&mut self, kind: SecretKind, count: usize) {
        let counter = match kind {
            SecretKind::ApiKey => &mut self.openai_api_key,
            SecretKind::GithubToken => &mut self.github_token,
            SecretKind::SlackToken => &mut self.slack_token,
            SecretKind::BearerToken => &mut self.bearer_token,
            SecretKind::Assignment => &mut self.generic_credential_assignment,
        };
        *counter += count as u64;
    }
}

/// A text that is to be stored contains secrets. Holds their number and not the secrets.
#[derive(Clone, Copy, Debug)]
pub struct SecretFound {
    /// Name of the checked field: `memory_delta.title`.
    pub label: &'static str,
    /// Number of secrets found of each kind.
    pub counts: SecretCounts,
}

/// Fails if a text that is to be stored contains a secret.
pub fn refuse(label: &'static str, text: &str) -> Result<(), SecretFound> {
    let counts = detect(text);
    match counts.total() {
        0 => Ok(()),
        _ => Err(SecretFound { label, counts }),
    }
}

/// Counts the secrets in a text. Each kind is counted independently: `token=sk-…` counts twice.
pub fn detect(text: &str) -> SecretCounts {
    let mut counts = SecretCounts::default();
    for kind in KINDS {
        counts.add(kind, kind.find(text, Purpose::Detect).len());
    }
    counts
}

/// Redacts the secrets of a text, one kind after the other, and counts the replacements.
pub fn redact(text: &str) -> (Cow<'_, str>, SecretCounts) {
    let mut text = Cow::Borrowed(text);
    let mut counts = SecretCounts::default();
    for kind in KINDS {
        let found = kind.find(&text, Purpose::Redact);
        if found.is_empty() {
            continue;
        }
        counts.add(kind, found.len());
        let mut redacted = String::with_capacity(text.len());
        let mut end = 0;
        for range in found {
            redacted.push_str(&text[end..range.start]);
            redacted.push_str(kind.mark());
            end = range.end;
        }
        redacted.push_str(&text[end..]);
        text = Cow::Owned(redacted);
    }
    (text, counts)
}

/// Redacts the secrets in the strings of a JSON text. All other bytes stay unchanged, so that hashes of untouched text
/// remain valid. The text must be valid JSON.
///
/// A string under a key such as `password` is a secret regardless of its form.
pub fn redact_json(json: &str) -> (Cow<'_, str>, SecretCounts) {
    let mut counts = SecretCounts::default();
    let mut redacted = String::new();
    let mut copied = 0;
    let mut key_is_credential = false;
    let mut index = 0;
    let bytes = json.as_bytes();
    while index < bytes.len() {
        match bytes[index] {
            b'"' => {}
            b'}' => {
                key_is_credential = false;
                index += 1;
                continue;
            }
            _ => {
                index += 1;
                continue;
            }
        }
        let start = index;
        index += 1;
        while index < bytes.len() && bytes[index] != b'"' {
            index += if bytes[index] == b'\\' { 2 } else { 1 };
        }
        index = (index + 1).min(bytes.len());
        let Some(quoted) = json.get(start..index) else {
            break;
        };
        // A string with a lone surrogate is valid JSON but not a Rust string; its escaped form is searched instead.
        let inner = || quoted.trim_matches('"').to_owned();
        let string = serde_json::from_str::<String>(quoted).unwrap_or_else(|_| inner());
        let is_key = bytes[index..]
            .iter()
            .find(|byte| !byte.is_ascii_whitespace())
            == Some(&b':');
        if is_key {
            key_is_credential = CREDENTIAL_NAME.is_match(&string);
            continue;
        }
        let replacement = if key_is_credential && !string.is_empty() && string != MARK {
            counts.add(SecretKind::Assignment, 1);
            Cow::Borrowed(MARK)
        } else {
            let (replacement, found) = redact(&string);
            if found.total() == 0 {
                continue;
            }
            counts.add_all(&found);
            Cow::Owned(replacement.into_owned())
        };
        redacted.push_str(&json[copied..start]);
        redacted.push_str(&serde_json::Value::from(replacement).to_string());
        copied = index;
    }
    if copied == 0 {
        return (Cow::Borrowed(json), counts);
    }
    redacted.push_str(&json[copied..]);
    (Cow::Owned(redacted), counts)
}

/// Replacement for secrets without a more specific mark.
const MARK: &str = "[REDACTED]";

#[derive(Clone, Copy)]
enum SecretKind {
    ApiKey,
    GithubToken,
    SlackToken,
    BearerToken,
    Assignment,
}

/// Kinds in the order in which they are redacted.
const KINDS: [SecretKind; 5] = [
    SecretKind::ApiKey,
    SecretKind::GithubToken,
    SecretKind::SlackToken,
    SecretKind::BearerToken,
    SecretKind::Assignment,
];

/// Purpose of a search.
#[derive(Clone, Copy, PartialEq)]
enum Purpose {
    /// Avoid false positives in prose.
    Detect,
    /// Avoid false negatives.
    Redact,
}

impl SecretKind {
    fn mark(self) -> &'static str {
        match self {
            Self::ApiKey => "[REDACTED_API_KEY]",
            Self::GithubToken => "[REDACTED_GITHUB_TOKEN]",
            Self::SlackToken => "[REDACTED_SLACK_TOKEN]",
            Self::BearerToken => "[REDACTED_BEARER]",
            Self::Assignment => MARK,
        }
    }

    /// Ranges of the secrets, in order and not overlapping.
    fn find(self, text: &str, purpose: Purpose) -> Vec<Range<usize>> {
        let pattern = match self {
            Self::ApiKey => &*API_KEY,
            Self::GithubToken => &*GITHUB_TOKEN,
            Self::SlackToken => &*SLACK_TOKEN,
            Self::BearerToken => &*BEARER_TOKEN,
            Self::Assignment => return assignments(text, purpose),
        };
        let groups = pattern.captures_iter(text);
        groups
            .filter_map(|groups| groups.name("secret").or_else(|| groups.name("jwt")))
            .map(|secret| secret.range())
            .collect()
    }
}

macro_rules! patterns {
    ($($(#[doc = $doc:literal])+ $name:ident = $pattern:expr;)+) => {$(
        $(#[doc = $doc])+
        static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new($pattern).expect("the pattern is well-formed"));
    )+};
}

/// Pattern for the names of credentials, in all common spellings.
macro_rules! credential_names {
    () => {
        r"(?i-u:(?:[a-z0-9]+[_.-])*(?:api[_-]?key|token|secret|password|passwd|passphrase|(?:secret|access|private)[_-]?(?:access[_-]?)?key))|(?-u:[a-z][A-Za-z0-9]*(?:ApiKey|Token|Secret|Password|SecretKey|AccessKey|PrivateKey))|(?-u:[A-Z0-9]+(?:PASSWORD|TOKEN|SECRET|APIKEY))"
    };
}

patterns! {
    /// Keys of OpenAI, Anthropic, OpenRouter, Stripe, Hugging Face, Groq, xAI, GitLab and npm.
    API_KEY = r"(?-u:\b)(?<secret>(?-u:sk-[A-Za-z0-9]{20,}|sk-(?:proj|svcacct|admin|ant|or)-[A-Za-z0-9_-]{16,}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{30,}|glpat-[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{36,}))";
    /// Classic and fine-grained GitHub tokens.
    GITHUB_TOKEN = r"(?-u:\b)(?<secret>(?-u:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}))";
    /// Slack tokens with any prefix.
    SLACK_TOKEN = r"(?-u:\b)(?<secret>(?-u:(?:xox[a-z]|xapp)-[A-Za-z0-9-]{16,}))";
    /// A value after the word `Bearer`, or a JSON Web Token anywhere.
    BEARER_TOKEN = r"(?-u:\b)(?:(?i-u:Bearer)(?-u:[ \t\r\n]+)(?<secret>(?-u:[A-Za-z0-9._~+/-]{12,}=*))|(?<jwt>(?-u:eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)))";
    /// Keys of AWS and Google, which are recognised without a name.
    CLOUD_KEY = r"(?-u:\b)(?<secret>(?-u:(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,}))";
    /// First line of a private key.
    PEM_BEGIN = r"-----BEGIN (?-u:[A-Z0-9 ]{0,40})PRIVATE KEY(?: BLOCK)?-----";
    /// Last line of a private key.
    PEM_END = r"-----END (?-u:[A-Z0-9 ]{0,40})PRIVATE KEY(?: BLOCK)?-----";
    /// A credential name, its closing quote if it has one, and the assignment sign before the value.
    ASSIGNMENT = concat!(
        r"(?-u:\b)(?:", credential_names!(), r#")(?-u:\\{0,3}["'])?(?-u:[ \t\r\n]*)(?<sign>=>|:=|={1,3}|:)(?<gap>(?-u:[ \t\r\n]*))(?<quote>(?-u:\\{0,3}["']))?"#
    );
    /// A JSON key whose value is a secret.
    CREDENTIAL_NAME = concat!("^(?:", credential_names!(), ")$");
}

/// Ranges of the values assigned to credential names, of cloud keys and of private keys.
fn assignments(text: &str, purpose: Purpose) -> Vec<Range<usize>> {
    let mut found: Vec<_> = CLOUD_KEY.find_iter(text).map(|key| key.range()).collect();
    let mut from = 0;
    while let Some(begin) = PEM_BEGIN.find_at(text, from) {
        // A truncated private key extends to the end of the text.
        from = PEM_END
            .find_at(text, begin.end())
            .map_or(text.len(), |end| end.end());
        found.push(begin.start()..from);
    }
    let mut from = 0;
    while let Some(head) = ASSIGNMENT.captures_at(text, from) {
        let group = |name| head.name(name).map_or("", |group| group.as_str());
        let start = head.get(0).map_or(text.len(), |head| head.end());
        let quote = group("quote");
        let value = match quote {
            "" => start..start + bare_length(&text[start..]),
            quote => start..start + quoted_length(&text[start..], quote),
        };
        let is_prose = quote.is_empty()
            && group("sign") == ":"
            && (group("gap").contains('\n') || looks_like_prose(&text[value.clone()]));
        from = value.end;
        let shown = &text[value.clone()];
        if !(shown.is_empty()
            || is_mark(shown, purpose)
            || (purpose == Purpose::Detect && is_prose))
        {
            found.push(value);
        }
    }
    merge_overlapping(found)
}

/// Length of an unquoted value: up to the next white space or quote.
fn bare_length(text: &str) -> usize {
    text.find(|next: char| next.is_whitespace() || next == '"' || next == '\'')
        .unwrap_or(text.len())
}

/// Length of a quoted value: up to the closing quote or, if that is missing, to the end of the line.
fn quoted_length(text: &str, quote: &str) -> usize {
    const MAX_LENGTH: usize = 16 << 10;
    let escapes = quote.len() - 1;
    let mut backslashes = 0;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'\\' => backslashes += 1,
            b'\n' => return index,
            byte if quote.as_bytes().last() == Some(&byte) => {
                let closes = match escapes {
                    0 => backslashes % 2 == 0,
                    _ => backslashes <= escapes,
                };
                if closes {
                    return index - escapes.min(backslashes);
                }
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
        if index >= MAX_LENGTH && text.is_char_boundary(index) {
            return index;
        }
    }
    text.len()
}

/// Returns whether an unquoted value is prose, as in `token: use fewer`: shorter than six characters or letters only.
fn looks_like_prose(value: &str) -> bool {
    let value = value.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}']);
    value.chars().count() < 6 || value.chars().all(char::is_alphabetic)
}

/// Returns whether a value is a redaction mark. For redaction only [`MARK`] counts, so that marks of other kinds are
/// replaced by it.
fn is_mark(value: &str, purpose: Purpose) -> bool {
    match purpose {
        Purpose::Redact => value == MARK,
        Purpose::Detect => KINDS.iter().any(|kind| value == kind.mark()),
    }
}

/// Sorts the ranges and merges those that overlap.
fn merge_overlapping(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `(text, counts in the order of the kinds, redacted text)`.
    const FOUND: &[(&str, [u64; 5], &str)] = &[
        // Formats that every reader of company folders recognises.
        (
            "key sk-abcdefghijklmnopqrst1234 end",
            [1, 0, 0, 0, 0],
            "key [REDACTED_API_KEY] end",
        ),
        (
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            [0, 1, 0, 0, 0],
            "[REDACTED_GITHUB_TOKEN]",
        ),
        (
            "(gho_abcdefghijklmnopqrst)",
            [0, 1, 0, 0, 0],
            "([REDACTED_GITHUB_TOKEN])",
        ),
        (
            "xoxb-1234567890-abcdefghij",
            [0, 0, 1, 0, 0],
            "[REDACTED_SLACK_TOKEN]",
        ),
        (
            "Authorization: bearer abcdef.ghijkl-mno",
            [0, 0, 0, 1, 0],
            "Authorization: bearer [REDACTED_BEARER]",
        ),
        (
            "token=sk-abcdefghijklmnopqrst",
            [1, 0, 0, 0, 1],
            "token=[REDACTED]",
        ),
        ("password=x", [0, 0, 0, 0, 1], "password=[REDACTED]"),
        ("api-key = 'abc'", [0, 0, 0, 0, 1], "api-key = '[REDACTED]'"),
        ("apikey:\"abc\"", [0, 0, 0, 0, 1], "apikey:\"[REDACTED]\""),
        ("Secret: hunter2!", [0, 0, 0, 0, 1], "Secret: [REDACTED]"),
        // Current formats.
        (
            "sk-proj-AbC_123-abcdefghijklmnop",
            [1, 0, 0, 0, 0],
            "[REDACTED_API_KEY]",
        ),
        (
            "sk-svcacct-AbC_123-abcdefghijklmnop sk-admin-AbC_123-abcdefghijklmnop",
            [2, 0, 0, 0, 0],
            "[REDACTED_API_KEY] [REDACTED_API_KEY]",
        ),
        (
            "sk-ant-api03-AbCdEf_123-abcdefghijklmnop",
            [1, 0, 0, 0, 0],
            "[REDACTED_API_KEY]",
        ),
        (
            "sk-ant-oat01-AbCdEf_123-abcdefghijklmnop",
            [1, 0, 0, 0, 0],
            "[REDACTED_API_KEY]",
        ),
        (
            "ghs_abcdefghijklmnopqrst ghu_abcdefghijklmnopqrst ghr_abcdefghijklmnopqrst",
            [0, 3, 0, 0, 0],
            "[REDACTED_GITHUB_TOKEN] [REDACTED_GITHUB_TOKEN] [REDACTED_GITHUB_TOKEN]",
        ),
        (
            "xapp-1-A0123456789-1234567890123-abcdef0123456789",
            [0, 0, 1, 0, 0],
            "[REDACTED_SLACK_TOKEN]",
        ),
        (
            "ASIAIOSFODNN7EXAMPLE GOCSPX-abcdefghijklmnopqrstuvwxyz12",
            [0, 0, 0, 0, 2],
            "[REDACTED] [REDACTED]",
        ),
        (
            "aws_secret_access_key = \"wJalrXUtnFEMI/K7MDENG\"",
            [0, 0, 0, 0, 1],
            "aws_secret_access_key = \"[REDACTED]\"",
        ),
        (
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----",
            [0, 0, 0, 0, 1],
            "[REDACTED]",
        ),
        (
            "github_pat_11ABCDEFG0abcdefghij_klmnopqrstuv",
            [0, 1, 0, 0, 0],
            "[REDACTED_GITHUB_TOKEN]",
        ),
        (
            "xoxs-1234567890-abcdefghij xoxr-1234567890-abcdefghij",
            [0, 0, 2, 0, 0],
            "[REDACTED_SLACK_TOKEN] [REDACTED_SLACK_TOKEN]",
        ),
        ("AKIAIOSFODNN7EXAMPLE", [0, 0, 0, 0, 1], "[REDACTED]"),
        (
            "AIzaSyA1234567890abcdefghijklmnopqrstuv",
            [0, 0, 0, 0, 1],
            "[REDACTED]",
        ),
        (
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
            [0, 0, 0, 1, 0],
            "[REDACTED_BEARER]",
        ),
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb",
            [0, 0, 0, 0, 1],
            "a\n[REDACTED]\nb",
        ),
        (
            "-----BEGIN PRIVATE KEY-----\nMIIE cut off",
            [0, 0, 0, 0, 1],
            "[REDACTED]",
        ),
        (
            "DB_PASSWORD=hunter",
            [0, 0, 0, 0, 1],
            "DB_PASSWORD=[REDACTED]",
        ),
        (
            "PGPASSWORD=hunter",
            [0, 0, 0, 0, 1],
            "PGPASSWORD=[REDACTED]",
        ),
        (
            "export OPENAI_API_KEY='abc def'",
            [0, 0, 0, 0, 1],
            "export OPENAI_API_KEY='[REDACTED]'",
        ),
        (
            "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG",
            [0, 0, 0, 0, 1],
            "AWS_SECRET_ACCESS_KEY=[REDACTED]",
        ),
        (
            r#"{"password": "x", "a": "b"}"#,
            [0, 0, 0, 0, 1],
            r#"{"password": "[REDACTED]", "a": "b"}"#,
        ),
        (
            r#"{"chunk":"{\"clientSecret\":\"a b\",\"n\":1}"}"#,
            [0, 0, 0, 0, 1],
            r#"{"chunk":"{\"clientSecret\":\"[REDACTED]\",\"n\":1}"}"#,
        ),
        (
            "password: \"with some spaces\" and more",
            [0, 0, 0, 0, 1],
            "password: \"[REDACTED]\" and more",
        ),
        (
            "password: \"cut off here",
            [0, 0, 0, 0, 1],
            "password: \"[REDACTED]",
        ),
    ];

    const NOT_FOUND: &[&str] = &[
        "",
        "token: use fewer",
        "the secret: stay calm",
        "Password: required.",
        "The token:\n\nabc123def is below",
        "max_tokens: 4096, total_tokens=12",
        "sk-short and risk-abcdefghijklmnopqrstuvwx",
        "sk-learn-is-a-library-for-people",
        "ghx_abcdefghijklmnopqrstuvwxyz",
        "xoxb-short",
        "bearer of news",
        "AKIA is a prefix",
        "AIza too",
        "GOCSPX-short and ASIA is a continent",
        "sk-proj-short, sk-ant-short and sk-svcacct-",
        "github_pat_short and ghs_short",
        "xapp-short",
        "{\"password\": \"\", \"passwords\": \"two of them\"}",
        "eyJhbGciOiJIUzI1NiJ9.only",
        "-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----",
        "the password is written down nowhere",
        "secretary=agent_1",
        "event_hash: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "password=\"\"",
        "password=[REDACTED] token: [REDACTED_API_KEY]",
    ];

    fn counts(of: SecretCounts) -> [u64; 5] {
        [
            of.openai_api_key,
            of.github_token,
            of.slack_token,
            of.bearer_token,
            of.generic_credential_assignment,
        ]
    }

    #[test]
    fn secrets_are_counted_by_kind_and_blacked_out() {
        for (text, expected, redacted) in FOUND {
            assert_eq!(counts(detect(text)), *expected, "{text}");
            assert_eq!(redact(text).0, *redacted, "{text}");
        }
    }

    #[test]
    fn what_is_no_secret_raises_no_alarm() {
        for text in NOT_FOUND {
            assert_eq!(detect(text), SecretCounts::default(), "{text}");
        }
    }

    #[test]
    fn redaction_goes_further_than_detection() {
        let (text, found) = redact("the secret: stay calm");
        assert_eq!(text, "the secret: [REDACTED] calm");
        assert_eq!(found.total(), 1);
    }

    #[test]
    fn json_keeps_everything_but_its_secrets() {
        for (json, expected) in [
            (
                r#"{ "b":1.0,"a":"\u00e9","token":12 }"#,
                r#"{ "b":1.0,"a":"\u00e9","token":12 }"#,
            ),
            (
                r#"{"apiKey":"plain","list":["token=abc",{"password":["p","q"],"x":"y"}],"z":"\ud800"}"#,
                r#"{"apiKey":"[REDACTED]","list":["token=[REDACTED]",{"password":["[REDACTED]","[REDACTED]"],"x":"y"}],"z":"\ud800"}"#,
            ),
            (
                r#"{"payload":{"chunk":"say \"hi\"\nDB_PASSWORD=x\n"}}"#,
                r#"{"payload":{"chunk":"say \"hi\"\nDB_PASSWORD=[REDACTED]\n"}}"#,
            ),
        ] {
            assert_eq!(redact_json(json).0, expected);
        }
        let (same, found) = redact_json(r#"{"password":"[REDACTED]"}"#);
        assert_eq!(
            (same.as_ref(), found.total()),
            (r#"{"password":"[REDACTED]"}"#, 0)
        );
    }

    #[test]
    fn the_wire_prints_all_kinds() {
        assert_eq!(
            serde_json::to_string(&detect("password=x")).unwrap(),
            r#"{"OPENAI_API_KEY":0,"GITHUB_TOKEN":0,"SLACK_TOKEN":0,"BEARER_TOKEN":0,"GENERIC_CREDENTIAL_ASSIGNMENT":1}"#
        );
    }

    proptest! {
        #[test]
        fn what_was_blacked_out_stays_so(
            text in "(token|secret|password|sk-|Bearer |[:=\"'\\\\ \n]|[a-z0-9]{1,24}|é){0,12}"
        ) {
            let once = redact(&text).0.into_owned();
            prop_assert_eq!(detect(&once).total(), 0, "{}", once);
        }

        #[test]
        fn json_stays_json(text in "\\PC{0,40}") {
            let json = serde_json::json!({"password": text.clone(), "a": [text]}).to_string();
            let redacted = redact_json(&json).0.into_owned();
            prop_assert!(serde_json::from_str::<serde_json::Value>(&redacted).is_ok(), "{}", redacted);
        }
    }
}
