//! The rack switch that a flow passes before it reaches its node: flows are delayed by its latency.

use lightloom_engine::{FlowId, Io, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Flows on their way through the switches of their own racks.
#[derive(Clone, Debug, Default)]
pub struct Entrance {
    latency: Time,
    /// Flows with the times at which they have passed the switch, in order of arrival.
    inside: BinaryHeap<Reverse<(Time, u64, FlowId)>>,
    came: u64,
    bytes: u64,
}

impl Entrance {
    /// Creates the entrance for switches with this latency.
    pub fn new(latency: Time) -> Entrance {
        Entrance {
            latency,
            ..Entrance::default()
        }
    }

    /// The next flow that has passed the switch by `now`, with the time of its passage.
    #[inline]
    pub fn next(&mut self, now: Time, io: &mut Io) -> Option<(FlowId, Time)> {
        if self.latency > Time::ZERO {
            return self.next_delayed(now, io);
        }
        let flow = io.arrive(now)?;
        Some((flow, io.flows.arrival[flow.index()]))
    }

    #[cold]
    fn next_delayed(&mut self, now: Time, io: &mut Io) -> Option<(FlowId, Time)> {
        while let Some(flow) = io.arrive(now) {
            let through = io.flows.arrival[flow.index()] + self.latency;
            self.inside.push(Reverse((through, self.came, flow)));
            self.came += 1;
            self.bytes += io.flows.bytes[flow.index()];
        }
        let &Reverse((through, _, flow)) = self.inside.peek()?;
        if through > now {
            return None;
        }
        self.inside.pop();
        self.bytes -= io.flows.bytes[flow.index()];
        Some((flow, through))
    }

    /// Bytes of the flows inside [B].
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether nothing is inside.
    pub fn is_empty(&self) -> bool {
        self.inside.is_empty()
    }
}
