//! The event kernel: packet fabrics such as the electrical Clos.
//!
//! A kernel reacts to arrivals and to its own typed events; the driver merges
//! both in order of time. At equal times an arrival goes before an event, and
//! events go in the order in which they were scheduled. A flow that an event at
//! t releases for t is taken before the next event at t.

use crate::agenda::Agenda;
use crate::fabric::{Circuit, Command, ControlRecord, Fabric, Rejected, Shape, Totals, View};
use crate::ids::{FlowId, HostId, PortId};
use crate::io::Io;
use crate::refusal::Refusal;
use crate::time::{Rate, Time};

/// A fabric that moves from event to event.
pub trait EventKernel: Send {
    /// What is scheduled: a small value, usually an enumeration of indices.
    type Event: Copy + Send;

    /// Hosts, racks and rates.
    fn shape(&self) -> Shape;
    /// Schedules what happens by itself, before anything else.
    fn begin(&mut self, agenda: &mut Agenda<Self::Event>) {
        let _ = agenda;
    }
    /// `flow` is offered now.
    fn arrive(&mut self, flow: FlowId, now: Time, io: &mut Io, agenda: &mut Agenda<Self::Event>);
    /// `event`, scheduled for now, happens.
    fn handle(
        &mut self,
        now: Time,
        event: Self::Event,
        io: &mut Io,
        agenda: &mut Agenda<Self::Event>,
    );
    /// See [`Fabric::apply`].
    fn apply(
        &mut self,
        command: Command,
        now: Time,
        agenda: &mut Agenda<Self::Event>,
    ) -> Result<(), Rejected>;
    /// See [`Fabric::observe`].
    fn observe(&self, io: &Io, view: &mut View);
    /// Whether no byte is inside.
    fn idle(&self) -> bool;
    /// See [`Fabric::totals`].
    fn totals(&self) -> Totals;
    /// See [`Fabric::settle`].
    fn settle(&self, io: &mut Io);
    /// See [`Fabric::soonest`].
    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time;
    /// See [`Fabric::lit`].
    fn lit(&self, tx: PortId, rx: PortId, at: Time) -> bool {
        let _ = (tx, rx, at);
        true
    }
    /// See [`Fabric::port_rate`].
    fn port_rate(&self, tx: PortId) -> Rate;
    /// See [`Fabric::reachable`].
    fn reachable(&self, flow: FlowId, io: &Io) -> bool {
        let _ = (flow, io);
        true
    }
    /// See [`Fabric::circuits`].
    fn circuits(&self, now: Time) -> Vec<Circuit> {
        let _ = now;
        Vec::new()
    }
    /// See [`Fabric::lit_for`].
    fn lit_for(&self, now: Time) -> Option<Time> {
        let _ = now;
        None
    }
    /// See [`Fabric::record_control`].
    fn record_control(&mut self, label: &str) {
        let _ = label;
    }
    /// See [`Fabric::control_record`].
    fn control_record(&mut self) -> Option<ControlRecord> {
        None
    }
    /// See [`Fabric::trouble`].
    fn trouble(&self) -> Option<&Refusal> {
        None
    }
}

/// Drives an [`EventKernel`].
///
/// [`Fabric::advance`] handles what happens strictly before its horizon, so the
/// state there does not depend on which horizons came before.
pub struct EventDriven<K: EventKernel> {
    kernel: K,
    agenda: Agenda<K::Event>,
    now: Time,
}

impl<K: EventKernel> EventDriven<K> {
    /// The fabric at time zero.
    pub fn new(mut kernel: K) -> Self {
        let mut agenda = Agenda::new();
        kernel.begin(&mut agenda);
        EventDriven {
            kernel,
            agenda,
            now: Time::ZERO,
        }
    }

    /// The kernel, for tests that look inside.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }
}

impl<K: EventKernel> Fabric for EventDriven<K> {
    fn shape(&self) -> Shape {
        self.kernel.shape()
    }

    fn advance(&mut self, to: Time, io: &mut Io) {
        let closed_loop = !io.flows.after.is_empty();
        loop {
            let arrival = io.next_arrival().unwrap_or(Time::NEVER);
            let limit = arrival.min(to);
            // Only a completion releases a flow: until then the next arrival stands.
            let completed = io.ledger.flows_completed;
            let mut released = false;
            while let Some((now, event)) = self.agenda.pop_before(limit) {
                self.kernel.handle(now, event, io, &mut self.agenda);
                released = closed_loop && io.ledger.flows_completed != completed;
                if released {
                    break;
                }
            }
            if released {
                continue;
            }
            if arrival >= to {
                break;
            }
            if let Some(flow) = io.arrive(arrival) {
                self.kernel.arrive(flow, arrival, io, &mut self.agenda);
            }
        }
        self.now = self.now.max(to);
    }

    fn apply(&mut self, command: Command) -> Result<(), Rejected> {
        self.kernel.apply(command, self.now, &mut self.agenda)
    }

    fn observe(&self, io: &Io, view: &mut View) {
        self.kernel.observe(io, view)
    }

    fn idle(&self) -> bool {
        self.kernel.idle()
    }

    fn totals(&self) -> Totals {
        self.kernel.totals()
    }

    fn settle(&self, io: &mut Io) {
        self.kernel.settle(io)
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        self.kernel.soonest(src, dst, bytes)
    }

    fn lit(&self, tx: PortId, rx: PortId, at: Time) -> bool {
        self.kernel.lit(tx, rx, at)
    }

    fn port_rate(&self, tx: PortId) -> Rate {
        self.kernel.port_rate(tx)
    }

    fn reachable(&self, flow: FlowId, io: &Io) -> bool {
        self.kernel.reachable(flow, io)
    }

    fn circuits(&self, now: Time) -> Vec<Circuit> {
        self.kernel.circuits(now)
    }

    fn lit_for(&self, now: Time) -> Option<Time> {
        self.kernel.lit_for(now)
    }

    fn record_control(&mut self, label: &str) {
        self.kernel.record_control(label)
    }

    fn control_record(&mut self) -> Option<ControlRecord> {
        self.kernel.control_record()
    }

    fn trouble(&self) -> Option<&Refusal> {
        self.kernel.trouble()
    }
}
