//! The system prompt: sections from hooks, a compiler that puts them in order, and a manifest that proves it.
//!
//! The compiler knows no section by name. What is in a prompt beyond the fixed base comes from hooks; without a
//! package, its section is gone and nothing else changes.

pub mod agents_doc;
mod compiler;
mod section;

pub use compiler::{COMPILER_VERSION, CompiledPrompt, PromptInput, Reader, compile};
