//! Names that become parts of paths. Each type can only hold validated text.

use std::fmt;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use crate::{Error, Result};

const MAX_SEGMENT_LENGTH: usize = 64;

/// A workspace id as a directory name: `[A-Za-z0-9_-]{1,64}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkspaceSegment(String);

impl WorkspaceSegment {
    /// Validates the text.
    pub fn new(text: &str) -> Result<WorkspaceSegment> {
        if is_segment(text) {
            Ok(WorkspaceSegment(text.to_owned()))
        } else {
            Err(Error::InvalidWorkspace)
        }
    }

    /// Returns the directory name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorkspaceSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An upload id as a directory name: `[A-Za-z0-9_-]{1,64}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UploadSegment(String);

impl UploadSegment {
    /// Validates the text.
    pub fn new(text: &str) -> Result<UploadSegment> {
        if is_segment(text) {
            Ok(UploadSegment(text.to_owned()))
        } else {
            Err(Error::InvalidUpload)
        }
    }

    /// Returns the directory name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UploadSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_segment(text: &str) -> bool {
    (1..=MAX_SEGMENT_LENGTH).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// A SHA-256 hash. Its text form is 64 lower-case hexadecimal characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Parses 64 lower-case hexadecimal characters.
    pub fn parse(text: &str) -> Result<ContentHash> {
        if text.len() != 64 {
            return Err(Error::InvalidHash);
        }
        let mut hash = [0; 32];
        let decoded = HEXLOWER.decode_mut(text.as_bytes(), &mut hash);
        decoded.map_err(|_| Error::InvalidHash)?;
        Ok(ContentHash(hash))
    }

    /// Returns the hash of these bytes.
    pub fn of(bytes: &[u8]) -> ContentHash {
        ContentHash(Sha256::digest(bytes).into())
    }

    /// Finalizes a hasher.
    pub(crate) fn from_hasher(hasher: Sha256) -> ContentHash {
        ContentHash(hasher.finalize().into())
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The hash and size of a byte sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The SHA-256 hash of all bytes.
    pub sha256: ContentHash,
    /// The number of bytes.
    pub size: u64,
}

/// Identifies one blob. Content is shared within a workspace, never across workspaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlobKey {
    workspace: WorkspaceSegment,
    sha256: ContentHash,
}

impl BlobKey {
    /// Returns the key of the blob with this content in this workspace.
    pub fn new(workspace: WorkspaceSegment, sha256: ContentHash) -> BlobKey {
        BlobKey { workspace, sha256 }
    }

    /// Parses the output of [`BlobKey::storage_key`].
    pub fn from_storage_key(workspace: WorkspaceSegment, storage_key: &str) -> Result<BlobKey> {
        let hash = storage_key.rsplit('/').next().unwrap_or_default();
        let key = BlobKey::new(
            workspace,
            ContentHash::parse(hash).map_err(|_| Error::InvalidStorageKey)?,
        );
        if key.storage_key() == storage_key {
            Ok(key)
        } else {
            Err(Error::InvalidStorageKey)
        }
    }

    /// Returns the key relative to the workspace, as stored in the database: `sha256/<first two>/<next two>/<hash>`.
    pub fn storage_key(&self) -> String {
        let [outer, inner, hash] = self.components();
        format!("sha256/{outer}/{inner}/{hash}")
    }

    /// Returns the workspace that owns the blob.
    pub fn workspace(&self) -> &WorkspaceSegment {
        &self.workspace
    }

    /// Returns the hash of the content.
    pub fn sha256(&self) -> ContentHash {
        self.sha256
    }

    /// Returns the two directory names and the file name below `sha256`.
    pub(crate) fn components(&self) -> [String; 3] {
        let hash = self.sha256.to_string();
        [hash[..2].to_owned(), hash[2..4].to_owned(), hash]
    }
}

impl fmt::Display for BlobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.workspace, self.sha256)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_cannot_leave_its_folder() {
        let long = "a".repeat(10_000);
        for bad in [
            "", ".", "..", "../../x", "a/b", "a\\b", "a\0b", "é", " a", &long,
        ] {
            assert!(WorkspaceSegment::new(bad).is_err(), "{bad:?}");
            assert!(UploadSegment::new(bad).is_err(), "{bad:?}");
        }
        assert!(WorkspaceSegment::new("ws_000000000000000001").is_ok());
        assert!(UploadSegment::new(&"a".repeat(64)).is_ok());
    }

    #[test]
    fn a_hash_is_64_lower_hex_characters() {
        let text = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(ContentHash::parse(text).unwrap(), ContentHash::of(b""));
        assert_eq!(ContentHash::of(b"").to_string(), text);
        let upper = text.to_uppercase();
        let signed = format!("+{}", &text[1..]);
        for bad in ["", &text[1..], &upper, &signed, "../../x"] {
            assert!(ContentHash::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_storage_key_reads_back_and_nothing_else_does() {
        let workspace = WorkspaceSegment::new("ws_1").unwrap();
        let key = BlobKey::new(workspace.clone(), ContentHash::of(b"x"));
        let text = key.storage_key();
        assert_eq!(
            BlobKey::from_storage_key(workspace.clone(), &text).unwrap(),
            key
        );
        let hash = key.sha256().to_string();
        for bad in [
            hash.clone(),
            format!("../../../../{hash}"),
            format!("sha256/00/00/{hash}"),
            format!("/{text}"),
            "sha256/../../etc/passwd".to_owned(),
        ] {
            assert!(
                BlobKey::from_storage_key(workspace.clone(), &bad).is_err(),
                "{bad:?}"
            );
        }
    }
}
