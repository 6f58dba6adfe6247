//! Resolves company folders and other paths given on the command line.

use std::{
    io,
    path::{Path, PathBuf, absolute},
};

use clap::{
    Args,
    builder::{PathBufValueParser, TypedValueParser},
};
use protocol::company::Text;

use crate::failure::Failure;

/// The `--company` option: the given folder, or the one that contains the current folder.
#[derive(Args, Clone, Debug)]
pub(crate) struct CompanyOption {
    /// Company folder [default: the one that contains the current folder]
    #[arg(long = "company", short = 'C', value_name = "DIR", value_parser = argument())]
    directory: Option<PathBuf>,
}

impl CompanyOption {
    #[cfg(test)]
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self {
            directory: Some(directory),
        }
    }

    pub(crate) fn find(&self) -> Result<Text, Failure> {
        let found = match &self.directory {
            Some(named) => company(named)?,
            None => around_here()?,
        };
        wire(&found)
    }
}

/// Returns the absolute path of the given company folder, or an error if it is not one.
pub(crate) fn company(named: &Path) -> Result<PathBuf, Failure> {
    let folder = whole(named)?;
    let refused = |why: &str| Failure::Argument {
        detail: format!("`{}` {why}", folder.display()),
    };
    let mark = folder.join("company/company.yaml");
    match (folder.metadata(), mark.metadata()) {
        (_, Ok(_)) => Ok(folder),
        (Err(error), _) if error.kind() == io::ErrorKind::NotFound => Err(refused(
            "does not exist: name a company folder, or create one with `ac workspace:init DIR`",
        )),
        (Err(source), _) | (Ok(_), Err(source))
            if source.kind() == io::ErrorKind::PermissionDenied =>
        {
            Err(Failure::File {
                path: folder,
                source,
            })
        }
        _ => Err(refused(
            "is not a company folder: name one, or turn it into one with `ac workspace:init --force DIR`",
        )),
    }
}

/// Returns whether a folder contains a company.
pub(crate) fn is_company(folder: &Path) -> bool {
    folder.join("company/company.yaml").is_file()
}

/// Quotes a path for a shell where necessary.
pub(crate) fn quoted(path: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@%,=".contains(letter);
    if !path.is_empty() && path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

/// Converts a path into the text that the gateway expects.
pub(crate) fn wire(path: &Path) -> Result<Text, Failure> {
    let text = path.to_str().and_then(Text::new);
    text.ok_or_else(|| Failure::Argument {
        detail: format!("`{}` is not a valid UTF-8 path", path.display()),
    })
}

/// Returns the company folder that contains the current folder.
pub(crate) fn around_here() -> Result<PathBuf, Failure> {
    let here = whole(Path::new("."))?;
    let mut above = here.ancestors();
    let found = above.find(|folder| folder.join("company/company.yaml").is_file());
    found
        .map(Path::to_owned)
        .ok_or_else(|| Failure::NoCompany { here: here.clone() })
}

/// Parses a path argument. Every path argument uses this parser, because shells do not expand `--home=~/x`.
pub(crate) fn argument() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| expanded(&path).map_err(|failure| failure.to_string()))
}

/// Replaces a leading `~` with the home folder of the user. Relative paths stay relative to the current folder of this
/// process.
pub(crate) fn expanded(path: &Path) -> Result<PathBuf, Failure> {
    expand(path, std::env::home_dir())
}

/// Expands a path and makes it absolute, because the gateway may have another current folder.
pub(crate) fn whole(path: &Path) -> Result<PathBuf, Failure> {
    let joined = absolute(expanded(path)?).map_err(|source| Failure::File {
        path: path.to_owned(),
        source,
    })?;
    // Collecting the components removes the `.` of the path `.`.
    Ok(joined.components().collect())
}

/// Replaces a leading `~`. Home folders of other users (`~name`) are not looked up.
fn expand(path: &Path, home: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let mut parts = path.components();
    let first = parts.next().map(|part| part.as_os_str());
    let first = first.and_then(|part| part.to_str()).unwrap_or_default();
    if !first.starts_with('~') {
        return Ok(path.to_owned());
    }
    match home.filter(|_| first == "~") {
        Some(home) => Ok(home.join(parts.as_path())),
        None => Err(Failure::Argument {
            detail: format!(
                "`{}` begins with `{first}`, which cannot be resolved: expected a path such as `/home/you/acme`, or `./{first}` for a folder of that name",
                path.display()
            ),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        for (path, expected) in [
            ("/srv/acme", "/srv/acme"),
            ("/srv/two words", "'/srv/two words'"),
            ("/srv/it's", r"'/srv/it'\''s'"),
        ] {
            assert_eq!(quoted(path), expected);
        }
    }

    #[test]
    fn a_tilde_is_the_home_folder_and_never_a_name() {
        let expand = |path: &str| expand(Path::new(path), Some(PathBuf::from("/home/ada")));
        for (given, expected) in [
            ("~", "/home/ada"),
            ("~/acme", "/home/ada/acme"),
            ("./~/acme", "./~/acme"),
            ("acme/~", "acme/~"),
            ("/srv/acme", "/srv/acme"),
        ] {
            assert_eq!(expand(given).unwrap(), Path::new(expected), "{given}");
        }
        assert!(expand("~bob/acme").is_err());
    }
}
