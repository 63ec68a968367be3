//! Placeholder while this crate is written.
