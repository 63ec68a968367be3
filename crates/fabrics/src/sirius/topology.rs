//! Physical topology and schedule (Sirius §3.1, §4.1, §4.2, Fig 5).
//!
//! Nodes hang on gratings by their uplinks; every transceiver of a node tunes
//! through the wavelengths together, one a slot. A [`Wiring`] says where each
//! uplink goes; a [`Schedule`] says who meets whom in a slot, and names nodes
//! by *labels*, an order in which the nodes met in a slot stand side by side,
//! so that the kernel walks memory in sequence.

use lightloom_control::cyclic::RoundRobin;
use lightloom_photonics::Awgr;

/// A set of `N / G` uplinks of every node on gratings with `G` ports: enough to
/// meet every node once in `G` slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bank {
    /// The gratings.
    pub awgr: Awgr,
    /// The first of its uplinks at every node.
    pub first_uplink: u32,
    /// Uplinks of every node in this bank, N / G.
    pub uplinks: u32,
    /// Rotation of the grating inputs: node index `i` is plugged into input
    /// `i + shift`, so that banks meet a pair at different times although all
    /// transceivers of a node share one wavelength.
    pub shift: u32,
}

/// Where the uplinks of N nodes go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wiring {
    /// N.
    pub nodes: u32,
    /// Banks of uplinks, in order.
    pub banks: Vec<Bank>,
}

/// One end of a fibre in the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GratingPort {
    /// Grating (a, u) of its bank, numbered bank by bank: `a · uplinks + u`.
    pub grating: u32,
    /// Its port.
    pub port: u32,
}

impl Wiring {
    /// Uplinks of a node.
    pub fn uplinks(&self) -> u32 {
        self.banks.iter().map(|b| b.uplinks).sum()
    }

    /// Gratings in the core: (N/G)² a bank.
    pub fn gratings(&self) -> u32 {
        self.banks.iter().map(|b| b.uplinks * b.uplinks).sum()
    }

    /// The bank of an uplink, its number there, and the bank's first grating.
    fn bank(&self, uplink: u32) -> (&Bank, u32, u32) {
        let mut first_grating = 0;
        for b in &self.banks {
            if uplink < b.first_uplink + b.uplinks {
                return (b, uplink - b.first_uplink, first_grating);
            }
            first_grating += b.uplinks * b.uplinks;
        }
        panic!("uplink {uplink} of {}", self.uplinks());
    }

    /// Where `uplink` of `node` is plugged in: node n is in group a = n div G
    /// with index i = n mod G; uplink u goes to grating (a, u), input i.
    pub fn input(&self, node: u32, uplink: u32) -> GratingPort {
        let (b, u, first) = self.bank(uplink);
        let (a, i) = (node / b.awgr.ports, node % b.awgr.ports);
        GratingPort {
            grating: first + a * b.uplinks + u,
            port: (i + b.shift) % b.awgr.ports,
        }
    }

    /// Who hears output `port` of a grating: output k of grating (a, u) goes to
    /// receive port a of node u · G + k.
    pub fn output(&self, at: GratingPort) -> (u32, u32) {
        let mut grating = at.grating;
        for b in &self.banks {
            if grating < b.uplinks * b.uplinks {
                let (a, u) = (grating / b.uplinks, grating % b.uplinks);
                return (u * b.awgr.ports + at.port, b.first_uplink + a);
            }
            grating -= b.uplinks * b.uplinks;
        }
        panic!("grating {} of {}", at.grating, self.gratings());
    }

    /// The node and its receive port that hear `uplink` of `node` on `wavelength`.
    pub fn peer(&self, node: u32, uplink: u32, wavelength: u32) -> (u32, u32) {
        let input = self.input(node, uplink);
        let (b, ..) = self.bank(uplink);
        self.output(GratingPort {
            port: b.awgr.output(input.port, wavelength),
            ..input
        })
    }
}

/// Nodes met in a slot: labels `start, start + stride, …` (`len` of them),
/// through uplinks `first_uplink, first_uplink + 1, …`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// First label.
    pub start: u32,
    /// How many.
    pub len: u32,
    /// Distance between labels.
    pub stride: u32,
    /// The uplink of the first.
    pub first_uplink: u32,
}

/// Who meets whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Idealised fractional round robin; no wiring of gratings realises it.
    Rotor(RoundRobin),
    /// Cyclic wavelengths over a wiring.
    Gratings(Wiring),
}

impl Schedule {
    /// N.
    pub fn nodes(&self) -> u32 {
        match self {
            Schedule::Rotor(rr) => rr.nodes,
            Schedule::Gratings(w) => w.nodes,
        }
    }

    /// Uplinks of a node.
    pub fn uplinks(&self) -> u32 {
        match self {
            Schedule::Rotor(rr) => rr.uplinks,
            Schedule::Gratings(w) => w.uplinks(),
        }
    }

    /// The node and receive port that hear `uplink` of `node` in `slot`.
    pub fn peer(&self, node: u32, uplink: u32, slot: i64) -> (u32, u32) {
        match self {
            Schedule::Rotor(rr) => (rr.peer(node, uplink, slot), uplink),
            Schedule::Gratings(w) => {
                let (bank, ..) = w.bank(uplink);
                w.peer(node, uplink, slot.rem_euclid(bank.awgr.ports as i64) as u32)
            }
        }
    }

    /// The grating that `uplink` of `node` is plugged into, if gratings there are.
    pub fn grating(&self, node: u32, uplink: u32) -> Option<u32> {
        match self {
            Schedule::Rotor(_) => None,
            Schedule::Gratings(w) => Some(w.input(node, uplink).grating),
        }
    }

    /// The epoch that begins with `slot`, if one does. A pair meets once an
    /// epoch on average: N/U slots, which need not be whole.
    pub fn epoch_at(&self, slot: i64) -> Option<i64> {
        let (n, u) = (self.nodes() as i64, self.uplinks() as i64);
        let epoch = (slot * u).div_euclid(n);
        ((slot - 1) * u).div_euclid(n).lt(&epoch).then_some(epoch)
    }

    /// Number of whole slots in an epoch, rounded up.
    pub fn epoch_slots(&self) -> u32 {
        self.nodes().div_ceil(self.uplinks())
    }

    /// Fewest ports of any grating (the period of the label order).
    fn finest(&self) -> u32 {
        match self {
            Schedule::Rotor(_) => 1,
            Schedule::Gratings(w) => w.banks.iter().map(|b| b.awgr.ports).min().unwrap_or(1),
        }
    }

    /// The label of a node.
    pub fn label(&self, node: u32) -> u32 {
        let g = self.finest();
        (node % g) * (self.nodes() / g) + node / g
    }

    /// The node with that label.
    pub fn node(&self, label: u32) -> u32 {
        let g = self.finest();
        let per = self.nodes() / g;
        (label % per) * g + label / per
    }
}

/// The schedule laid out for the kernel: who is met, label by label, by table
/// look-ups instead of divisions.
///
/// The *turn* of a peer is its place in the order in which a node meets the
/// others: `turn = (label of the peer − base of the node) mod N`.
#[derive(Clone, Debug)]
pub struct Visits {
    nodes: u32,
    kind: Kind,
    /// Label of the first peer that each label meets in a round.
    base: Vec<u16>,
}

#[derive(Clone, Debug)]
enum Kind {
    Rotor(RoundRobin),
    Gratings(Vec<BankTable>),
}

/// A bank by label.
#[derive(Clone, Debug)]
struct BankTable {
    ports: u32,
    uplinks: u32,
    first_uplink: u32,
    /// Distance between the labels that hear one wavelength.
    stride: u32,
    /// Grating input of each label.
    input: Vec<u16>,
    /// First label that hears each grating output.
    start: Vec<u16>,
}

impl Visits {
    /// Lays out a schedule.
    pub fn new(schedule: &Schedule) -> Visits {
        let nodes = schedule.nodes();
        let kind = match schedule {
            Schedule::Rotor(rr) => Kind::Rotor(*rr),
            Schedule::Gratings(w) => Kind::Gratings(
                w.banks
                    .iter()
                    .map(|b| BankTable::new(b, schedule))
                    .collect(),
            ),
        };
        let per = nodes / schedule.finest();
        let base = |label| match schedule {
            Schedule::Rotor(_) => (label + 1) % nodes,
            Schedule::Gratings(_) => label / per * per,
        };
        Visits {
            nodes,
            kind,
            base: (0..nodes).map(|l| base(l) as u16).collect(),
        }
    }

    /// The label that `label` meets at its turn `turn`.
    #[inline(always)]
    pub fn peer(&self, label: usize, turn: usize) -> usize {
        let peer = self.base[label] as usize + turn;
        peer - if peer >= self.nodes as usize {
            self.nodes as usize
        } else {
            0
        }
    }

    /// The turn of `peer` in the round of `label`.
    #[inline(always)]
    pub fn turn(&self, label: usize, peer: usize) -> usize {
        let base = self.base[label] as usize;
        peer + if peer < base { self.nodes as usize } else { 0 } - base
    }

    /// The visits of `slot`.
    #[inline(always)]
    pub fn at(&self, slot: i64) -> Turn<'_> {
        let turn = match &self.kind {
            Kind::Rotor(rr) => rr.turn(slot) as u32,
            Kind::Gratings(_) => 0,
        };
        Turn {
            visits: self,
            turn,
            slot,
        }
    }
}

impl BankTable {
    fn new(b: &Bank, schedule: &Schedule) -> BankTable {
        let (g, ports) = (schedule.finest(), b.awgr.ports);
        BankTable {
            ports,
            uplinks: b.uplinks,
            first_uplink: b.first_uplink,
            stride: ports / g,
            input: (0..schedule.nodes())
                .map(|l| ((schedule.node(l) % ports + b.shift) % ports) as u16)
                .collect(),
            start: (0..ports).map(|k| schedule.label(k) as u16).collect(),
        }
    }
}

/// The visits of one slot.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    visits: &'a Visits,
    turn: u32,
    slot: i64,
}

impl Turn<'_> {
    /// Window `k` of the turns that come round for `label`; see [`Turn::window`].
    #[inline(always)]
    pub fn turns(&self, label: u32, k: usize) -> Window {
        match &self.visits.kind {
            // All nodes are at the same place of their round.
            Kind::Rotor(rr) => self.rotor(rr, self.turn, k),
            Kind::Gratings(_) => {
                let w = self.window(label, k);
                let start = self.visits.turn(label as usize, w.start as usize) as u32;
                Window { start, ..w }
            }
        }
    }

    /// The windows of turns, where they are the same for every node.
    #[inline(always)]
    pub fn same_for_all(&self) -> Option<[Window; 2]> {
        match &self.visits.kind {
            Kind::Rotor(_) => Some([self.turns(0, 0), self.turns(0, 1)]),
            Kind::Gratings(banks) if banks.len() == 1 => {
                Some([self.turns(0, 0), Window::default()])
            }
            Kind::Gratings(_) => None,
        }
    }

    #[inline(always)]
    fn rotor(&self, rr: &RoundRobin, start: u32, k: usize) -> Window {
        let len = rr.uplinks.min(rr.nodes - start);
        match k {
            0 => Window {
                start,
                len,
                stride: 1,
                first_uplink: 0,
            },
            _ => Window {
                start: 0,
                len: rr.uplinks - len,
                stride: 1,
                first_uplink: len,
            },
        }
    }

    /// How many windows a label meets; some may be empty.
    #[inline(always)]
    pub fn count(&self) -> usize {
        match &self.visits.kind {
            Kind::Rotor(_) => 2, // the round may wrap around N
            Kind::Gratings(banks) => banks.len(),
        }
    }

    /// Window `k` of the labels that `label` meets, in order of uplinks. A
    /// window does not wrap around N.
    #[inline(always)]
    pub fn window(&self, label: u32, k: usize) -> Window {
        let n = self.visits.nodes;
        match &self.visits.kind {
            Kind::Rotor(rr) => {
                let mut start = label + 1 + self.turn;
                start -= if start >= 2 * n { 2 * n } else { 0 };
                start -= if start >= n { n } else { 0 };
                let len = rr.uplinks.min(n - start);
                match k {
                    0 => Window {
                        start,
                        len,
                        stride: 1,
                        first_uplink: 0,
                    },
                    _ => Window {
                        start: 0,
                        len: rr.uplinks - len,
                        stride: 1,
                        first_uplink: len,
                    },
                }
            }
            Kind::Gratings(banks) => {
                let b = &banks[k];
                let wavelength = self.slot.rem_euclid(b.ports as i64) as u32;
                let output = b.input[label as usize] as u32 + wavelength;
                let output = if output >= b.ports {
                    output - b.ports
                } else {
                    output
                };
                Window {
                    start: b.start[output as usize] as u32,
                    len: b.uplinks,
                    stride: b.stride,
                    first_uplink: b.first_uplink,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sirius::plan::{gratings, UplinkPlan};
    use proptest::prelude::*;

    fn base(nodes: u32, ports: u32) -> Wiring {
        gratings(UplinkPlan::Mixed, nodes, ports, nodes / ports).unwrap()
    }

    #[test]
    fn figure_5_in_both_slots() {
        // Nodes, uplinks and gratings are numbered from 0 here, from 1 in the paper.
        let w = base(4, 2);
        assert_eq!(w.gratings(), 4);
        let meets = |node, wavelength| {
            let mut m: Vec<u32> = (0..2).map(|u| w.peer(node, u, wavelength).0 + 1).collect();
            m.sort();
            m
        };
        for (node, a, b) in [
            (0, [1, 3], [2, 4]),
            (1, [2, 4], [1, 3]),
            (2, [1, 3], [2, 4]),
            (3, [2, 4], [1, 3]),
        ] {
            assert_eq!(meets(node, 0), a, "slot A, node {}", node + 1);
            assert_eq!(meets(node, 1), b, "slot B, node {}", node + 1);
        }
    }

    #[test]
    fn sizes_of_the_core() {
        for (nodes, ports, gratings) in [
            (4, 2, 4),
            (128, 16, 64),
            (4096, 16, 65_536),
            (25_600, 100, 65_536),
        ] {
            assert_eq!(base(nodes, ports).gratings(), gratings, "{nodes} nodes");
        }
    }

    fn schedules() -> impl Strategy<Value = Schedule> {
        let rotor = (2u32..50)
            .prop_flat_map(|n| (Just(n), 1..=n))
            .prop_map(|(nodes, uplinks)| Schedule::Rotor(RoundRobin { nodes, uplinks }));
        let tiled = (1u32..5, 2u32..9, 1u32..9, any::<bool>()).prop_filter_map(
            "tiles",
            |(base, ports, extra, wide)| {
                let plan = if wide {
                    UplinkPlan::Wide
                } else {
                    UplinkPlan::Mixed
                };
                let (nodes, uplinks) = (base * ports, base + extra - 1);
                (uplinks <= nodes)
                    .then(|| gratings(plan, nodes, ports, uplinks).ok())
                    .flatten()
                    .map(Schedule::Gratings)
            },
        );
        prop_oneof![rotor, tiled]
    }

    proptest! {
        #[test]
        fn no_receiver_hears_two_senders(s in schedules(), slot in 0i64..10_000) {
            let mut heard = std::collections::BTreeSet::new();
            for node in 0..s.nodes() {
                for uplink in 0..s.uplinks() {
                    prop_assert!(heard.insert(s.peer(node, uplink, slot)));
                }
            }
            prop_assert!(heard.iter().all(|&(n, p)| n < s.nodes() && p < s.uplinks()));
        }

        #[test]
        fn a_pair_meets_at_most_once_a_slot(s in schedules(), slot in 0i64..10_000) {
            for node in 0..s.nodes() {
                let mut met = std::collections::BTreeSet::new();
                prop_assert!((0..s.uplinks()).all(|u| met.insert(s.peer(node, u, slot).0)));
            }
        }

        #[test]
        fn a_frame_brings_every_pair_together_equally_often(s in schedules(), start in 0i64..1000) {
            let frame = match &s {
                Schedule::Rotor(rr) => rr.nodes,
                Schedule::Gratings(w) => w.banks.iter().map(|b| b.awgr.ports).max().unwrap(),
            };
            for node in 0..s.nodes() {
                let mut met = vec![0u32; s.nodes() as usize];
                for slot in start..start + frame as i64 {
                    for u in 0..s.uplinks() {
                        met[s.peer(node, u, slot).0 as usize] += 1;
                    }
                }
                prop_assert!(met.iter().all(|&m| m == met[0] && m > 0), "{:?}", met);
            }
        }

        #[test]
        fn windows_are_the_peers_in_label_order(s in schedules(), slot in 0i64..10_000) {
            let visits = Visits::new(&s);
            for label in 0..s.nodes() {
                let node = s.node(label);
                prop_assert_eq!(s.label(node), label);
                let turn = visits.at(slot);
                let windows = (0..turn.count()).map(|k| turn.window(label, k));
                let mut uplinks = 0;
                for w in windows {
                    for j in 0..w.len {
                        let peer = s.node(w.start + j * w.stride);
                        prop_assert_eq!(peer, s.peer(node, w.first_uplink + j, slot).0);
                    }
                    uplinks += w.len;
                }
                prop_assert_eq!(uplinks, s.uplinks());
            }
        }

        #[test]
        fn turns_are_the_same_windows(s in schedules(), slot in 0i64..10_000) {
            let visits = Visits::new(&s);
            let turn = visits.at(slot);
            for label in 0..s.nodes() {
                let mut by_turn = Vec::new();
                let mut by_label = Vec::new();
                for k in 0..turn.count() {
                    let (w, t) = (turn.window(label, k), turn.turns(label, k));
                    if let Some(same) = turn.same_for_all() {
                        prop_assert_eq!((t.start, t.len), (same[k].start, same[k].len));
                    }
                    by_label.extend((0..w.len).map(|j| (w.first_uplink + j, (w.start + j * w.stride) as usize)));
                    by_turn.extend((0..t.len).map(|j| {
                        (t.first_uplink + j, visits.peer(label as usize, (t.start + j * t.stride) as usize))
                    }));
                }
                by_label.sort();
                by_turn.sort();
                prop_assert_eq!(by_label, by_turn);
                for peer in 0..s.nodes() as usize {
                    let turn = visits.turn(label as usize, peer);
                    prop_assert_eq!(visits.peer(label as usize, turn), peer);
                }
            }
        }

        #[test]
        fn epochs_hold_one_meeting_a_pair(s in schedules(), slots in 1i64..2000) {
            let begun = (0..slots).filter(|&t| s.epoch_at(t).is_some()).count() as i64;
            let whole = ((slots - 1) * s.uplinks() as i64).div_euclid(s.nodes() as i64) + 1;
            prop_assert_eq!(begun, whole);
        }
    }
}
