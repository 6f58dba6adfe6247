//! Tests of the rows.

mod generated;
