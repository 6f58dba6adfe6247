//! `Upload-Checksum`: the hash of one request body, verified before its bytes are accepted.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use hyper::HeaderMap;
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use super::UPLOAD_CHECKSUM;

/// The supported algorithms. The tus protocol requires `sha1`.
pub(super) const ALGORITHMS: &str = "sha1,sha256";

/// The expected hash of a body and the running hash of the received bytes.
pub(super) struct Checksum {
    running: Running,
    expected: Vec<u8>,
}

enum Running {
    Sha1(Sha1),
    Sha256(Sha256),
}

impl Checksum {
    /// Parses the checksum header. Returns `None` if it is absent, or a message if it is invalid.
    pub(super) fn announced(headers: &HeaderMap) -> Result<Option<Self>, &'static str> {
        const WRONG: &str = "expected one `Upload-Checksum` of an algorithm and a hash in base64";
        let mut values = headers.get_all(UPLOAD_CHECKSUM).iter();
        let value = match (values.next(), values.next()) {
            (None, _) => return Ok(None),
            (Some(value), None) => value.to_str().map_err(|_| WRONG)?,
            (Some(_), Some(_)) => return Err(WRONG),
        };
        let (algorithm, hash) = value.trim().split_once(' ').ok_or(WRONG)?;
        let running = match algorithm {
            "sha1" => Running::Sha1(Sha1::default()),
            "sha256" => Running::Sha256(Sha256::default()),
            _ => {
                return Err("the algorithm of `Upload-Checksum` is not one of `sha1` and `sha256`");
            }
        };
        let expected = BASE64.decode(hash.trim()).map_err(|_| WRONG)?;
        Ok(Some(Self { running, expected }))
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        match &mut self.running {
            Running::Sha1(hasher) => sha1::Digest::update(hasher, bytes),
            Running::Sha256(hasher) => hasher.update(bytes),
        }
    }

    /// Returns whether the received bytes have the expected hash.
    pub(super) fn matches(self) -> bool {
        match self.running {
            Running::Sha1(hasher) => sha1::Digest::finalize(hasher)[..] == self.expected[..],
            Running::Sha256(hasher) => hasher.finalize()[..] == self.expected[..],
        }
    }
}
