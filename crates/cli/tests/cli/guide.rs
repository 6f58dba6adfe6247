//! Runs every command of the documentation and compares its output with the documented output.
//!
//! A fence `sh` contains commands. An optional fence `text` after it contains lines that these commands print, in this
//! order and possibly among others; `…` matches any text within a line. The blocks of a page run in sequence in one
//! shell, in a folder of their own. A fence `sh no-run` contains commands that no test can run; each is listed here
//! with its reason.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

/// The page and the first command of each block that is not executed.
const NOT_RUN: [(&str, &str); 6] = [
    // Builds and tests everything, including this test.
    ("CONTRIBUTING.md", "cargo build"),
    // Builds a release and serves until it is stopped; `demo.rs` runs the command.
    ("README.md", "cargo run --release -- demo"),
    // Runs this test.
    ("README.md", "./check"),
    // Builds a release and changes the machine.
    ("README.md", "cargo install --path crates/cli"),
    // These write files of the repository; the same tests without the variable check that the files are up to date.
    (
        "docs/adding-a-method.md",
        "UPDATE_GENERATED=1 cargo test -p gateway --test gateway catalogue",
    ),
    (
        "docs/architecture.md",
        "UPDATE_GENERATED=1 cargo test -p gateway --test gateway catalogue",
    ),
];

/// The languages of fences without commands.
const OTHER_FENCES: [&str; 4] = ["text", "toml", "rust", "json"];

struct Page {
    /// The path, relative to the root of the repository.
    name: String,
    text: String,
}

/// Commands of a page and their documented output. Line numbers start at 0.
struct Block<'a> {
    fence: usize,
    commands: Vec<&'a str>,
    shown: Vec<(usize, &'a str)>,
    is_run: bool,
}

#[test]
fn every_command_of_the_documentation_works_and_prints_what_is_shown() {
    let pages = pages();
    let wrong: Vec<String> = thread::scope(|scope| {
        let running: Vec<_> = pages
            .iter()
            .map(|page| scope.spawn(|| page.follow()))
            .collect();
        running
            .into_iter()
            .filter_map(|page| page.join().expect("a page can be followed").err())
            .collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_command_that_is_not_run_is_known() {
    let pages = pages();
    let mut found = Vec::new();
    for page in &pages {
        let blocks = page.blocks();
        let not_run = blocks.into_iter().filter(|block| !block.is_run);
        found.extend(not_run.map(|block| (page.name.as_str(), block.commands[0])));
    }
    assert_eq!(found, NOT_RUN);
}

#[test]
fn every_link_to_a_file_leads_somewhere() {
    let mut pages = pages();
    pages.extend(read(markdown("docs/decisions/")));
    for page in &pages {
        let folder = root().join(&page.name);
        let folder = folder.parent().expect("a page is in a folder");
        for link in page.text.split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap_or_default();
            assert!(
                target.contains("://") || folder.join(target).exists(),
                "{}: there is no `{target}`",
                page.name
            );
        }
    }
}

#[test]
fn a_wildcard_stands_for_anything_within_a_line() {
    for (shown, line, fits) in [
        ("version 1", "version 1", true),
        ("version 1", "version 10", false),
        ("art_…  a.csv", "art_x9  a.csv", true),
        ("art_…  a.csv", "art_x9  b.csv", false),
        ("…\"ok\": true…", "  \"ok\": true,", true),
        ("…\"ok\": true…", "  \"ok\": false,", false),
        ("a…a", "a", false),
    ] {
        assert_eq!(is_like(line, shown), fits, "{shown} and {line}");
    }
}

/// Returns the pages at the root and in `docs`, without decisions and generated pages.
fn pages() -> Vec<Page> {
    let names = [markdown("./"), markdown("docs/"), markdown("docs/guide/")].concat();
    assert!(names.len() > 12, "the pages are somewhere else");
    read(names)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the pages of a folder, ordered by name.
fn markdown(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).expect("a folder with pages");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let names = names.filter_map(|name| name.into_string().ok());
    let names = names.filter(|name| name.ends_with(".md"));
    let mut names: Vec<_> = names.map(|name| format!("{folder}{name}")).collect();
    names.sort();
    names
}

fn read(names: Vec<String>) -> Vec<Page> {
    let page = |name: String| Page {
        text: fs::read_to_string(root().join(&name)).expect("a page is text"),
        name: name.trim_start_matches("./").to_owned(),
    };
    names.into_iter().map(page).collect()
}

impl Page {
    fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks: Vec<Block<'_>> = Vec::new();
        // The language of the open fence, and whether its lines are the output of the previous block.
        let (mut open, mut follows) = (None, false);
        for (number, line) in self.text.lines().enumerate() {
            match (open, line.strip_prefix("```")) {
                (None, Some(kind @ ("sh" | "sh no-run"))) => {
                    open = Some(kind);
                    blocks.push(Block {
                        fence: number,
                        commands: Vec::new(),
                        shown: Vec::new(),
                        is_run: kind == "sh",
                    });
                }
                (None, Some(kind)) => {
                    assert!(
                        OTHER_FENCES.contains(&kind),
                        "{}:{}: commands are in a fence `sh`, other text in one of {OTHER_FENCES:?}, not in `{kind}`",
                        self.name,
                        number + 1
                    );
                    follows = kind == "text" && follows;
                    open = Some(kind);
                }
                (Some(kind), Some(_)) => {
                    follows = kind == "sh";
                    open = None;
                }
                (Some("sh" | "sh no-run"), None) => {
                    let block = blocks.last_mut().expect("its fence is open");
                    block.commands.push(line);
                }
                (Some("text"), None) if follows => {
                    let block = blocks.last_mut().expect("it follows one");
                    block.shown.push((number, line));
                }
                (Some(_) | None, None) => {}
            }
        }
        blocks
    }

    /// Runs the commands of the page. Returns an error that describes the first difference.
    fn follow(&self) -> Result<(), String> {
        let blocks: Vec<_> = self.blocks();
        let blocks: Vec<_> = blocks.into_iter().filter(|block| block.is_run).collect();
        if blocks.is_empty() {
            return Ok(());
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let script = folder.path().join("script");
        let printed = folder.path().join("printed");
        let here = folder.path().join("here");
        for made in [&printed, &here] {
            fs::create_dir(made).expect("an empty folder");
        }
        fs::File::create(&script)
            .and_then(|mut file| {
                std::io::Write::write_all(&mut file, self.script(&blocks).as_bytes())
            })
            .expect("a file of ours");
        let ended = Command::new("bash")
            .arg(&script)
            .current_dir(&here)
            .env_clear()
            .env("PATH", path())
            .env("HOME", &here)
            .env("TMPDIR", &here)
            .env("PRINTED", &printed)
            .output()
            .expect("bash can be started");
        let output = |block: &Block<'_>| fs::read_to_string(printed.join(block.fence.to_string()));
        if !ended.status.success() {
            // The shell itself reports unset variables and unclosed quotes.
            let line = fs::read_to_string(printed.join("failed")).unwrap_or_default();
            let said = blocks.iter().rev().find_map(|block| output(block).ok());
            let complaint = String::from_utf8_lossy(&ended.stderr);
            return Err(format!(
                "{}:{}: this failed:\n{}{complaint}",
                self.name,
                line.trim(),
                said.unwrap_or_default()
            ));
        }
        for block in &blocks {
            let output = output(block).expect("every block has run");
            let mut lines = output.lines();
            for (number, shown) in block.shown.iter().filter(|(_, shown)| !shown.is_empty()) {
                if !lines.any(|line| is_like(line, shown)) {
                    return Err(format!(
                        "{}:{}: `{shown}` is not what comes next in:\n{output}",
                        self.name,
                        number + 1
                    ));
                }
            }
        }
        Ok(())
    }

    /// Returns a script with each command on the line number it has on the page, so that error messages of the shell
    /// match. The title line has no commands.
    fn script(&self, blocks: &[Block<'_>]) -> String {
        let mut lines = vec![String::new(); self.text.lines().count()];
        lines[0] = r#"set -eEuo pipefail; trap 'echo "$LINENO" > "$PRINTED/failed"' ERR; trap 'kill $(jobs -p) 2> "$PRINTED/kill" || :' EXIT"#.to_owned();
        for block in blocks {
            lines[block.fence] = format!(r#"exec > "$PRINTED/{}" 2>&1"#, block.fence);
            for (index, command) in block.commands.iter().enumerate() {
                lines[block.fence + 1 + index] = (*command).to_owned();
            }
        }
        lines.join("\n") + "\n"
    }
}

/// Returns a `PATH` that starts with the folder of the built binary.
fn path() -> std::ffi::OsString {
    let program = Path::new(env!("CARGO_BIN_EXE_ac"));
    let folder = program.parent().expect("a binary is in a folder");
    let others = env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(PathBuf::from(folder)).chain(env::split_paths(&others));
    env::join_paths(all).expect("folders of PATH")
}

fn is_like(line: &str, shown: &str) -> bool {
    let mut pieces = shown.trim_end().split('…');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = line.trim_end().strip_prefix(first) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        return rest.is_empty();
    };
    for piece in pieces {
        match rest.split_once(piece) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}
