//! Tests of the public interface: the router and the transports.

mod desk;
mod router;
mod stdio;
mod websocket;
