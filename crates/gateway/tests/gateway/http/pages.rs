//! CORS headers for pages of other origins that use the artifact routes.

use super::*;

const PAGE: (&str, &str) = ("Origin", "https://desk.example");

/// Returns the items of a comma-separated header.
fn words<'a>(answer: &'a Answer, name: &str) -> Vec<&'a str> {
    let list = answer.header(name).expect("the header is there");
    list.split(',').map(str::trim).collect()
}

#[tokio::test]
async fn a_page_of_an_allowed_origin_may_ask_first() {
    let server = server_for(&["https://desk.example"]).await;
    for path in [
        "/uploads",
        "/uploads/upl_any",
        "/artifacts/ws_a/art_any/current/content",
    ] {
        let question = [
            PAGE,
            ("Access-Control-Request-Method", "PATCH"),
            (
                "Access-Control-Request-Headers",
                "authorization,tus-resumable,upload-offset",
            ),
        ];
        // Browsers send preflight requests without a token.
        let answer = server
            .send_as(None, &format!("OPTIONS {path}"), &question, b"")
            .await;
        assert_eq!(answer.status, 204, "{path}");
        assert_eq!(
            answer.header("access-control-allow-origin"),
            Some("https://desk.example")
        );
        assert_eq!(answer.header("vary"), Some("Origin"));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
        let methods = words(&answer, "access-control-allow-methods");
        for method in ["GET", "HEAD", "POST", "PATCH", "DELETE"] {
            assert!(methods.contains(&method), "{method}");
        }
        let headers = words(&answer, "access-control-allow-headers");
        for header in [
            "Authorization",
            "Content-Type",
            "Range",
            "Tus-Resumable",
            "Upload-Checksum",
            "Upload-Length",
            "Upload-Metadata",
            "Upload-Offset",
        ] {
            assert!(headers.contains(&header), "{header}");
        }
    }
}

#[tokio::test]
async fn a_page_may_read_the_answers_and_their_headers() {
    let server = server_for(&["https://desk.example"]).await;
    let path = server.upload("a.txt", "text/plain", b"0123456789").await;
    let part = server.get(&path, &[PAGE, ("Range", "bytes=2-4")]).await;
    assert_eq!((part.status, part.text()), (206, "234"));
    assert_eq!(
        part.header("access-control-allow-origin"),
        Some("https://desk.example")
    );
    let exposed = words(&part, "access-control-expose-headers");
    for header in ["Content-Range", "ETag", "Content-Disposition"] {
        assert!(exposed.contains(&header), "{header}");
    }
    // Error responses have the headers too, so that the page can show the reason.
    let line = format!("GET {path}");
    let refused = server.send_as(None, &line, &[PAGE], b"").await;
    assert_eq!(refused.status, 401);
    assert_eq!(
        refused.header("access-control-allow-origin"),
        Some("https://desk.example")
    );
    let described = metadata("ws_a", "b.txt", "", &sha256_hex(b"b"));
    let headers = [
        PAGE,
        ("Tus-Resumable", "1.0.0"),
        ("Upload-Length", "1"),
        ("Upload-Metadata", &described),
    ];
    let created = server.send("POST /uploads", &headers, b"").await;
    assert_eq!(created.status, 201);
    let exposed = words(&created, "access-control-expose-headers");
    for header in [
        "Location",
        "Upload-Offset",
        "Upload-Expires",
        "Tus-Resumable",
        "Accord-Artifact-Id",
    ] {
        assert!(exposed.contains(&header), "{header}");
    }
}

#[tokio::test]
async fn a_page_of_another_origin_is_told_nothing() {
    let server = server_for(&["https://desk.example"]).await;
    let question = [
        ("Origin", "https://evil.example"),
        ("Access-Control-Request-Method", "POST"),
    ];
    let answer = server.send("OPTIONS /uploads", &question, b"").await;
    assert_eq!(answer.status, 403);
    assert_eq!(answer.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn whoever_is_no_page_gets_no_permission() {
    let server = server().await;
    let path = server.upload("a.txt", "text/plain", b"0").await;
    let answer = server.get(&path, &[]).await;
    assert_eq!(answer.header("access-control-allow-origin"), None);
    assert_eq!(answer.header("vary"), Some("Origin"));
    // Other routes are not available to pages of other origins.
    let question = [
        ("Origin", "http://localhost:5173"),
        ("Access-Control-Request-Method", "GET"),
    ];
    let answer = server.send("OPTIONS /metrics", &question, b"").await;
    assert_eq!(answer.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn an_absolute_request_target_with_a_foreign_host_is_refused() {
    let server = server().await;
    let port = server.address.rsplit(':').next().expect("a port");
    for (target, status) in [
        ("http://evil.example/health".to_owned(), 403),
        (format!("http://evil.example:{port}/health"), 403),
        (format!("http://127.0.0.1:{port}@evil.example/health"), 403),
        (format!("http://localhost:{port}/health"), 200),
        (format!("http://{}/health", server.address), 200),
    ] {
        let answer = server.send(&format!("GET {target}"), &[], b"").await;
        assert_eq!(answer.status, status, "{target}");
    }
}

#[tokio::test]
async fn a_page_is_told_why_its_token_is_refused() {
    let server = server_for(&["https://desk.example"]).await;
    let answer = server.send_as(Some("wrong"), "GET /ws", &[PAGE], b"").await;
    assert_eq!(answer.status, 401);
    assert_eq!(
        answer.header("access-control-allow-origin"),
        Some("https://desk.example")
    );
    let sentence = answer.text();
    assert!(
        sentence.starts_with("the token is not valid: "),
        "{sentence}"
    );
}
