//! Company folders as workspaces: registered when they are opened, a folder of the tree for each of their projects.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use company::{Company, init, project};
use crud::{Created, LinkCompany, LinkProject, Linked};
use protocol::{FolderId, Id as _, Name, WorkspaceId, thread::ThreadTreeChangedNotification};
use rpc::{Audience, Publication};

use crate::{Gateway, notify};

/// What this process knows of the folders it has linked.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// The names of the projects by company folder, as they were when they were linked.
    known: Mutex<BTreeMap<String, Names>>,
}

/// The name of each project.
type Names = BTreeMap<String, String>;

/// Where a company folder is, the same however it was named.
pub(crate) fn dir(company: &Company) -> String {
    company.root().display().to_string()
}

impl Gateway {
    /// Registers a company folder as a workspace and brings the tree in step with its projects. A folder that cannot
    /// be read, or a database that cannot be written, changes nothing about what was asked.
    pub(crate) async fn link(self: &Arc<Self>, company: Company) {
        if let Err(error) = self.try_link(company).await {
            tracing::warn!(
                error,
                "a company folder could not be linked to its workspace"
            );
        }
    }

    async fn try_link(self: &Arc<Self>, company: Company) -> Result<(), String> {
        let dir = dir(&company);
        let read = tokio::task::spawn_blocking(move || names(&company)).await;
        let read = read.map_err(|panic| panic.to_string())?;
        let (name, projects) = read.map_err(|error| error.to_string())?;
        let link = LinkCompany {
            dir: dir.clone(),
            name,
            new_id: self.sources.id::<WorkspaceId>().to_string(),
            projects: projects
                .iter()
                .map(|(id, name)| LinkProject {
                    project_id: id.clone(),
                    name: name.clone(),
                    new_folder_id: self.sources.id::<FolderId>().to_string(),
                })
                .collect(),
            now: self.sources.clock.now(),
        };
        let linked = self.store.companies().link(link).await;
        self.links.remember(dir, projects);
        self.tell_linked(linked.map_err(|error| error.to_string())?)
            .await
    }

    async fn tell_linked(self: &Arc<Self>, linked: Linked) -> Result<(), String> {
        let row = match linked.workspace {
            Created::Existing(row) => {
                if linked.is_reactivated {
                    self.watch.told_workspace(&row);
                    let told = notify::workspace_changed(row.clone());
                    let told = told.map_err(|failure| failure.message().to_owned())?;
                    notify::publish(self, &told).await;
                }
                row
            }
            Created::New(row) => {
                notify::grant_first(self, &row.id);
                self.watch.told_workspace(&row);
                let told = notify::workspace_changed(row.clone());
                let told = told.map_err(|failure| failure.message().to_owned())?;
                // A client of companies alone has not asked for workspaces.
                notify::publish(self, &told.to(Audience::Listeners)).await;
                row
            }
        };
        if let Some(tree_version) = linked.tree_version {
            self.watch.told_tree(&row.id, tree_version);
            let workspace_id = WorkspaceId::parse(&row.id).map_err(|error| error.to_string())?;
            let payload = ThreadTreeChangedNotification {
                workspace_id,
                reason: Some("projects".to_owned()),
                tree_version: Some(tree_version),
            };
            let publication = Publication::new(row.id.as_str(), &payload).coalesced();
            notify::publish(self, &publication).await;
        }
        Ok(())
    }
}

impl Links {
    fn remember(&self, dir: String, names: Names) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(dir, names);
    }

    /// Whether a folder that was linked has other projects by now. Blocks.
    pub(crate) fn is_outdated(&self, company: &Company) -> bool {
        let dir = dir(company);
        let linked = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.get(&dir).cloned()
        };
        linked.is_some_and(|linked| project_names(company).is_ok_and(|names| names != linked))
    }
}

/// The name of a company and of each of its projects. Blocks.
fn names(company: &Company) -> Result<(String, Names), company::Error> {
    let name = init::company_name(company)?;
    Ok((shown(&name, "Company"), project_names(company)?))
}

fn project_names(company: &Company) -> Result<Names, company::Error> {
    let projects = project::projects(company)?;
    let names = projects
        .into_iter()
        .map(|(id, project)| (id.to_string(), shown(&project.name, id.as_str())));
    Ok(names.collect())
}

/// What the tree calls something; files may say whatever they like.
fn shown(name: &str, otherwise: &str) -> String {
    Name::shortened(name).map_or_else(|| otherwise.to_owned(), String::from)
}
