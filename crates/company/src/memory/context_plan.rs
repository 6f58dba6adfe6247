//! Selects the context of a worker for a job, in three layers: governance files and seeds of the caller (L0), approved
//! memory (L1), recent reports and runs (L2).
//!
//! Planning only reads. Rejected candidates do not reach the plan, and their text does not reach the trace.

mod candidate;
mod persist;
mod relevance;

use std::collections::BTreeSet;

use protocol::company::{
    AgentId, JobKind, MemoryScopeKind, ProjectId, ReviewDecision,
    context::{
        ContextDecision, ContextLayer, ContextPlanForJobResponse, ContextRef, ContextRefKind,
        ContextSourceKind, ContextTraceEntry,
    },
};

use candidate::ContextCandidate;
pub use persist::{PersistedPlan, persist};
pub use relevance::{Rank, Ranked, by_words, goal_words};

use crate::{
    Company, Error,
    decisions::{
        memory_delta,
        review::{self, ReviewKey},
    },
    document::DocumentKind,
    documents::{self, Listed},
    execution::run,
    format::collation,
    layout, memory,
    org::text,
    policy::{self, Action, Actor, Decision, Resource},
    secret,
};

/// Maximum number of rows in a trace.
const MOST_TRACE_ROWS: usize = 200;
/// Maximum that relevance to the goal adds to a score.
const MOST_RELEVANCE: f64 = 50.0;
/// Score adjustment that ranks guidance of other agents below all other memory.
const OTHERS_GUIDANCE: f64 = -60.0;

/// The job that context is planned for.
#[derive(Clone, Debug)]
pub struct Job {
    /// Project of the job.
    pub project_id: ProjectId,
    /// The agent that executes the job; absent if none is assigned.
    pub worker: Option<AgentId>,
    /// The actor that assigns the job; only references that this actor may compose into a context are included.
    pub manager: Actor,
    /// Kind of job.
    pub kind: JobKind,
    /// Goal of the job; candidates are ranked by relevance to it.
    pub goal: String,
    /// Constraints and deliverables of the job, which are used for ranking, too.
    pub particulars: Vec<String>,
    /// References that the caller requests; they rank before all others.
    pub seeds: Vec<ContextRef>,
    /// Maximum number of references; default 32 for execution jobs and 8 for heartbeats.
    pub max_refs: Option<u32>,
}

/// Selects the context references for a job. `rank` rates the relevance of documents to the goal; [`by_words`] is a
/// ranking that needs no index.
pub fn plan(
    company: &Company,
    job: &Job,
    rank: &Rank<'_>,
) -> Result<ContextPlanForJobResponse, Error> {
    let default_max_refs = match job.kind {
        JobKind::Execution => 32,
        JobKind::Heartbeat => 8,
    };
    let max_refs = job.max_refs.unwrap_or(default_max_refs);
    let mut plan = PlanBuilder {
        company,
        job,
        candidates: Vec::new(),
        trace: Vec::new(),
        by_policy: 0,
        by_sensitivity: 0,
        by_secret: 0,
    };
    plan.governance();
    plan.seeds();
    let kinds = [
        DocumentKind::MemoryDelta,
        DocumentKind::ManagerDigest,
        DocumentKind::FailureReport,
    ];
    let listed = documents::list(company, &job.project_id, &kinds)?;
    let is_delta =
        |listed: &&Listed| listed.document.head.kind() == Some(DocumentKind::MemoryDelta.as_str());
    plan.memory(listed.iter().filter(is_delta))?;
    plan.trajectory(listed.iter().filter(|listed| !is_delta(listed)));
    plan.cycles()?;
    plan.rank(rank);
    let selected = plan.select(max_refs as usize);
    let layers: BTreeSet<ContextLayer> = selected.iter().map(|(layer, _)| *layer).collect();
    let (scope_kind, scope_ref) = match &job.worker {
        Some(worker) => (MemoryScopeKind::AgentGuidance, worker.to_string()),
        None => (MemoryScopeKind::ProjectMemory, job.project_id.to_string()),
    };
    let truncated = plan.trace.len().saturating_sub(MOST_TRACE_ROWS);
    plan.trace.truncate(MOST_TRACE_ROWS);
    Ok(ContextPlanForJobResponse {
        generated_at: company.sources().now_text(),
        max_refs,
        scope_kind,
        scope_ref,
        context_refs: selected.into_iter().map(|(_, chosen)| chosen).collect(),
        layers_used: layers.into_iter().collect(),
        retrieval_trace: plan.trace,
        trace_truncated_count: (truncated > 0).then_some(truncated as u64),
        filtered_by_policy_count: plan.by_policy,
        filtered_by_sensitivity_count: plan.by_sensitivity,
        filtered_by_secret_count: plan.by_secret,
    })
}

struct PlanBuilder<'a> {
    company: &'a Company,
    job: &'a Job,
    candidates: Vec<ContextCandidate>,
    trace: Vec<ContextTraceEntry>,
    by_policy: u64,
    by_sensitivity: u64,
    by_secret: u64,
}

impl PlanBuilder<'_> {
    /// Adds the L0 governance files, which apply to every job, and the files of the worker.
    fn governance(&mut self) {
        let mut files = vec![
            "AGENTS.md".to_owned(),
            layout::COMPANY.to_owned(),
            layout::POLICY.to_owned(),
            layout::project_memory(&self.job.project_id),
        ];
        if let Some(worker) = &self.job.worker {
            let folder = layout::agent(worker);
            let names = [
                "agent.yaml",
                "AGENTS.md",
                "role.md",
                "skills_index.md",
                "context_index.md",
            ];
            files.extend(names.map(|name| format!("{folder}/{name}")));
        }
        for file in files {
            let Ok(content) = self.company.read_text(&file) else {
                continue;
            };
            let score = if file == "AGENTS.md" { 1000.0 } else { 900.0 };
            let candidate = ContextCandidate {
                score,
                chosen: ContextRef {
                    kind: ContextRefKind::File,
                    value: text(&file),
                    description: Some(text("base governance/context reference")),
                },
                ..ContextCandidate::new(
                    ContextLayer::L0,
                    ContextSourceKind::File,
                    file,
                    "base_context",
                )
            };
            if secret::detect(&content).total() > 0 {
                self.reject_secret(&candidate);
            } else {
                self.candidates.push(candidate);
            }
        }
    }

    /// Adds the L0 seeds of the caller.
    fn seeds(&mut self) {
        for seed in &self.job.seeds {
            let source_id = format!("seed:{}:{}", seed.kind.as_str(), seed.value);
            self.candidates.push(ContextCandidate {
                score: 10_000.0,
                chosen: seed.clone(),
                ..ContextCandidate::new(
                    ContextLayer::L0,
                    ContextSourceKind::Seed,
                    source_id,
                    "seed_ref",
                )
            });
        }
    }

    /// Adds the L1 memory deltas that were approved.
    fn memory<'d>(&mut self, deltas: impl Iterator<Item = &'d Listed>) -> Result<(), Error> {
        let project = &self.job.project_id;
        let decisions = review::latest(self.company)?;
        for listed in deltas {
            let head = &listed.document.head;
            let mut candidate = ContextCandidate {
                score: 800.0,
                created_at: head.created_at().map(ToOwned::to_owned),
                ..ContextCandidate::new(
                    ContextLayer::L1,
                    ContextSourceKind::MemoryDelta,
                    listed.id.to_string(),
                    "approved_memory_delta",
                )
            };
            let review = decisions.get(&ReviewKey::of(project, &listed.id, memory_delta::KIND));
            let is_approved =
                review.is_some_and(|review| review.decision == ReviewDecision::Approved);
            if !is_approved {
                let decision = ContextDecision::FilteredNotApproved;
                let row = candidate.row(decision, "memory_delta_not_approved");
                self.trace.push(row);
                continue;
            }
            let path = layout::document(project, &listed.id);
            let Ok(delta) = memory::Delta::read(self.company, &path) else {
                continue;
            };
            let head = delta.head();
            candidate.score += recency(&head.created_at);
            candidate.visibility = Some(head.visibility);
            candidate.sensitivity = Some(delta.sensitivity);
            candidate.title = head.title.to_string();
            let is_for_another = delta.scope_kind == MemoryScopeKind::AgentGuidance
                && self.job.worker.as_ref().map(AgentId::as_str) != Some(&*delta.scope_ref);
            if is_for_another {
                candidate.score += OTHERS_GUIDANCE;
            }
            candidate.chosen = ContextRef {
                kind: ContextRefKind::Artifact,
                value: text(&listed.id),
                description: Some(text(format!(
                    "memory {}/{}: {}",
                    delta.scope_kind, delta.sensitivity, head.title
                ))),
            };
            let kind = Some(memory_delta::KIND);
            if !self.may_compose(&candidate, &head.produced_by, kind) {
                continue;
            }
            let scanned = format!(
                "{}\n{}\n{}",
                head.title, delta.rationale, delta.document.body
            );
            self.keep_unless_secret(candidate, &scanned);
        }
        Ok(())
    }

    /// Adds the L2 manager digests and failure reports.
    fn trajectory<'d>(&mut self, reports: impl Iterator<Item = &'d Listed>) {
        for listed in reports {
            let head = &listed.document.head;
            let kind = head.kind().unwrap_or_default();
            let title = head.title().unwrap_or_default();
            let created_at = head.created_at().map(ToOwned::to_owned);
            let candidate = ContextCandidate {
                score: 400.0 + created_at.as_deref().map_or(0.0, recency),
                created_at,
                visibility: head.visibility(),
                title: title.to_owned(),
                chosen: ContextRef {
                    kind: ContextRefKind::Artifact,
                    value: text(&listed.id),
                    description: Some(text(format!("trajectory {kind}: {title}"))),
                },
                ..ContextCandidate::new(
                    ContextLayer::L2,
                    ContextSourceKind::Artifact,
                    listed.id.to_string(),
                    &format!("trajectory_{kind}"),
                )
            };
            let produced_by = head.produced_by().unwrap_or_default();
            if self.may_compose(&candidate, produced_by, Some(kind)) {
                let scanned = format!("{title}\n{}\n{}", listed.id, listed.document.body);
                self.keep_unless_secret(candidate, &scanned);
            }
        }
    }

    /// Adds the L2 notes about runs whose context was renewed.
    fn cycles(&mut self) -> Result<(), Error> {
        for (_, run) in run::runs(self.company, Some(&self.job.project_id))? {
            let Some(cycles) = run
                .context_cycles
                .as_ref()
                .filter(|cycles| cycles.count > 0)
            else {
                continue;
            };
            let source = serde_json::to_value(cycles.source).unwrap_or_default();
            let source = source.as_str().unwrap_or_default();
            self.candidates.push(ContextCandidate {
                score: 300.0 + recency(&run.created_at),
                created_at: Some(run.created_at.to_string()),
                chosen: ContextRef {
                    kind: ContextRefKind::Note,
                    value: text(format!("run={} context_cycles={}", run.id, cycles.count)),
                    description: Some(text(format!("recent context-cycle signal ({source})"))),
                },
                ..ContextCandidate::new(
                    ContextLayer::L2,
                    ContextSourceKind::Run,
                    run.id.to_string(),
                    "recent_context_cycles",
                )
            });
        }
        Ok(())
    }

    /// Whether the manager may compose the candidate into a context. A rejection is recorded in the trace.
    fn may_compose(
        &mut self,
        candidate: &ContextCandidate,
        produced_by: &str,
        kind: Option<&str>,
    ) -> bool {
        let team = policy::team_of(self.company, produced_by);
        let resource = Resource {
            team_id: team.as_deref(),
            producing_actor_id: Some(produced_by),
            kind,
            sensitivity: candidate.sensitivity,
            ..Resource::visible(candidate.visibility)
        };
        let Decision {
            allowed,
            rule_id,
            reason,
        } = policy::decide(&self.job.manager, Action::ComposeContext, &resource);
        if allowed {
            return true;
        }
        let decision = if rule_id == "compose.sensitivity.restricted" {
            self.by_sensitivity += 1;
            ContextDecision::FilteredSensitivity
        } else {
            self.by_policy += 1;
            ContextDecision::FilteredPolicy
        };
        self.trace.push(candidate.row(decision, reason));
        false
    }

    fn keep_unless_secret(&mut self, candidate: ContextCandidate, scanned: &str) {
        if secret::detect(scanned).total() > 0 {
            self.reject_secret(&candidate);
        } else {
            self.candidates.push(candidate);
        }
    }

    fn reject_secret(&mut self, candidate: &ContextCandidate) {
        self.by_secret += 1;
        let row = candidate.row(ContextDecision::FilteredSecret, "secret_detected");
        self.trace.push(row);
    }

    /// Adds the relevance to the goal to the scores of documents. Scores are compared within a layer only.
    fn rank(&mut self, rank: &Rank<'_>) {
        let goal = [&self.job.goal]
            .into_iter()
            .chain(&self.job.particulars)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n");
        let documents: Vec<(usize, Ranked)> = self
            .candidates
            .iter()
            .enumerate()
            .filter(|(_, candidate)| !candidate.title.is_empty())
            .map(|(place, candidate)| {
                let ranked = Ranked {
                    id: candidate.source_id.clone(),
                    title: candidate.title.clone(),
                };
                (place, ranked)
            })
            .collect();
        let titles: Vec<Ranked> = documents.iter().map(|(_, ranked)| ranked.clone()).collect();
        for ((place, _), relevance) in documents.iter().zip(rank(&goal, &titles)) {
            let relevance = relevance.clamp(0.0, 1.0) * MOST_RELEVANCE;
            if let Some(candidate) = self.candidates.get_mut(*place).filter(|_| relevance > 0.0) {
                candidate.score += relevance;
                candidate.relevance = Some(relevance);
            }
        }
    }

    /// Selects the best candidates of each layer in order, up to `max_refs`. A quarter of `max_refs` is reserved for L1
    /// and L2 candidates, if there are any.
    fn select(&mut self, max_refs: usize) -> Vec<(ContextLayer, ContextRef)> {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.sort_by(|left, right| {
            left.layer
                .cmp(&right.layer)
                .then_with(|| right.score.total_cmp(&left.score))
                .then_with(|| right.created_at.cmp(&left.created_at))
                .then_with(|| collation::compare(&left.source_id, &right.source_id))
        });
        let others = candidates
            .iter()
            .filter(|candidate| candidate.layer != ContextLayer::L0)
            .count();
        let room_for_files = max_refs - max_refs.div_ceil(4).min(others);
        let mut seen = BTreeSet::new();
        let mut selected = Vec::new();
        for candidate in candidates {
            let ContextRef {
                kind,
                value,
                description,
            } = &candidate.chosen;
            let key = (kind.as_str(), value.clone());
            if !seen.insert(key) {
                continue;
            }
            let scanned = format!(
                "{} {value} {}",
                kind.as_str(),
                description.as_deref().unwrap_or_default()
            );
            if secret::detect(&scanned).total() > 0 {
                self.reject_secret(&candidate);
                continue;
            }
            let room = match candidate.source_kind {
                // Seeds of the caller may use the reserved quarter; governance files may not.
                ContextSourceKind::File => room_for_files,
                ContextSourceKind::Seed
                | ContextSourceKind::Artifact
                | ContextSourceKind::Run
                | ContextSourceKind::Note
                | ContextSourceKind::MemoryDelta => max_refs,
            };
            if selected.len() >= room {
                let row = candidate.row(ContextDecision::FilteredLimit, "max_refs_reached");
                self.trace.push(row);
                continue;
            }
            let reason = candidate.reason.clone();
            self.trace
                .push(candidate.row(ContextDecision::Included, &reason));
            selected.push((candidate.layer, candidate.chosen));
        }
        selected
    }
}

/// A small score that grows with the creation time.
fn recency(created_at: &str) -> f64 {
    crate::unix_ms(created_at).map_or(0.0, |ms| ms as f64 / 1e12)
}

impl ContextCandidate {
    fn row(&self, decision: ContextDecision, reason: &str) -> ContextTraceEntry {
        let is_rejected_seed = self.source_kind == ContextSourceKind::Seed
            && decision == ContextDecision::FilteredSecret;
        ContextTraceEntry {
            layer: self.layer,
            source_kind: self.source_kind,
            source_id: if is_rejected_seed {
                self.hashed_source_id()
            } else {
                self.source_id.clone()
            },
            score: self.score,
            created_at: self.created_at.clone(),
            decision,
            reason: reason.to_owned(),
            visibility: self.visibility,
            sensitivity: self.sensitivity,
            relevance: self.relevance,
        }
    }
}
