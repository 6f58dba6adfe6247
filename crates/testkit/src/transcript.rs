//! What a client sees, as text for snapshots.

use std::time::Duration;

use rpc::{
    Client,
    client::{Error, Incoming},
};
use serde_json::Value;

/// Longer than anything takes; a test that reaches it has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a method answers: the result as it is on the wire, or code, sentence and data of the error.
pub async fn answer(client: &Client, method: &str, params: Value) -> String {
    match client.call_raw(method, params).await {
        Ok(result) => result.to_string(),
        Err(Error::Rpc {
            code,
            message,
            data,
        }) => format!("{code} {message} {data}"),
        Err(error) => error.to_string(),
    }
}

/// Code and kind of the error a method answers.
pub async fn refusal(client: &Client, method: &str, params: Value) -> String {
    match client.call_raw(method, params).await {
        Err(Error::Rpc { code, data, .. }) => {
            format!("{code} {}", data["kind"].as_str().unwrap_or("without kind"))
        }
        Ok(result) => format!("answered {result}"),
        Err(error) => error.to_string(),
    }
}

/// What a client was told since it last looked, a line each: number, name, payload.
///
/// A question goes before, so that everything on its way has arrived.
pub async fn told(client: &Client) -> String {
    let answered = client.call_raw("workspace/list", Value::Null).await;
    answered.expect("workspaces can be listed");
    let unread = client.unread().await;
    let lines: Vec<_> = unread.iter().map(line).collect();
    lines.join("\n")
}

/// What a client is told up to the first notification with this name, a line each.
pub async fn told_until(client: &Client, method: &str) -> String {
    let mut lines = Vec::new();
    loop {
        let told = tokio::time::timeout(PATIENCE, client.notification()).await;
        let told = told.unwrap_or_else(|_| panic!("`{method}` did not come after {lines:#?}"));
        let told = told.expect("the connection is open");
        lines.push(line(&told));
        if told.method == method {
            return lines.join("\n");
        }
    }
}

fn line(told: &Incoming) -> String {
    let number = told.seq.map_or("-".to_owned(), |seq| seq.to_string());
    format!("{number} {} {}", told.method, told.params)
}
