//! The projection worker process: sets its own resource limits, reads the blob and writes a header line and the
//! content.

use std::{
    io::{Read, Write},
    panic::{self, AssertUnwindSafe},
    process::ExitCode,
};

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    ExtractedContent, MAX_SOURCE, ProjectionError, ProjectionKind, json_summary, pdf_text,
    plain_text, thumbnail,
};

const MAX_MEMORY: u64 = 512 * 1024 * 1024;

/// The JSON line that precedes the content.
#[derive(Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(super) enum ChildHeader {
    /// The projection succeeded and the content follows.
    Ready {
        /// The MIME type of the content.
        mime: String,
        /// The length of the content, in bytes. Shorter content was truncated by a crash.
        len: u64,
        /// Additional properties of the projection.
        metadata: Map<String, Value>,
    },
    /// The projection failed and no content follows.
    Failed {
        /// The error class, one of [`ProjectionError::CLASSES`].
        class: String,
    },
}

/// Creates one projection. The process must do nothing else, because the resource limits apply to it permanently.
///
/// The hidden worker command calls this with its standard input, which is the blob, and its standard output. Nothing
/// else may be written to that output.
pub fn run_child(kind: ProjectionKind, input: impl Read, mut output: impl Write) -> ExitCode {
    let written = answer(kind, input).and_then(|(header, content)| {
        let mut line = serde_json::to_vec(&header)?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.write_all(&content)?;
        output.flush()
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        // The limits could not be set or the output is closed, so no response is possible.
        Err(_) => ExitCode::FAILURE,
    }
}

fn answer(kind: ProjectionKind, input: impl Read) -> std::io::Result<(ChildHeader, Vec<u8>)> {
    limit_ourselves(kind)?;
    // Decoders panic on unexpected files. The panic message would only repeat content of the file.
    panic::set_hook(Box::new(|_| {}));
    let made = panic::catch_unwind(AssertUnwindSafe(|| make(kind, input)))
        .unwrap_or(Err(ProjectionError::UNDECODABLE));
    Ok(match made {
        Ok(mut made) => {
            let extractor = Value::from(kind.extractor());
            made.metadata.insert("extractor".to_owned(), extractor);
            let header = ChildHeader::Ready {
                mime: made.mime.to_owned(),
                len: made.content.len() as u64,
                metadata: made.metadata,
            };
            (header, made.content)
        }
        Err(error) => {
            let class = error.class.to_owned();
            (ChildHeader::Failed { class }, Vec::new())
        }
    })
}

fn limit_ourselves(kind: ProjectionKind) -> std::io::Result<()> {
    let limits = [
        (Resource::As, MAX_MEMORY),
        // An allocator may have reserved address space before; this limit counts writable memory.
        (Resource::Data, MAX_MEMORY),
        (Resource::Cpu, kind.deadline().as_secs()),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
        // Only standard input, output and error are open.
        (Resource::Nofile, 3),
    ];
    for (resource, limit) in limits {
        let limit = Rlimit {
            current: Some(limit),
            maximum: Some(limit),
        };
        setrlimit(resource, limit)?;
    }
    Ok(())
}

fn make(kind: ProjectionKind, input: impl Read) -> Result<ExtractedContent, ProjectionError> {
    match kind {
        ProjectionKind::Thumbnail => thumbnail::make(&read_whole(input)?),
        ProjectionKind::PlainText => plain_text::make(input),
        ProjectionKind::JsonSummary => json_summary::make(input),
        ProjectionKind::PdfText => pdf_text::make(&read_whole(input)?),
    }
}

fn read_whole(input: impl Read) -> Result<Vec<u8>, ProjectionError> {
    let mut bytes = Vec::new();
    input
        .take(MAX_SOURCE + 1)
        .read_to_end(&mut bytes)
        .map_err(|_| ProjectionError::UNAVAILABLE)?;
    if bytes.len() as u64 > MAX_SOURCE {
        return Err(ProjectionError::TOO_LARGE);
    }
    Ok(bytes)
}
