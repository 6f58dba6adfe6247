//! `workspace.migrate`: upgrades old event logs to the current event envelope.

use std::sync::Arc;

use protocol::{
    Id as _,
    company::{RunId, workspace::CompanyWorkspaceMigrateResponse},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    Company, Error,
    document::Document,
    event_log::upgrade::{MIGRATION_ID, Upgrade, UpgradeOutcome},
    layout,
    org::project,
};

/// Log of the applied migrations. Unknown fields and entries of any shape are kept.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
struct Applied {
    #[serde(default)]
    applied: Vec<Value>,
    #[serde(flatten)]
    other_fields: Map<String, Value>,
}

impl Document for Applied {}

/// Upgrades every event log; a dry run only counts the changes.
pub fn migrate(
    company: &Company,
    dry_run: bool,
    forced: bool,
) -> Result<CompanyWorkspaceMigrateResponse, Error> {
    let mut response = CompanyWorkspaceMigrateResponse {
        workspace_dir: company.root().display().to_string(),
        migration_id: MIGRATION_ID.to_owned(),
        dry_run,
        forced,
        already_applied: false,
        applied: false,
        state_relpath: layout::MIGRATIONS.to_owned(),
        files_scanned: 0,
        files_updated: 0,
        events_rewritten: 0,
        parse_errors: 0,
        refused_files: Vec::new(),
    };
    if !forced && log(company).applied.iter().any(is_this_migration) {
        response.already_applied = true;
        return Ok(response);
    }
    let upgrade = match (dry_run, forced) {
        (true, true) => Upgrade::ForcedDryRun,
        (true, false) => Upgrade::DryRun,
        (false, true) => Upgrade::Forced,
        (false, false) => Upgrade::Careful,
    };
    for project in project::project_ids(company)? {
        let folder = format!("{}/runs", layout::project(&project));
        for name in company.names(&folder)? {
            let path = company.path(&format!("{folder}/{name}/events.jsonl"));
            let Some(run) = RunId::parse(&name).ok().filter(|_| path.is_file()) else {
                continue;
            };
            let upgraded = company.logs().upgrade_file(&path, &run, upgrade)?;
            response.files_scanned += 1;
            response.events_rewritten += upgraded.events_rewritten;
            response.parse_errors += upgraded.parse_errors;
            match upgraded.outcome {
                UpgradeOutcome::Unchanged => {}
                UpgradeOutcome::Updated => response.files_updated += 1,
                UpgradeOutcome::Refused { .. } => {
                    response
                        .refused_files
                        .push(format!("{folder}/{name}/events.jsonl"));
                }
            }
        }
    }
    // The migration is not complete while a log was refused.
    if !dry_run && response.refused_files.is_empty() {
        company.write(|writer| {
            let mut log = Applied::clone(&log(company));
            log.applied.retain(|entry| !is_this_migration(entry));
            log.applied.push(json!({
                "id": MIGRATION_ID,
                "applied_at": writer.now(),
                "dry_run": false,
                "files_scanned": response.files_scanned,
                "files_updated": response.files_updated,
                "events_rewritten": response.events_rewritten,
                "parse_errors": response.parse_errors,
            }));
            log.other_fields.entry("schema_version").or_insert(json!(1));
            log.other_fields
                .entry("type")
                .or_insert(json!("workspace_migration_state"));
            writer.put(layout::MIGRATIONS, &log)
        })?;
    }
    response.applied = !dry_run;
    Ok(response)
}

/// Reads the migration log; a missing or unreadable log counts as empty.
fn log(company: &Company) -> Arc<Applied> {
    company.read(layout::MIGRATIONS).unwrap_or_default()
}

fn is_this_migration(entry: &Value) -> bool {
    entry["id"] == MIGRATION_ID
}
