//! File names for display and for downloads. Neither is ever used as a path in the store.

use mime_guess::get_mime_extensions_str;

const MAX_LENGTH: usize = 255;
const NAMELESS: &str = "artifact";

/// Sanitizes a file name for display: no control characters, no slashes, not empty, at most 255 characters.
pub fn display_name(file_name: &str) -> String {
    let replaced: String = file_name
        .chars()
        .map(|c| match c {
            '/' | '\\' => '_',
            c if c.is_control() => '_',
            c => c,
        })
        .collect();
    let shortened: String = replaced.trim().chars().take(MAX_LENGTH).collect();
    match shortened.trim_end() {
        "" => NAMELESS.to_owned(),
        name => name.to_owned(),
    }
}

/// Returns the file name for a download: the display name, plus an extension for its MIME type if it has no known one.
pub fn download_name(display_name: &str, mime: Option<&str>) -> String {
    let has_known_extension = display_name
        .rsplit_once('.')
        .is_some_and(|(stem, extension)| {
            !stem.is_empty() && mime_guess::from_ext(extension).first().is_some()
        });
    if has_known_extension {
        return display_name.to_owned();
    }
    match mime.and_then(extension_of) {
        Some(extension) => {
            let room = MAX_LENGTH - extension.len() - 1;
            let stem: String = display_name.chars().take(room).collect();
            format!("{stem}.{extension}")
        }
        None => display_name.to_owned(),
    }
}

fn extension_of(mime: &str) -> Option<&'static str> {
    // For types with several extensions the library lists them alphabetically; these are the usual ones.
    let usual = match mime {
        "text/plain" => "txt",
        "text/html" => "html",
        "text/markdown" => "md",
        "text/tab-separated-values" => "tsv",
        "image/jpeg" => "jpg",
        "audio/mpeg" => "mp3",
        "video/mp4" => "mp4",
        "application/json" => "json",
        "application/gzip" => "gz",
        "application/octet-stream" => return None,
        other => get_mime_extensions_str(other)?.first()?,
    };
    Some(usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_display_name_holds_no_path() {
        for (file_name, expected) in [
            ("photo.webp", "photo.webp"),
            ("../../x", ".._.._x"),
            ("C:\\a\\b", "C:_a_b"),
            ("a\0b\nc\u{85}", "a_b_c_"),
            ("  a b  ", "a b"),
            ("   ", "artifact"),
            ("", "artifact"),
        ] {
            assert_eq!(display_name(file_name), expected);
        }
        assert_eq!(display_name(&"é".repeat(10_000)).chars().count(), 255);
    }

    #[test]
    fn a_download_name_has_a_known_extension() {
        for (name, mime, expected) in [
            ("photo.webp", Some("image/webp"), "photo.webp"),
            ("photo", Some("image/png"), "photo.png"),
            ("photo", Some("image/jpeg"), "photo.jpg"),
            ("v1.2", Some("text/plain"), "v1.2.txt"),
            (".env", Some("text/plain"), ".env.txt"),
            ("notes.md", Some("text/plain"), "notes.md"),
            ("blob", Some("application/octet-stream"), "blob"),
            ("blob", Some("x/unknown"), "blob"),
            ("blob", None, "blob"),
        ] {
            assert_eq!(download_name(name, mime), expected);
        }
        let long = "x".repeat(255);
        assert_eq!(download_name(&long, Some("image/png")).len(), 255);
    }
}
