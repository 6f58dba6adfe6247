//! One tick of a heartbeat: collects facts, decides whom to wake, wakes workers, and processes their reports. A dry run
//! stops before anything is written.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use company::{
    Company, Error,
    execution::{heartbeat as files, job as job_files},
    policy::Actor,
};
use protocol::{
    Id as _, MayExec,
    company::{
        ActorRole, AgentRole, JobId, ProjectId, Text,
        heartbeat::{
            HeartbeatCandidate, HeartbeatComponents, HeartbeatConfig, HeartbeatCounts,
            HeartbeatJob, HeartbeatReportStatus, HeartbeatState, HeartbeatTickResponse,
            HeartbeatWake, HierarchyMode,
        },
        job::{HeartbeatReport, JobSpec},
    },
};
use serde_json::json;
use sessions::blocking::blocking;
use tokio::time::{sleep, timeout};

use super::{
    act::{self, ActionTotals, Source, change_state},
    beat::Heartbeats,
    facts::{self, Facts},
    pending::{self, Pending},
    triage::{self, Decision, Moment, Wake},
};
use crate::Resubmit;

/// How long a tick waits for the report of each woken worker. The next tick reads later reports.
const REPORT_TIMEOUT: Duration = Duration::from_secs(120);

/// The reason of a scheduled tick.
pub(crate) const INTERVAL: &str = "interval";

/// The trigger of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tick {
    /// A request for a dry run, which reports what would happen and writes nothing.
    Dry,
    /// A request.
    Asked,
    /// The schedule.
    Interval,
}

/// Runs a tick. The caller ensures that no other tick runs in the folder.
pub(crate) async fn run(
    beats: &Heartbeats,
    company: &Company,
    kind: Tick,
    reason: &str,
    may: MayExec,
) -> Result<HeartbeatTickResponse, sessions::Error> {
    let started_ms = company.sources().now_ms();
    let setting = {
        let company = company.clone();
        blocking(move || Ok(files::setting(&company))).await?
    };
    let config = Arc::clone(&setting.config);
    let mut response = empty(company, &config, kind, reason, started_ms);
    let next_ms = started_ms + i64::from(config.tick_interval_minutes) * 60_000;
    if !config.enabled {
        response.skipped_reason = Some("heartbeat_disabled".to_owned());
        if kind != Tick::Dry {
            let (company, id, reason) =
                (company.clone(), response.tick_id.clone(), reason.to_owned());
            blocking(move || {
                change_state(&company, |state| {
                    record_start(state, &id, &reason, started_ms, next_ms)
                })
            })
            .await?;
        }
        return Ok(finished(response, company));
    }
    if kind == Tick::Interval {
        let read = company.clone();
        let state = blocking(move || Ok(files::state(&read).unwrap_or_default())).await?;
        if was_ticked(&state, &config, started_ms) {
            response.skipped_reason = Some("ticked_by_another_process".to_owned());
            return Ok(finished(response, company));
        }
    }
    beats.jobs().recover_once(company, may).await?;
    let now = moment(started_ms);
    let (facts, decision, seen) = {
        let (beats, company, config) = (beats.clone(), company.clone(), Arc::clone(&config));
        blocking(move || {
            // A damaged state counts as empty; the first write sets the file aside.
            let state = files::state(&company).unwrap_or_default();
            let facts = facts::gather(&company, &config, &state, now.unix_ms, beats.logs())?;
            let decision = triage::decide(&facts.workers, &state, &config, now, jitter);
            Ok((facts, decision, state.worker_state))
        })
        .await?
    };
    response.candidates = candidates(&decision);
    response.woken_workers = decision.wakes.iter().map(woken).collect();
    if kind == Tick::Dry {
        return Ok(finished(response, company));
    }

    let wakes = wakes(company, &config, &facts, &decision);
    let (is_quiet, recorded) = {
        let (company, id, reason) = (company.clone(), response.tick_id.clone(), reason.to_owned());
        let mut wakes: Vec<_> = wakes.iter().map(|(pending, _)| pending.clone()).collect();
        let cursors = facts.cursors.clone();
        let hashes: Vec<_> = decision
            .candidates
            .iter()
            .map(|candidate| (candidate.agent_id.clone(), candidate.context_hash.clone()))
            .collect();
        blocking(move || {
            company.write(|writer| {
                let mut state = act::remembered(&company);
                // The decision is valid only for workers whose state is unchanged. A process that does not use the tick
                // lock may have woken a worker since.
                wakes.retain(|pending| {
                    let worker = &pending.worker_agent_id;
                    state.worker_state.get(worker) == seen.get(worker)
                });
                // The wakes are recorded before the cursors advance: otherwise a crash would lose the signals that are
                // their reason.
                if !wakes.is_empty() {
                    pending::change(writer, |all| all.extend(wakes.iter().cloned()))?;
                }
                // Most ticks wake no worker and have no unfinished action; they need only this one write.
                let is_quiet =
                    pending::all(&company).is_empty() && files::undone(&company)?.is_empty();
                record_start(&mut state, &id, &reason, started_ms, next_ms);
                state.running = !is_quiet;
                state.run_event_cursors = cursors;
                for (agent, hash) in hashes {
                    state
                        .worker_state
                        .entry(agent)
                        .or_default()
                        .last_context_hash = Text::new(hash);
                }
                for pending in &wakes {
                    let worker = state
                        .worker_state
                        .entry(pending.worker_agent_id.clone())
                        .or_default();
                    worker.last_wake_at = Text::new(company::iso_time(started_ms));
                }
                state.stats.workers_woken_total += wakes.len() as u64;
                writer.put_heartbeat_state(&state)?;
                let recorded: BTreeSet<String> = wakes
                    .iter()
                    .map(|pending| pending.worker_agent_id.clone())
                    .collect();
                Ok((is_quiet, recorded))
            })
        })
        .await?
    };
    response
        .woken_workers
        .retain(|wake| recorded.contains(&wake.worker_agent_id));
    let wakes: Vec<_> = wakes
        .into_iter()
        .filter(|(pending, _)| recorded.contains(&pending.worker_agent_id))
        .collect();
    if is_quiet {
        return Ok(finished(response, company));
    }
    for (pending, jitter_seconds) in &wakes {
        response.jobs_submitted.push(HeartbeatJob {
            worker_agent_id: pending.worker_agent_id.clone(),
            project_id: pending.job.project_id.to_string(),
            job_id: pending.job.job_id.to_string(),
            jitter_seconds: *jitter_seconds,
        });
    }
    let left = {
        let company = company.clone();
        blocking(move || Ok(pending::all(&company))).await?
    };
    let mut jitters: std::collections::BTreeMap<String, u32> = match kind {
        Tick::Interval => wakes
            .iter()
            .map(|(pending, jitter)| (pending.job.job_id.to_string(), *jitter))
            .collect(),
        Tick::Dry | Tick::Asked => std::collections::BTreeMap::new(),
    };
    let waits: Vec<_> = left
        .iter()
        .map(|pending| {
            let jitter = jitters.remove(pending.job.job_id.as_str()).unwrap_or(0);
            let (beats, company, pending) = (beats.clone(), company.clone(), pending.clone());
            tokio::spawn(async move { await_report(&beats, &company, &pending, jitter, may).await })
        })
        .collect();
    let mut totals = {
        let (beats, company, config) = (beats.clone(), company.clone(), Arc::clone(&config));
        blocking(move || {
            let mut totals = ActionTotals::default();
            let _acting = beats.acting();
            act::resume_left(beats.starter(may), &company, &config, now, &mut totals)?;
            Ok(totals)
        })
        .await?
    };
    for (pending, wait) in left.into_iter().zip(waits) {
        let wake_result = wait.await.unwrap_or(WakeResult::NotYet);
        let (beats, company, config) = (beats.clone(), company.clone(), Arc::clone(&config));
        let before = totals.clone();
        let (after, status) = blocking(move || {
            process_report(
                (&beats, may),
                &company,
                &config,
                &pending,
                wake_result,
                before,
            )
        })
        .await?;
        totals = after;
        match status {
            Some(HeartbeatReportStatus::Ok) => response.reports_ok += 1,
            Some(HeartbeatReportStatus::Actions) => response.reports_actions += 1,
            None => {}
        }
    }
    response.reports_processed = response.reports_ok + response.reports_actions;
    response.actions_executed = totals.executed_actions;
    response.approvals_queued = totals.queued_for_approval;
    response.deduped_actions = totals.deduped_actions;
    response.skipped_actions = totals.skipped_actions;
    {
        let (company, counted) = (company.clone(), response.clone());
        blocking(move || {
            change_state(&company, |state| {
                state.running = false;
                let stats = &mut state.stats;
                stats.reports_ok_total += counted.reports_ok;
                stats.reports_actions_total += counted.reports_actions;
                stats.actions_executed_total += counted.actions_executed;
                stats.approvals_queued_total += counted.approvals_queued;
                stats.deduped_actions_total += counted.deduped_actions;
            })
        })
        .await?;
    }
    Ok(finished(response, company))
}

/// Whether another process has run the scheduled tick that is due now.
fn was_ticked(state: &HeartbeatState, config: &HeartbeatConfig, now_ms: i64) -> bool {
    let last = state.last_tick_at.as_deref().and_then(company::unix_ms);
    let was_planned = state.last_tick_reason.as_deref() == Some(INTERVAL);
    let half = i64::from(config.tick_interval_minutes) * 60_000 / 2;
    was_planned && last.is_some_and(|last| (0..half).contains(&(now_ms - last)))
}

/// Records in the state that a tick began, and the time of the next one.
fn record_start(state: &mut HeartbeatState, id: &str, reason: &str, now_ms: i64, next_ms: i64) {
    state.last_tick_id = Text::new(id);
    state.last_tick_at = Text::new(company::iso_time(now_ms));
    state.last_tick_reason = Text::new(reason);
    state.next_tick_at = Text::new(company::iso_time(next_ms));
    state.stats.ticks_total += 1;
}

/// The workers to wake, with the jobs that wake them and their jitter in seconds: directors first, then workers, then
/// the others.
fn wakes(
    company: &Company,
    config: &HeartbeatConfig,
    facts: &Facts,
    decision: &Decision,
) -> Vec<(Pending, u32)> {
    let role = |wake: &Wake| facts.roles.get(&wake.agent_id).copied();
    let mut order: Vec<&Wake> = decision.wakes.iter().collect();
    order.sort_by_key(|wake| {
        let rank = match role(wake) {
            Some(AgentRole::Director) => 0,
            Some(AgentRole::Worker) => 1,
            Some(AgentRole::Manager) => 2,
            Some(AgentRole::Ceo) | None => 3,
        };
        (rank, wake.agent_id.clone())
    });
    order
        .into_iter()
        .filter_map(|wake| {
            let project = wake.project_id.as_deref().and_then(|id| ProjectId::parse(id).ok());
            let project = project.or_else(|| facts.default_project.clone())?;
            let worker = facts.workers.iter().find(|worker| worker.agent_id == wake.agent_id)?;
            let candidate = decision
                .candidates
                .iter()
                .find(|candidate| candidate.agent_id == wake.agent_id)?;
            let is_director = role(wake) == Some(AgentRole::Director);
            let counts = &candidate.counts;
            let note = format!(
                "signals={}, due={}, overdue={}, stuck={}, score={}",
                counts.new_signals, counts.due_tasks, counts.overdue_tasks, counts.stuck_jobs, wake.score
            );
            let target = if is_director { "director" } else { "worker" };
            let manager = match (config.hierarchy_mode, &config.executive_manager_agent_id) {
                (HierarchyMode::EnterpriseV1, Some(manager)) => manager.as_str(),
                (HierarchyMode::EnterpriseV1 | HierarchyMode::Standard, _) => COORDINATOR,
            };
            let job: JobId = company.sources().id();
            let spec = json!({
                "job_id": job,
                "job_kind": "heartbeat",
                "worker_kind": worker.kind,
                "workspace_dir": company.given(),
                "project_id": project,
                "goal": format!("Heartbeat check for {}: {}", wake.agent_id, wake.reasons.join(", ")),
                "constraints": ["Answer with a heartbeat_worker_report and nothing else", "Do no work yourself"],
                "deliverables": ["heartbeat_worker_report"],
                "permission_level": "read-only",
                "context_refs": [
                    {"kind": "note", "value": note},
                    {"kind": "note", "value": format!("target_role={target}")},
                ],
                "max_context_refs": 8,
                "worker_agent_id": wake.agent_id,
                "manager_actor_id": manager,
                "manager_role": "manager",
            });
            let job = serde_json::from_value::<JobSpec>(spec).ok()?;
            let pending = Pending {
                worker_agent_id: wake.agent_id.clone(),
                is_director,
                job,
            };
            Some((pending, wake.jitter_seconds))
        })
        .collect()
}

/// The actor on whose behalf the heartbeat acts if the config names no other.
const COORDINATOR: &str = "heartbeat_coordinator";

/// The result of waking a worker.
#[derive(Debug)]
enum WakeResult {
    /// The worker's report.
    Report(Box<HeartbeatReport>),
    /// The job ended without a report or could not be submitted.
    Nothing,
    /// The job is not over; a later tick may read its report.
    NotYet,
}

/// Submits a job unless it was submitted before, and waits for its report.
async fn await_report(
    beats: &Heartbeats,
    company: &Company,
    pending: &Pending,
    jitter: u32,
    may: MayExec,
) -> WakeResult {
    let jobs = beats.jobs();
    let (Ok(job), project) = (JobId::parse(&pending.job.job_id), &pending.job.project_id) else {
        return WakeResult::Nothing;
    };
    if jitter > 0 {
        tokio::select! {
            () = sleep(Duration::from_secs(u64::from(jitter))) => {}
            () = jobs.closed() => return WakeResult::NotYet,
        }
    }
    let is_known = {
        let (company, project, job) = (company.clone(), project.clone(), job.clone());
        blocking(move || Ok(job_files::record(&company, &project, &job).is_ok())).await
    };
    if !is_known.unwrap_or(false) {
        match jobs
            .submit(pending.job.clone(), Resubmit::Refuse, may)
            .await
        {
            Ok(_) => {}
            Err(sessions::Error::Closing) => return WakeResult::NotYet,
            Err(error) => {
                tracing::warn!(%error, worker = pending.worker_agent_id, "a worker cannot be woken");
                return WakeResult::Nothing;
            }
        }
    }
    let _ = timeout(REPORT_TIMEOUT, jobs.over(company, project, &job)).await;
    let (company, project) = (company.clone(), project.clone());
    let wake_result = blocking(move || {
        let record = job_files::record(&company, &project, &job)?;
        if !record.status.is_over() {
            return Ok(WakeResult::NotYet);
        }
        let report = job_files::left(&company, &project, &job).report;
        Ok(report.map_or(WakeResult::Nothing, |report| {
            WakeResult::Report(Box::new(report))
        }))
    });
    wake_result.await.unwrap_or(WakeResult::Nothing)
}

/// Processes the result of waking a worker. The worker is removed from the pending ones only afterwards, so that a
/// crash loses no report.
fn process_report(
    (beats, may): (&Heartbeats, MayExec),
    company: &Company,
    config: &HeartbeatConfig,
    pending: &Pending,
    wake_result: WakeResult,
    mut totals: ActionTotals,
) -> Result<(ActionTotals, Option<HeartbeatReportStatus>), Error> {
    let report = match wake_result {
        WakeResult::NotYet => return Ok((totals, None)),
        WakeResult::Nothing => None,
        WakeResult::Report(report) => Some(report),
    };
    let now_ms = company.sources().now_ms();
    if let Some(report) = &report {
        let actor = actor(company, config, pending);
        let last = JobId::parse(&pending.job.job_id).ok().and_then(|job| {
            job_files::record(company, &pending.job.project_id, &job)
                .ok()?
                .attempts
                .last()
                .cloned()
        });
        let source = Source {
            worker: &pending.worker_agent_id,
            run: last
                .as_ref()
                .map_or("none", |attempt| attempt.run_id.as_str()),
            context_pack: last
                .as_ref()
                .map_or("none", |attempt| attempt.context_pack_id.as_str()),
            actor: &actor,
        };
        let _acting = beats.acting();
        for action in report.actions() {
            let done = u32::try_from(totals.executed_actions).unwrap_or(u32::MAX);
            let limits = (config, moment(now_ms), done);
            act::report(
                beats.starter(may),
                company,
                action,
                &source,
                limits,
                &mut totals,
            )?;
        }
        change_state(company, |state| {
            let worker = state
                .worker_state
                .entry(pending.worker_agent_id.clone())
                .or_default();
            worker.last_report_status = Some(report.status);
            match report.status {
                HeartbeatReportStatus::Ok => {
                    let until = now_ms + i64::from(config.ok_suppression_minutes) * 60_000;
                    worker.last_ok_at = Text::new(company::iso_time(now_ms));
                    worker.suppressed_until = Text::new(company::iso_time(until));
                }
                HeartbeatReportStatus::Actions => worker.suppressed_until = None,
            }
        })?;
    }
    company.write(|writer| {
        pending::change(writer, |all| {
            all.retain(|other| other.job.job_id != pending.job.job_id);
        })
    })?;
    Ok((totals, report.map(|report| report.status)))
}

/// The actor on whose behalf the actions of a worker are executed.
fn actor(company: &Company, config: &HeartbeatConfig, pending: &Pending) -> Actor {
    let enterprise = config.hierarchy_mode == HierarchyMode::EnterpriseV1;
    if enterprise && config.allow_director_to_spawn_workers && pending.is_director {
        let agent = protocol::company::AgentId::parse(&pending.worker_agent_id).ok();
        let agent = agent.and_then(|id| {
            let path = format!("{}/agent.yaml", company::layout::agent(&id));
            company.read::<company::document::Agent>(&path).ok()
        });
        return Actor {
            id: pending.worker_agent_id.clone(),
            role: ActorRole::Director,
            team_id: agent.and_then(|agent| agent.team_id.clone()),
        };
    }
    let id = match (enterprise, &config.executive_manager_agent_id) {
        (true, Some(manager)) => manager.to_string(),
        (true | false, _) => COORDINATOR.to_owned(),
    };
    Actor {
        id,
        role: ActorRole::Manager,
        team_id: None,
    }
}

/// The time with the hour in the system's time zone.
pub(crate) fn moment(unix_ms: i64) -> Moment {
    let local = jiff::Timestamp::from_millisecond(unix_ms)
        .map(|time| time.to_zoned(jiff::tz::TimeZone::system()).hour());
    Moment {
        unix_ms,
        local_hour: local
            .ok()
            .and_then(|hour| u32::try_from(hour).ok())
            .unwrap_or(12),
    }
}

/// A random number from 0 to `most`.
fn jitter(most: u32) -> u32 {
    let mut bytes = [0; 4];
    // Without randomness the jitter is 0, and all workers start at the same time.
    let _ = getrandom::fill(&mut bytes);
    match most {
        0 => 0,
        most => u32::from_le_bytes(bytes) % (most + 1),
    }
}

fn tick_id(now_ms: i64) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut bytes = [0; 8];
    let _ = getrandom::fill(&mut bytes);
    let random: String = bytes
        .iter()
        .map(|byte| char::from(DIGITS[usize::from(*byte) % DIGITS.len()]))
        .collect();
    format!("hbtick_{now_ms}_{random}")
}

/// The response of a tick that has done nothing yet.
pub(crate) fn empty(
    company: &Company,
    config: &HeartbeatConfig,
    kind: Tick,
    reason: &str,
    now_ms: i64,
) -> HeartbeatTickResponse {
    HeartbeatTickResponse {
        tick_id: tick_id(now_ms),
        workspace_dir: company.given().to_owned(),
        reason: reason.to_owned(),
        started_at: company::iso_time(now_ms),
        finished_at: company::iso_time(now_ms),
        duration_ms: 0,
        dry_run: kind == Tick::Dry,
        enabled: config.enabled,
        skipped_due_to_running: false,
        skipped_reason: None,
        config: config.clone(),
        candidates: Vec::new(),
        woken_workers: Vec::new(),
        jobs_submitted: Vec::new(),
        reports_processed: 0,
        reports_ok: 0,
        reports_actions: 0,
        actions_executed: 0,
        approvals_queued: 0,
        deduped_actions: 0,
        skipped_actions: 0,
    }
}

fn finished(mut response: HeartbeatTickResponse, company: &Company) -> HeartbeatTickResponse {
    let now_ms = company.sources().now_ms();
    let started_ms = company::unix_ms(&response.started_at).unwrap_or(now_ms);
    response.finished_at = company::iso_time(now_ms);
    response.duration_ms = u64::try_from(now_ms - started_ms).unwrap_or(0);
    response
}

fn candidates(decision: &Decision) -> Vec<HeartbeatCandidate> {
    decision
        .candidates
        .iter()
        .map(|candidate| HeartbeatCandidate {
            worker_agent_id: candidate.agent_id.clone(),
            team_id: candidate.team_id.clone(),
            score: candidate.score,
            components: HeartbeatComponents {
                new_signal_points: candidate.components.new_signal_points,
                due_points: candidate.components.due_points,
                overdue_points: candidate.components.overdue_points,
                stuck_points: candidate.components.stuck_points,
                recent_ok_penalty: candidate.components.recent_ok_penalty,
                quiet_hours_penalty: candidate.components.quiet_hours_penalty,
            },
            counts: HeartbeatCounts {
                new_signals: candidate.counts.new_signals,
                due_tasks: candidate.counts.due_tasks,
                overdue_tasks: candidate.counts.overdue_tasks,
                stuck_jobs: candidate.counts.stuck_jobs,
            },
            context_hash: candidate.context_hash.clone(),
            suppressed: candidate.suppression.is_some(),
            suppression_reason: candidate.suppression.clone(),
        })
        .collect()
}

fn woken(wake: &Wake) -> HeartbeatWake {
    HeartbeatWake {
        worker_agent_id: wake.agent_id.clone(),
        team_id: wake.team_id.clone(),
        project_id: wake.project_id.clone(),
        score: wake.score,
        jitter_seconds: wake.jitter_seconds,
        context_hash: wake.context_hash.clone(),
        reasons: wake.reasons.clone(),
    }
}
