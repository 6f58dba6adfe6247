//! `.local/machine.yaml`: the worker programs of this machine, and the billing channel of each provider.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use protocol::company::{Issue, Text};

use crate::{
    Company, Error, Writer,
    document::{Channel, ExecutionPolicy, Machine},
    layout,
};

/// Reads the machine file of a folder. An untrusted folder yields the defaults, so that programs are looked up in
/// `PATH`.
///
/// A program inside the company folder is rejected, because workers can write there.
pub fn read(company: &Company) -> Result<Arc<Machine>, Error> {
    if !company.is_trusted() {
        return Ok(Arc::new(Machine::initial()));
    }
    let machine = company.read::<Machine>(layout::MACHINE)?;
    let inside = machine.provider_bins.iter().find(|(_, bin)| {
        let path = Path::new(bin).canonicalize();
        path.is_ok_and(|path| path.starts_with(company.root()))
    });
    match inside {
        None => Ok(machine),
        Some((name, bin)) => Err(Error::FileInvalid {
            path: layout::MACHINE.to_owned(),
            issues: vec![Issue::new(
                "custom",
                &["provider_bins".into(), name.as_str().into()],
                format!(
                    "`{bin}` is inside the company folder, where workers can write: expected a program outside of it"
                ),
            )],
        }),
    }
}

/// Names and settings of one worker program.
#[derive(Clone, Copy, Debug)]
pub struct ProgramPolicy {
    /// Keys of its execution policies in the machine file, the official name first.
    pub keys: &'static [&'static str],
    /// Name of the strategy that proves a subscription.
    pub proof_strategy: &'static str,
}

impl ProgramPolicy {
    /// Returns the settings of a worker program by its official name; `None` for unknown programs.
    pub fn of(program: &str) -> Option<Self> {
        let (keys, proof_strategy): (&[_], _) = match program {
            "codex" => (
                &["codex", "codex_app_server", "codex-app-server", "codex_cli"],
                "codex_cli",
            ),
            "claude" => (
                &["claude", "claude_code", "claude-code", "claude_cli"],
                "claude_cli",
            ),
            "gemini" => (&["gemini", "gemini_cli"], "gemini_cli"),
            _ => return None,
        };
        Some(Self {
            keys,
            proof_strategy,
        })
    }
}

impl Machine {
    /// Sets the billing channel of a worker program and returns the keys of the changed policies.
    ///
    /// Only keys of the published layout are added, so that other programs can read the file.
    pub fn set_channel(&mut self, program: ProgramPolicy, channel: Channel) -> Vec<&'static str> {
        let initial = Self::initial()
            .provider_execution_policy
            .unwrap_or_default();
        let policies = self
            .provider_execution_policy
            .get_or_insert_with(BTreeMap::new);
        let mut changed = Vec::new();
        for key in program.keys {
            let before = policies.get(*key).cloned();
            // Alternative spellings are updated if the file has them, but never added.
            if before.is_none() && !initial.contains_key(*key) {
                continue;
            }
            let patterns = match &before {
                Some(policy) => policy.allowed_bin_patterns.clone(),
                None => Text::new(program.keys[0]).into_iter().collect(),
            };
            let policy = match channel {
                Channel::Api => ExecutionPolicy {
                    channel,
                    require_subscription_proof: false,
                    proof_strategy: None,
                    allowed_bin_patterns: patterns,
                },
                Channel::SubscriptionCli => ExecutionPolicy {
                    channel,
                    require_subscription_proof: true,
                    proof_strategy: Text::new(program.proof_strategy),
                    allowed_bin_patterns: patterns,
                },
            };
            if before.as_ref() != Some(&policy) {
                policies.insert((*key).to_owned(), policy);
                changed.push(*key);
            }
        }
        changed
    }
}

impl Writer<'_> {
    /// Sets the billing channel of a worker program on this machine and returns the keys of the changed policies.
    pub fn set_channel(
        &self,
        program: ProgramPolicy,
        channel: Channel,
    ) -> Result<Vec<&'static str>, Error> {
        let machine: Arc<Machine> = self.company().read(layout::MACHINE)?;
        let mut machine = Machine::clone(&machine);
        let changed = machine.set_channel(program, channel);
        if !changed.is_empty() {
            self.put(layout::MACHINE, &machine)?;
        }
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_is_changed_for_every_name_of_the_program_and_back() {
        let mut machine = Machine::initial();
        let codex = ProgramPolicy::of("codex").unwrap();
        assert_eq!(
            machine.set_channel(codex, Channel::Api),
            ["codex", "codex_app_server"]
        );
        let policies = machine.provider_execution_policy.as_ref().unwrap();
        assert_eq!(policies["codex"].channel, Channel::Api);
        assert!(!policies["codex_app_server"].require_subscription_proof);
        assert_eq!(policies["codex"].proof_strategy, None);
        assert_eq!(policies["claude"].channel, Channel::SubscriptionCli);
        assert!(machine.set_channel(codex, Channel::Api).is_empty());
        machine.set_channel(codex, Channel::SubscriptionCli);
        assert_eq!(machine, Machine::initial());
    }

    #[test]
    fn a_file_without_policies_gets_those_of_the_program_alone() {
        let mut machine = Machine::initial();
        machine.provider_execution_policy = None;
        let gemini = ProgramPolicy::of("gemini").unwrap();
        assert_eq!(
            machine.set_channel(gemini, Channel::SubscriptionCli),
            ["gemini"]
        );
        let policies = machine.provider_execution_policy.as_ref().unwrap();
        assert_eq!(policies.len(), 1);
        assert_eq!(
            policies["gemini"].proof_strategy.as_deref(),
            Some("gemini_cli")
        );
    }
}
