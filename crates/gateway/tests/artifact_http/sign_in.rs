//! A browser signs in with a code from the address, and its cookie is good for our own page alone.

use super::*;

impl Server {
    /// A path of an artifact that only the owner can read here.
    async fn secret(&self) -> String {
        self.upload("a.txt", "text/plain", b"for the owner").await
    }

    /// Signs in and answers the cookie.
    async fn sign_in(&self, code: &str) -> Answer {
        let line = format!("GET /?code={code}");
        self.send_as(None, &line, &[], b"").await
    }

    fn code(&self) -> String {
        let home = Home::open(self.home.path()).expect("the home is there");
        let now = Sources::system().clock.now();
        home.sign_in_code(now).expect("the home has a token")
    }
}

#[tokio::test]
async fn a_code_becomes_a_cookie_once() {
    let server = server().await;
    let secret = server.secret().await;
    let code = server.code();
    let answer = server.sign_in(&code).await;
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
    let cookie = answer.header("set-cookie").expect("a cookie").to_owned();
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().expect("a name and a value");
    assert!(!cookie.contains(server.owner.as_str()));

    let own = format!("http://{}", server.address);
    let other = format!("http://{}", server.address.replace(':', ":1"));
    for (status, headers) in [
        (200, vec![("Cookie", cookie), ("Origin", own.as_str())]),
        (
            200,
            vec![("Cookie", cookie), ("Sec-Fetch-Site", "same-origin")],
        ),
        // A page of another port of this machine gets the cookie sent along, and nothing else.
        (401, vec![("Cookie", cookie), ("Origin", other.as_str())]),
        (
            401,
            vec![("Cookie", cookie), ("Sec-Fetch-Site", "same-site")],
        ),
        (401, vec![("Cookie", cookie)]),
        (
            401,
            vec![("Cookie", "accord_1=x"), ("Origin", own.as_str())],
        ),
    ] {
        let answer = server
            .send_as(None, &format!("GET {secret}"), &headers, b"")
            .await;
        assert_eq!(answer.status, status, "{headers:?}");
    }
    assert_eq!(server.sign_in(&code).await.status, 401);
    assert_eq!(server.sign_in("1.2.3").await.status, 401);
}

#[tokio::test]
async fn the_desktop_is_there_for_everybody_and_every_address() {
    let server = server().await;
    for path in ["/", "/w/ws_a/t/thr_1", "/c/home"] {
        let page = server.send_as(None, &format!("GET {path}"), &[], b"").await;
        assert_eq!(page.status, 200, "{path}");
    }
    for (line, status) in [
        ("GET /assets/none.js", 404),
        ("GET /something/else", 404),
        ("POST /w/ws_a", 405),
    ] {
        assert_eq!(server.send_as(None, line, &[], b"").await.status, status);
    }
}
