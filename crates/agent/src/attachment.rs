//! Files attached to turns: what a model is given of them, and the record of it in the manifest.
//!
//! Text goes in as text, pictures as image parts where the provider takes them, and everything else as name, type,
//! size and hash. The newest message is served first; earlier ones get what is left of the budget.

use std::{future::Future, pin::Pin, sync::Arc};

use protocol::{
    Id as _, TurnId,
    artifact::ArtifactRef,
    turn::{PromptAttachment, PromptAttachmentForm, UserInput},
};
use serde_json::Value;

use crate::provider::Image;

/// Characters of one file that go into a request: about 20,000 tokens, so that a few files and the conversation fit
/// beside each other into the 112,000 tokens of a request.
pub const MAX_FILE_CHARS: usize = 60_000;
/// Characters of all files of one request, earlier turns included: about half of the whole request.
pub const MAX_REQUEST_CHARS: usize = 160_000;
/// Bytes of one picture. In base64 these are 4.0 MiB; Anthropic refuses pictures of more than 5 MB.
pub const MAX_IMAGE_BYTES: u64 = 3 << 20;
/// Bytes of all pictures of one request. In base64 these are 16 MiB; Gemini refuses requests of more than 20 MB.
pub const MAX_REQUEST_IMAGE_BYTES: u64 = 12 << 20;
/// Pictures of one request. Anthropic lowers the largest allowed resolution where there are more.
pub const MAX_REQUEST_IMAGES: usize = 20;
/// What a picture counts for among the characters of a request: about 1,600 tokens.
const IMAGE_CHARS: usize = 4_800;
/// Characters of a name that the model sees.
const MAX_NAME_CHARS: usize = 200;
/// A shorter beginning of a longer text is of no use.
const MIN_SHOWN_CHARS: usize = 200;
/// What the model is told of a file that does not fit any more.
const NO_ROOM: &str = "the files of this request are over their limit";
/// How far before the limit a text may be cut to end with a whole line.
const LINE_SEARCH_CHARS: usize = 400;

/// Reads attached files and keeps those that models make. The gateway implements it, the turn loop calls it.
pub trait AttachmentSource: Send + Sync + 'static {
    /// Reads a version of an artifact.
    fn read(
        &self,
        wanted: AttachmentRequest,
    ) -> Pin<Box<dyn Future<Output = Result<AttachedFile, AttachmentError>> + Send + '_>>;

    /// Makes an artifact of a picture that a model made.
    fn keep(
        &self,
        made: GeneratedImage,
    ) -> Pin<Box<dyn Future<Output = Result<ArtifactRef, AttachmentError>> + Send + '_>>;
}

/// A picture that a model made, and where it belongs.
#[derive(Clone, Debug)]
pub struct GeneratedImage {
    /// The workspace of the thread.
    pub workspace_id: String,
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The message it is part of.
    pub item_id: String,
    /// Its number among the pictures of the turn, from 1.
    pub number: usize,
    /// The provider that made it.
    pub provider: String,
    /// The picture.
    pub image: Image,
}

/// Which file is wanted, and in which form.
#[derive(Clone, Debug)]
pub struct AttachmentRequest {
    /// The workspace of the thread.
    pub workspace_id: String,
    /// The artifact.
    pub artifact_id: String,
    /// The version; none for the newest.
    pub version_id: Option<String>,
    /// Characters of text there is room for; at 0 no text is read.
    pub max_chars: usize,
    /// MIME types of pictures whose bytes are wanted.
    pub image_types: &'static [&'static str],
    /// Pictures with more bytes are omitted.
    pub max_image_bytes: u64,
}

/// A file that was read.
#[derive(Clone, Debug)]
pub struct AttachedFile {
    /// The artifact and its version.
    pub artifact: ArtifactRef,
    /// What the model may be given of it.
    pub content: AttachedContent,
}

/// The content of a file, as far as a model can use it.
#[derive(Clone, Debug)]
pub enum AttachedContent {
    /// Its text.
    Text {
        /// The text, or its beginning.
        text: String,
        /// Whether this is all of it.
        is_complete: bool,
    },
    /// A picture.
    Image(Image),
    /// Nothing but its name, type, size and hash: a model cannot use its content.
    Description {
        /// Why, in a few words for the model.
        reason: String,
    },
    /// The same for a file whose content a model could use, were it not too large.
    Omitted {
        /// Why, in a few words for the model.
        reason: String,
    },
}

/// Why a file cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AttachmentError {
    /// It was deleted, or never was.
    #[error("the artifact is deleted")]
    Deleted,
    /// It is there and cannot be used.
    #[error("{0}")]
    Unreadable(String),
}

/// A message with what came with it, as a model gets it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rendered {
    /// Text to put behind the words of the message.
    pub(crate) text: String,
    /// The pictures, in the order in which the text names them.
    pub(crate) images: Vec<Image>,
}

impl Rendered {
    /// What the message takes of the room for the conversation, beside its words.
    pub(crate) fn weight(&self) -> usize {
        self.text.len() + self.images.len() * IMAGE_CHARS
    }
}

/// The files of one request: how much room is left for them, and what went in.
pub(crate) struct Attachments {
    source: Arc<dyn AttachmentSource>,
    workspace_id: String,
    image_types: &'static [&'static str],
    chars_left: usize,
    image_bytes_left: u64,
    images_left: usize,
    /// What the request has of each file, the newest message first.
    record: Vec<PromptAttachment>,
}

impl Attachments {
    pub(crate) fn new(
        source: Arc<dyn AttachmentSource>,
        workspace_id: String,
        image_types: &'static [&'static str],
    ) -> Self {
        Self {
            source,
            workspace_id,
            image_types,
            chars_left: MAX_REQUEST_CHARS,
            image_bytes_left: MAX_REQUEST_IMAGE_BYTES,
            images_left: MAX_REQUEST_IMAGES,
            record: Vec::new(),
        }
    }

    /// What the request has of each file.
    pub(crate) fn into_record(self) -> Vec<PromptAttachment> {
        self.record
    }

    /// Renders what came with a message of this turn, which fails where a file cannot be read.
    pub(crate) async fn render_current(
        &mut self,
        turn_id: &TurnId,
        attachments: &[Value],
    ) -> Result<Rendered, UnreadableAttachment> {
        let mut rendered = Rendered::default();
        for attachment in attachments {
            match Attachment::parse(attachment) {
                Some(Attachment::File(file)) => {
                    let read = self.read(&file).await;
                    let read = read.map_err(|error| UnreadableAttachment {
                        name: file.display_name.clone(),
                        error,
                    })?;
                    self.add(&mut rendered, turn_id.clone(), read, usize::MAX);
                }
                Some(Attachment::Reference(line)) => push_line(&mut rendered.text, &line),
                None => {}
            }
        }
        Ok(rendered)
    }

    /// Renders what came with a message of an earlier turn, in at most `room` characters. Deleted files are left out,
    /// and unreadable ones described.
    pub(crate) async fn render_past(
        &mut self,
        turn_id: &TurnId,
        attachments: &[Value],
        room: usize,
    ) -> Rendered {
        let mut rendered = Rendered::default();
        for attachment in attachments {
            let left = room.saturating_sub(rendered.weight());
            match Attachment::parse(attachment) {
                Some(Attachment::File(file)) => match self.read(&file).await {
                    Ok(read) => self.add(&mut rendered, turn_id.clone(), read, left),
                    Err(AttachmentError::Deleted) => {}
                    Err(AttachmentError::Unreadable(reason)) => {
                        let described = AttachedFile {
                            artifact: *file,
                            content: AttachedContent::Description { reason },
                        };
                        self.add(&mut rendered, turn_id.clone(), described, left);
                    }
                },
                Some(Attachment::Reference(line)) => push_line(&mut rendered.text, &line),
                None => {}
            }
        }
        rendered
    }

    async fn read(&self, file: &ArtifactRef) -> Result<AttachedFile, AttachmentError> {
        let image_bytes = if self.images_left == 0 {
            0
        } else {
            MAX_IMAGE_BYTES.min(self.image_bytes_left)
        };
        let wanted = AttachmentRequest {
            workspace_id: self.workspace_id.clone(),
            artifact_id: file.artifact_id.as_str().to_owned(),
            version_id: file
                .version_id
                .as_ref()
                .map(|version| version.as_str().to_owned()),
            max_chars: MAX_FILE_CHARS.min(self.chars_left),
            image_types: self.image_types,
            max_image_bytes: image_bytes,
        };
        self.source.read(wanted).await
    }

    /// Adds a file to a message, as much of it as there is room for, and records what went in.
    fn add(&mut self, rendered: &mut Rendered, turn_id: TurnId, file: AttachedFile, room: usize) {
        let attributes = attributes(&file.artifact);
        let mut record = PromptAttachment {
            turn_id,
            artifact_id: file.artifact.artifact_id,
            version_id: file.artifact.version_id,
            sha256: file.artifact.sha256,
            form: PromptAttachmentForm::Description,
            characters: 0,
            total_characters: None,
            truncated: false,
        };
        match file.content {
            AttachedContent::Text { text, is_complete } => {
                let total = text.chars().count();
                let allowed = MAX_FILE_CHARS.min(self.chars_left).min(room);
                if allowed < MIN_SHOWN_CHARS.min(total) {
                    return self.omit(rendered, &attributes, record, NO_ROOM);
                }
                let shown = cut(&text, allowed);
                let characters = shown.chars().count();
                let truncated = characters < total || !is_complete;
                let note = match (truncated, is_complete) {
                    (false, _) => String::new(),
                    (true, true) => format!(
                        "\n[truncated: the first {characters} of {total} characters are shown]"
                    ),
                    (true, false) => format!(
                        "\n[truncated: the first {characters} characters are shown, the file has {} bytes]",
                        file.artifact.size_bytes.unwrap_or_default()
                    ),
                };
                let block = format!(
                    "<attached_file {attributes}>\n{}{note}\n</attached_file>",
                    shown.replace("</attached_file", "<\\/attached_file")
                );
                push_line(&mut rendered.text, &block);
                self.chars_left -= characters;
                record.form = PromptAttachmentForm::Text;
                record.characters = characters as u64;
                record.total_characters = is_complete.then_some(total as u64);
                record.truncated = truncated;
            }
            AttachedContent::Image(image) => {
                let bytes = image.size_bytes();
                let has_room =
                    self.images_left > 0 && bytes <= self.image_bytes_left && IMAGE_CHARS <= room;
                if !has_room {
                    return self.omit(rendered, &attributes, record, NO_ROOM);
                }
                self.images_left -= 1;
                self.image_bytes_left -= bytes;
                rendered.images.push(image);
                let number = rendered.images.len();
                let line = format!(
                    "<attached_file {attributes} shown=\"as image {number} of this message\"/>"
                );
                push_line(&mut rendered.text, &line);
                record.form = PromptAttachmentForm::Image;
            }
            AttachedContent::Description { reason } => {
                push_line(&mut rendered.text, &described(&attributes, &reason));
            }
            AttachedContent::Omitted { reason } => {
                return self.omit(rendered, &attributes, record, &reason);
            }
        }
        self.record.push(record);
    }

    /// Describes a file whose content has no room.
    fn omit(
        &mut self,
        rendered: &mut Rendered,
        attributes: &str,
        record: PromptAttachment,
        reason: &str,
    ) {
        push_line(&mut rendered.text, &described(attributes, reason));
        self.record.push(PromptAttachment {
            truncated: true,
            ..record
        });
    }
}

/// A file of the current turn cannot be read, so nothing is sent.
#[derive(Debug, thiserror::Error)]
#[error("the attached file `{name}` cannot be read: {error}")]
pub(crate) struct UnreadableAttachment {
    name: String,
    error: AttachmentError,
}

/// One thing that came with a message, as a turn stores it.
enum Attachment {
    File(Box<ArtifactRef>),
    /// A line that names something that is not stored here.
    Reference(String),
}

impl Attachment {
    fn parse(stored: &Value) -> Option<Self> {
        if stored["type"] == "artifact" {
            let artifact = serde_json::from_value(stored["artifact"].clone());
            return artifact.ok().map(|file| Self::File(Box::new(file)));
        }
        let input: UserInput = serde_json::from_value(stored.clone()).ok()?;
        reference(&input).map(Self::Reference)
    }
}

/// The line for an input that is neither text nor an artifact.
fn reference(input: &UserInput) -> Option<String> {
    match input {
        UserInput::Text { .. } | UserInput::Artifact { .. } => None,
        UserInput::Image { url } => Some(format!("[image: {url}]")),
        UserInput::File { url } => Some(format!("[file: {url}]")),
        UserInput::Audio { url } => Some(format!("[audio: {url}]")),
        UserInput::Video { url } => Some(format!("[video: {url}]")),
        UserInput::LocalImage { path }
        | UserInput::LocalFile { path }
        | UserInput::LocalAudio { path }
        | UserInput::LocalVideo { path } => Some(format!("[file: {path}]")),
        UserInput::Mention { name, path } => Some(format!("[mentioned: {name} ({path})]")),
        UserInput::Skill { name, path } => Some(format!("[skill: {name} ({path})]")),
    }
}

fn described(attributes: &str, reason: &str) -> String {
    format!(
        "<attached_file {attributes} shown=\"no\" reason=\"{}\"/>",
        attribute(reason)
    )
}

/// Name, type, size, hash and ids of a file.
fn attributes(file: &ArtifactRef) -> String {
    let mut attributes = format!("name=\"{}\"", attribute(&file.display_name));
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            attributes.push_str(&format!(" {name}=\"{}\"", attribute(&value)));
        }
    };
    add("type", file.mime_type.clone());
    add("size_bytes", file.size_bytes.map(|size| size.to_string()));
    add("sha256", file.sha256.clone());
    add("artifact_id", Some(file.artifact_id.to_string()));
    add(
        "version_id",
        file.version_id.as_ref().map(ToString::to_string),
    );
    attributes
}

/// A text that cannot end the attribute it is in.
fn attribute(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_control())
        .map(|letter| match letter {
            '"' => '\'',
            '<' | '>' => '_',
            letter => letter,
        })
        .take(MAX_NAME_CHARS)
        .collect()
}

/// The beginning of a text in at most this many characters, at the end of a line if there is one close by.
fn cut(text: &str, max_chars: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(max_chars) else {
        return text;
    };
    let begin = &text[..end];
    let search_from = begin
        .char_indices()
        .rev()
        .nth(LINE_SEARCH_CHARS)
        .map_or(0, |(index, _)| index);
    match begin[search_from..].rfind('\n') {
        Some(line_end) => &begin[..search_from + line_end],
        None => begin,
    }
}

fn push_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

/// The turn of a user's message, whose id is `user_` and the turn's.
pub(crate) fn turn_of(item_id: &str) -> Option<TurnId> {
    TurnId::parse(item_id.strip_prefix("user_")?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_after_a_line_if_one_ends_close_by() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("one\ntwo\nthree", 10), "one\ntwo");
        assert_eq!(cut("ééééé", 3), "ééé");
        let long = format!("a\n{}", "x".repeat(LINE_SEARCH_CHARS + 10));
        assert_eq!(
            cut(&long, LINE_SEARCH_CHARS + 5),
            &long[..LINE_SEARCH_CHARS + 5]
        );
        assert_eq!(cut("text", 0), "");
    }

    #[test]
    fn a_name_cannot_leave_its_attribute() {
        assert_eq!(attribute("a\" b=\"<x>\n\u{7}"), "a' b='_x_");
        assert_eq!(attribute(&"n".repeat(300)).len(), MAX_NAME_CHARS);
    }

    #[test]
    fn what_is_not_stored_here_is_a_line() {
        let line = |stored: Value| match Attachment::parse(&stored) {
            Some(Attachment::Reference(line)) => Some(line),
            Some(Attachment::File(_)) | None => None,
        };
        let image = serde_json::json!({"type": "image", "url": "https://example.org/a.png"});
        assert_eq!(
            line(image).as_deref(),
            Some("[image: https://example.org/a.png]")
        );
        assert_eq!(line(serde_json::json!({"type": "text", "text": "x"})), None);
        assert_eq!(line(serde_json::json!(7)), None);
    }
}
