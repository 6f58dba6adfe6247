//! Something a worker could be given to know.

use protocol::company::{
    Sensitivity, Visibility,
    context::{ContextLayer, ContextRef, ContextRefKind, ContextSourceKind},
};

use crate::{folder::intent::sha256, org::text};

/// A reference that may or may not be chosen.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) layer: ContextLayer,
    pub(super) source_kind: ContextSourceKind,
    pub(super) source_id: String,
    /// Higher goes first, within the layer.
    pub(super) score: f64,
    pub(super) created_at: Option<String>,
    pub(super) visibility: Option<Visibility>,
    pub(super) sensitivity: Option<Sensitivity>,
    /// What is held against the goal; empty for what is not ranked by it.
    pub(super) title: String,
    pub(super) relevance: Option<f64>,
    /// Why it is taken, if it is.
    pub(super) reason: String,
    /// What the worker gets.
    pub(super) chosen: ContextRef,
}

impl Candidate {
    pub(super) fn new(
        layer: ContextLayer,
        source_kind: ContextSourceKind,
        source_id: String,
        reason: &str,
    ) -> Self {
        Self {
            layer,
            source_kind,
            score: 0.0,
            created_at: None,
            visibility: None,
            sensitivity: None,
            title: String::new(),
            relevance: None,
            reason: reason.to_owned(),
            chosen: ContextRef {
                kind: ContextRefKind::Note,
                value: text(&source_id),
                description: None,
            },
            source_id,
        }
    }

    /// What a trace may say of a seed that holds a secret.
    pub(super) fn hashed_source_id(&self) -> String {
        let hash = sha256(self.chosen.value.as_bytes());
        format!("seed:{}:sha256:{}", self.chosen.kind.as_str(), &hash[..12])
    }
}
