//! Tests of the stdio transport with an in-memory reader and writer.

use std::{
    io::{Cursor, Write},
    sync::{Arc, Mutex},
};

use insta::assert_snapshot;
use rpc::stdio::Options;

use crate::desk::Desk;

/// A writer that records its output.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut written = self.0.lock().expect("no thread panics while writing");
        written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the responses to a finite input.
async fn answers(options: Options, input: &str) -> String {
    let output = Output::default();
    let input = Cursor::new(input.to_owned().into_bytes());
    let never = std::future::pending();
    rpc::stdio::run(Desk::new(), options, input, output.clone(), never).await;
    let written = output
        .0
        .lock()
        .expect("no thread panics while writing")
        .clone();
    String::from_utf8(written).expect("answers are text")
}

fn serial() -> Options {
    Options {
        concurrency: 1,
        ..Options::default()
    }
}

#[tokio::test]
async fn one_at_a_time_keeps_the_order() {
    let requests: Vec<_> = (0..200)
        .map(|id| match id % 2 {
            // The gate is opened before a request waits for it.
            0 => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"desk/open"}}"#),
            _ => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"desk/wait"}}"#),
        })
        .collect();
    let expected: String = (0..200)
        .map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n"))
        .collect();
    assert_eq!(answers(serial(), &requests.join("\n")).await, expected);
}

#[tokio::test]
async fn who_waits_is_overtaken() {
    let requests = r#"
{"jsonrpc":"2.0","id":1,"method":"desk/wait"}
{"jsonrpc":"2.0","id":2,"method":"desk/open"}
"#;
    assert_snapshot!(answers(Options::default(), requests).await, @r#"
    {"jsonrpc":"2.0","id":2,"result":{}}
    {"jsonrpc":"2.0","id":1,"result":{}}
    "#);
}

#[tokio::test]
async fn a_line_that_is_too_long_is_refused_and_the_next_is_served() {
    let options = Options {
        max_line_bytes: 100,
        ..serial()
    };
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"desk/echo","params":{{"text":"{}"}}}}"#,
        "x".repeat(100)
    );
    let requests = format!(
        "{long}\n{}\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"desk/echo","params":{"text":"short"}}"#
    );
    assert_snapshot!(answers(options, &requests).await, @r#"
    {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"data":{"kind":"invalid_request","limit":100},"message":"Invalid Request: the message is longer than 100 bytes"}}
    {"jsonrpc":"2.0","id":2,"result":{"text":"short"}}
    "#);
}

#[tokio::test]
async fn the_end_of_the_input_comes_after_every_answer() {
    let requests: Vec<_> = (0..100)
        .map(|id| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"desk/echo","params":{{"text":"é"}}}}"#)
        })
        .collect();
    // The last line has no line end.
    let seen = answers(Options::default(), &requests.join("\r\n")).await;
    let mut ids: Vec<u64> = seen
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["id"]
                .as_u64()
                .unwrap()
        })
        .collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..100));
    assert!(seen.ends_with('\n') && seen.contains(r#""text":"é""#));
}

#[tokio::test]
async fn notifications_and_blank_lines_are_ignored_and_the_rest_is_answered() {
    let requests = "\u{feff}\n\n  \r\n\
        {\"jsonrpc\":\"2.0\",\"method\":\"desk/panic\"}\n\
        {\"jsonrpc\":\"2.0\",\"method\":\"desk/none\",\"params\":[]}\n\
        not json\n\
        []\n\
        {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"\"}\n\
        {\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"method\":\"desk/echo\",\"params\":{\"text\":\"last\"}}\n";
    assert_snapshot!(answers(serial(), requests).await, @r#"
    {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"data":{"kind":"parse_error"},"message":"Parse error: expected one JSON object"}}
    {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"data":{"kind":"invalid_request"},"message":"Invalid Request: expected one object; batches are not supported"}}
    {"jsonrpc":"2.0","id":"a","error":{"code":-32600,"data":{"kind":"invalid_request"},"message":"Invalid Request: `method` is empty"}}
    {"jsonrpc":"2.0","id":9007199254740993,"result":{"text":"last"}}
    "#);
}

#[tokio::test]
async fn a_client_that_closes_its_end_ends_the_service() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    // The input never ends: the other side of the pipe stays open.
    let (input, mut open) = std::io::pipe().unwrap();
    let request = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"desk/open\"}\n";
    open.write_all(request).unwrap();
    let input = std::io::BufReader::new(input);
    rpc::stdio::run(Desk::new(), serial(), input, Gone, std::future::pending()).await;
}

#[tokio::test]
async fn a_stop_answers_what_was_read_and_ends() {
    let output = Output::default();
    let (input, mut open) = std::io::pipe().unwrap();
    let desk = Desk::new();
    let gate = Arc::clone(&desk.gate);
    let stop = async move {
        // The request has been read once the gate is open.
        let opened = gate.acquire().await;
        drop(opened);
    };
    open.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"desk/open\"}\n")
        .unwrap();
    let input = std::io::BufReader::new(input);
    rpc::stdio::run(desk, serial(), input, output.clone(), stop).await;
    let written = output.0.lock().unwrap().clone();
    assert_eq!(
        String::from_utf8(written).unwrap(),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"
    );
}
