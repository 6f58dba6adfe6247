//! The basis of a decision: every file that is shown to the deciding actor, read once.
//!
//! A decision compares the hash of its basis with the hash that was shown, and then uses the bytes of that same basis.
//! Replacing a file between showing and deciding changes the hash and rejects the decision; replacing it between
//! comparing and applying has no effect, because the file is not read again.

use protocol::company::{
    DocumentId, Issue, ProjectId,
    inbox::{InboxFile, InboxFileRole, InboxReadResponse},
};
use sha2::{Digest as _, Sha256};

use crate::{
    Company, Error,
    document::{ActionProposalHead, Document, DocumentKind, Markdown, MemoryDeltaHead},
    documents::{self, LooseHead},
    event_log::hex,
    folder::intent::sha256,
    format::front_matter,
    inbox, layout, memory,
    pipeline::gate,
    planning::milestone,
    policy::{self, Action, Actor, Resource, Subject},
};

/// Maximum length of a shown text; longer files are truncated. The hash always covers the whole file.
pub(crate) const MAX_SHOWN_BYTES: usize = 1 << 20;

/// The files on which a decision is based, the document first.
#[derive(Clone, Debug)]
pub struct Basis {
    files: Vec<BasisFile>,
}

#[derive(Clone, Debug)]
struct BasisFile {
    role: InboxFileRole,
    relpath: String,
    /// Absent if the file does not exist or cannot be read.
    bytes: Option<Vec<u8>>,
}

impl Basis {
    /// Reads the document and the files that a decision about it is based on. A malformed document is its own basis,
    /// together with the files whose paths follow from its id.
    pub fn read(
        company: &Company,
        project: &ProjectId,
        artifact: &DocumentId,
    ) -> Result<Self, Error> {
        let relpath = layout::document(project, artifact);
        let bytes = company
            .read_bytes(&relpath)
            .map_err(|error| error.or_not_found("Artifact", artifact.as_str()))?;
        let mut basis = Self {
            files: vec![BasisFile {
                role: InboxFileRole::Document,
                relpath,
                bytes: Some(bytes),
            }],
        };
        for (role, relpath) in basis.related_files(company, project, artifact) {
            let bytes = company.read_bytes(&relpath).ok();
            basis.files.push(BasisFile {
                role,
                relpath,
                bytes,
            });
        }
        Ok(basis)
    }

    /// Paths of the files that belong to the basis besides the document, depending on its type.
    fn related_files(
        &self,
        company: &Company,
        project: &ProjectId,
        artifact: &DocumentId,
    ) -> Vec<(InboxFileRole, String)> {
        let head = self.loose_head();
        let kind = head.kind().unwrap_or_default();
        if kind == DocumentKind::MemoryDelta.as_str() {
            let delta = self.document::<MemoryDeltaHead>().ok();
            let target = delta.and_then(|delta| memory::target_of(&delta.head, project));
            let patch = (InboxFileRole::Patch, memory::patch_of(project, artifact));
            let target = target.map(|target| (InboxFileRole::Target, target));
            std::iter::once(patch).chain(target).collect()
        } else if kind == DocumentKind::MilestoneReport.as_str() {
            let report = self.document();
            report.map_or_else(
                |_| Vec::new(),
                |report| milestone::rests_on(company, project, &report.head),
            )
        } else if kind == DocumentKind::HeartbeatActionProposal.as_str() {
            let plans = self
                .document::<ActionProposalHead>()
                .map_or_else(|_| Vec::new(), |proposal| gate::plans_of(&proposal.head));
            let of_plan = |plan: &DocumentId| layout::document(project, plan);
            let plans = plans.iter().map(of_plan);
            plans.map(|plan| (InboxFileRole::Plan, plan)).collect()
        } else {
            Vec::new()
        }
    }

    /// The hash that binds a decision: the SHA-256 of one line per file in the format of `sha256sum`, with `-` as the
    /// hash of an unreadable file.
    pub fn sha256(&self) -> String {
        let mut hasher = Sha256::new();
        for file in &self.files {
            let hash = file.sha256();
            let hash = hash.as_deref().unwrap_or("-");
            hasher.update(format!("{hash}  {}\n", file.relpath));
        }
        hex(&hasher.finalize())
    }

    /// The files without their texts.
    pub fn files(&self) -> Vec<InboxFile> {
        self.files.iter().map(BasisFile::without_text).collect()
    }

    /// The hash of the document alone.
    pub(crate) fn document_sha256(&self) -> String {
        self.files[0].sha256().unwrap_or_default()
    }

    /// Parses the document as type `T`; the error lists what is wrong with it.
    pub(crate) fn document<T: Document>(&self) -> Result<Markdown<T>, Error> {
        self.files[0].markdown()
    }

    /// The readable part of the front matter of the document; empty if nothing can be read.
    pub(crate) fn loose_head(&self) -> LooseHead {
        let document = self.document::<LooseHead>();
        document.map_or_else(|_| LooseHead::default(), |document| document.head)
    }

    /// Parses the first file with the given role; the error lists what is wrong with it.
    pub(crate) fn markdown<T: Document>(&self, role: InboxFileRole) -> Result<Markdown<T>, Error> {
        self.first(role)?.markdown()
    }

    /// The text of the first file with the given role.
    pub(crate) fn text(&self, role: InboxFileRole) -> Result<&str, Error> {
        self.first(role)?.text()
    }

    /// The text of a file, if it is part of the basis and can be read.
    pub(crate) fn text_at(&self, relpath: &str) -> Option<&str> {
        let mut files = self.files.iter();
        files.find(|file| file.relpath == relpath)?.text().ok()
    }

    fn first(&self, role: InboxFileRole) -> Result<&BasisFile, Error> {
        let found = self.files.iter().find(|file| file.role == role);
        found.ok_or_else(|| Error::Missing(self.files[0].relpath.clone()))
    }
}

impl BasisFile {
    fn sha256(&self) -> Option<String> {
        self.bytes.as_deref().map(sha256)
    }

    fn without_text(&self) -> InboxFile {
        InboxFile {
            role: self.role,
            relpath: self.relpath.clone(),
            sha256: self.sha256(),
            text: None,
            truncated: None,
        }
    }

    fn with_text(&self) -> InboxFile {
        let bytes = self.bytes.as_deref();
        let shown = bytes.map(|bytes| &bytes[..bytes.len().min(MAX_SHOWN_BYTES)]);
        let is_cut = bytes.is_some_and(|bytes| bytes.len() > MAX_SHOWN_BYTES);
        InboxFile {
            text: shown.map(|bytes| String::from_utf8_lossy(bytes).into_owned()),
            truncated: is_cut.then_some(true),
            ..self.without_text()
        }
    }

    fn text(&self) -> Result<&str, Error> {
        let bytes = self.bytes.as_deref();
        let bytes = bytes.ok_or_else(|| Error::Missing(self.relpath.clone()))?;
        std::str::from_utf8(bytes).map_err(|error| {
            let detail = format!("the file is not UTF-8 at byte {}", error.valid_up_to());
            self.invalid(vec![Issue::new("parse_error", &[], detail)])
        })
    }

    fn markdown<T: Document>(&self) -> Result<Markdown<T>, Error> {
        Markdown::parse(self.text()?).map_err(|issues| self.invalid(issues))
    }

    fn invalid(&self, issues: Vec<Issue>) -> Error {
        Error::FileInvalid {
            path: self.relpath.clone(),
            issues,
        }
    }
}

/// Returns the basis of a decision about a document to an actor who may decide about it.
pub fn show(
    company: &Company,
    project: &ProjectId,
    artifact: &DocumentId,
    actor: &Actor,
) -> Result<InboxReadResponse, Error> {
    let basis = Basis::read(company, project, artifact)?;
    let head = basis.loose_head();
    let kind = head.kind().unwrap_or_default();
    let produced_by = head.produced_by().unwrap_or_default();
    let team = policy::team_of(company, produced_by);
    let is_delta = kind == DocumentKind::MemoryDelta.as_str();
    let subject = Subject {
        project,
        run: head.run_id(),
        resource_id: artifact.as_str(),
        resource: Resource {
            team_id: team.as_deref(),
            producing_actor_id: Some(produced_by),
            kind: Some(if is_delta { memory::KIND } else { "artifact" }),
            sensitivity: head.sensitivity(),
            // A document without a valid visibility gets the most restrictive one.
            ..Resource::visible(
                head.visibility()
                    .unwrap_or(protocol::company::Visibility::PrivateAgent),
            )
        },
    };
    policy::check(company, actor, Action::Read, &subject)?;
    policy::require(actor, Action::Approve, &subject)?;
    let text = basis.files[0].text()?;
    let front = front_matter::split(text)
        .map_err(|word| basis.files[0].invalid(vec![Issue::new("frontmatter", &[], word)]))?;
    let serde_json::Value::Object(frontmatter) = front.head else {
        return Err(inbox::unsupported(kind, artifact));
    };
    let files = basis.files.iter().map(|file| {
        if is_hidden(company, project, actor, file) {
            file.without_text()
        } else {
            file.with_text()
        }
    });
    Ok(InboxReadResponse {
        project_id: project.clone(),
        artifact_id: artifact.clone(),
        artifact_type: kind.to_owned(),
        frontmatter,
        sha256: basis.sha256(),
        files: files.collect(),
    })
}

/// Whether a file is a separate document that the actor may not read.
fn is_hidden(company: &Company, project: &ProjectId, actor: &Actor, file: &BasisFile) -> bool {
    let is_other = matches!(file.role, InboxFileRole::Evidence | InboxFileRole::Plan);
    let folder = layout::documents(project);
    let name = file.relpath.strip_prefix(&folder);
    let name = name.and_then(|name| name.strip_prefix('/')?.strip_suffix(".md"));
    let Some(id) = name.filter(|_| is_other && file.bytes.is_some()) else {
        return false;
    };
    let id = <DocumentId as protocol::Id>::parse(id);
    !id.is_ok_and(|id| documents::read(company, project, &id, actor, None).is_ok())
}
