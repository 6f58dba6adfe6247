//! Share packs: their content and the redaction of secrets.

use std::{fs, os::unix::fs::symlink};

use company::{
    documents::validate::validate,
    events::share_pack::{self, Chain, ChainLine},
};
use protocol::{
    Id as _,
    company::{ProjectId, RunId, SharePackId, Text, sharepack::SharepackCreateResponse},
};

use sha2::{Digest as _, Sha256};

use crate::filled::{Filled, filled, put, tree};

fn project() -> ProjectId {
    ProjectId::parse("proj_a").expect("an id")
}

fn create(filled: &Filled) -> Result<SharepackCreateResponse, company::Error> {
    share_pack::create(
        &filled.company,
        &project(),
        &Text::new("human").expect("a name"),
    )
}

#[test]
fn a_pack_has_what_managers_may_see_without_secrets() {
    let filled = filled();
    let answer = create(&filled).unwrap();
    assert_eq!(answer.included_artifact_ids, ["art_delta", "art_plan"]);
    assert_eq!(answer.included_run_ids, ["run_a"]);
    assert_eq!(validate(&filled.company), []);
    let pack = filled.company.path(&answer.bundle_relpath);
    let files: Vec<_> = tree(&pack).into_iter().map(|(path, _)| path).collect();
    let names: Vec<_> = files.iter().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "art_delta.md",
            "art_plan.md",
            "project_memory.md",
            "run_events",
            "run_events/run_a.chain.json",
            "run_events/run_a.events.jsonl",
        ]
    );
    let read = |name: &str| fs::read_to_string(pack.join(name)).unwrap();
    assert!(read("art_plan.md").contains("Use [REDACTED_API_KEY]."));
    assert!(read("project_memory.md").contains("The password: \"[REDACTED]\"."));
    // Unredacted lines are copied byte for byte, so their hashes stay valid.
    assert_eq!(
        read("run_events/run_a.events.jsonl"),
        r#"{"schema_version":1,"event_id":"evt_1","run_id":"run_a","visibility":"org","type":"run.started","payload":{"b":1.0,"a":2},"prev_event_hash":null,"event_hash":"h1"}
{"schema_version":1,"event_id":"evt_3","run_id":"run_a","visibility":"managers","type":"x","payload":{"password":"[REDACTED]"},"prev_event_hash":"h2","event_hash":"h3"}
torn token=[REDACTED]
"#
    );
}

#[test]
fn a_pack_has_every_run_of_the_project_also_without_a_document() {
    let filled = filled();
    let events = "work/projects/proj_a/runs/run_alone/events.jsonl";
    let source = "work/projects/proj_a/runs/run_a/events.jsonl";
    let text = filled.company.read_text(source).unwrap();
    put(
        &filled.company.path(events),
        text.replace("run_a", "run_alone"),
    );
    let answer = create(&filled).unwrap();
    assert_eq!(answer.included_run_ids, ["run_a", "run_alone"]);
}

#[test]
fn a_pack_has_the_hash_of_every_file() {
    let filled = filled();
    let answer = create(&filled).unwrap();
    let pack = filled.company.path(&answer.bundle_relpath);
    let pack = pack.parent().unwrap();
    let sums = fs::read_to_string(pack.join("SHA256SUMS")).unwrap();
    let listed: Vec<_> = sums
        .lines()
        .map(|line| line.split_once("  ").expect("a hash and a name"))
        .collect();
    let files: Vec<_> = tree(pack)
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| pack.join(path).is_file() && path.as_os_str() != "SHA256SUMS")
        .collect();
    assert_eq!(listed.len(), files.len(), "{sums}");
    for (hash, name) in listed {
        let bytes = fs::read(pack.join(name)).unwrap();
        let digest = Sha256::digest(&bytes);
        let found: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, found, "{name}");
    }
}

#[test]
fn the_chain_tells_what_was_left_out_and_what_was_blacked_out() {
    let filled = filled();
    let answer = create(&filled).unwrap();
    let manifest =
        share_pack::read_manifest(&filled.company, &project(), &answer.share_pack_id).unwrap();
    let runs = share_pack::included_runs(&manifest, None).unwrap();
    let chain: Chain =
        share_pack::read_chain(&filled.company, &project(), &answer.share_pack_id, runs[0])
            .unwrap()
            .unwrap();
    let told: Vec<_> = chain
        .lines
        .iter()
        .map(
            |ChainLine {
                 event_id,
                 event_hash,
                 prev_event_hash,
                 redacted,
                 included,
                 line_sha256,
                 ..
             }| {
                assert_eq!(line_sha256.is_some(), *included);
                (
                    event_id.as_deref(),
                    prev_event_hash.as_deref(),
                    event_hash.as_deref(),
                    *redacted,
                    *included,
                )
            },
        )
        .collect();
    assert_eq!(
        told,
        [
            (Some("evt_1"), None, Some("h1"), false, true),
            (Some("evt_2"), Some("h1"), Some("h2"), false, false),
            (Some("evt_3"), Some("h2"), Some("h3"), true, true),
            (None, None, None, true, true),
            (None, None, None, false, false),
        ]
    );
    assert_eq!(runs[0].included_event_count, 3);
}

#[test]
fn a_document_that_is_not_well_formed_stops_the_pack() {
    let filled = filled();
    let before = {
        put(
            &filled
                .company
                .path("work/projects/proj_a/artifacts/art_x.md"),
            "no head",
        );
        tree(filled.company.root())
    };
    let error = create(&filled).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`work/projects/proj_a/artifacts/art_x.md` is damaged: missing_frontmatter"
    );
    assert_eq!(tree(filled.company.root()), before);

    let plan = filled
        .company
        .read_text("work/projects/proj_a/artifacts/art_plan.md")
        .unwrap();
    put(
        &filled
            .company
            .path("work/projects/proj_a/artifacts/art_x.md"),
        &plan,
    );
    assert!(
        create(&filled)
            .unwrap_err()
            .to_string()
            .contains("the same id")
    );
    let evil = plan.replace("id: art_plan", "id: ../../evil");
    put(
        &filled
            .company
            .path("work/projects/proj_a/artifacts/art_x.md"),
        evil,
    );
    assert!(create(&filled).is_err());
}

#[test]
fn an_unknown_project_is_not_found() {
    let filled = filled();
    let unknown = ProjectId::parse("proj_unknown").unwrap();
    let error = share_pack::create(&filled.company, &unknown, &Text::new("human").unwrap());
    assert_eq!(
        error.unwrap_err().to_string(),
        "Project not found: proj_unknown"
    );
    assert!(!filled.company.path("work/projects/proj_unknown").exists());
}

#[test]
fn packs_are_read_with_their_project_and_their_runs() {
    let filled = filled();
    let share_a = SharePackId::parse("share_a").unwrap();
    let manifest = share_pack::read_manifest(&filled.company, &project(), &share_a).unwrap();
    assert_eq!(share_pack::included_runs(&manifest, None).unwrap().len(), 1);
    let other = RunId::parse("run_other").unwrap();
    assert_eq!(
        share_pack::included_runs(&manifest, Some(&other))
            .unwrap_err()
            .to_string(),
        "Run run_other is not included in share pack share_a."
    );
    let none = SharePackId::parse("share_none").unwrap();
    assert_eq!(
        share_pack::read_manifest(&filled.company, &project(), &none)
            .unwrap_err()
            .to_string(),
        "Share pack not found: share_none"
    );
    let relative = "work/projects/proj_a/share_packs/share_a/manifest.yaml";
    let text = filled.company.read_text(relative).unwrap();
    put(
        &filled.company.path(relative),
        text.replace("project_id: proj_a", "project_id: proj_other"),
    );
    assert_eq!(
        share_pack::read_manifest(&filled.company, &project(), &share_a)
            .unwrap_err()
            .to_string(),
        "Share pack share_a belongs to project proj_other, not proj_a."
    );
}

#[test]
fn events_are_read_from_inside_the_pack_only() {
    let filled = filled();
    let share_a = SharePackId::parse("share_a").unwrap();
    let manifest = share_pack::read_manifest(&filled.company, &project(), &share_a).unwrap();
    let mut run = share_pack::included_runs(&manifest, None).unwrap()[0].clone();
    let path = |run: &_| share_pack::events_path(&filled.company, &project(), &share_a, run);
    assert_eq!(path(&run).unwrap(), run.bundle_relpath.to_string());
    // Packs of other programs do not record the state of their chain.
    let chain = share_pack::read_chain(&filled.company, &project(), &share_a, &run);
    assert_eq!(chain.unwrap(), None);
    let pack = "work/projects/proj_a/share_packs/share_a";
    let link = format!("{pack}/bundle/link.events.jsonl");
    symlink(
        "../../../../../../.local/machine.yaml",
        filled.company.path(&link),
    )
    .unwrap();
    for outside in [
        "work/projects/proj_a/nowhere.jsonl",
        ".local/machine.yaml",
        "/etc/passwd",
        "../x",
        &format!("{pack}/../share_b/x"),
        &format!("{pack}x/y"),
        pack,
        &link,
    ] {
        run.bundle_relpath = Text::new(outside).unwrap();
        let error = path(&run).unwrap_err().to_string();
        assert!(
            error.contains("is not inside the share pack"),
            "{outside}: {error}"
        );
    }
}
