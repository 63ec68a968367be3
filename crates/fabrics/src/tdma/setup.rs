//! What a network of circuits that take turns is made of, whichever paper it is taken from.

use super::burst::Wire;
use super::control::Control;
use super::frames::Punctuality;
use super::low_latency::LowLatency;
use super::relays::Relaying;
use crate::discipline::Discipline;
use crate::overheads::Overheads;
use lightloom_control::schedule::Schedule;
use lightloom_engine::{Cluster, Rate, Time};
use std::sync::Arc;

/// A network, to be simulated by [`super::kernel::Tdma`].
pub struct Setup {
    /// What messages call it.
    pub title: &'static str,
    /// Racks and servers.
    pub cluster: Cluster,
    /// Order in which servers' links serve flows.
    pub discipline: Discipline,
    /// What each plane of switches follows from the start; one with nothing to follow waits
    /// for its controller.
    pub planes: Vec<Option<Arc<Schedule>>>,
    /// All planes turn together: their schedules have the same days, and light and frames
    /// are punctual. Else each turns by itself.
    pub together: bool,
    /// How long before the start each plane's first slot began; without, all begin then.
    pub ahead: Vec<Time>,
    /// The rate of a circuit.
    pub link_rate: Rate,
    /// How racks send over it: no faster than that.
    pub wire: Wire,
    /// From a rack to another, over a circuit or the packet switch, until it is through the
    /// rack switch there.
    pub propagation: Time,
    /// What packets take beside their bytes; of the way, what `propagation` says.
    pub overheads: Overheads,
    /// When light and frames come.
    pub punctuality: Punctuality,
    /// From the end of the day in which bytes were lost until they are sent again.
    pub retransmit_after: Time,
    /// Rate of each rack's link to a packet switch that takes residual demand, if there is
    /// one.
    pub packet_rate: Option<Rate>,
    /// Who decides about schedules, if anybody does.
    pub control: Option<Control>,
    /// Who says what is relayed, if anything is. Then light and frames are punctual.
    pub relaying: Option<Box<dyn Relaying>>,
    /// Bytes that a circuit carries in a slot, where RotorLB divides them among hosts; then
    /// nothing else is relayed, and light and frames are punctual.
    pub by_hosts: Option<u64>,
    /// Which flows do not wait for their circuits, if any are such. Then light and frames
    /// are punctual.
    pub low_latency: Option<LowLatency>,
}
