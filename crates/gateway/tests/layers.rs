//! Checks the dependencies of the crates against the map in docs/architecture.md.

use std::{collections::BTreeMap, process::Command};

/// The allowed dependencies of each crate. A new edge is a decision: change it here and state the reason in the commit.
const MAY_USE: &[(&str, &[&str])] = &[
    ("protocol", &[]),
    ("rpc", &["protocol"]),
    // Has the interface of a published crate and is used by SeaORM.
    ("sea-query-rusqlite", &[]),
    ("migration", &[]),
    ("entity", &[]),
    ("crud", &["entity", "migration"]),
    ("blobs", &[]),
    ("hooks", &[]),
    // The manifest is a wire type that the compiler produces.
    ("prompt", &["crud", "hooks", "protocol"]),
    // Items and events are stored in their wire format.
    ("agent", &["crud", "entity", "hooks", "prompt", "protocol"]),
    // Documents and params share ids, enums and validation issues.
    ("company", &["protocol"]),
    // Snapshots are read from the index in their wire format.
    ("index", &["company", "protocol"]),
    // Values only: no process, no file.
    ("drivers", &["company", "protocol"]),
    ("sessions", &["company", "drivers", "protocol"]),
    ("jobs", &["company", "drivers", "protocol", "sessions"]),
    (
        "gateway",
        &[
            "agent", "blobs", "company", "crud", "drivers", "entity", "hooks", "index", "jobs",
            "prompt", "protocol", "rpc", "sessions",
        ],
    ),
    ("cli", &["blobs", "crud", "gateway", "protocol", "rpc"]),
    ("testkit", &["crud", "gateway", "rpc"]),
];

#[test]
fn crates_only_use_the_layers_below_them() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version=1"])
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let allowed: BTreeMap<_, _> = MAY_USE.iter().copied().collect();
    let mut seen = 0;
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let may_use = allowed
            .get(name)
            .unwrap_or_else(|| panic!("`{name}` is not on the crate map"));
        seen += 1;
        for dependency in package["dependencies"].as_array().unwrap() {
            let used = dependency["name"].as_str().unwrap();
            let is_for_tests = dependency["kind"] == "dev";
            assert!(
                is_for_tests || !allowed.contains_key(used) || may_use.contains(&used),
                "`{name}` may not use `{used}`"
            );
        }
    }
    assert_eq!(seen, MAY_USE.len(), "the map names a crate that is gone");
}
