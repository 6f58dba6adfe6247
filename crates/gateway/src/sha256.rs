//! SHA-256 in the hexadecimal form used on the wire and in the database.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 hash of the bytes as 64 lower-case hexadecimal characters.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    HEXLOWER.encode(&digest(bytes))
}

/// Returns the SHA-256 hash of the bytes.
pub(crate) fn digest(bytes: impl AsRef<[u8]>) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
