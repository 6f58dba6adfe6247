//! Tests of the public interface of the store.

mod folder_model;
mod memo;
