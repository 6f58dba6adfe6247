//! `ac open`: opens the desktop in a browser.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use clap::Args;
use crud::CrudStore;
use gateway::{DesktopSessions, Home, Sources, replace_file};
use serde_json::json;
use tokio::process::Command;

use super::HomeOption;
use crate::{failure::Failure, terminal};

/// How long to wait for the opener program to report a failure. A successful one may run until the browser ends.
const FAILURE_TIMEOUT: Duration = Duration::from_secs(3);

/// Open the web desktop in a browser, signed in.
#[derive(Args, Debug)]
pub(crate) struct OpenCommand {
    #[command(flatten)]
    home: HomeOption,
    /// Only print the address; it is valid once, for ten minutes.
    #[arg(long)]
    print: bool,
    /// Only print the address, as JSON.
    #[arg(long)]
    json: bool,
}

impl OpenCommand {
    pub(crate) async fn run(&self) -> Result<(), Failure> {
        let home = Home::open(&self.home.path()?)?;
        let served_at = home.served_at().ok_or(Failure::NotServed)?;
        let address = address(&home, &served_at).await?;
        if self.json {
            return terminal::answer(&json!({"address": address}), true);
        }
        if self.print {
            return Ok(terminal::print(&address)?);
        }
        let page = write_redirect(&home, &address)?;
        if !start_browser(&page).await {
            let sentence = format!("No browser could be started. Open this address:\n{address}");
            return Ok(terminal::print(&sentence)?);
        }
        Ok(terminal::print(&format!(
            "The desktop opens in a browser through {}\nIf it does not, `ac open --print` prints an address to open \
             manually.",
            page.display()
        ))?)
    }
}

/// Returns the address of the desktop at the gateway, with a code that signs in once.
pub(super) async fn address(home: &Home, served_at: &str) -> Result<String, Failure> {
    let opened = CrudStore::open(home.path(), &super::gateway_options().database);
    let store = opened.map_err(|source| gateway::Error::Database { source })?;
    let sessions = DesktopSessions::open(home, store)?;
    let code = sessions.create_code(Sources::system().clock.now()).await?;
    let http = served_at.replacen("ws://", "http://", 1);
    Ok(gateway::sign_in_address(&http, &code))
}

/// Writes a page that redirects to the address. The address is not passed as an argument, because every account of the
/// machine can read arguments; only the owner can read this file. The next `ac open` replaces it; by then its code is
/// used or has expired.
fn write_redirect(home: &Home, address: &str) -> Result<PathBuf, Failure> {
    let page = home.path().join("open.html");
    let content = format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Accord</title>\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={address}\">\n\
         <p><a href=\"{address}\">Open the desktop</a></p>\n"
    );
    replace_file(&page, content.as_bytes()).map_err(|source| gateway::Error::Home {
        path: page.clone(),
        source,
    })?;
    Ok(page)
}

/// Opens the page in the default browser. Returns `false` if that failed.
async fn start_browser(page: &Path) -> bool {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let started = Command::new(program)
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut started = match started {
        Ok(started) => started,
        Err(error) => {
            tracing::debug!(%error, program, "no browser was started");
            return false;
        }
    };
    match tokio::time::timeout(FAILURE_TIMEOUT, started.wait()).await {
        Ok(ended) => ended.is_ok_and(|status| status.success()),
        Err(_) => true,
    }
}
