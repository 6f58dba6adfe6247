//! `ac open`

use std::process::{Command, Stdio};

use clap::Args;
use gateway::{Home, Sources};
use serde_json::json;

use super::HomeOption;
use crate::{failure::Failure, terminal};

/// Open the web desktop in a browser, signed in.
#[derive(Args, Debug)]
pub(crate) struct Open {
    #[command(flatten)]
    home: HomeOption,
    /// Only print the address; it works once, for ten minutes.
    #[arg(long)]
    print: bool,
    /// Only print the address, as JSON.
    #[arg(long)]
    json: bool,
}

impl Open {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let home = Home::open(&self.home.path()?)?;
        let served_at = home.served_at().ok_or(Failure::NotServed)?;
        let address = address(&home, &served_at)?;
        match self.json {
            true => terminal::answer(&json!({"address": address}), true)?,
            false => terminal::say(&address)?,
        }
        if !self.print && !self.json {
            start_browser(&address);
        }
        Ok(())
    }
}

/// The desktop of the gateway that listens there, with a code that signs in once.
pub(super) fn address(home: &Home, served_at: &str) -> Result<String, Failure> {
    let code = home.sign_in_code(Sources::system().clock.now())?;
    Ok(format!(
        "{}?code={code}",
        served_at.replacen("ws://", "http://", 1)
    ))
}

/// If there is no browser, the printed address is all there is.
fn start_browser(address: &str) {
    let program = match cfg!(target_os = "macos") {
        true => "open",
        false => "xdg-open",
    };
    let started = Command::new(program)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = started {
        tracing::debug!(%error, program, "no browser was started");
    }
}
