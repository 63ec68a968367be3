//! What of a resolved table decides its results and is easily missed: a buffer below the
//! round trip of its link.
//!
//! A fabric works its findings out of its table, before anything runs
//! ([`FabricConfig::findings`](crate::FabricConfig::findings)); commands print them as notes.

use serde::Serialize;

/// A value of a fabric's table that limits its results, with its effect and its remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The key of the fabric's table.
    pub parameter: &'static str,
    /// Its value in force.
    pub value: String,
    /// How it affects results, as a clause: "a lone flow gets 0.57 of its link".
    pub effect: String,
    /// What to change, as an order: "raise it to 84".
    pub remedy: String,
}
