//! What somebody may have meant by a name that is none.

/// The known name that differs least, if it differs little.
pub(super) fn nearest(name: &str, known: &[String]) -> Option<String> {
    let distance = |candidate: &String| (changes(name, candidate), candidate.clone());
    let (changes, nearest) = known.iter().map(distance).min()?;
    (changes <= name.chars().count().div_ceil(3)).then_some(nearest)
}

/// How many characters must be put in, taken out or replaced to make one of the other.
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
    fn a_slip_of_the_finger_is_recognised() {
        let known = ["run:list", "run:replay", "serve"].map(str::to_owned);
        assert_eq!(nearest("sevre", &known).as_deref(), Some("serve"));
        assert_eq!(nearest("run:lst", &known).as_deref(), Some("run:list"));
        assert_eq!(nearest("xylophone", &known), None);
        assert_eq!(nearest("", &known), None);
    }
}
