//! The optical configuration manager (§4.1): a maximum-weight perfect matching of
//! the racks by the demand between them.
//!
//! It is the matching of [`lightloom_control::matching`], which `lightloom plan`
//! and real controllers call, too. Racks whose optical port is broken are left
//! out. Racks for which nobody has reported demand are joined as configured.

use super::config::Unrequested;
use lightloom_control::demand::Matrix;
use lightloom_control::matching::{maximum_weight_perfect, Hysteresis, Weights};

/// The rack has no circuit.
pub use lightloom_control::matching::ALONE;

/// Decides who is joined with whom.
#[derive(Clone, Debug)]
pub struct Manager {
    hysteresis: Hysteresis,
    unrequested: Unrequested,
    decisions: u64,
}

impl Manager {
    /// Circuits that are up count `bonus` bytes more; 0 breaks ties alone.
    pub fn new(bonus: u64, unrequested: Unrequested) -> Manager {
        Manager {
            hysteresis: match bonus {
                0 => Hysteresis::Ties,
                bytes => Hysteresis::Bonus(bytes as i64),
            },
            unrequested,
            decisions: 0,
        }
    }

    /// The rack that each rack is to be joined with, [`ALONE`] for none, given
    /// those that are joined now and whose ports work.
    pub fn decide(&mut self, demand: &Matrix, joined: &[u32], works: &[bool]) -> Vec<u32> {
        self.decisions += 1;
        let mut mates = vec![ALONE; joined.len()];
        if !demand.is_zero() {
            self.match_demand(demand, joined, works, &mut mates);
        }
        let free = |rack: &u32| mates[*rack as usize] == ALONE && works[*rack as usize];
        let free: Vec<u32> = (0..joined.len() as u32).filter(free).collect();
        match self.unrequested {
            Unrequested::Rotate => join_in_turn(&free, self.decisions, &mut mates),
            Unrequested::Keep => keep_joined(&free, joined, &mut mates),
        }
        mates
    }

    /// Joins the racks of the best matching that have demand for each other.
    fn match_demand(&self, demand: &Matrix, joined: &[u32], works: &[bool], mates: &mut [u32]) {
        let weights = match works.iter().all(|&w| w) {
            true => Weights::symmetrise(demand),
            false => Weights::symmetrise(&of_those_that_work(demand, works)),
        };
        let weights = weights.expect("estimates are in range");
        let up: Vec<(u32, u32)> = pairs(joined).collect();
        let favoured = weights.favour(&up, self.hysteresis);
        let matching = maximum_weight_perfect(&favoured.expect("circuits are a matching"));
        for (a, b) in matching.pairs() {
            if weights.get(a as usize, b as usize) > 0 {
                join(a, b, mates);
            }
        }
    }
}

/// The pairs of a table of mates, the lower number first.
pub fn pairs(mates: &[u32]) -> impl Iterator<Item = (u32, u32)> + '_ {
    let all = mates.iter().enumerate().map(|(a, &b)| (a as u32, b));
    all.filter(|&(a, b)| b != ALONE && a < b)
}

fn join(a: u32, b: u32, mates: &mut [u32]) {
    mates[a as usize] = b;
    mates[b as usize] = a;
}

fn of_those_that_work(demand: &Matrix, works: &[bool]) -> Matrix {
    let mut rest = Matrix::zeros(demand.n());
    for (a, b, bytes) in demand.entries().filter(|&(a, b, _)| works[a] && works[b]) {
        rest.set(a, b, bytes);
    }
    rest
}

/// Round `turn` of a tournament in which everybody meets everybody.
fn join_in_turn(free: &[u32], turn: u64, mates: &mut [u32]) {
    let all = free.len() + free.len() % 2;
    if all < 2 {
        return;
    }
    let round = (turn % (all as u64 - 1)) as usize;
    // The last stays in its place and meets the one in the middle.
    let seat = |k: usize| (round + k) % (all - 1);
    let others = (1..all / 2).map(|k| (seat(k), seat(all - 1 - k)));
    for (a, b) in others.chain([(seat(0), all - 1)]) {
        if let (Some(&a), Some(&b)) = (free.get(a), free.get(b)) {
            join(a, b, mates);
        }
    }
}

/// Circuits between the free stay; who has none is joined in order.
fn keep_joined(free: &[u32], joined: &[u32], mates: &mut [u32]) {
    let is_free = |rack: u32| free.binary_search(&rack).is_ok();
    for (a, b) in pairs(joined).filter(|&(a, b)| is_free(a) && is_free(b)) {
        join(a, b, mates);
    }
    let alone = |rack: &&u32| mates[**rack as usize] == ALONE;
    let rest: Vec<u32> = free.iter().filter(alone).copied().collect();
    for pair in rest.chunks_exact(2) {
        join(pair[0], pair[1], mates);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::Stream;

    const NONE: &[u32] = &[ALONE; 16];

    fn manager(unrequested: Unrequested) -> Manager {
        Manager::new(0, unrequested)
    }

    fn demand(n: usize, entries: &[(usize, usize, i64)]) -> Matrix {
        let mut demand = Matrix::zeros(n);
        entries
            .iter()
            .for_each(|&(a, b, bytes)| demand.set(a, b, bytes));
        demand
    }

    /// The heaviest matching by trying all.
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
            let mut manager = manager(Unrequested::Keep);
            let mates = manager.decide(&d, &vec![ALONE; n], &works);
            let weight = |a: usize, b: usize| d.get(a, b) + d.get(b, a);
            let total: i64 = pairs(&mates)
                .map(|(a, b)| weight(a as usize, b as usize))
                .sum();
            let free: Vec<usize> = (0..n).filter(|&r| works[r]).collect();
            assert_eq!(total, best(&weight, &free), "{d:?}");
            // A matching, and a perfect one of those that work.
            let joined = |r: usize| mates[r] != ALONE;
            assert!((0..n).all(|r| !joined(r) || mates[mates[r] as usize] == r as u32));
            assert!((0..n).all(|r| works[r] || !joined(r)));
            assert_eq!(free.iter().filter(|&&r| !joined(r)).count(), free.len() % 2);
        }
    }

    /// Both directions count: 6 + 6 beats 10.
    #[test]
    fn demand_is_symmetrised() {
        let d = demand(4, &[(0, 1, 10), (0, 2, 6), (2, 0, 6)]);
        let mates = manager(Unrequested::Keep).decide(&d, &NONE[..4], &[true; 4]);
        assert_eq!(mates, [2, 3, 0, 1]);
    }

    #[test]
    fn everybody_without_demand_meets_everybody() {
        for n in [2usize, 3, 4, 5, 8] {
            let mut manager = manager(Unrequested::Rotate);
            let mut met = vec![0; n * n];
            for _ in 0..n + n % 2 - 1 {
                let mates = manager.decide(&Matrix::zeros(n), &NONE[..n], &vec![true; n]);
                pairs(&mates).for_each(|(a, b)| met[a as usize * n + b as usize] += 1);
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
        let joined = [3, ALONE, ALONE, 0, ALONE];
        let mates = manager(Unrequested::Keep).decide(&Matrix::zeros(5), &joined, &[true; 5]);
        assert_eq!(mates, [3, 2, 1, 0, ALONE]);
    }

    #[test]
    fn only_more_than_the_bonus_moves_a_circuit() {
        let joined = [1, 0, 3, 2];
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
            let mut manager = Manager::new(bonus, Unrequested::Keep);
            let mates = manager.decide(&d, &joined, &[true; 4]);
            assert_eq!(mates != joined, moves, "bonus {bonus}, gain {gain}");
        }
    }
}
