//! What tests share. Nothing here is part of the product.

mod generated;
mod process;
mod running;
mod sources;
mod transcript;

pub use generated::assert_generated;
pub use process::{ServeProcess, StdioProcess};
pub use running::{Statements, TestGateway, gateway};
pub use sources::{CountingIds, FIRST_TIME, TickingClock};
pub use transcript::{answer, refusal, told};
