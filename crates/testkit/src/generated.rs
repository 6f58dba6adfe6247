//! Checks of generated files that are committed.

use std::{env, fs, path::Path};

/// Asserts that a committed file, given by its path from the root of the repository, has the expected content.
///
/// With `UPDATE_GENERATED=1` in the environment the file is written instead.
pub fn assert_generated(path: &str, expected: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path);
    if env::var_os("UPDATE_GENERATED").is_some() {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).expect("the folder can be made");
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "a file of the repository, not of a user"
        )]
        fs::write(&file, expected).expect("the file can be written");
        return;
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == expected,
        "`{path}` is stale: run `UPDATE_GENERATED=1 cargo test --workspace` and commit the result"
    );
}
