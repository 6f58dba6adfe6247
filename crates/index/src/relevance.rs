//! Ranks documents by how well they fit a goal, using the full-text index: rarer words of the goal weigh more.

use std::collections::BTreeMap;

use company::{
    Company,
    memory::context_plan::{Ranked, by_words, goal_words},
};
use rusqlite::{Connection, params};

use crate::{Error, Freshness, Indexes};

/// A goal may have any length; only its first words up to this number are searched for.
const MAX_WORDS: usize = 100;

impl Indexes {
    /// Returns for each document of a project how well it fits a goal, from 0 to 1; the best one gets 1. If the index
    /// cannot be used, documents are ranked by the words of their titles instead.
    pub fn relevance(
        &self,
        company: &Company,
        project: &str,
        goal: &str,
        documents: &[Ranked],
    ) -> Vec<f64> {
        if documents.is_empty() {
            return Vec::new();
        }
        match self.try_relevance(company, project, goal, documents) {
            Ok(relevance) => relevance,
            Err(error) => {
                tracing::warn!(folder = %company.root().display(), %error, "documents are ranked by their titles");
                by_words(goal, documents)
            }
        }
    }

    fn try_relevance(
        &self,
        company: &Company,
        project: &str,
        goal: &str,
        documents: &[Ranked],
    ) -> Result<Vec<f64>, Error> {
        self.freshen(company, Freshness::Synced)?;
        let scores = self.read(company, |db| scores(db, project, goal))?;
        let of = |document: &Ranked| scores.get(&document.id).copied().unwrap_or(0.0);
        let best = documents.iter().map(of).fold(0.0, f64::max);
        let relative = |score: f64| if best > 0.0 { score / best } else { 0.0 };
        Ok(documents
            .iter()
            .map(|document| relative(of(document)))
            .collect())
    }
}

/// The documents of a project that contain words of the goal, each with its BM25 score.
fn scores(db: &Connection, project: &str, goal: &str) -> Result<BTreeMap<String, f64>, Error> {
    // The words consist of letters and digits only, so once quoted they contain no FTS5 syntax.
    let words: Vec<String> = goal_words(goal)
        .into_iter()
        .take(MAX_WORDS)
        .map(|word| format!("\"{word}\""))
        .collect();
    if words.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut statement = db.prepare_cached(
        "SELECT texts.text_id, bm25(texts_fts, 4.0, 1.0)
         FROM texts_fts JOIN texts ON texts.id = texts_fts.rowid
         WHERE texts_fts MATCH ?1 AND texts.kind = 'artifact' AND texts.project_id = ?2",
    )?;
    let rows = statement.query_map(params![words.join(" OR "), project], |row| {
        // `bm25` returns lower values for better matches.
        Ok((row.get(0)?, -row.get::<_, f64>(1)?))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
