//! Comments that wait to be written together. [`crate::conversation::comment`] creates and writes them.

use protocol::company::ProjectId;

use crate::{Error, event_log::Event, files::group_commit::Group};

/// Queue of comments of one company folder that are written together.
pub(crate) type CommentQueue = Group<PendingComment, Result<(), Error>>;

/// A validated comment that is ready to be written.
pub(crate) struct PendingComment {
    /// Relative path and content of its file.
    pub(crate) file: (String, String),
    /// The event for the log of the run; absent if the comment is not about a run.
    pub(crate) event: Option<(ProjectId, Event)>,
}
