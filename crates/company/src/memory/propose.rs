//! Proposes a memory delta: validates the lines and writes the delta, its patch and an event.

use protocol::{
    Id as _,
    company::{
        AgentId, ContextPackId, DocumentId, MemoryScopeKind, ProjectId, RunId, Sensitivity, Text,
        Visibility,
    },
};
use serde_json::json;

use super::patch;
use crate::{
    Company, Error, Writer, decisions::memory_delta::MemoryScope, document::MemoryDeltaHead,
    documents, folder::intent::WriteSet, layout, org::text, policy, secret,
};

/// Content of a new delta.
#[derive(Clone, Debug)]
pub struct NewDelta {
    /// Id of the delta; generated if absent.
    pub id: Option<DocumentId>,
    /// Project in which the delta is stored.
    pub project_id: ProjectId,
    /// Title of the delta.
    pub title: Text,
    /// Kind of memory that the delta changes.
    pub scope_kind: MemoryScopeKind,
    /// Project or agent whose memory changes. Required for `agent_guidance`; defaults to the project for
    /// `project_memory`.
    pub scope_ref: Option<Text>,
    /// Sensitivity of the delta.
    pub sensitivity: Sensitivity,
    /// Reason for the change; must not be blank.
    pub rationale: String,
    /// Complete heading line under which the lines are inserted.
    pub under_heading: String,
    /// Lines to insert, each without a line break.
    pub insert_lines: Vec<Text>,
    /// Visibility of the delta.
    pub visibility: Visibility,
    /// Actor that proposes the delta.
    pub produced_by: Text,
    /// Run that produced the delta.
    pub run_id: RunId,
    /// Context pack of that run.
    pub context_pack_id: ContextPackId,
    /// Artifact ids that support the change; at least one is required.
    pub evidence: Vec<Text>,
}

/// A delta that [`propose`] has written.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposed {
    /// Id of the delta.
    pub artifact_id: DocumentId,
    /// Path of the delta, relative to the company folder.
    pub artifact_relpath: String,
    /// Path of its patch, relative to the company folder.
    pub patch_relpath: String,
    /// Path of the memory or guidance file that the delta changes, relative to the company folder.
    pub target_file: String,
    /// Kind of that memory.
    pub scope_kind: MemoryScopeKind,
    /// Id of the project or agent that the memory belongs to.
    pub scope_ref: String,
}

/// Writes a delta. The memory itself does not change before the delta is approved.
pub fn propose(company: &Company, new: &NewDelta) -> Result<Proposed, Error> {
    company.write(|writer| propose_within(writer, new))
}

/// [`propose`] for a caller that already holds the write lock.
pub(crate) fn propose_within(writer: &Writer<'_>, new: &NewDelta) -> Result<Proposed, Error> {
    let company = writer.company();
    let rationale = Text::new(new.rationale.trim())
        .ok_or_else(|| Error::Refused("rationale is required".to_owned()))?;
    let evidence: Vec<Text> = new
        .evidence
        .iter()
        .filter_map(|one| Text::new(one.trim()))
        .collect();
    if evidence.is_empty() {
        return Err(Error::Refused(
            "evidence must contain at least one non-empty artifact id".to_owned(),
        ));
    }
    if new.sensitivity == Sensitivity::Restricted && new.visibility == Visibility::Org {
        return Err(Error::Refused(
            "restricted memory deltas cannot use org visibility".to_owned(),
        ));
    }
    check_lines(new)?;
    secret::refuse("memory_delta.title", &new.title)?;
    secret::refuse("memory_delta.rationale", &rationale)?;
    secret::refuse("memory_delta.insert_lines", &joined(&new.insert_lines))?;
    let scope = scope(new)?;
    let target_file = scope.target();
    let before = company.read_text(&target_file).map_err(|error| {
        if error.is_missing() {
            Error::Refused(format!("Target memory file does not exist: {target_file}"))
        } else {
            error
        }
    })?;
    let after = patch::insert_under(&before, &new.under_heading, &texts(&new.insert_lines))?;
    let patch = patch::between(&target_file, &before, &after);
    if patch::applied(&patch, &before).as_deref() != Some(&*after) {
        return Err(Error::Refused(
            "the change of the target file cannot be written as a patch".to_owned(),
        ));
    }
    secret::refuse("memory_delta.patch", &patch)?;
    let id = new.id.clone().unwrap_or_else(|| company.sources().id());
    let relpath = layout::document(&new.project_id, &id);
    let patch_file = format!("{}/{id}.patch", layout::documents(&new.project_id));
    let head = MemoryDeltaHead {
        schema_version: 2,
        r#type: Default::default(),
        id: text(&id),
        created_at: text(writer.now()),
        title: new.title.clone(),
        visibility: new.visibility,
        produced_by: new.produced_by.clone(),
        run_id: text(&new.run_id),
        context_pack_id: text(&new.context_pack_id),
        project_id: text(&new.project_id),
        target_file: text(&target_file),
        patch_file: text(&patch_file),
        scope_kind: Some(scope.kind()),
        scope_ref: Some(text(scope.id())),
        sensitivity: Some(new.sensitivity),
        rationale: Some(rationale),
        evidence: Some(evidence),
    };
    let event = policy::managers_event(
        company,
        &new.run_id,
        &new.produced_by,
        "memory.delta.proposed",
        &json!({
            "artifact_id": id,
            "target_file": target_file,
            "patch_file": patch_file,
            "scope_kind": scope.kind(),
            "scope_ref": scope.id(),
            "sensitivity": new.sensitivity,
        }),
    )?;
    writer.put_all(&WriteSet {
        files: vec![
            (patch_file.clone(), patch),
            (relpath.clone(), documents::print(&head, &body(&head, new))?),
        ],
        events: vec![(new.project_id.clone(), event)],
        ..WriteSet::default()
    })?;
    Ok(Proposed {
        artifact_id: id,
        artifact_relpath: relpath,
        patch_relpath: patch_file,
        target_file,
        scope_kind: scope.kind(),
        scope_ref: scope.id().to_owned(),
    })
}

fn scope(new: &NewDelta) -> Result<MemoryScope, Error> {
    let given = new.scope_ref.as_deref().map(str::trim);
    match (new.scope_kind, given) {
        (MemoryScopeKind::ProjectMemory, Some(given)) if given != new.project_id.as_str() => {
            Err(Error::Refused(format!(
                "scope_ref must match project_id for project_memory scope (expected {}, got {given})",
                new.project_id
            )))
        }
        (MemoryScopeKind::ProjectMemory, _) => Ok(MemoryScope::Project(new.project_id.clone())),
        (MemoryScopeKind::AgentGuidance, None | Some("")) => Err(Error::Refused(
            "scope_ref is required for agent_guidance scope".to_owned(),
        )),
        (MemoryScopeKind::AgentGuidance, Some(agent)) => AgentId::parse(agent)
            .map(MemoryScope::Agent)
            .map_err(|error| Error::Refused(format!("scope_ref is not an agent id: {error}"))),
    }
}

/// Rejects entries with line breaks, and headings that would end the section they are inserted into.
fn check_lines(new: &NewDelta) -> Result<(), Error> {
    let level = heading_level(&new.under_heading);
    for line in &new.insert_lines {
        if line.contains(['\n', '\r']) {
            return Err(Error::Refused(
                "a line of insert_lines contains a line break: pass each line as a separate entry"
                    .to_owned(),
            ));
        }
        let line_level = heading_level(line);
        if line_level > 0 && level > 0 && line_level <= level {
            return Err(Error::Refused(format!(
                "a line of insert_lines is a heading of level {line_level}, which would end the section `{}`",
                new.under_heading
            )));
        }
    }
    Ok(())
}

/// Level of a Markdown heading; 0 for every other line.
fn heading_level(line: &str) -> usize {
    let level = line.len() - line.trim_start_matches('#').len();
    let is_heading = (1..=6).contains(&level) && line[level..].starts_with([' ', '\t']);
    if is_heading { level } else { 0 }
}

fn texts(lines: &[Text]) -> Vec<&str> {
    lines.iter().map(Text::as_str).collect()
}

fn joined(lines: &[Text]) -> String {
    texts(lines).join("\n")
}

fn body(head: &MemoryDeltaHead, new: &NewDelta) -> String {
    let (title, target, patch) = (&head.title, &head.target_file, &head.patch_file);
    let rationale = head.rationale.as_deref().unwrap_or_default();
    let scope_ref = head.scope_ref.as_deref().unwrap_or_default();
    let (scope_kind, sensitivity) = (new.scope_kind, new.sensitivity);
    let heading = &new.under_heading;
    let lines = joined(&new.insert_lines);
    // The fence is longer than every run of backticks in the lines, so that no line can close it.
    let longest = lines
        .split(|character| character != '`')
        .map(str::len)
        .max();
    let fence = "`".repeat((longest.unwrap_or(0) + 1).max(3));
    let evidence: String = head
        .evidence
        .iter()
        .flatten()
        .map(|one| format!("- {one}\n"))
        .collect();
    format!(
        "# {title}\n\n## Summary\n\n- rationale: {rationale}\n- scope_kind: `{scope_kind}`\n\
         - scope_ref: `{scope_ref}`\n- sensitivity: `{sensitivity}`\n\n\
         ## Changes\n\n- target_file: `{target}`\n- patch_file: `{patch}`\n- inserted_under: `{heading}`\n\n\
         {fence}text\n{lines}\n{fence}\n\n## Evidence\n\n{evidence}"
    )
}
