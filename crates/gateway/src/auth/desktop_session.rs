//! Desktop sessions: a browser exchanges a one-time code for a session with two secrets and then acts as the owner.
//!
//! One secret is a cookie that scripts cannot read. Browsers send cookies to every port of a host, so other servers on
//! this machine see it. The other secret, the page key, is in the page's storage, which browsers separate by port. A
//! request needs both. The database stores only the hashes of these secrets, as for tokens and codes.

use crud::{CrudStore, DesktopSession, NewDesktopSession};
use protocol::{DesktopSessionId, Id as _};
use sources::{Sources, random_text};
use subtle::ConstantTimeEq as _;

use super::Principal;
use crate::{Error, Home, sha256::sha256_hex};

/// The lifetime of a one-time code, in seconds.
const CODE_SECONDS: i64 = 10 * 60;
/// The lifetime of an unused session, in seconds: 30 days.
const IDLE_SECONDS: i64 = 30 * 24 * 60 * 60;
/// The maximum lifetime of a session, in seconds: 90 days.
pub(crate) const MAX_SECONDS: i64 = 90 * 24 * 60 * 60;
/// The minimum interval between two updates of a session's last use, in seconds.
const USED_SECONDS: i64 = 60 * 60;
/// The maximum number of characters stored of a `User-Agent` header.
const MAX_USER_AGENT_CHARS: usize = 256;

/// The desktop sessions of a home.
pub struct DesktopSessions {
    /// The SHA-256 of the owner's token. Sessions and codes are valid only while the token they were created under is
    /// current.
    owner_sha256: String,
    store: CrudStore,
}

/// The secrets a browser sends to prove its session. It has no `Debug`, so that they are never logged.
pub(crate) struct SessionProof<'a> {
    pub(crate) cookie: &'a str,
    pub(crate) page_key: &'a str,
}

/// The secrets of a new session, which are sent only to its browser.
pub(crate) struct SessionSecrets {
    pub(crate) cookie: String,
    pub(crate) page_key: String,
}

impl DesktopSessions {
    /// Opens the desktop sessions of a home whose database is open.
    pub fn open(home: &Home, store: CrudStore) -> Result<Self, Error> {
        Ok(Self::new(&home.token()?, store))
    }

    pub(crate) fn new(owner: &str, store: CrudStore) -> Self {
        Self {
            owner_sha256: sha256_hex(owner),
            store,
        }
    }

    /// Creates a one-time code with which a browser signs in to the gateway of this home.
    pub async fn create_code(&self, now: i64) -> Result<String, crud::Error> {
        let code = random_text(43);
        let sessions = self.store.desktop_sessions();
        sessions
            .create_code(
                sha256_hex(&code),
                self.owner_sha256.clone(),
                now + CODE_SECONDS,
                now,
            )
            .await?;
        Ok(code)
    }

    /// Consumes a code. Returns whether it was valid.
    pub(crate) async fn redeem_code(&self, code: &str, now: i64) -> Result<bool, crud::Error> {
        self.store
            .desktop_sessions()
            .redeem_code(&sha256_hex(code), &self.owner_sha256, now)
            .await
    }

    /// Creates the session of a browser whose code was valid.
    pub(crate) async fn create(
        &self,
        user_agent: &str,
        sources: &Sources,
    ) -> Result<SessionSecrets, crud::Error> {
        let secrets = SessionSecrets {
            cookie: random_text(43),
            page_key: random_text(43),
        };
        let now = sources.clock.now();
        let session = NewDesktopSession {
            id: sources.id::<DesktopSessionId>().into(),
            // The secrets are long and random, so an unsalted hash is sufficient.
            cookie_sha256: sha256_hex(&secrets.cookie),
            page_key_sha256: sha256_hex(&secrets.page_key),
            owner_sha256: self.owner_sha256.clone(),
            user_agent: printable(user_agent),
            created_at: now,
            expires_at: expires_at(now, now),
        };
        self.store.desktop_sessions().create(session).await?;
        Ok(secrets)
    }

    /// Returns the owner as principal if the browser proves a valid session, otherwise `None`.
    pub(crate) async fn authenticate(
        &self,
        proof: &SessionProof<'_>,
        now: i64,
    ) -> Result<Option<Principal>, crud::Error> {
        let sessions = self.store.desktop_sessions();
        let found = sessions
            .find(&sha256_hex(proof.cookie), &self.owner_sha256, now)
            .await?;
        let given = sha256_hex(proof.page_key);
        let is_proved = |session: &DesktopSession| {
            bool::from(session.page_key_sha256.as_bytes().ct_eq(given.as_bytes()))
        };
        let Some(session) = found.filter(is_proved) else {
            return Ok(None);
        };
        self.note_use(&session, now).await;
        Ok(DesktopSessionId::parse(&session.id)
            .ok()
            .map(Principal::of_session))
    }

    /// Returns the sessions that have not ended, most recently used first.
    pub async fn list(&self, now: i64) -> Result<Vec<DesktopSession>, crud::Error> {
        let sessions = self.store.desktop_sessions();
        sessions.list(&self.owner_sha256, now).await
    }

    /// Ends a session. Returns whether it existed.
    pub async fn end(&self, id: &DesktopSessionId) -> Result<bool, crud::Error> {
        self.store.desktop_sessions().end(id.as_str()).await
    }

    /// Records the use of sessions with an open connection and deletes the sessions that have ended.
    pub(crate) async fn tend(
        &self,
        is_in_use: impl Fn(&str) -> bool,
        now: i64,
    ) -> Result<(), crud::Error> {
        for session in self.list(now).await? {
            if is_in_use(&session.id) {
                self.note_use(&session, now).await;
            }
        }
        let sessions = self.store.desktop_sessions();
        sessions.forget_ended(&self.owner_sha256, now).await?;
        Ok(())
    }

    /// Records the use of a session. A failed write is only logged, so that a full disk does not lock the owner out.
    async fn note_use(&self, session: &DesktopSession, now: i64) {
        if now - session.last_used_at < USED_SECONDS {
            return;
        }
        let expires_at = expires_at(session.created_at, now);
        let sessions = self.store.desktop_sessions();
        if let Err(error) = sessions.used(&session.id, now, expires_at).await {
            tracing::warn!(%error, "the use of a desktop session cannot be recorded");
        }
    }
}

fn expires_at(created_at: i64, last_used_at: i64) -> i64 {
    (last_used_at + IDLE_SECONDS).min(created_at + MAX_SECONDS)
}

/// Removes characters that are not safe to print on a terminal and truncates the text.
fn printable(user_agent: &str) -> String {
    let kept = user_agent
        .chars()
        .filter(|letter| letter.is_ascii_graphic() || *letter == ' ');
    kept.take(MAX_USER_AGENT_CHARS).collect()
}

impl std::fmt::Debug for DesktopSessions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("DesktopSessions")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    };

    use serde_json::{Value, json};

    use super::*;
    use crate::{Clock, Gateway, GatewayOptions};

    const DAY: i64 = 24 * 60 * 60;

    /// A clock that returns a fixed, adjustable day.
    #[derive(Default)]
    struct Calendar(AtomicI64);

    impl Clock for Calendar {
        fn now_ms(&self) -> i64 {
            self.0.load(Ordering::Relaxed) * DAY * 1000
        }
    }

    #[tokio::test]
    async fn an_open_connection_keeps_its_session_until_90_days_have_passed() {
        let folder = tempfile::tempdir().unwrap();
        let calendar = Arc::new(Calendar::default());
        let mut options = GatewayOptions::system(|sentence| panic!("{sentence}"));
        options.sources.clock = calendar.clone();
        let home = Home::open(folder.path()).unwrap();
        let gateway = Gateway::open(&home, &options).await.unwrap();
        let sessions = gateway.desktop_sessions();
        let secrets = sessions
            .create("Test", &gateway.services.sources)
            .await
            .unwrap();
        let proof = SessionProof {
            cookie: &secrets.cookie,
            page_key: &secrets.page_key,
        };
        let principal = sessions.authenticate(&proof, 0).await.unwrap().unwrap();
        let client = rpc::memory::connect(gateway.connect(principal));
        for day in [29, 58, 87, 89] {
            calendar.0.store(day, Ordering::Relaxed);
            gateway.tend_desktop_sessions().await;
            let listed = client.call_raw("desktop_session/list", json!({})).await;
            let items = listed.unwrap()["items"].take();
            assert_eq!(items[0]["last_used_at"], day * DAY);
            assert_eq!(items[0]["is_current"], true);
            assert_eq!(items[1], Value::Null);
        }
        calendar.0.store(90, Ordering::Relaxed);
        gateway.tend_desktop_sessions().await;
        assert_eq!(client.notification().await, None, "the connection ended");
        assert_eq!(sessions.list(0).await.unwrap(), []);
    }
}
