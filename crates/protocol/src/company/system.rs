//! `system.*`: the capabilities of the company family.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::methods! {
    Company family "system";

    /// Get the available company methods and the conventions they follow.
    Read CompanySystemCapabilities = "system.capabilities" (CompanySystemCapabilitiesParams) -> CompanySystemCapabilitiesResponse;
}

/// Params of [`CompanySystemCapabilities`]. Any params are ignored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySystemCapabilitiesParams {}

/// Response of [`CompanySystemCapabilities`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySystemCapabilitiesResponse {
    /// The version of the protocol document, currently `v1`.
    pub protocol_version: String,
    /// The names of the company methods of this gateway, sorted by code unit.
    pub available_methods: Vec<String>,
    /// The capabilities of context planning.
    pub context: ContextCapabilities,
    /// The capabilities of governed memory.
    pub memory: MemoryCapabilities,
    /// The capabilities of retrieval.
    pub retrieval: RetrievalCapabilities,
    /// The product, its version, and its extensions of the protocol document.
    pub server: ServerCapabilities,
}

/// The capabilities of context planning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextCapabilities {
    /// The version of the layer contract (L0, L1, L2) of the planner.
    pub layers_version: u32,
    /// True if `job.submit` plans the context by default.
    pub job_submit_auto_default: bool,
}

/// The capabilities of governed memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryCapabilities {
    /// The schema version of new memory deltas.
    pub write_schema_version: u32,
    /// The schema versions of memory deltas that the gateway can read.
    pub parse_supported: Vec<u32>,
    /// True if `memory.list_deltas` requires an actor.
    pub list_requires_actor: bool,
    /// The names of the params that identify the actor.
    pub list_required_params: Vec<String>,
    /// How extracted candidates are handled. `review_only`: they are suggested and never applied.
    pub session_candidate_mode: String,
    /// The supported values of `scope_kind`.
    pub scope_kind: Vec<String>,
    /// The supported values of `sensitivity`.
    pub sensitivity: Vec<String>,
}

/// The capabilities of retrieval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RetrievalCapabilities {
    /// The storage of the retrieval metadata, currently `sqlite_metadata`.
    pub storage: String,
}

/// The product, its version, and its extensions of the protocol document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerCapabilities {
    /// The name of the product, `accord`.
    pub name: String,
    /// The version of the product.
    pub version: String,
    /// The extensions of the protocol document: `tree_family` for the methods with slashes, and the name of every
    /// method with dots that the document does not list.
    pub extensions: Vec<String>,
}
