//! Implements every method declared in `protocol` by calling the crate that owns the data.
//!
//! [`Gateway`] holds the state shared by all connections, [`Peer`] is one connection, `methods` contains one short
//! handler per method, and `http` serves everything on the port that is not JSON-RPC. SQL lives in `crud`; child
//! processes are started in `sessions`.

mod artifacts;
mod auth;
mod backup;
mod briefs;
mod company_events;
mod connections;
mod context;
mod error;
mod gateway;
mod home;
mod http;
mod janitor;
mod job_services;
mod linking;
mod methods;
mod new_company;
mod notify;
mod peer;
mod proposals;
mod providers;
mod rows;
mod serve;
mod sha256;
mod sources;
mod stdio;
mod turns;
mod watch;

pub use auth::{
    Authenticator, Credential, DesktopSessions, InvalidToken, NewToken, Principal, Role,
    StoredTokens,
};
pub use backup::{BackupError, Restore, Restored, RestoredFolder, Saved, Secrets, backup, restore};
pub use context::Context;
pub use error::Error;
pub use gateway::{Gateway, GatewayOptions};
pub use home::{Home, default_home, replace_file};
pub use methods::router;
pub use new_company::new_company_adapters;
pub use peer::Peer;
pub use proposals::{unified_diff, with_lf};
pub use serve::{ServeOptions, Serving, serve, sign_in_address};
pub use sessions::SESSION_MARK;
pub use sha256::sha256_hex;
pub use sources::{Clock, IdSource, Sources};
pub use stdio::serve_stdio;

/// The version of the product, taken from the version of this crate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
