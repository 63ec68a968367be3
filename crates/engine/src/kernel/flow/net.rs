//! Links, flows under way, and the bytes that they have moved.

use super::burden::Burden;
use super::finishes::Finishes;
use super::row::{Row, UNITS};
use super::Step;
use crate::agenda::Agenda;
use crate::fabric::View;
use crate::fair::{Fair, LinkId, Precision, Slot};
use crate::ids::FlowId;
use crate::io::Io;
use crate::time::{Rate, Time};

/// What a link is, as far as figures go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// Between a server and its rack switch: no hop, not counted as carried.
    Server,
    /// Between switches.
    Switch,
    /// A circuit, or a path of light between two racks: a hop, and its bytes
    /// count as carried by circuits.
    Circuit,
    /// A limit that is no link, such as a shared processor: no hop.
    Bound,
}

/// Links and the flows over them. Kernels open and lead flows and dim links;
/// rates follow at the end of the instant.
#[derive(Clone, Debug, Default)]
pub struct Net {
    pub(super) fair: Fair,
    pub(super) kinds: Vec<LinkKind>,
    rows: Vec<Row>,
    /// The slot of each open flow.
    slots: Vec<u32>,
    pub(super) now: Time,
    open: usize,
    /// Bytes of open flows that have not been counted as delivered.
    inside: u64,
    /// Flows whose last byte is on its way.
    landing: u64,
    /// Units × hops carried by closed flows, or before anchors.
    carried: u128,
    /// The same over paths with a circuit, hops not counted.
    circuit: u128,
    finishes: Finishes,
    pub(super) burdens: Vec<Burden>,
}

const NONE: u32 = u32::MAX;

impl Net {
    pub(super) fn new() -> Net {
        Net::default()
    }

    /// See [`Fair::set_precision`].
    pub(super) fn set_precision(&mut self, precision: Precision) {
        self.fair.set_precision(precision);
    }

    /// Adds a link; links are numbered from 0.
    pub fn add_link(&mut self, capacity: Rate, kind: LinkKind) -> LinkId {
        self.kinds.push(kind);
        self.fair.add_link(capacity)
    }

    /// How many links there are.
    pub fn links(&self) -> usize {
        self.kinds.len()
    }

    /// Changes what a link can carry from now on; 0 is dark. The flows over it
    /// stay on it.
    pub fn set_capacity(&mut self, link: LinkId, capacity: Rate) {
        self.fair.set_capacity(link, capacity);
    }

    /// What a link can carry now.
    pub fn capacity(&self, link: LinkId) -> Rate {
        self.fair.capacity(link)
    }

    /// What a link carries, as of the last solution.
    pub fn load(&self, link: LinkId) -> Rate {
        self.fair.load(link)
    }

    /// Starts `flow` over `path` (each link once, at most
    /// [`HOPS_MAX`](crate::fair::HOPS_MAX)) with a weight of at least 1
    /// ([`WEIGHT`](crate::fair::WEIGHT) if it is nothing special) and at most
    /// `limit`, which a flow without links must have.
    pub fn open(
        &mut self,
        flow: FlowId,
        bytes: u64,
        path: &[LinkId],
        weight: u32,
        limit: Option<Rate>,
    ) {
        let slot = self.fair.open(path, weight, limit);
        let mut row = Row {
            flow,
            rate: 0,
            anchor: self.now,
            left: bytes as u128 * UNITS,
            carried: 0,
            delay: Time::ZERO,
            hops: 0,
            lit: false,
            started: false,
        };
        self.count_hops(&mut row, path);
        if slot.index() == self.rows.len() {
            self.rows.push(row);
        } else {
            self.rows[slot.index()] = row;
        }
        if flow.index() >= self.slots.len() {
            self.slots.resize(flow.index() + 1, NONE);
        }
        self.slots[flow.index()] = slot.0;
        self.open += 1;
        self.inside += bytes;
    }

    /// Leads an open flow over another path from now on.
    pub fn reroute(&mut self, flow: FlowId, path: &[LinkId]) {
        let slot = self.slot(flow);
        if self.fair.path(slot) == path {
            return;
        }
        self.fair.reroute(slot, path);
        let mut row = self.rows[slot.index()];
        self.anchor(&mut row);
        self.count_hops(&mut row, path);
        self.rows[slot.index()] = row;
    }

    /// Changes the weight of an open flow.
    pub fn set_weight(&mut self, flow: FlowId, weight: u32) {
        self.fair.set_weight(self.slot(flow), weight);
    }

    /// Changes or lifts the limit of an open flow.
    pub fn set_limit(&mut self, flow: FlowId, limit: Option<Rate>) {
        self.fair.set_limit(self.slot(flow), limit);
    }

    /// From a byte sent to its arrival, for an open flow; 0 unless set. The
    /// flow's links are free once its last byte is sent.
    pub fn set_delay(&mut self, flow: FlowId, delay: Time) {
        let slot = self.slot(flow);
        self.rows[slot.index()].delay = delay;
    }

    /// Whether a flow is under way.
    pub fn is_open(&self, flow: FlowId) -> bool {
        self.slots.get(flow.index()).is_some_and(|&s| s != NONE)
    }

    /// Bytes of an open flow that have not been sent, begun ones included.
    pub fn remaining(&self, flow: FlowId) -> u64 {
        self.rows[self.slot(flow).index()].missing(self.now)
    }

    /// The rate of an open flow, as of the last solution.
    pub fn rate(&self, flow: FlowId) -> Rate {
        Rate(self.rows[self.slot(flow).index()].rate)
    }

    /// The path of an open flow.
    pub fn path(&self, flow: FlowId) -> &[LinkId] {
        self.fair.path(self.slot(flow))
    }

    /// The flows over a link, in an order that is the same in every run.
    pub fn flows_over(&self, link: LinkId) -> impl ExactSizeIterator<Item = FlowId> + '_ {
        self.fair
            .flows_over(link)
            .map(|s| self.rows[s.index()].flow)
    }

    /// How many flows are under way.
    pub fn open_flows(&self) -> usize {
        self.open
    }

    /// Bytes that have crossed a circuit; `None` without circuits.
    pub fn circuit_bytes(&self) -> Option<u64> {
        self.kinds.contains(&LinkKind::Circuit).then(|| {
            let rows = self.open_rows().filter(|r| r.lit);
            let under_way: u128 = rows.map(|r| r.sent(self.now)).sum();
            ((self.circuit + under_way) / UNITS) as u64
        })
    }

    pub(super) fn slot(&self, flow: FlowId) -> Slot {
        debug_assert!(self.is_open(flow), "{flow:?} is not open");
        Slot(self.slots[flow.index()])
    }

    pub(super) fn open_rows(&self) -> impl Iterator<Item = &Row> {
        let open = |r: &&Row| self.slots[r.flow.index()] != NONE;
        self.rows.iter().enumerate().filter_map(move |(s, r)| {
            (open(&r) && self.slots[r.flow.index()] == s as u32).then_some(r)
        })
    }

    fn count_hops(&self, row: &mut Row, path: &[LinkId]) {
        let kind = |l: &LinkId| self.kinds[l.index()];
        let hop = |l: &&LinkId| matches!(kind(l), LinkKind::Switch | LinkKind::Circuit);
        row.hops = path.iter().filter(hop).count() as u8;
        row.lit = path.iter().any(|l| kind(l) == LinkKind::Circuit);
    }

    /// Writes down what a flow has sent so far.
    fn anchor(&mut self, row: &mut Row) {
        let sent = row.sent(self.now);
        row.left -= sent;
        row.carried += sent * row.hops as u128;
        self.carried += sent * row.hops as u128;
        if row.lit {
            self.circuit += sent;
        }
        row.anchor = self.now;
    }

    pub(super) fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    pub(super) fn is_dirty(&self) -> bool {
        self.fair.is_dirty()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.open == 0 && self.landing == 0
    }

    /// When the next flow will have sent its last byte, and which.
    #[inline]
    pub(super) fn next_finish(&self) -> Option<(Time, FlowId)> {
        let (at, slot) = self.finishes.first()?;
        Some((at, self.rows[slot as usize].flow))
    }

    /// Finds the rates, and when flows finish at these.
    pub(super) fn solve(&mut self, io: &mut Io) {
        if !self.fair.is_dirty() {
            return;
        }
        self.fair.solve();
        for k in 0..self.fair.changed().len() {
            let slot = self.fair.changed()[k];
            let rate = self.fair.rate(slot).0;
            if rate == self.rows[slot.index()].rate {
                continue;
            }
            let mut row = self.rows[slot.index()];
            self.anchor(&mut row);
            row.rate = rate;
            let finish = row.finish(self.now);
            self.finishes.set(slot.0, finish);
            if rate > 0 && !row.started {
                row.started = true;
                io.start(row.flow, self.now);
            }
            self.rows[slot.index()] = row;
        }
        if io.audit.is_some() {
            self.record(io);
        }
    }

    /// Closes a flow that has sent its last byte and sees it delivered.
    pub(super) fn finish<E: Copy>(
        &mut self,
        flow: FlowId,
        io: &mut Io,
        agenda: &mut Agenda<Step<E>>,
    ) {
        let slot = self.slot(flow);
        let mut row = self.rows[slot.index()];
        self.anchor(&mut row);
        debug_assert_eq!(row.left, 0, "closed before its last byte was sent");
        let f = flow.index();
        io.flows.hops[f] = row.hops_mean(io.flows.bytes[f] as u128 * UNITS);
        self.fair.close(slot);
        self.slots[f] = NONE;
        self.finishes.set(slot.0, Time::NEVER);
        self.open -= 1;
        self.landing += 1;
        if row.delay == Time::ZERO {
            self.landed(flow, io);
        } else {
            self.deliver(flow, io.flows.bytes[f] - 1, io);
            agenda.schedule(self.now + row.delay, Step::Landed(flow));
        }
    }

    /// The last byte of a flow is there.
    pub(super) fn landed(&mut self, flow: FlowId, io: &mut Io) {
        self.landing -= 1;
        self.deliver(flow, io.flows.bytes[flow.index()], io);
    }

    /// Counts bytes of a flow as delivered, up to `total`.
    fn deliver(&mut self, flow: FlowId, total: u64, io: &mut Io) {
        let bytes = total - io.flows.delivered[flow.index()];
        if bytes > 0 {
            self.inside -= bytes;
            io.deliver(flow, bytes, self.now);
        }
    }

    /// The engine looks: what has been sent so far is delivered, but for last
    /// bytes. Changes no rate.
    pub(super) fn look(&mut self, now: Time, io: &mut Io) {
        self.now = now;
        for slot in 0..self.rows.len() as u32 {
            let row = self.rows[slot as usize];
            if self.slots[row.flow.index()] == slot {
                let bytes = io.flows.bytes[row.flow.index()];
                let sent = bytes - row.missing(now).max(1);
                self.deliver(row.flow, sent, io);
            }
        }
        if io.audit.is_some() {
            self.record(io);
        }
    }

    pub(super) fn observe(&self, view: &mut View) {
        view.in_flight_bytes = self.inside;
        view.waiting_bytes = self.inside;
        let under_way = self
            .open_rows()
            .map(|r| r.sent(self.now) * r.hops as u128)
            .sum::<u128>();
        view.carried_bytes = ((self.carried + under_way) / UNITS) as u64;
    }

    pub(super) fn settle(&self, io: &mut Io) {
        for row in self.open_rows() {
            let mut row = *row;
            let sent = row.sent(self.now);
            row.carried += sent * row.hops as u128;
            let all = io.flows.bytes[row.flow.index()] as u128 * UNITS;
            io.flows.hops[row.flow.index()] = row.hops_mean(all - (row.left - sent));
        }
    }
}
