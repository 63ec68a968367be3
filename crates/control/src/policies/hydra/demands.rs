//! The end of step 1 of the control cycle (§III.B): bytes between racks become demands for paths.

use super::Need;
use crate::algorithms::multihop::Demand;
use crate::demand::Matrix;
use lightloom_engine::{Rate, Time};

/// The rule that turns bytes into demands for paths.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The capacity that a path reserves.
    pub need: Need,
    /// Bytes below which a pair stays electrical.
    pub threshold: u64,
    /// Rate of a circuit.
    pub circuit: Rate,
    /// The largest number of paths of a pair.
    pub most_paths: u32,
}

impl Rule {
    /// The demands of all pairs above the threshold, in the order of the racks, for bytes that are
    /// to be carried within `over`. A pair that needs more than one circuit has several demands of
    /// equal size.
    pub fn demands(&self, bytes: &Matrix, over: Time) -> Vec<Demand> {
        let racks = bytes.n();
        let mut demands = Vec::new();
        for a in 0..racks {
            for b in a + 1..racks {
                let (there, back) = (bytes.get(a, b), bytes.get(b, a));
                if there | back != 0 {
                    self.ask(
                        a as u32,
                        b as u32,
                        [there as u64, back as u64],
                        over,
                        &mut demands,
                    );
                }
            }
        }
        demands
    }

    fn ask(&self, a: u32, b: u32, both: [u64; 2], over: Time, demands: &mut Vec<Demand>) {
        let bytes = both[0] + both[1];
        if bytes < self.threshold {
            return;
        }
        let need = self.need(both[0].max(both[1]), over);
        let fill = (need as u64).div_ceil(self.circuit.0);
        let paths = fill.clamp(1, self.most_paths as u64) as i64;
        let demand = Demand {
            a,
            b,
            weight: (bytes as i64 / paths).max(1),
            need: (need / paths).clamp(1, self.circuit.0 as i64),
        };
        demands.extend((0..paths).map(|_| demand));
    }

    /// The needed rate [b/s].
    fn need(&self, bytes: u64, over: Time) -> i64 {
        match self.need {
            Need::Circuit => self.circuit.0 as i64,
            Need::Rate => {
                let bits = bytes as i128 * 8 * Time::S.0 as i128 / over.0 as i128;
                i64::try_from(bits).unwrap_or(i64::MAX)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(need: Need, most_paths: u32) -> Rule {
        Rule {
            need,
            threshold: 1_000,
            circuit: Rate(1_000_000),
            most_paths,
        }
    }

    #[test]
    fn a_pair_asks_for_as_many_paths_as_it_could_fill() {
        let mut bytes = Matrix::zeros(4);
        bytes.set(1, 0, 100_000); // 0.8 Mb/s
        bytes.set(0, 1, 20_000);
        bytes.set(0, 2, 250_000); // 2 Mb/s
        bytes.set(3, 2, 9_000_000); // 72 Mb/s, three planes
        bytes.set(1, 3, 999); // below the threshold
        let demands = |rule: Rule| -> Vec<_> {
            let demands = rule.demands(&bytes, Time::S).into_iter();
            demands.map(|d| (d.a, d.b, d.weight, d.need)).collect()
        };
        assert_eq!(
            demands(rule(Need::Rate, 3)),
            [
                (0, 1, 120_000, 800_000),
                (0, 2, 125_000, 1_000_000),
                (0, 2, 125_000, 1_000_000),
                (2, 3, 3_000_000, 1_000_000),
                (2, 3, 3_000_000, 1_000_000),
                (2, 3, 3_000_000, 1_000_000),
            ]
        );
        assert_eq!(
            demands(rule(Need::Rate, 1))[1..],
            [(0, 2, 250_000, 1_000_000), (2, 3, 9_000_000, 1_000_000)]
        );
        let whole = demands(rule(Need::Circuit, 3));
        assert_eq!(whole.len(), 3);
        assert!(whole.iter().all(|d| d.3 == 1_000_000));
    }
}
