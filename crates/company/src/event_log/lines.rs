//! Reads a file of lines in chunks, with at most one chunk and one line in memory.

#![allow(
    clippy::disallowed_methods,
    reason = "rejects links and everything that is not a regular file"
)]

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    thread,
    time::Duration,
};

use rustix::fs::OFlags;

use super::MAX_LINE_BYTES;
use crate::Error;

/// Number of bytes per read.
const CHUNK_BYTES: u64 = 1024 * 1024;

/// Number of bytes that are kept of a line that is too long to be an event.
const OVERSIZED_KEPT_BYTES: usize = 8 * 1024;

/// Some complete lines. All end with LF, except for the last line of a file.
pub(crate) struct Chunk {
    pub(crate) bytes: Vec<u8>,
    /// The chunk is the start of one line that is longer than [`MAX_LINE_BYTES`].
    pub(crate) oversized: bool,
}

/// Reads a file in chunks.
pub(crate) struct Chunks {
    file: File,
    /// Start of a line whose end has not been read yet.
    rest: Vec<u8>,
    /// Set after waiting once for a writer that was active when the end of the file was reached.
    settled: bool,
}

impl Chunks {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        Ok(Self {
            file: open_regular(path, OpenOptions::new().read(true), "read")?,
            rest: Vec::new(),
            settled: false,
        })
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<Chunk>> {
        let mut bytes = std::mem::take(&mut self.rest);
        loop {
            let before = bytes.len();
            (&self.file).take(CHUNK_BYTES).read_to_end(&mut bytes)?;
            if bytes.len() == before {
                if !bytes.is_empty() && !self.settled {
                    // A line without LF is either torn or still being written.
                    self.settled = true;
                    wait_for_writer(&self.file);
                    continue;
                }
                let oversized = false;
                return Ok((!bytes.is_empty()).then_some(Chunk { bytes, oversized }));
            }
            if let Some(end) = bytes[before..].iter().rposition(|&byte| byte == b'\n') {
                self.rest = bytes.split_off(before + end + 1);
                let oversized = false;
                return Ok(Some(Chunk { bytes, oversized }));
            }
            if bytes.len() > MAX_LINE_BYTES {
                bytes.truncate(OVERSIZED_KEPT_BYTES);
                bytes.shrink_to_fit();
                self.skip_line()?;
                let oversized = true;
                return Ok(Some(Chunk { bytes, oversized }));
            }
        }
    }

    /// Skips the rest of the current line.
    fn skip_line(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            (&self.file).take(CHUNK_BYTES).read_to_end(&mut bytes)?;
            if bytes.is_empty() {
                return Ok(());
            }
            if let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
                self.rest = bytes.split_off(end + 1);
                return Ok(());
            }
        }
    }
}

/// Waits until no process holds the lock of the file, for at most one second.
fn wait_for_writer(file: &File) {
    for _ in 0..200 {
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(5)),
            // On a file system without locks, read the file without waiting.
            Ok(()) | Err(TryLockError::Error(_)) => break,
        }
    }
    let _ = file.unlock();
}

/// Opens an existing regular file. Links and special files are rejected, and opening never blocks.
pub(crate) fn open_regular(
    path: &Path,
    options: &mut OpenOptions,
    verb: &'static str,
) -> Result<File, Error> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let flags = i32::try_from(flags).expect("open flags are small");
    let file = options
        .custom_flags(flags)
        .open(path)
        .map_err(|error| Error::io(verb, path, error))?;
    let metadata = file
        .metadata()
        .map_err(|error| Error::io(verb, path, error))?;
    if !metadata.is_file() {
        // A folder in place of a file is reported as damage of the company folder, not as an internal error.
        let kind = if metadata.is_dir() {
            io::ErrorKind::IsADirectory
        } else {
            io::ErrorKind::InvalidInput
        };
        let error = io::Error::new(kind, "not a regular file");
        return Err(Error::io(verb, path, error));
    }
    Ok(file)
}

/// Whether a line is empty after ECMAScript's `trim`.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    // Fast path: nearly every line starts with a bracket.
    if line.first().is_some_and(|byte| (b'!'..0x80).contains(byte)) {
        return false;
    }
    let blank = |character: char| {
        character == '\u{feff}' || character.is_whitespace() && character != '\u{85}'
    };
    str::from_utf8(line).is_ok_and(|text| text.chars().all(blank))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn chunks(bytes: &[&[u8]]) -> Vec<Chunk> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for bytes in bytes {
            file.write_all(bytes).unwrap();
        }
        let mut reader = Chunks::open(file.path()).unwrap();
        let mut chunks = Vec::new();
        while let Some(chunk) = reader.next().unwrap() {
            chunks.push(chunk);
        }
        chunks
    }

    #[test]
    fn chunks_hold_whole_lines_and_miss_nothing() {
        let line = [b"x".repeat(300_000), b"\n".to_vec()].concat();
        let file = [line.repeat(9), b"end".to_vec()].concat();
        let chunks = chunks(&[&file]);
        assert!(chunks.len() > 2);
        let (last, whole) = chunks.split_last().unwrap();
        assert!(whole.iter().all(|chunk| chunk.bytes.ends_with(b"\n")));
        assert_eq!(last.bytes, b"end");
        let all: Vec<u8> = chunks
            .iter()
            .flat_map(|chunk| chunk.bytes.clone())
            .collect();
        assert_eq!(all, file);
    }

    #[test]
    fn a_line_too_long_is_cut_and_the_next_one_is_read() {
        let long = vec![b'x'; MAX_LINE_BYTES + 3_000_000];
        let chunks = chunks(&[b"a\n", &long, b"\nb\n"]);
        let seen: Vec<_> = chunks
            .iter()
            .map(|chunk| (chunk.bytes.len(), chunk.oversized))
            .collect();
        assert_eq!(seen, [(2, false), (OVERSIZED_KEPT_BYTES, true), (2, false)]);
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        File::create(&target).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(Chunks::open(&link).is_err());
        assert!(Chunks::open(folder.path()).is_err());
        assert!(Chunks::open(&target).is_ok());
    }

    #[test]
    fn blank_is_what_ecmascript_trims_away() {
        for (line, blank) in [
            (" \t\r\u{b}\u{c}\u{a0}\u{feff}\u{2028}", true),
            ("", true),
            ("\u{85}", false),
            (" x", false),
        ] {
            assert_eq!(is_blank(line.as_bytes()), blank, "{line:?}");
        }
        assert!(!is_blank(b" \xff"));
    }
}
