//! The `thumbnail` projection: a PNG whose longer edge has at most 320 pixels, never enlarged.

use std::io::Cursor;

use image::{
    DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, metadata::Orientation,
};
use serde_json::{Map, Value};

use super::{ExtractedContent, ProjectionError};

const LONGEST_EDGE: u32 = 320;
const MAX_PIXELS: u64 = 100_000_000;
const MAX_MEMORY: u64 = 256 * 1024 * 1024;

pub(super) fn make(bytes: &[u8]) -> Result<ExtractedContent, ProjectionError> {
    let mut decoder = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|_| ProjectionError::UNDECODABLE)?
        .into_decoder()
        .map_err(|error| class_of(&error))?;
    // The dimensions are in the header; nothing has been decoded yet.
    let (source_width, source_height) = decoder.dimensions();
    let is_too_large = u64::from(source_width) * u64::from(source_height) > MAX_PIXELS
        || decoder.total_bytes() > MAX_MEMORY;
    if is_too_large {
        return Err(ProjectionError::TOO_LARGE);
    }
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_MEMORY);
    decoder
        .set_limits(limits)
        .map_err(|error| class_of(&error))?;
    // Photographs are often stored rotated, with the orientation in their metadata.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let image = DynamicImage::from_decoder(decoder).map_err(|error| class_of(&error))?;
    let small = if source_width.max(source_height) > LONGEST_EDGE {
        image.thumbnail(LONGEST_EDGE, LONGEST_EDGE)
    } else {
        image
    };
    let mut small = DynamicImage::from(small.into_rgba8());
    small.apply_orientation(orientation);
    let mut content = Cursor::new(Vec::new());
    small
        .write_to(&mut content, ImageFormat::Png)
        .map_err(|error| class_of(&error))?;
    let metadata = [
        ("source_width", source_width),
        ("source_height", source_height),
        ("target_width", small.width()),
        ("target_height", small.height()),
    ];
    Ok(ExtractedContent {
        content: content.into_inner(),
        mime: "image/png",
        metadata: Map::from_iter(
            metadata.map(|(name, pixels)| (name.to_owned(), Value::from(pixels))),
        ),
    })
}

fn class_of(error: &ImageError) -> ProjectionError {
    match error {
        ImageError::Limits(_) => ProjectionError::TOO_LARGE,
        ImageError::Decoding(_)
        | ImageError::Encoding(_)
        | ImageError::Parameter(_)
        | ImageError::Unsupported(_)
        | ImageError::IoError(_) => ProjectionError::UNDECODABLE,
    }
}
