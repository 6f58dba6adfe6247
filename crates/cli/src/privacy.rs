//! Denies other programs of the same account, such as workers, access to the memory and environment of this process.

/// Marks this process as not dumpable: other processes of the account cannot read its memory and environment, and the
/// system writes no core files. Child processes are not affected.
///
/// If `/proc` is mounted so that it hides processes of other accounts, a process that is not dumpable is hidden as
/// well, and a second `ac` could not detect that the first one is alive. On such systems nothing is changed.
#[cfg(target_os = "linux")]
pub(crate) fn close_memory() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    if std::fs::read("/proc/1/stat").is_ok() {
        // Best effort: if the call fails, the process is as readable as before.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// No-op: other systems require a password or an entitlement before a process may read another one.
#[cfg(not(target_os = "linux"))]
pub(crate) fn close_memory() {}
