//! Bytes delivered until given instants, including the delivered bytes of unfinished flows.
//!
//! The run loop stops at each instant and reads the ledger, so this costs kernels nothing. The
//! bytes of a slot count when the slot has ended, and those of a circuit's day when the day has
//! ended.

use crate::flows::Flows;
use crate::time::Time;

/// Byte counts at instants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deliveries {
    at: Vec<Time>,
    bytes: Vec<u64>,
    /// Bytes received by each server until the first instant and until the last.
    heard: [Vec<u64>; 2],
}

impl Deliveries {
    /// Makes counters for these instants, which must be in order.
    pub fn at(instants: Vec<Time>) -> Deliveries {
        debug_assert!(instants.is_sorted(), "instants out of order");
        Deliveries {
            at: instants,
            ..Deliveries::default()
        }
    }

    /// The next instant to be counted.
    pub fn next(&self) -> Option<Time> {
        self.at.get(self.bytes.len()).copied()
    }

    /// Whether the next instant also counts bytes by server; flows must then be settled.
    pub fn asks_servers(&self) -> bool {
        let number = self.bytes.len();
        number == 0 || number + 1 == self.at.len()
    }

    /// Records the next instant, with the bytes delivered in total and by each of `flows`.
    pub fn count(&mut self, delivered: u64, flows: &Flows) {
        let number = self.bytes.len();
        for (which, asked) in [(0, number == 0), (1, number + 1 == self.at.len())] {
            if asked {
                self.heard[which] = by_server(flows);
            }
        }
        self.bytes.push(delivered);
    }

    /// Bytes delivered until each instant; complete after the run has ended.
    pub fn bytes(&self) -> &[u64] {
        &self.bytes
    }

    /// Bytes that each server received between the first instant and the last.
    pub fn heard(&self) -> impl Iterator<Item = u64> + '_ {
        let [first, last] = &self.heard;
        let before = first.iter().copied().chain(std::iter::repeat(0));
        last.iter().zip(before).map(|(last, first)| last - first)
    }
}

/// Bytes delivered to each server, up to the last server that is a destination.
fn by_server(flows: &Flows) -> Vec<u64> {
    let servers = flows.dst.iter().map(|dst| dst.index() + 1).max();
    let mut heard = vec![0; servers.unwrap_or(0)];
    for (dst, &bytes) in flows.dst.iter().zip(&flows.delivered) {
        heard[dst.index()] += bytes;
    }
    heard
}
