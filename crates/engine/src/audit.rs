//! The record of every transmission, with which tests check capacities and dark circuits.
//!
//! It is off in ordinary runs; kernels check once per horizon whether it is on.

use crate::ids::PortId;
use crate::time::{Rate, Time};

/// One transmission: light or current on a link from a transmitter to a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// The transmitter.
    pub tx: PortId,
    /// The receiver.
    pub rx: PortId,
    /// The time at which the first bit leaves.
    pub from: Time,
    /// The time at which the last bit has left.
    pub until: Time,
    /// Bytes on the wire.
    pub bytes: u64,
}

/// The total rate of flows on a link during an interval: the record of fabrics without packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// The link: a transmitter and a receiver of the same number.
    pub link: PortId,
    /// The start of the interval.
    pub from: Time,
    /// The end of the interval.
    pub until: Time,
    /// Sum of the rates of the flows over it.
    pub rate: Rate,
    /// The capacity of the link in that time.
    pub capacity: Rate,
}

/// All transmissions of a run, in the order in which the kernel made them.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// The record.
    pub transmissions: Vec<Transmission>,
    /// The loads of links, for fabrics whose flows have rates.
    pub loads: Vec<Load>,
}

impl Audit {
    /// Records a transmission.
    #[inline]
    pub fn transmit(&mut self, tx: PortId, rx: PortId, from: Time, until: Time, bytes: u64) {
        self.transmissions.push(Transmission {
            tx,
            rx,
            from,
            until,
            bytes,
        });
    }

    /// The first pair of transmissions that overlap in time and share a port, as selected by
    /// `port`.
    pub fn overlap(
        &self,
        port: fn(&Transmission) -> PortId,
    ) -> Option<(Transmission, Transmission)> {
        let mut by_port = self.transmissions.clone();
        by_port.sort_by_key(|t| (port(t), t.from, t.until));
        by_port
            .windows(2)
            .find(|w| port(&w[0]) == port(&w[1]) && w[1].from < w[0].until)
            .map(|w| (w[0], w[1]))
    }
}
