//! Full-text search. Documents, messages, comments and tasks are searchable as soon as they are indexed; events are
//! added in the background.

use company::{
    Company, conversation, memory,
    policy::{self, Action, Actor, Resource},
};
use protocol::company::{
    Visibility,
    index::{IndexSearchResponse, SearchHit, SearchKind},
};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{Error, snapshot::People};

/// Number of events added to the full text in one transaction.
const EVENTS_AT_ONCE: i64 = 5_000;
/// Number of characters of a snippet before the first match.
const SNIPPET_LEAD: usize = 60;
/// Length of a snippet in characters.
const SNIPPET_LENGTH: usize = 200;

/// A text to add to the full text.
pub(crate) struct IndexedText<'a> {
    pub(crate) kind: SearchKind,
    pub(crate) project_id: Option<&'a str>,
    pub(crate) id: &'a str,
    pub(crate) conversation_id: Option<&'a str>,
    pub(crate) title: Option<&'a str>,
    pub(crate) body: &'a str,
    pub(crate) author_id: Option<&'a str>,
    pub(crate) team_id: Option<&'a str>,
    pub(crate) visibility: Option<&'a str>,
    pub(crate) created_at: Option<&'a str>,
    pub(crate) relpath: &'a str,
}

/// Adds a text.
pub(crate) fn add(db: &Connection, text: &IndexedText<'_>) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO texts (kind, project_id, text_id, conversation_id, title, body, author_id, team_id, visibility,
             created_at, relpath)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?
    .execute(params![
        text.kind.as_str(),
        text.project_id,
        text.id,
        text.conversation_id,
        text.title,
        text.body,
        text.author_id,
        text.team_id,
        text.visibility,
        text.created_at,
        text.relpath,
    ])?;
    db.prepare_cached("INSERT INTO texts_fts (rowid, title, body) VALUES (?1, ?2, ?3)")?
        .execute(params![db.last_insert_rowid(), text.title, text.body])
        .map(drop)
}

/// Removes the texts of a file.
pub(crate) fn forget(db: &Connection, relpath: &str) -> rusqlite::Result<()> {
    db.prepare_cached(
        "DELETE FROM texts_fts WHERE rowid IN (SELECT id FROM texts WHERE relpath = ?1)",
    )?
    .execute([relpath])?;
    db.prepare_cached("DELETE FROM texts WHERE relpath = ?1")?
        .execute([relpath])
        .map(drop)
}

/// Removes the events of a run from the full text. Call it before their rows are deleted.
pub(crate) fn forget_events(db: &Connection, project: &str, run: &str) -> rusqlite::Result<()> {
    db.prepare_cached(
        "DELETE FROM events_fts WHERE rowid IN (
             SELECT rowid FROM events WHERE project_id = ?1 AND run_id = ?2
             AND rowid <= (SELECT indexed_events FROM counts))",
    )?
    .execute([project, run])
    .map(drop)
}

/// Lowers `indexed_events` after rows were deleted, because SQLite reuses row ids at the end of a table.
pub(crate) fn events_deleted(db: &Connection) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE counts SET indexed_events = min(indexed_events, coalesce((SELECT max(rowid) FROM events), 0))",
    )?
    .execute([])
    .map(drop)
}

/// Adds a batch of events to the full text, in a transaction of its own. Returns whether more are waiting.
pub(crate) fn add_events(db: &mut Connection) -> Result<bool, Error> {
    let waiting = |db: &Connection| -> rusqlite::Result<bool> {
        db.prepare_cached(
            "SELECT coalesce((SELECT max(rowid) FROM events), 0) > (SELECT indexed_events FROM counts)",
        )?
        .query_row([], |row| row.get(0))
    };
    if !waiting(db)? {
        return Ok(false);
    }
    let change = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    change
        .prepare_cached(
            "INSERT INTO events_fts (rowid, payload)
             SELECT rowid, type || ' ' || payload_json FROM events
             WHERE rowid > (SELECT indexed_events FROM counts) ORDER BY rowid LIMIT ?1",
        )?
        .execute([EVENTS_AT_ONCE])?;
    change
        .prepare_cached(
            "UPDATE counts SET indexed_events = coalesce((SELECT max(rowid) FROM (
                 SELECT rowid FROM events WHERE rowid > counts.indexed_events ORDER BY rowid LIMIT ?1)), indexed_events)",
        )?
        .execute([EVENTS_AT_ONCE])?;
    change.commit()?;
    Ok(waiting(db)?)
}

/// A search request.
#[derive(Clone, Debug)]
pub struct Query {
    /// Words that must all occur, as the user typed them.
    pub words: String,
    /// Kinds of texts to search.
    pub kinds: Vec<SearchKind>,
    /// Restricts the search to one project; `None` searches all.
    pub project_id: Option<String>,
    /// Maximum number of hits.
    pub limit: usize,
    /// Returns only texts that this actor may read; `None` for an unrestricted caller.
    pub actor: Option<Actor>,
}

/// The words of a query, as an FTS5 expression and as lower-case strings for the snippet.
struct Words {
    expression: String,
    needles: Vec<String>,
}

impl Words {
    /// Parses user input as a list of words, never as an expression: only quotes and a final star have a meaning.
    fn parse(query: &str) -> Option<Self> {
        let mut phrases: Vec<(String, bool)> = Vec::new();
        let query = query.replace('\0', " ");
        for (place, part) in query.split('"').enumerate() {
            let is_phrase = place % 2 == 1;
            if is_phrase {
                phrases.push((part.to_owned(), false))
            } else {
                phrases.extend(
                    part.split_whitespace()
                        .map(|word| match word.strip_suffix('*') {
                            Some(begin) => (begin.to_owned(), true),
                            None => (word.to_owned(), false),
                        }),
                )
            }
        }
        phrases.retain(|(phrase, _)| phrase.chars().any(char::is_alphanumeric));
        if phrases.is_empty() {
            return None;
        }
        let terms = phrases.iter().map(|(phrase, is_beginning)| {
            format!("\"{phrase}\"{}", if *is_beginning { "*" } else { "" })
        });
        Some(Self {
            expression: terms.collect::<Vec<_>>().join(" AND "),
            needles: phrases
                .iter()
                .map(|(phrase, _)| phrase.to_lowercase())
                .collect(),
        })
    }

    /// The part of a text around the first match.
    fn snippet(&self, text: &str) -> String {
        let lower = text.to_lowercase();
        let found = self
            .needles
            .iter()
            .filter_map(|needle| lower.find(needle))
            .min();
        // Lower-casing may change the length of the text; an approximate position is enough here.
        let place = lower[..found.unwrap_or(0)].chars().count();
        let begin = place.saturating_sub(SNIPPET_LEAD);
        let mut snippet: String = text
            .chars()
            .skip(begin)
            .take(SNIPPET_LENGTH)
            .map(|character| {
                if character.is_control() {
                    ' '
                } else {
                    character
                }
            })
            .collect();
        if begin > 0 {
            snippet.insert(0, '…');
        }
        if text.chars().nth(begin + SNIPPET_LENGTH).is_some() {
            snippet.push('…');
        }
        snippet.trim().to_owned()
    }
}

/// Searches texts, best match first, then events, newest first.
pub(crate) fn search(
    db: &Connection,
    company: &Company,
    query: &Query,
    people: &People,
) -> Result<IndexSearchResponse, Error> {
    let words = Words::parse(&query.words).ok_or(Error::NoWords)?;
    let mut items = Vec::new();
    // One hit more than requested shows whether there are more.
    let enough = query.limit + 1;
    if query.kinds.iter().any(|kind| *kind != SearchKind::Event) {
        let is_too_secret = |hit: &SearchHit| {
            let (Some(actor), Some(project)) = (&query.actor, &hit.project_id) else {
                return false;
            };
            hit.kind == SearchKind::Artifact
                && memory::is_too_secret(company, actor, project, &hit.id)
        };
        texts(
            db,
            &words,
            query,
            people,
            &is_too_secret,
            enough,
            &mut items,
        )?;
    }
    if query.kinds.contains(&SearchKind::Event) && items.len() < enough {
        events(db, &words, query, people, enough, &mut items)?;
    }
    let has_more = items.len() > query.limit;
    items.truncate(query.limit);
    Ok(IndexSearchResponse {
        workspace_dir: company.given().to_owned(),
        items,
        has_more,
    })
}

fn texts(
    db: &Connection,
    words: &Words,
    query: &Query,
    people: &People,
    is_too_secret: &dyn Fn(&SearchHit) -> bool,
    enough: usize,
    items: &mut Vec<SearchHit>,
) -> Result<(), Error> {
    let mut statement = db.prepare_cached(
        "SELECT texts.kind, texts.project_id, texts.text_id, texts.conversation_id, texts.title, texts.body,
                texts.author_id, texts.team_id, texts.visibility, texts.created_at
         FROM texts_fts JOIN texts ON texts.id = texts_fts.rowid
         WHERE texts_fts MATCH ?1 AND (?2 IS NULL OR texts.project_id = ?2)
         ORDER BY bm25(texts_fts, 4.0, 1.0), texts.id DESC",
    )?;
    let mut rows = statement.query(params![words.expression, query.project_id])?;
    while let Some(row) = rows.next()? {
        let word: String = row.get(0)?;
        let kind = SearchKind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == word);
        let Some(kind) = kind.filter(|kind| query.kinds.contains(kind)) else {
            continue;
        };
        let hit = SearchHit {
            kind,
            project_id: row.get(1)?,
            id: row.get(2)?,
            conversation_id: row.get(3)?,
            run_id: None,
            seq: None,
            title: row.get(4)?,
            snippet: words.snippet(row.get_ref(5)?.as_str().map_err(rusqlite::Error::from)?),
            author_id: row.get(6)?,
            created_at: row.get(9)?,
            visibility: row.get(8)?,
        };
        if let Some(actor) = &query.actor {
            let own_team: Option<String> = row.get(7)?;
            let team = own_team.as_deref().or_else(|| {
                hit.author_id
                    .as_deref()
                    .and_then(|author| people.team_of(author))
            });
            let sees = may_see(
                actor,
                hit.visibility.as_deref(),
                hit.author_id.as_deref(),
                team,
            );
            let is_shown = match &hit.conversation_id {
                Some(conversation) => match open_conversation(db, actor, conversation)? {
                    // Messages with the visibility of the conversation are open to all its members; others are decided
                    // by policy.
                    Some(visibility) => sees || hit.visibility.as_deref() == Some(&*visibility),
                    None => false,
                },
                None => sees,
            };
            if !is_shown {
                continue;
            }
        }
        if is_too_secret(&hit) {
            continue;
        }
        items.push(hit);
        if items.len() >= enough {
            break;
        }
    }
    Ok(())
}

fn events(
    db: &Connection,
    words: &Words,
    query: &Query,
    people: &People,
    enough: usize,
    items: &mut Vec<SearchHit>,
) -> Result<(), Error> {
    let mut statement = db.prepare_cached(
        "SELECT events.project_id, events.run_id, events.seq, events.type, events.payload_json, events.actor,
                events.visibility, events.ts_wallclock,
                (SELECT agent_id FROM runs WHERE runs.project_id = events.project_id AND runs.run_id = events.run_id)
         FROM events_fts JOIN events ON events.rowid = events_fts.rowid
         WHERE events_fts MATCH ?1 AND (?2 IS NULL OR events.project_id = ?2)
         ORDER BY events_fts.rowid DESC",
    )?;
    let mut rows = statement.query(params![words.expression, query.project_id])?;
    while let Some(row) = rows.next()? {
        let (run_id, seq): (String, u64) = (row.get(1)?, row.get(2)?);
        let hit = SearchHit {
            kind: SearchKind::Event,
            id: format!("{run_id}#{seq}"),
            project_id: row.get(0)?,
            run_id: Some(run_id),
            seq: Some(seq),
            conversation_id: None,
            title: row.get(3)?,
            snippet: words.snippet(row.get_ref(4)?.as_str().map_err(rusqlite::Error::from)?),
            author_id: row.get(5)?,
            visibility: row.get(6)?,
            created_at: row.get(7)?,
        };
        if let Some(actor) = &query.actor {
            let agent: Option<String> = row.get(8)?;
            let team = people.team_of_event(hit.author_id.as_deref(), agent.as_deref());
            if !may_see(
                actor,
                hit.visibility.as_deref(),
                hit.author_id.as_deref(),
                team,
            ) {
                continue;
            }
        }
        items.push(hit);
        if items.len() >= enough {
            break;
        }
    }
    Ok(())
}

/// Whether an actor may read a text. A missing or unknown visibility counts as `private_agent`.
pub(crate) fn may_see(
    actor: &Actor,
    visibility: Option<&str>,
    author: Option<&str>,
    team: Option<&str>,
) -> bool {
    let visibility = visibility.and_then(|word| {
        let mut known = VISIBILITIES.into_iter();
        known.find(|known| known.as_str() == word)
    });
    let resource = Resource {
        team_id: team,
        producing_actor_id: author,
        ..Resource::visible(visibility.unwrap_or(Visibility::PrivateAgent))
    };
    // Authors may always read their own texts.
    author == Some(actor.id.as_str()) || policy::decide(actor, Action::Read, &resource).allowed
}

/// The visibility of a conversation, if the actor may read it; otherwise `None`.
fn open_conversation(db: &Connection, actor: &Actor, id: &str) -> Result<Option<String>, Error> {
    let word: Option<String> = db
        .prepare_cached("SELECT visibility FROM conversations WHERE conversation_id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    let takes_part: bool = db
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM conversation_participants WHERE conversation_id = ?1
             AND (participant_kind = 'agent' AND participant_id = ?2
                  OR participant_kind = 'team' AND participant_id = ?3))",
        )?
        .query_row(params![id, actor.id, actor.team_id], |row| row.get(0))?;
    Ok(word.filter(|word| {
        let known = VISIBILITIES
            .into_iter()
            .find(|known| known.as_str() == word);
        known.is_some_and(|known| conversation::is_open_to(actor, known, takes_part))
    }))
}

/// All visibilities, to parse the values of rows.
const VISIBILITIES: [Visibility; 4] = [
    Visibility::PrivateAgent,
    Visibility::Team,
    Visibility::Managers,
    Visibility::Org,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_typed_is_a_list_of_words() {
        for (query, expression) in [
            ("one two", Some(r#""one" AND "two""#)),
            (
                r#"say "two words" beg*"#,
                Some(r#""say" AND "two words" AND "beg"*"#),
            ),
            (
                "a OR b) NEAR(",
                Some(r#""a" AND "OR" AND "b)" AND "NEAR(""#),
            ),
            (r#"open "quote"#, Some(r#""open" AND "quote""#)),
            ("- * \"\"", None),
        ] {
            let words = Words::parse(query).map(|words| words.expression);
            assert_eq!(words.as_deref(), expression, "{query}");
        }
    }

    #[test]
    fn a_snippet_shows_the_word_and_what_is_around_it() {
        let words = Words::parse("Needle").unwrap();
        let text = format!("{} needle {}", "hay ".repeat(100), "straw ".repeat(100));
        let snippet = words.snippet(&text);
        assert!(
            snippet.starts_with('…') && snippet.ends_with('…'),
            "{snippet}"
        );
        assert!(snippet.contains("needle straw"), "{snippet}");
        assert_eq!(words.snippet("a\nneedle"), "a needle");
    }
}
