//! Driver for arbitrary commands: the caller supplies the command line, and the output is only searched for token
//! counts.

/// Validates a command line; returns the reason if it cannot be started.
pub fn refusal(argv: &[String]) -> Option<&'static str> {
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
