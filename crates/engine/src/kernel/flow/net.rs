//! Links, flows under way, and the bytes that they have moved.

use super::burden::Burden;
use super::finishes::Finishes;
use super::over::Over;
use super::row::{Bundle, Row, UNITS};
use super::Step;
use crate::agenda::Agenda;
use crate::fabric::View;
use crate::fair::{Fair, LinkId, Precision, Slot};
use crate::ids::FlowId;
use crate::io::Io;
use crate::time::{Rate, Time};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

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
///
/// Flows that are alike (path, weight, limit, and where the solver settled them) make
/// a [`Bundle`]: a change of rates costs what the bundles do that it moves, not their
/// flows.
#[derive(Clone, Debug, Default)]
pub struct Net {
    pub(super) fair: Fair,
    pub(super) kinds: Vec<LinkKind>,
    rows: Vec<Row>,
    unused: Vec<u32>,
    /// The row of each open flow.
    row_of: Vec<u32>,
    over: Over,
    /// By the solver's slot.
    bundles: Vec<Bundle>,
    /// The bundle of each path, weight and limit that more flows may join, by
    /// [`Net::key`]; never iterated.
    joinable: HashMap<u64, u32, BuildHasherDefault<Mixed>>,
    /// Rows that have a bundle of their own since the last solution.
    alone: Vec<u32>,
    /// Rows that have sent their last byte now, the last first.
    due: Vec<u32>,
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
    /// When the next flow of each bundle will have sent its last byte, or earlier:
    /// never later.
    finishes: Finishes,
    pub(super) burdens: Vec<Burden>,
}

const NONE: u32 = u32::MAX;

/// Keys that are mixed already.
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

/// Adds a number to a key (a multiplier of L'Ecuyer 1999, table 4).
fn mix(key: u64, number: u64) -> u64 {
    let product = (key ^ number).wrapping_mul(0xd134_2543_de82_ef95);
    product ^ product >> 32
}

impl Net {
    pub(super) fn new() -> Net {
        Net::default()
    }

    /// See [`Fair::set_precision`].
    pub(super) fn set_precision(&mut self, precision: Precision) {
        self.fair.set_precision(precision);
    }

    /// [`Net::flows_over`] will not be called: flows come and go faster. Call it
    /// before the first flow.
    pub fn never_list_flows(&mut self) {
        self.over.give_up();
    }

    /// Adds a link; links are numbered from 0.
    pub fn add_link(&mut self, capacity: Rate, kind: LinkKind) -> LinkId {
        self.kinds.push(kind);
        self.over.add_link();
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

    /// Leads an open flow over another path from now on.
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

    /// Changes or lifts the limit of an open flow.
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

    /// From a byte sent to its arrival, for an open flow; 0 unless set. The
    /// flow's links are free once its last byte is sent.
    pub fn set_delay(&mut self, flow: FlowId, delay: Time) {
        let row = self.row(flow);
        self.rows[row as usize].delay = delay;
    }

    /// Whether a flow is under way.
    pub fn is_open(&self, flow: FlowId) -> bool {
        self.row_of.get(flow.index()).is_some_and(|&r| r != NONE)
    }

    /// Bytes of an open flow that have not been sent, begun ones included.
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

    /// The rate of a flow under way, and its path.
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

    /// Writes down what a flow has sent so far.
    fn anchor(&mut self, number: u32) {
        let mut row = self.rows[number as usize];
        let sent = self.sent(&row);
        row.left -= sent;
        row.joined += sent;
        row.carried += sent * row.hops as u128;
        self.carried += sent * row.hops as u128;
        if row.lit {
            self.circuit += sent;
        }
        self.rows[number as usize] = row;
    }

    /// A flow begins, or goes on, in a bundle of its own.
    fn begin(&mut self, number: u32, path: &[LinkId], weight: u32, limit: Option<Rate>) {
        let slot = self.fair.open(path, weight, limit);
        if slot.index() >= self.bundles.len() {
            self.bundles.resize_with(slot.index() + 1, Bundle::default);
        }
        let row = &mut self.rows[number as usize];
        row.bundle = slot.0;
        row.joined = 0;
        let bundle = &mut self.bundles[slot.index()];
        bundle.clear(self.now);
        bundle.join(number, row.left);
        self.alone.push(number);
    }

    /// Whether a flow has its bundle to itself; then no other joins it until the
    /// next solution.
    fn is_alone(&mut self, number: u32) -> bool {
        let bundle = self.rows[number as usize].bundle;
        let alone = self.fair.count(Slot(bundle)) == 1;
        if alone {
            self.forget(bundle);
            self.alone.push(number);
        }
        alone
    }

    /// A flow leaves others with which it moved, with what it has left.
    fn leave(&mut self, number: u32) {
        self.anchor(number);
        let bundle = std::mem::replace(&mut self.rows[number as usize].bundle, NONE);
        self.fair.close(Slot(bundle));
        self.bundles[bundle as usize].left(bundle, &self.rows);
        self.expect(bundle);
    }

    /// No other flow joins a bundle any more.
    fn forget(&mut self, bundle: u32) {
        let key = self.bundles[bundle as usize].key;
        if self.joinable.get(&key) == Some(&bundle) {
            self.joinable.remove(&key);
        }
    }

    /// What flows of one bundle have in common.
    fn key(&self, slot: Slot) -> u64 {
        let limit = self.fair.limit(slot).map_or(u64::MAX, |l| l.0);
        let own = mix(self.fair.weight(slot) as u64, limit);
        let path = self.fair.path(slot).iter();
        path.fold(own, |key, link| mix(key, link.0 as u64))
    }

    /// A flow that has a rate joins the others that are alike, or waits for such.
    fn gather(&mut self, number: u32) {
        let own = self.rows[number as usize].bundle;
        if own == NONE || self.fair.is_apart(Slot(own)) {
            return;
        }
        let key = self.key(Slot(own));
        self.bundles[own as usize].key = key;
        let mate = *self.joinable.entry(key).or_insert(own);
        if mate == own || !self.fair.merge(Slot(mate), Slot(own)) {
            return;
        }
        self.finishes.set(own, Time::NEVER);
        self.anchor(number);
        let bundle = &mut self.bundles[mate as usize];
        let row = &mut self.rows[number as usize];
        row.bundle = mate;
        row.joined = bundle.moved(self.now);
        bundle.join(number, row.end());
        self.expect(mate);
    }

    /// Writes down when the next flow of a bundle will have sent its last byte.
    #[inline]
    fn expect(&mut self, bundle: u32) {
        let finish = self.bundles[bundle as usize].expect();
        self.finishes.set(bundle, finish);
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

    /// When the next flow will have sent its last byte.
    pub(super) fn next_finish(&mut self) -> Option<Time> {
        loop {
            let (at, bundle) = self.finishes.first()?;
            let finish = self.bundles[bundle as usize].finish();
            if finish == at {
                return Some(at);
            }
            self.expect(bundle);
        }
    }

    /// The next flow that has sent its last byte by now, if any.
    pub(super) fn next_due(&mut self) -> Option<FlowId> {
        if self.due.is_empty() {
            self.collect_due();
        }
        let row = self.due.pop()?;
        Some(self.rows[row as usize].flow)
    }

    /// All that have, the lowest row last.
    fn collect_due(&mut self) {
        while let Some((_, number)) = self.finishes.first().filter(|f| f.0 <= self.now) {
            let bundle = &mut self.bundles[number as usize];
            while let Some(row) = bundle.pop_due(self.now, number, &self.rows) {
                self.due.push(row);
            }
            self.expect(number);
        }
        self.due.sort_unstable_by(|a, b| b.cmp(a));
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
            let bundle = &mut self.bundles[slot.index()];
            if rate == bundle.rate {
                continue;
            }
            if bundle.rate == 0 {
                for row in bundle.rows() {
                    let row = &mut self.rows[row as usize];
                    if row.bundle == slot.0 && !std::mem::replace(&mut row.started, true) {
                        io.start(row.flow, self.now);
                    }
                }
            }
            let before = bundle.rate;
            bundle.set_rate(rate, self.now);
            // Later than expected is seen when its time has come.
            if rate > bundle.ceiling {
                let at = bundle.expect_early(before);
                self.finishes.set(slot.0, at);
            }
        }
        let mut alone = std::mem::take(&mut self.alone);
        alone.drain(..).for_each(|row| self.gather(row));
        self.alone = alone;
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
        let number = self.row(flow);
        self.anchor(number);
        let row = self.rows[number as usize];
        debug_assert_eq!(row.left, 0, "closed before its last byte was sent");
        let (f, slot) = (flow.index(), Slot(row.bundle));
        io.flows.hops[f] = row.hops_mean(io.flows.bytes[f] as u128 * UNITS);
        self.over.detach(number, self.fair.path(slot));
        if self.fair.count(slot) == 1 {
            self.forget(slot.0);
            self.finishes.set(slot.0, Time::NEVER);
        }
        self.fair.close(slot);
        self.rows[number as usize].bundle = NONE;
        self.row_of[f] = NONE;
        self.unused.push(number);
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
        for number in 0..self.rows.len() {
            let row = self.rows[number];
            if row.bundle != NONE {
                let bytes = io.flows.bytes[row.flow.index()];
                let sent = bytes - self.missing(&row).max(1);
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
            .map(|r| self.sent(r) * r.hops as u128)
            .sum::<u128>();
        view.carried_bytes = ((self.carried + under_way) / UNITS) as u64;
    }

    pub(super) fn settle(&self, io: &mut Io) {
        for row in self.open_rows() {
            let mut row = *row;
            let sent = self.sent(&row);
            row.carried += sent * row.hops as u128;
            let all = io.flows.bytes[row.flow.index()] as u128 * UNITS;
            io.flows.hops[row.flow.index()] = row.hops_mean(all - (row.left - sent));
        }
    }
}
