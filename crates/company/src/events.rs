//! Reading event logs: live subscriptions, replay and share packs.

pub mod follow;
pub mod replay;
pub mod share_pack;
