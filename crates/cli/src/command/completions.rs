//! `ac completions`: prints shell completion scripts.

use clap::{Args, CommandFactory as _};
use clap_complete::{Shell, generate};

/// Print a completion script for a shell.
#[derive(Args, Debug)]
pub(crate) struct CompletionsCommand {
    /// Shell to print the script for.
    shell: Shell,
}

impl CompletionsCommand {
    pub(crate) fn run(&self) {
        let all = super::Command::command();
        let visible = all.get_subcommands().filter(|one| !one.is_hide_set());
        let mut command = clap::Command::new("ac")
            .args(all.get_arguments().cloned())
            .subcommands(visible.cloned());
        // The methods are external subcommands for clap, so add them here.
        for (_, method) in protocol::methods() {
            let name = super::method::command_name(method);
            let about = protocol::summary(method.doc);
            command = command.subcommand(clap::Command::new(name).about(about));
        }
        generate(self.shell, &mut command, "ac", &mut std::io::stdout());
    }
}
