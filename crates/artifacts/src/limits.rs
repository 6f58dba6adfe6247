//! Limits of uploads and downloads. Sizes are in bytes.

/// The recommended size of a chunk.
pub const RECOMMENDED_CHUNK: u64 = 256 << 10;
/// The maximum size of a chunk.
pub const MAX_CHUNK: u64 = 1 << 20;
/// The maximum size of an upload.
pub const MAX_UPLOAD: u64 = 50 << 20;
/// The maximum number of artifacts in the input of a turn, and of stored outputs of a run.
pub const MAX_FILES_PER_TURN: u32 = 32;
/// The maximum number of open downloads of one workspace per connection.
pub const MAX_DOWNLOADS: u32 = 2;
/// The maximum number of open uploads per connection.
pub const MAX_OPEN_UPLOADS: usize = 16;
/// The maximum number of open uploads per token over HTTP, where they do not belong to one connection.
pub const MAX_OPEN_HTTP_UPLOADS: usize = 64;
/// The maximum length of a file name, in characters.
pub const MAX_NAME_CHARS: usize = 255;
/// The default storage limits of one workspace. Deleted artifacts, which are kept for 30 days, and open uploads may
/// together use as much space again as the artifacts.
pub const QUOTA: crud::Quota = crud::Quota {
    max_bytes: 10 << 30,
    max_files: 100_000,
    max_stored_bytes: 20 << 30,
};
/// The time after which an inactive upload or download expires, in seconds.
pub const SESSION_SECONDS: i64 = 3600;
/// The maximum lifetime of an upload, in seconds.
pub const MAX_SESSION_SECONDS: i64 = 24 * 3600;
/// The minimum interval between two progress notifications of one upload or download.
pub const PROGRESS_EVERY: std::time::Duration = std::time::Duration::from_millis(250);
/// The maximum number of bytes returned by one `artifact/read`.
pub const MAX_READ: u64 = 1 << 20;
