//! Responses and notifications as text for snapshots.

use std::time::Duration;

use rpc::{
    Client,
    client::{Error, Incoming},
};
use serde_json::Value;

/// A timeout far above the duration of any step; reaching it fails the test.
const PATIENCE: Duration = Duration::from_secs(20);

/// Calls a method and returns the result as on the wire, or the code, message and data of the error.
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

/// Calls a method and returns the code and kind of its error.
pub async fn refusal(client: &Client, method: &str, params: Value) -> String {
    match client.call_raw(method, params).await {
        Err(Error::Rpc { code, data, .. }) => {
            format!("{code} {}", data["kind"].as_str().unwrap_or("without kind"))
        }
        Ok(result) => format!("answered {result}"),
        Err(error) => error.to_string(),
    }
}

/// Returns the notifications received since the last call, one per line: number, name and payload.
///
/// Makes a request first, so that all notifications in flight have arrived.
pub async fn told(client: &Client) -> String {
    let answered = client.call_raw("workspace/list", Value::Null).await;
    answered.expect("workspaces can be listed");
    let unread = client.unread().await;
    let lines: Vec<_> = unread.iter().map(line).collect();
    lines.join("\n")
}

/// Returns the notifications up to the first one with this name, one per line.
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
