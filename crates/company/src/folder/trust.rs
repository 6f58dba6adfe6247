//! The list of trusted company folders of this machine, and the seals of notes that this machine wrote into them.
//!
//! A folder that was cloned, unpacked or received is data only. Everything below `.local` names programs, changes to
//! complete and processes to stop, so it is used only in folders that a person created here or confirmed. The home
//! stores the list with real path, inode and creation time, so that a folder that replaces a trusted one is not
//! trusted.
//!
//! Trust means that a person knows the folder, not that other programs cannot write to it. Notes that lead to writes or
//! signals without a request, such as intents and the processes of sessions, therefore also carry a seal: an HMAC with
//! a key that is stored in the home and in no folder.

#![allow(
    clippy::disallowed_methods,
    reason = "files of the home, which is not a company folder"
)]

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use hmac::{Hmac, KeyInit as _, Mac as _};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::{Company, Error, event_log::hex, files, layout};

/// File with the list of trusted folders, in the home.
const LIST: &str = "trusted_folders.json";
/// Lock file that serialises changes of the list, in the home.
const LIST_LOCK: &str = "trusted_folders.lock";
/// Folder for data derived from untrusted folders, in the home.
const UNTRUSTED: &str = "untrusted_folders";
/// File with the key of the seals, in the home.
const KEY: &str = "folder_key";
/// Time to wait for another process that changes the list.
const LIST_LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// Trusted folders and seal key of a home. Cheap to clone.
#[derive(Clone)]
pub struct Trust {
    folders: Folders,
    key: [u8; 32],
}

#[derive(Clone)]
enum Folders {
    /// The folders listed in a home.
    Listed(Arc<List>),
    /// All folders, for tests and tools that work on their own folders.
    All,
}

struct List {
    home: PathBuf,
    read: Mutex<(Option<TrustListStamp>, BTreeMap<PathBuf, TrustedFolder>)>,
}

/// Identifies a version of the list file: inode, modification time in seconds and nanoseconds, and length.
type TrustListStamp = (u64, i64, i64, u64);

/// Identifies a listed folder. Inode numbers are reused, so the creation time is compared as well, on file systems that
/// store it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct TrustedFolder {
    inode: u64,
    #[serde(default)]
    made_at_ns: Option<u64>,
}

impl TrustedFolder {
    fn of(root: &Path) -> io::Result<Self> {
        let metadata = fs::symlink_metadata(root)?;
        let made_at = metadata.created().ok();
        let since = made_at.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        Ok(Self {
            inode: metadata.ino(),
            made_at_ns: since.and_then(|since| u64::try_from(since.as_nanos()).ok()),
        })
    }
}

impl Trust {
    /// Opens the trust data of a home; creates the key on first use.
    pub fn of_home(home: &Path) -> Result<Self, Error> {
        Ok(Self {
            folders: Folders::Listed(Arc::new(List {
                home: home.to_owned(),
                read: Mutex::default(),
            })),
            key: key(home)?,
        })
    }

    /// Trusts every folder, for tests and tools that work on their own folders.
    pub fn everywhere() -> Self {
        Self {
            folders: Folders::All,
            key: [0; 32],
        }
    }

    /// Returns whether the folder is trusted, so that its `.local` is used. `root` is absolute and without links.
    pub(crate) fn holds(&self, root: &Path) -> bool {
        let Folders::Listed(list) = &self.folders else {
            return true;
        };
        let listed = list.entry(root);
        listed.is_some_and(|listed| TrustedFolder::of(root).is_ok_and(|now| now == listed))
    }

    /// Folder in the home for data derived from an untrusted folder.
    pub(crate) fn beside(&self, root: &Path) -> PathBuf {
        let name = hex(&Sha256::digest(root.as_os_str().as_encoded_bytes()));
        match &self.folders {
            Folders::Listed(list) => list.home.join(UNTRUSTED).join(name),
            // Without a list every folder is trusted.
            Folders::All => root.join(layout::LOCAL),
        }
    }

    /// Adds the folder that is currently at a path to the list.
    pub(crate) fn grant(&self, root: &Path) -> Result<(), Error> {
        let failed = |error| Error::io("read", root, error);
        // The path of a new folder may contain a link above it.
        let root = root.canonicalize().map_err(failed)?;
        let entry = TrustedFolder::of(&root).map_err(failed)?;
        self.change(|entries| {
            entries.insert(root, entry);
        })
    }

    /// Removes a folder from the list.
    pub(crate) fn withdraw(&self, root: &Path) -> Result<(), Error> {
        self.change(|entries| {
            entries.remove(root);
        })
    }

    fn change(
        &self,
        change: impl FnOnce(&mut BTreeMap<PathBuf, TrustedFolder>),
    ) -> Result<(), Error> {
        match &self.folders {
            Folders::Listed(list) => list.change(change),
            Folders::All => Ok(()),
        }
    }

    /// Computes the seal of a text that this machine writes to a path, such as an intent of a folder.
    pub fn seal(&self, place: &Path, text: &[u8]) -> String {
        hex(&self.mac(place, text).finalize().into_bytes())
    }

    /// Returns whether this machine sealed the text for that path.
    pub fn is_sealed(&self, place: &Path, text: &[u8], seal: &str) -> bool {
        let given = seal.as_bytes().chunks(2).map(|pair| {
            let pair = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(pair, 16).ok()
        });
        let given: Option<Vec<u8>> = given.collect();
        given.is_some_and(|given| self.mac(place, text).verify_slice(&given).is_ok())
    }

    fn mac(&self, place: &Path, text: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("a key of any length fits");
        mac.update(place.as_os_str().as_encoded_bytes());
        // Paths contain no NUL byte, so the separator makes the split between path and text unambiguous.
        mac.update(&[0]);
        mac.update(text);
        mac
    }
}

/// A note that this machine writes into a company folder for its own use.
#[derive(Serialize, Deserialize)]
struct Sealed {
    seal: String,
    note: Box<RawValue>,
}

impl Company {
    /// Returns the sealed text of a note for the file at a relative path.
    pub fn sealed<T: Serialize>(
        &self,
        relative: &str,
        note: &T,
    ) -> Result<String, serde_json::Error> {
        let note = serde_json::value::to_raw_value(note)?;
        let seal = self
            .seals()
            .seal(&self.path(relative), note.get().as_bytes());
        Ok(serde_json::to_string_pretty(&Sealed { seal, note })? + "\n")
    }

    /// Reads a sealed note; `None` if this machine did not write it for this path.
    pub fn open_sealed<T: DeserializeOwned>(
        &self,
        relative: &str,
        text: &str,
    ) -> Result<Option<T>, serde_json::Error> {
        let Sealed { seal, note } = serde_json::from_str(text)?;
        let place = self.path(relative);
        if self.seals().is_sealed(&place, note.get().as_bytes(), &seal) {
            serde_json::from_str(note.get()).map(Some)
        } else {
            Ok(None)
        }
    }
}

impl List {
    fn path(&self) -> PathBuf {
        self.home.join(LIST)
    }

    /// Returns the current entry of a folder. The list is read again if another process of the home changed it.
    fn entry(&self, root: &Path) -> Option<TrustedFolder> {
        let path = self.path();
        let stamp = fs::metadata(&path)
            .ok()
            .map(|found| (found.ino(), found.mtime(), found.mtime_nsec(), found.len()));
        let mut read = self.read.lock();
        if read.0 != stamp {
            *read = (stamp, load(&path));
        }
        read.1.get(root).copied()
    }

    fn change(
        &self,
        change: impl FnOnce(&mut BTreeMap<PathBuf, TrustedFolder>),
    ) -> Result<(), Error> {
        let lock_path = self.home.join(LIST_LOCK);
        let lock = private().create(true).truncate(false).open(&lock_path);
        let lock = lock.map_err(|error| Error::io("locked", &lock_path, error))?;
        files::lock(&lock, &lock_path, LIST_LOCK_TIMEOUT)?;
        let path = self.path();
        let mut entries = load(&path);
        change(&mut entries);
        let text = serde_json::to_vec_pretty(&entries)
            .map_err(|error| Error::io("written", &path, error.into()))?;
        files::replace(&path, &text)
    }
}

/// Reads the list. An unreadable list trusts no folder; a person has to confirm them again.
fn load(path: &Path) -> BTreeMap<PathBuf, TrustedFolder> {
    let read = fs::read(path).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
    read.unwrap_or_else(|error| {
        if error.kind() != io::ErrorKind::NotFound {
            tracing::warn!(%error, "the list of trusted folders cannot be read");
        }
        BTreeMap::new()
    })
}

/// Reads or creates the key of a home. Processes that create it concurrently get the same key.
fn key(home: &Path) -> Result<[u8; 32], Error> {
    let path = home.join(KEY);
    let failed = |error| Error::io("read", &path, error);
    let stored = || match fs::read(&path) {
        Ok(bytes) => <[u8; 32]>::try_from(bytes).map(Some).map_err(|bytes| {
            let length = bytes.len();
            io::Error::other(format!(
                "expected 32 bytes, found {length}: remove the file"
            ))
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    };
    if let Some(key) = stored().map_err(failed)? {
        return Ok(key);
    }
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(|error| failed(io::Error::other(error.to_string())))?;
    let staged = files::temporary_beside(&path)?;
    let made = (|| {
        let mut file = private().create_new(true).open(&staged)?;
        file.write_all(&key)?;
        file.sync_all()?;
        match fs::hard_link(&staged, &path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    })();
    let _ = fs::remove_file(&staged);
    made.map_err(failed)?;
    let stored = stored().map_err(failed)?;
    stored.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
}

/// Options for files that only the owner may read.
fn private() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

impl std::fmt::Debug for Trust {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Trust")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(home: &tempfile::TempDir, name: &str) -> PathBuf {
        let path = home.path().canonicalize().unwrap().join(name);
        fs::create_dir(&path).unwrap();
        path
    }

    #[test]
    fn a_folder_counts_once_it_is_granted_and_no_longer_when_that_is_withdrawn() {
        let home = tempfile::tempdir().unwrap();
        let acme = folder(&home, "acme");
        let trust = Trust::of_home(home.path()).unwrap();
        assert!(!trust.holds(&acme));
        trust.grant(&acme).unwrap();
        assert!(trust.holds(&acme));
        assert!(!trust.holds(&folder(&home, "other")));
        trust.withdraw(&acme).unwrap();
        assert!(!trust.holds(&acme));
    }

    #[test]
    fn another_process_of_the_home_sees_what_was_granted() {
        let home = tempfile::tempdir().unwrap();
        let acme = folder(&home, "acme");
        let [one, other] = [(); 2].map(|()| Trust::of_home(home.path()).unwrap());
        assert!(!other.holds(&acme));
        one.grant(&acme).unwrap();
        assert!(other.holds(&acme));
    }

    #[test]
    fn a_folder_that_takes_the_place_of_a_trusted_one_is_not_trusted() {
        let home = tempfile::tempdir().unwrap();
        let (acme, other) = (folder(&home, "acme"), folder(&home, "other"));
        let trust = Trust::of_home(home.path()).unwrap();
        trust.grant(&acme).unwrap();
        fs::rename(&acme, home.path().join("moved")).unwrap();
        fs::rename(&other, &acme).unwrap();
        assert!(!trust.holds(&acme));
    }

    #[test]
    fn a_folder_that_gets_the_inode_of_a_trusted_one_is_not_trusted() {
        let home = tempfile::tempdir().unwrap();
        let acme = folder(&home, "acme");
        let trust = Trust::of_home(home.path()).unwrap();
        trust.grant(&acme).unwrap();
        // Simulates a reused inode number.
        let list = home.path().join(LIST);
        let mut entries = load(&list);
        let entry = entries.values_mut().next().unwrap();
        entry.made_at_ns = entry.made_at_ns.map(|at| at - 1);
        files::replace(&list, &serde_json::to_vec(&entries).unwrap()).unwrap();
        let knows_the_time = entries.values().all(|entry| entry.made_at_ns.is_some());
        assert_eq!(trust.holds(&acme), !knows_the_time);
    }

    #[test]
    fn a_seal_holds_for_its_home_its_place_and_its_text_alone() {
        let [home, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let trust = Trust::of_home(home.path()).unwrap();
        let place = Path::new("/acme/.local/intents/1");
        let seal = trust.seal(place, b"text");
        assert!(trust.is_sealed(place, b"text", &seal));
        assert!(
            Trust::of_home(home.path())
                .unwrap()
                .is_sealed(place, b"text", &seal)
        );
        assert!(!trust.is_sealed(Path::new("/other"), b"text", &seal));
        assert!(!trust.is_sealed(place, b"Text", &seal));
        assert!(!trust.is_sealed(place, b"text", ""));
        assert!(!trust.is_sealed(place, b"text", "no hex"));
        let stranger = Trust::of_home(other.path()).unwrap();
        assert!(!stranger.is_sealed(place, b"text", &seal));
    }

    #[test]
    fn the_key_of_a_home_is_for_its_owner_alone() {
        let home = tempfile::tempdir().unwrap();
        Trust::of_home(home.path()).unwrap();
        let mode = fs::metadata(home.path().join(KEY)).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
