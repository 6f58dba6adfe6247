//! Suggests the intended name for an unknown one.

/// Returns the most similar known name, if it is similar enough.
pub(super) fn nearest(name: &str, known: &[String]) -> Option<String> {
    let distance = |candidate: &String| (changes(name, candidate), candidate.clone());
    let (changes, nearest) = known.iter().map(distance).min()?;
    (changes <= name.chars().count().div_ceil(3)).then_some(nearest)
}

/// Returns the Levenshtein distance: the number of characters to insert, delete or replace.
fn changes(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, left) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, right) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(left != *right);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_is_recognised() {
        let known = ["run:list", "run:replay", "serve"].map(str::to_owned);
        assert_eq!(nearest("sevre", &known).as_deref(), Some("serve"));
        assert_eq!(nearest("run:lst", &known).as_deref(), Some("run:list"));
        assert_eq!(nearest("xylophone", &known), None);
        assert_eq!(nearest("", &known), None);
    }
}
