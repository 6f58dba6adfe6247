//! `inbox/reviews/<id>.yaml` and the head of `inbox/help_requests/<id>.md`. The wire has them in the same form, so the
//! types are declared there.

pub use protocol::company::inbox::{
    HelpRequest as HelpRequestHead, PolicyOutcome, Review, ReviewSubject,
};

use super::Document;

impl Document for Review {}

impl Document for HelpRequestHead {}
