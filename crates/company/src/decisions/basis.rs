//! The basis of a decision: every file that is shown to the deciding actor, read once.
//!
//! A decision compares the hash of its basis with the hash that was shown, and then uses the bytes of that same basis.
//! Replacing a file between showing and deciding changes the hash and rejects the decision; replacing it between
//! comparing and applying has no effect, because the file is not read again.

use protocol::company::{
    DocumentId, Issue, ProjectId,
    inbox::{InboxFile, InboxFileRole},
};
use sha2::{Digest as _, Sha256};

use crate::{
    Company, Error,
    decisions::{evidence, memory_delta, plan_approval},
    document::{ActionProposalHead, Document, DocumentKind, Markdown, MemoryDeltaHead},
    documents::LooseHead,
    event_log::hex,
    folder::intent::sha256,
    layout,
};

/// Maximum length of a shown text; longer files are truncated. The hash always covers the whole file.
pub(crate) const MAX_SHOWN_BYTES: usize = 1 << 20;

/// The files on which a decision is based, the document first.
#[derive(Clone, Debug)]
pub struct Basis {
    pub(crate) files: Vec<BasisFile>,
}

/// One file of a basis.
#[derive(Clone, Debug)]
pub(crate) struct BasisFile {
    pub(crate) role: InboxFileRole,
    pub(crate) relpath: String,
    /// Absent if the file does not exist or cannot be read.
    pub(crate) bytes: Option<Vec<u8>>,
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
            let target = delta.and_then(|delta| memory_delta::target_of(&delta.head, project));
            let patch = (
                InboxFileRole::Patch,
                memory_delta::patch_of(project, artifact),
            );
            let target = target.map(|target| (InboxFileRole::Target, target));
            std::iter::once(patch).chain(target).collect()
        } else if kind == DocumentKind::MilestoneReport.as_str() {
            let report = self.document();
            report.map_or_else(
                |_| Vec::new(),
                |report| evidence::rests_on(company, project, &report.head),
            )
        } else if kind == DocumentKind::HeartbeatActionProposal.as_str() {
            let plans = self.document::<ActionProposalHead>().map_or_else(
                |_| Vec::new(),
                |proposal| plan_approval::plans_of(&proposal.head),
            );
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

    pub(crate) fn without_text(&self) -> InboxFile {
        InboxFile {
            role: self.role,
            relpath: self.relpath.clone(),
            sha256: self.sha256(),
            text: None,
            truncated: None,
        }
    }

    pub(crate) fn with_text(&self) -> InboxFile {
        let bytes = self.bytes.as_deref();
        let shown = bytes.map(|bytes| &bytes[..bytes.len().min(MAX_SHOWN_BYTES)]);
        let is_cut = bytes.is_some_and(|bytes| bytes.len() > MAX_SHOWN_BYTES);
        InboxFile {
            text: shown.map(|bytes| String::from_utf8_lossy(bytes).into_owned()),
            truncated: is_cut.then_some(true),
            ..self.without_text()
        }
    }

    pub(crate) fn text(&self) -> Result<&str, Error> {
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

    pub(crate) fn invalid(&self, issues: Vec<Issue>) -> Error {
        Error::FileInvalid {
            path: self.relpath.clone(),
            issues,
        }
    }
}
