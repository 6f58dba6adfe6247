//! Stores hook runs in the gateway database.

use std::{future::Future, pin::Pin, sync::Arc};

use crud::CrudStore;
use entity::hook_run::Model;
use hooks::{HookError, Phase, RunRecord, RunStatus, RunStore, StoreError};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// The [`RunStore`] on the gateway database.
#[derive(Debug)]
pub struct HookRuns(pub CrudStore);

impl RunStore for HookRuns {
    fn save(
        &self,
        run: RunRecord,
    ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + '_>> {
        Box::pin(async move {
            let row = row(run)?;
            let saved = self.0.hook_runs().save(row).await;
            saved.map_err(|error| StoreError(error.to_string()))
        })
    }

    fn unfinished(
        &self,
        stale_before_ms: i64,
        limit: usize,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<RunRecord>, StoreError>> + Send + '_>> {
        Box::pin(async move {
            let found = self
                .0
                .hook_runs()
                .unfinished(stale_before_ms, limit as u64)
                .await;
            let rows = found.map_err(|error| StoreError(error.to_string()))?;
            rows.into_iter().map(record).collect()
        })
    }
}

fn row(run: RunRecord) -> Result<Model, StoreError> {
    let scope = run
        .context
        .scope()
        .map(|(kind, id)| (kind.to_owned(), id.to_owned()));
    let (scope_kind, scope_id) = scope.unzip();
    let error = run.error.map(|error| {
        json!({"code": error.code, "message": error.message, "retryable": error.retryable, "safe_for_user": error.safe_for_user})
            .to_string()
    });
    Ok(Model {
        id: run.id,
        subscription_id: run.subscription_id,
        hook_id: run.hook_id,
        contract_version: i64::from(run.contract_version),
        phase: run.phase.as_str().to_owned(),
        status: word(&run.status)?,
        is_background: run.is_background,
        idempotency_key: run.idempotency_key,
        scope_kind,
        scope_id,
        workspace_id: run.context.workspace_id.clone(),
        thread_id: run.context.thread_id.clone(),
        turn_id: run.context.turn_id.clone(),
        context: print(&run.context)?,
        earlier: print(&*run.earlier)?,
        attempts: print(&run.attempts)?,
        contribution_hashes: print(&run.contribution_hashes)?,
        diagnostics: print(&run.diagnostics)?,
        error,
        queued_at_ms: run.queued_at_ms,
        started_at_ms: run.started_at_ms,
        completed_at_ms: run.completed_at_ms,
        deadline_at_ms: run.deadline_at_ms,
    })
}

fn record(row: Model) -> Result<RunRecord, StoreError> {
    let error: Option<Value> = row.error.as_deref().map(parse).transpose()?;
    Ok(RunRecord {
        id: row.id,
        subscription_id: row.subscription_id,
        hook_id: row.hook_id,
        contract_version: u32::try_from(row.contract_version).unwrap_or(u32::MAX),
        phase: parse::<Phase>(&format!("\"{}\"", row.phase))?,
        status: parse::<RunStatus>(&format!("\"{}\"", row.status))?,
        context: parse(&row.context)?,
        idempotency_key: row.idempotency_key,
        attempts: parse(&row.attempts)?,
        contribution_hashes: parse(&row.contribution_hashes)?,
        diagnostics: parse(&row.diagnostics)?,
        error: error.map(|error| HookError {
            code: error["code"].as_str().unwrap_or_default().to_owned(),
            message: error["message"].as_str().unwrap_or_default().to_owned(),
            retryable: error["retryable"].as_bool().unwrap_or_default(),
            safe_for_user: error["safe_for_user"].as_bool().unwrap_or_default(),
        }),
        is_background: row.is_background,
        earlier: Arc::new(parse(&row.earlier)?),
        queued_at_ms: row.queued_at_ms,
        started_at_ms: row.started_at_ms,
        completed_at_ms: row.completed_at_ms,
        deadline_at_ms: row.deadline_at_ms,
    })
}

fn print<T: Serialize + ?Sized>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError(error.to_string()))
}

fn word<T: Serialize>(value: &T) -> Result<String, StoreError> {
    print(value).map(|quoted| quoted.trim_matches('"').to_owned())
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError(error.to_string()))
}
