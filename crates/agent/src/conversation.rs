//! Converts turn input to text, and stored turns to the messages sent to the model.

use crud::PastItem;
use protocol::{
    TurnId,
    turn::{TurnEventPayload, TurnItem, UserInput},
};
use serde_json::Value;

use crate::{
    attachment::{self, Attachments, RenderedAttachments},
    provider::{Message, Role},
};

/// The maximum number of completed turns that are loaded for the model.
pub(crate) const MAX_TURNS: i64 = 200;
/// The token limit for the whole request: a 128,000-token context minus 16,000 tokens reserved for the response.
const MAX_TOKENS: usize = 128_000 - 16_000;
/// A conservative estimate: most languages average more characters per token.
const CHARS_PER_TOKEN: usize = 3;
/// The maximum length of a thread preview, in characters.
const MAX_PREVIEW_CHARS: usize = 200;
/// The maximum number of words in a generated title.
const TITLE_WORDS: usize = 6;

/// Returns the text inputs unchanged, joined by line feeds; other inputs are skipped.
pub(crate) fn text(input: &[UserInput]) -> String {
    let texts: Vec<&str> = input
        .iter()
        .filter_map(|input| match input {
            UserInput::Text { text, .. } => Some(text.as_str()),
            UserInput::Image { .. }
            | UserInput::File { .. }
            | UserInput::Audio { .. }
            | UserInput::Video { .. }
            | UserInput::LocalImage { .. }
            | UserInput::LocalFile { .. }
            | UserInput::LocalAudio { .. }
            | UserInput::LocalVideo { .. }
            | UserInput::Mention { .. }
            | UserInput::Skill { .. }
            | UserInput::Artifact { .. } => None,
        })
        .collect();
    texts.join("\n")
}

/// Builds a user message: the text, followed by the rendered attachments.
pub(crate) fn user_message(text: &str, attached: RenderedAttachments) -> Message {
    let mut parts = vec![text, &attached.text];
    parts.retain(|part| !part.is_empty());
    Message {
        role: Role::User,
        text: parts.join("\n"),
        images: attached.images,
    }
}

/// Returns the preview of a thread: the beginning of the trimmed text.
pub(crate) fn preview(text: &str) -> String {
    text.trim().chars().take(MAX_PREVIEW_CHARS).collect()
}

/// Builds a title from the first words of the text; `None` if the text has no printable words.
pub(crate) fn title(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let first: Vec<&str> = words.by_ref().take(TITLE_WORDS).collect();
    let more = if words.next().is_some() { "..." } else { "" };
    let title: String = first
        .join(" ")
        .chars()
        .filter(|letter| !letter.is_control())
        .take(120)
        .collect();
    (!title.is_empty()).then(|| format!("{title}{more}"))
}

/// A message of an earlier turn, before its attachments are rendered.
struct EarlierMessage {
    role: Role,
    text: String,
    /// The turn of a user message and its stored attachments; `None` if it has none.
    attached: Option<(TurnId, Vec<Value>)>,
}

/// Builds the messages for the model: as many of the most recent turns as fit, then `question`.
///
/// `taken_chars` is the part of the budget that the system prompt and `question` already use. Attachments of past turns
/// are rendered while the budget lasts. Lengths are measured in bytes, so non-ASCII text uses more of the budget.
pub(crate) async fn messages(
    past: &[PastItem],
    question: Message,
    taken_chars: usize,
    attachments: &mut Attachments,
) -> Vec<Message> {
    let mut turns: Vec<(i64, Vec<EarlierMessage>)> = Vec::new();
    for item in past {
        let Ok(TurnEventPayload::ItemCompleted { item: said }) =
            serde_json::from_str(&item.payload)
        else {
            continue;
        };
        let said = match said {
            TurnItem::UserMessage {
                id,
                text,
                attachments,
            } => EarlierMessage {
                role: Role::User,
                text,
                attached: attachment::turn_of(&id)
                    .filter(|_| !attachments.is_empty())
                    .map(|turn| (turn, attachments)),
            },
            TurnItem::AgentMessage { text, .. } => EarlierMessage {
                role: Role::Assistant,
                text,
                attached: None,
            },
            TurnItem::Reasoning { .. } | TurnItem::SystemEvent { .. } => continue,
        };
        match turns.last_mut() {
            Some((ordinal, messages)) if *ordinal == item.ordinal => messages.push(said),
            Some(_) | None => turns.push((item.ordinal, vec![said])),
        }
    }
    let mut room = (MAX_TOKENS * CHARS_PER_TOKEN).saturating_sub(taken_chars);
    let mut kept: Vec<Vec<Message>> = Vec::new();
    for (_, turn) in turns.into_iter().rev() {
        let length: usize = turn.iter().map(|said| said.text.len()).sum();
        if length > room {
            break;
        }
        room -= length;
        let mut messages = Vec::with_capacity(turn.len());
        for said in turn {
            let mut attached = RenderedAttachments::default();
            if let Some((turn_id, files)) = &said.attached {
                attached = attachments.render_past(turn_id, files, room).await;
                room = room.saturating_sub(attached.weight());
            }
            messages.push(match said.role {
                Role::User => user_message(&said.text, attached),
                Role::Assistant => Message {
                    role: Role::Assistant,
                    text: said.text,
                    images: Vec::new(),
                },
            });
        }
        kept.push(messages);
    }
    let mut messages: Vec<Message> = kept.into_iter().rev().flatten().collect();
    messages.push(question);
    messages
}

#[cfg(test)]
mod tests {
    use std::{pin::Pin, sync::Arc};

    use super::*;
    use protocol::artifact::ArtifactRef;

    use crate::attachment::{
        AttachedFile, AttachmentError, AttachmentRequest, AttachmentSource, GeneratedImage,
    };

    fn said(ordinal: i64, text: &str) -> PastItem {
        let item = TurnItem::UserMessage {
            id: "user_1".to_owned(),
            text: text.to_owned(),
            attachments: Vec::new(),
        };
        let payload = TurnEventPayload::ItemCompleted { item };
        PastItem {
            ordinal,
            payload: serde_json::to_string(&payload).unwrap(),
        }
    }

    /// There are no files.
    struct NoFiles;

    impl AttachmentSource for NoFiles {
        fn read(
            &self,
            _wanted: AttachmentRequest,
        ) -> Pin<Box<dyn Future<Output = Result<AttachedFile, AttachmentError>> + Send + '_>>
        {
            Box::pin(async { Err(AttachmentError::Deleted) })
        }

        fn keep(
            &self,
            _made: GeneratedImage,
        ) -> Pin<Box<dyn Future<Output = Result<ArtifactRef, AttachmentError>> + Send + '_>>
        {
            Box::pin(async { Err(AttachmentError::Deleted) })
        }
    }

    #[tokio::test]
    async fn the_newest_turns_that_fit_are_kept_whole() {
        let long = "x".repeat(MAX_TOKENS * CHARS_PER_TOKEN / 2);
        let past = [said(1, &long), said(2, &long), said(3, "short")];
        let now = user_message("now", RenderedAttachments::default());
        let mut files = Attachments::new(Arc::new(NoFiles), "ws_a".to_owned(), &[]);
        let messages = messages(&past, now, 3, &mut files).await;
        let lengths: Vec<_> = messages.iter().map(|message| message.text.len()).collect();
        assert_eq!(
            lengths,
            [long.len(), 5, 3],
            "the oldest one has no room left"
        );
    }

    #[test]
    fn a_title_is_made_of_six_words() {
        assert_eq!(
            title("  one two  three four five six seven").as_deref(),
            Some("one two three four five six...")
        );
        assert_eq!(title("one two").as_deref(), Some("one two"));
        assert_eq!(title(" \n "), None);
    }

    #[test]
    fn the_text_is_kept_letter_by_letter() {
        let text_input = |text: &str| UserInput::Text {
            text: text.to_owned(),
            text_elements: Vec::new(),
        };
        let input = [
            text_input("  a\n\n b  "),
            UserInput::Image {
                url: "u".to_owned(),
            },
        ];
        assert_eq!(text(&input), "  a\n\n b  ");
    }
}
