//! Share packs: the content of a project that is visible to managers or to the whole company, with secrets redacted.
//!
//! Each run's events are accompanied by a chain file with one row per line of the original log, so that a reader can
//! distinguish declared omissions and redactions from later changes. `SHA256SUMS` contains the hash of every file in
//! the format of `sha256sum`; it is a separate file because the manifest does not allow additional fields.
//! [`replay()`] verifies the events.

mod replay;

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead as _, BufReader},
    path::Path,
    sync::Arc,
};

use data_encoding::HEXLOWER;
use protocol::{
    Id as _,
    company::{
        DocumentId, Issue, ProjectId, RunId, Sensitivity, SharePackId, Text, Visibility,
        sharepack::SharepackCreateResponse,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::{
    Company, Error,
    document::{Project, SharePack, SharedDocument, SharedFile, SharedRun},
    documents::{LooseHead, validate::read_document},
    format::yaml,
    layout,
    org::{iso, text},
    secret,
};

pub use replay::replay;

/// Folder of the events and chain files, relative to the pack.
const RUN_EVENTS: &str = "bundle/run_events";
/// File with the hashes of all other files of a pack.
const HASHES: &str = "SHA256SUMS";

/// Bundles the documents, the memory and the run events of a project that are visible to managers or to the whole
/// company. An invalid document aborts the creation, because its visibility is unknown.
pub fn create(
    company: &Company,
    project: &ProjectId,
    created_by: &Text,
) -> Result<SharepackCreateResponse, Error> {
    let folder = layout::project(project);
    company
        .read::<Project>(&format!("{folder}/project.yaml"))
        .map_err(|error| error.or_not_found("Project", project.as_str()))?;
    let id: SharePackId = company.sources().id();
    let relpath = layout::share_pack(project, &id);
    let mut manifest = SharePack::new(
        text(&id),
        iso(company.sources().now_text()),
        text(project),
        created_by.clone(),
    );
    let mut bundle = Bundle {
        relpath: relpath.clone(),
        files: Vec::new(),
    };

    let mut runs: BTreeSet<RunId> = BTreeSet::new();
    for name in company.names(&format!("{folder}/runs"))? {
        runs.extend(RunId::parse(&name));
    }
    for name in company.names(&format!("{folder}/artifacts"))? {
        if !name.ends_with(".md") {
            continue;
        }
        let source = format!("{folder}/artifacts/{name}");
        let document = read_document(company, &source)?;
        if !is_shared(document.head.visibility) {
            continue;
        }
        let id = DocumentId::parse(&document.head.id).map_err(|error| unusable(&source, &error))?;
        let loose = company.read_markdown::<LooseHead>(&source)?;
        if loose.head.sensitivity() == Some(Sensitivity::Restricted) {
            // Restricted documents are not visible to managers.
            continue;
        }
        let content = company.read_text(&source)?;
        let bundled = bundle.put(&source, format!("bundle/{id}.md"), &content)?;
        manifest.included_artifacts.push(SharedDocument {
            artifact_id: document.head.id.clone(),
            r#type: text(document.head.r#type.as_str()),
            visibility: document.head.visibility,
            source_relpath: text(source),
            bundle_relpath: bundled,
        });
    }

    let memory = format!("{folder}/memory.md");
    match company.read_text(&memory) {
        Ok(content) => {
            let bundled = bundle.put(&memory, "bundle/project_memory.md".to_owned(), &content)?;
            manifest.included_files = Some(vec![SharedFile {
                source_relpath: text(memory),
                bundle_relpath: bundled,
            }]);
        }
        Err(error) if error.is_missing() => {}
        Err(error) => return Err(error),
    }

    let mut shared_runs = Vec::new();
    for run in runs {
        let source = format!("{}/events.jsonl", layout::run(project, &run));
        let Some(shared) = shared_events(company, &run, &source)? else {
            continue;
        };
        let name = format!("{RUN_EVENTS}/{run}.events.jsonl");
        let bundled = bundle.add(&source, name, shared.events)?;
        let chain = json(&shared.chain, &source)?;
        bundle.add(&source, format!("{RUN_EVENTS}/{run}.chain.json"), chain)?;
        shared_runs.push(SharedRun {
            run_id: text(run),
            source_relpath: text(source),
            bundle_relpath: bundled,
            included_event_count: shared.count,
        });
    }
    let included_run_ids = shared_runs
        .iter()
        .map(|run| run.run_id.to_string())
        .collect();
    if !shared_runs.is_empty() {
        manifest.included_runs = Some(shared_runs);
    }
    let documents = manifest.included_artifacts.iter();
    let mut included_artifact_ids: Vec<_> = documents
        .map(|document| document.artifact_id.to_string())
        .collect();
    included_artifact_ids.sort_unstable();

    bundle
        .files
        .push(("manifest.yaml".to_owned(), yaml::print(&manifest)?));
    let hashes = bundle.hashes();
    bundle.files.push((HASHES.to_owned(), hashes));
    let files: Vec<_> = bundle
        .files
        .iter()
        .map(|(name, text)| (name.as_str(), text.clone()))
        .collect();
    company.write(|writer| writer.make_whole(&relpath, &[RUN_EVENTS], &files))?;
    Ok(SharepackCreateResponse {
        share_pack_id: id,
        manifest_relpath: format!("{relpath}/manifest.yaml"),
        bundle_relpath: format!("{relpath}/bundle"),
        included_artifact_ids,
        included_run_ids,
    })
}

/// Reads the manifest of a share pack.
pub fn read_manifest(
    company: &Company,
    project: &ProjectId,
    pack: &SharePackId,
) -> Result<Arc<SharePack>, Error> {
    let relative = format!("{}/manifest.yaml", layout::share_pack(project, pack));
    let manifest = company
        .read::<SharePack>(&relative)
        .map_err(|error| error.or_not_found("Share pack", pack.as_str()))?;
    if manifest.project_id.as_str() == project.as_str() {
        Ok(manifest)
    } else {
        Err(Error::Refused(format!(
            "Share pack {pack} belongs to project {}, not {project}.",
            manifest.project_id
        )))
    }
}

/// Returns the runs of a pack, or only `run`; fails if the pack does not include it.
pub fn included_runs<'a>(
    manifest: &'a SharePack,
    run: Option<&RunId>,
) -> Result<Vec<&'a SharedRun>, Error> {
    let runs = manifest.included_runs.iter().flatten();
    let Some(wanted) = run else {
        return Ok(runs.collect());
    };
    let found: Vec<_> = runs
        .filter(|run| run.run_id.as_str() == wanted.as_str())
        .collect();
    if found.is_empty() {
        Err(Error::Refused(format!(
            "Run {wanted} is not included in share pack {}.",
            manifest.id
        )))
    } else {
        Ok(found)
    }
}

/// Returns the path of a run's events, after checking that the file is inside the pack.
pub fn events_path(
    company: &Company,
    project: &ProjectId,
    pack: &SharePackId,
    run: &SharedRun,
) -> Result<String, Error> {
    let folder = layout::share_pack(project, pack);
    checked_inside(company, &folder, &run.bundle_relpath)?;
    Ok(run.bundle_relpath.to_string())
}

/// Reads the chain file of a run; `None` for packs of other programs, which have none.
pub fn read_chain(
    company: &Company,
    project: &ProjectId,
    pack: &SharePackId,
    run: &SharedRun,
) -> Result<Option<Chain>, Error> {
    let events = events_path(company, project, pack, run)?;
    let Some(begin) = events.strip_suffix(".events.jsonl") else {
        return Ok(None);
    };
    let relative = format!("{begin}.chain.json");
    checked_inside(company, &layout::share_pack(project, pack), &relative)?;
    // The size of a log is not limited, so the chain file is read without a limit, too.
    let file = match company.open(&relative) {
        Ok(file) => file,
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) => return Err(error),
    };
    match serde_json::from_reader(BufReader::new(file)) {
        Ok(chain) => Ok(Some(chain)),
        Err(error) => Err(unusable(&relative, &error)),
    }
}

/// Description of the log that a share pack was created from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chain {
    /// Version of this format: 1.
    pub schema_version: u32,
    /// Id of the run.
    pub run_id: String,
    /// Every line of the log that is not blank, in order.
    pub lines: Vec<ChainLine>,
}

/// Description of one line of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChainLine {
    /// Id of the event; absent if the line is not an event.
    pub event_id: Option<String>,
    /// Hash of the event.
    pub event_hash: Option<String>,
    /// Hash of the previous event.
    pub prev_event_hash: Option<String>,
    /// Visibility of the event.
    pub visibility: Option<String>,
    /// Whether a secret in the line was redacted.
    pub redacted: bool,
    /// Whether the line is included in the pack.
    pub included: bool,
    /// SHA-256 of the line as included in the pack, which reveals later changes of redacted lines, too. Absent for
    /// lines that are not included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_sha256: Option<String>,
}

/// Files of a pack that is being created.
struct Bundle {
    relpath: String,
    files: Vec<(String, String)>,
}

impl Bundle {
    /// Adds a text with its secrets redacted.
    fn put(&mut self, source: &str, name: String, text: &str) -> Result<Text, Error> {
        self.add(source, name, secret::redact(text).0.into_owned())
    }

    fn add(&mut self, source: &str, name: String, content: String) -> Result<Text, Error> {
        if self.files.iter().any(|(taken, _)| *taken == name) {
            return Err(unusable(source, &"another document has the same id"));
        }
        let relative = text(format!("{}/{name}", self.relpath));
        self.files.push((name, content));
        Ok(relative)
    }

    /// The SHA-256 of every file, in the format of `sha256sum --check`.
    fn hashes(&self) -> String {
        let mut files: Vec<_> = self.files.iter().collect();
        files.sort_unstable();
        let lines = files
            .into_iter()
            .map(|(name, content)| format!("{}  {name}\n", sha256(content)));
        lines.collect()
    }
}

/// The events of a run that may be shared.
struct SharedEvents {
    events: String,
    count: u64,
    chain: Chain,
}

/// Reads the events that may be shared; `None` if there is no log, or no event in it may be shared.
fn shared_events(
    company: &Company,
    run: &RunId,
    source: &str,
) -> Result<Option<SharedEvents>, Error> {
    let file = match company.open(source) {
        Ok(file) => file,
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut shared = SharedEvents {
        events: String::new(),
        count: 0,
        chain: Chain {
            schema_version: 1,
            run_id: run.to_string(),
            lines: Vec::new(),
        },
    };
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader
            .read_until(b'\n', &mut line)
            .map_err(|error| Error::io("read", company.path(source), error))?;
        if read == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if !text.is_empty() {
            shared.take(text);
        }
    }
    Ok((shared.count > 0).then_some(shared))
}

impl SharedEvents {
    fn take(&mut self, line: &str) {
        let members = serde_json::from_str::<BTreeMap<String, &RawValue>>(line).ok();
        let string = |key: &str| {
            let value = members.as_ref()?.get(key)?;
            let string = serde_json::from_str::<String>(value.get()).ok()?;
            Some(secret::redact(&string).0.into_owned())
        };
        let visibility = string("visibility");
        let is_json = serde_json::from_str::<&RawValue>(line).is_ok();
        let included = if is_json {
            matches!(visibility.as_deref(), Some("managers" | "org"))
        } else {
            !is_fragment_of_hidden_event(line)
        };
        let (shown, found) = if is_json {
            secret::redact_json(line)
        } else {
            secret::redact(line)
        };
        self.chain.lines.push(ChainLine {
            event_id: string("event_id"),
            event_hash: string("event_hash"),
            prev_event_hash: string("prev_event_hash"),
            visibility,
            redacted: included && found.total() > 0,
            included,
            line_sha256: included.then(|| sha256(&shown)),
        });
        if included {
            self.count += 1;
            self.events.push_str(&shown);
            self.events.push('\n');
        }
    }
}

/// Returns whether a line that is not JSON is a fragment of an event that may not be shared. Other text has no
/// visibility and is shared.
fn is_fragment_of_hidden_event(line: &str) -> bool {
    line.split("\"visibility\"").skip(1).any(|after_key| {
        let value = after_key.trim_start_matches([':', ' ', '\t']);
        !(value.starts_with("\"org\"") || value.starts_with("\"managers\""))
    })
}

fn is_shared(visibility: Visibility) -> bool {
    match visibility {
        Visibility::Managers | Visibility::Org => true,
        Visibility::PrivateAgent | Visibility::Team => false,
    }
}

/// Rejects a path that leaves `folder`, also through links. A missing file is reported by the reader.
fn checked_inside(company: &Company, folder: &str, relative: &str) -> Result<(), Error> {
    let is_below = layout::stays_below(relative)
        && Path::new(relative).starts_with(folder)
        && Path::new(relative) != Path::new(folder);
    let real = |relative: &str| company.path(relative).canonicalize().ok();
    let leads_out = match (real(folder), real(relative)) {
        (Some(folder), Some(file)) => !file.starts_with(folder),
        _ => false,
    };
    if is_below && !leads_out {
        Ok(())
    } else {
        Err(Error::Refused(format!(
            "`{relative}` is not inside the share pack `{folder}`"
        )))
    }
}

fn unusable(relative: &str, why: &dyn std::fmt::Display) -> Error {
    Error::FileInvalid {
        path: relative.to_owned(),
        issues: vec![Issue::new("custom", &[], why.to_string())],
    }
}

fn json(chain: &Chain, source: &str) -> Result<String, Error> {
    let mut text = serde_json::to_string_pretty(chain).map_err(|error| unusable(source, &error))?;
    text.push('\n');
    Ok(text)
}

fn sha256(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text))
}
