//! House rules that no lint knows.

use std::{fs, path::Path};

/// Every Rust file of the workspace with its text.
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
fn nothing_is_left_for_later_without_an_issue() {
    for (path, text) in sources() {
        if path.ends_with("/tests/tidy.rs") {
            continue;
        }
        for word in ["todo!(", "unimplemented!(", "FIXME", "#[ignore", "dbg!("] {
            assert!(!text.contains(word), "{path} has `{word}`");
        }
    }
}
