//! Projections: small derived views of a blob, such as a thumbnail or its text.
//!
//! Untrusted files are decoded in a child process of the same program: [`Workers`] starts it, passes it the blob and
//! reads its output; [`run_child`] is its main function. Whatever the file does to the decoder, the caller only gets an
//! error class.

mod child;
mod json_summary;
mod pdf_text;
mod plain_text;
mod thumbnail;
mod workers;

use std::time::Duration;

use serde_json::{Map, Value};

pub use self::{child::run_child, workers::Workers};
use crate::kind::ContentKind;

/// The maximum size, in bytes, of a blob that is decoded as a whole.
pub const MAX_SOURCE: u64 = 64 * 1024 * 1024;

const MAX_TEXT: usize = 1024 * 1024;

/// The kinds of projections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProjectionKind {
    /// A small PNG of an image.
    Thumbnail,
    /// The first mebibyte of a text.
    PlainText,
    /// The structure of a JSON document.
    JsonSummary,
    /// The text of a PDF, page by page.
    PdfText,
}

impl ProjectionKind {
    /// All projection kinds.
    pub const ALL: [ProjectionKind; 4] = [
        ProjectionKind::Thumbnail,
        ProjectionKind::PlainText,
        ProjectionKind::JsonSummary,
        ProjectionKind::PdfText,
    ];

    /// Returns the name used on the wire and on the worker's command line.
    pub fn as_str(self) -> &'static str {
        match self {
            ProjectionKind::Thumbnail => "thumbnail",
            ProjectionKind::PlainText => "plain_text",
            ProjectionKind::JsonSummary => "json_summary",
            ProjectionKind::PdfText => "pdf_text",
        }
    }

    /// Parses the name. Returns `None` for an unknown one.
    pub fn parse(text: &str) -> Option<ProjectionKind> {
        ProjectionKind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }

    /// Returns the name and version of the extractor. A projection made by another version is stale.
    pub fn extractor(self) -> &'static str {
        match self {
            ProjectionKind::Thumbnail => "thumbnail_png_v1",
            ProjectionKind::PlainText => "plain_text_v1",
            ProjectionKind::JsonSummary => "json_summary_v1",
            ProjectionKind::PdfText => "pdf_text_v1",
        }
    }

    /// Returns the maximum time for one projection.
    pub fn deadline(self) -> Duration {
        match self {
            ProjectionKind::Thumbnail => Duration::from_secs(10),
            ProjectionKind::PdfText => Duration::from_secs(20),
            ProjectionKind::PlainText | ProjectionKind::JsonSummary => Duration::from_secs(5),
        }
    }
}

/// Returns the projections to create for a file.
pub fn wanted(kind: ContentKind, mime: Option<&str>, size: u64) -> Vec<ProjectionKind> {
    let mime = mime.unwrap_or_default();
    let is_small = size <= MAX_SOURCE;
    let is_json = mime == "application/json" || mime.ends_with("+json");
    let mut wanted = Vec::new();
    if is_small && (kind == ContentKind::Image || mime.starts_with("image/")) {
        wanted.push(ProjectionKind::Thumbnail);
    }
    if matches!(kind, ContentKind::Text | ContentKind::Json) || mime.starts_with("text/") {
        wanted.push(ProjectionKind::PlainText);
    }
    // JSON lines have kind json but are not one JSON document.
    if is_small && kind == ContentKind::Json && is_json {
        wanted.push(ProjectionKind::JsonSummary);
    }
    if is_small && kind == ContentKind::Pdf {
        wanted.push(ProjectionKind::PdfText);
    }
    wanted
}

/// The decoded text of a text file. Decoded in this process, because reading UTF-8 is safe, unlike images and PDFs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedText {
    /// The text, at most one mebibyte.
    pub text: String,
    /// True if the file is longer.
    pub is_truncated: bool,
}

/// Decodes the beginning of a text, like the projection `plain_text`.
pub fn decode_text(input: impl std::io::Read) -> Result<DecodedText, ProjectionError> {
    let made = plain_text::make(input)?;
    Ok(DecodedText {
        is_truncated: made.metadata.get("truncated") == Some(&Value::Bool(true)),
        // Always valid UTF-8: it was decoded into a string.
        text: String::from_utf8(made.content).unwrap_or_default(),
    })
}

/// A finished projection: either text or bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// The text. Absent for thumbnails.
    pub text: Option<String>,
    /// The bytes of a thumbnail. Absent for all other kinds.
    pub bytes: Option<Vec<u8>>,
    /// The MIME type of the text or bytes.
    pub mime: String,
    /// Additional properties; `extractor` is always set.
    pub metadata: Map<String, Value>,
}

/// The reason a projection failed. Only the class is reported, because decoder messages contain data of the untrusted
/// file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the projection failed: {class}")]
pub struct ProjectionError {
    /// The class of one of [`ProjectionError::CLASSES`].
    pub class: &'static str,
}

impl ProjectionError {
    /// The deadline was exceeded.
    pub const TIMEOUT: ProjectionError = ProjectionError { class: "timeout" };
    /// The worker exited without a valid response, for example out of memory.
    pub const CRASHED: ProjectionError = ProjectionError { class: "crashed" };
    /// The file, or its unpacked content, exceeds the size limit.
    pub const TOO_LARGE: ProjectionError = ProjectionError { class: "too_large" };
    /// The file is nested deeper than the limit.
    pub const TOO_DEEP: ProjectionError = ProjectionError { class: "too_deep" };
    /// The file is malformed or of another type than claimed.
    pub const UNDECODABLE: ProjectionError = ProjectionError {
        class: "undecodable",
    };
    /// The file needs a password.
    pub const ENCRYPTED: ProjectionError = ProjectionError { class: "encrypted" };
    /// The blob could not be read, or the worker could not be started.
    pub const UNAVAILABLE: ProjectionError = ProjectionError {
        class: "unavailable",
    };

    /// All error classes.
    pub const CLASSES: [ProjectionError; 7] = [
        ProjectionError::TIMEOUT,
        ProjectionError::CRASHED,
        ProjectionError::TOO_LARGE,
        ProjectionError::TOO_DEEP,
        ProjectionError::UNDECODABLE,
        ProjectionError::ENCRYPTED,
        ProjectionError::UNAVAILABLE,
    ];
}

/// The output of an extractor.
struct ExtractedContent {
    content: Vec<u8>,
    mime: &'static str,
    metadata: Map<String, Value>,
}

/// Returns the longest prefix of at most `max` bytes that ends at a character boundary.
fn cut_text(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_follows_from_the_kind_the_type_and_the_size() {
        use ProjectionKind::{JsonSummary, PdfText, PlainText, Thumbnail};
        let check = |kind, mime, size, expected: &[ProjectionKind]| {
            assert_eq!(wanted(kind, mime, size), expected, "{kind:?} {mime:?}");
        };
        check(
            ContentKind::Image,
            Some("image/png"),
            MAX_SOURCE,
            &[Thumbnail],
        );
        check(ContentKind::Image, Some("image/png"), MAX_SOURCE + 1, &[]);
        check(ContentKind::File, Some("image/png"), 1, &[Thumbnail]);
        check(ContentKind::Text, None, u64::MAX, &[PlainText]);
        check(ContentKind::Spreadsheet, Some("text/csv"), 1, &[PlainText]);
        let json = Some("application/json");
        check(ContentKind::Json, json, 1, &[PlainText, JsonSummary]);
        check(ContentKind::Json, Some("text/plain"), 1, &[PlainText]);
        check(ContentKind::Pdf, Some("application/pdf"), 1, &[PdfText]);
        check(ContentKind::Archive, Some("application/zip"), 1, &[]);
    }

    #[test]
    fn a_kind_is_its_word() {
        for kind in ProjectionKind::ALL {
            assert_eq!(ProjectionKind::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(ProjectionKind::parse("thumbnail2"), None);
    }
}
