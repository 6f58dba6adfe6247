//! Changes of AGENTS.md documents that wait for a decision.

use entity::thread_agents_doc_proposal::Model;
use sea_orm::{DatabaseConnection, FromQueryResult as _, Value};
use sha2::{Digest as _, Sha256};

use crate::{
    CrudStore, DocScope, Error, SaveDoc, Saved, query,
    thread_agents_doc::{check, explicit, save},
    workspace,
};

/// The most proposals of one author that wait in a workspace: nobody takes the place of others.
pub const MAX_PENDING_PROPOSALS: i64 = 100;

/// The operations on proposals.
#[derive(Debug)]
pub struct ThreadAgentsDocProposalRepository<'a>(pub(crate) &'a CrudStore);

/// A proposal, and the version its document has now.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The proposal.
    pub row: Model,
    /// 0 if there is no document.
    pub current_version: i64,
}

/// A proposal and the texts it stands between.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposalTexts {
    /// The proposal.
    pub proposal: Proposal,
    /// What it changes.
    pub base: String,
    /// What the document says now.
    pub current: String,
}

/// A text of a scope and its version.
#[derive(Clone, Debug, PartialEq)]
pub struct BaseText {
    /// 0 for no document.
    pub version: i64,
    /// The text.
    pub content: String,
}

/// A change to propose.
#[derive(Clone, Debug)]
pub struct NewProposal {
    /// Its id.
    pub id: String,
    /// Where.
    pub scope: DocScope,
    /// The text and what it changes.
    pub text: ProposedText,
    /// Why.
    pub rationale: String,
    /// Who proposes it.
    pub author: String,
    /// Unix seconds.
    pub now: i64,
}

/// A proposed text and what it changes.
#[derive(Clone, Debug)]
pub struct ProposedText {
    /// The version it changes.
    pub base_version: i64,
    /// The normalised text.
    pub content: String,
    /// SHA-256 of the text.
    pub content_sha256: String,
    /// The length of the text.
    pub char_count: i64,
    /// The change.
    pub diff: String,
}

/// The hash that binds a decision: of the version a proposal changes and of the text it puts in its place. Versions of a
/// scope never repeat, so the number names the text.
pub fn decision_sha256(proposal: &Model) -> String {
    let shown = format!(
        "{}\nbase_version {}\ncontent_sha256 {}\n",
        proposal.id, proposal.base_version, proposal.content_sha256
    );
    let digest = Sha256::digest(shown);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Which proposals to list.
#[derive(Clone, Debug)]
pub struct ProposalQuery {
    /// The workspace.
    pub workspace_id: String,
    /// Only of this scope: a folder, or none for the root.
    pub scope: Option<Option<String>>,
    /// Only with this status.
    pub status: Option<String>,
    /// Where to go on.
    pub after: Option<ProposalCursor>,
    /// The most proposals.
    pub limit: u64,
}

/// The last proposal of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposalCursor {
    /// Whether it waited.
    pub is_pending: bool,
    /// When it was made.
    pub created_at: i64,
    /// Its id.
    pub id: String,
}

/// What is decided about a proposal.
#[derive(Clone, Debug)]
pub struct DecideProposal {
    /// The workspace.
    pub workspace_id: String,
    /// The proposal.
    pub id: String,
    /// What is decided.
    pub verdict: ProposalVerdict,
    /// [`decision_sha256`] of what was looked at.
    pub expected_sha256: Option<String>,
    /// Who decides.
    pub author: String,
    /// How they are present.
    pub via: String,
    /// What they say.
    pub note: Option<String>,
    /// Unix seconds.
    pub now: i64,
}

/// How a proposal ends.
#[derive(Clone, Debug, PartialEq)]
pub enum ProposalVerdict {
    /// Its text is saved.
    Approve {
        /// The id of the document, if it is new.
        new_id: String,
        /// The id of the revision.
        revision_id: String,
    },
    /// Nothing is changed.
    Deny,
    /// Whoever made it takes it back.
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

/// What came of a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// The proposal as it is now.
    pub proposal: Proposal,
    /// What was saved by this very call.
    pub saved: Option<Saved>,
    /// Whether this call decided, and not an earlier one.
    pub is_new: bool,
}

impl ThreadAgentsDocProposalRepository<'_> {
    /// The text of a version of a scope; of the current one if none is named. Version 0 is no document.
    pub async fn base(&self, scope: DocScope, version: Option<i64>) -> Result<BaseText, Error> {
        self.0.read(move |db| base(db, &scope, version)).await
    }

    /// Keeps a proposal. What the same author proposes again is what waits already.
    pub async fn create(&self, new: NewProposal) -> Result<(Proposal, bool), Error> {
        self.0.write(move |db| create(db, &new)).await
    }

    /// Those that wait first, then those that are over, each newest first. One query.
    pub async fn list(&self, query: ProposalQuery) -> Result<Vec<Proposal>, Error> {
        self.0.read(move |db| list(db, &query)).await
    }

    /// One proposal with the texts it stands between.
    pub async fn get(&self, workspace_id: &str, id: &str) -> Result<ProposalTexts, Error> {
        let (workspace_id, id) = (workspace_id.to_owned(), id.to_owned());
        self.0.read(move |db| texts(db, &workspace_id, &id)).await
    }

    /// Decides; an approved text is saved in the same transaction.
    pub async fn decide(&self, decide: DecideProposal) -> Result<Decided, Error> {
        self.0.write(move |db| self::decide(db, &decide)).await
    }

    /// Puts a proposal that waits on another version, which must still be the current one.
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

/// What a scope says now.
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

/// What a scope said in a version, which is of one of the documents it ever had.
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
        // Those that are over come after those that wait, and the older ones of each after the newer ones.
        let (waits, over) = match after.is_pending {
            true => ("status = 'pending'", "status <> 'pending'"),
            false => ("status <> 'pending'", "FALSE"),
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
    // Only ids are sorted, not texts.
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

fn decide(db: &DatabaseConnection, decide: &DecideProposal) -> Result<Decided, Error> {
    let row = find(db, &decide.workspace_id, &decide.id)?;
    let status = decide.verdict.status();
    if row.status == status {
        return Ok(Decided {
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
    Ok(Decided {
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

/// Ends what was proposed for a folder that is being deleted.
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
