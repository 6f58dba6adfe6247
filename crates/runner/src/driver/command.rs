//! Any command: the caller gives the command line, and what it prints is only read for counts of tokens.

/// Why a command cannot be started as it was given.
pub(crate) fn refusal(argv: &[String]) -> Option<&'static str> {
    match argv.first().map(String::as_str) {
        None => Some("argv must be non-empty"),
        Some(program) if program.contains('\0') => Some("argv must not contain NUL"),
        Some(_) if argv.iter().any(|argument| argument.contains('\0')) => {
            Some("argv must not contain NUL")
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_needs_a_program() {
        assert_eq!(refusal(&[]), Some("argv must be non-empty"));
        assert_eq!(refusal(&["/bin/true".to_owned()]), None);
        assert!(refusal(&["a\0b".to_owned()]).is_some());
    }
}
