//! The lifecycle of a company folder: validation, export, import, repair and sharing.

#[path = "lifecycle/doctor.rs"]
mod doctor;
#[path = "filled/folder.rs"]
mod filled;
#[path = "lifecycle/share_pack.rs"]
mod share_pack;
#[path = "lifecycle/transfer.rs"]
mod transfer;
#[path = "lifecycle/validate.rs"]
mod validate;
