//! Implements every method declared in `protocol` by calling the crate that owns the data.
//!
//! [`Gateway`] starts the services that all connections share, [`Dispatch`] answers one connection, `methods` contains one
//! short handler per method, and `http` serves everything on the port that is not JSON-RPC. SQL lives in `crud`; child
//! processes are started in `sessions`.

mod artifact_notifications;
mod attachments;
mod auth;
mod blocking;
mod company_events;
mod connections;
mod context;
mod dispatch;
mod error;
mod frames;
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
mod run_inputs;
mod run_outputs;
mod serve;
mod services;
mod sha256;
mod stdio;
mod turns;
mod uploads;
mod watch;
mod worker_prompts;

pub use auth::{
    Authenticator, Credential, DesktopSessions, InvalidToken, NewToken, Principal, Role,
    StoredTokens,
};
pub use context::Context;
pub use dispatch::Dispatch;
pub use error::Error;
pub use gateway::{Gateway, GatewayOptions};
pub use home::{Home, default_home, replace_file};
pub use methods::router;
pub use new_company::new_company_adapters;
pub use proposals::{unified_diff, with_lf};
pub use serve::{ServeOptions, Serving, serve, sign_in_address};
pub use sessions::SESSION_MARK;
pub use sha256::sha256_hex;
pub use sources::{Clock, IdSource, Sources};
pub use stdio::serve_stdio;

/// The version of the product, taken from the version of this crate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
