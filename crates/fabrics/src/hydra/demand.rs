//! Step 1 of the control cycle (§III.B): what racks want of each other.
//!
//! Either applications say what they still have to send, or the controller
//! watches what is carried. What is carried over a congested tree says little of
//! what would be sent over a circuit: that is a limit of monitoring, not of the
//! model.
//!
//! Reports take no time and no bandwidth.

use super::config::{DemandFrom, Need};
use lightloom_control::multihop::Demand;
use lightloom_engine::{FlowId, Rate, Time};
use std::collections::BTreeMap;

/// Bytes that racks have for each other, by pair (a < b), there and back.
pub type Between = BTreeMap<(u32, u32), [u64; 2]>;

/// Adds what rack `from` has for rack `to`.
pub fn add(between: &mut Between, from: u32, to: u32, bytes: u64) {
    if from == to || bytes == 0 {
        return;
    }
    let both = between.entry((from.min(to), from.max(to))).or_default();
    both[(from > to) as usize] += bytes;
}

/// What flows have sent since the cycle before, if demand is monitored.
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    /// What each flow had left at the cycle before.
    left: Vec<u64>,
    /// By flows that are complete.
    closed: Between,
}

impl Monitor {
    /// For as many flows.
    pub fn new(flows: usize) -> Monitor {
        Monitor {
            left: vec![0; flows],
            closed: Between::new(),
        }
    }

    /// A flow begins with so many bytes.
    pub fn begin(&mut self, flow: FlowId, bytes: u64) {
        self.left[flow.index()] = bytes;
    }

    /// A flow between two racks has sent its last byte.
    pub fn end(&mut self, flow: FlowId, from: u32, to: u32) {
        add(&mut self.closed, from, to, self.left[flow.index()]);
    }

    /// What complete flows have carried since the cycle before.
    pub fn closed(&mut self) -> Between {
        std::mem::take(&mut self.closed)
    }

    /// What an open flow that has `left` bytes has sent since the cycle before.
    pub fn sent(&mut self, flow: FlowId, left: u64) -> u64 {
        let before = std::mem::replace(&mut self.left[flow.index()], left);
        before - left
    }
}

/// How bytes become demands for paths.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Announced or monitored.
    pub from: DemandFrom,
    /// What a path reserves.
    pub need: Need,
    /// Bytes below which a pair stays electrical.
    pub threshold: u64,
    /// The time over which bytes are spread.
    pub interval: Time,
    /// What a circuit carries.
    pub circuit: Rate,
    /// Most paths of a pair.
    pub planes: u32,
}

impl Rule {
    /// The demands of all pairs above the threshold, in the order of the racks. A
    /// pair that needs more than a circuit carries has several, of equal parts.
    pub fn demands(&self, between: &Between) -> Vec<Demand> {
        let mut demands = Vec::new();
        for (&(a, b), both) in between {
            let bytes = both[0] + both[1];
            if bytes == 0 || bytes < self.threshold {
                continue;
            }
            let need = self.need(both[0].max(both[1]));
            let fill = (need as u64).div_ceil(self.circuit.0);
            let paths = fill.clamp(1, self.planes as u64) as i64;
            let demand = Demand {
                a,
                b,
                weight: (bytes as i64 / paths).max(1),
                need: (need / paths).clamp(1, self.circuit.0 as i64),
            };
            demands.extend((0..paths).map(|_| demand));
        }
        demands
    }

    /// [b/s].
    fn need(&self, bytes: u64) -> i64 {
        match self.need {
            Need::Circuit => self.circuit.0 as i64,
            Need::Rate => {
                let bits = bytes as i128 * 8 * Time::S.0 as i128 / self.interval.0 as i128;
                i64::try_from(bits).unwrap_or(i64::MAX)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(need: Need) -> Rule {
        Rule {
            from: DemandFrom::Announced,
            need,
            threshold: 1_000,
            interval: Time::S,
            circuit: Rate(1_000_000),
            planes: 3,
        }
    }

    #[test]
    fn a_pair_asks_for_as_many_paths_as_it_could_fill() {
        let mut between = Between::new();
        add(&mut between, 1, 0, 100_000); // 0.8 Mb/s
        add(&mut between, 0, 1, 20_000);
        add(&mut between, 0, 2, 250_000); // 2 Mb/s
        add(&mut between, 3, 2, 9_000_000); // 72 Mb/s, three planes
        add(&mut between, 3, 3, 9_000_000); // within a rack
        add(&mut between, 1, 3, 999); // below the threshold
        let demands = rule(Need::Rate).demands(&between);
        let shown: Vec<_> = demands
            .iter()
            .map(|d| (d.a, d.b, d.weight, d.need))
            .collect();
        assert_eq!(
            shown,
            [
                (0, 1, 120_000, 800_000),
                (0, 2, 125_000, 1_000_000),
                (0, 2, 125_000, 1_000_000),
                (2, 3, 3_000_000, 1_000_000),
                (2, 3, 3_000_000, 1_000_000),
                (2, 3, 3_000_000, 1_000_000),
            ]
        );
        let whole = rule(Need::Circuit).demands(&between);
        assert_eq!(whole.len(), 3);
        assert!(whole.iter().all(|d| d.need == 1_000_000));
    }

    #[test]
    fn a_monitor_counts_what_went_since_it_looked_last() {
        let mut monitor = Monitor::new(2);
        monitor.begin(FlowId(0), 100);
        monitor.begin(FlowId(1), 50);
        assert_eq!(monitor.sent(FlowId(0), 70), 30);
        assert_eq!(monitor.sent(FlowId(0), 70), 0);
        assert_eq!(monitor.sent(FlowId(1), 20), 30);
        monitor.end(FlowId(1), 4, 2);
        assert_eq!(monitor.closed(), Between::from([((2, 4), [0, 20])]));
        assert_eq!(monitor.closed(), Between::new());
    }
}
