//! The flow kernel: hybrid fabrics such as c-Through and HydRA, at the time
//! scale of seconds.
//!
//! There are no packets: a flow has a path and moves at its max-min fair rate ([`crate::fair`])
//! until something changes. A kernel decides which path each flow takes, which links are lit, and
//! when. The [`Net`] divides the links into rates and moves the bytes. The driver merges
//! completions, arrivals and the kernel's own typed events in order of time.
//!
//! All changes at one instant are one step: completions first, then arrivals, then the kernel's
//! events in the order in which they were scheduled; rates are computed once, after all of them. A
//! flow's progress is recorded only when its rate or path changes, in exact integers, so that
//! horizons have no effect. At a horizon, the whole bytes that were sent so far count as delivered,
//! except the last one, which counts when it arrives.
//!
//! With a [`Precision`], small changes of rates do not spread to other links.
//!
//! Not modelled: queues and their delays. A constant delay behind the last byte
//! is [`Net::set_delay`].

mod burden;
mod finishes;
mod net;
mod over;
mod row;
#[cfg(test)]
mod tests;

pub use net::{LinkKind, Net};

use crate::agenda::Agenda;
use crate::fabric::{Command, Fabric, Rejected, Reports, Totals, View};
use crate::fair::Precision;
use crate::ids::FlowId;
use crate::io::Io;
use crate::kernel::delegates::Delegates;
use crate::time::Time;

/// Largest number of solutions at one instant, for capacities that depend on rates.
pub const ROUNDS: u32 = 4;

/// Approximate memory of the given numbers of links and open flows [B].
pub fn memory(links: u64, flows: u64) -> u64 {
    links * 220 + flows * 500
}

/// An entry of the driver's agenda.
#[derive(Clone, Copy, Debug)]
enum Step<E> {
    /// The last byte of a flow arrives.
    Landed(FlowId),
    /// An event of the kernel.
    Own(E),
}

/// The kernel's side of the agenda.
#[derive(Clone, Debug)]
pub struct Todo<E> {
    agenda: Agenda<Step<E>>,
}

impl<E: Copy> Todo<E> {
    /// Schedules an event of the kernel; events at equal times are handled in the order in which
    /// they were scheduled.
    pub fn schedule(&mut self, at: Time, event: E) {
        self.agenda.schedule(at, Step::Own(event));
    }
}

/// A fabric whose flows move at max-min fair rates. The driver observes the state of the net: all
/// bytes wait at their sources, none are inside; the kernel's [`Reports::observe`] corrects this.
pub trait FlowKernel: Reports {
    /// An event, such as a manager's tick or a circuit that comes up.
    type Event: Copy + Send;

    /// Adds the links, and schedules events that need no flow.
    fn begin(&mut self, net: &mut Net, todo: &mut Todo<Self::Event>);
    /// Handles `flow`, which is offered now: calls [`Net::open`] for it.
    fn arrive(
        &mut self,
        flow: FlowId,
        now: Time,
        io: &mut Io,
        net: &mut Net,
        todo: &mut Todo<Self::Event>,
    );
    /// Handles `flow`, which has sent its last byte. It is still open; the driver closes and
    /// delivers it.
    fn complete(
        &mut self,
        flow: FlowId,
        now: Time,
        io: &mut Io,
        net: &mut Net,
        todo: &mut Todo<Self::Event>,
    ) {
        let _ = (flow, now, io, net, todo);
    }
    /// Handles `event`, which was scheduled for now.
    fn handle(
        &mut self,
        now: Time,
        event: Self::Event,
        io: &mut Io,
        net: &mut Net,
        todo: &mut Todo<Self::Event>,
    );
    /// Called after the rates of an instant are solved. A kernel whose capacities depend on rates
    /// sets them here and returns true; the rates are then solved again, at most [`ROUNDS`] times
    /// for an instant. `round` counts from 0.
    fn solved(&mut self, round: u32, net: &mut Net) -> bool {
        let _ = (round, net);
        false
    }
    /// See [`Fabric::apply`]. Changes of `net` apply from now on.
    fn apply(
        &mut self,
        command: Command,
        now: Time,
        net: &mut Net,
        todo: &mut Todo<Self::Event>,
    ) -> Result<(), Rejected>;
}

/// Drives a [`FlowKernel`].
///
/// [`Fabric::advance`] handles all events strictly before its horizon. The state at a horizon
/// therefore does not depend on the number and the times of earlier horizons.
pub struct FlowDriven<K: FlowKernel> {
    kernel: K,
    net: Net,
    todo: Todo<K::Event>,
    now: Time,
    /// The kernel's events of this instant.
    due: Vec<K::Event>,
}

impl<K: FlowKernel> FlowDriven<K> {
    /// The fabric at time zero.
    pub fn new(mut kernel: K) -> Self {
        let (mut net, mut todo) = (
            Net::new(),
            Todo {
                agenda: Agenda::new(),
            },
        );
        kernel.begin(&mut net, &mut todo);
        FlowDriven {
            kernel,
            net,
            todo,
            now: Time::ZERO,
            due: Vec::new(),
        }
    }

    /// The kernel, for tests.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// Links and flows, for tests.
    pub fn net(&self) -> &Net {
        &self.net
    }

    /// Handles all changes at `now`, including `first`.
    fn instant(&mut self, now: Time, first: Option<Step<K::Event>>, io: &mut Io) {
        self.net.set_now(now);
        let mut step = first;
        loop {
            self.complete(now, io);
            while let Some(s) = step {
                match s {
                    Step::Own(event) => self.due.push(event),
                    Step::Landed(flow) => self.net.landed(flow, io),
                }
                step = self.next_step(now);
            }
            while let Some(flow) = io.arrive(now) {
                let (net, todo) = (&mut self.net, &mut self.todo);
                self.kernel.arrive(flow, now, io, net, todo);
            }
            let mut due = std::mem::take(&mut self.due);
            for event in due.drain(..) {
                let (net, todo) = (&mut self.net, &mut self.todo);
                self.kernel.handle(now, event, io, net, todo);
            }
            self.due = due;
            step = self.next_step(now);
            if step.is_none() && io.next_arrival().is_none_or(|a| a > now) {
                break;
            }
        }
        self.solve(io);
    }

    /// Computes the rates.
    fn solve(&mut self, io: &mut Io) {
        if !self.net.solve(io) {
            return;
        }
        for round in 0..ROUNDS {
            if !self.kernel.solved(round, &mut self.net) {
                break;
            }
            self.net.solve(io);
        }
    }

    /// Closes the flows that have sent their last byte.
    fn complete(&mut self, now: Time, io: &mut Io) {
        while let Some(flow) = self.net.next_due() {
            let (net, todo) = (&mut self.net, &mut self.todo);
            self.kernel.complete(flow, now, io, net, todo);
            self.net.finish(flow, io, &mut self.todo.agenda);
        }
    }

    fn next_step(&mut self, now: Time) -> Option<Step<K::Event>> {
        self.todo.agenda.pop_before(now + Time(1)).map(|e| e.1)
    }
}

impl<K: FlowKernel> Delegates for FlowDriven<K> {
    type Reporter = K;

    fn reporter(&self) -> &K {
        &self.kernel
    }

    fn reporter_mut(&mut self) -> &mut K {
        &mut self.kernel
    }

    fn observe_own(&self, view: &mut View) {
        self.net.observe(view);
    }

    /// If the net has circuits, it counts the bytes that crossed them.
    fn add_totals(&self, totals: &mut Totals) {
        totals.circuit_bytes = self.net.circuit_bytes();
    }

    fn settle_own(&self, io: &mut Io) {
        self.net.settle(io);
    }

    fn carried(&self) -> Vec<u64> {
        self.net.carried_by_link()
    }
}

impl<K: FlowKernel> Fabric for FlowDriven<K> {
    fn advance(&mut self, to: Time, io: &mut Io) {
        // A command may have changed the net at the last horizon.
        if self.net.is_dirty() && self.now < to {
            let first = self.next_step(self.now);
            self.instant(self.now, first, io);
        }
        while !io.halt.asked() {
            let arrival = io.next_arrival().unwrap_or(Time::NEVER);
            let finish = self.net.next_finish().unwrap_or(Time::NEVER);
            let next = arrival.min(finish);
            match self.todo.agenda.pop_before(next.min(to)) {
                Some((at, step)) => self.instant(at, Some(step), io),
                None if next < to => {
                    let first = self.next_step(next);
                    self.instant(next, first, io);
                }
                None => break,
            }
        }
        self.now = self.now.max(to);
        self.net.look(self.now, io);
    }

    fn apply(&mut self, command: Command) -> Result<(), Rejected> {
        self.net.set_now(self.now);
        let (net, todo) = (&mut self.net, &mut self.todo);
        self.kernel.apply(command, self.now, net, todo)
    }

    fn set_rate_precision(&mut self, precision: Precision) -> bool {
        self.net.set_precision(precision);
        true
    }

    fn idle(&self) -> bool {
        self.net.is_idle()
    }
}
