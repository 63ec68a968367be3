//! The end of an instant: flows that have sent all bytes, new rates, and queries of the driver and
//! of reports.

use super::{Net, NONE};
use crate::agenda::Agenda;
use crate::fabric::View;
use crate::fair::Slot;
use crate::ids::FlowId;
use crate::io::Io;
use crate::kernel::flow::row::UNITS;
use crate::kernel::flow::Step;
use crate::time::Time;

impl Net {
    pub(in crate::kernel::flow) fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    pub(in crate::kernel::flow) fn is_dirty(&self) -> bool {
        self.fair.is_dirty()
    }

    pub(in crate::kernel::flow) fn is_idle(&self) -> bool {
        self.open == 0 && self.landing == 0
    }

    /// When the next flow will have sent its last byte, at the rates of the last solution.
    pub fn next_finish(&mut self) -> Option<Time> {
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
    pub(in crate::kernel::flow) fn next_due(&mut self) -> Option<FlowId> {
        if self.due.is_empty() {
            self.collect_due();
        }
        let row = self.due.pop()?;
        Some(self.rows[row as usize].flow)
    }

    /// Collects all such flows, the lowest row last.
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

    /// Computes the rates, and the resulting completion times. Returns whether anything had
    /// changed.
    pub(in crate::kernel::flow) fn solve(&mut self, io: &mut Io) -> bool {
        if !self.fair.is_dirty() {
            return false;
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
            // If the end is later than expected, this is detected at the expected time.
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
        true
    }

    /// Closes a flow that has sent its last byte, and delivers it.
    pub(in crate::kernel::flow) fn finish<E: Copy>(
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

    /// Handles the arrival of the last byte of a flow.
    pub(in crate::kernel::flow) fn landed(&mut self, flow: FlowId, io: &mut Io) {
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

    /// Updates the view of the engine: sent bytes are delivered, except last bytes. Changes no
    /// rate.
    pub(in crate::kernel::flow) fn look(&mut self, now: Time, io: &mut Io) {
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

    pub(in crate::kernel::flow) fn observe(&self, view: &mut View) {
        view.in_flight_bytes = self.inside;
        // Flows share links by rates, and nothing queues behind a source. A flow whose last byte
        // has been sent still has that byte in transit.
        view.on_links_bytes = self.landing;
        view.waiting_bytes = self.inside - view.on_links_bytes;
        let under_way = self
            .open_rows()
            .map(|r| self.sent(r) * r.hops as u128)
            .sum::<u128>();
        view.carried_bytes = ((self.carried + under_way) / UNITS) as u64;
    }

    /// Bytes that each link has carried.
    pub(in crate::kernel::flow) fn carried_by_link(&self) -> Vec<u64> {
        let mut units = self.over_link.clone();
        for row in self.open_rows() {
            let sent = self.sent(row);
            for link in self.fair.path(Slot(row.bundle)) {
                units[link.index()] += sent;
            }
        }
        units.iter().map(|&u| (u / UNITS) as u64).collect()
    }

    pub(in crate::kernel::flow) fn settle(&self, io: &mut Io) {
        for row in self.open_rows() {
            let mut row = *row;
            let sent = self.sent(&row);
            row.carried += sent * row.hops as u128;
            let all = io.flows.bytes[row.flow.index()] as u128 * UNITS;
            io.flows.hops[row.flow.index()] = row.hops_mean(all - (row.left - sent));
        }
    }
}
