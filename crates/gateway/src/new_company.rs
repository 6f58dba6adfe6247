//! The launch checks of adapters for a company folder that does not exist yet.

use company::document::Machine;
use protocol::{MayExec, company::adapter::AdapterRow};

/// Returns the adapters of this machine, checked with the settings of a new company folder. Needs neither a company
/// folder nor a home.
#[expect(
    clippy::disallowed_methods,
    reason = "only the person at the terminal calls it"
)]
pub async fn new_company_adapters() -> Vec<AdapterRow> {
    let (machine, options) = (Machine::initial(), sessions::Options::default());
    let adapters = sessions::Adapters::default();
    adapters
        .status_with_launch(Ok(&machine), &options, Some(MayExec::granted()))
        .await
}
