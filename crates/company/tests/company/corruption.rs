//! A thousand damaged files: every read operation still succeeds, reports the file and changes nothing.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    time::{Duration, SystemTime},
};

use company::{
    Company, Error,
    document::{
        Agent, ContextPack, DocumentHead, HelpRequestHead, Identity, Machine, Policy,
        PolicySnapshot, Project, ProjectRepos, Review, Run, SharePack, Team,
    },
    documents::validate::validate,
    events::share_pack,
    workspace::{
        doctor::{Outside, check, doctor},
        transfer,
    },
};
use protocol::{
    Id as _,
    company::{
        ProjectId, SharePackId, Text,
        conversation::Conversation,
        task::Task,
        workspace::{CompanyWorkspaceExportParams, DoctorStatus},
    },
};

use crate::{
    damage::{Numbers, damage},
    filled::{Filled, filled, put, tree},
};

/// Number of folders that are damaged in parallel.
const FOLDERS: u64 = 4;
/// Number of times that each folder is damaged.
const TIMES: u64 = 250;

#[test]
fn no_damage_makes_a_look_at_the_folder_fail_or_write() {
    std::thread::scope(|scope| {
        for seed in 0..FOLDERS {
            scope.spawn(move || break_and_look(Numbers(20_251_115 + seed)));
        }
    });
}

fn break_and_look(mut numbers: Numbers) {
    let filled = filled();
    let root = filled.company.root().to_owned();
    let files: Vec<_> = tree(&root)
        .into_iter()
        .filter(|(path, content)| root.join(path).is_file() && !content.is_empty())
        .collect();
    for (time, (path, _)) in (0..).zip(&files) {
        date(&root.join(path), time);
    }
    let mut damaged = 0;
    for time in 0..TIMES {
        let (path, content) = &files[numbers.below(files.len())];
        let file = root.join(path);
        let how = damage(&mut numbers, &file, content);
        date(&file, 1_000_000 + time);
        let relative = path.to_str().expect("a path in UTF-8");
        let before = tree(&root);
        let looked = catch_unwind(AssertUnwindSafe(|| look(&filled, relative)));
        match looked {
            Ok(is_damaged) => damaged += u64::from(is_damaged),
            Err(_) => panic!("{time}: {relative} {how}"),
        }
        assert_eq!(tree(&root), before, "{time}: {relative} {how}");
        if file.is_dir() {
            fs::remove_dir_all(&file).expect("the damage is undone")
        } else {
            drop(fs::remove_file(&file))
        }
        put(&file, content);
        date(&file, 2_000_000 + time);
    }
    assert_eq!(validate(&filled.company), []);
    // Most damage must be detected; changed bytes in bodies and logs can leave a file valid.
    assert!(damaged > TIMES / 2, "{damaged}");
}

/// Sets a distinct modification time in the past, so that the parsed file is cached until it changes.
fn date(file: &Path, seconds: u64) {
    if file.is_file() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let file = fs::File::options().write(true).open(file);
        file.and_then(|file| file.set_modified(time))
            .expect("a new time");
    }
}

/// Runs every read operation on the folder and returns whether the file was reported as damaged.
fn look(filled: &Filled, relative: &str) -> bool {
    let company = &filled.company;
    let issues = validate(company);
    let verify = |log: &str| company.read_bytes(log).map(|_| Vec::new());
    let outside = Outside {
        providers: Vec::new(),
        index: vec![check("index.rebuild", DoctorStatus::Pass, "", Vec::new())],
        verify_events: &verify,
    };
    let answer = doctor(company, outside);
    assert_eq!(
        answer.checks[0].status == DoctorStatus::Pass,
        issues.is_empty()
    );

    let root = company.root().to_str().expect("a path in UTF-8");
    for issue in &issues {
        assert!(
            issue.path.is_some() && !issue.message.contains(root),
            "{issue:?}"
        );
    }
    let project = ProjectId::parse("proj_a").expect("an id");
    let pack = SharePackId::parse("share_a").expect("an id");
    if let Ok(manifest) = share_pack::read_manifest(company, &project, &pack) {
        for run in share_pack::included_runs(&manifest, None).expect("all of them") {
            let _ = share_pack::read_chain(company, &project, &pack, run);
        }
    }
    if !issues.is_empty() {
        // An invalid company is not exported, and a project with an invalid document is not shared.
        let out = filled.folder.path().join("out");
        let params = CompanyWorkspaceExportParams {
            workspace_dir: Text::new(company.given()).expect("a path"),
            out_dir: Text::new(out.to_str().expect("a path in UTF-8")).expect("a path"),
            include_local: None,
            force: None,
        };
        assert!(transfer::export(&filled.companies, &params).is_err());
        assert!(!out.exists());
    }
    if relative.starts_with("work/projects/proj_a/artifacts/") && relative.ends_with(".md") {
        let told = |issue: &protocol::company::workspace::ValidationIssue| {
            issue.path.as_deref() == Some(relative) && !issue.code.ends_with("_invalid")
        };
        if issues.iter().any(told) {
            let human = Text::new("human").expect("a name");
            assert!(share_pack::create(company, &project, &human).is_err());
        }
    }

    let Some((read, is_validated)) = read(company, relative) else {
        return false;
    };
    match read {
        Ok(()) => false,
        Err(error) => {
            let told = error.to_string();
            assert!(told.contains(relative), "{told}");
            let is_named = issues
                .iter()
                .any(|issue| issue.path.as_deref() == Some(relative));
            assert!(is_named || !is_validated, "{told}: {issues:?}");
            true
        }
    }
}

/// Reads a document as list operations do. Also returns whether `validate` checks it.
fn read(company: &Company, relative: &str) -> Option<(Result<(), Error>, bool)> {
    let name = relative.rsplit('/').next()?;
    let yaml = match name {
        "company.yaml" => company.read::<Identity>(relative).map(drop),
        "policy.yaml" => company.read::<Policy>(relative).map(drop),
        "machine.yaml" => company.read::<Machine>(relative).map(drop),
        "team.yaml" => company.read::<Team>(relative).map(drop),
        "agent.yaml" => company.read::<Agent>(relative).map(drop),
        "project.yaml" => company.read::<Project>(relative).map(drop),
        "run.yaml" => company.read::<Run>(relative).map(drop),
        "policy_snapshot.yaml" => company.read::<PolicySnapshot>(relative).map(drop),
        "manifest.yaml" if relative.contains("context_packs") => {
            company.read::<ContextPack>(relative).map(drop)
        }
        "manifest.yaml" => company.read::<SharePack>(relative).map(drop),
        "rev_a.yaml" => return gone_is_fine(company.read::<Review>(relative)),
        "help_a.md" => return gone_is_fine(company.read_markdown::<HelpRequestHead>(relative)),
        "task_a.md" => return gone_is_fine(company.read_markdown::<Task>(relative)),
        _ if relative.contains("/artifacts/") && name.ends_with(".md") => {
            return gone_is_fine(company.read_markdown::<DocumentHead>(relative));
        }
        "repos.yaml" => return Some((company.read::<ProjectRepos>(relative).map(drop), false)),
        "conversation.yaml" => {
            return Some((company.read::<Conversation>(relative).map(drop), false));
        }
        _ => return Some((company.read_text(relative).map(drop), false)),
    };
    Some((yaml, true))
}

/// The result for a document that is only found by listing its folder: `None` if it is missing, which is not an issue.
fn gone_is_fine<T>(read: Result<T, Error>) -> Option<(Result<(), Error>, bool)> {
    match read {
        Err(error) if error.is_missing() => None,
        read => Some((read.map(drop), true)),
    }
}
