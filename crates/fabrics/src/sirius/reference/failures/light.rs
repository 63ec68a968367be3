//! The links that pass light: the cells, requests and grants that are lost in transit, and the
//! nodes that receive no requests because no light would pass (avoidance).

use super::Part;
use crate::sirius::config::Intermediates;
use crate::sirius::reference::{Cell, Reference};
use lightloom_engine::{Io, Stream};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The light of an uplink in a slot.
pub struct Link {
    to: usize,
    /// Probability that a cell gets through.
    passes: f64,
    /// Whether any part is broken, and is known to be dead.
    broken: bool,
    pub known: bool,
    /// When its dead parts are declared dead.
    declared: i64,
}

impl Reference {
    /// The light of an uplink, if it meets another node.
    pub(super) fn link(&self, from: usize, uplink: u32, slot: i64) -> Option<Link> {
        let (to, port) = self.met(from, uplink, slot)?;
        let mut link = Link {
            to,
            passes: 1.0,
            broken: false,
            known: false,
            declared: i64::MAX,
        };
        let schedule = &self.derived.schedule;
        let grating = schedule.grating(schedule.node(from as u32), uplink);
        for b in &self.failures.broken {
            let through = match b.part {
                Part::Node(_) => false,
                Part::Transceiver(n, u) => (n, u) == (from, uplink) || (n, u) == (to, port),
                Part::Grating(g) => grating == Some(g),
            };
            if through {
                link.passes *= 1.0 - b.loss;
                link.broken = true;
                link.known |= b.known;
                if b.loss >= 1.0 {
                    link.declared = link.declared.min(b.declared);
                }
            }
        }
        Some(link)
    }

    /// The node to which an uplink sends in a slot; `None` if the sender or a part on the way is
    /// dead or declared dead.
    pub(in crate::sirius::reference) fn peer(
        &self,
        node: usize,
        uplink: u32,
        slot: i64,
    ) -> Option<usize> {
        let silent = self.failures.is_dead(node) || self.failures.is_known(node);
        let link = self.link(node, uplink, slot)?;
        (!silent && !link.known).then_some(link.to)
    }

    /// Whether a cell that is sent is lost. If so, schedules its retransmission by the source and
    /// the release of the count at the intermediate.
    pub(in crate::sirius::reference) fn is_lost(
        &mut self,
        (cell, from, uplink): (Cell, usize, u32),
        slot: i64,
        io: &mut Io,
    ) -> bool {
        let link = self.link(from, uplink, slot).expect("it was sent");
        let (mut passes, mut declared) = (link.passes, link.declared);
        let ends = [Some(from), (link.to != from).then_some(link.to)];
        let ends = ends.into_iter().flatten();
        for b in ends.filter_map(|n| self.failures.node(n)) {
            passes *= 1.0 - b.loss;
            if b.loss >= 1.0 {
                declared = declared.min(b.declared);
            }
        }
        let index = (slot as u64) << 32 | (from as u64) << 16 | uplink as u64;
        let drawn = || Stream::new(self.seed, "sirius.corrupted", index).unit();
        let dead = passes <= 0.0;
        if !dead && (passes >= 1.0 || drawn() < passes) {
            return false;
        }
        let epoch = self.epoch_of(slot);
        if !cell.relayed {
            let missed = self.failures.missed.entry(epoch + self.lag());
            let destination = self.flows[cell.flow].dst;
            missed.or_default().push((link.to, destination));
        }
        self.lose(cell, epoch, dead.then_some(declared), io);
        true
    }

    /// Pairs that meet in some slots only over links that `counts` selects, and the probability
    /// that the data carried by their cells arrives.
    pub(super) fn silent(
        &self,
        slots: Range<i64>,
        counts: impl Fn(&Link) -> bool,
    ) -> BTreeMap<(usize, usize), f64> {
        let mut fails = BTreeMap::new();
        let mut others = BTreeSet::new();
        for slot in slots {
            for node in 0..self.nodes {
                for uplink in 0..self.derived.uplinks {
                    let Some(link) = self.link(node, uplink, slot) else {
                        continue;
                    };
                    if counts(&link) {
                        *fails.entry((node, link.to)).or_insert(1.0) *= 1.0 - link.passes;
                    } else {
                        others.insert((node, link.to));
                    }
                }
            }
        }
        fails.retain(|pair, _| !others.contains(pair));
        fails
            .into_iter()
            .map(|(pair, fails)| (pair, 1.0 - fails))
            .collect()
    }

    /// Removes the requests that are lost and those whose answers will be lost: the cells of an
    /// epoch carry both.
    pub(in crate::sirius::reference) fn strike(&mut self, asked: i64, slot: i64, epoch: i64) {
        let Some(requests) = self.epochs.get(&asked).filter(|e| !e.requests.is_empty()) else {
            return;
        };
        let (there, back) = (requests.slots.clone(), self.slots_from(slot));
        let there = self.not_through("sirius.lost-requests", there, epoch);
        let back = self.not_through("sirius.lost-grants", back, epoch);
        let back = back.into_iter().map(|(from, to)| (to, from));
        let requests = &mut self.epochs.get_mut(&asked).expect("looked up").requests;
        for (source, by) in there.into_iter().chain(back) {
            if let Some(wants) = requests.get_mut(&source) {
                wants[by] = None;
            }
        }
    }

    /// Pairs of which no cell arrives in an epoch: first the pairs that meet only over broken
    /// links, then pairs of nodes that lose cells.
    pub(super) fn not_through(
        &self,
        purpose: &str,
        slots: Range<i64>,
        epoch: i64,
    ) -> Vec<(usize, usize)> {
        let mut pairs: Vec<_> = self.silent(slots, |l| l.broken).into_iter().collect();
        for b in self.failures.broken.iter().filter(|b| b.loss > 0.0) {
            if let Part::Node(n) = b.part {
                let all = 0..self.nodes;
                let to = all.clone().map(|other| ((n, other), 1.0 - b.loss));
                pairs.extend(to);
                let from = all.filter(|&other| other != n);
                pairs.extend(from.map(|other| ((other, n), 1.0 - b.loss)));
            }
        }
        let numbered = (0u64..).zip(pairs);
        let fails = numbered.filter(|&(at, ((from, to), passes))| {
            let number = (epoch as u64) << 8 | at & 0xFF;
            let index = number << 32 | (from as u64) << 16 | to as u64;
            passes <= 0.0 || Stream::new(self.seed, purpose, index).unit() >= passes
        });
        fails.map(|(_, (pair, _))| pair).collect()
    }
}

// Avoidance.

impl Reference {
    /// Pairs (source, intermediate) without requests in some slots: all their light is known to be
    /// dark, or the intermediate could not answer.
    pub(in crate::sirius::reference) fn dark_in(
        &self,
        slots: Range<i64>,
    ) -> BTreeSet<(usize, usize)> {
        let f = &self.failures;
        if f.broken.is_empty() {
            return BTreeSet::new();
        }
        let silent = self.silent(slots, |l| l.known).into_keys();
        let cut = f.cut.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
        silent.chain(cut).collect()
    }

    /// Moves the requests of a node to nodes that accept them, starting from a random one.
    pub(in crate::sirius::reference) fn avoid(
        &mut self,
        source: usize,
        dark: &BTreeSet<(usize, usize)>,
        wants: &mut [Option<usize>],
    ) {
        let f = &self.failures;
        let known: Vec<usize> = (0..self.nodes).filter(|&n| f.is_known(n)).collect();
        let mut again = Vec::new();
        let dark_here = dark.range((source, 0)..(source + 1, 0)).map(|d| d.1);
        for by in known.iter().copied().chain(dark_here) {
            again.extend(wants[by].take());
        }
        for &(by, destination) in f.cut.iter().filter(|c| c.0 != c.1) {
            again.extend(wants[by].take_if(|d| *d == destination));
        }
        let all = self.config.intermediates == Intermediates::All;
        for destination in again {
            let start = self.rng[source].below(self.nodes as u32) as usize;
            let other = (start..self.nodes).chain(0..start).find(|&by| {
                wants[by].is_none()
                    && !known.contains(&by)
                    && !dark.contains(&(source, by))
                    && (by == destination || !f.cut.contains(&(by, destination)))
                    && (all || by != source && by != destination)
            });
            if let Some(by) = other {
                wants[by] = Some(destination);
            }
        }
    }

    /// Whether all nodes know that no intermediate can ever relay the cells of a flow: each one is
    /// dead, cannot receive or answer requests, cannot reach the destination, or may not relay.
    pub(in crate::sirius::reference) fn is_stranded(&self, flow: usize) -> bool {
        let (source, destination) = (self.flows[flow].src, self.flows[flow].dst);
        let all = self.config.intermediates == Intermediates::All;
        let f = &self.failures;
        (0..self.nodes).all(|by| {
            f.is_known(by)
                || f.cut.contains(&(source, by))
                || f.cut.contains(&(by, source))
                || by != destination && f.cut.contains(&(by, destination))
                || !all && (by == source || by == destination)
        })
    }
}
