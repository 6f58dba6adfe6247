//! What tests share. Nothing here is part of the product.

mod generated;

pub use generated::assert_generated;
