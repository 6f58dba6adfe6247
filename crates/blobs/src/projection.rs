//! Projections: a small derived view of a blob, such as a thumbnail or its text.
//!
//! Decoding what strangers upload happens in a child process of our own program: [`Workers`] starts it, feeds it the
//! blob and takes its answer, [`run_child`] is what it runs. Whatever the file does to the decoder, the caller gets an
//! error class and nothing else.

mod child;
mod json_summary;
mod pdf_text;
mod plain_text;
mod thumbnail;
mod workers;

use std::time::Duration;

use serde_json::{Map, Value};

pub use self::{child::run_child, workers::Workers};
use crate::kind::Kind;

/// The largest blob that is decoded as a whole.
pub const MAX_SOURCE: u64 = 64 * 1024 * 1024;

const MAX_TEXT: usize = 1024 * 1024;

/// The views we make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProjectionKind {
    /// A small PNG of an image.
    Thumbnail,
    /// The beginning of a text.
    PlainText,
    /// The shape of a JSON document.
    JsonSummary,
    /// The text of a PDF, page by page.
    PdfText,
}

impl ProjectionKind {
    /// All kinds.
    pub const ALL: [ProjectionKind; 4] = [
        ProjectionKind::Thumbnail,
        ProjectionKind::PlainText,
        ProjectionKind::JsonSummary,
        ProjectionKind::PdfText,
    ];

    /// The word on the wire and on the worker's command line.
    pub fn as_str(self) -> &'static str {
        match self {
            ProjectionKind::Thumbnail => "thumbnail",
            ProjectionKind::PlainText => "plain_text",
            ProjectionKind::JsonSummary => "json_summary",
            ProjectionKind::PdfText => "pdf_text",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<ProjectionKind> {
        ProjectionKind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }

    /// The extractor and its version; a projection of another version is stale.
    pub fn extractor(self) -> &'static str {
        match self {
            ProjectionKind::Thumbnail => "thumbnail_png_v1",
            ProjectionKind::PlainText => "plain_text_v1",
            ProjectionKind::JsonSummary => "json_summary_v1",
            ProjectionKind::PdfText => "pdf_text_v1",
        }
    }

    /// How long the work may take.
    pub fn deadline(self) -> Duration {
        match self {
            ProjectionKind::Thumbnail => Duration::from_secs(10),
            ProjectionKind::PdfText => Duration::from_secs(20),
            ProjectionKind::PlainText | ProjectionKind::JsonSummary => Duration::from_secs(5),
        }
    }
}

/// The projections worth making of a file.
pub fn wanted(kind: Kind, mime: Option<&str>, size: u64) -> Vec<ProjectionKind> {
    let mime = mime.unwrap_or_default();
    let is_small = size <= MAX_SOURCE;
    let is_json = mime == "application/json" || mime.ends_with("+json");
    let mut wanted = Vec::new();
    if is_small && (kind == Kind::Image || mime.starts_with("image/")) {
        wanted.push(ProjectionKind::Thumbnail);
    }
    if matches!(kind, Kind::Text | Kind::Json) || mime.starts_with("text/") {
        wanted.push(ProjectionKind::PlainText);
    }
    // Lines of JSON are of kind json, but no JSON document.
    if is_small && kind == Kind::Json && is_json {
        wanted.push(ProjectionKind::JsonSummary);
    }
    if is_small && kind == Kind::Pdf {
        wanted.push(ProjectionKind::PdfText);
    }
    wanted
}

/// The text of a file that is text, decoded here: reading UTF-8 is safe where decoding pictures and PDFs is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedText {
    /// The text, at most one mebibyte of it.
    pub text: String,
    /// Whether the file has more.
    pub is_truncated: bool,
}

/// Decodes the beginning of a text, like the projection `plain_text` does.
pub fn decode_text(input: impl std::io::Read) -> Result<DecodedText, ProjectionError> {
    let made = plain_text::make(input)?;
    Ok(DecodedText {
        is_truncated: made.metadata.get("truncated") == Some(&Value::Bool(true)),
        // Always UTF-8: it was decoded into a string.
        text: String::from_utf8(made.content).unwrap_or_default(),
    })
}

/// A finished projection: either text or bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// The text, for every kind but thumbnails.
    pub text: Option<String>,
    /// The bytes of a thumbnail.
    pub bytes: Option<Vec<u8>>,
    /// The type of the text or bytes.
    pub mime: String,
    /// What else is known, the extractor always.
    pub metadata: Map<String, Value>,
}

/// Why there is no projection. The class is all there is: what a decoder says about a hostile file helps nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the projection failed: {class}")]
pub struct ProjectionError {
    /// One of [`ProjectionError::CLASSES`].
    pub class: &'static str,
}

impl ProjectionError {
    /// It took too long.
    pub const TIMEOUT: ProjectionError = ProjectionError { class: "timeout" };
    /// The worker ended without an answer, for want of memory for example.
    pub const CRASHED: ProjectionError = ProjectionError { class: "crashed" };
    /// The file, or what it unpacks to, is larger than we decode.
    pub const TOO_LARGE: ProjectionError = ProjectionError { class: "too_large" };
    /// The file is nested deeper than we follow.
    pub const TOO_DEEP: ProjectionError = ProjectionError { class: "too_deep" };
    /// The file is not what it says it is, or is broken.
    pub const UNDECODABLE: ProjectionError = ProjectionError {
        class: "undecodable",
    };
    /// The file wants a password.
    pub const ENCRYPTED: ProjectionError = ProjectionError { class: "encrypted" };
    /// The blob could not be read, or the worker could not be started.
    pub const UNAVAILABLE: ProjectionError = ProjectionError {
        class: "unavailable",
    };

    /// Every class there is.
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

/// What an extractor makes of a blob.
struct Made {
    content: Vec<u8>,
    mime: &'static str,
    metadata: Map<String, Value>,
}

/// The longest beginning that fits and does not cut a character in half.
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
        check(Kind::Image, Some("image/png"), MAX_SOURCE, &[Thumbnail]);
        check(Kind::Image, Some("image/png"), MAX_SOURCE + 1, &[]);
        check(Kind::File, Some("image/png"), 1, &[Thumbnail]);
        check(Kind::Text, None, u64::MAX, &[PlainText]);
        check(Kind::Spreadsheet, Some("text/csv"), 1, &[PlainText]);
        let json = Some("application/json");
        check(Kind::Json, json, 1, &[PlainText, JsonSummary]);
        check(Kind::Json, Some("text/plain"), 1, &[PlainText]);
        check(Kind::Pdf, Some("application/pdf"), 1, &[PdfText]);
        check(Kind::Archive, Some("application/zip"), 1, &[]);
    }

    #[test]
    fn a_kind_is_its_word() {
        for kind in ProjectionKind::ALL {
            assert_eq!(ProjectionKind::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(ProjectionKind::parse("thumbnail2"), None);
    }
}
