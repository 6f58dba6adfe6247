//! The archive format of backups: a plain tar with a list of hashes and a hash of all preceding bytes at its end.
//!
//! Any `tar` can extract it. The reader accepts an archive only after reading it completely and verifying every byte,
//! so a truncated or modified file is rejected.

use std::{
    collections::BTreeMap,
    io::{self, Read, Write},
    path::{Component, Path},
};

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The name of the second-to-last entry, which contains the hash of each file.
pub(super) const MANIFEST: &str = "MANIFEST.json";
/// The name of the last entry, which contains the hash of all preceding bytes.
const SEAL: &str = "SHA256";

const BLOCK: usize = 512;
/// The length of the seal entry and the two empty blocks after it, in bytes.
const END: u64 = 4 * BLOCK as u64;
/// The maximum length of a name in a tar header, in bytes.
const SHORT_NAME: usize = 100;
/// The maximum length of a name, in bytes.
const LONGEST_NAME: u64 = 4096;
/// The maximum length of the list of hashes, in bytes.
const LONGEST_TEXT: u64 = 1 << 30;

/// The size and hash of a file in an archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ListedFile {
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// The files of an archive, by path.
pub(super) type Manifest = BTreeMap<String, ListedFile>;

/// Why an archive is rejected.
#[derive(Debug, thiserror::Error)]
pub(super) enum ArchiveError {
    /// The archive was truncated or modified, or is not a backup. Contains the failed check.
    #[error("{0}")]
    Damaged(String),
    /// The archive cannot be read, or its content cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Writes an archive.
pub(super) struct Writer<W> {
    output: W,
    hash: Sha256,
    written: u64,
    /// The modification time of all entries, in Unix seconds.
    now: u64,
    manifest: Manifest,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(output: W, now: i64) -> Self {
        Self {
            output,
            hash: Sha256::new(),
            written: 0,
            now: u64::try_from(now).unwrap_or(0),
            manifest: Manifest::new(),
        }
    }

    /// Returns the number of bytes written so far.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Returns the files written so far.
    pub(super) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the number of files written so far.
    pub(super) fn files(&self) -> usize {
        self.manifest.len()
    }

    pub(super) fn folder(&mut self, path: &str) -> io::Result<()> {
        self.head(&format!("{path}/"), EntryKind::Folder, 0o700, 0)
    }

    /// Adds a file of exactly `size` bytes. Fails if `content` is shorter.
    pub(super) fn file(
        &mut self,
        path: &str,
        mode: u32,
        size: u64,
        content: impl Read,
    ) -> io::Result<()> {
        self.head(path, EntryKind::File, mode, size)?;
        let (mut hash, mut left) = (Sha256::new(), size);
        let mut content = content.take(size);
        let mut buffer = vec![0; 128 << 10];
        loop {
            let count = content.read(&mut buffer)?;
            if count == 0 {
                break;
            }
            hash.update(&buffer[..count]);
            self.put(&buffer[..count])?;
            left -= count as u64;
        }
        if left > 0 {
            let sentence = format!("`{path}` became shorter while it was read");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, sentence));
        }
        self.pad(size)?;
        let listed = ListedFile {
            bytes: size,
            sha256: HEXLOWER.encode(&hash.finalize()),
        };
        self.manifest.insert(path.to_owned(), listed);
        Ok(())
    }

    /// Writes the list of hashes and the seal.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let manifest = serde_json::to_vec_pretty(&self.manifest)?;
        self.file(MANIFEST, 0o600, manifest.len() as u64, manifest.as_slice())?;
        let seal = format!("{}\n", HEXLOWER.encode(&self.hash.clone().finalize()));
        self.file(SEAL, 0o600, seal.len() as u64, seal.as_bytes())?;
        self.put(&[0; 2 * BLOCK])?;
        self.output.flush()?;
        Ok(self.output)
    }

    fn head(&mut self, path: &str, kind: EntryKind, mode: u32, size: u64) -> io::Result<()> {
        let name = path.as_bytes();
        if name.len() > SHORT_NAME {
            let long = header(
                "././@LongLink",
                EntryKind::LongName,
                0,
                name.len() as u64,
                0,
            );
            self.put(&long)?;
            self.put(name)?;
            self.pad(name.len() as u64)?;
        }
        self.put(&header(path, kind, mode, size, self.now))
    }

    fn pad(&mut self, size: u64) -> io::Result<()> {
        let zeros = [0; BLOCK];
        self.put(&zeros[..padding(size)])
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.written += bytes.len() as u64;
        self.output.write_all(bytes)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum EntryKind {
    File,
    Folder,
    /// The long name of the next entry.
    LongName,
}

impl EntryKind {
    fn letter(self) -> u8 {
        match self {
            Self::File => b'0',
            Self::Folder => b'5',
            Self::LongName => b'L',
        }
    }

    fn of(letter: u8) -> Option<Self> {
        [Self::File, Self::Folder, Self::LongName]
            .into_iter()
            .find(|kind| kind.letter() == letter)
    }
}

fn padding(size: u64) -> usize {
    let over = usize::try_from(size % BLOCK as u64).unwrap_or(0);
    (BLOCK - over) % BLOCK
}

/// Builds the header block of an entry.
fn header(path: &str, kind: EntryKind, mode: u32, size: u64, now: u64) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut field = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    let name = path.as_bytes();
    field(0, &name[..name.len().min(SHORT_NAME)]);
    field(100, format!("{mode:07o}").as_bytes());
    field(108, b"0000000");
    field(116, b"0000000");
    if size < 1 << 33 {
        field(124, format!("{size:011o}").as_bytes());
    } else {
        // Sizes that do not fit in octal digits are stored in binary after a marker byte (GNU extension).
        field(124, &[0x80, 0, 0, 0]);
        field(128, &size.to_be_bytes());
    }
    field(136, format!("{now:011o}").as_bytes());
    field(148, b"        ");
    field(156, &[kind.letter()]);
    field(257, b"ustar  ");
    let sum = checksum(&block);
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

/// Returns the checksum of a header, computed with spaces in the checksum field.
fn checksum(block: &[u8; BLOCK]) -> u32 {
    let byte = |(at, byte): (usize, &u8)| match at {
        148..156 => u32::from(b' '),
        _ => u32::from(*byte),
    };
    block.iter().enumerate().map(byte).sum()
}

/// An entry of an archive.
pub(super) enum Entry<'a> {
    Folder,
    File {
        mode: u32,
        content: &'a mut dyn Read,
    },
}

/// Reads an archive of the given length and passes every entry to `visit`.
///
/// Damage may be detected only at the end, so on the first pass the caller must not act on the visited entries.
pub(super) fn read(
    input: impl Read,
    length: u64,
    visit: &mut dyn FnMut(&str, Entry<'_>) -> Result<(), ArchiveError>,
) -> Result<Manifest, ArchiveError> {
    let mut input = ArchiveReader {
        input,
        hash: Sha256::new(),
        left: length,
    };
    let mut seen = Manifest::new();
    let mut folders = std::collections::BTreeSet::new();
    let mut listed: Option<Manifest> = None;
    let mut long_name: Option<String> = None;
    loop {
        let so_far = input.hash.clone();
        let block = input.block()?;
        let head = EntryHeader::read(&block)?;
        if head.size > input.left {
            return Err(damaged("it ends in the middle of a file"));
        }
        let path = match (head.kind, long_name.take()) {
            (EntryKind::LongName, None) => {
                let text = input.text(head.size.min(LONGEST_NAME + 1))?;
                if text.len() as u64 <= LONGEST_NAME {
                    long_name = Some(text);
                } else {
                    return Err(damaged("it has a name that is too long"));
                }
                input.padding(head.size)?;
                continue;
            }
            (EntryKind::LongName, Some(_)) => return Err(damaged("it has a name for a name")),
            (EntryKind::File | EntryKind::Folder, Some(long)) => long,
            (EntryKind::File | EntryKind::Folder, None) => head.path.clone(),
        };
        let path = path.strip_suffix('/').unwrap_or(&path).to_owned();
        check_path(&path)?;
        if seen.contains_key(&path) || !folders.insert(path.clone()) {
            return Err(damaged(&format!("`{path}` is in it twice")));
        }
        if let Some(listed) = &listed {
            let is_seal = path == SEAL && head.kind == EntryKind::File;
            if !is_seal || input.left != END - BLOCK as u64 {
                return Err(damaged("something follows its list of hashes"));
            }
            let seal = input.text(head.size)?;
            input.padding(head.size)?;
            let expected = format!("{}\n", HEXLOWER.encode(&so_far.finalize()));
            let same_header = header(SEAL, EntryKind::File, 0o600, head.size, head.now) == block;
            if seal != expected || !same_header || input.remaining()?.iter().any(|byte| *byte != 0)
            {
                return Err(damaged("its hash is not the one it was written with"));
            }
            return if *listed == seen {
                Ok(seen)
            } else {
                Err(damaged("its list of hashes is not that of its files"))
            };
        }
        if path == MANIFEST {
            let text = input.text(head.size.min(LONGEST_TEXT))?;
            input.padding(head.size)?;
            let manifest = serde_json::from_str(&text);
            listed = Some(manifest.map_err(|_| damaged("its list of hashes cannot be read"))?);
            continue;
        }
        match head.kind {
            EntryKind::Folder => visit(&path, Entry::Folder)?,
            EntryKind::File | EntryKind::LongName => {
                let mut content = EntryContent {
                    input: &mut input,
                    hash: Sha256::new(),
                    left: head.size,
                };
                let entry = Entry::File {
                    mode: head.mode,
                    content: &mut content,
                };
                visit(&path, entry)?;
                io::copy(&mut content, &mut io::sink())?;
                if content.left > 0 {
                    return Err(damaged("it ends in the middle of a file"));
                }
                let sha256 = HEXLOWER.encode(&content.hash.finalize());
                folders.remove(&path);
                let bytes = head.size;
                seen.insert(path, ListedFile { bytes, sha256 });
            }
        }
        input.padding(head.size)?;
    }
}

fn damaged(why: &str) -> ArchiveError {
    ArchiveError::Damaged(why.to_owned())
}

/// Rejects a path that is empty, absolute or could lead outside the target directory.
fn check_path(path: &str) -> Result<(), ArchiveError> {
    let mut parts = Path::new(path).components();
    let is_plain = !path.is_empty()
        && !path.contains('\0')
        && !path.contains("//")
        && parts.all(|part| matches!(part, Component::Normal(_)))
        && Path::new(path).components().count() == path.split('/').count();
    if is_plain {
        Ok(())
    } else {
        Err(damaged(&format!(
            "it has the path `{}`",
            path.escape_debug()
        )))
    }
}

/// The parsed header of an entry.
struct EntryHeader {
    path: String,
    kind: EntryKind,
    mode: u32,
    size: u64,
    now: u64,
}

impl EntryHeader {
    fn read(block: &[u8; BLOCK]) -> Result<Self, ArchiveError> {
        let invalid = || damaged("it has something that is no header of a file");
        let octal = |from: usize, to: usize| {
            let text = std::str::from_utf8(&block[from..to]).ok()?;
            u64::from_str_radix(text.trim_end_matches(['\0', ' ']), 8).ok()
        };
        if octal(148, 156).ok_or_else(invalid)? != u64::from(checksum(block)) {
            return Err(invalid());
        }
        let kind = EntryKind::of(block[156])
            .ok_or_else(|| damaged("it has something that is neither a file nor a folder"))?;
        let name = &block[..SHORT_NAME];
        let end = name.iter().position(|byte| *byte == 0);
        let name = std::str::from_utf8(&name[..end.unwrap_or(SHORT_NAME)]);
        let size = match block[124] {
            0x80 => {
                let bytes = block[128..136].try_into().map_err(|_| invalid())?;
                Some(u64::from_be_bytes(bytes))
            }
            _ => octal(124, 136),
        };
        let mode = octal(100, 108).ok_or_else(invalid)? & 0o777;
        Ok(Self {
            // A long name may be cut inside a character here; the complete name precedes it in its own entry.
            path: name.unwrap_or_default().to_owned(),
            kind,
            mode: u32::try_from(mode).unwrap_or(0o600),
            size: size.ok_or_else(invalid)?,
            now: octal(136, 148).ok_or_else(invalid)?,
        })
    }
}

struct ArchiveReader<R> {
    input: R,
    hash: Sha256,
    /// The number of bytes that remain to be read.
    left: u64,
}

impl<R: Read> ArchiveReader<R> {
    fn take(&mut self, buffer: &mut [u8]) -> Result<(), ArchiveError> {
        match self.input.read_exact(buffer) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(damaged("it ends too early"));
            }
            read => read?,
        }
        self.hash.update(&*buffer);
        self.left = self.left.saturating_sub(buffer.len() as u64);
        Ok(())
    }

    fn block(&mut self) -> Result<[u8; BLOCK], ArchiveError> {
        let mut block = [0; BLOCK];
        self.take(&mut block)?;
        Ok(block)
    }

    /// Reads the padding after an entry and rejects any byte that is not zero.
    fn padding(&mut self, size: u64) -> Result<(), ArchiveError> {
        let mut zeros = [0; BLOCK];
        let zeros = &mut zeros[..padding(size)];
        self.take(zeros)?;
        if zeros.iter().all(|byte| *byte == 0) {
            Ok(())
        } else {
            Err(damaged("there is something between its files"))
        }
    }

    fn text(&mut self, size: u64) -> Result<String, ArchiveError> {
        let mut text = vec![0; usize::try_from(size.min(self.left)).unwrap_or(0)];
        self.take(&mut text)?;
        String::from_utf8(text).map_err(|_| damaged("it has a text that is none"))
    }

    /// Reads the bytes after the last entry.
    fn remaining(&mut self) -> Result<Vec<u8>, ArchiveError> {
        let mut remaining = Vec::new();
        (&mut self.input).take(END).read_to_end(&mut remaining)?;
        if remaining.len() == 2 * BLOCK {
            Ok(remaining)
        } else {
            Err(damaged("it does not end where it was ended"))
        }
    }
}

/// The content of one file.
struct EntryContent<'a, R> {
    input: &'a mut ArchiveReader<R>,
    hash: Sha256,
    left: u64,
}

impl<R: Read> Read for EntryContent<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX);
        let most = most.min(buffer.len());
        let count = self.input.input.read(&mut buffer[..most])?;
        let read = &buffer[..count];
        self.input.hash.update(read);
        self.hash.update(read);
        self.input.left = self.input.left.saturating_sub(count as u64);
        self.left -= count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the result of reading an archive.
    fn read_paths(archive: &[u8]) -> Result<Vec<String>, String> {
        let mut paths = Vec::new();
        let read = read(archive, archive.len() as u64, &mut |path, _| {
            paths.push(path.to_owned());
            Ok(())
        });
        read.map(|_| paths).map_err(|refusal| refusal.to_string())
    }

    fn written(fill: impl FnOnce(&mut Writer<Vec<u8>>)) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), 1_700_000_000);
        fill(&mut writer);
        writer.finish().unwrap()
    }

    fn put(writer: &mut Writer<Vec<u8>>, path: &str, content: &str) {
        let size = content.len() as u64;
        writer.file(path, 0o600, size, content.as_bytes()).unwrap();
    }

    #[test]
    fn an_archive_is_read_as_it_was_written() {
        let long = format!(
            "home/{}/ü.md",
            "long-name/".repeat(30).trim_end_matches('/')
        );
        let archive = written(|writer| {
            writer.folder("home").unwrap();
            put(writer, "home/empty", "");
            put(writer, "home/block", &"x".repeat(512));
            put(writer, &long, "text");
        });
        assert_eq!(
            read_paths(&archive),
            Ok(["home", "home/empty", "home/block", &long]
                .map(str::to_owned)
                .to_vec())
        );
    }

    #[test]
    fn paths_that_lead_elsewhere_are_refused() {
        for path in [
            "../x",
            "/etc/x",
            "home/../../x",
            "home//x",
            "home/./x",
            "home/x\0y",
            ".",
        ] {
            let archive = written(|writer| put(writer, path, "x"));
            let expected = format!("it has the path `{}`", path.escape_debug());
            let cut = if path.contains('\0') {
                // The header ends the name at the NUL byte, so the parsed name is not the listed one.
                "its list of hashes is not that of its files".to_owned()
            } else {
                expected
            };
            assert_eq!(read_paths(&archive), Err(cut), "{path:?}");
        }
    }

    #[test]
    fn what_is_neither_a_file_nor_a_folder_is_refused() {
        for letter in *b"12346xg" {
            let archive = written(|writer| {
                let mut block = header("home/link", EntryKind::File, 0o777, 0, 0);
                block[156] = letter;
                block[157..168].copy_from_slice(b"/etc/passwd");
                let sum = checksum(&block);
                block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
                writer.put(&block).unwrap();
            });
            let expected = "it has something that is neither a file nor a folder";
            assert_eq!(read_paths(&archive), Err(expected.to_owned()));
        }
    }

    #[test]
    fn a_path_is_there_once() {
        let archive = written(|writer| {
            put(writer, "home/a", "one");
            put(writer, "home/a", "two");
        });
        assert_eq!(
            read_paths(&archive),
            Err("`home/a` is in it twice".to_owned())
        );
    }

    #[test]
    fn every_changed_bit_and_every_cut_is_noticed() {
        let archive = written(|writer| {
            writer.folder("home").unwrap();
            put(writer, "home/gateway.db", "some bytes");
        });
        for at in 0..archive.len() {
            let mut changed = archive.clone();
            changed[at] ^= 1 << (at % 8);
            assert!(read_paths(&changed).is_err(), "byte {at}");
            assert!(read_paths(&archive[..at]).is_err(), "cut at {at}");
        }
        let longer = [archive.as_slice(), &[0; BLOCK]].concat();
        assert!(read_paths(&longer).is_err());
    }
}
