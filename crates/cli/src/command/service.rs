//! `ac service install --print`: prints a service file for systemd or launchd.

use std::{env, path::Path};

use clap::{Args, Subcommand};

use super::HomeOption;
use crate::{failure::Failure, terminal};

/// Print a service file that starts the gateway at login.
#[derive(Args, Debug)]
pub(crate) struct ServiceCommand {
    #[command(subcommand)]
    action: ServiceAction,
}

#[derive(Debug, Subcommand)]
enum ServiceAction {
    /// Print the service file for systemd or launchd and its location.
    Install {
        #[command(flatten)]
        home: HomeOption,
        /// Only print the file; the command changes nothing on this machine.
        #[arg(long, required = true)]
        print: bool,
    },
}

impl ServiceCommand {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let ServiceAction::Install { home, print: _ } = &self.action;
        let home = home.path()?;
        let program = env::current_exe().map_err(|source| Failure::Runtime { source })?;
        let text = if cfg!(target_os = "macos") {
            plist(&program, &home)
        } else {
            unit(&program, &home)
        };
        Ok(terminal::print(&text)?)
    }
}

fn unit(program: &Path, home: &Path) -> String {
    format!(
        "# Save as ~/.config/systemd/user/accord.service, then: systemctl --user enable --now accord\n\
         [Unit]\nDescription=Accord gateway\n\n\
         [Service]\nExecStart={} serve --home {}\nRestart=on-failure\nKillMode=mixed\nDelegate=yes\nTimeoutStopSec=30\n\n\
         [Install]\nWantedBy=default.target",
        quoted(program),
        quoted(home)
    )
}

/// Quotes a path for a systemd unit.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('%', "%%");
    format!("\"{escaped}\"")
}

fn plist(program: &Path, home: &Path) -> String {
    let words = [
        program.display().to_string(),
        "serve".to_owned(),
        "--home".to_owned(),
        home.display().to_string(),
    ];
    let words = words.map(|word| format!("    <string>{}</string>\n", escaped(&word)));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!-- Save as ~/Library/LaunchAgents/dev.accord.gateway.plist, then: launchctl load -w that file -->\n\
         <plist version=\"1.0\">\n<dict>\n  <key>Label</key><string>dev.accord.gateway</string>\n\
         \x20 <key>ProgramArguments</key>\n  <array>\n{}  </array>\n\
         \x20 <key>RunAtLoad</key><true/>\n  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>\n\
         </dict>\n</plist>",
        words.concat()
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_odd_characters_stay_one_word() {
        let unit = unit(Path::new("/opt/a c/ac"), Path::new("/home/x/100%\"quote"));
        let line = unit.lines().find(|line| line.starts_with("ExecStart="));
        assert_eq!(
            line,
            Some(r#"ExecStart="/opt/a c/ac" serve --home "/home/x/100%%\"quote""#)
        );
        let plist = plist(Path::new("/opt/ac"), Path::new("/home/a&b"));
        assert!(plist.contains("<string>/home/a&amp;b</string>"), "{plist}");
    }
}
