//! Prompt sections, compiler, manifest and the built-in hook packages.
