//! What a launch in a new company folder would check.

use company::document::Machine;
use protocol::{MayExec, company::adapter::AdapterRow};

/// The adapters of this machine under the settings that a new company folder has. It needs neither a folder nor a home.
#[expect(
    clippy::disallowed_methods,
    reason = "only the person at the terminal calls it"
)]
pub async fn new_company_adapters() -> Vec<AdapterRow> {
    let (machine, options) = (Machine::initial(), runner::Options::default());
    let adapters = runner::Adapters::default();
    adapters
        .status_with_launch(Ok(&machine), &options, Some(MayExec::granted()))
        .await
}
