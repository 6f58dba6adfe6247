//! A client of a home: of the gateway that serves it, or else of one in this process.

use std::{future::Future, io::IsTerminal as _, sync::Arc, time::Duration};

use gateway::{Gateway, Home, Principal};
use protocol::{
    Id as _, WorkspaceId,
    workspace::{WorkspaceDefault, WorkspaceDefaultParams},
};
use rpc::{Client, websocket};

use crate::{command::HomeOption, failure::Failure, terminal};

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

    /// The workspace somebody named, or the one to start in.
    pub(crate) async fn workspace(&self, named: Option<&str>) -> Result<WorkspaceId, Failure> {
        match named {
            Some(named) => Ok(WorkspaceId::parse(named)?),
            None => {
                let found = self
                    .client
                    .call::<WorkspaceDefault>(WorkspaceDefaultParams {})
                    .await?;
                Ok(found.workspace.id)
            }
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
