//! Artifacts over connections that carry only lines of text.

use std::io::{BufRead as _, BufReader, PipeReader, PipeWriter, Write as _, pipe};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use gateway::Principal;

use super::*;

/// A client of `ac server:start`.
struct Lines {
    requests: PipeWriter,
    answers: BufReader<PipeReader>,
    last_id: u64,
}

impl Lines {
    fn connect(running: &TestGateway) -> Self {
        let (input, requests) = pipe().expect("a pipe");
        let (answers, output) = pipe().expect("a pipe");
        let peer = running.gateway.connect(Principal::owner());
        let options = rpc::stdio::Options::default();
        let never = std::future::pending();
        let input = BufReader::new(input);
        tokio::spawn(rpc::stdio::run(peer, options, input, output, never));
        Self {
            requests,
            answers: BufReader::new(answers),
            last_id: 0,
        }
    }

    /// Calls a method. Returns the result or the error.
    async fn call(mut self, method: &str, params: Value) -> (Self, Result<Value, Value>) {
        let method = method.to_owned();
        let called = tokio::task::spawn_blocking(move || {
            self.last_id += 1;
            let id = self.last_id;
            let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            writeln!(self.requests, "{request}").expect("the gateway reads");
            loop {
                let mut line = String::new();
                self.answers
                    .read_line(&mut line)
                    .expect("the gateway answers");
                let mut answer: Value = serde_json::from_str(&line).expect("a line is JSON");
                if answer["id"] == id {
                    let result = match answer.get("error") {
                        Some(error) => Err(error.clone()),
                        None => Ok(answer["result"].take()),
                    };
                    return (self, result);
                }
            }
        });
        called.await.expect("nobody panics")
    }

    async fn get(self, method: &str, params: Value) -> (Self, Value) {
        let (lines, result) = self.call(method, params).await;
        let result = result.unwrap_or_else(|error| panic!("{method}: {error}"));
        (lines, result)
    }
}

#[tokio::test]
async fn a_file_travels_both_ways_as_base64_where_there_are_no_frames() {
    let running = testkit::gateway().await;
    client(&running).await;
    let bytes: Vec<u8> = (0..700_000u32).map(|at| (at / 7) as u8).collect();
    let lines = Lines::connect(&running);
    let (mut lines, started) = lines
        .get("artifact/upload/start", start("a.bin", &bytes))
        .await;
    let mut offset = 0;
    for chunk in bytes.chunks(300_000) {
        let params = json!({"workspace_id": "ws_a", "upload_id": started["upload_id"], "offset": offset,
            "len": chunk.len(), "chunk_sha256": gateway::sha256_hex(chunk), "content_base64": BASE64.encode(chunk)});
        let (next, taken) = lines.get("artifact/upload/chunk", params).await;
        lines = next;
        offset += chunk.len();
        assert_eq!(
            taken,
            json!({"upload_id": started["upload_id"], "offset": offset - chunk.len(), "len": chunk.len(),
                "received_bytes": offset, "next_offset": offset})
        );
    }
    let finish = json!({"workspace_id": "ws_a", "upload_id": started["upload_id"]});
    let (lines, finished) = lines.get("artifact/upload/finish", finish).await;
    assert_eq!(finished["artifact"]["sha256"], gateway::sha256_hex(&bytes));

    let (mut lines, started) = lines
        .get("artifact/download/start", of(&finished["artifact"]))
        .await;
    let mut received = Vec::new();
    while received.len() < bytes.len() {
        let len = (bytes.len() - received.len()).min(300_000);
        let params = json!({"workspace_id": "ws_a", "download_id": started["download_id"],
            "offset": received.len(), "len": len});
        let (next, chunk) = lines.get("artifact/download/chunk", params).await;
        lines = next;
        assert_eq!(chunk["queued"], false, "the bytes are in the answer");
        let content = chunk["content_base64"].as_str().expect("it is text");
        let content = BASE64.decode(content).expect("it is base64");
        assert_eq!(chunk["chunk_sha256"], gateway::sha256_hex(&content));
        received.extend(content);
        assert_eq!(chunk["final_chunk"], received.len() == bytes.len());
    }
    assert!(received == bytes);
}

#[tokio::test]
async fn chunks_in_base64_obey_the_rules_of_frames() {
    let running = testkit::gateway().await;
    client(&running).await;
    let lines = Lines::connect(&running);
    let (mut lines, started) = lines
        .get("artifact/upload/start", start("a.bin", b"0123456789"))
        .await;
    let chunk = |offset: u64, content: &[u8], more: Value| {
        let mut params = json!({"workspace_id": "ws_a", "upload_id": started["upload_id"], "offset": offset,
            "content_base64": BASE64.encode(content)});
        let members = params.as_object_mut().expect("params are an object");
        members.extend(more.as_object().cloned().unwrap_or_default());
        params
    };
    let wrong_hash = json!({"chunk_sha256": gateway::sha256_hex(b"other")});
    let cases = [
        (chunk(5, b"56789", json!({})), -32602, "offset_mismatch"),
        (chunk(0, b"01234", wrong_hash), -32600, "hash_mismatch"),
        (
            chunk(0, b"01234", json!({"len": 4})),
            -32602,
            "length_mismatch",
        ),
        (chunk(0, b"", json!({})), -32602, "empty_chunk"),
        (chunk(0, b"0123456789x", json!({})), -32602, "exceeds_size"),
        (
            chunk(0, &vec![0; (1 << 20) + 1], json!({})),
            -32602,
            "chunk_too_large",
        ),
        (
            chunk(0, b"0", json!({"upload_id": "upl_none"})),
            -32602,
            "unknown_upload",
        ),
    ];
    for (params, code, kind) in cases {
        let (next, refused) = lines.call("artifact/upload/chunk", params).await;
        lines = next;
        let error = refused.expect_err(kind);
        assert_eq!(
            (&error["code"], &error["data"]["rejection"]),
            (&json!(code), &json!(kind))
        );
    }
    let not_base64 = json!({"content_base64": "not base64!"});
    let (mut lines, refused) = lines
        .call("artifact/upload/chunk", chunk(0, b"", not_base64))
        .await;
    assert_eq!(
        refused.expect_err("it is not")["data"]["path"],
        "/content_base64"
    );
    // None of the rejected chunks changed the upload.
    let (next, taken) = lines
        .get("artifact/upload/chunk", chunk(0, b"01234", json!({})))
        .await;
    lines = next;
    assert_eq!(taken["next_offset"], 5);
    let (_, refused) = lines
        .call("artifact/upload/chunk", chunk(7, b"789", json!({})))
        .await;
    let error = refused.expect_err("it does not begin at 5");
    assert_eq!(error["data"]["next_offset"], 5);
}
