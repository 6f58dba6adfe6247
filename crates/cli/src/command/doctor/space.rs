//! Checks the free disk space of the home and the company folders.

use std::path::Path;

use rustix::fs::statvfs;

use super::Finding;
use crate::terminal;

/// Below this, an upload or a backup may fail.
const LOW: u64 = 1 << 30;
/// Below this, writing a message may fail.
const CRITICAL: u64 = 64 << 20;

/// Checks the free space of the file system of a folder. Blocks.
pub(super) fn look(check: &str, folder: &Path) -> Finding {
    match statvfs(folder) {
        Ok(found) => rate(check, found.f_bavail.saturating_mul(found.f_frsize)),
        Err(error) => Finding::warn(
            check,
            format!("the free space cannot be read: {error}"),
            "check it with `df`",
        ),
    }
}

/// Rates a number of free bytes.
fn rate(check: &str, free: u64) -> Finding {
    let found = format!("{} free", terminal::bytes(free));
    if free < CRITICAL {
        let remedy = "free space on this disk now: writes fail when it is full";
        Finding::fail(check, found, remedy)
    } else if free < LOW {
        let remedy = "free space on this disk: large uploads and backups may not fit";
        Finding::warn(check, found, remedy)
    } else {
        Finding::pass(check, found)
    }
}

#[cfg(test)]
mod tests {
    use protocol::company::workspace::DoctorStatus;

    use super::*;

    #[test]
    fn little_free_space_is_a_warning_and_almost_none_is_a_failure() {
        for (free, status, found) in [
            (3 << 30, DoctorStatus::Pass, "3 GiB free"),
            (500 << 20, DoctorStatus::Warn, "500 MiB free"),
            (1 << 20, DoctorStatus::Fail, "1 MiB free"),
        ] {
            let finding = rate("space", free);
            assert_eq!((finding.status, finding.found.as_str()), (status, found));
            assert_eq!(finding.remedy.is_some(), status != DoctorStatus::Pass);
        }
    }
}
