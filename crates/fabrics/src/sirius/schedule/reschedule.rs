//! The schedules in force, by time.
//!
//! A fabric begins with the schedule of its wiring. With `recovery = "reschedule"` the nodes agree,
//! at the start of an epoch, on a round robin among the living nodes, and after a repair on the
//! full schedule again (Sirius §4.5). The model includes the duration of this agreement, not its
//! messages.
//!
//! Nodes are identified by label. A node keeps its queues unchanged, because the turns of its peers
//! remain those of the full round; a smaller round skips some of them.

use super::peer_order::{Matching, MatchingRef, PeerOrder};
use super::wiring::{Bank, Wiring};
use super::Schedule;
use crate::sirius::index::{Label, Turn};
use lightloom_control::algorithms::cyclic::RoundRobin;
use std::collections::BTreeMap;
use std::ops::Range;

/// All schedules that have been in force, in order of time.
#[derive(Clone, Debug)]
pub struct Schedules {
    schedule: Schedule,
    /// Slots of an epoch of the full schedule, as a fraction.
    epoch: (i64, i64),
    schedules: Vec<InForce>,
}

/// A schedule with the slot in which it came into force.
#[derive(Clone, Debug)]
struct InForce {
    /// Its first slot and epoch.
    start: i64,
    epoch: i64,
    /// The round robin; `None` for the full schedule.
    ring: Option<Ring>,
}

/// A round robin among some of the nodes.
#[derive(Clone, Debug)]
struct Ring {
    members: Vec<Label>,
    /// The position of each label among the members.
    place: Vec<Option<u16>>,
    round: RoundRobin,
    /// Matchings of each turn of the small round. Nodes at the same turn of the small round are at
    /// different turns of the full round, because different numbers of nodes are left out before
    /// them.
    matchings: Vec<Vec<Matching>>,
}

impl Ring {
    fn new(members: Vec<Label>, schedule: &Schedule, peer_order: &PeerOrder) -> Ring {
        let nodes = members.len() as u32;
        let mut place = vec![None; schedule.nodes() as usize];
        for (p, &label) in (0..).zip(&members) {
            place[label.index()] = Some(p);
        }
        let round = RoundRobin {
            nodes,
            uplinks: schedule.uplinks().min(nodes),
        };
        let matchings = (0..members.len())
            .map(|turn| matchings(&members, turn, peer_order, place.len()))
            .collect();
        Ring {
            members,
            place,
            round,
            matchings,
        }
    }
}

/// The matchings in which each member meets the one `turn + 1` places on.
fn matchings(
    members: &[Label],
    turn: usize,
    peer_order: &PeerOrder,
    nodes: usize,
) -> Vec<Matching> {
    let mut matchings: Vec<Matching> = Vec::new();
    for (p, &label) in members.iter().enumerate() {
        let peer = members[(p + 1 + turn) % members.len()];
        let Turn(turn) = peer_order.turn_of(label, peer);
        let at = matchings.iter().position(|c| c.turn == turn);
        let at = at.unwrap_or_else(|| {
            matchings.push(Matching {
                turn,
                uplink: 0,
                labels: Some(vec![0; nodes.div_ceil(64)]),
            });
            matchings.len() - 1
        });
        if let Some(labels) = &mut matchings[at].labels {
            labels[label.index() / 64] |= 1 << (label.0 % 64);
        }
    }
    matchings
}

impl Schedules {
    /// The full schedule, from slot 0 on, with epochs of this number of slots (a fraction).
    pub fn new(schedule: &Schedule, epoch: (i64, i64)) -> Schedules {
        let first = InForce {
            start: 0,
            epoch: 0,
            ring: None,
        };
        Schedules {
            schedule: schedule.clone(),
            epoch,
            schedules: vec![first],
        }
    }

    #[inline]
    fn now(&self) -> &InForce {
        self.schedules.last().expect("there is a first")
    }

    fn at(&self, slot: i64) -> &InForce {
        let begun = self.schedules.iter().rev().find(|e| e.start <= slot);
        begun.unwrap_or(&self.schedules[0])
    }

    /// Slots of an epoch of a schedule, as a fraction.
    fn size(&self, in_force: &InForce) -> (i64, i64) {
        match &in_force.ring {
            None => self.epoch,
            Some(r) => (r.round.nodes as i64, r.round.uplinks as i64),
        }
    }

    /// The epoch in which a slot of the present schedule lies.
    #[inline]
    pub fn epoch_of(&self, slot: i64) -> i64 {
        let now = self.now();
        let (n, u) = self.size(now);
        now.epoch + ((slot - now.start) * u).div_euclid(n)
    }

    /// The epoch that begins with `slot`, if one does.
    #[inline]
    pub fn epoch_at(&self, slot: i64) -> Option<i64> {
        let epoch = self.epoch_of(slot);
        (self.epoch_of(slot - 1) < epoch).then_some(epoch)
    }

    /// The slots of the present epoch, which began with `slot`.
    pub fn slots_from(&self, slot: i64) -> Range<i64> {
        let now = self.now();
        let (n, u) = self.size(now);
        let epoch = self.epoch_of(slot) + 1 - now.epoch;
        slot..now.start + epoch * n / u + (epoch * n % u != 0) as i64
    }

    /// Whether the full schedule is in force.
    #[inline]
    pub fn full(&self) -> bool {
        self.now().ring.is_none()
    }

    /// Whether the full schedule was in force at `slot`.
    pub fn full_at(&self, slot: i64) -> bool {
        self.at(slot).ring.is_none()
    }

    /// The nodes of the present schedule; `None` for the full schedule, which contains all nodes.
    pub fn members(&self) -> Option<&[Label]> {
        self.now().ring.as_ref().map(|r| &r.members[..])
    }

    /// Starts a schedule in which only `members` meet, from `slot` on, the first slot of `epoch`.
    pub fn begin(&mut self, slot: i64, epoch: i64, members: Vec<Label>, peer_order: &PeerOrder) {
        let full = members.len() == self.schedule.nodes() as usize;
        let ring = (!full).then(|| Ring::new(members, &self.schedule, peer_order));
        self.schedules.push(InForce {
            start: slot,
            epoch,
            ring,
        });
    }

    /// The matchings of `slot` in the present schedule, in order of uplinks.
    pub fn matchings(&self, slot: i64, peer_order: &PeerOrder) -> Vec<Matching> {
        let owned = |c: MatchingRef| Matching {
            turn: c.turn,
            uplink: c.uplink,
            labels: c.labels.map(<[u64]>::to_vec),
        };
        let Some(ring) = &self.now().ring else {
            return peer_order.matchings(slot).map(owned).collect();
        };
        let turn = ring.round.first_turn(slot) as usize;
        (0..ring.round.uplinks as usize)
            .flat_map(|u| {
                let matchings = &ring.matchings[(turn + u) % ring.members.len()];
                matchings.iter().map(move |c| Matching {
                    uplink: u as u16,
                    ..c.clone()
                })
            })
            .collect()
    }

    /// The node that receives `uplink` of `from` in `slot`, and its receive port.
    pub fn peer(&self, from: Label, uplink: u16, slot: i64) -> Option<(Label, u16)> {
        let s = &self.schedule;
        match &self.at(slot).ring {
            None => {
                let (node, port) = s.peer(s.node(from.0.into()), uplink as u32, slot);
                Some((Label(s.label(node) as u16), port as u16))
            }
            Some(r) if (uplink as u32) < r.round.uplinks => {
                let place = r.place[from.index()]?;
                let to = r.round.peer(place as u32, uplink as u32, slot);
                Some((r.members[to as usize], uplink))
            }
            Some(_) => None,
        }
    }

    /// The node that receive port `port` of `to` receives in `slot`, and the uplink there: the
    /// inverse of [`Schedules::peer`].
    pub fn sender(&self, to: Label, port: u16, slot: i64) -> Option<(Label, u16)> {
        let s = &self.schedule;
        let back = |place: u32, rr: &RoundRobin| {
            let n = rr.nodes as u64;
            let on = (rr.first_turn(slot) + port as u64 + 1) % n;
            ((place as u64 + n - on) % n) as usize
        };
        match (&self.at(slot).ring, s) {
            (None, Schedule::Rotor(rr)) => Some((Label::new(back(to.0.into(), rr)), port)),
            (None, Schedule::Gratings(w)) => {
                let (node, uplink) = sender(w, s.node(to.0.into()), port as u32, slot);
                Some((Label(s.label(node) as u16), uplink as u16))
            }
            (Some(r), _) if (port as u32) < r.round.uplinks => {
                let place = r.place[to.index()]?;
                Some((r.members[back(place as u32, &r.round)], port))
            }
            (Some(_), _) => None,
        }
    }

    /// The uplinks that are connected to a grating, as (label, uplink).
    pub fn inputs(&self, grating: u32) -> Vec<(Label, u16)> {
        let Schedule::Gratings(w) = &self.schedule else {
            return Vec::new();
        };
        let all = (0..w.nodes).flat_map(|n| (0..w.uplinks()).map(move |u| (n, u)));
        all.filter(|&(n, u)| w.input(n, u).grating == grating)
            .map(|(n, u)| (Label(self.schedule.label(n) as u16), u as u16))
            .collect()
    }

    /// Slots of the present schedule after which it repeats, and the meetings of each
    /// pair in them.
    pub fn frame(&self) -> (Range<i64>, u32) {
        let start = self.now().start;
        let (n, u) = match (&self.now().ring, &self.schedule) {
            (None, s) => (s.nodes() as i64, s.uplinks() as i64),
            (Some(r), _) => (r.round.nodes as i64, r.round.uplinks as i64),
        };
        let slots = match (&self.schedule, self.full()) {
            (Schedule::Gratings(w), true) => {
                let ports = w.banks.iter().map(|b| b.awgr.ports as i64);
                ports.max().unwrap_or(1)
            }
            _ => n,
        };
        (start..start + slots, (slots * u / n) as u32)
    }

    /// The peers of `from` in `slots`, and how often it meets each.
    pub fn met(&self, from: Label, slots: Range<i64>) -> BTreeMap<Label, u32> {
        let mut met = BTreeMap::new();
        for slot in slots {
            for uplink in 0..self.schedule.uplinks() as u16 {
                if let Some((to, _)) = self.peer(from, uplink, slot) {
                    *met.entry(to).or_default() += 1;
                }
            }
        }
        met
    }
}

/// The node and uplink that receive port `port` of `node` receives in `slot`.
fn sender(w: &Wiring, node: u32, port: u32, slot: i64) -> (u32, u32) {
    let of = |b: &&Bank| (b.first_uplink..b.first_uplink + b.uplinks).contains(&port);
    let b = w.banks.iter().find(of).expect("a port of a bank");
    let ports = b.awgr.ports;
    let wavelength = slot.rem_euclid(ports as i64) as u32;
    let input = (0..ports).find(|&i| b.awgr.output(i, wavelength) == node % ports);
    let input = input.expect("a grating is a permutation");
    let index = (input + ports - b.shift % ports) % ports;
    let from = (port - b.first_uplink) * ports + index;
    (from, b.first_uplink + node / ports)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sirius::schedule::plan::{gratings, UplinkPlan};
    use proptest::prelude::*;

    fn schedules() -> impl Strategy<Value = Schedule> {
        let rotor = (2u32..50)
            .prop_flat_map(|n| (Just(n), 1..=n))
            .prop_map(|(nodes, uplinks)| Schedule::Rotor(RoundRobin { nodes, uplinks }));
        let tiled = (1u32..5, 2u32..9, 1u32..3, any::<bool>()).prop_filter_map(
            "matrices",
            |(base, ports, banks, wide)| {
                let plan = if wide {
                    UplinkPlan::Wide
                } else {
                    UplinkPlan::Mixed
                };
                (banks < ports)
                    .then(|| gratings(plan, base * ports, ports, base * banks).ok())
                    .flatten()
                    .map(Schedule::Gratings)
            },
        );
        prop_oneof![rotor, tiled]
    }

    proptest! {
        #[test]
        fn a_receiver_knows_its_sender(s in schedules(), slot in 0i64..10_000, dead in 0u16..50) {
            let (mut schedules, peer_order) = (Schedules::new(&s, s.epoch()), PeerOrder::new(&s));
            for ring in [false, true] {
                if ring {
                    let all = Label::all(s.nodes() as usize);
                    let live: Vec<Label> = all.filter(|&l| l.0 != dead).collect();
                    if !matches!(s, Schedule::Rotor(_)) || live.len() < 2 { break; }
                    schedules.begin(slot, 0, live, &peer_order);
                }
                for label in Label::all(s.nodes() as usize) {
                    for uplink in 0..s.uplinks() as u16 {
                        if let Some((to, port)) = schedules.peer(label, uplink, slot) {
                            prop_assert_eq!(schedules.sender(to, port, slot), Some((label, uplink)));
                        }
                    }
                }
            }
        }

        #[test]
        fn the_living_meet_as_their_matchings_say(
            (nodes, uplinks) in (4u32..70).prop_flat_map(|n| (Just(n), 1..=n)),
            dead in prop::collection::btree_set(0u16..70, 1..4), slot in 0i64..10_000,
        ) {
            let s = Schedule::Rotor(RoundRobin { nodes, uplinks });
            let all = Label::all(nodes as usize);
            let live: Vec<Label> = all.filter(|l| !dead.contains(&l.0)).collect();
            prop_assume!(live.len() >= 2 && live.len() < nodes as usize);
            let (mut schedules, peer_order) = (Schedules::new(&s, s.epoch()), PeerOrder::new(&s));
            schedules.begin(0, 0, live.clone(), &peer_order);
            let mut met = 0;
            for c in schedules.matchings(slot, &peer_order) {
                for label in Label::all(nodes as usize) {
                    if c.labels.as_ref().unwrap()[label.index() / 64] >> (label.0 % 64) & 1 == 1 {
                        let to = peer_order.peer_of(label, Turn(c.turn));
                        prop_assert_eq!(schedules.peer(label, c.uplink, slot), Some((to, c.uplink)));
                        met += 1;
                    }
                }
            }
            prop_assert_eq!(met, live.len() * (uplinks as usize).min(live.len()));
        }

        #[test]
        fn epochs_follow_each_other_across_schedules(
            (nodes, uplinks) in (4u32..40).prop_flat_map(|n| (Just(n), 1..=n)), at in 1i64..50,
        ) {
            let s = Schedule::Rotor(RoundRobin { nodes, uplinks });
            let (mut schedules, peer_order) = (Schedules::new(&s, s.epoch()), PeerOrder::new(&s));
            let (mut epoch, mut switched, mut until) = (-1, false, 0);
            for slot in 0..400 {
                let Some(mut e) = schedules.epoch_at(slot) else { continue };
                prop_assert_eq!(slot, until, "where the last epoch was to end");
                if e >= at && !switched {
                    schedules.begin(slot, e, (1..nodes as u16).map(Label).collect(), &peer_order);
                    switched = true;
                    e = schedules.epoch_at(slot).unwrap();
                }
                prop_assert_eq!(e, epoch + 1);
                epoch = e;
                until = schedules.slots_from(slot).end;
            }
        }
    }
}
