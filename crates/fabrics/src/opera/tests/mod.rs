//! Oracles of Opera.
