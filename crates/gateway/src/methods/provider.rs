//! Handlers of `provider/*`.

use std::sync::Arc;

use protocol::provider::*;
use rpc::{Failure, FailureKind, Router};

use crate::{Context, blocking::blocking_or_incident};

/// The maximum length of a key, in characters.
const MAX_KEY_CHARS: usize = 4096;

pub(super) fn routes(router: &mut Router<Context>) {
    router
        .on::<ProviderList>(list)
        .on::<ProviderModelsList>(models_list)
        .on::<ProviderSetApiKey>(set_api_key)
        .on::<ProviderDeleteApiKey>(delete_api_key);
}

async fn list(ctx: Context, _params: ProviderListParams) -> Result<ProviderListResponse, Failure> {
    let items = ctx.providers().list();
    Ok(ProviderListResponse { items })
}

async fn models_list(
    ctx: Context,
    params: ProviderModelsListParams,
) -> Result<ProviderModelsListResponse, Failure> {
    describe(&ctx, &params.provider)?;
    let (providers, id) = (Arc::clone(ctx.providers()), params.provider.clone());
    let provider = tokio::task::spawn_blocking(move || providers.get(&id)).await;
    let provider = provider
        .ok()
        .flatten()
        .ok_or_else(|| unknown(&params.provider))?;
    let models = provider.models(ctx.may_spend()?).await.map_err(|error| {
        Failure::state(FailureKind::ProviderFailed, error.message)
            .with("class", error.class.as_str())
    })?;
    let items = models.into_iter().map(|model| ProviderModel {
        id: model.id,
        title: model.title,
    });
    Ok(ProviderModelsListResponse {
        items: items.collect(),
    })
}

async fn set_api_key(
    ctx: Context,
    params: ProviderSetApiKeyParams,
) -> Result<ProviderSetApiKeyResponse, Failure> {
    let known = describe(&ctx, &params.provider)?;
    if known.key_source == ProviderKeySource::NotNeeded {
        return Err(Failure::param(
            "/provider",
            format!("`{}` needs no key", known.id),
        ));
    }
    let key = params.api_key.trim().to_owned();
    let is_printable = key.chars().all(|character| character.is_ascii_graphic());
    if key.is_empty() || key.len() > MAX_KEY_CHARS || !is_printable {
        return Err(Failure::param(
            "/api_key",
            format!("expected 1 to {MAX_KEY_CHARS} printable characters"),
        ));
    }
    let providers = Arc::clone(ctx.providers());
    blocking_or_incident(move || providers.set_key(&params.provider, &key)).await?;
    let provider = describe(&ctx, &known.id)?;
    Ok(ProviderSetApiKeyResponse { provider })
}

async fn delete_api_key(
    ctx: Context,
    params: ProviderDeleteApiKeyParams,
) -> Result<ProviderDeleteApiKeyResponse, Failure> {
    describe(&ctx, &params.provider)?;
    let providers = Arc::clone(ctx.providers());
    let deleted = blocking_or_incident(move || providers.delete_key(&params.provider)).await?;
    Ok(ProviderDeleteApiKeyResponse { deleted })
}

fn describe(ctx: &Context, id: &str) -> Result<Provider, Failure> {
    ctx.providers().describe_one(id).ok_or_else(|| unknown(id))
}

fn unknown(id: &str) -> Failure {
    let shown: String = id.chars().take(64).collect();
    Failure::params(
        FailureKind::UnknownProvider,
        format!("there is no provider `{shown}`"),
    )
    .with("path", "/provider")
    .hint("`provider/list` names them")
}
