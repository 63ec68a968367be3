//! Policies that are not in the registry: a user's own, in a file.
//!
//! The caller that passes a [`Library`] to the host of a controller reads such files, in any
//! language.

use super::Built;
use crate::hardware::Hardware;
use lightloom_engine::Refusal;
use serde_json::{Map, Value};

/// Builds policies from the files that contain them.
pub trait Library: Sync {
    /// Builds the policy `file` (`PATH:NAME`) with these options.
    ///
    /// # Errors
    /// If there is no such file or policy, or if the policy refuses its options.
    fn policy(&self, file: &str, options: &Map<String, Value>, hardware: &Hardware) -> Built;
}

/// A library without policies: only those of the registry are available.
pub struct Empty;

impl Library for Empty {
    fn policy(&self, file: &str, _: &Map<String, Value>, _: &Hardware) -> Built {
        Err(Refusal::new(
            "policy.file",
            file,
            "policies in files are not read here",
            "run it from Python, or name a policy of the registry",
        ))
    }
}
