//! `sharepack.*`
