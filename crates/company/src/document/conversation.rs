//! `conversation.yaml`. The wire has it in the same form, so the type is declared there.

use protocol::company::{
    Issue,
    conversation::{Conversation, ConversationMessage},
};

use super::Document;

impl Document for Conversation {
    fn refine(&self) -> Vec<Issue> {
        self.refine()
    }
}

impl Document for ConversationMessage {}
