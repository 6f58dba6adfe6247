//! Worker programs in runs: their instructions, their prompt and their outputs.

mod files;
mod fixture;
mod prompt;
mod results;
