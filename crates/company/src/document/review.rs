//! `inbox/reviews/<id>.yaml` and the head of `inbox/help_requests/<id>.md`. The wire uses the same form, so the
//! protocol crate declares the types.

pub use protocol::company::inbox::{
    HelpRequest as HelpRequestHead, PolicyOutcome, Review, ReviewSubject,
};

use super::Document;

impl Document for Review {}

impl Document for HelpRequestHead {}
