//! `workspace.validate`: checks that every required document of a company folder exists and is well-formed.
//!
//! The doctor checks the contents of events, conversations and sessions, and the consistency of ids and references.

use protocol::company::{Issue, task::Task, workspace::ValidationIssue};

use crate::{
    Company, Error,
    document::{
        Agent, ContextPack, Document, DocumentHead, DocumentKind, HelpRequestHead, Identity,
        Machine, Markdown, MemoryDeltaHead, MilestoneReportHead, Policy, PolicySnapshot, Project,
        Review, Run, SharePack, TASK_HEADINGS, Team, missing_contract,
    },
    format::front_matter,
    layout,
};

/// Returns all issues of the folder; empty for a well-formed company folder. Never fails.
pub fn validate(company: &Company) -> Vec<ValidationIssue> {
    let mut check = Check {
        company,
        issues: Vec::new(),
    };
    check.folder();
    check.issues
}

/// Reads a document of a project and checks its front matter and the headings of its type.
pub(crate) fn read_document(
    company: &Company,
    relative: &str,
) -> Result<std::sync::Arc<Markdown<DocumentHead>>, Error> {
    let document = company.read_markdown::<DocumentHead>(relative)?;
    let missing = missing_headings(&document.body, document.head.r#type.headings());
    if missing.is_empty() {
        Ok(document)
    } else {
        Err(Error::FileInvalid {
            path: relative.to_owned(),
            issues: missing,
        })
    }
}

/// Returns whether a path from a document exists in the folder and does not lead out of it.
pub(crate) fn is_there(company: &Company, relative: &str) -> bool {
    layout::stays_below(relative) && company.path(relative).exists()
}

/// Returns an issue for every required level-two heading that the body lacks.
pub(crate) fn missing_headings(body: &str, headings: &[&str]) -> Vec<Issue> {
    headings
        .iter()
        .filter(|heading| !front_matter::has_heading(body, heading))
        .map(|heading| {
            Issue::new(
                "missing_heading",
                &[],
                format!("Missing heading: ## {heading}"),
            )
        })
        .collect()
}

struct Check<'a> {
    company: &'a Company,
    issues: Vec<ValidationIssue>,
}

impl Check<'_> {
    fn folder(&mut self) {
        // The `.local` files of an untrusted company are not used, so they are not required.
        let is_company = self.company.path(layout::COMPANY).is_file();
        let counts = |relative: &&str| !is_company || self.company.counts(relative);
        let dirs: Vec<_> = layout::REQUIRED_DIRS.into_iter().filter(counts).collect();
        let files: Vec<_> = layout::REQUIRED_FILES.into_iter().filter(counts).collect();
        for dir in dirs {
            if !self.company.path(dir).is_dir() {
                self.report("missing_dir", format!("Missing directory: {dir}"), dir);
            }
        }
        for file in files {
            self.is_file_there(file);
        }
        self.yaml_if_there::<Identity>(layout::COMPANY);
        self.yaml_if_there::<Policy>(layout::POLICY);
        for name in self.names(layout::REVIEWS, ".yaml") {
            self.yaml::<Review>(&format!("{}/{name}", layout::REVIEWS));
        }
        for name in self.names(layout::HELP_REQUESTS, ".md") {
            let relative = format!("{}/{name}", layout::HELP_REQUESTS);
            if let Some(request) = self.markdown::<HelpRequestHead>(&relative) {
                self.headings(&relative, &request.body, &HelpRequestHead::HEADINGS);
            }
        }
        self.yaml_if_there::<Machine>(layout::MACHINE);
        for folder in self.folders(layout::TEAMS) {
            self.required_yaml::<Team>(&format!("{folder}/team.yaml"));
        }
        for folder in self.folders(layout::AGENTS) {
            self.required_yaml::<Agent>(&format!("{folder}/agent.yaml"));
        }
        for folder in self.folders(layout::PROJECTS) {
            self.project(&folder);
        }
    }

    fn project(&mut self, project: &str) {
        if !self.required_yaml::<Project>(&format!("{project}/project.yaml")) {
            return;
        }
        for folder in self.folders(&format!("{project}/runs")) {
            if self.required_yaml::<Run>(&format!("{folder}/run.yaml")) {
                self.is_file_there(&format!("{folder}/events.jsonl"));
            }
        }
        for name in self.names(&format!("{project}/tasks"), ".md") {
            self.task(&format!("{project}/tasks/{name}"));
        }
        for name in self.names(&format!("{project}/artifacts"), ".md") {
            self.document(&format!("{project}/artifacts/{name}"));
        }
        for folder in self.folders(&format!("{project}/context_packs")) {
            if self.required_yaml::<ContextPack>(&format!("{folder}/manifest.yaml")) {
                self.required_yaml::<PolicySnapshot>(&format!("{folder}/policy_snapshot.yaml"));
            }
        }
        for folder in self.folders(&format!("{project}/share_packs")) {
            self.share_pack(&format!("{folder}/manifest.yaml"));
        }
    }

    fn task(&mut self, relative: &str) {
        let Some(task) = self.markdown::<Task>(relative) else {
            return;
        };
        self.headings(relative, &task.body, &TASK_HEADINGS);
        for part in missing_contract(&task.head) {
            self.report(
                "contract_incomplete",
                format!("{relative}: {part} must not be empty once a task is no longer a draft"),
                relative,
            );
        }
    }

    fn document(&mut self, relative: &str) {
        let Some(document) = self.markdown::<DocumentHead>(relative) else {
            return;
        };
        let kind = document.head.r#type;
        self.headings(relative, &document.body, kind.headings());
        let name = relative.rsplit('/').next().unwrap_or_default();
        if name.strip_suffix(".md") != Some(&*document.head.id) {
            let message = format!(
                "{relative}: the id `{}` is not the name of the file",
                document.head.id
            );
            self.report("id_mismatch", message, relative);
        }
        if kind == DocumentKind::MemoryDelta {
            if let Some(delta) = self.typed::<MemoryDeltaHead>(relative, "memory_delta_invalid") {
                let patch = &delta.head.patch_file;
                if !is_there(self.company, patch) {
                    let message = format!("Missing patch_file for memory delta: {patch}");
                    self.report("missing_file", message, patch);
                }
            }
        } else if kind == DocumentKind::MilestoneReport {
            self.typed::<MilestoneReportHead>(relative, "milestone_report_invalid");
        }
    }

    fn share_pack(&mut self, manifest: &str) {
        if !self.required_yaml::<SharePack>(manifest) {
            return;
        }
        let Ok(pack) = self.company.read::<SharePack>(manifest) else {
            return;
        };
        let documents = pack.included_artifacts.iter();
        let documents = documents.map(|document| ("artifact file", &document.bundle_relpath));
        let files = pack.included_files.iter().flatten();
        let files = files.map(|file| ("file", &file.bundle_relpath));
        let runs = pack.included_runs.iter().flatten();
        let runs = runs.map(|run| ("run event file", &run.bundle_relpath));
        for (what, bundled) in documents.chain(files).chain(runs) {
            if !is_there(self.company, bundled) {
                let message = format!("Missing bundled {what}: {bundled}");
                self.report("missing_file", message, bundled);
            }
        }
    }

    /// Checks an optional document, or one whose absence was reported before.
    fn yaml_if_there<T: Document>(&mut self, relative: &str) {
        if self.company.counts(relative) && self.company.path(relative).exists() {
            self.yaml::<T>(relative);
        }
    }

    /// Checks a required document and returns whether it exists.
    fn required_yaml<T: Document>(&mut self, relative: &str) -> bool {
        let is_there = self.is_file_there(relative);
        if is_there {
            self.yaml::<T>(relative);
        }
        is_there
    }

    fn is_file_there(&mut self, relative: &str) -> bool {
        let is_there = self.company.path(relative).exists();
        if !is_there {
            let message = format!("Missing file: {relative}");
            self.report("missing_file", message, relative);
        }
        is_there
    }

    fn yaml<T: Document>(&mut self, relative: &str) {
        if let Err(error) = self.company.read::<T>(relative) {
            for (is_schema, detail) in self.details(relative, error) {
                let code = if is_schema {
                    "schema_invalid"
                } else {
                    "parse_error"
                };
                self.report(code, format!("{relative}: {detail}"), relative);
            }
        }
    }

    fn markdown<T: Document>(&mut self, relative: &str) -> Option<std::sync::Arc<Markdown<T>>> {
        let error = match self.company.read_markdown::<T>(relative) {
            Ok(document) => return Some(document),
            Err(error) => error,
        };
        if let Error::FileInvalid { issues, .. } = &error
            && let [issue] = issues.as_slice()
            && issue.code == "frontmatter"
        {
            let message = format!("{relative}: {}", issue.message);
            self.report("frontmatter", message, relative);
            return None;
        }
        for (is_schema, detail) in self.details(relative, error) {
            let code = if is_schema {
                "frontmatter_schema"
            } else {
                "read_error"
            };
            self.report(code, format!("{relative}: {detail}"), relative);
        }
        None
    }

    /// Checks the type-specific front matter of a document whose common front matter is valid.
    fn typed<T: Document>(
        &mut self,
        relative: &str,
        code: &str,
    ) -> Option<std::sync::Arc<Markdown<T>>> {
        match self.company.read_markdown::<T>(relative) {
            Ok(document) => Some(document),
            Err(error) => {
                let details = self.details(relative, error);
                let details: Vec<_> = details.into_iter().map(|(_, detail)| detail).collect();
                self.report(
                    code,
                    format!("{relative}: {}", details.join("; ")),
                    relative,
                );
                None
            }
        }
    }

    fn headings(&mut self, relative: &str, body: &str, headings: &[&str]) {
        for issue in missing_headings(body, headings) {
            let message = format!("{relative}: {}", issue.message);
            self.report("missing_heading", message, relative);
        }
    }

    /// Returns one message per problem of a file, each with a flag that is true for a schema violation and false for an
    /// unreadable file.
    fn details(&self, relative: &str, error: Error) -> Vec<(bool, String)> {
        match error {
            Error::FileInvalid { issues, .. } => {
                let is_file = self.company.path(relative).is_file();
                issues
                    .iter()
                    .map(|issue| {
                        let is_whole = match issue.code.as_str() {
                            "parse_error" => true,
                            "too_big" => issue.path.is_empty(),
                            _ => false,
                        };
                        (is_file && !is_whole, issue.to_string())
                    })
                    .collect()
            }
            // Messages of the operating system contain paths and go to the log only.
            Error::Io { .. } | Error::Missing(_) => {
                vec![(false, "the file cannot be read".to_owned())]
            }
            other @ (Error::NotACompanyFolder(_)
            | Error::Untrusted(_)
            | Error::NeedsExec
            | Error::NeedsWrite
            | Error::Denied { .. }
            | Error::ActorMismatch { .. }
            | Error::Secret { .. }
            | Error::AlreadyDecided { .. }
            | Error::BasisChanged { .. }
            | Error::Params(_)
            | Error::Tasks(_)
            | Error::NotFound { .. }
            | Error::Refused(_)
            | Error::FolderNotEmpty { .. }
            | Error::FolderInvalid { .. }
            | Error::LockTimeout(_)
            | Error::FileLocked(_)
            | Error::DiskFull) => vec![(false, other.to_string())],
        }
    }

    /// Returns the paths of the folders in a folder, sorted.
    fn folders(&mut self, relative: &str) -> Vec<String> {
        let names = self.names(relative, "");
        let paths = names.iter().map(|name| format!("{relative}/{name}"));
        paths
            .filter(|path| self.company.path(path).is_dir())
            .collect()
    }

    /// Returns the names in a folder that have the given ending, sorted. An unreadable folder is reported, unless it is
    /// a missing required folder, which was reported before.
    fn names(&mut self, relative: &str, ending: &str) -> Vec<String> {
        match self.company.names(relative) {
            Ok(mut names) => {
                names.retain(|name| name.ends_with(ending));
                names
            }
            Err(_) => {
                let was_reported = layout::REQUIRED_DIRS.contains(&relative)
                    && !self.company.path(relative).is_dir();
                if !was_reported {
                    let message = format!("{relative}: the folder cannot be read");
                    self.report("read_error", message, relative);
                }
                Vec::new()
            }
        }
    }

    fn report(&mut self, code: &str, message: String, path: &str) {
        self.issues.push(ValidationIssue {
            code: code.to_owned(),
            message,
            path: Some(path.to_owned()),
        });
    }
}
