//! Proposed changes of agents docs that wait for a decision.

use data_encoding::HEXLOWER;
use entity::thread_agents_doc_proposal::Model;
use sea_orm::{DatabaseConnection, FromQueryResult as _, Value};
use sha2::{Digest as _, Sha256};

use crate::{
    CrudStore, DocScope, Error, SaveDoc, Saved, query,
    thread_agents_doc::{check, explicit, save},
    workspace,
};

/// The maximum number of pending proposals per author and workspace, so that one author cannot crowd out the others.
pub const MAX_PENDING_PROPOSALS: i64 = 100;

/// The repository of proposals.
#[derive(Debug)]
pub struct ThreadAgentsDocProposalRepository<'a>(pub(crate) &'a CrudStore);

/// A proposal and the current version of its document.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The row of the proposal.
    pub row: Model,
    /// The current version of the document; 0 if there is none.
    pub current_version: i64,
}

/// A proposal with the texts needed to review it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposalTexts {
    /// The proposal and its current version.
    pub proposal: Proposal,
    /// The text of the version that the proposal changes.
    pub base: String,
    /// The current text of the document.
    pub current: String,
}

/// The text of a scope in one version.
#[derive(Clone, Debug, PartialEq)]
pub struct BaseText {
    /// The version; 0 if there is no document.
    pub version: i64,
    /// The text; empty for version 0.
    pub content: String,
}

/// A proposal to store.
#[derive(Clone, Debug)]
pub struct NewProposal {
    /// The id of the proposal.
    pub id: String,
    /// The scope of the document.
    pub scope: DocScope,
    /// The proposed text and its base version.
    pub text: ProposedText,
    /// The reason for the change, as given by the author.
    pub rationale: String,
    /// The principal that proposes the change.
    pub author: String,
    /// The current time, in Unix seconds.
    pub now: i64,
}

/// A proposed text and its base version.
#[derive(Clone, Debug)]
pub struct ProposedText {
    /// The version that the proposal changes; 0 for no document.
    pub base_version: i64,
    /// The normalised text.
    pub content: String,
    /// SHA-256 of the text, lower-case hexadecimal.
    pub content_sha256: String,
    /// The length of the text, in characters.
    pub char_count: i64,
    /// The diff against the base version.
    pub diff: String,
}

/// Returns the hash that binds a decision: of the base version of a proposal and its proposed text. Versions of a scope
/// never repeat, so the number identifies the base text.
pub fn decision_sha256(proposal: &Model) -> String {
    let shown = format!(
        "{}\nbase_version {}\ncontent_sha256 {}\n",
        proposal.id, proposal.base_version, proposal.content_sha256
    );
    HEXLOWER.encode(&Sha256::digest(shown))
}

/// The filters of a list of proposals.
#[derive(Clone, Debug)]
pub struct ProposalQuery {
    /// The id of the workspace.
    pub workspace_id: String,
    /// Only proposals for this scope, if set: a folder, or `None` for the root.
    pub scope: Option<Option<String>>,
    /// Only proposals with this status, if set.
    pub status: Option<String>,
    /// The cursor of the page. Absent for the first page.
    pub after: Option<ProposalCursor>,
    /// The maximum number of proposals.
    pub limit: u64,
}

/// The cursor of a page: the last proposal of the previous page.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposalCursor {
    /// True if that proposal was pending.
    pub is_pending: bool,
    /// The creation time of that proposal, in Unix seconds.
    pub created_at: i64,
    /// The id of that proposal.
    pub id: String,
}

/// A decision on a proposal.
#[derive(Clone, Debug)]
pub struct DecideProposal {
    /// The id of the workspace.
    pub workspace_id: String,
    /// The id of the proposal.
    pub id: String,
    /// The outcome that the decision sets.
    pub verdict: ProposalVerdict,
    /// [`decision_sha256`] of the proposal that was reviewed. Absent to skip the check.
    pub expected_sha256: Option<String>,
    /// The principal that decides.
    pub author: String,
    /// The presence of that principal: `desktop`, `terminal` or `token`.
    pub via: String,
    /// A comment on the decision, if given.
    pub note: Option<String>,
    /// The current time, in Unix seconds.
    pub now: i64,
}

/// The outcome of a proposal.
#[derive(Clone, Debug, PartialEq)]
pub enum ProposalVerdict {
    /// The text is saved.
    Approve {
        /// The id for the document if it is new.
        new_id: String,
        /// The id for the revision.
        revision_id: String,
    },
    /// The proposal is rejected and the document is not changed.
    Deny,
    /// The author withdraws the proposal.
    Withdraw,
}

impl ProposalVerdict {
    fn status(&self) -> &'static str {
        match self {
            Self::Approve { .. } => "approved",
            Self::Deny => "denied",
            Self::Withdraw => "withdrawn",
        }
    }
}

/// The result of a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct DecidedProposal {
    /// The proposal after the decision.
    pub proposal: Proposal,
    /// The document saved by this call. Absent if this call saved none.
    pub saved: Option<Saved>,
    /// True if this call decided; false if the same decision was made earlier.
    pub is_new: bool,
}

impl ThreadAgentsDocProposalRepository<'_> {
    /// Returns the text of a scope in a version, or in the current one if none is given. Version 0 stands for no
    /// document.
    pub async fn base(&self, scope: DocScope, version: Option<i64>) -> Result<BaseText, Error> {
        self.0.read(move |db| base(db, &scope, version)).await
    }

    /// Stores a proposal. If the same author has an identical pending proposal, returns that one; the flag is true for
    /// a new one.
    pub async fn create(&self, new: NewProposal) -> Result<(Proposal, bool), Error> {
        self.0.write(move |db| create(db, &new)).await
    }

    /// Lists pending proposals first, then decided ones, each newest first, in one query.
    pub async fn list(&self, query: ProposalQuery) -> Result<Vec<Proposal>, Error> {
        self.0.read(move |db| list(db, &query)).await
    }

    /// Returns one proposal with the texts needed to review it.
    pub async fn get(&self, workspace_id: &str, id: &str) -> Result<ProposalTexts, Error> {
        let (workspace_id, id) = (workspace_id.to_owned(), id.to_owned());
        self.0.read(move |db| texts(db, &workspace_id, &id)).await
    }

    /// Decides a proposal; an approved text is saved in the same transaction.
    pub async fn decide(&self, decide: DecideProposal) -> Result<DecidedProposal, Error> {
        self.0.write(move |db| self::decide(db, &decide)).await
    }

    /// Moves a pending proposal to another base version, which must still be the current one.
    pub async fn rebase(
        &self,
        seen: Model,
        text: ProposedText,
        now: i64,
    ) -> Result<Proposal, Error> {
        self.0.write(move |db| rebase(db, &seen, &text, now)).await
    }
}

fn base(
    db: &DatabaseConnection,
    scope: &DocScope,
    version: Option<i64>,
) -> Result<BaseText, Error> {
    check(db, scope)?;
    match version {
        None => Ok(current(db, scope)?),
        Some(version) => Ok(BaseText {
            version,
            content: text_of(db, scope, version)?,
        }),
    }
}

/// Returns the current text of a scope.
fn current(db: &DatabaseConnection, scope: &DocScope) -> Result<BaseText, Error> {
    let doc = explicit(db, scope)?;
    Ok(doc.map_or(
        BaseText {
            version: 0,
            content: String::new(),
        },
        |doc| BaseText {
            version: doc.version,
            content: doc.content,
        },
    ))
}

/// Returns the text of a scope in a version, which may belong to any document the scope ever had.
fn text_of(db: &DatabaseConnection, scope: &DocScope, version: i64) -> Result<String, Error> {
    if version == 0 {
        return Ok(String::new());
    }
    let sql = "SELECT revision.content AS content FROM thread_agents_doc doc \
               JOIN thread_agents_doc_revision revision ON revision.doc_id = doc.id AND revision.version = $3 \
               WHERE doc.workspace_id = $1 AND doc.folder_id IS NOT DISTINCT FROM $2";
    let values = [
        scope.workspace_id.as_str().into(),
        scope.folder_id.clone().into(),
        version.into(),
    ];
    match query::one(db, sql, values)? {
        Some(row) => Ok(row.try_get("", "content")?),
        None => Err(Error::UnknownScopeVersion { version }),
    }
}

fn create(db: &DatabaseConnection, new: &NewProposal) -> Result<(Proposal, bool), Error> {
    check(db, &new.scope)?;
    let same = "SELECT * FROM thread_agents_doc_proposal \
                WHERE workspace_id = $1 AND status = 'pending' AND folder_id IS NOT DISTINCT FROM $2 \
                  AND base_version = $3 AND content_sha256 = $4 AND author = $5";
    let values: [Value; 5] = [
        new.scope.workspace_id.as_str().into(),
        new.scope.folder_id.clone().into(),
        new.text.base_version.into(),
        new.text.content_sha256.as_str().into(),
        new.author.as_str().into(),
    ];
    if let Some(row) = query::find::<Model, 5>(db, same, values)? {
        return Ok((with_current(db, row)?, false));
    }
    let count = "SELECT COUNT(*) AS waiting FROM thread_agents_doc_proposal \
                 WHERE workspace_id = $1 AND status = 'pending' AND author = $2";
    let values = [
        new.scope.workspace_id.as_str().into(),
        new.author.as_str().into(),
    ];
    let row = query::one(db, count, values)?;
    let waiting: i64 = row.map_or(Ok(0), |row| row.try_get("", "waiting"))?;
    if waiting >= MAX_PENDING_PROPOSALS {
        return Err(Error::TooManyProposals {
            limit: MAX_PENDING_PROPOSALS,
        });
    }
    let sql = "INSERT INTO thread_agents_doc_proposal (id, workspace_id, folder_id, status, base_version, content, \
                 content_sha256, char_count, diff, rationale, author, created_at, updated_at) \
               VALUES ($1, $2, $3, 'pending', $4, $5, $6, $7, $8, $9, $10, $11, $11) RETURNING *";
    let values: [Value; 11] = [
        new.id.as_str().into(),
        new.scope.workspace_id.as_str().into(),
        new.scope.folder_id.clone().into(),
        new.text.base_version.into(),
        new.text.content.as_str().into(),
        new.text.content_sha256.as_str().into(),
        new.text.char_count.into(),
        new.text.diff.as_str().into(),
        new.rationale.as_str().into(),
        new.author.as_str().into(),
        new.now.into(),
    ];
    let row =
        query::find(db, sql, values)?.ok_or_else(|| Error::UnknownProposal(new.id.clone()))?;
    Ok((with_current(db, row)?, true))
}

fn list(db: &DatabaseConnection, query: &ProposalQuery) -> Result<Vec<Proposal>, Error> {
    workspace::active(db, &query.workspace_id)?;
    let mut values: Vec<Value> = vec![query.workspace_id.as_str().into()];
    let mut filters = String::new();
    let mut filter = |sql: &str, given: Vec<Value>| {
        let mut sql = format!(" AND {sql}");
        for value in given {
            values.push(value);
            sql = sql.replacen("{}", &format!("${}", values.len()), 1);
        }
        filters.push_str(&sql);
    };
    if let Some(folder_id) = &query.scope {
        filter(
            "folder_id IS NOT DISTINCT FROM {}",
            vec![folder_id.clone().into()],
        );
    }
    if let Some(status) = &query.status {
        filter("status = {}", vec![status.as_str().into()]);
    }
    if let Some(after) = &query.after {
        // Decided proposals follow pending ones, and older proposals of each group follow newer ones.
        let (waits, over) = if after.is_pending {
            ("status = 'pending'", "status <> 'pending'")
        } else {
            ("status <> 'pending'", "FALSE")
        };
        let at = Value::from(after.created_at);
        filter(
            &format!(
                "({over} OR ({waits} AND (created_at < {{}} OR (created_at = {{}} AND id < {{}}))))"
            ),
            vec![at.clone(), at, after.id.as_str().into()],
        );
    }
    values.push(i64::try_from(query.limit).unwrap_or(i64::MAX).into());
    let order =
        |of: &str| format!("ORDER BY {of}status <> 'pending', {of}created_at DESC, {of}id DESC");
    // Sort only ids, not texts.
    let sql = format!(
        "SELECT proposal.*, COALESCE(doc.version, 0) AS current_version \
         FROM thread_agents_doc_proposal proposal \
         LEFT JOIN thread_agents_doc doc ON doc.workspace_id = proposal.workspace_id \
           AND doc.folder_id IS NOT DISTINCT FROM proposal.folder_id AND doc.status IN ('draft', 'active') \
         WHERE proposal.id IN ( \
           SELECT id FROM thread_agents_doc_proposal WHERE workspace_id = $1{filters} {} LIMIT ${}) {}",
        order(""),
        values.len(),
        order("proposal."),
    );
    let rows = query::all_of(db, &sql, values)?;
    let proposals = rows.iter().map(|row| {
        Ok(Proposal {
            row: Model::from_query_result(row, "")?,
            current_version: row.try_get("", "current_version")?,
        })
    });
    proposals.collect()
}

fn texts(db: &DatabaseConnection, workspace_id: &str, id: &str) -> Result<ProposalTexts, Error> {
    let row = find(db, workspace_id, id)?;
    let scope = scope_of(&row);
    let current = current(db, &scope)?;
    Ok(ProposalTexts {
        base: text_of(db, &scope, row.base_version)?,
        current: current.content,
        proposal: Proposal {
            current_version: current.version,
            row,
        },
    })
}

fn decide(db: &DatabaseConnection, decide: &DecideProposal) -> Result<DecidedProposal, Error> {
    let row = find(db, &decide.workspace_id, &decide.id)?;
    let status = decide.verdict.status();
    if row.status == status {
        return Ok(DecidedProposal {
            proposal: with_current(db, row)?,
            saved: None,
            is_new: false,
        });
    }
    check_pending(&row)?;
    if let Some(expected) = &decide.expected_sha256
        && !expected.eq_ignore_ascii_case(&decision_sha256(&row))
    {
        return Err(Error::ProposalChanged(Box::new(row)));
    }
    let saved = match &decide.verdict {
        ProposalVerdict::Deny | ProposalVerdict::Withdraw => None,
        ProposalVerdict::Approve {
            new_id,
            revision_id,
        } => {
            let save = SaveDoc {
                scope: scope_of(&row),
                new_id: new_id.clone(),
                revision_id: revision_id.clone(),
                content: row.content.clone(),
                content_sha256: row.content_sha256.clone(),
                char_count: row.char_count,
                expected_version: Some(row.base_version),
                reason: "proposal".to_owned(),
                author: decide.author.clone(),
                now: decide.now,
            };
            Some(self::save(db, &save)?)
        }
    };
    let sql = "UPDATE thread_agents_doc_proposal SET status = $2, decided_by = $3, decided_at = $4, note = $5, \
                 saved_doc_id = $6, saved_version = $7, decided_via = $8, updated_at = $4 \
               WHERE id = $1 RETURNING *";
    let doc = saved.as_ref().map(|saved| &saved.doc);
    let values: [Value; 8] = [
        row.id.as_str().into(),
        status.into(),
        decide.author.as_str().into(),
        decide.now.into(),
        decide.note.clone().into(),
        doc.map(|doc| doc.id.clone()).into(),
        doc.map(|doc| doc.version).into(),
        decide.via.as_str().into(),
    ];
    let row = query::find(db, sql, values)?.ok_or_else(|| Error::UnknownProposal(row.id))?;
    Ok(DecidedProposal {
        proposal: with_current(db, row)?,
        saved,
        is_new: true,
    })
}

fn rebase(
    db: &DatabaseConnection,
    seen: &Model,
    text: &ProposedText,
    now: i64,
) -> Result<Proposal, Error> {
    let row = find(db, &seen.workspace_id, &seen.id)?;
    check_pending(&row)?;
    if (row.base_version, &row.content_sha256) != (seen.base_version, &seen.content_sha256) {
        return Err(Error::ProposalChanged(Box::new(row)));
    }
    let doc = explicit(db, &scope_of(&row))?;
    let actual = doc.as_ref().map_or(0, |doc| doc.version);
    if actual != text.base_version {
        return Err(Error::VersionConflict {
            expected: text.base_version,
            actual,
            current: doc.map(Box::new),
        });
    }
    let sql = "UPDATE thread_agents_doc_proposal SET base_version = $2, content = $3, content_sha256 = $4, \
                 char_count = $5, diff = $6, updated_at = $7 \
               WHERE id = $1 RETURNING *";
    let values: [Value; 7] = [
        row.id.as_str().into(),
        text.base_version.into(),
        text.content.as_str().into(),
        text.content_sha256.as_str().into(),
        text.char_count.into(),
        text.diff.as_str().into(),
        now.into(),
    ];
    let row = query::find(db, sql, values)?.ok_or_else(|| Error::UnknownProposal(row.id))?;
    Ok(Proposal {
        row,
        current_version: actual,
    })
}

/// Withdraws the pending proposals of a folder that is being deleted.
pub(crate) fn withdraw_with_folder(
    db: &DatabaseConnection,
    scope: &DocScope,
    author: &str,
    now: i64,
) -> Result<Vec<Model>, Error> {
    let sql = "UPDATE thread_agents_doc_proposal SET status = 'withdrawn', decided_by = $3, decided_at = $4, \
                 note = 'the folder was deleted', updated_at = $4 \
               WHERE workspace_id = $1 AND status = 'pending' AND folder_id = $2 RETURNING *";
    let values: [Value; 4] = [
        scope.workspace_id.as_str().into(),
        scope.folder_id.clone().into(),
        author.into(),
        now.into(),
    ];
    query::list(db, sql, values)
}

fn find(db: &DatabaseConnection, workspace_id: &str, id: &str) -> Result<Model, Error> {
    workspace::active(db, workspace_id)?;
    let sql = "SELECT * FROM thread_agents_doc_proposal WHERE id = $1 AND workspace_id = $2";
    let found = query::find(db, sql, [id.into(), workspace_id.into()])?;
    found.ok_or_else(|| Error::UnknownProposal(id.to_owned()))
}

fn check_pending(row: &Model) -> Result<(), Error> {
    match row.status.as_str() {
        "pending" => Ok(()),
        _ => Err(Error::ProposalDecided(Box::new(row.clone()))),
    }
}

fn with_current(db: &DatabaseConnection, row: Model) -> Result<Proposal, Error> {
    let doc = explicit(db, &scope_of(&row))?;
    Ok(Proposal {
        current_version: doc.map_or(0, |doc| doc.version),
        row,
    })
}

fn scope_of(row: &Model) -> DocScope {
    DocScope {
        workspace_id: row.workspace_id.clone(),
        folder_id: row.folder_id.clone(),
    }
}
