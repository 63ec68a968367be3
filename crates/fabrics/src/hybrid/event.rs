//! Events of hybrid networks, and the parts that an event acts on.

use super::paths::transport::BatchId;
use lightloom_control::controller::StepId;
use lightloom_engine::kernel::flow::{Net, Todo};
use lightloom_engine::{Io, Time};

/// An event that the kernel schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A tick that the controller requested.
    Wake,
    /// A step of a change is complete; void if it was cancelled.
    Ends(StepId),
    /// A night of the schedule of that number begins.
    Night(u32),
    /// A day of the schedule of that number begins.
    Day(u32),
    /// Flows that were moved send faster.
    Rise(BatchId),
    /// The flows of pairs with several routes are spread over these.
    Spread,
    /// An optical port breaks.
    PortBreaks(u32, u32),
    /// Servers leave all circuits, because they have received nothing from the controller for too
    /// long in this term.
    GiveUp(u32),
}

/// The time of an event, flows, their rates, and scheduled events.
pub struct Context<'a> {
    /// The time of the event.
    pub now: Time,
    /// The flows of the run.
    pub io: &'a Io,
    /// Links and the rates of flows over them.
    pub net: &'a mut Net,
    /// Events to come.
    pub todo: &'a mut Todo<Event>,
}
