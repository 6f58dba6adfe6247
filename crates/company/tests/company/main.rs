//! Tests of the public interface on real folders.

mod corruption;
mod damage;
mod events;
mod filled;
mod governance;
mod pipeline;
mod place;
mod plan;
mod share_pack;
mod workspace;
