//! Checks the dependencies of the crates against the map in docs/architecture.md, and the modules of each crate for cycles.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The allowed dependencies of each crate. A new edge is a decision: change it here and state the reason in the commit.
const MAY_USE: &[(&str, &[&str])] = &[
    ("protocol", &[]),
    ("rpc", &["protocol"]),
    // Ids are typed.
    ("sources", &["protocol"]),
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
    // Company folders are part of a backup.
    ("backup", &["company", "crud", "sources"]),
    // Blocking work and background tasks are awaited; requests and notifications are the gateway's.
    ("artifacts", &["blobs", "crud", "entity", "sources"]),
    (
        "gateway",
        &[
            "agent",
            "artifacts",
            "blobs",
            "company",
            "crud",
            "drivers",
            "entity",
            "hooks",
            "index",
            "jobs",
            "prompt",
            "protocol",
            "rpc",
            "sessions",
            "sources",
        ],
    ),
    (
        "cli",
        &["backup", "blobs", "crud", "gateway", "protocol", "rpc"],
    ),
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

/// The groups of modules that use each other in a cycle, by crate. The list may only shrink: when a cycle is broken or
/// becomes smaller, change its entry.
const KNOWN_CYCLES: &[(&str, &[&str])] = &[
    ("blobs", &["error", "key"]),
    ("blobs", &["local", "store", "upload"]),
    (
        "cli",
        &[
            "command",
            "failure",
            "folder",
            "local",
            "log",
            "names",
            "terminal",
            "worker_session",
        ],
    ),
    (
        "crud",
        &[
            "access_token",
            "artifact",
            "company",
            "desktop_session",
            "hook_run",
            "memo",
            "reader",
            "sqlite",
            "store",
            "thread",
            "thread_agents_doc",
            "thread_agents_doc_proposal",
            "thread_folder",
            "trash",
            "tree",
            "turn",
            "workspace",
            "writer",
        ],
    ),
    ("hooks", &["handler", "run"]),
    ("hooks", &["background", "execution", "recorder", "runtime"]),
    (
        "index",
        &[
            "documents",
            "events",
            "indexes",
            "lists",
            "rebuild",
            "search",
            "snapshot",
            "sync",
        ],
    ),
    ("protocol", &["company", "method", "thread", "turn"]),
    ("rpc", &["file_frame", "outbox"]),
];

#[test]
fn modules_of_a_crate_form_no_new_cycles() {
    let mut known: BTreeSet<(String, Vec<String>)> = KNOWN_CYCLES
        .iter()
        .map(|(name, cycle)| {
            let cycle = cycle.iter().map(ToString::to_string);
            (name.to_string(), cycle.collect())
        })
        .collect();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (name, _) in MAY_USE {
        for cycle in cycles(&module_uses(&crates.join(name).join("src"))) {
            assert!(
                known.remove(&(name.to_string(), cycle.clone())),
                "modules of `{name}` use each other: {cycle:?}; if this is what remains of a known cycle, list the \
                 smaller one"
            );
        }
    }
    assert!(
        known.is_empty(),
        "these cycles no longer exist, remove them from the list: {known:?}"
    );
}

/// The modules that each top-level module of a crate uses.
type ModuleUses = BTreeMap<String, BTreeSet<String>>;

/// Returns the groups of modules that reach each other.
fn cycles(uses: &ModuleUses) -> BTreeSet<Vec<String>> {
    let reached = |from: &String| {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            for used in uses.get(module).into_iter().flatten() {
                if reached.insert(used.clone()) {
                    open.push(used);
                }
            }
        }
        reached
    };
    let reached: BTreeMap<_, _> = uses
        .keys()
        .map(|module| (module, reached(module)))
        .collect();
    let cycle_of = |module: &String| -> Vec<String> {
        let mutual = reached[module]
            .iter()
            .filter(|other| reached.get(other).is_some_and(|back| back.contains(module)));
        mutual.cloned().collect()
    };
    let cycles = uses.keys().map(cycle_of);
    cycles.filter(|cycle| cycle.len() > 1).collect()
}

/// Reads which top-level modules of a crate use which others, from the paths in their text. Code for tests is ignored.
fn module_uses(src: &Path) -> ModuleUses {
    let root = ["lib.rs", "main.rs"]
        .iter()
        .find_map(|name| fs::read_to_string(src.join(name)).ok())
        .expect("a crate has a root");
    let (modules, exports) = root_names(&root);
    let mut uses: ModuleUses = BTreeMap::new();
    for module in &modules {
        let mut files = vec![(src.join(format!("{module}.rs")), 1)];
        files.extend(files_below(&src.join(module), 2));
        let used = uses.entry(module.clone()).or_default();
        // Tests may use every module.
        files.retain(|(path, _)| !path.ends_with("tests.rs"));
        for (path, depth) in files {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let text = without_comments(
                text.split("#[cfg(test)]\nmod tests {")
                    .next()
                    .unwrap_or_default(),
            );
            let from_root = format!("{}::", vec!["super"; depth].join("::"));
            let names = names_after(&text, "crate::")
                .into_iter()
                .chain(names_after(&text, &from_root));
            for name in names {
                let owner = modules.get(&name).or_else(|| exports.get(&name));
                used.extend(owner.filter(|owner| *owner != module).cloned());
            }
        }
    }
    uses
}

/// Returns the modules that the root of a crate declares, and the modules of the names that it re-exports.
fn root_names(root: &str) -> (BTreeSet<String>, BTreeMap<String, String>) {
    let mut modules = BTreeSet::new();
    let mut before = "";
    for line in root.lines() {
        let declared = line
            .trim_start_matches("pub ")
            .trim_start_matches("pub(crate) ");
        let declared = declared
            .strip_prefix("mod ")
            .and_then(|name| name.strip_suffix(';'));
        if let Some(name) = declared.filter(|_| before != "#[cfg(test)]") {
            modules.insert(name.to_owned());
        }
        before = line;
    }
    let mut exports = BTreeMap::new();
    let root = without_comments(root);
    for statement in root.split(';') {
        let Some((_, path)) = statement.split_once("use ") else {
            continue;
        };
        let path = path.strip_prefix("crate::").unwrap_or(path);
        if let Some((module, names)) = path.split_once("::")
            && modules.contains(module)
        {
            let names = names.split(|c: char| !is_in_name(c));
            exports.extend(names.map(|name| (name.to_owned(), module.to_owned())));
        }
    }
    (modules, exports)
}

/// Returns the files of a module below its folder, with the number of modules above them.
fn files_below(folder: &Path, depth: usize) -> Vec<(PathBuf, usize)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(files_below(&path, depth + 1));
        } else {
            files.push((path, depth));
        }
    }
    files
}

fn without_comments(text: &str) -> String {
    let code = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    code.collect::<Vec<_>>().join("\n")
}

fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the first names of the paths that begin with `prefix`; several for `prefix{a::B, c}`.
fn names_after(text: &str, prefix: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices(prefix) {
        let is_tail = text[..at].ends_with(|c: char| is_in_name(c) || c == ':');
        if is_tail {
            continue;
        }
        let rest = &text[at + prefix.len()..];
        let mut depth = 0;
        let mut is_first = true;
        let mut name = String::new();
        for c in rest.chars() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ if is_in_name(c) && is_first && depth <= 1 => name.push(c),
                ',' if depth == 1 => is_first = true,
                _ if c.is_whitespace() && name.is_empty() => {}
                _ => is_first = false,
            }
            let is_over = depth == 0 && !is_in_name(c);
            if !is_in_name(c) && !name.is_empty() {
                names.push(std::mem::take(&mut name));
                is_first = c == ',' && depth == 1;
            }
            if is_over {
                break;
            }
        }
    }
    names
}

#[test]
fn the_scan_finds_the_modules_that_a_text_names() {
    let text = "use crate::{A, b::{self, C}, d};\nfn f() { crate::e::g(); othercrate::h(); x::crate::i() }";
    assert_eq!(names_after(text, "crate::"), ["A", "b", "d", "e"]);
    let root = "mod a;\npub mod b;\n#[cfg(test)]\nmod testing;\npub use b::{C, D};\nuse std::e;";
    let (modules, exports) = root_names(root);
    assert_eq!(modules, ["a", "b"].map(str::to_owned).into());
    assert_eq!(exports["C"], "b");
    let uses = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")];
    let uses = uses.map(|(from, to)| (from.to_owned(), BTreeSet::from([to.to_owned()])));
    let cycle = ["a", "b", "c"].map(str::to_owned).to_vec();
    assert_eq!(cycles(&BTreeMap::from(uses)), BTreeSet::from([cycle]));
}
