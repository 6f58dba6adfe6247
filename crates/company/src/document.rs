//! Types of the documents in a company folder, one file per kind of document.

mod context_pack;
mod conversation;
mod identity;
mod machine;
mod markdown;
mod mistake;
mod org;
mod project;
mod review;
mod run;
mod share_pack;
mod task;

use std::{any::TypeId, collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use protocol::company::{Issue, Shape};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use context_pack::{ContextPack, IncludedDoc, PolicySnapshot, RepoSnapshot};
pub use identity::{Identity, Policy, VisibilityDefaults};
pub use machine::{Channel, ExecutionPolicy, Machine, RateCard};
pub use markdown::{
    ActionProposalHead, ActionProposalTag, DocumentHead, DocumentKind, Markdown, MemoryDeltaHead,
    MilestoneReportHead,
};
pub use mistake::{Mistake, MistakeLog, Observation};
pub use org::{Agent, Team};
pub use project::{Project, ProjectRepos, RepoLink};
pub use review::{HelpRequestHead, PolicyOutcome, Review, ReviewSubject};
pub use run::{
    Confidence, ContextCycles, CostSource, Currency, CycleSource, EventsTail, Run, RunSpec, RunTag,
    Usage, UsageSource,
};
pub use share_pack::{SharePack, SharedDocument, SharedFile, SharedRun};
pub(crate) use task::{TASK_HEADINGS, missing_contract};

/// A document with a published shape.
pub trait Document: JsonSchema + DeserializeOwned + Send + Sync + 'static {
    /// Checks the rules between fields that a schema cannot express; returns the violations.
    fn refine(&self) -> Vec<Issue> {
        Vec::new()
    }
}

/// Parses and validates a YAML document; the error lists all issues. Unlike [`crate::Company::read`] it does not cache,
/// so it suits callers that read every file once.
pub fn parse<T: Document>(text: &str) -> Result<T, Vec<Issue>> {
    let value = crate::format::yaml::parse(text)
        .map_err(|detail| vec![Issue::new("parse_error", &[], detail)])?;
    read(value)
}

/// Converts a value to a document and validates it; the error lists all issues.
pub(crate) fn read<T: Document>(value: Value) -> Result<T, Vec<Issue>> {
    let document: T = shape::<T>().read(value)?;
    let issues = document.refine();
    if issues.is_empty() {
        Ok(document)
    } else {
        Err(issues)
    }
}

/// The shape of a type, built once per process.
fn shape<T: Document>() -> Arc<Shape> {
    static SHAPES: Mutex<BTreeMap<TypeId, Arc<Shape>>> = Mutex::new(BTreeMap::new());
    let mut shapes = SHAPES.lock();
    Arc::clone(
        shapes
            .entry(TypeId::of::<T>())
            .or_insert_with(|| Arc::new(Shape::of::<T>())),
    )
}

/// Declares the values of the `type` member. Each kind of document has its own, so that one kind cannot be read as
/// another.
macro_rules! tags {
    ($($name:ident = $word:literal;)+) => {$(
        #[doc = concat!("The constant `", $word, "`.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $name {
            #[doc = concat!("The constant `", $word, "`.")]
            #[default]
            #[serde(rename = $word)]
            It,
        }
    )+};
}
pub(crate) use tags;
