//! Links, open flows, and the bytes that they have moved. `bundling` decides which flows move
//! together; `instant` handles the end of an instant.

use super::burden::Burden;
use super::finishes::Finishes;
use super::over::Over;
use super::row::{Bundle, Row, UNITS};
use crate::fair::{Fair, LinkId, Precision, Slot};
use crate::ids::FlowId;
use crate::time::{Rate, Time};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The kind of a link, for statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// Between a server and its rack switch: not a hop, and not counted as carried.
    Server,
    /// Between switches.
    Switch,
    /// A circuit, or a path of light between two racks: a hop, whose bytes count as carried by
    /// circuits.
    Circuit,
    /// A limit that is not a link, such as a shared processor: not a hop.
    Bound,
}

/// Links and the flows over them. Kernels open flows, set their paths and change capacities; rates
/// follow at the end of the instant.
///
/// Flows with equal path, weight, limit and bottleneck form a `Bundle`: the cost of a change of
/// rates is that of the bundles that it affects, not of their flows.
#[derive(Clone, Debug, Default)]
pub struct Net {
    pub(super) fair: Fair,
    pub(super) kinds: Vec<LinkKind>,
    rows: Vec<Row>,
    unused: Vec<u32>,
    /// The row of each open flow.
    row_of: Vec<u32>,
    over: Over,
    /// Bundles by the solver's slot.
    bundles: Vec<Bundle>,
    /// The bundle of each path, weight and limit that further flows may join, by [`Net::key`];
    /// never iterated.
    joinable: HashMap<u64, u32, BuildHasherDefault<Mixed>>,
    /// Rows that have had a bundle of their own since the last solution.
    alone: Vec<u32>,
    /// Rows that have sent their last byte now, in reverse order.
    due: Vec<u32>,
    pub(super) now: Time,
    open: usize,
    /// Bytes of open flows that have not been counted as delivered.
    inside: u64,
    /// Flows whose last byte is on its way.
    landing: u64,
    /// Units × hops carried by closed flows, or before anchors.
    carried: u128,
    /// Units that each link has carried for closed flows, or before anchors.
    over_link: Vec<u128>,
    /// Units carried over paths with a circuit, each counted once.
    circuit: u128,
    /// A lower limit of the time at which the next flow of each bundle will have sent its last
    /// byte.
    finishes: Finishes,
    pub(super) burdens: Vec<Burden>,
}

mod bundling;
mod instant;

const NONE: u32 = u32::MAX;

/// A hasher for keys that are already mixed.
#[derive(Clone, Copy, Debug, Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are one number")
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

impl Net {
    pub(super) fn new() -> Net {
        Net::default()
    }

    /// See [`Fair::set_precision`].
    pub(super) fn set_precision(&mut self, precision: Precision) {
        self.fair.set_precision(precision);
    }

    /// Declares that [`Net::flows_over`] will not be called, which makes flows cheaper. Call it
    /// before the first flow.
    pub fn never_list_flows(&mut self) {
        self.over.give_up();
    }

    /// Adds a link; links are numbered from 0.
    pub fn add_link(&mut self, capacity: Rate, kind: LinkKind) -> LinkId {
        self.kinds.push(kind);
        self.over.add_link();
        self.over_link.push(0);
        self.fair.add_link(capacity)
    }

    /// The number of links.
    pub fn links(&self) -> usize {
        self.kinds.len()
    }

    /// Changes the capacity of a link from now on; 0 is dark. The flows over it keep their paths.
    pub fn set_capacity(&mut self, link: LinkId, capacity: Rate) {
        self.fair.set_capacity(link, capacity);
    }

    /// The present capacity of a link.
    pub fn capacity(&self, link: LinkId) -> Rate {
        self.fair.capacity(link)
    }

    /// The load of a link in the last solution.
    pub fn load(&self, link: LinkId) -> Rate {
        self.fair.load(link)
    }

    /// The paths of the flows whose rate or bottleneck the last solution changed; new and
    /// rerouted flows are among them.
    pub fn changed(&self) -> impl Iterator<Item = &[LinkId]> {
        let changed = self.fair.changed().iter();
        let all = changed.chain(self.fair.held_elsewhere());
        all.map(|&slot| self.fair.path(slot))
    }

    /// Whether `link` is the bottleneck of a flow that passes `other`, as of the last solution.
    pub fn holds(&self, link: LinkId, other: LinkId) -> bool {
        let mut held = self.fair.held_by(link);
        held.any(|slot| self.fair.path(slot).contains(&other))
    }

    /// Starts `flow` over `path` (each link once, at most [`HOPS_MAX`](crate::fair::HOPS_MAX)) with
    /// a weight of at least 1 ([`WEIGHT`](crate::fair::WEIGHT) for ordinary flows) and an optional
    /// `limit`, which is required for a flow without links.
    pub fn open(
        &mut self,
        flow: FlowId,
        bytes: u64,
        path: &[LinkId],
        weight: u32,
        limit: Option<Rate>,
    ) {
        let mut row = Row {
            flow,
            bundle: NONE,
            joined: 0,
            left: bytes as u128 * UNITS,
            carried: 0,
            delay: Time::ZERO,
            hops: 0,
            lit: false,
            started: false,
        };
        self.count_hops(&mut row, path);
        let number = self.unused.pop().unwrap_or(self.rows.len() as u32);
        if number as usize == self.rows.len() {
            self.rows.push(row);
        } else {
            self.rows[number as usize] = row;
        }
        if flow.index() >= self.row_of.len() {
            self.row_of.resize(flow.index() + 1, NONE);
        }
        self.row_of[flow.index()] = number;
        self.over.attach(number, path);
        self.begin(number, path, weight, limit);
        self.open += 1;
        self.inside += bytes;
    }

    /// Changes the path of an open flow from now on.
    pub fn reroute(&mut self, flow: FlowId, path: &[LinkId]) {
        let (number, slot) = (self.row(flow), self.slot(flow));
        if self.fair.path(slot) == path {
            return;
        }
        self.anchor(number);
        self.over.detach(number, self.fair.path(slot));
        self.over.attach(number, path);
        let mut row = self.rows[number as usize];
        self.count_hops(&mut row, path);
        self.rows[number as usize] = row;
        if self.is_alone(number) {
            self.fair.reroute(slot, path);
        } else {
            let (weight, limit) = (self.fair.weight(slot), self.fair.limit(slot));
            self.leave(number);
            self.begin(number, path, weight, limit);
        }
    }

    /// Changes the weight of an open flow.
    pub fn set_weight(&mut self, flow: FlowId, weight: u32) {
        let (number, slot) = (self.row(flow), self.slot(flow));
        if self.fair.weight(slot) == weight.max(1) {
            return;
        }
        if self.is_alone(number) {
            self.fair.set_weight(slot, weight);
        } else {
            let (path, limit) = (self.fair.path(slot).to_vec(), self.fair.limit(slot));
            self.leave(number);
            self.begin(number, &path, weight, limit);
        }
    }

    /// Changes or removes the limit of an open flow.
    pub fn set_limit(&mut self, flow: FlowId, limit: Option<Rate>) {
        let (number, slot) = (self.row(flow), self.slot(flow));
        if self.fair.limit(slot) == limit {
            return;
        }
        if self.is_alone(number) {
            self.fair.set_limit(slot, limit);
        } else {
            let (path, weight) = (self.fair.path(slot).to_vec(), self.fair.weight(slot));
            self.leave(number);
            self.begin(number, &path, weight, limit);
        }
    }

    /// Sets the time from sending a byte to its arrival, for an open flow; 0 by default. The flow
    /// releases its links when its last byte is sent.
    pub fn set_delay(&mut self, flow: FlowId, delay: Time) {
        let row = self.row(flow);
        self.rows[row as usize].delay = delay;
    }

    /// Whether a flow is open.
    pub fn is_open(&self, flow: FlowId) -> bool {
        self.row_of.get(flow.index()).is_some_and(|&r| r != NONE)
    }

    /// Bytes of an open flow that have not been sent completely.
    pub fn remaining(&self, flow: FlowId) -> u64 {
        self.missing(&self.rows[self.row(flow) as usize])
    }

    /// The rate of an open flow, as of the last solution.
    pub fn rate(&self, flow: FlowId) -> Rate {
        Rate(self.bundles[self.slot(flow).index()].rate)
    }

    /// The path of an open flow.
    pub fn path(&self, flow: FlowId) -> &[LinkId] {
        self.fair.path(self.slot(flow))
    }

    /// The flows over a link, in an order that is the same in every run.
    ///
    /// # Panics
    /// After [`Net::never_list_flows`].
    pub fn flows_over(&self, link: LinkId) -> impl ExactSizeIterator<Item = FlowId> + '_ {
        let rows = self.over.rows(link);
        rows.map(|r| self.rows[r as usize].flow)
    }

    /// Bytes that have crossed a circuit; `None` without circuits.
    pub fn circuit_bytes(&self) -> Option<u64> {
        self.kinds.contains(&LinkKind::Circuit).then(|| {
            let rows = self.open_rows().filter(|r| r.lit);
            let under_way: u128 = rows.map(|r| self.sent(r)).sum();
            ((self.circuit + under_way) / UNITS) as u64
        })
    }

    fn row(&self, flow: FlowId) -> u32 {
        debug_assert!(self.is_open(flow), "{flow:?} is not open");
        self.row_of[flow.index()]
    }

    fn slot(&self, flow: FlowId) -> Slot {
        Slot(self.rows[self.row(flow) as usize].bundle)
    }

    pub(super) fn open_rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|r| r.bundle != NONE)
    }

    /// The rate of an open flow, and its path.
    pub(super) fn course(&self, row: &Row) -> (u64, &[LinkId]) {
        let rate = self.bundles[row.bundle as usize].rate;
        (rate, self.fair.path(Slot(row.bundle)))
    }

    /// Units sent since the flow joined its bundle.
    #[inline]
    fn sent(&self, row: &Row) -> u128 {
        let moved = self.bundles[row.bundle as usize].moved(self.now);
        (moved - row.joined).min(row.left)
    }

    /// Whole bytes not sent.
    fn missing(&self, row: &Row) -> u64 {
        (row.left - self.sent(row)).div_ceil(UNITS) as u64
    }

    fn count_hops(&self, row: &mut Row, path: &[LinkId]) {
        let kind = |l: &LinkId| self.kinds[l.index()];
        let hop = |l: &&LinkId| matches!(kind(l), LinkKind::Switch | LinkKind::Circuit);
        row.hops = path.iter().filter(hop).count() as u8;
        row.lit = path.iter().any(|l| kind(l) == LinkKind::Circuit);
    }
}
