//! Source rules that no lint checks.

use std::{fs, path::Path};

/// Returns every Rust file of the workspace with its text.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut open = vec![root];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder of the workspace") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push((
                    path.display().to_string(),
                    fs::read_to_string(&path).expect("a source file is text"),
                ));
            }
        }
    }
    assert!(found.len() > 50, "the crates are somewhere else");
    found
}

#[test]
fn every_file_says_what_it_is() {
    for (path, text) in sources() {
        let first = text.lines().next().unwrap_or_default();
        assert!(
            first.starts_with("//! ") && first.len() > 10,
            "{path} does not begin with `//!`"
        );
    }
}

#[test]
fn modules_have_names() {
    for (path, _) in sources() {
        for vague in [
            "/mod.rs",
            "/utils.rs",
            "/util.rs",
            "/helpers.rs",
            "/common.rs",
            "/types.rs",
        ] {
            assert!(!path.ends_with(vague), "{path}");
        }
    }
}

#[test]
fn queries_are_in_crud_alone() {
    for (path, text) in sources() {
        let may = ["/crud/", "/migration/", "/entity/", "/tests/"]
            .iter()
            .any(|folder| path.contains(folder));
        assert!(
            may || !text.contains("sea_orm"),
            "{path} talks to the database"
        );
    }
}

#[test]
fn handlers_reach_files_through_the_folder_they_were_given() {
    for (path, text) in sources() {
        let is_handler = path.contains("/gateway/src/methods/");
        let has_path = ["std::fs", "File::open", "File::create", "OpenOptions"]
            .iter()
            .any(|word| text.contains(word));
        assert!(!is_handler || !has_path, "{path} opens files by their path");
    }
}

#[test]
fn nothing_is_left_for_later_without_an_issue() {
    for (path, text) in sources() {
        if path.ends_with("/tests/gateway/tidy.rs") {
            continue;
        }
        for word in ["todo!(", "unimplemented!(", "FIXME", "#[ignore", "dbg!("] {
            assert!(!text.contains(word), "{path} has `{word}`");
        }
    }
}

/// Reads a file of the repository by its path from the root.
fn page(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the Rust tests that a text names: words in backticks with at least three underscores.
fn named_tests(text: &str) -> Vec<&str> {
    let is_name = |word: &&str| {
        word.matches('_').count() >= 3
            && word
                .chars()
                .all(|c| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    text.split('`').skip(1).step_by(2).filter(is_name).collect()
}

/// Returns the browser tests that a text names, by file and title: `` `web/tests/page.test.mjs` "a title" ``.
fn named_browser_tests(text: &str) -> Vec<(&str, &str)> {
    text.split("`web/tests/")
        .skip(1)
        .map(|rest| {
            let found = rest.split_once("` \"").and_then(|(file, rest)| {
                let (title, _) = rest.split_once('"')?;
                Some((file, title))
            });
            found.unwrap_or_else(|| panic!("a browser test has no title: {rest:.80}"))
        })
        .collect()
}

#[test]
fn every_test_that_the_security_page_names_exists() {
    let text = page("docs/security.md");
    let tests: Vec<_> = sources()
        .into_iter()
        .filter(|(path, _)| path.contains("/tests/") || path.contains("/src/"))
        .collect();
    let names = named_tests(&text);
    assert!(names.len() > 50, "the page names its tests in another way");
    for name in names {
        let function = format!("fn {name}(");
        assert!(
            tests.iter().any(|(_, text)| text.contains(&function)),
            "there is no test `{name}`"
        );
    }
    for (file, title) in named_browser_tests(&text) {
        let file = format!("web/tests/{file}");
        assert!(
            page(&file).contains(&format!("test(\"{title}\"")),
            "{file} has no test \"{title}\""
        );
    }
}

#[test]
fn what_a_party_can_and_cannot_do_is_proven() {
    let text = page("docs/security.md");
    let (_, section) = text
        .split_once("\n## What each party can and cannot do\n")
        .expect("the section");
    let (section, _) = section.split_once("\n## ").expect("the next section");
    for line in section.lines().filter(|line| line.starts_with("* ")) {
        let is_proven = !named_tests(line).is_empty() || !named_browser_tests(line).is_empty();
        assert!(is_proven, "no test is named for: {line}");
    }
}
