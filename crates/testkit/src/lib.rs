//! Helpers shared by tests. This crate is not part of the product.

mod generated;
mod model_server;
mod office;
mod process;
mod running;
mod sources;
mod transcript;

pub use generated::assert_generated;
pub use model_server::{ModelServer, Question, model_server};
pub use office::{Office, put, put_program, text, until};
pub use process::{ServeProcess, StdioProcess};
pub use running::{
    Statements, TestGateway, company, gateway, gateway_with_config, gateway_with_quota,
};
pub use sources::{CountingIds, FIRST_TIME, TickingClock};
pub use transcript::{answer, refusal, told, told_until};
