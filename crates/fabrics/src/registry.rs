//! All fabrics by kind. Adding a fabric is one folder and one line here.

use crate::contract::Entry;

/// Every fabric. A static: a constant would be compiled again, with all configurations that it
/// reads, by every crate that uses it.
pub static REGISTRY: &[Entry] = &[
    crate::sirius::ENTRY,
    crate::electrical::ENTRY,
    crate::tree::ENTRY,
    crate::cthrough::ENTRY,
    crate::hydra::ENTRY,
    crate::hybrid::ENTRY,
    crate::mordia::ENTRY,
    crate::rotornet::ENTRY,
    crate::opera::ENTRY,
    crate::lions::ENTRY,
    crate::butterfly::ENTRY,
];

/// The fabric of that kind.
pub fn find(kind: &str) -> Option<&'static Entry> {
    REGISTRY.iter().find(|e| e.kind == kind)
}
