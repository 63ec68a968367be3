//! The rows: a file for each family of fabrics.

mod circuits;
mod electrical;
mod hybrids;
mod packets;
mod sirius;
pub mod variants;

use crate::scenario::Verdict;

/// The scenarios by name, each with its result.
pub type Row = Vec<(&'static str, Verdict)>;

/// The row of a fabric.
pub fn of(kind: &str) -> Row {
    match kind {
        "sirius" => sirius::row(),
        "clos" => electrical::clos(),
        "tree" => electrical::tree(),
        "cthrough" => hybrids::cthrough(),
        "hydra" => hybrids::hydra(),
        "hybrid" => hybrids::hybrid(),
        "mordia" => circuits::mordia(),
        "rotornet" => circuits::rotornet(),
        "opera" => circuits::opera(),
        "lions" => packets::lions(),
        "flattened-butterfly" => packets::butterfly(),
        _ => panic!("add a row for {kind:?} to tests/capabilities/rows"),
    }
}

/// Replaces the result of a scenario of a row.
fn set(row: &mut Row, scenario: &str, verdict: Verdict) {
    let place = row.iter_mut().find(|(name, _)| *name == scenario);
    place.expect("a scenario").1 = verdict;
}
