//! The one shape of "this configuration cannot run".

use std::fmt;

/// A configuration that cannot run: the key, its value, the limit, the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Dotted path of the key, as the user wrote it: `fabric.slot`.
    pub key: String,
    /// The value found there.
    pub value: String,
    /// What it breaks.
    pub limit: String,
    /// What to change.
    pub remedy: String,
}

impl Refusal {
    /// A refusal of `key = value` because of `limit`; `remedy` says what to do.
    pub fn new(
        key: impl Into<String>,
        value: impl fmt::Display,
        limit: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Refusal {
        Refusal {
            key: key.into(),
            value: value.to_string(),
            limit: limit.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} = {}: {}; {}",
            self.key, self.value, self.limit, self.remedy
        )
    }
}

impl std::error::Error for Refusal {}
