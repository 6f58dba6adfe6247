//! Keeps other programs of the same account, such as workers, out of the memory and the environment of this process.

/// Forbids other processes of the account to read our memory and our environment, and the system to write core files.
/// Programs that we start are readable as usual.
///
/// Where `/proc` hides the processes of others, this one would be hidden too, and a second `ac` could not see that the
/// first one lives. There everything stays as it is.
#[cfg(target_os = "linux")]
pub(crate) fn close_memory() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    if std::fs::read("/proc/1/stat").is_ok() {
        // A system that cannot is no worse than before.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// Other systems ask for a password or an entitlement before a process may read another one.
#[cfg(not(target_os = "linux"))]
pub(crate) fn close_memory() {}
