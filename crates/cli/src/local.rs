//! A client of the home itself, whether or not a gateway serves it: several processes may use one home.

use std::{future::Future, sync::Arc, time::Duration};

use gateway::{Gateway, Home, Principal};
use protocol::{
    Id as _, WorkspaceId,
    workspace::{WorkspaceDefault, WorkspaceDefaultParams},
};
use rpc::Client;

use crate::{command::HomeOption, failure::Failure};

/// The owner's connection to a home.
pub(crate) struct Local {
    gateway: Arc<Gateway>,
    pub(crate) client: Client,
}

impl Local {
    /// Opens a home, runs `work` with a client and closes the home again.
    pub(crate) async fn with<T, F>(
        home: &HomeOption,
        work: impl FnOnce(Arc<Self>) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let home = Home::open(&home.path()?)?;
        let mut options = crate::command::gateway_options();
        // A command ends before a preview would be made; the next gateway makes it.
        options.projection_worker = None;
        let gateway = Gateway::open(&home, &options).await?;
        let client = rpc::memory::connect(gateway.connect(Principal::owner()));
        let local = Arc::new(Self { gateway, client });
        let done = work(Arc::clone(&local)).await;
        local.gateway.close(Duration::ZERO).await;
        done
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
}
