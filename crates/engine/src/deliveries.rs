//! Bytes delivered by given instants, byte by byte: an unfinished flow counts with its delivered
//! bytes.
//!
//! The run loop stops at each instant and reads the ledger there; a kernel pays nothing for
//! it. A fabric counts bytes when it is asked, so what one moves in slots counts with the slot
//! that has ended, and what a circuit carries in a day with the day.

use crate::flows::Flows;
use crate::time::Time;

/// Byte counts at instants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deliveries {
    at: Vec<Time>,
    bytes: Vec<u64>,
    /// By server, at the first instant and at the last.
    heard: [Vec<u64>; 2],
}

impl Deliveries {
    /// Nothing is counted yet; the instants are in order.
    pub fn at(instants: Vec<Time>) -> Deliveries {
        debug_assert!(instants.is_sorted(), "instants out of order");
        Deliveries {
            at: instants,
            ..Deliveries::default()
        }
    }

    /// The instant to be counted next.
    pub fn next(&self) -> Option<Time> {
        self.at.get(self.bytes.len()).copied()
    }

    /// Whether the next is counted by server, too: then flows have to be settled.
    pub fn asks_servers(&self) -> bool {
        let number = self.bytes.len();
        number == 0 || number + 1 == self.at.len()
    }

    /// The next instant has come: so many bytes are delivered, and those of `flows`.
    pub fn count(&mut self, delivered: u64, flows: &Flows) {
        let number = self.bytes.len();
        for (which, asked) in [(0, number == 0), (1, number + 1 == self.at.len())] {
            if asked {
                self.heard[which] = by_server(flows);
            }
        }
        self.bytes.push(delivered);
    }

    /// Bytes that had been delivered by each instant; as many as were asked for, once the run
    /// has ended.
    pub fn bytes(&self) -> &[u64] {
        &self.bytes
    }

    /// Bytes that each server heard between the first instant and the last.
    pub fn heard(&self) -> impl Iterator<Item = u64> + '_ {
        let [first, last] = &self.heard;
        let before = first.iter().copied().chain(std::iter::repeat(0));
        last.iter().zip(before).map(|(last, first)| last - first)
    }
}

/// Bytes delivered to each server; those beyond the last that is a destination have none.
fn by_server(flows: &Flows) -> Vec<u64> {
    let servers = flows.dst.iter().map(|dst| dst.index() + 1).max();
    let mut heard = vec![0; servers.unwrap_or(0)];
    for (dst, &bytes) in flows.dst.iter().zip(&flows.delivered) {
        heard[dst.index()] += bytes;
    }
    heard
}
