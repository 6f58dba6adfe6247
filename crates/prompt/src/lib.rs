//! The system prompt: sections contributed by hooks, the compiler that orders them, and the manifest that records them.
//!
//! The compiler knows no section by name. Everything beyond the fixed base sections comes from hooks; removing a
//! package removes its section and changes nothing else.

pub mod agents_doc;
mod compiler;
mod section;

pub use compiler::{COMPILER_VERSION, CompiledPrompt, PromptInput, PromptReader, compile};
