//! A browser signs in with a one-time code. Its cookie, which every server of this machine may see, is useless without
//! the page key.

use std::time::Duration;

use crud::CrudStore;
use gateway::{Clock as _, DesktopSessions};
use protocol::{
    DesktopSessionId, Id as _,
    desktop_session::{
        DesktopSessionEnd, DesktopSessionEndParams, DesktopSessionList, DesktopSessionListParams,
    },
};
use testkit::TickingClock;

use super::*;

const DAY: i64 = 24 * 60 * 60;

/// The secrets of a signed-in browser.
struct Browser {
    cookie: String,
    page_key: String,
    /// The origin of the gateway's own page.
    origin: String,
}

impl Browser {
    /// Returns the headers of a request made by the gateway's page.
    fn headers(&self) -> [(&str, &str); 3] {
        [
            ("Cookie", &self.cookie),
            ("Accord-Page-Key", &self.page_key),
            ("Origin", &self.origin),
        ]
    }
}

impl Server {
    /// Uploads a file that only the owner can read and returns its path.
    async fn secret(&self) -> String {
        self.upload("a.txt", "text/plain", b"for the owner").await
    }

    /// Returns the code in the printed link.
    fn code(&self) -> &str {
        let (_, code) = self.sign_in.split_once("/#code=").expect("a code");
        code
    }

    /// Creates another code, like `ac open`.
    async fn new_code(&self, now: i64) -> String {
        let sessions = self.sessions();
        sessions.create_code(now).await.expect("a code is stored")
    }

    /// Opens the desktop sessions of the home like another process.
    fn sessions(&self) -> DesktopSessions {
        let home = Home::open(self.home.path()).expect("the home is there");
        let options = GatewayOptions::system(|sentence| panic!("{sentence}"));
        let store = CrudStore::open(home.path(), &options.database).expect("the database opens");
        DesktopSessions::open(&home, store).expect("the home has a token")
    }

    async fn redeem(&self, code: &str) -> Answer {
        let agent = [("User-Agent", "Mozilla/5.0 (X11; Linux) Firefox/140.0")];
        self.send_as(None, "POST /sign-in", &agent, code.as_bytes())
            .await
    }

    async fn browser(&self, code: &str) -> Browser {
        let answer = self.redeem(code).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let cookie = answer.header("set-cookie").expect("a cookie");
        let body: serde_json::Value = serde_json::from_slice(&answer.body).expect("JSON");
        Browser {
            cookie: cookie.split(';').next().expect("a value").to_owned(),
            page_key: body["page_key"].as_str().expect("a page key").to_owned(),
            origin: format!("http://{}", self.address),
        }
    }

    /// Returns the status of a request that needs the scope `read`.
    async fn status(&self, path: &str, headers: &[(&str, &str)]) -> u16 {
        let line = format!("GET {path}");
        self.send_as(None, &line, headers, b"").await.status
    }

    /// Opens a WebSocket. Returns the status and the connection.
    async fn upgrade(&self, headers: &[(&str, &str)]) -> (u16, TcpStream) {
        let head: String = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let connected = TcpStream::connect(&self.address).await;
        let mut stream = connected.expect("the gateway listens");
        let request = format!(
            "GET /ws HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{head}\r\n",
            self.address
        );
        stream.write_all(request.as_bytes()).await.expect("sent");
        let answer = read_until(&mut stream, b"\r\n\r\n").await;
        let status = str::from_utf8(&answer[9..12]).expect("a status line");
        (status.parse().expect("a status"), stream)
    }
}

/// Reads until `end` is received, or fails after a timeout.
async fn read_until(stream: &mut TcpStream, end: &[u8]) -> Vec<u8> {
    let mut read = Vec::new();
    let reading = async {
        while !read.windows(end.len()).any(|window| window == end) {
            let count = stream.read_buf(&mut read).await.expect("readable");
            assert!(count > 0, "the connection ended early: {read:?}");
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(10), reading).await;
    in_time.expect("it comes in time");
    read
}

#[tokio::test]
async fn a_code_becomes_a_session_once() {
    let server = server().await;
    let answer = server.redeem(server.code()).await;
    assert_eq!(answer.status, 200);
    let cookie = answer.header("set-cookie").expect("a cookie");
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict"), "{cookie}");
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert!(!answer.text().contains(server.owner.as_str()));
    for used_or_wrong in [server.code(), "", "1.2.3", "é"] {
        let answer = server.redeem(used_or_wrong).await;
        assert_eq!(answer.status, 401, "{used_or_wrong}");
        assert_eq!(answer.header("set-cookie"), None);
    }
    // A link preview fetches the page without the fragment and does not consume the code.
    let page = server.send_as(None, "GET /", &[], b"").await;
    assert_eq!(page.header("set-cookie"), None);
}

#[tokio::test]
async fn of_many_requests_with_one_code_one_signs_in() {
    let server = server().await;
    let requests = (0..8).map(|_| server.redeem(server.code()));
    let answers = futures_util::future::join_all(requests).await;
    let good = answers.iter().filter(|answer| answer.status == 200);
    assert_eq!(good.count(), 1);
    assert_eq!(
        server.sessions().list(0).await.expect("a list").len(),
        1,
        "one session"
    );
}

#[tokio::test]
async fn a_code_expires_after_ten_minutes() {
    let clock = Arc::new(TickingClock::default());
    let sources = Sources {
        clock: clock.clone(),
        ..Sources::system()
    };
    let server = server_with(&[], sources).await;
    let late = server.new_code(clock.now() - 601).await;
    assert_eq!(server.redeem(&late).await.status, 401);
    let timely = server.new_code(clock.now() - 500).await;
    assert_eq!(server.redeem(&timely).await.status, 200);
}

#[tokio::test]
async fn a_stolen_cookie_is_refused_everywhere_whatever_origin_it_claims() {
    let server = server().await;
    let secret = server.secret().await;
    let browser = server.browser(server.code()).await;
    let now = Sources::system().clock.now();
    let another = server.browser(&server.new_code(now).await).await;
    let (cookie, origin) = (browser.cookie.as_str(), browser.origin.as_str());
    let own_page = [("Cookie", cookie), ("Origin", origin)];
    let navigation = [("Cookie", cookie), ("Sec-Fetch-Site", "none")];
    let same_origin = [("Cookie", cookie), ("Sec-Fetch-Site", "same-origin")];
    let with_key = |key| {
        [
            ("Cookie", cookie),
            ("Origin", origin),
            ("Accord-Page-Key", key),
        ]
    };
    for stolen in [
        &own_page[..],
        &navigation,
        &same_origin,
        &with_key(""),
        &with_key("x"),
        // The page key of another session of the same owner.
        &with_key(&another.page_key),
        &with_key(cookie.split_once('=').expect("a value").1),
    ] {
        for path in [secret.as_str(), "/ws", "/metrics"] {
            assert_eq!(server.status(path, stolen).await, 401, "{path} {stolen:?}");
        }
        for line in ["POST /uploads", "HEAD /uploads/upl_any", "POST /sign-out"] {
            let answer = server.send_as(None, line, stolen, b"").await;
            assert_eq!(answer.status, 401, "{line} {stolen:?}");
        }
        assert_eq!(server.upgrade(stolen).await.0, 401, "{stolen:?}");
    }
    let protocol = format!("accord, page-key.{}", another.page_key);
    let mixed = [
        own_page[0],
        own_page[1],
        ("Sec-WebSocket-Protocol", &protocol),
    ];
    assert_eq!(server.upgrade(&mixed).await.0, 401);
    // The page key without the cookie is rejected too.
    let key = ("Accord-Page-Key", browser.page_key.as_str());
    assert_eq!(
        server.status(&secret, &[key, ("Origin", origin)]).await,
        401
    );

    assert_eq!(server.status(&secret, &browser.headers()).await, 200);
}

#[tokio::test]
async fn both_secrets_make_the_page_of_the_gateway_the_owners_and_no_other_page() {
    let server = server().await;
    let secret = server.secret().await;
    let browser = server.browser(server.code()).await;
    let [cookie, key, origin] = browser.headers();
    let other = format!("http://{}", server.address.replace(':', ":1"));
    for (status, headers) in [
        (200, vec![cookie, key, origin]),
        (200, vec![cookie, key, ("Sec-Fetch-Site", "same-origin")]),
        (401, vec![cookie, key, ("Origin", other.as_str())]),
        (401, vec![cookie, key, ("Sec-Fetch-Site", "same-site")]),
        (401, vec![cookie, key]),
    ] {
        assert_eq!(
            server.status(&secret, &headers).await,
            status,
            "{headers:?}"
        );
    }
    let protocol = format!("accord, page-key.{}", browser.page_key);
    let page = [cookie, origin, ("Sec-WebSocket-Protocol", &protocol)];
    assert_eq!(server.upgrade(&page).await.0, 101);
    let by_header = server.upgrade(&browser.headers()).await;
    assert_eq!(by_header.0, 101);
}

#[tokio::test]
async fn a_browser_that_is_signed_in_keeps_its_session() {
    let server = server().await;
    let browser = server.browser(server.code()).await;
    let code = server.new_code(Sources::system().clock.now()).await;
    let again = server
        .send_as(None, "POST /sign-in", &browser.headers(), code.as_bytes())
        .await;
    assert_eq!((again.status, again.header("set-cookie")), (204, None));
    assert_eq!(server.redeem(&code).await.status, 401, "the code is used");
    assert_eq!(server.sessions().list(0).await.expect("a list").len(), 1);
}

#[tokio::test]
async fn signing_out_ends_the_session_and_its_connections() {
    let server = server().await;
    let secret = server.secret().await;
    let browser = server.browser(server.code()).await;
    let (status, mut connection) = server.upgrade(&browser.headers()).await;
    assert_eq!(status, 101);
    let out = server
        .send_as(None, "POST /sign-out", &browser.headers(), b"")
        .await;
    assert_eq!(out.status, 204);
    let cookie = out.header("set-cookie").expect("a cookie");
    assert!(cookie.contains("=; Path=/; Max-Age=0;"), "{cookie}");
    read_until(&mut connection, b"access_revoked").await;
    assert_eq!(server.status(&secret, &browser.headers()).await, 401);
    assert_eq!(server.upgrade(&browser.headers()).await.0, 401);
    let by_token = server.send("POST /sign-out", &[], b"").await;
    assert_eq!(by_token.status, 400);
}

#[tokio::test]
async fn the_owner_lists_sessions_and_ends_one_of_them() {
    let server = server().await;
    let secret = server.secret().await;
    let kept = server.browser(server.code()).await;
    let now = Sources::system().clock.now();
    let ended = server.browser(&server.new_code(now).await).await;
    let (_, mut connection) = server.upgrade(&ended.headers()).await;
    let listed = || async {
        let params = DesktopSessionListParams {};
        let listed = server.client.call::<DesktopSessionList>(params).await;
        listed.expect("the owner may list").items
    };
    let items = listed().await;
    assert_eq!(items.len(), 2);
    assert!(items.iter().all(|item| !item.is_current));
    assert_eq!(
        items[0].user_agent,
        "Mozilla/5.0 (X11; Linux) Firefox/140.0"
    );
    assert_eq!(items[0].expires_at - items[0].created_at, 30 * DAY);

    // Ids begin with their time, so the largest id is that of the second session.
    let last = items.iter().map(|item| item.id.clone()).max();
    let session_id = last.expect("a session");
    let params = DesktopSessionEndParams { session_id };
    let call = || server.client.call::<DesktopSessionEnd>(params.clone());
    assert!(call().await.expect("the owner may end").ended);
    assert!(!call().await.expect("the owner may end").ended);
    read_until(&mut connection, b"access_revoked").await;
    assert_eq!(server.status(&secret, &ended.headers()).await, 401);
    assert_eq!(server.status(&secret, &kept.headers()).await, 200);
    assert_eq!(listed().await.len(), 1);
}

#[tokio::test]
async fn sessions_are_for_the_owner_alone() {
    let server = server().await;
    let options = GatewayOptions::system(|sentence| panic!("{sentence}"));
    let home = Home::open(server.home.path()).expect("the home is there");
    let store = CrudStore::open(home.path(), &options.database).expect("the database opens");
    let scopes = ["read", "write", "exec"].map(ToOwned::to_owned);
    let token = NewToken::new("person", "human", &scopes, &[]).expect("a token that can be");
    let created = token.create(&store, &Sources::system()).await;
    let (_, secret) = created.expect("a token is stored");
    let client = rpc::websocket::connect(&format!("ws://{}/", server.address), &secret).await;
    let client = client.expect("the token is good");
    let params = DesktopSessionEndParams {
        session_id: DesktopSessionId::parse("dsk_a").expect("an id"),
    };
    let list = client.call::<DesktopSessionList>(DesktopSessionListParams {});
    let refusals = [
        list.await.expect_err("refused").to_string(),
        client
            .call::<DesktopSessionEnd>(params)
            .await
            .expect_err("refused")
            .to_string(),
    ];
    for refusal in refusals {
        assert!(
            refusal.contains("only the owner of the gateway"),
            "{refusal}"
        );
    }
}

#[tokio::test]
async fn a_session_ends_30_days_after_its_last_use_and_90_days_after_it_began() {
    let clock = Arc::new(TickingClock::default());
    let sources = Sources {
        clock: clock.clone(),
        ..Sources::system()
    };
    let server = server_with(&[], sources).await;
    let path = "/metrics";
    let used = server.browser(server.code()).await;
    let unused = server.browser(&server.new_code(clock.now()).await).await;
    for _ in 0..3 {
        clock.advance(29 * DAY);
        assert_eq!(server.status(path, &used.headers()).await, 200);
    }
    assert_eq!(server.status(path, &unused.headers()).await, 401);
    // 87 days have passed, so three more are allowed.
    clock.advance(2 * DAY);
    assert_eq!(server.status(path, &used.headers()).await, 200);
    clock.advance(DAY);
    assert_eq!(server.status(path, &used.headers()).await, 401);
    assert_eq!(server.upgrade(&used.headers()).await.0, 401);
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
        ("GET /sign-in", 405),
    ] {
        assert_eq!(server.send_as(None, line, &[], b"").await.status, status);
    }
}
