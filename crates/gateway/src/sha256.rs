//! SHA-256 in the hexadecimal form used on the wire and in the database.

use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 hash of the bytes as 64 lower-case hexadecimal characters.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    hex(&digest(bytes))
}

/// Encodes bytes as lower-case hexadecimal characters.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| DIGITS[usize::from(digit)])
        .collect()
}

/// Returns the SHA-256 hash of the bytes.
pub(crate) fn digest(bytes: impl AsRef<[u8]>) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
