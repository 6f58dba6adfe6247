//! Tests of the drivers with recorded output.

mod samples;
