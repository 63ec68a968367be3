//! The greedy search: again and again the day and the matching that carry most for their
//! time, candidates in order of what they can carry at most.

use super::bounds::{grid, Candidate};
use super::fit::{Ratio, Terms};
use super::Options;
use crate::algorithms::assignment::{Assignment, Solver, Weights};
use crate::demand::Matrix;
use crate::schedule::{Frame, Slot};
use lightloom_engine::{Refusal, Time};

/// What might be lit next.
struct Choice {
    ratio: Ratio,
    day: Time,
    what: What,
}

enum What {
    /// A slot, by index, for a day more.
    Longer(usize),
    /// A permutation, after a night.
    New(Vec<u32>),
}

/// What is known of a candidate in this step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// A bound from the step before.
    Old,
    /// A bound by the largest entries of lines.
    Rough,
    /// A bound by the prices of its neighbour.
    Priced,
    /// The best matching.
    Solved,
}

/// The greedy search for a schedule.
pub(super) struct Search<'a> {
    options: &'a Options,
    n: usize,
    left: Vec<i64>,
    /// From short to long.
    grid: Vec<Candidate>,
    /// For each day of the grid that was solved, the columns' potentials then.
    prices: Vec<Vec<i64>>,
    solver: Solver,
    pub(super) slots: Vec<Slot>,
    /// Of the window, after the slots.
    remaining: Time,
    pub(super) covered: i64,
    pub(super) upper_bound: i64,
}

impl<'a> Search<'a> {
    pub(super) fn new(demand: &Matrix, options: &'a Options) -> Search<'a> {
        let grid = grid(demand, options);
        Search {
            options,
            n: demand.n(),
            left: demand.cells().to_vec(),
            prices: vec![Vec::new(); grid.len()],
            grid,
            solver: Solver::new(),
            slots: Vec::new(),
            remaining: options.frame.period,
            covered: 0,
            upper_bound: demand.total(),
        }
    }

    pub(super) fn run(&mut self) -> Result<(), Refusal> {
        loop {
            let choice = self.choose()?;
            self.bound();
            match choice {
                Some(choice) => self.light(choice),
                None => return Ok(()),
            }
        }
    }

    /// No matching carries more than the largest entry of every row, or column,
    /// that still fits the day.
    fn limit_to_lines(&mut self) {
        let mut rows = Vec::with_capacity(self.n);
        let mut columns = vec![0; self.n];
        for row in self.left.chunks_exact(self.n.max(1)) {
            let mut most = 0;
            for (column, &entry) in columns.iter_mut().zip(row) {
                most = entry.max(most);
                *column = entry.max(*column);
            }
            rows.push(most);
        }
        for candidate in &mut self.grid {
            let within = |lines: &[i64]| lines.iter().map(|&l| l.min(candidate.cap)).sum();
            let (by_rows, by_columns): (i64, i64) = (within(&rows), within(&columns));
            candidate.most = candidate.most.min(by_rows).min(by_columns);
        }
    }

    /// The best of what still fits the window; `None` if nothing carries anything.
    fn choose(&mut self) -> Result<Option<Choice>, Refusal> {
        let mut best = self.longer();
        let Frame {
            max_slots,
            shortest,
            ..
        } = self.options.frame;
        if self.slots.len() == max_slots || self.remaining < shortest {
            return Ok(best);
        }
        let mut stages = vec![Stage::Old; self.grid.len() + 1];
        let mut longest = self.longest();
        while let Some(at) = self.promising(longest, &stages, ratio_of(&best)) {
            if stages[at] == Stage::Old {
                self.limit_to_lines();
                longest = self.longest();
                stages.fill(Stage::Rough);
                continue;
            }
            let candidate = *self.grid.get(at).unwrap_or(&longest);
            let most = match stages[at] {
                Stage::Rough => {
                    stages[at] = Stage::Priced;
                    candidate.most.min(self.most_at_prices(at, candidate.cap))
                }
                _ => {
                    stages[at] = Stage::Solved;
                    let found = self.assign(at, candidate.cap)?;
                    self.spread(candidate, found.weight);
                    let (ratio, day) = self.fit(&found.column_of, self.terms(longest.day));
                    if ratio.beats(ratio_of(&best)) {
                        let what = What::New(found.column_of);
                        best = Some(Choice { ratio, day, what });
                    }
                    found.weight
                }
            };
            self.grid.get_mut(at).unwrap_or(&mut longest).most = most;
        }
        Ok(best)
    }

    /// The slot that is best lit longer, which costs no night: until the next of its
    /// pairs has sent all, since it only gets worse then.
    fn longer(&self) -> Option<Choice> {
        let mut best = None;
        for (at, slot) in self.slots.iter().enumerate() {
            let (mut open, mut least) = (0, i64::MAX);
            for (line, &column) in self.left.chunks_exact(self.n).zip(&slot.permutation) {
                let entry = line[column as usize];
                if entry > 0 {
                    open += 1;
                    least = entry.min(least);
                }
            }
            let terms = Terms {
                night: Time::ZERO,
                before: slot.day,
                shortest: Time::ZERO,
                ..self.terms(self.remaining)
            };
            let day = terms.day_for(least);
            let ratio = Ratio {
                bytes: open * terms.bytes(day),
                time: day,
            };
            if open > 0 && ratio.beats(ratio_of(&best)) {
                let what = What::Longer(at);
                best = Some(Choice { ratio, day, what });
            }
        }
        best
    }

    fn terms(&self, longest: Time) -> Terms {
        let frame = &self.options.frame;
        Terms {
            rate: self.options.rate,
            night: frame.night,
            before: Time::ZERO,
            shortest: frame.shortest - frame.night,
            longest,
        }
    }

    /// By duality no matching carries more than any potentials that cover what is
    /// left for a day: those of the nearest day that was solved, mended where they
    /// no longer fit, in two passes.
    fn most_at_prices(&self, at: usize, cap: i64) -> i64 {
        let solved = |&at: &usize| self.prices.get(at).is_some_and(|p| !p.is_empty());
        let steps = 0..=self.grid.len();
        let around = steps.flat_map(|step| [at.wrapping_sub(step), at + step]);
        let Some(nearest) = { around }.find(solved) else {
            return i64::MAX;
        };
        let prices = &self.prices[nearest];
        let mut columns = vec![0; self.n];
        let mut sum = 0;
        for line in self.left.chunks_exact(self.n) {
            let pairs = line.iter().zip(prices);
            let row = pairs.fold(0, |row, (&entry, price)| row.max(entry.min(cap) - price));
            for (column, &entry) in columns.iter_mut().zip(line) {
                *column = (entry.min(cap) - row).max(*column);
            }
            sum += row;
        }
        columns
            .iter()
            .fold(sum, |sum, column| sum.saturating_add(*column))
    }

    /// The longest day that still fits; it need not be on the grid.
    fn longest(&self) -> Candidate {
        let day = self.remaining - self.options.frame.night;
        let cap = self.options.bytes(day);
        let longer = self.grid.iter().find(|candidate| candidate.day >= day);
        let most = match cap {
            0 => 0,
            _ => longer.map_or(i64::MAX, |candidate| candidate.most),
        };
        Candidate { day, cap, most }
    }

    /// The candidate with the best bound, if it may beat `best`: its place in the
    /// grid, or behind it.
    fn promising(&self, longest: Candidate, stages: &[Stage], mut best: Ratio) -> Option<usize> {
        let fit = self
            .grid
            .partition_point(|candidate| candidate.day < longest.day);
        let on_grid = self.grid[..fit].iter().copied().enumerate();
        let mut found = None;
        for (at, candidate) in on_grid.chain([(self.grid.len(), longest)]) {
            let bound = self.ratio(candidate.day, candidate.most);
            if stages[at] != Stage::Solved && bound.beats(best) {
                best = bound;
                found = Some(at);
            }
        }
        found
    }

    fn ratio(&self, day: Time, bytes: i64) -> Ratio {
        let time = day + self.options.frame.night;
        Ratio { bytes, time }
    }

    /// The matching that carries most in a day.
    fn assign(&mut self, at: usize, cap: i64) -> Result<Assignment, Refusal> {
        let weights = Weights::new(self.n, &self.left).capped(cap);
        let of_demand = |refusal: Refusal| Refusal {
            key: refusal.key.replacen("weights", "demand", 1),
            ..refusal
        };
        let found = self.solver.maximum(&weights).map_err(of_demand)?;
        if let Some(prices) = self.prices.get_mut(at) {
            prices.clone_from(&found.column_potential);
        }
        Ok(found)
    }

    /// What one day carries bounds the others: shorter ones carry no more, longer
    /// ones no more in proportion.
    fn spread(&mut self, known: Candidate, carried: i64) {
        for candidate in &mut self.grid {
            let most = match candidate.cap <= known.cap {
                true => carried,
                false => {
                    let scaled = i128::from(carried) * i128::from(candidate.cap);
                    i64::try_from(scaled / i128::from(known.cap)).unwrap_or(i64::MAX)
                }
            };
            candidate.most = candidate.most.min(most);
        }
    }

    fn fit(&self, permutation: &[u32], terms: Terms) -> (Ratio, Time) {
        let pairs = permutation.iter().enumerate();
        let entries = pairs.map(|(i, &j)| self.left[i * self.n + j as usize]);
        terms.best_day(&mut entries.collect::<Vec<_>>())
    }

    fn light(&mut self, choice: Choice) {
        let (at, night) = match choice.what {
            What::Longer(at) => (at, Time::ZERO),
            What::New(permutation) => {
                let day = Time::ZERO;
                self.slots.push(Slot { permutation, day });
                (self.slots.len() - 1, self.options.frame.night)
            }
        };
        let slot = &mut self.slots[at];
        let day = slot.day + choice.day;
        let cap = self.options.bytes(day) - self.options.bytes(slot.day);
        for (i, &j) in slot.permutation.iter().enumerate() {
            let entry = &mut self.left[i * self.n + j as usize];
            let sent = cap.min(*entry);
            *entry -= sent;
            self.covered += sent;
        }
        slot.day = day;
        self.remaining -= choice.day + night;
    }

    /// Diminishing returns: whatever is optimal adds to what is covered at most a
    /// window at the best ratio, which the grid misses by a factor 1 + η at most.
    fn bound(&mut self) {
        let mut best = Ratio::NOTHING;
        for candidate in &self.grid {
            let ratio = self.ratio(candidate.day, candidate.most);
            if ratio.beats(best) {
                best = ratio;
            }
        }
        let window = i128::from(best.bytes) * i128::from(self.options.frame.period.0);
        let per_window = (window / i128::from(best.time.0) + 1) as f64;
        // A float's last digit must not make the bound too small.
        let more = (per_window * (1.0 + self.options.step) * (1.0 + 1e-12)).ceil();
        let bound = self.covered.saturating_add(more as i64);
        self.upper_bound = self.upper_bound.min(bound);
    }
}

fn ratio_of(choice: &Option<Choice>) -> Ratio {
    choice
        .as_ref()
        .map_or(Ratio::NOTHING, |choice| choice.ratio)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::eclipse::plan;
    use crate::algorithms::eclipse::tests::options;
    use crate::demand::tests::demands;
    use proptest::prelude::*;

    proptest! {
        /// Lazy evaluation is an optimisation: no day of the grid, tried afresh on
        /// what is left, has a better ratio than what was chosen.
        #[test]
        fn every_choice_is_the_best_of_the_whole_grid(
            demand in demands(8, 1000), period in 500i64..5_000, night in 1i64..100,
        ) {
            let options = options(period, night);
            let mut search = Search::new(&demand, &options);
            loop {
                let choice = search.choose().unwrap();
                let chosen = ratio_of(&choice);
                let longest = search.longest();
                for candidate in search.grid.clone().into_iter().chain([longest]) {
                    if candidate.day <= longest.day && candidate.cap > 0 {
                        let most = search.assign(usize::MAX, candidate.cap).unwrap().weight;
                        prop_assert!(!search.ratio(candidate.day, most).beats(chosen));
                    }
                }
                match choice {
                    Some(choice) => search.light(choice),
                    None => break,
                }
            }
            prop_assert_eq!(search.covered, plan(&demand, &options).unwrap().covered);
        }
    }
}
