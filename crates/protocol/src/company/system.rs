//! `system.*`: what the company family can do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::methods! {
    Company family "system";

    /// Tell which company methods are there and which conventions they follow.
    Read CompanySystemCapabilities = "system.capabilities" (CompanySystemCapabilitiesParams) -> CompanySystemCapabilitiesResponse;
}

/// Params of [`CompanySystemCapabilities`]: whatever is given is ignored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySystemCapabilitiesParams {}

/// Response of [`CompanySystemCapabilities`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySystemCapabilitiesResponse {
    /// The version of the protocol document.
    pub protocol_version: String,
    /// The company methods of this gateway, in code-unit order.
    pub available_methods: Vec<String>,
    /// How context is planned.
    pub context: ContextCapabilities,
    /// How memory changes.
    pub memory: MemoryCapabilities,
    /// How retrieval is done.
    pub retrieval: RetrievalCapabilities,
    /// Who answers, and what it adds to the protocol document.
    pub server: ServerCapabilities,
}

/// How context is planned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextCapabilities {
    /// The version of the layers.
    pub layers_version: u32,
    /// Whether `job.submit` plans context by itself.
    pub job_submit_auto_default: bool,
}

/// How memory changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryCapabilities {
    /// The schema new deltas are written in.
    pub write_schema_version: u32,
    /// The schemas that can be read.
    pub parse_supported: Vec<u32>,
    /// Whether `memory.list_deltas` needs an actor.
    pub list_requires_actor: bool,
    /// What names the actor.
    pub list_required_params: Vec<String>,
    /// What becomes of candidates found in sessions.
    pub session_candidate_mode: String,
    /// What a delta can be about.
    pub scope_kind: Vec<String>,
    /// How secret a delta can be.
    pub sensitivity: Vec<String>,
}

/// How retrieval is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RetrievalCapabilities {
    /// Where the metadata is.
    pub storage: String,
}

/// Who answers, and what it adds to the protocol document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerCapabilities {
    /// The product.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What is offered beyond the protocol document: `tree_family` for the methods with slashes, and the name of every
    /// method with dots that the document does not list.
    pub extensions: Vec<String>,
}
