//! Binary frames: four letters, the length of a JSON header, the header, the bytes.

use std::io;

use blobs::store::BlobReader;
use protocol::artifact::{
    download::ArtifactDownloadChunkHeader, upload::ArtifactUploadChunkHeader,
};
use rpc::Bytes;

use crate::sha256_hex;

const UPLOAD: &[u8; 4] = b"ARTU";
const DOWNLOAD: &[u8; 4] = b"ARTD";
const HEADER_AT: usize = 8;
/// A header is a handful of ids and numbers.
const MAX_HEADER: usize = 4096;

/// What a binary frame turned out to be.
pub(super) enum Frame {
    Upload(ArtifactUploadChunkHeader, Bytes),
    /// It says it is an upload and is not; with as much as could be read.
    Malformed(&'static str),
    /// Nobody here knows these letters.
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

/// A chunk of a download, read into its place behind the header; fills in its hash.
pub(crate) fn download_frame(
    mut header: ArtifactDownloadChunkHeader,
    blob: &BlobReader,
) -> io::Result<Bytes> {
    // Every hash is equally long, so the place of the bytes is known before their hash.
    header.chunk_sha256 = "0".repeat(64);
    let described = serde_json::to_vec(&header)?;
    let (start, length) = (
        HEADER_AT + described.len(),
        usize::try_from(header.len).unwrap_or(0),
    );
    let mut frame = Vec::with_capacity(start + length);
    frame.extend_from_slice(DOWNLOAD);
    let described_length = u32::try_from(described.len()).unwrap_or(u32::MAX);
    frame.extend_from_slice(&described_length.to_be_bytes());
    frame.extend_from_slice(&described);
    blob.append_range(header.offset, length, &mut frame)?;
    header.chunk_sha256 = sha256_hex(&frame[start..]);
    frame[HEADER_AT..start].copy_from_slice(&serde_json::to_vec(&header)?);
    Ok(frame.into())
}
