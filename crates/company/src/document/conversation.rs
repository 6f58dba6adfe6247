//! `conversation.yaml`, `messages.jsonl` and comments. The wire uses the same form, so the protocol crate declares the
//! types.

use protocol::company::{
    Issue,
    comment::Comment,
    conversation::{Conversation, ConversationMessage},
};

use super::Document;

impl Document for Conversation {
    fn refine(&self) -> Vec<Issue> {
        self.refine()
    }
}

impl Document for ConversationMessage {}

impl Document for Comment {
    fn refine(&self) -> Vec<Issue> {
        self.target.refine()
    }
}
