//! The right to cause something, as a value.
//!
//! A scope is a label on a token; what starts a process asks for a [`MayExec`] and what costs money for a
//! [`MaySpend`], so code that was not given one cannot do it. The gateway makes them when it admits a call, and for
//! what a person turned on once and for all, such as a heartbeat. Nobody else does: the lint `disallowed-methods` names
//! the constructors, and each place that is allowed to use one says why.

/// The right to start, take over and end processes.
#[derive(Clone, Copy, Debug)]
pub struct MayExec(());

impl MayExec {
    /// Says that somebody who may execute asked for it.
    pub const fn granted() -> Self {
        Self(())
    }
}

/// The right to ask a model provider in the name of whoever owns the keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaySpend(());

impl MaySpend {
    /// Says that somebody who may spend asked for it.
    pub const fn granted() -> Self {
        Self(())
    }
}
