//! `session.list`: the sessions of this process and the records of a company folder.

use std::collections::BTreeSet;

use protocol::{
    MayExec,
    company::{
        Text,
        session::{CompanySessionListParams, CompanySessionRow},
    },
};

use super::{Sessions, remote::reconcile};
use crate::{
    Error,
    blocking::{blocking, locate},
    record,
};

impl Sessions {
    /// Lists sessions, newest first: those of a company folder, or, without one, those of this process. Without the
    /// permission to execute, sessions of an earlier gateway are neither taken over nor marked as ended.
    pub async fn list(
        &self,
        params: CompanySessionListParams,
        may: Option<MayExec>,
    ) -> Result<Vec<CompanySessionRow>, Error> {
        let mut rows = match &params.workspace_dir {
            None => self.inner.rows(|_| true),
            Some(dir) => {
                // The path need not be a company folder: any folder without records yields an empty list.
                let company = locate(&self.inner.companies, dir).await?;
                if let Some(may) = may {
                    self.recover_once(&company, may).await?;
                }
                let root = company.root().to_owned();
                let mut rows = self.inner.rows(|session| session.company.root() == root);
                let names: BTreeSet<_> = rows
                    .iter()
                    .map(|row| row.state.session_ref.clone())
                    .collect();
                let found = {
                    let company = company.clone();
                    blocking(move || {
                        let records = record::all(&company)?;
                        let others = records
                            .iter()
                            .filter(|record| !names.contains(record.session_ref.as_str()));
                        Ok(others
                            .map(|record| reconcile(&company, record, may).row())
                            .collect::<Vec<_>>())
                    })
                };
                rows.extend(found.await?);
                if may.is_some() {
                    self.collect_instructions(&company).await;
                }
                rows
            }
        };
        let fits = |wanted: &Option<Text>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| **wanted == *found)
        };
        rows.retain(|row| {
            fits(&params.project_id, &row.state.project_id)
                && fits(&params.run_id, &row.state.run_id)
                && params
                    .status
                    .is_none_or(|status| status == row.state.status)
        });
        rows.sort_by(|left, right| {
            (right.started_at_ms, &left.state.session_ref)
                .cmp(&(left.started_at_ms, &right.state.session_ref))
        });
        Ok(rows)
    }
}
