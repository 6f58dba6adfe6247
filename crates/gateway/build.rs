//! Builds the web desktop into `web/dist` if Node is available and the sources have changed.

#![expect(
    clippy::disallowed_methods,
    reason = "build output is reproducible, so it need not be written atomically"
)]

use std::{
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io,
    path::{Path, PathBuf},
    process::Command,
};

/// Sources of the desktop, relative to the root of the repository.
const SOURCES: [&str; 7] = [
    "web/src",
    "web/public",
    "web/index.html",
    "web/package-lock.json",
    "web/tsconfig.json",
    "web/vite.config.ts",
    "clients/typescript/src",
];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for source in SOURCES {
        println!("cargo::rerun-if-changed=../../{source}");
    }
    println!("cargo::rerun-if-changed=../../web/.dist-stamp");
    if let Err(reason) = build(&root) {
        println!("cargo::warning=the web desktop is missing or outdated: {reason}");
    }
}

fn build(root: &Path) -> Result<(), String> {
    let dist = root.join("web/dist");
    // The directory must exist to be embedded, even if it is empty.
    fs::create_dir_all(&dist).map_err(|error| format!("`web/dist` cannot be created: {error}"))?;
    let stamp = stamp(root).map_err(|error| format!("`web` cannot be read: {error}"))?;
    // Stored outside of the directory, which every build empties.
    let stamp_file = root.join("web/.dist-stamp");
    let is_fresh = fs::read_to_string(&stamp_file).is_ok_and(|built| built == stamp);
    if is_fresh && dist.join("index.html").is_file() {
        return Ok(());
    }
    npm(root, &["ci", "--no-audit", "--no-fund", "--loglevel=error"])?;
    npm(root, &["run", "build", "--silent"])?;
    fs::write(&stamp_file, stamp).map_err(|error| format!("`web` cannot be written: {error}"))
}

fn npm(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let ran = Command::new("npm")
        .args(arguments)
        .current_dir(root.join("web"))
        .output();
    match ran {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!(
            "`npm {}` failed: {}",
            arguments[0],
            String::from_utf8_lossy(&output.stderr)
                .lines()
                .find(|line| !line.is_empty())
                .unwrap_or("no message on stderr")
        )),
        Err(_) => Err("Node and npm are required to build it".to_owned()),
    }
}

/// Returns a hash of the sources.
fn stamp(root: &Path) -> io::Result<String> {
    let mut hasher = DefaultHasher::new();
    for source in SOURCES {
        let mut files = Vec::new();
        collect(&root.join(source), &mut files)?;
        files.sort();
        for file in files {
            file.strip_prefix(root).unwrap_or(&file).hash(&mut hasher);
            fs::read(&file)?.hash(&mut hasher);
        }
    }
    Ok(format!("{:016x}\n", hasher.finish()))
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else if path.is_file() {
        files.push(path.to_owned());
    }
    Ok(())
}
