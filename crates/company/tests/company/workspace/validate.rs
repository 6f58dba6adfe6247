//! `workspace.validate`: issues of malformed company folders.

use std::fs;

use company::documents::validate::validate;

use crate::filled::{Filled, filled, put};

/// The issues if `path` contains `text`, as `code path: message`.
fn told(path: &str, text: &str) -> Vec<String> {
    let filled = filled();
    put(&filled.company.path(path), text);
    issues(&filled)
}

/// The issues if `path` is missing.
fn told_without(path: &str) -> Vec<String> {
    let filled = filled();
    let gone = filled.company.path(path);
    if gone.is_dir() {
        fs::remove_dir_all(gone).expect("it was there")
    } else {
        fs::remove_file(gone).expect("it was there")
    }
    issues(&filled)
}

fn issues(filled: &Filled) -> Vec<String> {
    let issues = validate(&filled.company).into_iter();
    issues
        .map(|issue| {
            let path = issue.path.expect("every issue has a path");
            format!("{} {path}: {}", issue.code, issue.message)
        })
        .collect()
}

#[test]
fn a_filled_folder_is_well_formed() {
    assert_eq!(issues(&filled()), [""; 0]);
}

#[test]
fn a_folder_that_is_not_there_misses_everything() {
    let filled = filled();
    let company = filled.companies.locate("/nowhere/at/all");
    let issues = validate(&company);
    let paths: Vec<_> = issues
        .iter()
        .filter_map(|issue| issue.path.as_deref())
        .collect();
    assert_eq!(
        paths,
        [
            "company",
            "company/migrations",
            "org",
            "org/teams",
            "org/agents",
            "work",
            "work/projects",
            "inbox",
            "inbox/reviews",
            "inbox/help_requests",
            ".local",
            "company/company.yaml",
            "company/policy.yaml",
            ".local/machine.yaml",
        ]
    );
    assert_eq!(issues[0].message, "Missing directory: company");
    assert_eq!(issues[13].message, "Missing file: .local/machine.yaml");
}

#[test]
fn what_is_missing_is_named() {
    for (path, expected) in [
        ("org/teams/team_a/team.yaml", "org/teams/team_a/team.yaml"),
        (
            "work/projects/proj_a/runs/run_a/run.yaml",
            "work/projects/proj_a/runs/run_a/run.yaml",
        ),
        (
            "work/projects/proj_a/runs/run_a/events.jsonl",
            "work/projects/proj_a/runs/run_a/events.jsonl",
        ),
        (
            "work/projects/proj_a/context_packs/ctx_a/policy_snapshot.yaml",
            "work/projects/proj_a/context_packs/ctx_a/policy_snapshot.yaml",
        ),
        // The rest of the project and of the pack is not validated.
        (
            "work/projects/proj_a/project.yaml",
            "work/projects/proj_a/project.yaml",
        ),
        (
            "work/projects/proj_a/context_packs/ctx_a/manifest.yaml",
            "work/projects/proj_a/context_packs/ctx_a/manifest.yaml",
        ),
    ] {
        assert_eq!(
            told_without(path),
            [format!("missing_file {expected}: Missing file: {expected}")]
        );
    }
    let patch = "work/projects/proj_a/artifacts/art_delta.patch";
    assert_eq!(
        told_without(patch),
        [format!(
            "missing_file {patch}: Missing patch_file for memory delta: {patch}"
        )]
    );
    let bundled = "work/projects/proj_a/share_packs/share_a/bundle/art_plan.md";
    assert_eq!(
        told_without(bundled),
        [format!(
            "missing_file {bundled}: Missing bundled artifact file: {bundled}"
        )]
    );
    let bundled = "work/projects/proj_a/share_packs/share_a/bundle/runs/run_a.events.jsonl";
    assert_eq!(
        told_without(bundled),
        [format!(
            "missing_file {bundled}: Missing bundled run event file: {bundled}"
        )]
    );
}

#[test]
fn every_field_that_does_not_fit_is_told() {
    assert_eq!(
        told(
            "company/company.yaml",
            "schema_version: 1\ntype: company\nid: ''\n"
        ),
        [
            "schema_invalid company/company.yaml: company/company.yaml: created_at: Invalid input: expected string, received undefined",
            "schema_invalid company/company.yaml: company/company.yaml: id: Too small: expected string to have >=1 characters",
            "schema_invalid company/company.yaml: company/company.yaml: name: Invalid input: expected string, received undefined",
        ]
    );
    let issues = told("company/policy.yaml", "a: [\n");
    assert_eq!(issues.len(), 1);
    assert!(issues[0].starts_with("parse_error company/policy.yaml: company/policy.yaml: "));
}

#[test]
fn markdown_has_its_own_words() {
    let task = "work/projects/proj_a/tasks/task_a.md";
    assert_eq!(
        told(task, "# No front matter\n"),
        [format!("frontmatter {task}: {task}: missing_frontmatter")]
    );
    let filled = filled();
    let text = filled.company.read_text(task).unwrap();
    assert_eq!(
        told(
            task,
            &text
                .replace("deliverables: [it]\n", "")
                .replace("## Contract\n", "")
        ),
        [
            format!("missing_heading {task}: {task}: Missing heading: ## Contract"),
            format!(
                "contract_incomplete {task}: {task}: deliverables must not be empty once a task is no longer a draft"
            ),
        ]
    );
    assert_eq!(
        told(
            task,
            &text.replace("status: ready\nvis", "status: odd\nvis")
        ),
        [format!(
            "frontmatter_schema {task}: {task}: status: Invalid option: expected one of \"draft\"|\"ready\"|\"in_progress\"|\"blocked\"|\"done\"|\"canceled\""
        )]
    );
    let report = "work/projects/proj_a/artifacts/art_report.md";
    let text = filled.company.read_text(report).unwrap();
    assert_eq!(
        told(report, &text.replace("task_id:", "surprise: 1\ntask_id:")),
        [format!(
            "milestone_report_invalid {report}: {report}: Unrecognized key: \"surprise\""
        )]
    );
    let delta = "work/projects/proj_a/artifacts/art_delta.md";
    let text = filled.company.read_text(delta).unwrap();
    assert_eq!(
        told(delta, &text.replace("rationale: it helps\n", "")),
        [format!(
            "memory_delta_invalid {delta}: {delta}: rationale: required in schema 2"
        )]
    );
}

#[test]
fn a_link_out_of_the_folder_is_not_read() {
    let filled = filled();
    let outside = filled.folder.path().join("outside.yaml");
    fs::rename(filled.company.path("company/company.yaml"), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, filled.company.path("company/company.yaml")).unwrap();
    assert_eq!(
        issues(&filled),
        [
            "parse_error company/company.yaml: company/company.yaml: `company/company.yaml` leads out of the company folder"
        ]
    );
}
