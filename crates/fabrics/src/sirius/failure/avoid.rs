//! Nodes and pairs that sources do not request to relay (Sirius §4.5).

use crate::sirius::index::Label;
use lightloom_engine::Stream;
use std::collections::BTreeSet;

/// The nodes and pairs that receive no requests, as known at the start of an epoch.
pub struct Avoid {
    /// Nodes that receive no requests.
    pub nodes: Vec<Label>,
    /// The pairs (source, intermediate) that do not meet.
    pub dark: BTreeSet<(Label, Label)>,
    /// The pairs (intermediate, destination) that do not meet.
    pub cut: BTreeSet<(Label, Label)>,
    /// Whether the source and the destination of a flow may relay it.
    pub ends: bool,
}

impl Avoid {
    /// Whether a source may request permission from a node to send to a destination.
    pub fn allows(&self, source: Label, by: Label, destination: Label) -> bool {
        !self.nodes.contains(&by)
            && !self.dark.contains(&(source, by))
            && (by == destination || !self.cut.contains(&(by, destination)))
            && (self.ends || (by != source && by != destination))
    }

    /// Moves the requests of a source, `wants` by intermediate, to nodes that accept requests;
    /// returns how many of the `asked` remain.
    #[cold]
    pub fn ask_others(
        &self,
        source: Label,
        wants: &mut [u16],
        mut asked: u32,
        rng: &mut Stream,
    ) -> u32 {
        let none = Label::new(wants.len());
        let mut again = Vec::new();
        let dark = self
            .dark
            .range((source, Label(0))..=(source, Label(u16::MAX)));
        let all = self.nodes.iter().map(|&n| (n, none));
        let all = all.chain(dark.map(|d| (d.1, none)));
        for (by, destination) in all.chain(self.cut.iter().copied().filter(|c| c.0 != c.1)) {
            let want = &mut wants[by.index()];
            if *want != none.0 && (destination == none || *want == destination.0) {
                again.push(Label(std::mem::replace(want, none.0)));
            }
        }
        for destination in again {
            let start = rng.below(none.0.into()) as u16;
            let mut all = (start..none.0).chain(0..start).map(Label);
            let other =
                all.find(|&by| wants[by.index()] == none.0 && self.allows(source, by, destination));
            match other {
                Some(by) => wants[by.index()] = destination.0,
                None => asked -= 1,
            }
        }
        asked
    }
}
