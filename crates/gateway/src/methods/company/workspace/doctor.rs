//! Handlers of `workspace.doctor` and `workspace.diagnostics`: health checks and the support bundle.

use ::index::Indexes;
use company::{
    Company,
    document::Run,
    events::replay,
    execution::machine,
    files, secret,
    workspace::doctor::{self, Outside, check},
};
use protocol::company::{
    adapter::AdapterRow, inbox::InboxSnapshotParams, monitor::MonitorSnapshotParams,
    run::ReplayMode, session::CompanySessionListParams, workspace::*,
};
use rpc::Failure;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::{indexed, live, session, within, within_unchecked};
use crate::{Context, VERSION};

/// The default number of rows per view in the bundle.
const USUAL: u32 = 200;

pub(super) async fn doctor(
    ctx: Context,
    params: CompanyWorkspaceDoctorParams,
) -> Result<CompanyWorkspaceDoctorResponse, Failure> {
    let adapters = adapters(&ctx, &params.workspace_dir).await?;
    let indexes = ctx.indexes().clone();
    within_unchecked(&ctx, &params.workspace_dir.clone(), move |company| {
        Ok(examine(company, &indexes, &adapters, &params))
    })
    .await
}

fn examine(
    company: &Company,
    indexes: &Indexes,
    adapters: &[AdapterRow],
    params: &CompanyWorkspaceDoctorParams,
) -> CompanyWorkspaceDoctorResponse {
    let index = index_check(
        company,
        indexes,
        params.rebuild_index.unwrap_or(false),
        params.sync_index.unwrap_or(false),
    );
    let outside = Outside {
        providers: providers(adapters),
        index: vec![index],
        verify_events: &|relative| {
            // The run document records the last event, which reveals a truncated log.
            let run = company.read::<Run>(&relative.replace("events.jsonl", "run.yaml"));
            let options = replay::Options {
                mode: ReplayMode::Verified,
                events_tail: run.ok().and_then(|run| run.events_tail.clone()),
                tail: std::num::NonZeroUsize::new(1),
                ..replay::Options::default()
            };
            let found = replay::replay(&company.path(relative), &options)?;
            let shown = found.replayed.verification_issues.iter();
            let mut lines: Vec<_> = shown
                .map(|issue| format!("{}: {}", issue.line, issue.message))
                .collect();
            if found.issues_outside > 0 {
                lines.push(format!("{} issue(s) before", found.issues_outside));
            }
            lines.extend(
                found
                    .replayed
                    .parse_issues
                    .iter()
                    .map(|issue| format!("{}: {}", issue.line, issue.error)),
            );
            Ok(lines)
        },
    };
    doctor::doctor(company, outside)
}

/// Returns the adapters of worker programs. Without a readable machine file they are unavailable, with the file as the
/// reason.
async fn adapters(ctx: &Context, workspace_dir: &str) -> Result<Vec<AdapterRow>, Failure> {
    let machine = within_unchecked(ctx, workspace_dir, |company| {
        Ok(machine::read(company).map_err(|error| error.to_string()))
    });
    let machine = machine.await?;
    let machine = machine.as_deref().map_err(String::as_str);
    let may = ctx.may_exec().ok();
    Ok(ctx.services().adapters.status(machine, may).await)
}

fn providers(adapters: &[AdapterRow]) -> Vec<DoctorCheck> {
    use protocol::company::adapter::AdapterMode;
    let of = |mode| adapters.iter().filter(move |adapter| adapter.mode == mode);
    let reasons = |mode| {
        let missing = of(mode).filter(|adapter| !adapter.available);
        let lines = missing.map(|adapter| {
            format!(
                "{}: {}",
                adapter.name,
                adapter.reason.as_deref().unwrap_or("unavailable")
            )
        });
        lines.collect::<Vec<_>>()
    };
    let available: Vec<_> = of(AdapterMode::Cli)
        .filter(|adapter| adapter.available)
        .map(|adapter| adapter.name.as_str())
        .collect();
    let cli = if available.is_empty() {
        check(
            "providers.cli",
            DoctorStatus::Fail,
            "No provider CLI adapter is available.",
            reasons(AdapterMode::Cli),
        )
    } else {
        check(
            "providers.cli",
            DoctorStatus::Pass,
            format!("Available provider CLIs: {}", available.join(", ")),
            Vec::new(),
        )
    };
    let missing = reasons(AdapterMode::Protocol);
    let protocol = if missing.is_empty() {
        check(
            "providers.protocol",
            DoctorStatus::Pass,
            "All protocol adapters are available.",
            missing,
        )
    } else {
        check(
            "providers.protocol",
            DoctorStatus::Warn,
            "Some protocol adapters are unavailable.",
            missing,
        )
    };
    vec![cli, protocol]
}

fn index_check(company: &Company, indexes: &Indexes, rebuild: bool, sync: bool) -> DoctorCheck {
    if rebuild {
        return match indexes.rebuild(company) {
            Ok(built) => {
                let details = lines(
                    &built,
                    &[
                        "db_path",
                        "runs_indexed",
                        "events_indexed",
                        "artifacts_indexed",
                        "reviews_indexed",
                        "help_requests_indexed",
                    ],
                );
                let errors = built.event_parse_errors;
                event_check(
                    "index.rebuild",
                    errors,
                    "Index rebuilt successfully.",
                    "Index rebuilt",
                    details,
                )
            }
            Err(_) => check(
                "index.rebuild",
                DoctorStatus::Fail,
                "Index rebuild failed.",
                Vec::new(),
            ),
        };
    }
    if sync {
        let synced = indexes
            .sync(company)
            .and_then(|synced| Ok((synced, indexes.stats(company)?)));
        return match synced {
            Ok((synced, stats)) => {
                let names = [
                    "db_path",
                    "db_created",
                    "runs_upserted",
                    "runs_deleted",
                    "events_indexed",
                    "events_deleted",
                    "event_parse_errors_indexed",
                    "event_parse_errors_deleted",
                    "artifacts_upserted",
                    "artifacts_deleted",
                    "reviews_upserted",
                    "reviews_deleted",
                    "help_requests_upserted",
                    "help_requests_deleted",
                ];
                let details = lines(&synced, &names);
                event_check(
                    "index.sync",
                    stats.event_parse_errors,
                    "Index synced successfully.",
                    "Index synced",
                    details,
                )
            }
            Err(_) => check(
                "index.sync",
                DoctorStatus::Fail,
                "Index sync failed.",
                Vec::new(),
            ),
        };
    }
    const ID: &str = "index.rebuild";
    if !indexes.is_built(company) {
        let message = "SQLite index is missing. Run index:rebuild for fast queries.";
        return check(ID, DoctorStatus::Warn, message, Vec::new());
    }
    let Ok(stats) = indexes.stats(company) else {
        return check(
            ID,
            DoctorStatus::Fail,
            "SQLite index cannot be read.",
            Vec::new(),
        );
    };
    let mut details = lines(
        &stats,
        &[
            "runs",
            "events",
            "event_parse_errors",
            "artifacts",
            "reviews",
            "help_requests",
        ],
    );
    let index_ms = modified_ms(&company.derived("index.sqlite"))
        .max(modified_ms(&company.derived("index.sqlite-wal")));
    let latest_ms = company::workspace::doctor::newest_ms(company);
    details.push(format!("index_mtime_ms: {index_ms}"));
    details.push(format!("canonical_latest_mtime_ms: {latest_ms}"));
    // A sync without changes does not touch the index file, so its modification time is only a hint.
    if latest_ms > index_ms + 1 && !indexes.is_current(company).unwrap_or(false) {
        let message = "SQLite index is readable but appears stale relative to canonical files.";
        return check(ID, DoctorStatus::Warn, message, details);
    }
    match stats.event_parse_errors {
        0 => check(
            ID,
            DoctorStatus::Pass,
            "SQLite index is present and readable.",
            details,
        ),
        errors => {
            let message = format!("SQLite index is readable with {errors} event parse error(s).");
            check(ID, DoctorStatus::Warn, message, details)
        }
    }
}

fn event_check(
    id: &str,
    errors: u64,
    well: &str,
    otherwise: &str,
    details: Vec<String>,
) -> DoctorCheck {
    match errors {
        0 => check(id, DoctorStatus::Pass, well, details),
        errors => check(
            id,
            DoctorStatus::Warn,
            format!("{otherwise} with {errors} event parse error(s)."),
            details,
        ),
    }
}

/// Formats fields of a response as `name: value`.
fn lines(answer: &impl Serialize, names: &[&str]) -> Vec<String> {
    let answer = json!(answer);
    let shown = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), ToOwned::to_owned)
    };
    names
        .iter()
        .map(|name| format!("{name}: {}", shown(&answer[*name])))
        .collect()
}

fn modified_ms(path: &std::path::Path) -> i64 {
    let at = path
        .metadata()
        .and_then(|metadata| metadata.modified())
        .ok();
    let since = at.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

pub(super) async fn diagnostics(
    ctx: Context,
    params: CompanyWorkspaceDiagnosticsParams,
) -> Result<CompanyWorkspaceDiagnosticsResponse, Failure> {
    let peer = ctx.peer();
    peer.check_path("workspace_dir", &params.workspace_dir)?;
    peer.check_path("out_dir", &params.out_dir)?;
    let dir = params.workspace_dir.clone();
    let adapters = adapters(&ctx, &dir).await?;
    let listed = CompanySessionListParams {
        workspace_dir: Some(dir.clone()),
        ..CompanySessionListParams::default()
    };
    let sessions = ctx.sessions().list(listed, ctx.may_exec().ok()).await;
    let sessions = sessions.map_err(|error| session::failure(&error))?;
    let live = live(&ctx, &dir).await?;
    let bundle = indexed(&ctx, dir.clone(), {
        let params = params.clone();
        move |indexes, company| {
            let rebuild = params.rebuild_index.unwrap_or(false);
            let sync = !rebuild && params.sync_index.unwrap_or(true);
            // The doctor runs first, because it rebuilds or syncs the index that the views below read.
            let examined = CompanyWorkspaceDoctorParams {
                workspace_dir: params.workspace_dir.clone(),
                rebuild_index: Some(rebuild),
                sync_index: Some(sync),
            };
            let doctor = examine(company, indexes, &adapters, &examined);
            let sync_index = Some(sync);
            let monitor = MonitorSnapshotParams {
                workspace_dir: params.workspace_dir.clone(),
                project_id: None,
                limit: Some(params.monitor_limit.unwrap_or(USUAL)),
                refresh_index: None,
                sync_index,
                actor_id: None,
                actor_role: None,
                actor_team_id: None,
            };
            let monitor = indexes.monitor(company, &monitor, &live, None)?;
            let inbox = InboxSnapshotParams {
                workspace_dir: params.workspace_dir.clone(),
                project_id: None,
                pending_limit: Some(params.pending_limit.unwrap_or(USUAL)),
                decisions_limit: Some(params.decisions_limit.unwrap_or(USUAL)),
                refresh_index: None,
                sync_index,
                actor_id: None,
                actor_role: None,
                actor_team_id: None,
            };
            let inbox = indexes.inbox(company, &inbox, None)?;
            let stats = indexes.stats(company).ok();
            Ok(DiagnosticsBundle {
                doctor: json!(doctor),
                adapters: json!(adapters),
                sessions: json!(sessions),
                monitor: json!(monitor),
                inbox: json!(inbox),
                stats: stats.map(|stats| json!(stats)),
            })
        }
    })
    .await?;
    within(&ctx, &dir, move |company| {
        write_bundle(company, &params, &bundle)
    })
    .await
}

/// The contents of a diagnostics bundle.
struct DiagnosticsBundle {
    doctor: Value,
    adapters: Value,
    sessions: Value,
    monitor: Value,
    inbox: Value,
    stats: Option<Value>,
}

fn write_bundle(
    company: &Company,
    params: &CompanyWorkspaceDiagnosticsParams,
    bundle: &DiagnosticsBundle,
) -> Result<CompanyWorkspaceDiagnosticsResponse, company::Error> {
    let generated_at = company.sources().now_text();
    let stamp: String = generated_at[..19]
        .chars()
        .filter(|character| !"-:".contains(*character))
        .collect();
    let bundle_dir = format!(
        "{}/agentcompany-diagnostics-{stamp}-{}",
        params.out_dir.trim_end_matches('/'),
        std::process::id()
    );
    let names = DiagnosticsFiles {
        manifest: "manifest.json".to_owned(),
        doctor: "doctor.json".to_owned(),
        adapters: "adapters.json".to_owned(),
        sessions: "sessions.json".to_owned(),
        monitor_snapshot: "monitor.snapshot.json".to_owned(),
        review_inbox_snapshot: "review_inbox.snapshot.json".to_owned(),
        index_stats: bundle.stats.as_ref().map(|_| "index.stats.json".to_owned()),
    };
    let running = bundle.sessions.as_array().into_iter().flatten();
    let running = running
        .filter(|session| session["status"] == "running")
        .count();
    let count = |value: &Value| value.as_array().map_or(0, Vec::len);
    let manifest = json!({
        "schema_version": 1,
        "type": "workspace_diagnostics",
        "generated_at": generated_at,
        "workspace_dir": company.root(),
        "runtime": {
            "node": null,
            "server": {"name": "accord", "version": VERSION},
            "platform": std::env::consts::OS,
            "arch": std::env::consts::ARCH,
        },
        "doctor": {
            "ok": bundle.doctor["ok"], "summary": bundle.doctor["summary"], "checks": count(&bundle.doctor["checks"]),
        },
        "monitor": {
            "rows": count(&bundle.monitor["rows"]),
            "index_rebuilt": bundle.monitor["index_rebuilt"],
            "index_synced": bundle.monitor["index_synced"],
        },
        "review_inbox": {
            "pending": count(&bundle.inbox["pending"]),
            "recent_decisions": count(&bundle.inbox["recent_decisions"]),
            "parse_errors": bundle.inbox["parse_errors"],
        },
        "sessions": {"total": count(&bundle.sessions), "running": running},
        "files": names,
    });
    let mut rows = vec![
        (names.manifest.as_str(), &manifest),
        (names.doctor.as_str(), &bundle.doctor),
        (names.adapters.as_str(), &bundle.adapters),
        (names.sessions.as_str(), &bundle.sessions),
        (names.monitor_snapshot.as_str(), &bundle.monitor),
        (names.review_inbox_snapshot.as_str(), &bundle.inbox),
    ];
    rows.extend(names.index_stats.as_deref().zip(bundle.stats.as_ref()));
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(name, value)| {
            // Bundles are sent to support, so secrets are redacted.
            let text = value.to_string();
            let (text, _) = secret::redact_json(&text);
            let value: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
            (name, format!("{value:#}\n"))
        })
        .collect();
    let bundle = std::path::Path::new(&bundle_dir);
    // A second bundle within the same second replaces the first, file by file.
    if bundle.exists() {
        for (name, text) in &rows {
            files::replace(&bundle.join(name), text.as_bytes())?;
        }
    } else {
        files::make_whole(bundle, &[], &rows)?
    }
    Ok(CompanyWorkspaceDiagnosticsResponse {
        workspace_dir: company.given().to_owned(),
        out_dir: params.out_dir.to_string(),
        bundle_dir,
        generated_at,
        files: names,
    })
}
