//! `workspace.trust`: shows what a folder sets on this machine, trusts it, and withdraws the trust.

use std::collections::BTreeMap;

use protocol::company::workspace::CompanyWorkspaceTrustResponse;

use crate::{
    Company, Error, document::Machine, execution::heartbeat, folder::intent, layout,
    workspace::init,
};

/// Returns whether a folder is trusted, and its machine-specific settings.
pub fn status(company: &Company) -> CompanyWorkspaceTrustResponse {
    // The settings are shown to the person who decides; they are not used.
    let shown = company.as_if_trusted();
    let machine = shown.read::<Machine>(layout::MACHINE);
    CompanyWorkspaceTrustResponse {
        workspace_dir: company.given().to_owned(),
        trusted: company.is_trusted(),
        programs: machine.map_or_else(|_| BTreeMap::new(), |machine| machine.provider_bins.clone()),
        heartbeat_enabled: heartbeat::setting(&shown).config.enabled,
        sha256: settings_sha256(&shown),
    }
}

/// Hash of the machine-specific settings of a folder.
fn settings_sha256(company: &Company) -> String {
    let lines = [layout::MACHINE, layout::HEARTBEAT_CONFIG].map(|path| {
        let hash = company.read_bytes(path).map(|bytes| intent::sha256(&bytes));
        format!("{}  {path}\n", hash.as_deref().unwrap_or("-"))
    });
    intent::sha256(lines.concat().as_bytes())
}

/// Trusts a folder, and creates its machine file if that is missing. Fails if the machine-specific settings differ from
/// those that were shown.
pub fn grant(
    company: &Company,
    expected_sha256: Option<&str>,
) -> Result<CompanyWorkspaceTrustResponse, Error> {
    let actual = settings_sha256(&company.as_if_trusted());
    if let Some(expected) = expected_sha256.filter(|shown| !shown.eq_ignore_ascii_case(&actual)) {
        return Err(Error::BasisChanged {
            artifact_id: layout::LOCAL.to_owned(),
            expected: expected.to_owned(),
            actual,
            files: Vec::new(),
        });
    }
    company.trust()?;
    company.write(|writer| {
        writer.make_dir(layout::LOCAL)?;
        // Backups do not contain the file, and `.local` must stay out of repositories.
        if let Some(ignored) = init::ignored(company) {
            writer.put_text(layout::GITIGNORE, &ignored)?;
        }
        match company.read::<Machine>(layout::MACHINE) {
            Err(error) if error.is_missing() => writer.put(layout::MACHINE, &Machine::initial()),
            _ => Ok(()),
        }
    })?;
    Ok(status(company))
}

/// Withdraws the trust in a folder.
pub fn withdraw(company: &Company) -> Result<CompanyWorkspaceTrustResponse, Error> {
    company.distrust()?;
    Ok(status(company))
}
