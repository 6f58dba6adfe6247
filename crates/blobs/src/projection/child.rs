//! The worker's side: set our own limits, read the blob, answer with a header line and the content.

use std::{
    io::{Read, Write},
    panic::{self, AssertUnwindSafe},
    process::ExitCode,
};

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    MAX_SOURCE, Made, ProjectionError, ProjectionKind, json_summary, pdf_text, plain_text,
    thumbnail,
};

const MAX_MEMORY: u64 = 512 * 1024 * 1024;

/// The line before the content.
#[derive(Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(super) enum Header {
    /// The content follows.
    Ready {
        /// Its type.
        mime: String,
        /// Its length; a shorter content was cut off by a crash.
        len: u64,
        /// What else is known.
        metadata: Map<String, Value>,
    },
    /// Nothing follows.
    Failed {
        /// Why.
        class: String,
    },
}

/// Makes one projection, in a process that does nothing else: the limits it sets are for the whole process and last.
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
        // Without limits or without a reader there is nothing to do and nobody to tell.
        Err(_) => ExitCode::FAILURE,
    }
}

fn answer(kind: ProjectionKind, input: impl Read) -> std::io::Result<(Header, Vec<u8>)> {
    limit_ourselves(kind)?;
    // Decoders panic on files nobody thought of. The text of the panic would only repeat the file.
    panic::set_hook(Box::new(|_| {}));
    let made = panic::catch_unwind(AssertUnwindSafe(|| make(kind, input)))
        .unwrap_or(Err(ProjectionError::UNDECODABLE));
    Ok(match made {
        Ok(mut made) => {
            let extractor = Value::from(kind.extractor());
            made.metadata.insert("extractor".to_owned(), extractor);
            let header = Header::Ready {
                mime: made.mime.to_owned(),
                len: made.content.len() as u64,
                metadata: made.metadata,
            };
            (header, made.content)
        }
        Err(error) => {
            let class = error.class.to_owned();
            (Header::Failed { class }, Vec::new())
        }
    })
}

fn limit_ourselves(kind: ProjectionKind) -> std::io::Result<()> {
    let limits = [
        (Resource::As, MAX_MEMORY),
        // An allocator may have reserved address space before we came here; this one counts what it makes writable.
        (Resource::Data, MAX_MEMORY),
        (Resource::Cpu, kind.deadline().as_secs()),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
        // Input, output and errors are open; nothing else ever is.
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

fn make(kind: ProjectionKind, input: impl Read) -> Result<Made, ProjectionError> {
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
