//! The event kernel: packet fabrics such as the electrical Clos.
//!
//! A kernel reacts to arrivals and to its own typed events; the driver merges both in order of
//! time. At equal times, arrivals precede events, and events are in the order in which they were
//! scheduled. If an event at t releases a flow for t, the flow is handled before the next event at
//! t.

use crate::agenda::Agenda;
use crate::fabric::{Command, Fabric, Rejected, Reports};
use crate::ids::FlowId;
use crate::io::Io;
use crate::kernel::delegates::Delegates;
use crate::time::Time;

/// A fabric whose state changes at events.
pub trait EventKernel: Reports {
    /// An event: a small value, usually an enumeration of indices.
    type Event: Copy + Send;

    /// Schedules the events that need no arrival, before all others.
    fn begin(&mut self, agenda: &mut Agenda<Self::Event>) {
        let _ = agenda;
    }
    /// Handles `flow`, which is offered now.
    fn arrive(&mut self, flow: FlowId, now: Time, io: &mut Io, agenda: &mut Agenda<Self::Event>);
    /// Handles `event`, which was scheduled for now.
    fn handle(
        &mut self,
        now: Time,
        event: Self::Event,
        io: &mut Io,
        agenda: &mut Agenda<Self::Event>,
    );
    /// Updates counters for changes before `to` that have no event. Events do not depend on when
    /// this is called.
    fn catch_up(&mut self, to: Time, io: &mut Io) {
        let _ = (to, io);
    }
    /// See [`Fabric::apply`].
    fn apply(
        &mut self,
        command: Command,
        now: Time,
        agenda: &mut Agenda<Self::Event>,
    ) -> Result<(), Rejected>;
    /// Whether no byte is inside.
    fn idle(&self) -> bool;
}

/// Drives an [`EventKernel`].
///
/// [`Fabric::advance`] handles all events strictly before its horizon, so that the state there does
/// not depend on earlier horizons.
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

    /// The kernel, for tests.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }
}

impl<K: EventKernel> Delegates for EventDriven<K> {
    type Reporter = K;

    fn reporter(&self) -> &K {
        &self.kernel
    }

    fn reporter_mut(&mut self) -> &mut K {
        &mut self.kernel
    }
}

impl<K: EventKernel> Fabric for EventDriven<K> {
    fn advance(&mut self, to: Time, io: &mut Io) {
        let closed_loop = !io.flows.after.is_empty();
        while !io.halt.asked() {
            let arrival = io.next_arrival().unwrap_or(Time::NEVER);
            let limit = arrival.min(to);
            // Only a completion releases a flow; until then, the next arrival does not change.
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
        self.kernel.catch_up(to, io);
        self.now = self.now.max(to);
    }

    fn apply(&mut self, command: Command) -> Result<(), Rejected> {
        self.kernel.apply(command, self.now, &mut self.agenda)
    }

    fn idle(&self) -> bool {
        self.kernel.idle()
    }
}
