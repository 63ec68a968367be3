//! Whom nobody asks to relay (Sirius §4.5).

use std::collections::BTreeSet;

/// Whom nobody asks, known at the start of an epoch.
pub struct Avoid {
    /// Nodes that are left alone.
    pub nodes: Vec<u16>,
    /// (source, intermediate) that do not meet.
    pub dark: BTreeSet<(u16, u16)>,
    /// (intermediate, destination) likewise.
    pub cut: BTreeSet<(u16, u16)>,
    /// Whether the ends of a flow may relay it.
    pub ends: bool,
}

impl Avoid {
    /// Whether a source may ask a node for leave to send to a destination.
    pub fn allows(&self, source: u16, by: u16, destination: u16) -> bool {
        !self.nodes.contains(&by)
            && !self.dark.contains(&(source, by))
            && (by == destination || !self.cut.contains(&(by, destination)))
            && (self.ends || (by != source && by != destination))
    }
}
