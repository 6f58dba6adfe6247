//! Tests of the public interface: the model providers.

mod provider;
mod server;
