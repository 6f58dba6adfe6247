//! Relevance of documents to a goal.

use std::collections::BTreeSet;

/// A document to be ranked.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Id of the document, for rankings that look it up in an index.
    pub id: String,
    /// Title of the document.
    pub title: String,
}

/// A function that returns the relevance of each document to the goal, from 0 to 1. The index provides a better ranking
/// than [`by_words`].
pub type Rank<'a> = dyn Fn(&str, &[Ranked]) -> Vec<f64> + 'a;

/// Ranks documents by the share of the words of their title that also occur in the goal.
pub fn by_words(goal: &str, documents: &[Ranked]) -> Vec<f64> {
    let goal = goal_words(goal);
    let fit = |document: &Ranked| {
        let title = goal_words(&document.title);
        match title.len() {
            0 => 0.0,
            all => title.intersection(&goal).count() as f64 / all as f64,
        }
    };
    documents.iter().map(fit).collect()
}

/// The words of a text in lower case, without common words and single characters.
pub fn goal_words(text: &str) -> BTreeSet<String> {
    const COMMON: [&str; 16] = [
        "a", "an", "and", "are", "as", "at", "be", "by", "for", "in", "it", "of", "on", "the",
        "to", "with",
    ];
    text.split(|character: char| !character.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|word| word.chars().count() > 1 && !COMMON.contains(&word.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_fits_by_the_words_it_shares_with_the_goal() {
        let document = |title: &str| Ranked {
            id: String::new(),
            title: title.to_owned(),
        };
        let titles = ["Port of the API", "Broken build", "", "api port"];
        let titles: Vec<Ranked> = titles.map(document).into();
        assert_eq!(
            by_words("Move the API to another port", &titles),
            [1.0, 0.0, 0.0, 1.0]
        );
    }
}
