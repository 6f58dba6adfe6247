//! A client of a home: connects to the gateway that serves it, or opens one in this process.

use std::{future::Future, io::IsTerminal as _, path::Path, sync::Arc, time::Duration};

use gateway::{Gateway, Home, Principal};
use protocol::{
    Id as _, WorkspaceId,
    company::{
        Text,
        workspace::{CompanyFolderParams, CompanyWorkspaceOpen},
    },
    workspace::{
        Workspace, WorkspaceDefault, WorkspaceDefaultParams, WorkspaceList, WorkspaceListParams,
    },
};
use rpc::{Client, websocket};

use crate::{
    command::HomeOption,
    failure::Failure,
    folder::{self, CompanyOption},
    terminal,
};

/// A connection to a home with the rights of its owner.
pub(crate) struct Local {
    /// The gateway in this process. `None` if another process serves the home.
    gateway: Option<Arc<Gateway>>,
    pub(crate) client: Client,
}

/// Whether a command waited for its sessions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Waited {
    /// The sessions belonged to this process and have ended.
    UntilOver,
    /// The sessions belong to the gateway that serves the home; the command did not wait.
    NotAtAll,
}

impl Local {
    /// Connects to a home, runs `work` with the connection and closes the gateway if this process opened it.
    pub(crate) async fn with<T, F>(
        home: &HomeOption,
        work: impl FnOnce(Arc<Self>) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let home = Home::open(&home.path()?)?;
        close_token_file(&home)?;
        let local = Arc::new(match home.served_at() {
            Some(url) => Self {
                client: websocket::connect(&url, &home.token()?).await?,
                gateway: None,
            },
            None => Self::open(&home).await?,
        });
        let done = work(Arc::clone(&local)).await;
        if let Some(gateway) = &local.gateway {
            gateway.close(Duration::ZERO).await;
        }
        done
    }

    /// Returns whether another process serves the home.
    pub(crate) fn is_remote(&self) -> bool {
        self.gateway.is_none()
    }

    async fn open(home: &Home) -> Result<Self, Failure> {
        let mut options = crate::command::gateway_options();
        // The command ends before a preview would be ready; the next gateway creates it.
        options.projection_worker = None;
        // A worker that an earlier gateway left running may outlive this command, so its session is not taken over.
        options.takes_over_sessions = false;
        let gateway = Gateway::open(home, &options).await?;
        let client = rpc::memory::connect(gateway.connect(Principal::owner()));
        Ok(Self {
            gateway: Some(gateway),
            client,
        })
    }

    /// Returns the given workspace, otherwise that of the current company folder, otherwise the default workspace.
    pub(crate) async fn workspace(&self, named: Option<&str>) -> Result<WorkspaceId, Failure> {
        if let Some(named) = named {
            return Ok(WorkspaceId::parse(named)?);
        }
        if let Ok(current) = folder::around_here() {
            return self.workspace_of(&current).await;
        }
        let params = WorkspaceDefaultParams {};
        let found = self.client.call::<WorkspaceDefault>(params).await?;
        Ok(found.workspace.id)
    }

    /// Returns the workspace of a company folder. If there is none yet, opens the folder, which creates the workspace.
    async fn workspace_of(&self, folder: &Path) -> Result<WorkspaceId, Failure> {
        let path = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let find = |workspaces: Vec<Workspace>| {
            let mut workspaces = workspaces.into_iter();
            workspaces.find(|one| one.is_active && one.dir.as_deref().map(Path::new) == Some(&path))
        };
        if let Some(known) = find(self.workspaces().await?) {
            return Ok(known.id);
        }
        let workspace_dir = folder::wire(&path)?;
        let open = CompanyFolderParams { workspace_dir };
        self.client.call::<CompanyWorkspaceOpen>(open).await?;
        let opened = find(self.workspaces().await?);
        opened
            .map(|opened| opened.id)
            .ok_or_else(|| Failure::Argument {
                detail: format!(
                    "the company folder `{}` is invalid: `ac workspace:validate` shows the reasons",
                    path.display()
                ),
            })
    }

    async fn workspaces(&self) -> Result<Vec<Workspace>, Failure> {
        let listed = self.client.call::<WorkspaceList>(WorkspaceListParams {});
        Ok(listed.await?.workspaces)
    }

    /// Returns the active workspaces that belong to a company folder, even if the folder no longer exists.
    pub(crate) async fn companies(&self) -> Result<Vec<Workspace>, Failure> {
        let all = self.workspaces().await?;
        let is_company = |one: &Workspace| one.is_active && one.dir.is_some();
        Ok(all.into_iter().filter(is_company).collect())
    }

    /// Returns the given company folder, otherwise the current one, otherwise the only one of the home.
    pub(crate) async fn company(&self, option: &CompanyOption) -> Result<Text, Failure> {
        let missing = match option.find() {
            Err(missing @ Failure::NoCompany { .. }) => missing,
            found => return found,
        };
        let listed = self.companies().await?;
        let there = |dir: &String| folder::is_company(Path::new(dir));
        let mut known = listed.into_iter().filter_map(|one| one.dir).filter(there);
        match (known.next(), known.next()) {
            (Some(only), None) => folder::wire(Path::new(&only)),
            _ => Err(missing),
        }
    }

    /// Like [`Self::company`], but returns `None` if no company folder was given or found.
    pub(crate) async fn company_if_any(
        &self,
        option: &CompanyOption,
    ) -> Result<Option<Text>, Failure> {
        match self.company(option).await {
            Err(Failure::NoCompany { .. }) => Ok(None),
            found => found.map(Some),
        }
    }

    /// Returns the workspace of the given or current company folder; without one, all active workspaces.
    pub(crate) async fn workspaces_at(
        &self,
        option: &CompanyOption,
    ) -> Result<Vec<WorkspaceId>, Failure> {
        match option.find() {
            Ok(folder) => Ok(vec![self.workspace_of(Path::new(folder.as_str())).await?]),
            Err(Failure::NoCompany { .. }) => {
                let all = self.workspaces().await?;
                let active = all.into_iter().filter(|one| one.is_active);
                Ok(active.map(|one| one.id).collect())
            }
            Err(failure) => Err(failure),
        }
    }

    /// Waits for the sessions of this process, if any. Sessions of another gateway are not waited for.
    pub(crate) async fn sessions_over(&self) -> Waited {
        let Some(gateway) = &self.gateway else {
            return Waited::NotAtAll;
        };
        let are_over = tokio::select! {
            biased;
            () = gateway.sessions_over() => true,
            () = std::future::ready(()) => false,
        };
        if are_over {
            return Waited::UntilOver;
        }
        if std::io::stderr().is_terminal() {
            terminal::complain(
                "No gateway serves this home, so this command waits until its sessions end.",
            );
        }
        tokio::select! {
            biased;
            () = gateway.sessions_over() => {}
            () = crate::command::stop_signal() => {
                gateway.stop_sessions();
                gateway.sessions_over().await;
            }
        }
        Waited::UntilOver
    }
}

/// Returns whether accounts other than the owner have access to a file or folder.
pub(crate) fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata()
        .is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

/// If other accounts can read the token file, makes it private and prints a warning.
fn close_token_file(home: &Home) -> Result<(), Failure> {
    let path = home.token_file();
    if is_open_to_others(&path) {
        // Reading the token restricts the permissions of its file.
        home.token()?;
        terminal::complain(&format!(
            "warning: other accounts could read the token file `{}`; it is private again: if one of them may have read it, remove the file and restart the gateway, which creates a new token",
            path.display()
        ));
    }
    Ok(())
}
