//! How a browser signs in: a one-time code in the address becomes a cookie that no script can read.
//!
//! Both are hashes over the owner's token, so nothing is stored and a new token ends every sign-in. Whoever can read
//! the home's token can make a code, in this process or another; only the gateway that serves takes one.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use subtle::ConstantTimeEq as _;

use crate::{sha256::sha256_hex, sources::random_text};

/// How long a code can be used, in seconds.
const CODE_LIFE: i64 = 600;
/// Used codes that are remembered; beyond that nobody signs in until some have expired.
const MAX_USED: usize = 4096;

/// The code of one sign-in, made by whoever knows the owner's token.
pub(crate) fn sign_in_code(owner: &str, now: i64) -> String {
    let claim = format!("{}.{}", now + CODE_LIFE, random_text(18));
    let seal = seal(owner, &claim);
    format!("{claim}.{seal}")
}

/// The secret goes last, so that a known seal cannot be carried on to a longer claim.
fn seal(owner: &str, claim: &str) -> String {
    sha256_hex(format!("accord sign-in\n{claim}\n{owner}"))
}

/// Takes codes once and knows the cookie they become.
#[derive(Debug)]
pub(crate) struct BrowserDoor {
    cookie: String,
    /// When each used code expires.
    used: Mutex<BTreeMap<String, i64>>,
}

impl BrowserDoor {
    pub(crate) fn new(owner: &str) -> Self {
        Self {
            cookie: sha256_hex(format!("accord browser\n{owner}")),
            used: Mutex::default(),
        }
    }

    /// The value of the cookie, for a code that is ours, fresh and new.
    pub(crate) fn open(&self, owner: &str, code: &str, now: i64) -> Option<&str> {
        let (claim, given) = code.rsplit_once('.')?;
        let (expires_at, _) = claim.split_once('.')?;
        let expires_at: i64 = expires_at.parse().ok()?;
        let is_ours = bool::from(seal(owner, claim).as_bytes().ct_eq(given.as_bytes()));
        if !is_ours || expires_at <= now || expires_at > now + CODE_LIFE {
            return None;
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, expires_at| *expires_at > now);
        let is_new = used.len() < MAX_USED && used.insert(claim.to_owned(), expires_at).is_none();
        is_new.then_some(self.cookie.as_str())
    }

    /// Whether a cookie is ours.
    pub(crate) fn knows(&self, cookie: &str) -> bool {
        self.cookie.as_bytes().ct_eq(cookie.as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_opens_the_door_once() {
        let door = BrowserDoor::new("secret");
        let code = sign_in_code("secret", 1000);
        let cookie = door.open("secret", &code, 1001).unwrap();
        assert!(door.knows(cookie));
        assert_eq!(door.open("secret", &code, 1002), None);
    }

    #[test]
    fn codes_that_are_old_foreign_or_changed_stay_outside() {
        let door = BrowserDoor::new("secret");
        let code = sign_in_code("secret", 1000);
        assert_eq!(door.open("secret", &code, 1000 + CODE_LIFE), None);
        assert_eq!(
            door.open("secret", &sign_in_code("other", 1000), 1000),
            None
        );
        let later = code.replacen("1600", "1700", 1);
        for broken in [
            later.as_str(),
            "",
            ".",
            "..",
            "9999999999999999999.x.y",
            "é.é.é",
        ] {
            assert_eq!(door.open("secret", broken, 1000), None, "{broken}");
        }
        assert!(!door.knows(""));
        assert!(!door.knows("secret"));
    }

    #[test]
    fn a_new_token_ends_every_sign_in() {
        let before = BrowserDoor::new("old");
        let cookie = before.open("old", &sign_in_code("old", 1), 1).unwrap();
        assert!(!BrowserDoor::new("new").knows(cookie));
    }
}
