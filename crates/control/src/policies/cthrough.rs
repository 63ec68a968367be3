//! c-Through's optical configuration manager (Wang et al., SIGCOMM 2010, §4.1): a
//! maximum-weight perfect matching of the racks by the demand between them.
//!
//! Racks whose optical port is broken are left out. Racks without demand for each other are
//! connected as configured; the paper does not define this case. Several circuits per rack are not
//! modelled.

use super::{Decides, Entry, PolicyConfig, Usual};
use crate::algorithms::matching::{maximum_weight_perfect, Hysteresis, Matching, Weights};
use crate::circuits::Circuits;
use crate::demand::Matrix;
use crate::hardware::Hardware;
use crate::order::Order;
use crate::policy::{Demand, Evidence, Policy, SwitchView, Target};
use lightloom_engine::{Bytes, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Its entry in the registry.
pub const ENTRY: Entry = Entry {
    kind: "cthrough",
    aliases: &["edmonds"],
    source: "Wang et al., c-Through: Part-time Optics in Data Centers, SIGCOMM 2010, §4.1",
    summary: "The perfect matching with the most demand, both directions together. All circuits \
              are dark during a change.",
    decides: Decides::Circuits,
    obeys_rules: false,
    usual: Usual::MATCHING,
    schema: super::schema::<CThroughPolicy>,
    resolve: super::resolve::<CThroughPolicy>,
    for_demand: super::for_demand::<CThroughPolicy>,
    build: super::build::<CThroughPolicy>,
};

/// Connects each rack to one other, so that the circuits carry the most demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CThroughPolicy {
    /// Treatment of racks without reported demand. A perfect matching also connects them; the paper
    /// does not define how.
    pub unrequested: Unrequested,
    /// Bonus of a lit circuit, added to its demand when the next matching is chosen [B]. Default 0
    /// B: lit circuits are preferred only among matchings of equal demand. With a larger bonus,
    /// racks that take turns keep their circuits for longer and are dark less often. At most 1 TB.
    pub hysteresis: Bytes,
}

impl Default for CThroughPolicy {
    fn default() -> CThroughPolicy {
        CThroughPolicy {
            unrequested: Unrequested::Rotate,
            hysteresis: Bytes(0),
        }
    }
}

/// Treatment of racks without reported demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unrequested {
    /// Racks take turns, so that queues too short to be reported are served, too (default).
    Rotate,
    /// Racks keep their circuits, and the other racks are connected in numerical order, so that no
    /// circuit goes dark for them.
    Keep,
    /// The racks have no circuit.
    Alone,
}

/// The largest hysteresis, and the largest demand that an estimate counts for a pair; it keeps the
/// sums of weights in range [B].
pub const BYTES_MAX: u64 = 1_000_000_000_000;

impl PolicyConfig for CThroughPolicy {
    fn check(&self, hardware: &Hardware) -> Result<(), Refusal> {
        hardware.require_one_port("cthrough")?;
        if self.hysteresis.0 > BYTES_MAX {
            let limit = "must be at most 1 TB";
            let key = "policy.hysteresis";
            return Err(Refusal::new(key, self.hysteresis, limit, "lower it"));
        }
        Ok(())
    }

    fn build(self, _: &Hardware) -> Box<dyn Policy> {
        Box::new(Manager::new(self))
    }
}

/// The manager.
#[derive(Clone, Debug)]
pub struct Manager {
    config: CThroughPolicy,
    decisions: u64,
    /// The last matching by demand, and the weights for which it is optimal.
    last: Option<(Matching, Weights)>,
}

/// The rack with which each rack is connected.
type Mates = Vec<Option<u32>>;

impl Manager {
    /// A manager from a checked table.
    pub fn new(config: CThroughPolicy) -> Manager {
        Manager {
            config,
            decisions: 0,
            last: None,
        }
    }

    /// Connects the racks of the best matching that have demand for each other.
    fn match_demand(&mut self, seen: &Demand, switch: &SwitchView) -> Result<Mates, Refusal> {
        let weights = match switch.works.iter().all(|&w| w) {
            true => Weights::symmetrise(&seen.bytes),
            false => Weights::symmetrise(&of_those_that_work(&seen.bytes, switch.works)),
        }
        .map_err(of_demand)?;
        let hysteresis = match self.config.hysteresis.0 {
            0 => Hysteresis::Ties,
            bytes => Hysteresis::Bonus(bytes as i64),
        };
        let weights = { weights.favour(&switch.lit.pairs(), hysteresis) }.map_err(of_demand)?;
        let matching = maximum_weight_perfect(&weights);
        let mut mates = vec![None; weights.n()];
        for (a, b) in matching.pairs() {
            let (a, b) = (a as usize, b as usize);
            let wanted = seen.bytes.get(a, b) + seen.bytes.get(b, a) > 0;
            if wanted && switch.works[a] && switch.works[b] {
                join(a as u32, b as u32, &mut mates);
            }
        }
        self.last = Some((matching, weights));
        Ok(mates)
    }
}

impl Policy for Manager {
    fn decide(&mut self, seen: &Demand, switch: &SwitchView) -> Result<Target, Refusal> {
        self.decisions += 1;
        self.last = None;
        let racks = switch.hardware.racks;
        let mut mates = match seen.bytes.is_zero() {
            true => vec![None; racks as usize],
            false => self.match_demand(seen, switch)?,
        };
        let is_free = |&rack: &u32| mates[rack as usize].is_none() && switch.works[rack as usize];
        let free: Vec<u32> = (0..racks).filter(is_free).collect();
        match self.config.unrequested {
            Unrequested::Rotate => join_in_turn(&free, self.decisions, &mut mates),
            Unrequested::Keep => keep_joined(&free, switch.lit, &mut mates),
            Unrequested::Alone => {}
        }
        let pairs = mates.iter().zip(0u32..);
        let pairs = pairs.filter_map(|(&mate, rack)| Some((rack, mate?)));
        Ok(Target::direct(Circuits::both_ways(
            pairs.filter(|&(rack, mate)| rack < mate),
        )))
    }

    fn order(&self) -> Order {
        Order::ALL_DARK
    }

    fn evidence(&self) -> Option<Evidence<'_>> {
        let (matching, weights) = self.last.as_ref()?;
        Some(Evidence::Matching { matching, weights })
    }
}

/// The refusal for a weight, with the demands whose sum it is.
fn of_demand(refusal: Refusal) -> Refusal {
    let entry = refusal
        .key
        .strip_prefix("weights[")
        .and_then(|k| k.strip_suffix(']'));
    let Some((a, b)) = entry.and_then(|ends| ends.split_once("][")) else {
        return refusal;
    };
    Refusal {
        key: format!("demand[{a}][{b}] + demand[{b}][{a}]"),
        ..refusal
    }
}

fn join(a: u32, b: u32, mates: &mut Mates) {
    mates[a as usize] = Some(b);
    mates[b as usize] = Some(a);
}

fn of_those_that_work(demand: &Matrix, works: &[bool]) -> Matrix {
    let mut rest = Matrix::zeros(demand.n());
    for (a, b, bytes) in demand.entries().filter(|&(a, b, _)| works[a] && works[b]) {
        rest.set(a, b, bytes);
    }
    rest
}

/// Connects the racks by round `turn` of a round-robin tournament.
fn join_in_turn(free: &[u32], turn: u64, mates: &mut Mates) {
    let all = free.len() + free.len() % 2;
    if all < 2 {
        return;
    }
    let round = (turn % (all as u64 - 1)) as usize;
    // The last rack keeps its place and meets the one in the middle.
    let seat = |k: usize| (round + k) % (all - 1);
    let others = (1..all / 2).map(|k| (seat(k), seat(all - 1 - k)));
    for (a, b) in others.chain([(seat(0), all - 1)]) {
        if let (Some(&a), Some(&b)) = (free.get(a), free.get(b)) {
            join(a, b, mates);
        }
    }
}

/// Keeps circuits between free racks; the remaining free racks are connected in order.
fn keep_joined(free: &[u32], lit: &Circuits, mates: &mut Mates) {
    let is_free = |rack: u32| free.binary_search(&rack).is_ok();
    for circuit in lit.iter().filter(|c| is_free(c.a) && is_free(c.b)) {
        join(circuit.a, circuit.b, mates);
    }
    let alone = |rack: &&u32| mates[**rack as usize].is_none();
    let rest: Vec<u32> = free.iter().filter(alone).copied().collect();
    for pair in rest.chunks_exact(2) {
        join(pair[0], pair[1], mates);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{Rate, Stream, Time};

    fn manager(unrequested: Unrequested, hysteresis: u64) -> Manager {
        Manager::new(CThroughPolicy {
            unrequested,
            hysteresis: Bytes(hysteresis),
        })
    }

    /// The connected racks after a decision, given the present circuits and the working ports.
    fn decide(manager: &mut Manager, bytes: Matrix, lit: &[(u32, u32)], works: &[bool]) -> Mates {
        let lit = Circuits::both_ways(lit.iter().copied());
        let hardware = Hardware::new(works.len() as u32, 1, Rate::GBPS);
        let view = SwitchView {
            hardware,
            lit: &lit,
            works,
            slots: None,
        };
        let seen = Demand {
            bytes,
            over: Time::S,
        };
        let target = manager.decide(&seen, &view).unwrap();
        target.check(&view).unwrap();
        let Target::Network { circuits, .. } = target else {
            panic!("circuits that stay");
        };
        let mut mates = vec![None; works.len()];
        circuits.iter().for_each(|c| join(c.a, c.b, &mut mates));
        mates
    }

    fn demand(n: usize, entries: &[(usize, usize, i64)]) -> Matrix {
        let mut demand = Matrix::zeros(n);
        entries
            .iter()
            .for_each(|&(a, b, bytes)| demand.set(a, b, bytes));
        demand
    }

    fn pairs(mates: &Mates) -> Vec<(u32, u32)> {
        let all = mates.iter().zip(0u32..);
        { all }
            .filter_map(|(mate, rack)| mate.filter(|&m| rack < m).map(|m| (rack, m)))
            .collect()
    }

    /// The weight of the best matching, by trying all matchings.
    fn best(weight: &dyn Fn(usize, usize) -> i64, free: &[usize]) -> i64 {
        let [first, rest @ ..] = free else { return 0 };
        let without = best(weight, rest);
        let with = rest.iter().map(|&mate| {
            let left: Vec<usize> = rest.iter().copied().filter(|&r| r != mate).collect();
            weight(*first, mate) + best(weight, &left)
        });
        with.max().unwrap_or(0).max(without)
    }

    #[test]
    fn no_matching_carries_more() {
        let mut rng = Stream::new(1, "demand", 0);
        for case in 0..200 {
            let n = 2 + case % 7;
            let mut d = Matrix::zeros(n);
            let mut works = vec![true; n];
            works[rng.below(n as u32) as usize] = case % 3 > 0;
            for a in 0..n {
                for b in (0..n).filter(|&b| b != a) {
                    d.set(a, b, rng.below(9) as i64);
                }
            }
            let mut manager = manager(Unrequested::Keep, 0);
            let mates = decide(&mut manager, d.clone(), &[], &works);
            let weight = |a: usize, b: usize| d.get(a, b) + d.get(b, a);
            let total: i64 = pairs(&mates)
                .iter()
                .map(|&(a, b)| weight(a as usize, b as usize))
                .sum();
            let free: Vec<usize> = (0..n).filter(|&r| works[r]).collect();
            assert_eq!(total, best(&weight, &free), "{d:?}");
            // A matching that is perfect on the working racks.
            assert!((0..n).all(|r| works[r] || mates[r].is_none()));
            let alone = free.iter().filter(|&&r| mates[r].is_none()).count();
            assert_eq!(alone, free.len() % 2);
        }
    }

    /// Both directions count: 6 + 6 beats 10.
    #[test]
    fn demand_is_symmetrised() {
        let d = demand(4, &[(0, 1, 10), (0, 2, 6), (2, 0, 6)]);
        for (unrequested, joined) in [
            (Unrequested::Keep, vec![(0, 2), (1, 3)]),
            (Unrequested::Alone, vec![(0, 2)]),
        ] {
            let mates = decide(&mut manager(unrequested, 0), d.clone(), &[], &[true; 4]);
            assert_eq!(pairs(&mates), joined);
        }
    }

    #[test]
    fn everybody_without_demand_meets_everybody() {
        for n in [2usize, 3, 4, 5, 8] {
            let mut manager = manager(Unrequested::Rotate, 0);
            let mut met = vec![0; n * n];
            for _ in 0..n + n % 2 - 1 {
                let mates = decide(&mut manager, Matrix::zeros(n), &[], &vec![true; n]);
                for (a, b) in pairs(&mates) {
                    met[a as usize * n + b as usize] += 1;
                }
            }
            let all = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
            assert!(
                all.clone().all(|(a, b)| met[a * n + b] == (a < b) as u32),
                "{n}: {met:?}"
            );
        }
    }

    #[test]
    fn without_demand_circuits_may_stay() {
        let mut manager = manager(Unrequested::Keep, 0);
        let mates = decide(&mut manager, Matrix::zeros(5), &[(0, 3)], &[true; 5]);
        assert_eq!(pairs(&mates), [(0, 3), (1, 2)]);
    }

    #[test]
    fn only_more_than_the_bonus_moves_a_circuit() {
        let joined = [(0, 1), (2, 3)];
        for (bonus, gain, moves) in [
            (0, 0, false),
            (0, 1, true),
            (50, 99, false),
            (50, 101, true),
        ] {
            let d = demand(
                4,
                &[(0, 1, 500), (2, 3, 500), (0, 2, 500 + gain), (1, 3, 500)],
            );
            let mut manager = manager(Unrequested::Keep, bonus);
            let mates = decide(&mut manager, d, &joined, &[true; 4]);
            assert_eq!(pairs(&mates) != joined, moves, "bonus {bonus}, gain {gain}");
        }
    }
}
