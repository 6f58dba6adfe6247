//! Every method as a command: `ac run:replay DIR --run-id …`, `ac thread/tree`, `ac rpc:call`, `ac methods`.
//!
//! A command is made from the declaration of its method: the doc comment is the help, each param a flag. The dots of
//! the company family are colons here.

use std::{ffi::OsString, path::Path};

use clap::Args;
use protocol::{Access, Dialect, MethodSpec};
use serde_json::Value;

use super::HomeOption;
use crate::{failure::Failure, folder, local::Local, terminal};

mod flags;
mod suggest;

use flags::Flags;

/// `ac rpc:call`
#[derive(Args, Debug)]
pub(crate) struct RpcCall {
    #[command(flatten)]
    home: HomeOption,
    /// The method as it is on the wire.
    #[arg(long)]
    method: String,
    /// The params as JSON, `@FILE` or `-` for standard input.
    #[arg(long, default_value = "{}", value_parser = flags::json)]
    params: Value,
}

/// `ac methods`
#[derive(Args, Debug)]
pub(crate) struct Methods {
    /// Only those whose name begins like this.
    prefix: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl RpcCall {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let Self {
            home,
            method,
            params,
        } = self;
        let result = Local::with(
            &home,
            |local| async move { ask(&local, &method, params).await },
        );
        let result = result.await?;
        terminal::answer(&result, true)
    }
}

impl Methods {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let prefix = self.prefix.unwrap_or_default();
        let found: Vec<_> = protocol::methods()
            .map(|(_, method)| method)
            .filter(|method| {
                method.name.starts_with(&prefix) || command_name(method).starts_with(&prefix)
            })
            .collect();
        let row = |method: &&MethodSpec| {
            let access = method.access.as_str().to_owned();
            vec![command_name(method), access, protocol::summary(method.doc)]
        };
        let rows: Vec<_> = found.iter().map(row).collect();
        let text = match self.json {
            false => terminal::table(&["COMMAND", "SCOPE", "PURPOSE"], &rows),
            true => {
                let keys = ["command", "scope", "purpose"].map(str::to_owned);
                let object = |row: Vec<String>| -> Value {
                    let pairs = keys.iter().cloned().zip(row.into_iter().map(Value::from));
                    Value::Object(pairs.collect())
                };
                let rows = rows.into_iter().map(object).collect();
                format!("{:#}", Value::Array(rows))
            }
        };
        Ok(terminal::say(&text)?)
    }
}

/// Runs the command of a method. `arguments` begin with its name, `before` was said before it; `others` are the commands
/// that are no methods.
pub(crate) async fn run(
    arguments: Vec<OsString>,
    before: HomeOption,
    others: &[String],
) -> Result<(), Failure> {
    let name = arguments[0].to_string_lossy().into_owned();
    let Some(method) = find(&name) else {
        let methods = protocol::methods().map(|(_, method)| command_name(method));
        let known: Vec<String> = others.iter().cloned().chain(methods).collect();
        return Err(Failure::UnknownCommand {
            hint: suggest::nearest(&name, &known),
            name,
        });
    };
    let flags = Flags::of(method);
    let command = flags.command(&command_name(method));
    let matches = command.try_get_matches_from(arguments)?;
    let home = HomeOption {
        home: matches.get_one("home").cloned().or(before.home),
    };
    let as_json = matches.get_flag("json");
    let mut params = flags.params(&matches)?;
    if let ("workspace.open", Some(named)) = (method.name, params.get(flags::FOLDER)) {
        // The method would name every part of a company folder that is missing.
        folder::company(Path::new(named.as_str().unwrap_or_default()))?;
    }
    let result = Local::with(&home, |local| async move {
        if flags.needs_workspace() && !params.contains_key(flags::WORKSPACE) {
            let workspace = local.workspace(None).await?;
            params.insert(flags::WORKSPACE.to_owned(), workspace.as_str().into());
        }
        ask(&local, method.name, Value::Object(params)).await
    })
    .await?;
    terminal::answer(&result, as_json)?;
    check(method, &result)
}

/// An answer that says that something is wrong ends the command accordingly.
fn check(method: &MethodSpec, result: &Value) -> Result<(), Failure> {
    let wrong = match method.name {
        "workspace.open" if result["valid"] == false => "this is no well-formed company folder",
        "workspace.validate" if result["ok"] == false => "the company folder is not well-formed",
        "workspace.doctor" if result["ok"] == false => "the company folder is not well",
        _ => return Ok(()),
    };
    let first = &result["issues"][0]["message"];
    Err(Failure::Unsound {
        detail: match first.as_str() {
            Some(first) => format!("{wrong}: {}", terminal::harmless(first)),
            None => wrong.to_owned(),
        },
    })
}

/// What a method is called on the command line.
pub(super) fn command_name(method: &MethodSpec) -> String {
    match Dialect::of_name(method.name) {
        Dialect::Company => method.name.replace('.', ":"),
        Dialect::Tree => method.name.to_owned(),
    }
}

/// By the name of its command, or the one on the wire.
fn find(name: &str) -> Option<&'static MethodSpec> {
    protocol::methods()
        .map(|(_, method)| method)
        .find(|method| method.name == name || command_name(method) == name)
}

async fn ask(local: &Local, method: &str, params: Value) -> Result<Value, Failure> {
    let result = local.client.call_raw(method, params).await?;
    let starts_processes =
        protocol::methods().any(|(_, spec)| spec.name == method && spec.access == Access::Exec);
    if starts_processes {
        local.sessions_over().await;
    }
    Ok(result)
}
