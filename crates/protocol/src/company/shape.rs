//! Validates a JSON value against the schema of a type and reports every issue, not only the first one.
//!
//! serde stops at the first field it cannot deserialize, but people who fix a file or a request need the complete list.
//! The validator uses the published JSON Schema, so no field is described twice.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{Issue, is_iso_date, is_iso_time};

/// The largest integer that an IEEE 754 double represents exactly.
const SAFE: f64 = 9_007_199_254_740_991.0;

/// The JSON Schema of one type, prepared for validation.
#[derive(Debug)]
pub struct Shape {
    root: Value,
    definitions: Map<String, Value>,
}

impl Shape {
    /// Builds the schema of `T`. Building it costs more than a validation, so callers keep the result.
    pub fn of<T: JsonSchema>() -> Self {
        let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
        let root = generator.subschema_for::<T>().to_value();
        Self {
            root,
            definitions: generator.take_definitions(true),
        }
    }

    /// Deserializes a value of the type this schema was built from, or returns all issues of the value.
    pub fn read<T: DeserializeOwned>(&self, value: Value) -> Result<T, Vec<Issue>> {
        let issues = self.issues(Some(&value));
        if !issues.is_empty() {
            return Err(issues);
        }
        // The type may have rules that the schema does not express.
        serde_json::from_value(value).map_err(|error| vec![Issue::custom("", error.to_string())])
    }

    /// Returns all issues of a value. `None` is validated as the JavaScript value `undefined`.
    pub fn issues(&self, value: Option<&Value>) -> Vec<Issue> {
        let mut check = Check {
            definitions: &self.definitions,
            path: Vec::new(),
            issues: Vec::new(),
        };
        check.value(&self.root, value);
        check.issues
    }
}

struct Check<'a> {
    definitions: &'a Map<String, Value>,
    path: Vec<Value>,
    issues: Vec<Issue>,
}

impl<'a> Check<'a> {
    fn value(&mut self, schema: &'a Value, value: Option<&Value>) {
        let schema = self.resolved(schema);
        if let Some(options) = literals(schema) {
            return self.literal(&options, value);
        }
        for union in ["anyOf", "oneOf"] {
            if let Some(options) = schema.get(union).and_then(Value::as_array) {
                return self.union(options, value);
            }
        }
        let types = types(schema);
        if value.is_some_and(Value::is_null) && types.contains(&"null") {
            return;
        }
        match types.iter().find(|name| **name != "null").copied() {
            Some("string") => self.string(schema, value),
            Some("integer") => self.integer(schema, value),
            Some("number") => self.number(schema, value),
            Some("boolean") if !value.is_some_and(Value::is_boolean) => {
                self.wrong_type("boolean", value);
            }
            Some("array") => self.array(schema, value),
            Some("object") => self.object(schema, value),
            // A schema without a known type accepts any value.
            _ => {}
        }
    }

    fn resolved(&self, schema: &'a Value) -> &'a Value {
        let mut schema = schema;
        while let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let name = target.strip_prefix("#/$defs/").unwrap_or(target);
            match self.definitions.get(name) {
                Some(found) => schema = found,
                None => break,
            }
        }
        schema
    }

    fn literal(&mut self, options: &[&Value], value: Option<&Value>) {
        if value.is_some_and(|value| options.contains(&value)) {
            return;
        }
        let shown: Vec<_> = options.iter().map(ToString::to_string).collect();
        let message = match shown.as_slice() {
            [only] => format!("Invalid input: expected {only}"),
            many => format!("Invalid option: expected one of {}", many.join("|")),
        };
        self.report("invalid_value", message, [("values", json!(options))]);
    }

    fn union(&mut self, options: &'a [Value], value: Option<&Value>) {
        let mut failures: Vec<Vec<Issue>> = Vec::new();
        for option in options {
            if types(self.resolved(option)) == ["null"] {
                if value.is_some_and(Value::is_null) {
                    return;
                }
                continue;
            }
            let mut check = Check {
                definitions: self.definitions,
                path: self.path.clone(),
                issues: Vec::new(),
            };
            check.value(option, value);
            if check.issues.is_empty() {
                return;
            }
            failures.push(check.issues);
        }
        // If exactly one option has matching types and tags and fails only on other rules, it is the intended one.
        let meant: Vec<_> = failures
            .iter()
            .filter(|issues| {
                issues
                    .iter()
                    .all(|issue| !matches!(issue.code.as_str(), "invalid_type" | "invalid_value"))
            })
            .collect();
        match (failures.as_slice(), meant.as_slice()) {
            ([only], _) => self.issues.extend(only.iter().cloned()),
            (_, [meant]) => self.issues.extend(meant.iter().cloned()),
            _ => self.report(
                "invalid_union",
                "Invalid input",
                [("errors", json!(failures))],
            ),
        }
    }

    fn string(&mut self, schema: &Value, value: Option<&Value>) {
        let Some(text) = value.and_then(Value::as_str) else {
            return self.wrong_type("string", value);
        };
        let least = schema.get("minLength").and_then(Value::as_u64);
        if let Some(least) = least.filter(|least| (text.chars().count() as u64) < *least) {
            return self.too_small(
                "string",
                json!(least),
                &format!("string to have >={least} characters"),
            );
        }
        let most = schema.get("maxLength").and_then(Value::as_u64);
        if let Some(most) = most.filter(|most| text.chars().count() as u64 > *most) {
            return self.too_big(
                "string",
                json!(most),
                &format!("string to have <={most} characters"),
            );
        }
        match schema.get("format").and_then(Value::as_str) {
            Some("company-id") if super::checked_id(text).is_none() => {
                self.report("custom", "invalid identifier", []);
            }
            Some("date-time") if !is_iso_time(text) => {
                let details = [("origin", json!("string")), ("format", json!("datetime"))];
                self.report("invalid_format", "Invalid ISO datetime", details);
            }
            Some("iso-date") if !is_iso_date(text) => {
                let details = [("origin", json!("string")), ("format", json!("date"))];
                self.report("invalid_format", "Invalid ISO date or datetime", details);
            }
            _ => {}
        }
    }

    fn integer(&mut self, schema: &Value, value: Option<&Value>) {
        let Some(number) = value.and_then(Value::as_f64) else {
            return self.wrong_type("number", value);
        };
        if value.is_some_and(Value::is_f64) && number.fract() != 0.0 {
            let message = "Invalid input: expected int, received number";
            let details = [("expected", json!("int")), ("format", json!("safeint"))];
            return self.report("invalid_type", message, details);
        }
        if number > SAFE {
            return self.too_big("int", json!(SAFE as i64), &format!("int to be <={SAFE}"));
        }
        self.range(schema, number);
    }

    fn number(&mut self, schema: &Value, value: Option<&Value>) {
        match value.and_then(Value::as_f64) {
            Some(number) => self.range(schema, number),
            None => self.wrong_type("number", value),
        }
    }

    fn range(&mut self, schema: &Value, number: f64) {
        let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
        if let Some(minimum) = bound("exclusiveMinimum").filter(|minimum| number <= *minimum) {
            let message = format!("Too small: expected number to be >{minimum}");
            let details = [
                ("origin", json!("number")),
                ("minimum", schema["exclusiveMinimum"].clone()),
                ("inclusive", json!(false)),
            ];
            self.report("too_small", message, details);
        }
        if let Some(minimum) = bound("minimum").filter(|minimum| number < *minimum) {
            self.too_small(
                "number",
                schema["minimum"].clone(),
                &format!("number to be >={minimum}"),
            );
        }
        if let Some(maximum) = bound("maximum").filter(|maximum| number > *maximum) {
            self.too_big(
                "number",
                schema["maximum"].clone(),
                &format!("number to be <={maximum}"),
            );
        }
    }

    fn array(&mut self, schema: &'a Value, value: Option<&Value>) {
        let Some(items) = value.and_then(Value::as_array) else {
            return self.wrong_type("array", value);
        };
        if let Some(item_schema) = schema.get("items") {
            for (index, item) in items.iter().enumerate() {
                self.path.push(json!(index));
                self.value(item_schema, Some(item));
                self.path.pop();
            }
        }
        let least = schema.get("minItems").and_then(Value::as_u64);
        if let Some(least) = least.filter(|least| (items.len() as u64) < *least) {
            self.too_small(
                "array",
                json!(least),
                &format!("array to have >={least} items"),
            );
        }
    }

    fn object(&mut self, schema: &'a Value, value: Option<&Value>) {
        let Some(members) = value.and_then(Value::as_object) else {
            return self.wrong_type("object", value);
        };
        let none = Map::new();
        let known = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        for (name, field) in known.into_iter().flatten() {
            let is_required = required.is_some_and(|names| names.iter().any(|one| one == name));
            let member = members.get(name);
            if member.is_some() || is_required {
                self.path.push(json!(name));
                self.value(field, member);
                self.path.pop();
            }
        }
        let others = members
            .iter()
            .filter(|(name, _)| !known.unwrap_or(&none).contains_key(name.as_str()));
        match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => {
                let keys: Vec<_> = others.map(|(name, _)| name).collect();
                if !keys.is_empty() {
                    let shown: Vec<_> = keys.iter().map(|key| format!("\"{key}\"")).collect();
                    let plural = if keys.len() == 1 { "" } else { "s" };
                    let message = format!("Unrecognized key{plural}: {}", shown.join(", "));
                    self.report("unrecognized_keys", message, [("keys", json!(keys))]);
                }
            }
            Some(member_schema @ Value::Object(_)) => {
                for (name, member) in others {
                    self.path.push(json!(name));
                    self.value(member_schema, Some(member));
                    self.path.pop();
                }
            }
            _ => {}
        }
    }

    fn wrong_type(&mut self, expected: &str, value: Option<&Value>) {
        let received = match value {
            None => "undefined",
            Some(Value::Null) => "null",
            Some(Value::Bool(_)) => "boolean",
            Some(Value::Number(_)) => "number",
            Some(Value::String(_)) => "string",
            Some(Value::Array(_)) => "array",
            Some(Value::Object(_)) => "object",
        };
        let message = format!("Invalid input: expected {expected}, received {received}");
        self.report("invalid_type", message, [("expected", json!(expected))]);
    }

    fn too_small(&mut self, origin: &str, minimum: Value, expected: &str) {
        let details = [
            ("origin", json!(origin)),
            ("minimum", minimum),
            ("inclusive", json!(true)),
        ];
        self.report(
            "too_small",
            format!("Too small: expected {expected}"),
            details,
        );
    }

    fn too_big(&mut self, origin: &str, maximum: Value, expected: &str) {
        let details = [
            ("origin", json!(origin)),
            ("maximum", maximum),
            ("inclusive", json!(true)),
        ];
        self.report("too_big", format!("Too big: expected {expected}"), details);
    }

    fn report<const N: usize>(
        &mut self,
        code: &str,
        message: impl Into<String>,
        details: [(&str, Value); N],
    ) {
        let issue = Issue::new(code, &self.path, message);
        let issue = details
            .into_iter()
            .fold(issue, |issue, (name, value)| issue.with(name, value));
        self.issues.push(issue);
    }
}

/// Returns the permitted values of a string enum or of a constant, or `None` for any other schema.
fn literals(schema: &Value) -> Option<Vec<&Value>> {
    if let Some(only) = schema.get("const") {
        return Some(vec![only]);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Some(values.iter().collect());
    }
    let options = schema.get("oneOf").and_then(Value::as_array)?;
    let values = options.iter().map(|option| match option.get("const") {
        Some(only) => Some(vec![only]),
        None => option
            .get("enum")
            .and_then(Value::as_array)
            .map(|values| values.iter().collect()),
    });
    values
        .collect::<Option<Vec<_>>>()
        .map(|lists| lists.concat())
}

fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::company::{ProjectId, Text};

    #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Order {
        name: Text,
        project_id: ProjectId,
        size: Option<Size>,
        #[schemars(range(min = 1, max = 5000))]
        limit: Option<u32>,
        #[serde(default)]
        items: Vec<Item>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Size {
        /// Small.
        Small,
        /// Large.
        Large,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    struct Item {
        amount: f64,
    }

    fn check(value: &Value, expected: &[&str]) {
        let issues = Shape::of::<Order>().issues(Some(value));
        let shown: Vec<_> = issues
            .iter()
            .map(|issue| format!("{} {issue}", issue.code))
            .collect();
        assert_eq!(shown, expected, "{value}");
    }

    #[test]
    fn everything_that_does_not_fit_is_told_at_once() {
        check(&json!({"name": "a", "project_id": "proj_1"}), &[]);
        check(
            &json!({"name": "", "project_id": "../x", "size": "huge", "limit": 0, "items": [{"amount": 1}, {}], "more": 1}),
            &[
                "invalid_type items.1.amount: Invalid input: expected number, received undefined",
                "too_small limit: Too small: expected number to be >=1",
                "too_small name: Too small: expected string to have >=1 characters",
                "custom project_id: invalid identifier",
                "invalid_value size: Invalid option: expected one of \"small\"|\"large\"",
                "unrecognized_keys Unrecognized key: \"more\"",
            ],
        );
        check(
            &json!({"limit": 1.5, "name": null}),
            &[
                "invalid_type limit: Invalid input: expected int, received number",
                "invalid_type name: Invalid input: expected string, received null",
                "invalid_type project_id: Invalid input: expected string, received undefined",
            ],
        );
        check(
            &json!([]),
            &["invalid_type Invalid input: expected object, received array"],
        );
    }

    #[test]
    fn what_fits_is_read() {
        let shape = Shape::of::<Order>();
        let read: Order = shape
            .read(json!({"name": "a", "project_id": "proj_1", "size": null, "limit": 5000}))
            .unwrap();
        assert_eq!(read.limit, Some(5000));
        assert_eq!(read.size, None);
    }
}
