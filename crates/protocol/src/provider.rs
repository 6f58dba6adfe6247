//! `provider/*`: the model services.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::methods! {
    Tree family "provider";

    /// List the providers and whether they can be used.
    Read ProviderList = "provider/list" (ProviderListParams) -> ProviderListResponse;
    /// List the models of a provider.
    Spend ProviderModelsList = "provider/models/list" (ProviderModelsListParams) -> ProviderModelsListResponse;
    /// Store the key of a provider; it is never shown again.
    Write ProviderSetApiKey = "provider/set_api_key" (ProviderSetApiKeyParams only Human) -> ProviderSetApiKeyResponse;
    /// Forget the stored key of a provider.
    Write ProviderDeleteApiKey = "provider/delete_api_key" (ProviderDeleteApiKeyParams only Human) -> ProviderDeleteApiKeyResponse;
}

/// A model service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Provider {
    /// Its id: `echo`, `openai`, `anthropic`, `gemini`.
    pub id: String,
    /// What people call it.
    pub title: String,
    /// Whether it can be used as it is.
    pub available: bool,
    /// Where its key comes from.
    pub key_source: ProviderKeySource,
    /// What is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Where a key comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKeySource {
    /// None is needed.
    NotNeeded,
    /// There is none.
    Missing,
    /// Stored by `provider/set_api_key`.
    Stored,
    /// In `config.toml` of the home.
    Config,
    /// In the environment.
    Environment,
}

/// Params of [`ProviderList`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderListParams {}

/// Response of [`ProviderList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderListResponse {
    /// The providers.
    pub items: Vec<Provider>,
}

/// Params of [`ProviderModelsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderModelsListParams {
    /// The provider.
    pub provider: String,
}

/// Response of [`ProviderModelsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderModelsListResponse {
    /// The models.
    pub items: Vec<ProviderModel>,
}

/// A model of a provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderModel {
    /// Its id.
    pub id: String,
    /// What people call it.
    pub title: String,
}

/// Params of [`ProviderSetApiKey`].
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderSetApiKeyParams {
    /// The provider.
    pub provider: String,
    /// The key.
    pub api_key: String,
}

impl std::fmt::Debug for ProviderSetApiKeyParams {
    /// A key reaches no log.
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
    /// The provider as it is now.
    pub provider: Provider,
}

/// Params of [`ProviderDeleteApiKey`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderDeleteApiKeyParams {
    /// The provider.
    pub provider: String,
}

/// Response of [`ProviderDeleteApiKey`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderDeleteApiKeyResponse {
    /// Whether there was a stored key.
    pub deleted: bool,
}
