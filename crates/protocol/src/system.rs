//! `system/*`: the methods, limits and features of this gateway.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

crate::methods! {
    Tree family "system";

    /// List all methods of both families with their JSON Schemas.
    Read SystemMethods = "system/methods" (SystemMethodsParams) -> SystemMethodsResponse;
    /// Return the protocol version, the limits and the optional features of this gateway.
    Read SystemCapabilities = "system/capabilities" (SystemCapabilitiesParams) -> SystemCapabilitiesResponse;
}

/// Params of [`SystemMethods`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemMethodsParams {}

/// Response of [`SystemMethods`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemMethodsResponse {
    /// All methods, grouped by family, in the order of the reference.
    pub methods: Vec<SystemMethod>,
}

/// One method of the gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemMethod {
    /// The wire name of the method.
    pub name: String,
    /// The same value as `name`, for clients that read the earlier field name.
    pub method: String,
    /// The method family: `tree` or `company`.
    pub family: String,
    /// The scope that a token needs to call the method: `read`, `propose`, `write`, `spend` or `exec`.
    pub scope: String,
    /// A one-sentence description of the method.
    pub summary: String,
    /// The JSON Schema of `params`.
    pub params_schema: Value,
    /// The JSON Schema of `result`.
    pub result_schema: Value,
}

/// Params of [`SystemCapabilities`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemCapabilitiesParams {}

/// Response of [`SystemCapabilities`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemCapabilitiesResponse {
    /// The version of the wire protocol; currently 1.
    pub protocol_version: u32,
    /// The product that answers the request.
    pub server: SystemServer,
    /// The limits in force, by name, for example `max_message_bytes`.
    pub limits: BTreeMap<String, u64>,
    /// The names of the supported optional features, for example `session_resume`.
    pub features: Vec<String>,
}

/// The product name and version of a gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemServer {
    /// The product name; always `accord`.
    pub name: String,
    /// The version of the gateway.
    pub version: String,
}
