//! The `pdf_text` projection: the text of a PDF, pages separated by a form feed, up to one mebibyte.

use std::panic::{self, AssertUnwindSafe};

use pdf_extract::{Document, PlainTextOutput, output_doc_page};
use serde_json::{Map, Value};

use super::{ExtractedContent, MAX_TEXT, ProjectionError, cut_text};

pub(super) fn make(bytes: &[u8]) -> Result<ExtractedContent, ProjectionError> {
    let mut document = Document::load_mem(bytes).map_err(|_| ProjectionError::UNDECODABLE)?;
    // Many documents are encrypted only to forbid printing, with an empty password.
    if document.is_encrypted() && document.decrypt("").is_err() {
        return Err(ProjectionError::ENCRYPTED);
    }
    let pages = document.get_pages();
    if pages.is_empty() {
        return Err(ProjectionError::UNDECODABLE);
    }
    let mut text = String::new();
    let mut truncated = false;
    let mut unreadable_pages: u64 = 0;
    for (index, number) in pages.keys().enumerate() {
        if index > 0 {
            text.push('\u{c}');
        }
        match page_text(&document, *number) {
            // Form feeds separate pages, so those in the text are replaced; some databases reject zero bytes.
            Some(page) => text.push_str(&page.replace(['\u{c}', '\0'], " ")),
            None => unreadable_pages += 1,
        }
        if text.len() > MAX_TEXT {
            text.truncate(cut_text(&text, MAX_TEXT).len());
            truncated = true;
            break;
        }
    }
    if unreadable_pages == pages.len() as u64 {
        return Err(ProjectionError::UNDECODABLE);
    }
    Ok(ExtractedContent {
        content: text.into_bytes(),
        mime: "text/plain",
        metadata: Map::from_iter([
            ("page_count".to_owned(), Value::from(pages.len())),
            ("truncated".to_owned(), Value::from(truncated)),
            ("unreadable_pages".to_owned(), Value::from(unreadable_pages)),
        ]),
    })
}

/// Returns the text of one page. Returns `None` if the extractor fails on it, so that the other pages are still
/// extracted.
fn page_text(document: &Document, number: u32) -> Option<String> {
    let mut page = String::new();
    panic::catch_unwind(AssertUnwindSafe(|| {
        let mut output = PlainTextOutput::new(&mut page);
        output_doc_page(document, &mut output, number)
    }))
    .ok()?
    .ok()?;
    Some(page.trim().to_owned())
}
