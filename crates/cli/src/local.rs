//! A client of a home: of the gateway that serves it, or else of one in this process.

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

/// The owner's connection to a home.
pub(crate) struct Local {
    /// None when another process serves the home.
    gateway: Option<Arc<Gateway>>,
    pub(crate) client: Client,
}

/// Whether a command waited for the sessions it started.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Waited {
    /// They belong to this process, and are over.
    UntilOver,
    /// They belong to the gateway that serves the home.
    NotAtAll,
}

impl Local {
    /// Connects to a home, runs `work` with the client and leaves the home as it was found.
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

    /// Whether another process serves the home.
    pub(crate) fn is_remote(&self) -> bool {
        self.gateway.is_none()
    }

    async fn open(home: &Home) -> Result<Self, Failure> {
        let mut options = crate::command::gateway_options();
        // A command ends before a preview would be made; the next gateway makes it.
        options.projection_worker = None;
        // Nor does it outlive a worker that some gateway left behind.
        options.takes_over_sessions = false;
        let gateway = Gateway::open(home, &options).await?;
        let client = rpc::memory::connect(gateway.connect(Principal::owner()));
        Ok(Self {
            gateway: Some(gateway),
            client,
        })
    }

    /// The workspace somebody named, that of the company folder around here, or the one to start in.
    pub(crate) async fn workspace(&self, named: Option<&str>) -> Result<WorkspaceId, Failure> {
        if let Some(named) = named {
            return Ok(WorkspaceId::parse(named)?);
        }
        if let Ok(around) = folder::around_here() {
            return self.workspace_of(&around).await;
        }
        let params = WorkspaceDefaultParams {};
        let found = self.client.call::<WorkspaceDefault>(params).await?;
        Ok(found.workspace.id)
    }

    /// The workspace of a company folder, which is made by opening the folder.
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
                    "the company folder `{}` is not well-formed: `ac workspace:validate` tells why",
                    path.display()
                ),
            })
    }

    async fn workspaces(&self) -> Result<Vec<Workspace>, Failure> {
        let listed = self.client.call::<WorkspaceList>(WorkspaceListParams {});
        Ok(listed.await?.workspaces)
    }

    /// The workspaces that stand for a company folder, whether the folder is there or not.
    pub(crate) async fn companies(&self) -> Result<Vec<Workspace>, Failure> {
        let all = self.workspaces().await?;
        let is_company = |one: &Workspace| one.is_active && one.dir.is_some();
        Ok(all.into_iter().filter(is_company).collect())
    }

    /// The company folder somebody named, the one around here, or the only one of the home.
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

    /// The same; none if there is no company here, and none was named.
    pub(crate) async fn company_if_any(
        &self,
        option: &CompanyOption,
    ) -> Result<Option<Text>, Failure> {
        match self.company(option).await {
            Err(Failure::NoCompany { .. }) => Ok(None),
            found => found.map(Some),
        }
    }

    /// The workspace of the company folder that was named or is around here; without one, every workspace.
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

    /// Waits for the processes this one started, if there are any; those of a gateway live with the gateway.
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
                "No gateway serves this home, so this waits until the work is over.",
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

/// Whether accounts other than the owner may read a file or look into a folder.
pub(crate) fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata()
        .is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

/// Makes a token file private that others could read, and says so.
fn close_token_file(home: &Home) -> Result<(), Failure> {
    let path = home.token_file();
    if is_open_to_others(&path) {
        // Reading the token closes its file.
        home.token()?;
        terminal::complain(&format!(
            "warning: other accounts could read the token file `{}`; it is private again. If one of them may have read it, remove the file and restart the gateway, which makes a new token",
            path.display()
        ));
    }
    Ok(())
}
