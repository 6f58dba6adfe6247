//! Read methods have no effects: a caller with read access changes no file of the company folder and starts no program.
//! The audit records that the contract requires do not count as effects.
//!
//! A test program of its own: it looks at the child processes of this process, and other tests start some.

#[path = "gateway/company/everything.rs"]
mod everything;
#[path = "../../company/tests/company/filled/folder.rs"]
mod filled;

use std::{collections::BTreeSet, fs, path::Path};

use everything::{Ids, changed, fill, kept, params};
use filled::{new_folder, put};
use protocol::{Access, Dialect, methods};
use rpc::client::Error;
use serde_json::json;
use testkit::put_program;

/// Returns the child processes of this process, in which the gateway runs.
fn children() -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    for task in fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten()
    {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        found.extend(
            children
                .split_whitespace()
                .filter_map(|pid| pid.parse::<u32>().ok()),
        );
    }
    found
}

/// Configures worker programs in the folder that create a file when they are started.
fn name_programs(root: &Path, outside: &Path) {
    let mut bins = String::new();
    for provider in ["codex", "claude", "gemini"] {
        let program = outside.join(provider);
        let mark = outside.join("started");
        put_program(&program, &format!("#!/bin/sh\ntouch {}\n", mark.display()));
        bins.push_str(&format!("  {provider}: {}\n", program.display()));
    }
    let machine =
        format!("schema_version: 1\ntype: machine\nrepo_roots: {{}}\nprovider_bins:\n{bins}");
    put(&root.join(".local/machine.yaml"), machine);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_method_that_reads_changes_the_folder_or_starts_a_program() {
    let running = testkit::gateway().await;
    let owner = running.client();
    let (_folder, _, company) = new_folder();
    let root = company.root();
    let ids = fill(&owner, root).await;
    let outside = tempfile::tempdir().expect("a folder");
    name_programs(root, outside.path());
    // An unfinished intent of the owner must not be completed by a caller with read access.
    put(&root.join(".local/intents/intent_left.json"), "{}");
    let synced = owner
        .call_raw("index.sync", json!({"workspace_dir": root}))
        .await;
    synced.expect("an index");
    let temporary = root.join("work/.plan.md.tmp-999999999-1");
    put(&temporary, "half");
    let reading: Vec<_> = methods()
        .filter(|(family, method)| {
            family.dialect == Dialect::Company && method.access == Access::Read
        })
        .map(|(_, method)| method.name)
        .collect();
    assert!(reading.len() > 40, "{reading:?}");
    let mut answered = 0;
    for role in ["worker", "human"] {
        let reader = running.client_with_role(role, &["read"], &[]).await;
        for method in &reading {
            let (before, running_before) = (kept(root), children());
            let mut wanted = params(method, root, outside.path(), &ids);
            for claim in ["actor_role", "author_role", "manager_role"] {
                wanted[claim] = json!(role);
            }
            answered += usize::from(reader.call_raw(method, wanted).await.is_ok());
            let after = kept(root);
            assert_eq!(
                changed(&before, &after),
                Vec::<&Path>::new(),
                "{method} of a {role}"
            );
            assert_eq!(children(), running_before, "{method} of a {role}");
            assert!(
                !outside.path().join("started").exists(),
                "{method} of a {role}"
            );
        }
    }
    assert!(
        answered > reading.len(),
        "only {answered} calls were answered"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_method_that_does_more_than_read_is_for_a_token_that_may_only_read() {
    let running = testkit::gateway().await;
    let (_folder, _, company) = new_folder();
    let root = company.root();
    let ids = Ids {
        planned: "proj_a".to_owned(),
        plan: "art_plan".to_owned(),
        ..fill(&running.client(), root).await
    };
    let outside = tempfile::tempdir().expect("a folder");
    let reader = running.client_with_role("human", &["read"], &[]).await;
    for (family, method) in methods() {
        if family.dialect == Dialect::Company && method.access != Access::Read {
            let wanted = params(method.name, root, outside.path(), &ids);
            let refused = reader.call_raw(method.name, wanted).await;
            let Err(Error::Rpc { data, .. }) = refused else {
                panic!("{}: {refused:?}", method.name);
            };
            assert_eq!(data["reason_code"], "FORBIDDEN", "{}", method.name);
        }
    }
}
