//! Projects and their links to repositories.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use protocol::{
    Id as _,
    company::{ProjectId, RepoId, Text, workspace::RepoLink},
};

use crate::{
    Company, Error, Writer,
    document::{Machine, Project, ProjectRepos},
    format::collation,
    layout,
    org::text,
};

/// Returns every readable project with the id from its folder name, newest first.
pub fn projects(company: &Company) -> Result<Vec<(ProjectId, Arc<Project>)>, Error> {
    let mut found: Vec<_> = project_ids(company)?
        .into_iter()
        .filter_map(|id| {
            let project = company
                .read(&format!("{}/project.yaml", layout::project(&id)))
                .ok()?;
            Some((id, project))
        })
        .collect();
    found.sort_by(|(_, left): &(ProjectId, Arc<Project>), (_, right)| {
        right
            .created_at
            .cmp(&left.created_at)
            .then_with(|| right.id.cmp(&left.id))
    });
    Ok(found)
}

/// Returns the project ids, taken from the folder names.
pub fn project_ids(company: &Company) -> Result<Vec<ProjectId>, Error> {
    let names = company.names(layout::PROJECTS)?;
    Ok(names
        .iter()
        .filter_map(|name| ProjectId::parse(name).ok())
        .collect())
}

/// Reads a project; fails if it does not exist.
pub fn project(company: &Company, id: &ProjectId) -> Result<Arc<Project>, Error> {
    company
        .read(&format!("{}/project.yaml", layout::project(id)))
        .map_err(|error| error.or_not_found("Project", id.as_str()))
}

/// Returns the repositories linked to a project.
pub fn repo_links(company: &Company, id: &ProjectId) -> Result<Vec<RepoLink>, Error> {
    let links: Option<Arc<ProjectRepos>> = company.read_if_there(&repos_path(id))?;
    Ok(links.map_or_else(Vec::new, |links| links.repos.clone()))
}

fn repos_path(id: &ProjectId) -> String {
    format!("{}/repos.yaml", layout::project(id))
}

impl Writer<'_> {
    /// Creates a project with its folders and its empty memory.
    pub fn create_project(&self, name: &str) -> Result<ProjectId, Error> {
        let id: ProjectId = self.company().sources().id();
        let files = self.project_files(&id, name)?;
        self.make_whole(&layout::project(&id), &layout::PROJECT_DIRS, &files)?;
        Ok(id)
    }

    /// The files of a new project, as paths relative to its folder with their contents.
    pub(crate) fn project_files(
        &self,
        id: &ProjectId,
        name: &str,
    ) -> Result<[(&'static str, String); 2], Error> {
        let name = name.trim();
        if name.is_empty() {
            return Err(Error::Refused("Project name is required".to_owned()));
        }
        let project = Project::new(text(id), text(name), self.now());
        let memory =
            "# Project Memory (Curated)\n\n## Summary\n\n## Decisions\n\n## Links\n".to_owned();
        Ok([
            ("project.yaml", self.yaml(&project)?),
            ("memory.md", memory),
        ])
    }

    /// Path and content of the file that links repositories to a new project.
    pub(crate) fn repos_file(
        &self,
        id: &ProjectId,
        repos: &[RepoId],
    ) -> Result<(String, String), Error> {
        let repos: BTreeSet<_> = repos.iter().collect();
        let link = |repo: &RepoId| RepoLink {
            repo_id: text(repo),
            label: None,
        };
        let mut links: Vec<_> = repos.into_iter().map(link).collect();
        links.sort_by(|left, right| collation::compare(&left.repo_id, &right.repo_id));
        let document = ProjectRepos::new(text(id), self.now(), links);
        Ok((repos_path(id), self.yaml(&document)?))
    }

    /// Links a repository to a project, or changes the label of an existing link. Returns all links.
    pub fn link_repo(
        &self,
        id: &ProjectId,
        repo: &RepoId,
        label: Option<Text>,
    ) -> Result<Vec<RepoLink>, Error> {
        project(self.company(), id)?;
        let mut links = repo_links(self.company(), id)?;
        let link = RepoLink {
            repo_id: text(repo),
            label: label.and_then(|label| Text::new(label.trim())),
        };
        if links.contains(&link) {
            return Ok(links);
        }
        links.retain(|known| known.repo_id != link.repo_id);
        links.push(link);
        links.sort_by(|left, right| collation::compare(&left.repo_id, &right.repo_id));
        let document = ProjectRepos::new(text(id), self.now(), links.clone());
        self.put(&repos_path(id), &document)?;
        Ok(links)
    }

    /// Sets the path of a repository on this machine.
    pub fn set_repo_root(&self, repo: &RepoId, path: &Path) -> Result<(), Error> {
        let machine: Arc<Machine> = self.company().read(layout::MACHINE)?;
        let path = path.display().to_string();
        if machine.repo_roots.get(repo.as_str()) == Some(&path) {
            return Ok(());
        }
        let mut machine = Machine::clone(&machine);
        machine.repo_roots.insert(repo.to_string(), path);
        self.put(layout::MACHINE, &machine)
    }
}
