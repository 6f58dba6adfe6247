//! A candidate for the context of a worker.

use protocol::company::{
    Sensitivity, Visibility,
    context::{ContextLayer, ContextRef, ContextRefKind, ContextSourceKind},
};

use crate::{folder::intent::sha256, org::text};

/// A reference that the planner may select.
#[derive(Clone, Debug)]
pub(super) struct ContextCandidate {
    pub(super) layer: ContextLayer,
    pub(super) source_kind: ContextSourceKind,
    pub(super) source_id: String,
    /// Rank within the layer; higher scores come first.
    pub(super) score: f64,
    pub(super) created_at: Option<String>,
    pub(super) visibility: Option<Visibility>,
    pub(super) sensitivity: Option<Sensitivity>,
    /// Title that is compared with the goal; empty for candidates that are not ranked by relevance.
    pub(super) title: String,
    pub(super) relevance: Option<f64>,
    /// Reason code for the trace if the candidate is selected.
    pub(super) reason: String,
    /// The reference that the worker gets.
    pub(super) chosen: ContextRef,
}

impl ContextCandidate {
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

    /// Source id with a hash in place of the value, for the trace of a seed that contains a secret.
    pub(super) fn hashed_source_id(&self) -> String {
        let hash = sha256(self.chosen.value.as_bytes());
        format!("seed:{}:sha256:{}", self.chosen.kind.as_str(), &hash[..12])
    }
}
