//! `ac serve`: serves HTTP and WebSocket clients.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use clap::Args;
use gateway::{ServeOptions, Serving};

use super::HomeOption;
use crate::{failure::Failure, folder, terminal};

/// The default address of a gateway.
pub(super) const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 17878);

/// Parses an address to listen on.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| format!("expected ADDRESS:PORT, such as {LISTEN}"))
}

#[derive(Args, Debug)]
pub(crate) struct ServeCommand {
    #[command(flatten)]
    home: HomeOption,
    /// Address to listen on; port 0 selects a free port.
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = LISTEN, value_parser = address)]
    listen: SocketAddr,
    /// Write `{"url","http","pid","token_file"}` to this file when ready.
    #[arg(long, value_name = "FILE", value_parser = folder::argument())]
    ready_file: Option<PathBuf>,
    /// Also accept this name in the Host header; may be given several times.
    #[arg(long = "allow-host", value_name = "NAME")]
    allowed_hosts: Vec<String>,
    /// Also accept web pages of this origin, such as `https://desk.example`; may be given several times.
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    allowed_origins: Vec<String>,
}

impl ServeCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        serve(ServeOptions {
            home: self.home.path()?,
            listen: self.listen,
            ready_file: self.ready_file,
            allowed_hosts: self.allowed_hosts,
            allowed_origins: self.allowed_origins,
        })
        .await
    }
}

/// Serves until the process receives a stop signal.
pub(super) async fn serve(options: ServeOptions) -> Result<(), Failure> {
    let stop = super::stop_signal();
    gateway::serve(options, &super::gateway_options(), announce, stop).await?;
    Ok(())
}

fn announce(serving: &Serving) {
    let Serving {
        http,
        url,
        sign_in,
        token_file,
        beyond_loopback,
    } = serving;
    if let Some(address) = beyond_loopback {
        let warning = format!(
            "warning: other machines can reach {address}, and the connection is not encrypted: anyone who can read the \
             network traffic can read the token and everything else. Put a proxy with TLS in front, or use an SSH tunnel. \
             Other machines must call the gateway by the IP address it listens on, or by a name given with --allow-host."
        );
        terminal::complain(&warning);
    }
    let sentence = format!(
        "Accord is ready on {http}\n  desktop    {sign_in}\n  WebSocket  {url}\n  token      {}\nStop it with Ctrl-C.",
        token_file.display()
    );
    if let Err(error) = terminal::print(&sentence) {
        tracing::debug!(%error, "nobody reads standard output");
    }
}
