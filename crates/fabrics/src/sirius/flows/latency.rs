//! The time from the last byte that a flow sends at its rate to the arrival of that byte.
//!
//! Cells wait for the next epoch, in which they are requested; their grants arrive two lags later
//! (§4.3, A.3). A cell then waits for the slot to its intermediate, and there for the slot to its
//! destination. Each of these waiting times is uniformly distributed over a gap of N/U slots. If n
//! cells use different intermediates, the last one arrives after the largest of n sums of two such
//! times. This largest sum is drawn once for each flow. Its distribution is F(x) = x²/2 of two gaps
//! up to the first, 1 − (2 − x)²/2 beyond, and the largest of n has Fⁿ.
//!
//! A flow of more than N cells is requested in several epochs. In each of these epochs, one cell is
//! relayed by its own source and one by its destination: both use the direct link, which carries
//! one cell per gap, so a queue builds up there. If this queue is longer than two gaps, its last
//! cell is the last of the flow. Q bounds the queue; if only Q limits the flow, there is no queue.

use super::capacity::Capacity;
use crate::sirius::config::{Derived, Intermediates, SiriusConfig};
use lightloom_engine::{FlowId, Rate, Stream, Time};

/// The way in which the cells of a flow reach their rack.
#[derive(Clone, Copy, Debug)]
pub enum CellArrivals {
    /// All cells at the arrival of the flow.
    AtOnce(Time),
    /// One after the other over the link of their server, and the time of the last.
    OfServer {
        /// Rate of the link.
        rate: Rate,
        /// Time at which the last byte has left.
        done: Time,
    },
}

/// Latencies that follow from the schedule.
#[derive(Clone, Debug)]
pub struct Latency {
    seed: u64,
    nodes: u64,
    cell: u64,
    slot: Time,
    /// Slots of an epoch, as a fraction.
    epoch: (i64, i64),
    /// Time from a request to the acceptance of its grant, and the flights of both hops.
    protocol: Time,
    /// Between two meetings of a pair, on average.
    gap: Time,
    /// The longest queue at the direct link, as a time.
    line: Time,
}

impl Latency {
    /// The latencies for a table that has been completed.
    pub fn new(
        config: &SiriusConfig,
        derived: &Derived,
        capacity: &Capacity,
        seed: u64,
    ) -> Latency {
        let (slots, of) = derived.epoch;
        let nodes = derived.schedule.nodes() as i64;
        let epoch = config.slot * slots / of;
        let gap = config.slot * nodes / derived.uplinks as i64;
        // There is a queue only if grants (Q cells of each node) allow more than half of the
        // sending rate.
        let lasts = capacity.received(Rate(0)).0 * 2 > capacity.sent(Rate(0)).0;
        let line = match config.intermediates {
            Intermediates::All if lasts => gap * (4 * config.queue as i64 - 5) / 2,
            _ => Time::ZERO,
        };
        Latency {
            seed,
            nodes: nodes as u64,
            cell: derived.cell,
            slot: config.slot,
            epoch: derived.epoch,
            protocol: epoch * 2 * derived.lag(config) + config.crossing() * 2,
            gap,
            line,
        }
    }

    /// The approximate time from a request until the granted cells have arrived as second hops.
    pub fn round_trip(&self) -> Time {
        self.protocol + self.gap * 2
    }

    /// The time by which a flow of `bytes` finishes later than its rate alone gives.
    pub fn behind(&self, flow: FlowId, bytes: u64, pace: CellArrivals) -> Time {
        let cells = bytes.div_ceil(self.cell);
        let draw = Stream::new(self.seed, "sirius.flows", flow.index() as u64).unit();
        match pace {
            CellArrivals::AtOnce(arrival) => {
                let rounds = (cells - 1) / self.nodes;
                let last = cells - rounds * self.nodes;
                let behind = self
                    .last_of(rounds, last, draw)
                    .max(self.line_of(rounds, last));
                // The rate itself accounts for the cells that the last of the epochs has sent.
                self.asked(arrival) + self.protocol + behind - self.epochs(last)
            }
            CellArrivals::OfServer { rate, done } => {
                let asked = self.asked(done);
                // Cells that arrive in the same epoch are requested with the last.
                let since = (self.epochs(self.nodes) - asked).max(Time::ZERO);
                let cells = cells.min(1 + rate.bytes_in(since) / self.cell);
                asked + self.protocol + self.meetings(cells.min(self.nodes), draw)
            }
        }
    }

    /// Arrival of the last cell, measured from the last grants: either a cell of these grants, or
    /// one of the N cells of the epoch before.
    fn last_of(&self, rounds: u64, last: u64, draw: f64) -> Time {
        let those = self.meetings(last, draw);
        match rounds {
            0 => those,
            _ => those.max(self.meetings(self.nodes, draw) - self.epochs(self.nodes)),
        }
    }

    /// Departure of the last cell of the queue at the direct link, measured from the last grants.
    fn line_of(&self, rounds: u64, last: u64) -> Time {
        let twice = self.gap * 2 * rounds as i64 + self.gap * 2 * last as i64 / self.nodes as i64;
        let left = twice - self.gap / 2 - self.epochs(rounds * self.nodes);
        left.min(self.line) + self.slot
    }

    /// The time that a source needs for this number of cells, at N per epoch.
    fn epochs(&self, cells: u64) -> Time {
        let (slots, of) = (self.epoch.0 as i128, self.epoch.1 as i128);
        let time = cells as i128 * slots * self.slot.0 as i128 / (of * self.nodes as i128);
        Time(time as i64)
    }

    /// Time until the next epoch begins.
    fn asked(&self, at: Time) -> Time {
        let (slots, of) = (self.epoch.0 as i128, self.epoch.1 as i128);
        let slot = at.div_ceil(self.slot) as i128;
        let epoch = (slot * of + slots - 1).div_euclid(slots);
        let start = (epoch * slots + of - 1).div_euclid(of);
        Time((start * self.slot.0 as i128 - at.0 as i128) as i64)
    }

    /// Time until the last of `cells` has arrived over two hops: the smallest time whose
    /// probability is at least `draw`.
    fn meetings(&self, cells: u64, draw: f64) -> Time {
        let (mut low, mut high) = (0, 2 * self.gap.0);
        while low < high {
            let middle = low + (high - low) / 2;
            let gaps = middle as f64 / self.gap.0 as f64;
            let earlier = match gaps < 1.0 {
                true => gaps * gaps / 2.0,
                false => 1.0 - (2.0 - gaps) * (2.0 - gaps) / 2.0,
            };
            if power(earlier, cells) < draw {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Time(low) + self.slot
    }
}

/// Computes a power by products only, whose results are the same on every machine.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut product = 1.0;
    while exponent > 0 {
        if exponent % 2 == 1 {
            product *= base;
        }
        base *= base;
        exponent /= 2;
    }
    product
}
