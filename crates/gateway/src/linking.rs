//! Links company folders to workspaces: registers a folder when it is opened and mirrors its projects as folders of the
//! thread tree.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use company::{Company, org::project, workspace::init};
use crud::{Created, CrudStore, LinkCompany, LinkProject, Linked};
use protocol::{FolderId, Id as _, Name, WorkspaceId, thread::ThreadTreeChangedNotification};
use rpc::{Audience, Publication};
use sources::Sources;

use crate::{
    notify::{self, Notifier},
    watch::Watch,
};

/// Links company folders to workspaces and remembers those that this process has linked.
#[derive(Debug)]
pub(crate) struct Links {
    store: CrudStore,
    sources: Sources,
    notifier: Notifier,
    watch: Arc<Watch>,
    /// The project names at the time of linking, by path of the company folder.
    linked: Mutex<BTreeMap<String, Names>>,
}

/// Project names by project id.
type Names = BTreeMap<String, String>;

/// Returns the canonical path of a company folder.
pub(crate) fn dir(company: &Company) -> String {
    company.root().display().to_string()
}

impl Links {
    pub(crate) fn new(
        store: CrudStore,
        sources: Sources,
        notifier: Notifier,
        watch: Arc<Watch>,
    ) -> Self {
        Self {
            store,
            sources,
            notifier,
            watch,
            linked: Mutex::default(),
        }
    }

    /// Registers a company folder as a workspace and updates the thread tree to its projects.
    ///
    /// Errors are logged and not returned, so that they do not fail the request that opened the folder.
    pub(crate) async fn link(&self, company: Company) {
        if let Err(error) = self.try_link(company).await {
            tracing::warn!(
                error,
                "a company folder could not be linked to its workspace"
            );
        }
    }

    async fn try_link(&self, company: Company) -> Result<(), String> {
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
        self.remember(dir, projects);
        self.tell_linked(linked.map_err(|error| error.to_string())?)
            .await
    }

    async fn tell_linked(&self, linked: Linked) -> Result<(), String> {
        let row = match linked.workspace {
            Created::Existing(row) => {
                if linked.is_reactivated {
                    self.watch.told_workspace(&row);
                    let told = notify::workspace_changed(row.clone());
                    let told = told.map_err(|failure| failure.message().to_owned())?;
                    self.notifier.publish(&told).await;
                }
                row
            }
            Created::New(row) => {
                self.notifier.grant_first(&row.id);
                self.watch.told_workspace(&row);
                let told = notify::workspace_changed(row.clone());
                let told = told.map_err(|failure| failure.message().to_owned())?;
                // Connections that only use the company family have not subscribed to any workspace and receive
                // nothing.
                self.notifier.publish(&told.to(Audience::Listeners)).await;
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
            self.notifier.publish(&publication).await;
        }
        Ok(())
    }

    fn remember(&self, dir: String, names: Names) {
        let mut linked = self.linked.lock().unwrap_or_else(PoisonError::into_inner);
        linked.insert(dir, names);
    }

    /// Returns whether the projects of a linked folder have changed since it was linked. Blocks.
    pub(crate) fn is_outdated(&self, company: &Company) -> bool {
        let dir = dir(company);
        let linked = {
            let all = self.linked.lock().unwrap_or_else(PoisonError::into_inner);
            all.get(&dir).cloned()
        };
        linked.is_some_and(|linked| project_names(company).is_ok_and(|names| names != linked))
    }
}

/// Reads the name of a company and the names of its projects. Blocks.
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

/// Returns `name` in a form that is valid in the thread tree, or `otherwise` if nothing of it remains. Files of a
/// company folder may contain arbitrary names.
fn shown(name: &str, otherwise: &str) -> String {
    Name::shortened(name).map_or_else(|| otherwise.to_owned(), String::from)
}
