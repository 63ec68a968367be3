//! Physical topology and schedule (Sirius §3.1, §4.1, §4.2, Fig 5).
//!
//! Nodes hang on gratings by their uplinks; every transceiver of a node tunes
//! through the wavelengths together, one a slot. A [`Wiring`] says where each
//! uplink goes; a [`Schedule`] says who meets whom in a slot, and names nodes
//! by *labels*, an order in which the nodes met in a slot stand side by side,
//! so that the kernel walks memory in sequence.

use lightloom_control::algorithms::cyclic::RoundRobin;
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

    /// Gratings in the core, if gratings there are.
    pub fn gratings(&self) -> Option<u32> {
        match self {
            Schedule::Rotor(_) => None,
            Schedule::Gratings(w) => Some(w.gratings()),
        }
    }

    /// Slots of an epoch, as a fraction: N/U, in which a pair meets once on
    /// average; or the longest gap between two meetings of any pair where that is
    /// longer, for requests and grants ride on the cells of every epoch (§4.3).
    pub fn epoch(&self) -> (i64, i64) {
        let (nodes, uplinks) = (self.nodes() as i64, self.uplinks() as i64);
        match self.longest_gap() as i64 {
            gap if gap * uplinks >= nodes + uplinks => (gap, 1),
            _ => (nodes, uplinks),
        }
    }

    /// Number of whole slots in an epoch, rounded up.
    pub fn epoch_slots(&self) -> u32 {
        let (slots, of) = self.epoch();
        (slots as u64).div_ceil(of as u64) as u32
    }

    /// Most slots from one meeting of a pair to its next.
    fn longest_gap(&self) -> u32 {
        let Schedule::Gratings(wiring) = self else {
            return self.nodes().div_ceil(self.uplinks());
        };
        let frame = self.frame() as i64;
        let mut last = vec![None; wiring.nodes as usize];
        let mut longest = 0;
        // Nodes are alike: those that node 0 meets stand for all pairs.
        for slot in 0..2 * frame {
            for uplink in 0..wiring.uplinks() {
                let met = &mut last[self.peer(0, uplink, slot).0 as usize];
                longest = longest.max(met.map_or(0, |before| slot - before));
                *met = Some(slot);
            }
        }
        longest as u32
    }

    /// Slots after which everything repeats itself.
    pub fn frame(&self) -> u32 {
        match self {
            Schedule::Rotor(rr) => rr.nodes,
            Schedule::Gratings(w) => w.banks.iter().map(|b| b.awgr.ports).max().unwrap_or(1),
        }
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

/// The schedule laid out for the kernel.
///
/// The *turn* of a peer is its place in the order in which a node meets the
/// others: `turn = (label of the peer − base of the node) mod N`. In a slot an
/// uplink of all nodes, or of some, is at the same turn: a [`Column`].
#[derive(Clone, Debug)]
pub struct Visits {
    nodes: u32,
    /// Label of the first peer that each label meets in a round.
    base: Vec<u16>,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Rotor(RoundRobin),
    /// The columns of each slot of a frame.
    Frame(Vec<Vec<Column>>),
}

/// Nodes that are at the same turn on the same uplink in a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Their turn.
    pub turn: u16,
    /// Their uplink.
    pub uplink: u16,
    /// A bit for each label that belongs to the column; `None` if all do.
    pub labels: Option<Vec<u64>>,
}

/// The order in which one node meets the others.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// Label of the first peer.
    base: usize,
    nodes: usize,
}

impl Round {
    /// The label that it meets at `turn`.
    #[inline(always)]
    fn peer(self, turn: usize) -> usize {
        let peer = self.base + turn;
        peer - if peer >= self.nodes { self.nodes } else { 0 }
    }

    /// The turn of `peer`.
    #[inline(always)]
    fn turn(self, peer: usize) -> usize {
        peer + if peer < self.base { self.nodes } else { 0 } - self.base
    }
}

impl Visits {
    /// Lays out a schedule.
    pub fn new(schedule: &Schedule) -> Visits {
        let nodes = schedule.nodes();
        let per = nodes / schedule.finest();
        let base = |label| match schedule {
            Schedule::Rotor(_) => (label + 1) % nodes,
            Schedule::Gratings(_) => label / per * per,
        };
        let base = (0..nodes).map(|l| base(l) as u16).collect();
        let mut visits = Visits {
            nodes,
            base,
            kind: Kind::Frame(Vec::new()),
        };
        visits.kind = match schedule {
            Schedule::Rotor(rr) => Kind::Rotor(*rr),
            Schedule::Gratings(_) => Kind::Frame(
                (0..schedule.frame())
                    .map(|slot| visits.columns_of(schedule, slot))
                    .collect(),
            ),
        };
        visits
    }

    fn columns_of(&self, schedule: &Schedule, slot: u32) -> Vec<Column> {
        (0..schedule.uplinks())
            .flat_map(|u| self.columns_of_uplink(schedule, slot, u))
            .collect()
    }

    fn columns_of_uplink(&self, schedule: &Schedule, slot: u32, uplink: u32) -> Vec<Column> {
        let mut columns: Vec<Column> = Vec::new();
        for label in 0..self.nodes {
            let (peer, _) = schedule.peer(schedule.node(label), uplink, slot as i64);
            let turn = self.turn(label as usize, schedule.label(peer) as usize) as u16;
            let at = columns
                .iter()
                .position(|c| c.turn == turn)
                .unwrap_or_else(|| {
                    let none = vec![0; self.nodes.div_ceil(64) as usize];
                    columns.push(Column {
                        turn,
                        uplink: uplink as u16,
                        labels: Some(none),
                    });
                    columns.len() - 1
                });
            if let Some(labels) = &mut columns[at].labels {
                labels[label as usize / 64] |= 1 << (label % 64);
            }
        }
        if let [only] = &mut columns[..] {
            only.labels = None;
        }
        columns
    }

    /// The round of a node.
    #[inline(always)]
    fn round(&self, label: usize) -> Round {
        Round {
            base: self.base[label] as usize,
            nodes: self.nodes as usize,
        }
    }

    /// The label that `label` meets at its turn `turn`.
    #[inline(always)]
    pub fn peer(&self, label: usize, turn: usize) -> usize {
        self.round(label).peer(turn)
    }

    /// The turn of `peer` in the round of `label`.
    #[inline(always)]
    pub fn turn(&self, label: usize, peer: usize) -> usize {
        self.round(label).turn(peer)
    }

    /// The columns of `slot`, in order of uplinks.
    #[inline]
    pub fn columns(&self, slot: i64) -> impl Iterator<Item = ColumnRef<'_>> + '_ {
        let (turn, count, frame) = match &self.kind {
            Kind::Rotor(rr) => (rr.turn(slot) as u32, rr.uplinks as usize, None),
            Kind::Frame(frame) => {
                let columns = &frame[slot.rem_euclid(frame.len() as i64) as usize];
                (0, columns.len(), Some(columns))
            }
        };
        (0..count).map(move |k| match frame {
            Some(columns) => {
                let c = &columns[k];
                ColumnRef {
                    turn: c.turn,
                    uplink: c.uplink,
                    labels: c.labels.as_deref(),
                }
            }
            None => {
                let turn = (turn + k as u32) % self.nodes;
                ColumnRef {
                    turn: turn as u16,
                    uplink: k as u16,
                    labels: None,
                }
            }
        })
    }
}

/// A borrowed [`Column`].
#[derive(Clone, Copy, Debug)]
pub struct ColumnRef<'a> {
    /// Turn of its nodes.
    pub turn: u16,
    /// Uplink of its nodes.
    pub uplink: u16,
    /// Its nodes; `None` for all.
    pub labels: Option<&'a [u64]>,
}

impl ColumnRef<'_> {
    /// Whether a node belongs to it.
    pub fn has(&self, label: usize) -> bool {
        self.labels
            .is_none_or(|l| l[label / 64] >> (label % 64) & 1 == 1)
    }
}

#[cfg(test)]
pub(super) mod tests {
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
    fn epochs_of_the_papers_twelve_uplinks() {
        let epoch =
            |plan, uplinks| Schedule::Gratings(gratings(plan, 128, 16, uplinks).unwrap()).epoch();
        assert_eq!(epoch(UplinkPlan::Mixed, 8), (128, 8));
        assert_eq!(epoch(UplinkPlan::Wide, 12), (128, 12));
        assert_eq!(epoch(UplinkPlan::Mixed, 16), (128, 16));
        // 8 uplinks meet a pair every 16 slots, 4 in every other of these.
        assert_eq!(epoch(UplinkPlan::Mixed, 12), (16, 1));
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

    pub fn schedules() -> impl Strategy<Value = Schedule> {
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
            let frame = s.frame();
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
        fn columns_are_the_schedule(s in schedules(), slot in 0i64..10_000) {
            let visits = Visits::new(&s);
            let mut met = std::collections::BTreeMap::new();
            for c in visits.columns(slot) {
                for label in 0..s.nodes() {
                    if c.labels.is_none_or(|l| l[label as usize / 64] >> (label % 64) & 1 == 1) {
                        let peer = s.node(visits.peer(label as usize, c.turn as usize) as u32);
                        prop_assert!(met.insert((s.node(label), c.uplink as u32), peer).is_none());
                    }
                }
            }
            prop_assert_eq!(met.len() as u32, s.nodes() * s.uplinks());
            for ((node, uplink), peer) in met {
                prop_assert_eq!(peer, s.peer(node, uplink, slot).0);
            }
        }

        #[test]
        fn labels_and_turns_have_inverses(s in schedules()) {
            let visits = Visits::new(&s);
            for node in 0..s.nodes() {
                let label = s.label(node);
                prop_assert_eq!(s.node(label), node);
                for peer in 0..s.nodes() as usize {
                    let turn = visits.turn(label as usize, peer);
                    prop_assert_eq!(visits.peer(label as usize, turn), peer);
                }
            }
        }

        #[test]
        fn every_pair_meets_in_every_epoch(s in schedules()) {
            let (slots, of) = s.epoch();
            let whole = s.epoch_slots() as i64;
            prop_assert!(slots * s.uplinks() as i64 >= of * s.nodes() as i64);
            // A meeting may lie up to a slot off the fraction.
            for node in 0..s.nodes() {
                for start in 0..2 * whole {
                    let met: std::collections::BTreeSet<u32> = (start..start + whole)
                        .flat_map(|t| (0..s.uplinks()).map(move |u| (u, t)))
                        .map(|(u, t)| s.peer(node, u, t).0)
                        .collect();
                    prop_assert_eq!(met.len() as u32, s.nodes());
                }
            }
        }
    }
}
