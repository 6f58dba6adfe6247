//! Binary frames: a four-byte magic, the length of a JSON header, the header, and the payload.

use std::{io, sync::Arc};

use blobs::store::BlobReader;
use protocol::artifact::{
    download::ArtifactDownloadChunkHeader, upload::ArtifactUploadChunkHeader,
};
use rpc::{Bytes, FileFrame};

const UPLOAD: &[u8; 4] = b"ARTU";
const DOWNLOAD: &[u8] = b"ARTD";
const HEADER_AT: usize = 8;
/// The maximum size of a header in bytes. A header contains a few ids and numbers.
const MAX_HEADER: usize = 4096;

/// The result of parsing a binary frame.
pub(super) enum Frame {
    Upload(ArtifactUploadChunkHeader, Bytes),
    /// An upload frame with an invalid header. Contains the reason.
    Malformed(&'static str),
    /// A frame with an unknown magic.
    Unknown,
}

pub(super) fn parse(frame: &Bytes) -> Frame {
    if frame.get(..4) != Some(UPLOAD.as_slice()) {
        return Frame::Unknown;
    }
    let Some(length) = frame
        .get(4..HEADER_AT)
        .and_then(|bytes| bytes.try_into().ok())
    else {
        return Frame::Malformed("the frame ends before its header");
    };
    let length = u32::from_be_bytes(length) as usize;
    if length > MAX_HEADER {
        return Frame::Malformed("the header is too long");
    }
    let Some(header) = frame.get(HEADER_AT..HEADER_AT + length) else {
        return Frame::Malformed("the frame ends within its header");
    };
    match serde_json::from_slice(header) {
        Ok(header) => Frame::Upload(header, frame.slice(HEADER_AT + length..)),
        Err(_) => Frame::Malformed("the header is not what it should be"),
    }
}

/// Builds the frame of a download chunk, whose payload is sent from the file.
pub(crate) fn download_frame(
    header: &ArtifactDownloadChunkHeader,
    blob: &Arc<BlobReader>,
) -> io::Result<FileFrame> {
    let described = serde_json::to_vec(header)?;
    let described_length = u32::try_from(described.len()).unwrap_or(u32::MAX);
    let head = [DOWNLOAD, &described_length.to_be_bytes()[..], &described].concat();
    Ok(FileFrame {
        head: head.into(),
        file: Arc::clone(blob) as Arc<_>,
        offset: header.offset,
        length: usize::try_from(header.len).unwrap_or(usize::MAX),
    })
}
