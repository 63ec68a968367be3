//! The record of every transmission that a test checks capacity and darkness on.
//!
//! Off in ordinary runs; kernels ask once per horizon whether it is on.

use crate::ids::PortId;
use crate::time::{Rate, Time};

/// One transmission: light or current on a link from a transmitter to a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// The transmitter.
    pub tx: PortId,
    /// The receiver.
    pub rx: PortId,
    /// First bit leaves.
    pub from: Time,
    /// Last bit has left.
    pub until: Time,
    /// Bytes on the wire.
    pub bytes: u64,
}

/// The total rate of flows on a link for a while: the record of fabrics without packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// The link: a transmitter and a receiver of the same number.
    pub link: PortId,
    /// From here on …
    pub from: Time,
    /// … until here.
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
    /// The same for fabrics whose flows have rates.
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

    /// The first pair of transmissions that share a port, as chosen by `port`,
    /// at the same time.
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
