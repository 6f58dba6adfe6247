//! Detection of the MIME type and kind of a file from its bytes, its name and the client's declaration.
//!
//! The bytes take precedence over the declaration, unless the declaration is a more specific type for the same bytes.

use serde::de::IgnoredAny;

/// The number of leading bytes that [`detect`] needs; a shorter file is passed whole.
pub const HEAD_LENGTH: usize = 256 * 1024;

const SIGNATURE_LENGTH: usize = 8192;
const UNKNOWN: &str = "application/octet-stream";

/// The kinds derived from content. Producers of artifacts set other kinds themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContentKind {
    /// Any other file.
    File,
    /// Readable text.
    Text,
    /// An image.
    Image,
    /// Audio.
    Audio,
    /// Video.
    Video,
    /// A PDF document.
    Pdf,
    /// A spreadsheet or delimited table.
    Spreadsheet,
    /// An archive or a compressed file.
    Archive,
    /// A JSON document or JSON lines.
    Json,
}

impl ContentKind {
    /// Returns the wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            ContentKind::File => "file",
            ContentKind::Text => "text",
            ContentKind::Image => "image",
            ContentKind::Audio => "audio",
            ContentKind::Video => "video",
            ContentKind::Pdf => "pdf",
            ContentKind::Spreadsheet => "spreadsheet",
            ContentKind::Archive => "archive",
            ContentKind::Json => "json",
        }
    }
}

/// The result of [`detect`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detected {
    /// The effective MIME type: the detected one, else the declared one, else `application/octet-stream`.
    pub mime: Option<String>,
    /// The MIME type derived from the bytes. Absent if they match no known type.
    pub detected: Option<String>,
    /// True if the declared type contradicts the bytes.
    pub mismatch: bool,
    /// The kind derived from the effective type and the file name.
    pub kind: ContentKind,
}

/// Detects the type from the first [`HEAD_LENGTH`] bytes, the original file name and the declared type.
pub fn detect(first_bytes: &[u8], file_name: &str, declared: Option<&str>) -> Detected {
    let extension = extension(file_name);
    let declared = declared
        .and_then(essence)
        // Clients declare this type when they do not know the type, so it counts as no declaration.
        .filter(|mime| mime != UNKNOWN);
    let detected = match &declared {
        // An empty file contradicts no declaration.
        Some(_) if first_bytes.is_empty() => None,
        Some(_) | None => detect_bytes(first_bytes, &extension),
    };
    let (mime, mismatch) = match (&detected, declared) {
        (Some(detected), Some(declared)) if says_more(&declared, detected) => (declared, false),
        (Some(detected), Some(declared)) => (detected.clone(), *detected != declared),
        (Some(detected), None) => (detected.clone(), false),
        (None, Some(declared)) => (declared, false),
        (None, None) => (UNKNOWN.to_owned(), false),
    };
    Detected {
        kind: classify(&mime, &extension),
        mime: Some(mime),
        detected,
        mismatch,
    }
}

/// Normalizes a declaration to `type/subtype`: lower case, no parameters, common aliases replaced. Returns `None` if it
/// is malformed.
fn essence(declared: &str) -> Option<String> {
    let mime = declared.split(';').next()?.trim().to_ascii_lowercase();
    let (family, subtype) = mime.split_once('/')?;
    let is_token = |text: &str| {
        (1..=127).contains(&text.len())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    if !is_token(family) || !is_token(subtype) {
        return None;
    }
    let known = match mime.as_str() {
        "image/jpg" | "image/pjpeg" => "image/jpeg",
        "application/x-pdf" => "application/pdf",
        "application/x-zip" | "application/x-zip-compressed" => "application/zip",
        "application/x-gzip" => "application/gzip",
        "text/json" => "application/json",
        _ => return Some(mime),
    };
    Some(known.to_owned())
}

/// Returns whether the declared type is a more specific form of the detected one.
fn says_more(declared: &str, detected: &str) -> bool {
    match detected {
        "text/plain" => declared.starts_with("text/"),
        "application/json" => declared.ends_with("+json"),
        _ => false,
    }
}

fn detect_bytes(first_bytes: &[u8], extension: &str) -> Option<String> {
    let head = &first_bytes[..first_bytes.len().min(SIGNATURE_LENGTH)];
    if let Some(mime) = signature(head) {
        let inside = match mime {
            "application/zip" => office_document(first_bytes),
            _ => None,
        };
        return Some(inside.unwrap_or(mime).to_owned());
    }
    if !is_text(head) {
        return None;
    }
    let mime = match extension {
        _ if is_json(first_bytes) => "application/json",
        "csv" => "text/csv",
        "tsv" => "text/tab-separated-values",
        _ => "text/plain",
    };
    Some(mime.to_owned())
}

/// Returns the type for the supported file signatures.
fn signature(head: &[u8]) -> Option<&'static str> {
    let mime = infer::get(head)?.mime_type();
    if mime.starts_with("application/vnd.openxmlformats-officedocument.") {
        // The library checks only the first entries; `office_document` checks all of them.
        return Some("application/zip");
    }
    let is_known = matches!(
        mime,
        "image/png"
            | "image/jpeg"
            | "image/gif"
            | "image/webp"
            | "application/pdf"
            | "application/zip"
            | "application/gzip"
            | "application/epub+zip"
    ) || mime.starts_with("application/vnd.oasis.opendocument.");
    is_known.then_some(mime)
}

/// Returns the type of an office document inside a ZIP, by the names of its entries, whose order depends on the
/// producer.
fn office_document(first_bytes: &[u8]) -> Option<&'static str> {
    const ENTRY: &[u8] = b"PK\x03\x04";
    const NAME_OFFSET: usize = 30;
    let mut has_package_parts = false;
    let mut mime = None;
    for (position, window) in first_bytes.windows(ENTRY.len()).enumerate() {
        if window != ENTRY {
            continue;
        }
        let name = first_bytes
            .get(position + NAME_OFFSET..)
            .unwrap_or_default();
        has_package_parts |= [b"[Content_Types].xml".as_slice(), b"_rels/", b"docProps/"]
            .iter()
            .any(|part| name.starts_with(part));
        mime = mime.or(match name {
            [b'x', b'l', b'/', ..] => {
                Some("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
            }
            [b'w', b'o', b'r', b'd', b'/', ..] => {
                Some("application/vnd.openxmlformats-officedocument.wordprocessingml.document")
            }
            [b'p', b'p', b't', b'/', ..] => {
                Some("application/vnd.openxmlformats-officedocument.presentationml.presentation")
            }
            _ => None,
        });
    }
    mime.filter(|_| has_package_parts)
}

fn is_text(head: &[u8]) -> bool {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // The head may end within a character.
        Err(error) if error.error_len().is_none() && head.len() == SIGNATURE_LENGTH => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.bytes().any(|byte| {
        byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r' | b'\x0c' | b'\x1b')
    })
}

fn is_json(first_bytes: &[u8]) -> bool {
    let head = &first_bytes[..first_bytes.len().min(HEAD_LENGTH)];
    let begins_well = head
        .iter()
        .find(|byte| !byte.is_ascii_whitespace())
        .is_some_and(|byte| matches!(byte, b'{' | b'['));
    begins_well
        && match serde_json::from_slice::<IgnoredAny>(head) {
            Ok(_) => true,
            // Valid up to the end of the available bytes.
            Err(error) => error.is_eof() && head.len() == HEAD_LENGTH,
        }
}

fn classify(mime: &str, extension: &str) -> ContentKind {
    let family = mime.split('/').next().unwrap_or_default();
    let has = |words: &[&str]| words.iter().any(|word| mime.contains(word));
    let ends = |extensions: &[&str]| extensions.contains(&extension);
    if mime == "application/pdf" {
        return ContentKind::Pdf;
    }
    if mime == "application/json" || mime.ends_with("+json") || ends(&["json", "jsonl"]) {
        return ContentKind::Json;
    }
    match family {
        "image" => return ContentKind::Image,
        "audio" => return ContentKind::Audio,
        "video" => return ContentKind::Video,
        _ => {}
    }
    let is_table = mime == "text/csv"
        || (family == "text" && ends(&["csv", "tsv"]))
        || has(&["spreadsheet", "excel"])
        || ends(&["xls", "xlsx", "ods"]);
    if is_table {
        ContentKind::Spreadsheet
    } else if family == "text" {
        ContentKind::Text
    } else if has(&["zip", "tar", "gzip"]) || ends(&["zip", "tar", "gz", "tgz"]) {
        ContentKind::Archive
    } else {
        ContentKind::File
    }
}

/// Returns the lower-case extension of a name, or an empty string.
fn extension(file_name: &str) -> String {
    match file_name.rsplit_once('.') {
        Some((_, extension)) => extension.to_ascii_lowercase(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    const BINARY: &[u8] = &[0, 1, 2, 0xff, 0xfe, 0, 9];

    #[track_caller]
    fn check(bytes: &[u8], name: &str, declared: Option<&str>, mime: &str, kind: ContentKind) {
        let detected = detect(bytes, name, declared);
        assert_eq!(
            (detected.mime.as_deref(), detected.kind),
            (Some(mime), kind),
            "{name} {declared:?}"
        );
    }

    /// Builds a ZIP whose entries have these names and no content.
    fn zip(names: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for name in names {
            bytes.extend_from_slice(b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0");
            bytes.extend_from_slice(&[0; 12]);
            bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
            bytes.extend_from_slice(&[0; 2]);
            bytes.extend_from_slice(name.as_bytes());
        }
        bytes
    }

    #[test]
    fn signatures_decide() {
        check(PNG, "a.txt", None, "image/png", ContentKind::Image);
        check(
            b"\xff\xd8\xff\xe0\0\x10JFIF",
            "a",
            None,
            "image/jpeg",
            ContentKind::Image,
        );
        check(b"GIF89a\x01\0", "a", None, "image/gif", ContentKind::Image);
        check(
            b"RIFF\0\0\0\0WEBPVP8 ",
            "a",
            None,
            "image/webp",
            ContentKind::Image,
        );
        check(
            b"%PDF-1.7\n",
            "a",
            None,
            "application/pdf",
            ContentKind::Pdf,
        );
        check(
            &zip(&["a"]),
            "a",
            None,
            "application/zip",
            ContentKind::Archive,
        );
        check(
            b"\x1f\x8b\x08\0",
            "a",
            None,
            "application/gzip",
            ContentKind::Archive,
        );
    }

    #[test]
    fn text_is_told_apart_by_content_and_extension() {
        check(b"hello", "a", None, "text/plain", ContentKind::Text);
        check(b"", "a.txt", None, "text/plain", ContentKind::Text);
        check(
            b"a,b\n",
            "a.CSV",
            None,
            "text/csv",
            ContentKind::Spreadsheet,
        );
        check(
            b"a\tb\n",
            "a.tsv",
            None,
            "text/tab-separated-values",
            ContentKind::Spreadsheet,
        );
        check(
            b" {\"a\": 1}",
            "a",
            None,
            "application/json",
            ContentKind::Json,
        );
        check(b"[link](x)", "a", None, "text/plain", ContentKind::Text);
        check(
            b"{}\n{}\n",
            "a.jsonl",
            None,
            "text/plain",
            ContentKind::Json,
        );
        check(
            BINARY,
            "a",
            None,
            "application/octet-stream",
            ContentKind::File,
        );
        check(
            b"a\0b",
            "a",
            None,
            "application/octet-stream",
            ContentKind::File,
        );
    }

    #[test]
    fn json_longer_than_the_head_is_json() {
        let long = format!("[{}", "1,".repeat(HEAD_LENGTH));
        check(
            &long.as_bytes()[..HEAD_LENGTH],
            "a",
            None,
            "application/json",
            ContentKind::Json,
        );
        check(b"[1,", "a", None, "text/plain", ContentKind::Text);
    }

    #[test]
    fn a_head_may_end_inside_a_character() {
        let text = format!("x{}", "é".repeat(SIGNATURE_LENGTH));
        check(text.as_bytes(), "a", None, "text/plain", ContentKind::Text);
        check(
            b"caf\xc3",
            "a",
            None,
            "application/octet-stream",
            ContentKind::File,
        );
    }

    #[test]
    fn bytes_win_over_the_declaration() {
        let detected = detect(PNG, "a.pdf", Some("application/pdf"));
        assert_eq!(detected.mime.as_deref(), Some("image/png"));
        assert_eq!(detected.detected.as_deref(), Some("image/png"));
        assert!(detected.mismatch);
        assert!(!detect(PNG, "a.png", Some("Image/PNG; q=1")).mismatch);
        assert!(!detect(PNG, "a.png", Some("application/octet-stream")).mismatch);
        assert!(!detect(&zip(&["a"]), "a", Some("application/x-zip-compressed")).mismatch);
    }

    #[test]
    fn a_declaration_stands_where_bytes_say_nothing_or_less() {
        check(
            BINARY,
            "a",
            Some("audio/mpeg"),
            "audio/mpeg",
            ContentKind::Audio,
        );
        check(
            BINARY,
            "a",
            Some("video/mp4"),
            "video/mp4",
            ContentKind::Video,
        );
        check(b"", "a", Some("image/png"), "image/png", ContentKind::Image);
        for finer in ["text/markdown", "text/html"] {
            check(b"# hello", "a", Some(finer), finer, ContentKind::Text);
            assert!(!detect(b"# hello", "a", Some(finer)).mismatch);
        }
        check(
            b"{}",
            "a",
            Some("application/ld+json"),
            "application/ld+json",
            ContentKind::Json,
        );
    }

    #[test]
    fn a_declaration_that_is_no_type_is_ignored() {
        for bad in ["", "text", "text/", "a/b\r\nx: y", "../../x", "a/b/c"] {
            check(
                BINARY,
                "a",
                Some(bad),
                "application/octet-stream",
                ContentKind::File,
            );
        }
    }

    #[test]
    fn documents_inside_a_zip_have_their_own_type() {
        let sheet = zip(&["[Content_Types].xml", "_rels/.rels", "xl/workbook.xml"]);
        check(
            &sheet,
            "a",
            None,
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            ContentKind::Spreadsheet,
        );
        check(
            &zip(&["xl/a"]),
            "a",
            None,
            "application/zip",
            ContentKind::Archive,
        );
        let document = zip(&["[Content_Types].xml", "_rels/.rels", "word/document.xml"]);
        check(
            &document,
            "a",
            None,
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            ContentKind::File,
        );
    }

    #[test]
    fn extensions_decide_where_types_do_not() {
        let octets = "application/octet-stream";
        for (name, kind) in [
            ("a.xls", ContentKind::Spreadsheet),
            ("a.ODS", ContentKind::Spreadsheet),
            ("a.tar", ContentKind::Archive),
            ("a.tgz", ContentKind::Archive),
            ("a.json", ContentKind::Json),
            ("xls", ContentKind::File),
        ] {
            check(BINARY, name, None, octets, kind);
        }
    }

    #[test]
    fn hostile_names_are_only_names() {
        let long = "x".repeat(10_000);
        for name in ["../../x", "a\0.json\0", "", ".", &long] {
            check(b"hello", name, None, "text/plain", ContentKind::Text);
        }
    }
}
