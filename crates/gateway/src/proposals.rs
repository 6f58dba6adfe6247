//! Proposals for AGENTS.md documents: comparison, merging and notifications, for every kind of author.

use crud::{BaseText, CrudStore, DocScope, NewProposal, Proposal, ProposalTexts, ProposedText};
use diffy::{DiffOptions, PatchFormatter};
use protocol::{
    AgentsDocProposalId,
    thread::agents_doc::{
        MAX_CONTENT_CHARS,
        proposal::{MAX_RATIONALE_CHARS, ThreadAgentsDocProposalChangedNotification},
    },
};
use rpc::{Failure, FailureKind, Publication};
use sources::Sources;

use crate::{blocking::blocking, rows};

/// The maximum number of lines that may differ between two texts. The cost of a comparison is quadratic in it.
const MAX_CHANGED_LINES: usize = 20_000;

/// A validated document text with its hash and length.
pub(crate) struct DocText {
    pub(crate) content: String,
    pub(crate) sha256: String,
    pub(crate) char_count: i64,
}

impl DocText {
    /// Validates the length of the received text and converts line endings to LF. Nothing else may change, because
    /// clients compare the hash of the text they sent with the returned hash.
    pub(crate) fn checked(path: &str, received: &str) -> Result<Self, Failure> {
        check_text(path, received, MAX_CONTENT_CHARS)?;
        let content = with_lf(received);
        Ok(Self {
            sha256: crate::sha256_hex(&content),
            char_count: i64::try_from(content.chars().count()).unwrap_or(i64::MAX),
            content,
        })
    }
}

/// Converts line endings to LF, the form stored in the thread tree.
pub fn with_lf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn check_text(path: &str, text: &str, limit: usize) -> Result<(), Failure> {
    let length = text.chars().count();
    if length > limit {
        let message = format!("expected at most {limit} characters, found {length}");
        return Err(Failure::params(FailureKind::TooLarge, message)
            .with("path", path)
            .with("limit", limit));
    }
    if text.contains('\0') {
        Err(Failure::param(path, "expected text, found a NUL character"))
    } else {
        Ok(())
    }
}

/// Validates a rationale or note. Returns it trimmed, or `None` if it is empty.
pub(crate) fn checked_words(path: &str, words: &str) -> Result<Option<String>, Failure> {
    check_text(path, words, MAX_RATIONALE_CHARS)?;
    let words = words.trim();
    Ok((!words.is_empty()).then(|| words.to_owned()))
}

/// A requested change of an agents doc.
pub(crate) struct ProposalRequest {
    pub(crate) scope: DocScope,
    pub(crate) text: DocText,
    /// The version that the change is based on; `None` for the current one.
    pub(crate) base_version: Option<i64>,
    pub(crate) rationale: String,
    pub(crate) author: String,
}

/// Stores a proposal and returns whether it is new.
pub(crate) async fn propose(
    store: &CrudStore,
    sources: &Sources,
    request: ProposalRequest,
) -> Result<(Proposal, bool), Failure> {
    let proposals = store.agents_doc_proposals();
    let base = proposals
        .base(request.scope.clone(), request.base_version)
        .await
        .map_err(failure)?;
    let new = NewProposal {
        id: sources.id::<AgentsDocProposalId>().into(),
        scope: request.scope,
        text: compared(base, request.text).await?,
        rationale: request.rationale,
        author: request.author,
        now: sources.clock.now(),
    };
    proposals.create(new).await.map_err(failure)
}

/// Merges a proposal with the current version of its document (three-way merge). Fails with `MergeConflict` if both
/// changed the same lines.
pub(crate) async fn merged(texts: &ProposalTexts) -> Result<DocText, Failure> {
    let ProposalTexts {
        proposal,
        base,
        current,
    } = texts.clone();
    let (version, proposed) = (proposal.current_version, proposal.row.content);
    // Comparing long texts is slow.
    let merged = blocking(move || {
        check_comparable(&base, &current)?;
        check_comparable(&base, &proposed)?;
        diffy::merge(&base, &current, &proposed).map_err(|with_marks| {
            Failure::state(
                FailureKind::MergeConflict,
                format!(
                    "proposal `{}` and version {version} change the same lines",
                    proposal.row.id
                ),
            )
            .with("current_version", version)
            .with("base", base)
            .with("current", current)
            .with("proposed", proposed)
            .with("marked", with_marks)
            .hint("give the merged text as `content`, and `current_version`")
        })
    });
    DocText::checked("/content", &merged.await??)
}

/// Returns the proposed text with its diff to the base. Rejects a text equal to the base.
pub(crate) async fn compared(base: BaseText, text: DocText) -> Result<ProposedText, Failure> {
    if base.content == text.content {
        return Err(Failure::param(
            "/content",
            format!("the text is the same as that of version {}", base.version),
        ));
    }
    let compared = blocking(move || {
        let names = ["a/AGENTS.md", "b/AGENTS.md"];
        Ok(ProposedText {
            diff: unified_diff(names, &base.content, &text.content)?,
            base_version: base.version,
            content: text.content,
            content_sha256: text.sha256,
            char_count: text.char_count,
        })
    });
    compared.await?
}

/// Returns the unified diff of two texts with the given file names.
pub fn unified_diff(names: [&str; 2], before: &str, after: &str) -> Result<String, Failure> {
    check_comparable(before, after)?;
    let [original, modified] = names.map(str::to_owned);
    let mut options = DiffOptions::new();
    options
        .set_original_filename(original)
        .set_modified_filename(modified);
    let patch = options.create_patch(before, after);
    let shown = PatchFormatter::new().suppress_blank_empty(false);
    Ok(shown.fmt_patch(&patch).to_string())
}

fn check_comparable(left: &str, right: &str) -> Result<(), Failure> {
    let (left, right): (Vec<_>, Vec<_>) = (left.lines().collect(), right.lines().collect());
    let shorter = left.len().min(right.len());
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let before = left.iter().zip(&right).take_while(same).count();
    let after = left.iter().rev().zip(right.iter().rev());
    let after = after.take(shorter - before).take_while(same).count();
    let changed = left.len() + right.len() - 2 * (before + after);
    if changed <= MAX_CHANGED_LINES {
        return Ok(());
    }
    let message =
        format!("expected at most {MAX_CHANGED_LINES} lines that differ, found {changed}");
    Err(Failure::params(FailureKind::TooLarge, message)
        .with("path", "/content")
        .with("limit", MAX_CHANGED_LINES))
}

/// Builds the `thread/agents_doc/proposal/changed` notification for the subscribers of the workspace.
pub(crate) fn changed(
    row: &entity::thread_agents_doc_proposal::Model,
) -> Result<Publication, Failure> {
    let payload: ThreadAgentsDocProposalChangedNotification = rows::proposal_changed(row)?;
    Ok(Publication::new(row.workspace_id.as_str(), &payload))
}

/// Converts a database error of a proposal method to an RPC failure.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "other failures are mapped as elsewhere"
)]
pub(crate) fn failure(error: crud::Error) -> Failure {
    let message = error.to_string();
    match error {
        crud::Error::UnknownFolder { .. } => {
            Failure::params(FailureKind::UnknownFolder, message).with("path", "/folder_id")
        }
        crud::Error::UnknownScopeVersion { .. } => {
            Failure::params(FailureKind::UnknownRevision, message).with("path", "/base_version")
        }
        crud::Error::VersionConflict {
            expected,
            actual,
            current,
        } => {
            let message = format!(
                "the proposal changes version {expected}, and the current version is {actual}"
            );
            rows::version_conflict(message, (expected, actual), current)
                .hint("rebase it with `thread/agents_doc/proposal/rebase`")
        }
        other => rows::failure(other),
    }
}
