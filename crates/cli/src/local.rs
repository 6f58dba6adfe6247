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
            workspaces.find(|one| one.dir.as_deref().map(Path::new) == Some(&path))
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

    /// The company folder somebody named, the one around here, or the only one of the home.
    pub(crate) async fn company(&self, option: &CompanyOption) -> Result<Text, Failure> {
        let missing = match option.find() {
            Err(missing @ Failure::NoCompany { .. }) => missing,
            found => return found,
        };
        let listed = self.workspaces().await?;
        let mut known = listed.into_iter().filter_map(|one| one.dir);
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
                Ok(all.into_iter().map(|one| one.id).collect())
            }
            Err(failure) => Err(failure),
        }
    }

    /// Waits for the processes this one started; those of a gateway live with the gateway.
    pub(crate) async fn sessions_over(&self) {
        let Some(gateway) = &self.gateway else {
            return;
        };
        if std::io::stderr().is_terminal() {
            terminal::complain(
                "No gateway serves this home, so this waits until the work is over.",
            );
        }
        tokio::select! {
            biased;
            () = gateway.sessions_over() => {}
            () = crate::command::stop_signal() => gateway.stop_sessions(),
        }
    }
}
