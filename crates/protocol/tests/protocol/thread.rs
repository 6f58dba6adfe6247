//! Examples of `thread/*`.

mod agents_doc;
