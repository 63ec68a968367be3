//! Whom nobody asks to relay (Sirius §4.5).

use lightloom_engine::Stream;
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

    /// Puts the requests of a source, `wants` by intermediate, to nodes that can be asked;
    /// returns how many of the `asked` are left.
    #[cold]
    pub fn ask_others(
        &self,
        source: u16,
        wants: &mut [u16],
        mut asked: u32,
        rng: &mut Stream,
    ) -> u32 {
        let none = wants.len() as u16;
        let mut again = Vec::new();
        let dark = self.dark.range((source, 0)..=(source, u16::MAX));
        let all = self.nodes.iter().map(|&n| (n, none));
        let all = all.chain(dark.map(|d| (d.1, none)));
        for (by, destination) in all.chain(self.cut.iter().copied().filter(|c| c.0 != c.1)) {
            let want = &mut wants[by as usize];
            if *want != none && (destination == none || *want == destination) {
                again.push(std::mem::replace(want, none));
            }
        }
        for destination in again {
            let start = rng.below(none as u32) as u16;
            let other = (start..none)
                .chain(0..start)
                .find(|&by| wants[by as usize] == none && self.allows(source, by, destination));
            match other {
                Some(by) => wants[by as usize] = destination,
                None => asked -= 1,
            }
        }
        asked
    }
}
