//! The tus extensions checksum and expiration, and uploads that end during a request body.

use super::*;

fn checked<'a>(offset: &'a str, checksum: &'a str) -> Vec<(&'static str, &'a str)> {
    let mut headers = patch(offset).to_vec();
    headers.push(("Upload-Checksum", checksum));
    headers
}

fn hash_of(bytes: &[u8]) -> String {
    let hex = sha256_hex(bytes);
    let pairs = (0..hex.len()).step_by(2);
    let bytes = pairs.map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("it is hex"));
    format!("sha256 {}", BASE64.encode(bytes.collect::<Vec<_>>()))
}

#[tokio::test]
async fn a_body_with_its_hash_is_taken() {
    let server = server().await;
    let bytes = noise(700_000);
    let location = server.create("a.bin", "", &bytes).await;
    let line = format!("PATCH {location}");
    let first = hash_of(&bytes[..600_000]);
    let taken = server
        .send(&line, &checked("0", &first), &bytes[..600_000])
        .await;
    assert_eq!(
        (taken.status, taken.number("upload-offset")),
        (204, 600_000)
    );
    let rest = hash_of(&bytes[600_000..]);
    let taken = server
        .send(&line, &checked("600000", &rest), &bytes[600_000..])
        .await;
    assert_eq!(taken.status, 204, "{}", taken.text());
    assert!(taken.header("accord-artifact-id").is_some());
    // The algorithm that every tus server supports.
    let location = server.create("b.txt", "", b"abc").await;
    let sha1 = "sha1 qZk+NkcGgWq6PiVxeFDCbJzQ2J0=";
    let line = format!("PATCH {location}");
    let taken = server.send(&line, &checked("0", sha1), b"abc").await;
    assert_eq!(taken.status, 204, "{}", taken.text());
}

#[tokio::test]
async fn a_body_with_another_hash_changes_nothing() {
    let server = server().await;
    let bytes = noise(700_000);
    let location = server.create("a.bin", "", &bytes).await;
    assert_eq!(server.patch(&location, 0, &bytes[..1000]).await.status, 204);
    let line = format!("PATCH {location}");
    let expected = hash_of(&bytes[1000..]);
    let mut damaged = bytes[1000..].to_vec();
    damaged[650_000] ^= 1;
    let refused = server
        .send(&line, &checked("1000", &expected), &damaged)
        .await;
    assert_eq!(refused.status, 460, "{}", refused.text());
    assert_eq!(server.head(&location).await.number("upload-offset"), 1000);
    let taken = server
        .send(&line, &checked("1000", &expected), &bytes[1000..])
        .await;
    assert_eq!(taken.status, 204, "{}", taken.text());
    let artifact = taken.header("accord-artifact-id").unwrap();
    let path = format!("/artifacts/ws_a/{artifact}/current/content");
    assert!(server.get(&path, &[]).await.body == bytes);
}

#[tokio::test]
async fn a_cut_body_that_should_have_a_hash_does_not_count() {
    let server = server().await;
    let bytes = noise(700_000);
    let location = server.create("a.bin", "", &bytes).await;
    let line = format!("PATCH {location}");
    let expected = hash_of(&bytes);
    let headers = checked("0", &expected);
    let mut stream = server
        .begin(Some(&server.owner), &line, &headers, bytes.len())
        .await;
    stream.write_all(&bytes[..600_000]).await.unwrap();
    stream.shutdown().await.unwrap();
    // The response is sent after the body is processed.
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert_eq!(server.head(&location).await.number("upload-offset"), 0);
}

#[tokio::test]
async fn a_hash_nobody_can_check_is_refused() {
    let server = server().await;
    let location = server.create("a.txt", "", b"abc").await;
    let line = format!("PATCH {location}");
    for checksum in ["md5 kAFQmDzST7DWlj99KOF/cg==", "sha256", "sha256 !", ""] {
        let refused = server.send(&line, &checked("0", checksum), b"abc").await;
        assert_eq!(refused.status, 400, "{checksum}");
    }
    assert_eq!(server.head(&location).await.number("upload-offset"), 0);
}

#[tokio::test]
async fn every_answer_says_when_an_open_upload_ends() {
    let server = server().await;
    let described = metadata("ws_a", "a.txt", "", &sha256_hex(b"abc"));
    let created = server.create_as(&server.owner, &described, 3).await;
    let expires = created.header("upload-expires").unwrap();
    assert!(expires.ends_with(" GMT"), "{expires}");
    let location = created.header("location").unwrap();
    let patched = server.patch(location, 0, b"ab").await;
    assert!(patched.header("upload-expires").is_some());
    let head = server.head(location).await;
    assert!(head.header("upload-expires").is_some());
    // A completed upload does not expire.
    let complete = server.patch(location, 2, b"c").await;
    assert_eq!(complete.header("upload-expires"), None);
    assert_eq!(server.head(location).await.header("upload-expires"), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_upload_deleted_in_the_middle_of_a_body_leaves_no_file() {
    let server = server().await;
    let bytes = noise(3 << 20);
    for number in 0..20 {
        let name = format!("{number}.bin");
        let location = server.create(&name, "", &bytes).await;
        let line = format!("DELETE {location}");
        let tus = [("Tus-Resumable", "1.0.0")];
        let (patched, deleted) = tokio::join!(
            server.patch(&location, 0, &bytes),
            server.send(&line, &tus, b"")
        );
        assert!([204, 404, 409].contains(&patched.status), "{patched:?}");
        assert_eq!(deleted.status, 204);
        assert_eq!(server.head(&location).await.status, 404);
        let uploads = server.home.path().join("artifacts/upload_sessions/ws_a");
        let left = std::fs::read_dir(uploads).map_or(0, Iterator::count);
        assert_eq!(left, 0, "round {number}");
    }
}
