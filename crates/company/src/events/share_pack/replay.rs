//! Replays the events of a share pack and separates declared omissions and redactions from later changes.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader},
};

use protocol::company::{
    ProjectId, RunId, SharePackId,
    run::{ReplayMode, ReplayVerificationIssue, ReplayedEvents},
    sharepack::SharepackRun,
};
use sha2::{Digest as _, Sha256};

use super::{Chain, events_path, included_runs, read_chain, read_manifest};
use crate::{Company, Error, events::replay};

/// Replays all runs of a pack, or only `run`.
pub fn replay(
    company: &Company,
    project: &ProjectId,
    pack: &SharePackId,
    run: Option<&RunId>,
    options: &replay::Options,
) -> Result<Vec<SharepackRun>, Error> {
    let manifest = read_manifest(company, project, pack)?;
    let mut runs = Vec::new();
    for shared in included_runs(&manifest, run)? {
        let relative = events_path(company, project, pack, shared)?;
        let mut replayed = replay::replay(&company.path(&relative), options)?.replayed;
        let chain = match options.mode {
            ReplayMode::Raw => None,
            ReplayMode::Verified | ReplayMode::Deterministic | ReplayMode::Live => {
                read_chain(company, project, pack, shared)?
            }
        };
        let declared = |wanted: fn(&super::ChainLine) -> bool| {
            let lines = chain
                .as_ref()
                .map(|chain| chain.lines.iter().filter(|line| wanted(line)));
            lines.map(|lines| {
                lines
                    .filter_map(|line| line.event_id.clone())
                    .collect::<Vec<_>>()
            })
        };
        if let Some(chain) = &chain {
            explain(&mut replayed, chain, &line_hashes(company, &relative)?);
        }
        runs.push(SharepackRun {
            run_id: shared.run_id.to_string(),
            source_relpath: shared.source_relpath.to_string(),
            bundle_relpath: shared.bundle_relpath.to_string(),
            declared_omissions: declared(|line| !line.included),
            declared_redactions: declared(|line| line.included && line.redacted),
            replay: replayed,
        });
    }
    Ok(runs)
}

/// Returns the SHA-256 of every line of an events file that is not blank.
fn line_hashes(company: &Company, relative: &str) -> Result<Vec<String>, Error> {
    let file = company.open(relative)?;
    let mut hashes = Vec::new();
    for line in BufReader::new(file).split(b'\n') {
        let line = line.map_err(|error| Error::io("read", company.path(relative), error))?;
        if !line.trim_ascii().is_empty() {
            hashes.push(crate::event_log::hex(&Sha256::digest(&line)));
        }
    }
    Ok(hashes)
}

/// Removes the issues that the pack's declared omissions and redactions explain, and adds an issue if the events
/// contradict the declaration.
fn explain(replayed: &mut ReplayedEvents, chain: &Chain, found: &[String]) {
    let declared: Vec<_> = chain.lines.iter().filter(|line| line.included).collect();
    let is_whole = declared.len() == found.len();
    // Sequence numbers, from 1, of the lines that match the declaration.
    let as_declared: BTreeSet<u64> = declared
        .iter()
        .zip(found)
        .zip(1..)
        .filter(|((line, found), _)| line.line_sha256.as_deref() == Some(found.as_str()))
        .map(|(_, seq)| seq)
        .collect();
    let chain_holds = chain_holds(chain);
    replayed.verification_issues.retain(|issue| {
        let is_explained = matches!(
            issue.code.as_str(),
            "event_hash_mismatch" | "prev_hash_chain_mismatch" | "first_prev_hash_non_null"
        );
        !(is_explained && is_whole && chain_holds && as_declared.contains(&issue.seq))
    });
    if !is_whole || !chain_holds || as_declared.len() != found.len() {
        replayed.verification_issues.push(ReplayVerificationIssue {
            seq: found.len() as u64,
            line: found.len() as u64,
            code: "share_pack_changed".to_owned(),
            message: "The events differ from those the share pack was created with".to_owned(),
        });
    }
    replayed.deterministic_ok =
        replayed.parse_issues.is_empty() && replayed.verification_issues.is_empty();
}

/// Returns whether every declared event refers to the hash of the previous one.
fn chain_holds(chain: &Chain) -> bool {
    let mut previous: Option<&str> = None;
    chain
        .lines
        .iter()
        .filter(|line| line.event_id.is_some())
        .all(|line| {
            let holds = line.prev_event_hash.as_deref() == previous;
            previous = line.event_hash.as_deref();
            holds
        })
}
