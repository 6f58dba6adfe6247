//! The company family.

pub(super) mod system;
