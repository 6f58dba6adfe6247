//! Token usage of a run, reported by the provider or estimated, and its cost.

use std::collections::{BTreeMap, BTreeSet};

use company::document::{
    Confidence, ContextCycles, CostSource, Currency, CycleSource, Machine, RateCard, Usage,
    UsageSource,
};
use protocol::company::Text;
use serde_json::Value;

/// Description of the estimate in `run.yaml`.
const ESTIMATE_METHOD: &str = "estimated from character counts using tokens≈chars/4";
/// Maximum nesting depth at which counts are searched in a line.
const DEPTH: usize = 8;

/// Token counts as a provider reported them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenCounts {
    /// Input tokens; absent if not reported.
    pub input: Option<u64>,
    /// Input tokens read from a cache; absent if not reported.
    pub cached: Option<u64>,
    /// Output tokens; absent if not reported.
    pub output: Option<u64>,
    /// Reasoning tokens, which are not part of the visible output; absent if not reported.
    pub reasoning: Option<u64>,
    /// Total number of tokens.
    pub total: u64,
    /// Event type or field from which the counts were read.
    pub captured_from: Option<String>,
    /// Whether `input` includes `cached` and `output` includes `reasoning`, so that those are not priced twice.
    pub parts_included: bool,
}

impl TokenCounts {
    /// Converts the counts into the usage of documents and events.
    pub fn reported(&self, provider: &str) -> Usage {
        Usage {
            source: UsageSource::ProviderReported,
            confidence: Confidence::High,
            estimate_method: None,
            provider: Text::new(provider),
            input_tokens: self.input,
            cached_input_tokens: self.cached,
            output_tokens: self.output,
            reasoning_output_tokens: self.reasoning,
            total_tokens: self.total,
            captured_from_event_type: self.captured_from.as_deref().and_then(Text::new),
            cost_usd: None,
            cost_currency: None,
            cost_source: None,
            cost_rate_card_provider: None,
        }
    }

    /// Like [`TokenCounts::reported`], for a session that ended before the final count: a lower bound, so the
    /// confidence is low.
    pub fn reported_so_far(&self, provider: &str) -> Usage {
        Usage {
            confidence: Confidence::Low,
            ..self.reported(provider)
        }
    }

    fn numbers(&self) -> [Option<u64>; 5] {
        [
            self.input,
            self.cached,
            self.output,
            self.reasoning,
            Some(self.total),
        ]
    }
}

/// Estimates the usage if the provider reports none: one token per four UTF-16 units.
pub fn estimated(provider: &str, chars_in: u64, chars_out: u64) -> Usage {
    let (input, output) = (chars_in.div_ceil(4), chars_out.div_ceil(4));
    Usage {
        source: UsageSource::EstimatedChars,
        confidence: Confidence::Low,
        estimate_method: Text::new(ESTIMATE_METHOD),
        input_tokens: Some(input),
        cached_input_tokens: None,
        output_tokens: Some(output),
        reasoning_output_tokens: None,
        total_tokens: input + output,
        captured_from_event_type: None,
        ..TokenCounts::default().reported(provider)
    }
}

/// Cost of a run and its source.
#[derive(Clone, Debug, PartialEq)]
pub enum Cost {
    /// US dollars computed from the rate card of the named provider.
    RateCard(f64, String),
    /// US dollars reported by the provider.
    Reported(f64),
    /// Neither reported nor covered by a rate card.
    Unknown,
}

impl Cost {
    /// Cost in US dollars, if it is known.
    pub fn usd(&self) -> Option<f64> {
        match self {
            Self::RateCard(usd, _) | Self::Reported(usd) => Some(*usd),
            Self::Unknown => None,
        }
    }

    /// Writes the cost into a usage. `run.yaml` defines no source for a cost reported by the provider, so the source is
    /// absent then.
    pub fn price(&self, usage: &mut Usage) {
        usage.cost_usd = self.usd();
        usage.cost_currency = self.usd().map(|_| Currency::Usd);
        (usage.cost_source, usage.cost_rate_card_provider) = match self {
            Self::RateCard(_, provider) => {
                (Some(CostSource::ProviderRateCard), Text::new(provider))
            }
            Self::Reported(_) => (None, None),
            Self::Unknown => (Some(CostSource::NoRateCard), None),
        };
    }
}

/// Determines the cost of a usage: the reported cost, or else by the rate cards of this machine.
pub fn cost(
    machine: Option<&Machine>,
    provider: &str,
    usage: &Usage,
    parts_included: bool,
    reported: Option<f64>,
) -> Cost {
    if let Some(usd) = reported {
        return Cost::Reported(usd);
    }
    let cards = machine.and_then(|machine| machine.provider_pricing_usd_per_1k_tokens.as_ref());
    let Some((name, card)) = cards.and_then(|cards| rate_card(cards, provider)) else {
        return Cost::Unknown;
    };
    let known = |count: Option<u64>| count.unwrap_or(0);
    let (mut input, cached, mut output, reasoning) = (
        known(usage.input_tokens),
        known(usage.cached_input_tokens),
        known(usage.output_tokens),
        known(usage.reasoning_output_tokens),
    );
    if input + cached + output + reasoning == 0 {
        input = usage.total_tokens / 2;
        output = usage.total_tokens - input;
    }
    if parts_included {
        input = input.saturating_sub(cached);
        output = output.saturating_sub(reasoning);
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "token counts are far below 2^53"
    )]
    let price = |count: u64, rate: f64| count as f64 / 1000.0 * rate;
    let usd = price(input, card.input)
        + price(cached, card.cached_input.unwrap_or(card.input))
        + price(output, card.output)
        + price(reasoning, card.reasoning_output.unwrap_or(card.output));
    Cost::RateCard((usd * 1e9).round() / 1e9, name.to_owned())
}

/// Finds the rate card of a provider: by its name, by its canonical name, or the card `default`.
fn rate_card<'a>(
    cards: &'a BTreeMap<String, RateCard>,
    provider: &str,
) -> Option<(&'a str, &'a RateCard)> {
    let canonical = match provider {
        "codex_app_server" | "codex-app-server" => "codex",
        "claude_code" | "claude-code" => "claude",
        other => other,
    };
    [provider, canonical, "default"]
        .into_iter()
        .find_map(|name| cards.get_key_value(name))
        .map(|(name, card)| (name.as_str(), card))
}

/// Collects usage and context cycles from JSON lines of any program.
#[derive(Clone, Debug, Default)]
pub struct LineFacts {
    seen: BTreeSet<[Option<u64>; 5]>,
    /// The counts with the largest total so far.
    largest: Option<TokenCounts>,
    cycles: BTreeSet<(&'static str, String, u64)>,
}

/// A signal that the context of a worker was compacted or restarted.
#[derive(Clone, Debug, PartialEq)]
pub struct Cycle {
    /// Number of cycles.
    pub count: u64,
    /// Path of the field, or name of the notification, that carried the signal.
    pub signal_type: String,
    /// `provider_jsonl` or `provider_notification`.
    pub source: &'static str,
}

impl LineFacts {
    /// Returns the counts of a line that were not seen before.
    pub fn usage(&mut self, line: &Value) -> Vec<TokenCounts> {
        let mut found = Vec::new();
        candidates(line, DEPTH, &mut found);
        found.retain(|counts| self.seen.insert(counts.numbers()));
        for counts in &found {
            if self
                .largest
                .as_ref()
                .is_none_or(|largest| counts.total > largest.total)
            {
                self.largest = Some(counts.clone());
            }
        }
        found
    }

    /// The counts with the largest total so far.
    pub fn largest(&self) -> Option<&TokenCounts> {
        self.largest.as_ref()
    }

    /// Returns the cycles of a line that were not seen before.
    pub fn cycles(&mut self, line: &Value) -> Vec<Cycle> {
        let mut found = Vec::new();
        if line.is_object() {
            cycles(line, "", DEPTH, &mut found);
        }
        found.retain(|cycle| self.note(cycle));
        found
    }

    /// Stores a cycle; returns whether it is new.
    pub fn note(&mut self, cycle: &Cycle) -> bool {
        self.cycles
            .insert((cycle.source, cycle.signal_type.clone(), cycle.count))
    }

    /// Sums all cycles for `run.yaml`.
    pub fn context_cycles(&self) -> ContextCycles {
        if self.cycles.is_empty() {
            return ContextCycles {
                count: 0,
                source: CycleSource::Unavailable,
                signal_types: None,
            };
        }
        let types: BTreeSet<_> = self
            .cycles
            .iter()
            .map(|(_, signal_type, _)| signal_type)
            .collect();
        ContextCycles {
            count: self.cycles.iter().map(|(_, _, count)| count).sum(),
            source: CycleSource::ProviderSignal,
            signal_types: Some(types.into_iter().filter_map(Text::new).collect()),
        }
    }
}

/// Collects the token counts of all objects in a value, parents before children.
fn candidates(value: &Value, depth: usize, found: &mut Vec<TokenCounts>) {
    match value {
        Value::Object(object) if depth > 0 => {
            const OWN: [&str; 6] = [
                "total_tokens",
                "input_tokens",
                "output_tokens",
                "prompt_tokens",
                "completion_tokens",
                "totalTokenCount",
            ];
            if OWN.iter().any(|key| object.contains_key(*key)) {
                let from = object.get("type").and_then(Value::as_str);
                found.extend(counts(value, from));
            }
            for (key, inner) in object {
                const NAMED: [&str; 5] = [
                    "tokenUsage",
                    "last_token_usage",
                    "total_token_usage",
                    "usage",
                    "usageMetadata",
                ];
                if NAMED.contains(&key.as_str()) {
                    found.extend(counts(inner, Some(key)));
                }
            }
            for inner in object.values() {
                candidates(inner, depth - 1, found);
            }
        }
        Value::Array(items) if depth > 0 => {
            for item in items {
                candidates(item, depth - 1, found);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {}
    }
}

/// Reads the counts of one object, under the field names of any supported provider.
fn counts(value: &Value, captured_from: Option<&str>) -> Option<TokenCounts> {
    let of = |names: &[&str]| names.iter().find_map(|name| whole(value.get(*name)?));
    let input = of(&["input_tokens", "prompt_tokens", "promptTokenCount"]);
    let cached = of(&[
        "cached_input_tokens",
        "cache_read_input_tokens",
        "cachedContentTokenCount",
    ]);
    let output = of(&["output_tokens", "completion_tokens", "candidatesTokenCount"]);
    let reasoning = of(&["reasoning_output_tokens", "thoughtsTokenCount"]);
    let sum = [input, cached, output, reasoning]
        .into_iter()
        .flatten()
        .sum();
    let total = of(&["total_tokens", "totalTokenCount"]).or((sum > 0).then_some(sum))?;
    Some(TokenCounts {
        input,
        cached,
        output,
        reasoning,
        total,
        captured_from: captured_from.map(ToOwned::to_owned),
        parts_included: false,
    })
}

/// Reads a count from an integer or a floating-point number.
pub(crate) fn whole(value: &Value) -> Option<u64> {
    if let Some(count) = value.as_u64() {
        return Some(count);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the filter admits only values from 0 to 1e15"
    )]
    value
        .as_f64()
        .filter(|count| *count >= 0.0 && *count < 1e15)
        .map(|count| count as u64)
}

fn cycles(value: &Value, path: &str, depth: usize, found: &mut Vec<Cycle>) {
    let Value::Object(object) = value else {
        return;
    };
    for (key, inner) in object {
        let place = match path {
            "" => key.clone(),
            path => format!("{path}.{key}"),
        };
        let lower = place.to_lowercase();
        // Sizes and limits of a context window are not cycles. Only numbers can be sizes, flags cannot.
        let is_size = inner.is_number()
            && ["window", "token", "limit", "threshold", "size"]
                .iter()
                .any(|word| key.to_lowercase().contains(word));
        if (lower.contains("compact") || lower.contains("cycle")) && !is_size {
            let count = match inner {
                Value::Bool(true) => Some(1),
                Value::Number(_) => whole(inner).filter(|count| *count > 0),
                Value::String(text) => {
                    let text = text.to_lowercase();
                    (text.contains("compact") || text.contains("cycled")).then_some(1)
                }
                Value::Bool(false) | Value::Null | Value::Array(_) | Value::Object(_) => None,
            };
            found.extend(count.map(|count| Cycle {
                count,
                signal_type: place.clone(),
                source: "provider_jsonl",
            }));
        }
        if depth > 0 {
            cycles(inner, &place, depth - 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn machine(cards: &Value) -> Machine {
        let mut machine = Machine::initial();
        machine.provider_pricing_usd_per_1k_tokens =
            Some(serde_json::from_value(cards.clone()).unwrap());
        machine
    }

    fn counts_of(input: u64, cached: u64, output: u64, reasoning: u64) -> TokenCounts {
        TokenCounts {
            input: Some(input),
            cached: Some(cached),
            output: Some(output),
            reasoning: Some(reasoning),
            total: input + output,
            captured_from: None,
            parts_included: true,
        }
    }

    #[test]
    fn cached_tokens_are_priced_once() {
        let machine =
            machine(&json!({"codex": {"input": 1.0, "cached_input": 0.1, "output": 10.0}}));
        let usage = counts_of(1200, 800, 34, 10).reported("codex");
        let cost =
            |parts_included| super::cost(Some(&machine), "codex", &usage, parts_included, None);
        assert_eq!(cost(true), Cost::RateCard(0.82, "codex".to_owned()));
        assert_eq!(cost(false), Cost::RateCard(1.72, "codex".to_owned()));
    }

    #[test]
    fn a_cost_that_the_provider_told_is_kept() {
        let machine = machine(&json!({"default": {"input": 1.0, "output": 1.0}}));
        let mut usage = counts_of(1200, 800, 34, 0).reported("claude");
        let cost = super::cost(Some(&machine), "claude", &usage, true, Some(0.00195));
        cost.price(&mut usage);
        assert_eq!((usage.cost_usd, usage.cost_source), (Some(0.00195), None));
    }

    #[test]
    fn aliases_and_default_have_a_card_and_others_have_none() {
        let card = json!({"input": 1.0, "output": 1.0});
        let with = |name: &str| machine(&json!({name: card}));
        let usage = counts_of(1000, 0, 0, 0).reported("x");
        for (cards, provider, expected) in [
            (with("claude"), "claude-code", Some("claude")),
            (with("codex"), "codex_app_server", Some("codex")),
            (with("default"), "odd", Some("default")),
            (with("codex"), "odd", None),
        ] {
            let name = match super::cost(Some(&cards), provider, &usage, true, None) {
                Cost::RateCard(_, name) => Some(name),
                Cost::Reported(_) | Cost::Unknown => None,
            };
            assert_eq!(name.as_deref(), expected, "{provider}");
        }
    }

    #[test]
    fn a_number_that_is_repeated_is_reported_once_and_the_largest_counts() {
        let mut facts = LineFacts::default();
        let line = json!({"type": "turn", "usage": {"input_tokens": 120, "cached_input_tokens": 20, "output_tokens": 30}});
        let found = facts.usage(&line);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].total, found[0].captured_from.as_deref()),
            (170, Some("usage"))
        );
        assert!(facts.usage(&line).is_empty());
        assert_eq!(facts.usage(&json!({"total_tokens": 5})).len(), 1);
        assert_eq!(facts.largest().unwrap().total, 170);
    }

    #[test]
    fn the_size_of_a_window_is_no_cycle() {
        let mut facts = LineFacts::default();
        assert_eq!(
            facts.cycles(&json!({"model_context_window": 200_000, "compact_tokens": 9})),
            []
        );
        assert_eq!(facts.cycles(&json!({"compaction_count": 2})).len(), 1);
        assert_eq!(facts.cycles(&json!({"compaction_count": 2})).len(), 0);
        assert_eq!(facts.context_cycles().count, 2);
    }

    #[test]
    fn a_flag_that_the_window_was_compacted_is_one_cycle() {
        let mut facts = LineFacts::default();
        let found = facts.cycles(&json!({"context_window_compacted": true}));
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].count, found[0].signal_type.as_str()),
            (1, "context_window_compacted")
        );
    }

    #[test]
    fn an_estimate_rounds_up() {
        let usage = estimated("cmd", 13, 10);
        assert_eq!(
            (usage.input_tokens, usage.output_tokens, usage.total_tokens),
            (Some(4), Some(3), 7)
        );
    }
}
