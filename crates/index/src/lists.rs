//! `index.list_*` and `index.stats`: rows of the index without further processing.

use company::{Company, policy, policy::Actor};
use protocol::company::index::{
    IndexListEventParseErrorsParams, IndexListEventsParams, IndexListHelpRequestsParams,
    IndexListReviewsParams, IndexListRunsParams, IndexOrder, IndexStatsResponse, IndexedEvent,
    IndexedHelpRequest, IndexedParseError, IndexedReview, IndexedRun,
};
use rusqlite::{Connection, Row, params};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    Error, Indexes,
    search::may_see,
    snapshot::{DEFAULT_LIMIT, People, inbox},
};

/// Default limit of events.
const DEFAULT_EVENT_LIMIT: u32 = 500;

impl Indexes {
    /// Counts the rows of each table.
    pub fn stats(&self, company: &Company) -> Result<IndexStatsResponse, Error> {
        self.read(company, |db| {
            let count = |table: &str| {
                db.prepare_cached(&format!("SELECT count(*) FROM {table}"))?
                    .query_row([], |row| row.get::<_, u64>(0))
            };
            Ok(IndexStatsResponse {
                runs: count("runs")?,
                events: count("events")?,
                event_parse_errors: count("event_parse_errors")?,
                artifacts: count("artifacts")?,
                reviews: count("reviews")?,
                help_requests: count("help_requests")?,
                conversations: count("conversations")?,
                messages: count("messages")?,
                tasks: count("tasks")?,
                task_milestones: count("task_milestones")?,
                agent_counters: count("agent_counters")?,
            })
        })
    }

    /// Lists runs, newest first.
    pub fn list_runs(
        &self,
        company: &Company,
        wanted: &IndexListRunsParams,
        actor: Option<&Actor>,
    ) -> Result<Vec<IndexedRun>, Error> {
        let limit = wanted.limit.unwrap_or(DEFAULT_LIMIT);
        let mut rows = self.read(company, |db| {
            runs(
                db,
                wanted.project_id.as_deref(),
                wanted.status.map(|status| status.as_str()),
                // Rows that the caller may not read are removed below, so the limit is applied after that.
                actor.map_or(limit, |_| u32::MAX),
            )
        })?;
        let mut sees = policy::run_viewer(company, actor);
        rows.retain(|run| sees(Some(&run.agent_id)));
        rows.truncate(limit as usize);
        Ok(rows)
    }

    /// Lists events by time.
    pub fn list_events(
        &self,
        company: &Company,
        wanted: &IndexListEventsParams,
        actor: Option<&Actor>,
    ) -> Result<Vec<IndexedEvent>, Error> {
        let people = match actor {
            Some(_) => Some(People::of(company)?),
            None => None,
        };
        self.read(company, |db| events(db, wanted, actor.zip(people.as_ref())))
    }

    /// Lists lines that are not JSON. Such a line carries no visibility, so only humans get its text.
    pub fn list_event_parse_errors(
        &self,
        company: &Company,
        wanted: &IndexListEventParseErrorsParams,
        actor: Option<&Actor>,
    ) -> Result<Vec<IndexedParseError>, Error> {
        self.read(company, |db| {
            let mut statement = db.prepare_cached(
                "SELECT project_id, run_id, seq, error, raw_line FROM event_parse_errors
                 WHERE (?1 IS NULL OR project_id = ?1) AND (?2 IS NULL OR run_id = ?2)
                 ORDER BY run_id DESC, seq DESC LIMIT ?3",
            )?;
            let limit = wanted.limit.unwrap_or(DEFAULT_LIMIT);
            let rows = statement.query_map(
                params![
                    wanted.project_id.as_deref(),
                    wanted.run_id.as_deref(),
                    limit
                ],
                |row| {
                    let is_shown = actor.is_none_or(|actor| may_see(actor, None, None, None));
                    Ok(IndexedParseError {
                        project_id: row.get(0)?,
                        run_id: row.get(1)?,
                        seq: row.get(2)?,
                        error: row.get(3)?,
                        raw_line: if is_shown { row.get(4)? } else { String::new() },
                    })
                },
            )?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Lists reviews, newest first. A caller that may not read a document does not see decisions about it either.
    pub fn list_reviews(
        &self,
        company: &Company,
        wanted: &IndexListReviewsParams,
        actor: Option<&Actor>,
    ) -> Result<Vec<IndexedReview>, Error> {
        let people = People::of(company)?;
        let of_inbox = inbox::InboxQuery {
            project: wanted.project_id.as_deref(),
            pending: 0,
            decisions: wanted.limit.unwrap_or(DEFAULT_LIMIT),
            actor: actor.map(|actor| (actor, &people)),
        };
        self.read(company, |db| {
            let decisions = inbox::decisions(company, db, &of_inbox, wanted.decision)?;
            let rows = decisions.into_iter().map(|decision| IndexedReview {
                review_id: decision.review_id,
                created_at: decision.created_at,
                decision: decision.decision,
                actor_id: decision.actor_id,
                actor_role: decision.actor_role,
                subject_kind: decision.subject_kind,
                subject_artifact_id: decision.subject_artifact_id,
                project_id: decision.project_id,
                notes: decision.notes,
            });
            Ok(rows.collect())
        })
    }

    /// Lists help requests, newest first.
    pub fn list_help_requests(
        &self,
        company: &Company,
        wanted: &IndexListHelpRequestsParams,
        actor: Option<&Actor>,
    ) -> Result<Vec<IndexedHelpRequest>, Error> {
        let people = People::of(company)?;
        let actor = actor.map(|actor| (actor, &people));
        let limit = wanted.limit.unwrap_or(DEFAULT_LIMIT) as usize;
        self.read(company, |db| {
            let mut statement = db.prepare_cached(
                "SELECT help_request_id, created_at, title, visibility, requester, target_manager, project_id,
                     share_pack_id
                 FROM help_requests WHERE (?1 IS NULL OR target_manager = ?1) AND (?2 IS NULL OR project_id = ?2)
                 ORDER BY created_at DESC, help_request_id DESC",
            )?;
            let (manager, project) = (wanted.target_manager.as_deref(), wanted.project_id.as_deref());
            let mut rows = statement.query(params![manager, project])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()?
                && found.len() < limit
            {
                let request = IndexedHelpRequest {
                    help_request_id: row.get(0)?,
                    created_at: row.get(1)?,
                    title: row.get(2)?,
                    visibility: word(row, 3)?,
                    requester: row.get(4)?,
                    target_manager: row.get(5)?,
                    project_id: row.get(6)?,
                    share_pack_id: row.get(7)?,
                };
                if inbox::may_see_request(
                    actor,
                    request.visibility,
                    &request.requester,
                    &request.target_manager,
                ) {
                    found.push(request);
                }
            }
            Ok(found)
        })
    }
}

/// Reads the newest runs.
pub(crate) fn runs(
    db: &Connection,
    project: Option<&str>,
    status: Option<&str>,
    limit: u32,
) -> Result<Vec<IndexedRun>, Error> {
    let of_project = if project.is_some() {
        "project_id = ?1"
    } else {
        "?1 IS NULL"
    };
    let mut statement = db.prepare_cached(&format!(
        "SELECT project_id, run_id, created_at, status, provider, agent_id, context_pack_id, usage_total_tokens,
             usage_cost_usd, usage_source, usage_confidence, context_cycles_count, context_cycles_source,
             spec_model, spec_task_id, spec_milestone_id
         FROM runs WHERE {of_project} AND (?2 IS NULL OR status = ?2)
         ORDER BY created_at DESC, run_id DESC LIMIT ?3"
    ))?;
    let rows = statement.query_map(params![project, status, limit], |row| {
        Ok(IndexedRun {
            project_id: row.get(0)?,
            run_id: row.get(1)?,
            created_at: row.get(2)?,
            status: word(row, 3)?,
            provider: row.get(4)?,
            agent_id: row.get(5)?,
            context_pack_id: row.get(6)?,
            usage_total_tokens: row.get(7)?,
            usage_cost_usd: row.get(8)?,
            usage_source: row.get(9)?,
            usage_confidence: row.get(10)?,
            context_cycles_count: row.get(11)?,
            context_cycles_source: row.get(12)?,
            spec_model: row.get(13)?,
            spec_task_id: row.get(14)?,
            spec_milestone_id: row.get(15)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn events(
    db: &Connection,
    wanted: &IndexListEventsParams,
    actor: Option<(&Actor, &People)>,
) -> Result<Vec<IndexedEvent>, Error> {
    let direction = match wanted.order.unwrap_or_default() {
        IndexOrder::Asc => "ASC",
        IndexOrder::Desc => "DESC",
    };
    // Filters that are not given are left out of the statement, so that SQLite can use its indexes for the others.
    let mut filters = String::new();
    let mut values: Vec<rusqlite::types::Value> = Vec::new();
    let mut filter = |condition: &str, value: rusqlite::types::Value| {
        values.push(value);
        filters.push_str(if values.len() == 1 {
            " WHERE "
        } else {
            " AND "
        });
        filters.push_str(condition);
    };
    for (condition, text) in [
        ("project_id = ?", &wanted.project_id),
        ("run_id = ?", &wanted.run_id),
        ("type = ?", &wanted.r#type),
    ] {
        if let Some(text) = text {
            filter(condition, text.to_string().into());
        }
    }
    if let Some(seq) = wanted.since_seq {
        filter("seq > ?", i64::try_from(seq).unwrap_or(i64::MAX).into());
    }
    let mut statement = db.prepare_cached(&format!(
        "SELECT project_id, run_id, seq, type, ts_wallclock, ts_monotonic_ms, actor, session_ref, visibility,
             payload_json, raw_json,
             (SELECT agent_id FROM runs WHERE runs.project_id = events.project_id AND runs.run_id = events.run_id)
         FROM events{filters} ORDER BY ts_wallclock {direction}, seq {direction}"
    ))?;
    let mut rows = statement.query(rusqlite::params_from_iter(values))?;
    let limit = wanted.limit.unwrap_or(DEFAULT_EVENT_LIMIT) as usize;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let event = IndexedEvent {
            project_id: row.get(0)?,
            run_id: row.get(1)?,
            seq: row.get(2)?,
            r#type: row.get(3)?,
            ts_wallclock: row.get(4)?,
            ts_monotonic_ms: number(row, 5)?,
            actor: row.get(6)?,
            session_ref: row.get(7)?,
            visibility: row.get(8)?,
            payload_json: row.get(9)?,
            raw_json: row.get(10)?,
        };
        if let Some((actor, people)) = actor {
            let agent: Option<String> = row.get(11)?;
            let team = people.team_of_event(event.actor.as_deref(), agent.as_deref());
            if !may_see(
                actor,
                event.visibility.as_deref(),
                event.actor.as_deref(),
                team,
            ) {
                continue;
            }
        }
        found.push(event);
        if found.len() >= limit {
            break;
        }
    }
    Ok(found)
}

fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<serde_json::Number>> {
    Ok(match row.get_ref(column)? {
        rusqlite::types::ValueRef::Integer(whole) => Some(whole.into()),
        rusqlite::types::ValueRef::Real(real) => serde_json::Number::from_f64(real),
        rusqlite::types::ValueRef::Null
        | rusqlite::types::ValueRef::Text(_)
        | rusqlite::types::ValueRef::Blob(_) => None,
    })
}

/// Reads an enum value. An unknown value means that another program wrote the row, and is an error.
pub(crate) fn word<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_value(Value::String(text)).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(
            column,
            rusqlite::types::Type::Text,
            Box::new(error),
        )
    })
}
