//! Derives the flags of a command from the JSON Schema of the params.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use clap::{Arg, ArgAction, ArgMatches, Command, builder::PossibleValuesParser, value_parser};
use protocol::{Method as _, MethodSpec, thread::folder::ThreadFolderDelete, trash::TrashPurge};
use serde_json::{Map, Value};

use crate::{failure::Failure, folder, terminal};

/// The company folder, which is a positional argument instead of a flag.
pub(super) const FOLDER: &str = "workspace_dir";
/// The workspace of the tree family. The default workspace is used if it is not given.
pub(super) const WORKSPACE: &str = "workspace_id";

/// The flag that skips the confirmation of a deletion.
pub(super) const YES: &str = "yes";
/// The methods that need a confirmation before they delete.
const NEEDS_CONFIRMATION: [&str; 2] = [ThreadFolderDelete::NAME, TrashPurge::NAME];

/// The flags of the command of a method.
pub(super) struct Flags {
    doc: &'static str,
    /// Whether the command asks for confirmation.
    asks: bool,
    params: Vec<Param>,
}

struct Param {
    name: String,
    help: String,
    kind: FlagKind,
    is_required: bool,
}

#[derive(Debug, PartialEq)]
enum FlagKind {
    /// A string, with the allowed values. No values means any string.
    Text(Vec<String>),
    Texts(Vec<String>),
    Integer,
    Number,
    Boolean,
    Json,
    /// JSON that must be a list.
    JsonList,
}

impl Flags {
    pub(super) fn of(method: &MethodSpec) -> Self {
        let schema = protocol::schema_of(&method.params);
        let required: Vec<&str> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let properties = schema["properties"].as_object().into_iter().flatten();
        let param = |(name, property): (&String, &Value)| Param {
            name: name.clone(),
            help: property["description"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            kind: FlagKind::of(property, &schema["$defs"]),
            is_required: required.contains(&name.as_str()),
        };
        Self {
            doc: method.doc,
            asks: NEEDS_CONFIRMATION.contains(&method.name),
            params: properties.map(param).collect(),
        }
    }

    /// Converts a doc comment of this method into help text.
    fn help(&self, text: &str) -> String {
        let names: Vec<&str> = self
            .params
            .iter()
            .map(|param| param.name.as_str())
            .collect();
        terminal::help(text, &names)
    }

    pub(super) fn command(&self, name: &str) -> Command {
        let home = Arg::new("home")
            .long("home")
            .value_name("DIR")
            .help("Home folder [default: $ACCORD_HOME, else `accord` in the data folder of the platform]")
            .value_parser(folder::argument());
        let json = Arg::new("json")
            .long("json")
            .action(ArgAction::SetTrue)
            .help("Print JSON, also on a terminal");
        let whole = Arg::new("params")
            .long("params")
            .value_name("JSON")
            .value_parser(self::json)
            .help("All params as JSON, `@FILE` or `-` for standard input; flags override it");
        let yes = self.asks.then(|| {
            Arg::new(YES)
                .long("yes")
                .short('y')
                .action(ArgAction::SetTrue)
                .help("Do not ask for confirmation")
        });
        Command::new(format!("ac {name}"))
            .bin_name(format!("ac {name}"))
            .about(self.help(self.doc))
            .args(self.params.iter().map(|param| self.argument(param)))
            .args([whole, home, json])
            .args(yes)
    }

    fn argument(&self, param: &Param) -> Arg {
        let argument = Arg::new(param.name.clone()).help(self.help(&param.help));
        if param.name == FOLDER {
            return argument
                .value_name("DIR")
                .help(format!(
                    "{} [default: the company folder that contains the current folder]",
                    self.help(&param.help)
                ))
                .value_parser(folder::argument());
        }
        let argument = argument.long(param.name.replace('_', "-"));
        let argument = if self.is_only_name(param) {
            argument.visible_alias("name")
        } else {
            argument
        };
        let argument = if param.is_required && param.name != WORKSPACE {
            argument.required_unless_present("params")
        } else {
            argument
        };
        match &param.kind {
            FlagKind::Text(words) => one_of(argument.value_name("TEXT"), words),
            FlagKind::Texts(words) if words.is_empty() => argument
                .value_name("TEXT")
                .allow_hyphen_values(true)
                .action(ArgAction::Append),
            FlagKind::Texts(words) => {
                one_of(argument.value_name("TEXT"), words).action(ArgAction::Append)
            }
            FlagKind::Integer => argument
                .value_name("NUMBER")
                .allow_negative_numbers(true)
                .value_parser(whole_number),
            FlagKind::Number => argument
                .value_name("NUMBER")
                .allow_negative_numbers(true)
                .value_parser(number),
            FlagKind::Boolean => argument
                .value_name("true|false")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_parser(value_parser!(bool)),
            FlagKind::Json => argument.value_name("JSON").value_parser(json),
            FlagKind::JsonList => argument.value_name("JSON").value_parser(json_list),
        }
    }

    /// Returns whether the param is the only name of the method, so that it gets the alias `--name`.
    fn is_only_name(&self, param: &Param) -> bool {
        let is_name = |param: &Param| param.name == "name" || param.name.ends_with("_name");
        param.name != "name"
            && is_name(param)
            && self.params.iter().filter(|param| is_name(param)).count() == 1
    }

    /// Returns whether the method requires a workspace.
    pub(super) fn needs_workspace(&self) -> bool {
        let named = self.params.iter().find(|param| param.name == WORKSPACE);
        named.is_some_and(|param| param.is_required)
    }

    /// Collects the params from `--params` and the flags.
    pub(super) fn params(&self, matches: &ArgMatches) -> Result<Map<String, Value>, Failure> {
        let mut params = match matches.get_one::<Value>("params") {
            None => Map::new(),
            Some(Value::Object(params)) => params.clone(),
            Some(other) => {
                return Err(Failure::Argument {
                    detail: format!("--params is `{other}`: expected a JSON object"),
                });
            }
        };
        for param in &self.params {
            if param.name == FOLDER {
                self.put_folder(&mut params, matches, param)?;
            } else if let Some(value) = param.kind.value(matches, &param.name) {
                params.insert(param.name.clone(), value);
            }
        }
        resolve_paths(&mut params)?;
        Ok(params)
    }

    /// Sets the company folder: the given one, otherwise the one that contains the current folder.
    fn put_folder(
        &self,
        params: &mut Map<String, Value>,
        matches: &ArgMatches,
        param: &Param,
    ) -> Result<(), Failure> {
        let named = matches.get_one::<PathBuf>(FOLDER);
        if let Some(named) = named {
            params.insert(FOLDER.to_owned(), text(&folder::whole(named)?));
        } else if let Some(given) = params.get(FOLDER) {
            // The gateway rejects values that are not strings.
            if let Some(given) = given.as_str().filter(|given| !given.is_empty()) {
                let whole = text(&folder::whole(Path::new(given))?);
                params.insert(FOLDER.to_owned(), whole);
            }
        } else {
            match (folder::around_here(), param.is_required) {
                (Ok(found), _) => drop(params.insert(FOLDER.to_owned(), text(&found))),
                (Err(error), true) => return Err(error),
                (Err(_), false) => {}
            }
        }
        Ok(())
    }
}

/// Params that are paths on this machine. They are made absolute, because the gateway may run in another folder.
const PATHS: [&str; 3] = ["out_dir", "src_dir", "repo_path"];
/// A param that is relative to the company folder unless it is absolute.
const COMPANY_PATH: &str = "intake_file";

/// Makes path params absolute. The gateway rejects values that are not strings.
fn resolve_paths(params: &mut Map<String, Value>) -> Result<(), Failure> {
    for (name, value) in params.iter_mut() {
        let Some(given) = value.as_str().filter(|given| !given.is_empty()) else {
            continue;
        };
        let given = Path::new(given);
        if PATHS.contains(&name.as_str()) {
            *value = text(&folder::whole(given)?);
        } else if name == COMPANY_PATH {
            *value = text(&folder::expanded(given)?);
        }
    }
    Ok(())
}

fn text(path: &Path) -> Value {
    path.to_string_lossy().into_owned().into()
}

fn one_of(argument: Arg, words: &[String]) -> Arg {
    if words.is_empty() {
        argument
    } else {
        argument
            .value_name("WORD")
            .value_parser(PossibleValuesParser::new(words.to_vec()))
    }
}

/// Parses JSON from the command line, from a file (`@FILE`) or from standard input (`-`).
pub(super) fn json(given: &str) -> Result<Value, String> {
    let text = match (given, given.strip_prefix('@')) {
        ("-", _) => {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map_err(|error| format!("standard input cannot be read: {error}"))?;
            text
        }
        (_, Some(path)) => {
            let path = folder::expanded(Path::new(path)).map_err(|failure| failure.to_string())?;
            let failed = |source| Failure::File {
                path: path.clone(),
                source,
            };
            fs::read_to_string(&path).map_err(|error| failed(error).to_string())?
        }
        (_, None) => given.to_owned(),
    };
    serde_json::from_str(&text)
        .map_err(|_| r#"expected JSON, such as '{"NAME": "value"}'"#.to_owned())
}

/// Like [`json`], with a list as the example in the error message.
fn json_list(given: &str) -> Result<Value, String> {
    json(given).map_err(|error| error.replace(r#"'{"NAME": "value"}'"#, r#"'["first", "second"]'"#))
}

fn whole_number(given: &str) -> Result<i64, &'static str> {
    given
        .parse()
        .map_err(|_| "expected a whole number, such as 5000")
}

fn number(given: &str) -> Result<f64, &'static str> {
    given.parse().map_err(|_| "expected a number, such as 2.5")
}

impl FlagKind {
    /// Derives the kind from a schema. `null` as an alternative only means that the param is optional.
    fn of(schema: &Value, definitions: &Value) -> Self {
        if let Some(name) = schema["$ref"]
            .as_str()
            .and_then(|path| path.strip_prefix("#/$defs/"))
        {
            return Self::of(&definitions[name], definitions);
        }
        for choices in ["anyOf", "oneOf", "allOf"] {
            if let Some(choices) = schema[choices].as_array() {
                return Self::of_choices(choices, definitions);
            }
        }
        match type_of(schema) {
            Some("string") => Self::Text(words(schema)),
            Some("integer") => Self::Integer,
            Some("number") => Self::Number,
            Some("boolean") => Self::Boolean,
            Some("array") => match Self::of(&schema["items"], definitions) {
                Self::Text(words) => Self::Texts(words),
                Self::Texts(_)
                | Self::Integer
                | Self::Number
                | Self::Boolean
                | Self::Json
                | Self::JsonList => Self::JsonList,
            },
            _ => Self::Json,
        }
    }

    /// Merges alternatives: enumerated strings become one list of allowed values, any other mixture becomes JSON.
    fn of_choices(choices: &[Value], definitions: &Value) -> Self {
        let is_something = |choice: &&Value| choice["type"] != "null";
        let mut kinds = choices
            .iter()
            .filter(is_something)
            .map(|choice| Self::of(choice, definitions));
        let Some(first) = kinds.next() else {
            return Self::Json;
        };
        kinds.fold(first, |kind, next| match (kind, next) {
            (Self::Text(mut words), Self::Text(more)) if !words.is_empty() && !more.is_empty() => {
                words.extend(more);
                Self::Text(words)
            }
            _ => Self::Json,
        })
    }

    fn value(&self, matches: &ArgMatches, name: &str) -> Option<Value> {
        match self {
            Self::Text(_) => matches.get_one::<String>(name).cloned().map(Value::from),
            Self::Texts(_) => {
                let values = matches.get_many::<String>(name)?;
                Some(values.cloned().map(Value::from).collect())
            }
            Self::Integer => matches.get_one::<i64>(name).copied().map(Value::from),
            Self::Number => matches.get_one::<f64>(name).copied().map(Value::from),
            Self::Boolean => matches.get_one::<bool>(name).copied().map(Value::from),
            Self::Json | Self::JsonList => matches.get_one::<Value>(name).cloned(),
        }
    }
}

/// Returns the type of a schema, ignoring `null`.
fn type_of(schema: &Value) -> Option<&str> {
    match &schema["type"] {
        Value::String(one) => Some(one),
        Value::Array(several) => {
            let mut types = several
                .iter()
                .filter_map(Value::as_str)
                .filter(|one| *one != "null");
            let first = types.next()?;
            types.next().is_none().then_some(first)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            schema["const"].is_string().then_some("string")
        }
    }
}

fn words(schema: &Value) -> Vec<String> {
    let listed = schema["enum"].as_array().into_iter().flatten();
    listed
        .chain(schema.get("const"))
        .filter_map(Value::as_str)
        .map(ToOwned::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_flag_takes_what_the_schema_asks_for() {
        let definitions = json!({
            "Role": {"oneOf": [{"type": "string", "enum": ["a", "b"]}, {"const": "c", "type": "string"}]},
            "Name": {"type": "string"},
        });
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        for (schema, kind) in [
            (json!({"type": ["string", "null"]}), FlagKind::Text(vec![])),
            (
                json!({"$ref": "#/$defs/Role"}),
                FlagKind::Text(words(&["a", "b", "c"])),
            ),
            (
                json!({"anyOf": [{"$ref": "#/$defs/Name"}, {"type": "null"}]}),
                FlagKind::Text(vec![]),
            ),
            (
                json!({"type": "array", "items": {"$ref": "#/$defs/Role"}}),
                FlagKind::Texts(words(&["a", "b", "c"])),
            ),
            (json!({"type": "integer"}), FlagKind::Integer),
            (json!({"type": ["boolean", "null"]}), FlagKind::Boolean),
            (
                json!({"type": "array", "items": {"type": "object"}}),
                FlagKind::JsonList,
            ),
            (json!({"type": "object"}), FlagKind::Json),
            (json!(true), FlagKind::Json),
        ] {
            assert_eq!(FlagKind::of(&schema, &definitions), kind, "{schema}");
        }
    }

    #[test]
    fn every_method_has_a_command_that_can_be_built() {
        for (_, method) in protocol::methods() {
            Flags::of(method).command(method.name).debug_assert();
        }
    }
}
