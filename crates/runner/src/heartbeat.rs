//! The heartbeat of a company: who is woken, why, and what becomes of what they want to do.

pub mod arbitration;
pub mod triage;
