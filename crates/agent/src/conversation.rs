//! What was said: from the input of a turn to words, and from past turns to messages for the model.

use crud::PastItem;
use protocol::turn::{TurnEventPayload, TurnItem, UserInput};

use crate::provider::{Message, Role};

/// Past turns the model may see.
pub(crate) const MAX_TURNS: i64 = 200;
/// Tokens of everything the model is told, less what its answer needs.
const MAX_TOKENS: usize = 128_000 - 16_000;
/// A rough measure that errs on the safe side for most languages.
const CHARS_PER_TOKEN: usize = 3;
/// Characters of the first words of a thread.
const MAX_PREVIEW_CHARS: usize = 200;
/// Words of a generated title.
const TITLE_WORDS: usize = 6;

/// What the user said, letter by letter; several texts are lines.
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

/// What the user said as the model reads it: the text, then a line for each thing that came with it.
pub(crate) fn question(input: &[UserInput]) -> String {
    let lines = input.iter().filter_map(|input| match input {
        UserInput::Text { .. } => None,
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
        UserInput::Artifact { artifact_id, .. } => Some(format!("[artifact: {artifact_id}]")),
    });
    let mut parts = vec![text(input)];
    parts.extend(lines);
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// The first words of a thread.
pub(crate) fn preview(text: &str) -> String {
    text.trim().chars().take(MAX_PREVIEW_CHARS).collect()
}

/// A title made of the first words, for a thread that has none.
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

/// The messages for the model: as many of the last turns as fit, then the question.
pub(crate) fn messages(past: &[PastItem], question: String, other_chars: usize) -> Vec<Message> {
    let mut turns: Vec<(i64, Vec<Message>)> = Vec::new();
    for item in past {
        let Ok(TurnEventPayload::ItemCompleted { item: said }) =
            serde_json::from_str(&item.payload)
        else {
            continue;
        };
        let message = match said {
            TurnItem::UserMessage { text, .. } => Message {
                role: Role::User,
                text,
            },
            TurnItem::AgentMessage { text, .. } => Message {
                role: Role::Assistant,
                text,
            },
            TurnItem::Reasoning { .. } | TurnItem::SystemEvent { .. } => continue,
        };
        match turns.last_mut() {
            Some((ordinal, messages)) if *ordinal == item.ordinal => messages.push(message),
            Some(_) | None => turns.push((item.ordinal, vec![message])),
        }
    }
    let mut room = (MAX_TOKENS * CHARS_PER_TOKEN).saturating_sub(question.len() + other_chars);
    let mut kept: Vec<Vec<Message>> = Vec::new();
    for (_, messages) in turns.into_iter().rev() {
        let length: usize = messages.iter().map(|message| message.text.len()).sum();
        if length > room {
            break;
        }
        room -= length;
        kept.push(messages);
    }
    let mut messages: Vec<Message> = kept.into_iter().rev().flatten().collect();
    messages.push(Message {
        role: Role::User,
        text: question,
    });
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn the_newest_turns_that_fit_are_kept_whole() {
        let long = "x".repeat(MAX_TOKENS * CHARS_PER_TOKEN / 2);
        let past = [said(1, &long), said(2, &long), said(3, "short")];
        let messages = messages(&past, "now".to_owned(), 0);
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
        assert_eq!(question(&input), "  a\n\n b  \n[image: u]");
    }
}
