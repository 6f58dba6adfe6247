//! Capability values for starting processes and for spending money.
//!
//! Functions that start a process take a [`MayExec`], and functions that cause provider costs take a [`MaySpend`], so
//! code without such a value cannot call them. The gateway creates these values when it admits a call whose token has
//! the scope, and for work that the owner has enabled permanently, such as a heartbeat. The lint `disallowed-methods`
//! forbids the constructors everywhere else; each exception states its reason.

/// The capability to start, adopt and terminate processes.
#[derive(Clone, Copy, Debug)]
pub struct MayExec(());

impl MayExec {
    /// Creates the capability. The caller must have checked that the principal has scope `exec`.
    pub const fn granted() -> Self {
        Self(())
    }
}

/// The capability to send requests to a model provider with the owner's API keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaySpend(());

impl MaySpend {
    /// Creates the capability. The caller must have checked that the principal has scope `spend`.
    pub const fn granted() -> Self {
        Self(())
    }
}
