//! The order in which nodes meet their peers: the schedule, arranged for code that processes it
//! slot by slot.

use super::Schedule;
use crate::sirius::index::{Label, Turn};
use lightloom_control::algorithms::cyclic::RoundRobin;

/// The schedule laid out for the kernel.
///
/// The *turn* of a peer is its position in the order in which a node meets the others: `turn =
/// (label of the peer − base of the node) mod N`. In a slot, the same uplink of all nodes, or of
/// some, is at the same turn; these nodes form a [`Matching`].
#[derive(Clone, Debug)]
pub struct PeerOrder {
    nodes: u32,
    /// Label of the first peer that each label meets in a round.
    base: Vec<u16>,
    kind: Cycle,
}

#[derive(Clone, Debug)]
enum Cycle {
    Rotor(RoundRobin),
    /// The matchings of each slot of a frame.
    Frame(Vec<Vec<Matching>>),
}

/// Nodes that are at the same turn on the same uplink in a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matching {
    /// Their turn.
    pub turn: u16,
    /// Their uplink.
    pub uplink: u16,
    /// A bit for each label that belongs to the matching; `None` if all do.
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

impl PeerOrder {
    /// Lays out a schedule.
    pub fn new(schedule: &Schedule) -> PeerOrder {
        let nodes = schedule.nodes();
        let per = nodes / schedule.finest();
        let base = |label| match schedule {
            Schedule::Rotor(_) => (label + 1) % nodes,
            Schedule::Gratings(_) => label / per * per,
        };
        let base = (0..nodes).map(|l| base(l) as u16).collect();
        let mut peer_order = PeerOrder {
            nodes,
            base,
            kind: Cycle::Frame(Vec::new()),
        };
        peer_order.kind = match schedule {
            Schedule::Rotor(rr) => Cycle::Rotor(*rr),
            Schedule::Gratings(_) => Cycle::Frame(
                (0..schedule.frame())
                    .map(|slot| peer_order.matchings_of(schedule, slot))
                    .collect(),
            ),
        };
        peer_order
    }

    fn matchings_of(&self, schedule: &Schedule, slot: u32) -> Vec<Matching> {
        (0..schedule.uplinks())
            .flat_map(|u| self.matchings_of_uplink(schedule, slot, u))
            .collect()
    }

    fn matchings_of_uplink(&self, schedule: &Schedule, slot: u32, uplink: u32) -> Vec<Matching> {
        let mut matchings: Vec<Matching> = Vec::new();
        for label in 0..self.nodes {
            let (peer, _) = schedule.peer(schedule.node(label), uplink, slot as i64);
            let turn = self.turn(label as usize, schedule.label(peer) as usize) as u16;
            let at = matchings
                .iter()
                .position(|c| c.turn == turn)
                .unwrap_or_else(|| {
                    let none = vec![0; self.nodes.div_ceil(64) as usize];
                    matchings.push(Matching {
                        turn,
                        uplink: uplink as u16,
                        labels: Some(none),
                    });
                    matchings.len() - 1
                });
            if let Some(labels) = &mut matchings[at].labels {
                labels[label as usize / 64] |= 1 << (label % 64);
            }
        }
        if let [only] = &mut matchings[..] {
            only.labels = None;
        }
        matchings
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

    /// [`PeerOrder::peer`] with typed indices.
    #[inline(always)]
    pub fn peer_of(&self, label: Label, turn: Turn) -> Label {
        Label::new(self.peer(label.index(), turn.index()))
    }

    /// [`PeerOrder::turn`] with typed indices.
    #[inline(always)]
    pub fn turn_of(&self, label: Label, peer: Label) -> Turn {
        Turn(self.turn(label.index(), peer.index()) as u16)
    }

    /// The matchings of `slot`, in order of uplinks.
    #[inline]
    pub fn matchings(&self, slot: i64) -> impl Iterator<Item = MatchingRef<'_>> + '_ {
        let (turn, count, frame) = match &self.kind {
            Cycle::Rotor(rr) => (rr.first_turn(slot) as u32, rr.uplinks as usize, None),
            Cycle::Frame(frame) => {
                let matchings = &frame[slot.rem_euclid(frame.len() as i64) as usize];
                (0, matchings.len(), Some(matchings))
            }
        };
        (0..count).map(move |k| match frame {
            Some(matchings) => {
                let c = &matchings[k];
                MatchingRef {
                    turn: c.turn,
                    uplink: c.uplink,
                    labels: c.labels.as_deref(),
                }
            }
            None => {
                let turn = (turn + k as u32) % self.nodes;
                MatchingRef {
                    turn: turn as u16,
                    uplink: k as u16,
                    labels: None,
                }
            }
        })
    }
}

/// A borrowed [`Matching`].
#[derive(Clone, Copy, Debug)]
pub struct MatchingRef<'a> {
    /// Turn of its nodes.
    pub turn: u16,
    /// Uplink of its nodes.
    pub uplink: u16,
    /// Its nodes; `None` for all.
    pub labels: Option<&'a [u64]>,
}

impl MatchingRef<'_> {
    /// Whether a node belongs to it.
    pub fn has(&self, label: usize) -> bool {
        self.labels
            .is_none_or(|l| l[label / 64] >> (label % 64) & 1 == 1)
    }
}
