//! `system/*`: what this gateway can do.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

crate::methods! {
    Tree family "system";

    /// List every method of both families with its schemas.
    Read SystemMethods = "system/methods" (SystemMethodsParams) -> SystemMethodsResponse;
    /// Tell limits and features.
    Read SystemCapabilities = "system/capabilities" (SystemCapabilitiesParams) -> SystemCapabilitiesResponse;
}

/// Params of [`SystemMethods`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemMethodsParams {}

/// Response of [`SystemMethods`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemMethodsResponse {
    /// The methods, by family and in the order of the reference.
    pub methods: Vec<SystemMethod>,
}

/// One method of the gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemMethod {
    /// The wire name.
    pub name: String,
    /// The wire name again, for clients of the earlier member name.
    pub method: String,
    /// `tree` or `company`.
    pub family: String,
    /// The scope a token needs: `read`, `write` or `exec`.
    pub scope: String,
    /// What it does, in one sentence.
    pub summary: String,
    /// JSON Schema of `params`.
    pub params_schema: Value,
    /// JSON Schema of `result`.
    pub result_schema: Value,
}

/// Params of [`SystemCapabilities`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemCapabilitiesParams {}

/// Response of [`SystemCapabilities`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemCapabilitiesResponse {
    /// The version of the wire protocol.
    pub protocol_version: u32,
    /// Who answers.
    pub server: SystemServer,
    /// The limits in force, by name.
    pub limits: BTreeMap<String, u64>,
    /// What is there beyond the methods, by name.
    pub features: Vec<String>,
}

/// Who answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemServer {
    /// The product.
    pub name: String,
    /// Its version.
    pub version: String,
}
