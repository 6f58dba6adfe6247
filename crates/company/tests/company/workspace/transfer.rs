//! Exports and imports, and the folders that they reject.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use company::{Error, documents::validate::validate, workspace::transfer};
use protocol::company::{
    Text,
    workspace::{
        CompanyWorkspaceExportParams, CompanyWorkspaceExportResponse, CompanyWorkspaceImportParams,
        CompanyWorkspaceImportResponse,
    },
};

use crate::filled::{Filled, filled, put, tree};

fn text(path: &Path) -> Text {
    Text::new(path.to_str().expect("a path in UTF-8")).expect("a path")
}

struct Options {
    include_local: bool,
    force: bool,
}

const PLAIN: Options = Options {
    include_local: false,
    force: false,
};
const FORCED: Options = Options {
    include_local: false,
    force: true,
};
const LOCAL: Options = Options {
    include_local: true,
    force: true,
};

fn export(
    filled: &Filled,
    out: &Path,
    options: &Options,
) -> Result<CompanyWorkspaceExportResponse, Error> {
    let params = CompanyWorkspaceExportParams {
        workspace_dir: Text::new(filled.company.given()).expect("a path"),
        out_dir: text(out),
        include_local: Some(options.include_local),
        force: Some(options.force),
    };
    transfer::export(&filled.companies, &params)
}

fn import(
    filled: &Filled,
    from: &Path,
    to: &Path,
    options: &Options,
) -> Result<CompanyWorkspaceImportResponse, Error> {
    let params = CompanyWorkspaceImportParams {
        src_dir: text(from),
        workspace_dir: text(to),
        include_local: Some(options.include_local),
        force: Some(options.force),
    };
    transfer::import(&filled.companies, &params)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("a name in UTF-8")
        })
        .collect();
    names.sort();
    names
}

/// The files of a company without the machine-specific ones.
fn parts(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut tree = tree(root);
    tree.retain(|(path, _)| !path.starts_with(".local") && !path.starts_with(".gitignore"));
    tree
}

#[test]
fn an_export_is_the_company_without_the_machine() {
    let filled = filled();
    let out = filled.folder.path().join("deep/export");
    let answer = export(&filled, &out, &PLAIN).unwrap();
    assert_eq!(answer.exported_entries, ["company", "org", "work", "inbox"]);
    assert_eq!(tree(&out), parts(filled.company.root()));
    assert_eq!(names(out.parent().unwrap()), ["export"]);
}

#[test]
fn what_belongs_to_processes_never_travels() {
    let filled = filled();
    for path in [
        ".local/index.sqlite",
        ".local/index.sqlite-wal",
        ".local/worktrees/p/file",
        ".local/locks/other",
        ".local/heartbeat/config.yaml",
        "work/projects/proj_a/.memory.md.tmp-1-0-0a",
    ] {
        put(&filled.company.path(path), "x");
    }
    let out = filled.folder.path().join("export");
    let answer = export(&filled, &out, &LOCAL).unwrap();
    assert_eq!(
        answer.exported_entries,
        ["company", "org", "work", "inbox", ".local"]
    );
    assert_eq!(names(&out.join(".local")), ["heartbeat", "machine.yaml"]);
    assert!(
        !out.join("work/projects/proj_a/.memory.md.tmp-1-0-0a")
            .exists()
    );
}

#[test]
fn an_import_is_a_company_folder() {
    let filled = filled();
    let out = filled.folder.path().join("export");
    let copy = filled.folder.path().join("copy");
    export(&filled, &out, &PLAIN).unwrap();
    let answer = import(&filled, &out, &copy, &PLAIN).unwrap();
    assert_eq!(answer.imported_entries, ["company", "org", "work", "inbox"]);
    assert_eq!((answer.validation_ok, answer.validation_issues), (true, 0));
    assert_eq!(
        validate(&filled.companies.locate(copy.to_str().unwrap())),
        []
    );
    assert_eq!(parts(&copy), parts(filled.company.root()));
    // The import does not change the export.
    assert_eq!(names(&out), ["company", "inbox", "org", "work"]);

    let error = import(&filled, &out, &copy, &PLAIN).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "Refusing to write into non-empty directory ({}). Use --force to replace contents.",
            copy.display()
        )
    );
    put(&copy.join("org/agents/agent_new/agent.yaml"), "x");
    import(&filled, &out, &copy, &FORCED).unwrap();
    assert_eq!(parts(&copy), parts(filled.company.root()));
    assert_eq!(names(filled.folder.path()), ["acme", "copy", "export"]);
    // The lock is released; the file of the lock queue remains.
    assert_eq!(names(&copy.join(".local/locks")), ["workspace.write.queue"]);
}

#[test]
fn an_invalid_source_is_refused() {
    let filled = filled();
    fs::remove_file(filled.company.path("company/policy.yaml")).unwrap();
    let out = filled.folder.path().join("export");
    let given = filled.company.given();
    assert_eq!(
        export(&filled, &out, &PLAIN).unwrap_err().to_string(),
        format!("Cannot export invalid workspace ({given}). Run workspace:validate first.")
    );
    assert_eq!(
        import(&filled, filled.company.root(), &out, &PLAIN)
            .unwrap_err()
            .to_string(),
        format!(
            "Cannot import invalid source workspace ({}).",
            filled.company.root().display()
        )
    );
    assert!(!out.exists());
}

#[test]
fn a_target_that_touches_the_source_or_is_dear_is_refused() {
    let filled = filled();
    let root = filled.company.root().to_owned();
    let link = filled.folder.path().join("link");
    symlink(&root, &link).unwrap();
    let nowhere = filled.folder.path().join("nowhere");
    symlink("/nowhere/at/all", &nowhere).unwrap();
    let before = tree(&root);
    let home = std::env::home_dir().unwrap();
    for target in [
        root.clone(),
        root.join("inside"),
        root.join("inside/deeper"),
        filled.folder.path().to_owned(),
        link.clone(),
        link.join("inside"),
        nowhere.join("x"),
        filled.folder.path().join("missing/../acme"),
        filled.folder.path().join("acme/../acme/x"),
        PathBuf::from("/"),
        home.clone(),
        home.parent().unwrap().to_owned(),
    ] {
        for options in [&PLAIN, &FORCED] {
            let error = export(&filled, &target, options).unwrap_err();
            assert!(
                error.to_string().starts_with("Refusing to write to "),
                "{target:?}: {error}"
            );
            let error = import(&filled, &root, &target, options).unwrap_err();
            assert!(
                error.to_string().starts_with("Refusing to write to "),
                "{target:?}: {error}"
            );
        }
    }
    let after: Vec<_> = tree(&root)
        .into_iter()
        .filter(|(path, _)| !path.starts_with(".local/locks"))
        .collect();
    let before: Vec<_> = before
        .into_iter()
        .filter(|(path, _)| !path.starts_with(".local/locks"))
        .collect();
    assert_eq!(after, before);
}

#[test]
fn force_replaces_companies_and_exports_only() {
    let filled = filled();
    let out = filled.folder.path().join("out");
    put(&out.join("photo.jpg"), "dear");
    let error = export(&filled, &out, &FORCED).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("neither a company folder nor an export of one")
    );
    assert_eq!(names(&out), ["photo.jpg"]);

    fs::remove_file(out.join("photo.jpg")).unwrap();
    export(&filled, &out, &FORCED).unwrap();
    put(&out.join("photo.jpg"), "dear");
    let error = export(&filled, &out, &FORCED).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("`photo.jpg` in it is not part of a company folder")
    );
    assert!(out.join("photo.jpg").exists());

    fs::remove_file(out.join("photo.jpg")).unwrap();
    put(&out.join("org/old.md"), "old");
    export(&filled, &out, &FORCED).unwrap();
    assert!(!out.join("org/old.md").exists());

    put(&filled.folder.path().join("file"), "x");
    let error = export(&filled, &filled.folder.path().join("file"), &FORCED).unwrap_err();
    assert!(error.to_string().ends_with("is not a folder"));
}

#[test]
fn links_that_lead_outside_are_neither_followed_nor_copied() {
    let filled = filled();
    let secret = filled.folder.path().join("secret");
    put(&secret.join("key"), "k");
    let outputs = filled
        .company
        .path("work/projects/proj_a/runs/run_a/outputs");
    symlink(secret.join("key"), outputs.join("absolute")).unwrap();
    symlink("../../../../../../../secret/key", outputs.join("relative")).unwrap();
    symlink(&secret, outputs.join("folder")).unwrap();
    symlink("stdout.txt", outputs.join("fine")).unwrap();
    let out = filled.folder.path().join("export");
    export(&filled, &out, &PLAIN).unwrap();
    let copied = out.join("work/projects/proj_a/runs/run_a/outputs");
    assert_eq!(names(&copied), ["fine", "stdout.txt"]);
    assert_eq!(
        fs::read_link(copied.join("fine")).unwrap(),
        Path::new("stdout.txt")
    );

    fs::rename(
        filled.company.path("inbox"),
        filled.folder.path().join("inbox"),
    )
    .unwrap();
    symlink(
        filled.folder.path().join("inbox"),
        filled.company.path("inbox"),
    )
    .unwrap();
    assert!(export(&filled, &filled.folder.path().join("other"), &PLAIN).is_err());
    assert!(!filled.folder.path().join("other").exists());
}

#[test]
fn a_copy_that_fails_leaves_the_target_as_it_was() {
    let filled = filled();
    let out = filled.folder.path().join("out");
    export(&filled, &out, &PLAIN).unwrap();
    put(&out.join("org/old.md"), "old");
    let before = tree(&out);
    // Nested deeper than the longest possible path, so that the copy fails in the middle.
    let mut folder = rustix::fs::open(
        filled.company.path("inbox"),
        rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY,
        rustix::fs::Mode::empty(),
    )
    .unwrap();
    let name = "d".repeat(250);
    for _ in 0..20 {
        rustix::fs::mkdirat(&folder, &name, rustix::fs::Mode::RWXU).unwrap();
        folder = rustix::fs::openat(
            &folder,
            &name,
            rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY,
            rustix::fs::Mode::empty(),
        )
        .unwrap();
    }
    assert!(export(&filled, &out, &FORCED).is_err());
    assert_eq!(tree(&out), before);
    assert_eq!(names(filled.folder.path()), ["acme", "out"]);
}

#[test]
fn what_a_crashed_copy_left_is_removed_by_the_next() {
    let filled = filled();
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let dead = child.id();
    let left = filled.folder.path().join(format!(".out.tmp-{dead}-0-0a"));
    put(&left.join("company/company.yaml"), "half");
    export(&filled, &filled.folder.path().join("out"), &PLAIN).unwrap();
    assert_eq!(names(filled.folder.path()), ["acme", "out"]);
}

#[test]
fn writers_do_not_wait_while_a_snapshot_is_read_and_it_stays_as_it_was() {
    let filled = filled();
    let mut seen = 0;
    let mut copied = String::new();
    company::workspace::transfer::visit(&filled.company, &mut |path, found| {
        seen += 1;
        if seen == 1 {
            // Another writer replaces a document while the copy is made.
            let written = filled
                .company
                .write(|writer| writer.put_text("company/policy.yaml", "schema_version: 2\n"));
            written.map_err(std::io::Error::other)?;
        }
        if path.ends_with("policy.yaml")
            && let company::files::walk::WalkEntry::File(file) = found
        {
            copied = std::io::read_to_string(file)?;
        }
        Ok(())
    })
    .unwrap();
    assert!(seen > 10, "{seen}");
    assert!(
        !copied.is_empty() && copied != "schema_version: 2\n",
        "{copied}"
    );
    // The temporary hard links are removed.
    let left = std::fs::read_dir(filled.company.path(".local/locks")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["workspace.write.queue"]);
}
