//! Policies that are not in the registry: a user's own, in a file.
//!
//! What reads such files, and in which language they are written, is the matter of
//! what hands a [`Library`] to the host of a controller.

use super::Built;
use crate::hardware::Hardware;
use lightloom_engine::Refusal;
use serde_json::{Map, Value};

/// Knows policies by the file that they are in.
pub trait Library: Sync {
    /// The policy `file` (`PATH:NAME`), made with these options.
    ///
    /// # Errors
    /// If there is no such file or policy, or it refuses its options.
    fn policy(&self, file: &str, options: &Map<String, Value>, hardware: &Hardware) -> Built;
}

/// No policies but those of the registry.
pub struct Empty;

impl Library for Empty {
    fn policy(&self, file: &str, _: &Map<String, Value>, _: &Hardware) -> Built {
        Err(Refusal::new(
            "policy.file",
            file,
            "nobody here reads policies from files",
            "run it from Python, or name a policy of the registry",
        ))
    }
}
