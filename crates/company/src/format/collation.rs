//! Sort order of listed names: case-insensitive first; on a tie, lower case sorts before upper case.

use std::cmp::Ordering;

/// ASCII without letters in the order of the Unicode root collation: white space, punctuation, digits. Letters follow.
const ORDER: &str = "\t\n\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789";

/// Compares two names in listing order.
pub fn compare(left: &str, right: &str) -> Ordering {
    let primary = left.chars().map(primary).cmp(right.chars().map(primary));
    // Lower case sorts before upper case, at the first position where only the case differs.
    let case = || {
        let upper = |text: &str| text.chars().map(char::is_uppercase).collect::<Vec<_>>();
        upper(left).cmp(&upper(right))
    };
    primary.then_with(case).then_with(|| left.cmp(right))
}

fn primary(character: char) -> (u8, u32) {
    if let Some(place) = ORDER.chars().position(|one| one == character) {
        return (0, u32::try_from(place).unwrap_or(0));
    }
    let folded = character.to_lowercase().next().unwrap_or(character);
    (1, u32::from(unaccented(folded)))
}

/// Removes the accent of a Latin-1 letter; returns any other character unchanged.
fn unaccented(character: char) -> char {
    match character {
        'à'..='å' => 'a',
        'ç' => 'c',
        'è'..='ë' => 'e',
        'ì'..='ï' => 'i',
        'ñ' => 'n',
        'ò'..='ö' | 'ø' => 'o',
        'ù'..='ü' => 'u',
        'ý' | 'ÿ' => 'y',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_as_people_expect() {
        let mut names = [
            "Cy",
            "ben",
            "Anna",
            "anna",
            "_x",
            "-x",
            "1",
            "AGENTS.md",
            "agent.yaml",
            "émile",
            "Emil",
        ];
        names.sort_by(|left, right| compare(left, right));
        assert_eq!(
            names,
            [
                "_x",
                "-x",
                "1",
                "agent.yaml",
                "AGENTS.md",
                "anna",
                "Anna",
                "ben",
                "Cy",
                "Emil",
                "émile"
            ]
        );
    }
}
