//! `ac server:start`: serves one client on standard input and output.

use std::{cell::Cell, time::Duration};

use clap::Args;
use gateway::{Gateway, Home};

use super::HomeOption;
use crate::failure::Failure;

/// Time that running turns get to finish after the end of the input.
const TURN_GRACE: Duration = Duration::from_secs(60);

#[derive(Args, Debug)]
pub(crate) struct ServerStartCommand {
    #[command(flatten)]
    home: HomeOption,
    /// Process requests one at a time and respond in their order.
    #[arg(long)]
    serial: bool,
    /// Maximum length of a line in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = rpc::stdio::Options::default().max_line_bytes)]
    max_line: usize,
}

impl ServerStartCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let home = Home::open(&self.home.path()?)?;
        let gateway = Gateway::open(&home, &super::gateway_options()).await?;
        let defaults = rpc::stdio::Options::default();
        let options = rpc::stdio::Options {
            concurrency: if self.serial { 1 } else { defaults.concurrency },
            max_line_bytes: self.max_line,
        };
        let stopped = Cell::new(false);
        let signal = super::stop_signal();
        let stop = async {
            signal.await;
            stopped.set(true);
            gateway.stop_sessions();
        };
        gateway::serve_stdio(&gateway, options, stop).await;
        if !stopped.get() {
            // Workers may finish their work after the client has disconnected.
            tokio::select! {
                () = gateway.sessions_over() => {}
                () = super::stop_signal() => {}
            }
        }
        gateway.close(TURN_GRACE).await;
        Ok(())
    }
}
