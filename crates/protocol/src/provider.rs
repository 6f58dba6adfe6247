//! `provider/*`: the model providers and their API keys.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::methods! {
    Tree family "provider";

    /// List the model providers and whether each one is ready for use.
    Read ProviderList = "provider/list" (ProviderListParams) -> ProviderListResponse;
    /// List the models of a provider, as reported by the provider.
    Spend ProviderModelsList = "provider/models/list" (ProviderModelsListParams) -> ProviderModelsListResponse;
    /// Store the API key of a provider; no method returns it again.
    Write ProviderSetApiKey = "provider/set_api_key" (ProviderSetApiKeyParams only Human) -> ProviderSetApiKeyResponse;
    /// Delete the stored API key of a provider.
    Write ProviderDeleteApiKey = "provider/delete_api_key" (ProviderDeleteApiKeyParams only Human) -> ProviderDeleteApiKeyResponse;
}

/// A model provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Provider {
    /// The id of the provider: `echo`, `openai`, `anthropic` or `gemini`.
    pub id: String,
    /// The display name of the provider.
    pub title: String,
    /// Whether turns can use the provider: it has an API key, needs none, or has its own `base_url` in `config.toml`.
    pub available: bool,
    /// The source of the API key in use.
    pub key_source: ProviderKeySource,
    /// A sentence that explains how to provide the missing API key. Absent if the provider is available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The source of an API key. A stored key takes precedence over `config.toml`, and `config.toml` over the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKeySource {
    /// The provider needs no API key.
    NotNeeded,
    /// No API key was found.
    Missing,
    /// The key was stored by `provider/set_api_key`.
    Stored,
    /// The key is set in `config.toml` of the home.
    Config,
    /// The key is set in an environment variable of the gateway process, such as `OPENAI_API_KEY`.
    Environment,
}

/// Params of [`ProviderList`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderListParams {}

/// Response of [`ProviderList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderListResponse {
    /// All supported providers.
    pub items: Vec<Provider>,
}

/// Params of [`ProviderModelsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderModelsListParams {
    /// The id of the provider.
    pub provider: String,
}

/// Response of [`ProviderModelsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderModelsListResponse {
    /// The models of the provider.
    pub items: Vec<ProviderModel>,
}

/// A model of a provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderModel {
    /// The id of the model, as used in `model`.
    pub id: String,
    /// The display name of the model.
    pub title: String,
}

/// Params of [`ProviderSetApiKey`].
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderSetApiKeyParams {
    /// The id of a provider that needs an API key.
    pub provider: String,
    /// The API key: 1 to 4096 printable ASCII characters; surrounding whitespace is removed.
    pub api_key: String,
}

impl std::fmt::Debug for ProviderSetApiKeyParams {
    /// Omits the key, so that it cannot appear in a log.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ProviderSetApiKeyParams")
            .field("provider", &self.provider)
            .finish_non_exhaustive()
    }
}

/// Response of [`ProviderSetApiKey`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderSetApiKeyResponse {
    /// The provider after the key was stored.
    pub provider: Provider,
}

/// Params of [`ProviderDeleteApiKey`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderDeleteApiKeyParams {
    /// The id of the provider.
    pub provider: String,
}

/// Response of [`ProviderDeleteApiKey`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderDeleteApiKeyResponse {
    /// Whether a stored key existed. A key in `config.toml` or in the environment is not affected.
    pub deleted: bool,
}
