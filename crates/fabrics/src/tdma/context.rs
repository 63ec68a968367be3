//! The context of an event: time, flows, and the agenda of the kernel.

use lightloom_engine::{Agenda, Io, Time};

/// The time of an event, the flows and counters of the run, and scheduled events.
pub struct Context<'a, E> {
    /// The time of the event.
    pub now: Time,
    /// Flows and counts of the run.
    pub io: &'a mut Io,
    /// Events to come.
    pub agenda: &'a mut Agenda<E>,
}

impl<E: Copy> Context<'_, E> {
    /// Schedules an event.
    #[inline]
    pub fn schedule(&mut self, at: Time, event: impl Into<E>) {
        self.agenda.schedule(at, event.into());
    }
}
