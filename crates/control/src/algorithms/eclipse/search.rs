//! The greedy search: each step chooses the day and the matching that carry most per time;
//! candidates are tried in order of their upper bounds.

use super::bounds::{grid, Candidate};
use super::fit::{Ratio, Terms};
use super::forest::Forest;
use super::left::Left;
use super::potentials::Potentials;
use super::Options;
use crate::demand::Matrix;
use crate::schedule::{Frame, Slot};
use lightloom_engine::{Refusal, Time};

/// A candidate for the next slot.
struct Choice {
    ratio: Ratio,
    day: Time,
    what: What,
}

enum What {
    /// Lengthens the slot with this index.
    Longer(usize),
    /// Adds a permutation, after a night.
    New(Vec<u32>),
}

/// The quality of a candidate's bound in this step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// A bound from an earlier step.
    Old,
    /// The bound of its potentials, tightened to the remaining demand.
    Tightened,
    /// The best matching, or the result that none is good enough.
    Done,
}

/// The greedy search for a schedule.
pub(super) struct Search<'a> {
    options: &'a Options,
    n: usize,
    left: Left,
    /// From short to long.
    grid: Vec<Candidate>,
    /// The potentials of every promising day so far; the last are those of the longest day that
    /// fits.
    potentials: Vec<Option<Potentials>>,
    forest: Forest,
    pub(super) slots: Vec<Slot>,
    /// The number of pairs of each slot with remaining demand.
    open: Vec<usize>,
    /// The rest of the window after the slots.
    remaining: Time,
    pub(super) covered: i64,
    pub(super) upper_bound: i64,
}

impl<'a> Search<'a> {
    pub(super) fn new(demand: &Matrix, options: &'a Options) -> Search<'a> {
        let grid = grid(demand, options);
        let mut search = Search {
            options,
            n: demand.n(),
            left: Left::new(demand.n(), demand.cells().to_vec()),
            potentials: vec![None; grid.len() + 1],
            grid,
            forest: Forest::default(),
            slots: Vec::new(),
            open: Vec::new(),
            remaining: options.frame.period,
            covered: 0,
            upper_bound: demand.total(),
        };
        search.limit_to_lines();
        search
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

    /// No matching carries more than the sum of the largest entries of the rows, or of the columns,
    /// each capped by the day.
    fn limit_to_lines(&mut self) {
        let rows: Vec<i64> = self.left.rows.largest().collect();
        let columns: Vec<i64> = self.left.columns.largest().collect();
        for candidate in &mut self.grid {
            let within = |lines: &[i64]| lines.iter().map(|&l| l.min(candidate.cap)).sum();
            let (by_rows, by_columns): (i64, i64) = (within(&rows), within(&columns));
            candidate.most = candidate.most.min(by_rows).min(by_columns);
        }
    }

    /// The best candidate that fits the rest of the window; `None` if none carries anything.
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
        if self.promising(longest, &stages, ratio_of(&best)).is_some() {
            self.left.sort();
        }
        while let Some(at) = self.promising(longest, &stages, ratio_of(&best)) {
            let candidate = *self.grid.get(at).unwrap_or(&longest);
            let enough = self.enough(candidate.day, ratio_of(&best));
            let (potentials, stage) = self.look_into(at, candidate, stages[at], enough)?;
            let found = (stage == Stage::Done).then(|| self.found(&potentials, longest.day));
            if let Some(choice) = found.flatten() {
                if choice.ratio.beats(ratio_of(&best)) {
                    best = Some(choice);
                }
            }
            stages[at] = stage;
            let most = i64::try_from(potentials.most).unwrap_or(i64::MAX);
            self.potentials[at] = Some(potentials);
            self.spread(candidate, most);
            longest.most = longest.most.min(self.longest().most);
        }
        Ok(best)
    }

    /// Improves the bound of a candidate by one stage; the result may be that it carries no more
    /// than `enough`.
    fn look_into(
        &mut self,
        at: usize,
        candidate: Candidate,
        stage: Stage,
        enough: i64,
    ) -> Result<(Potentials, Stage), Refusal> {
        let (left, cap) = (&self.left, candidate.cap);
        let Some(mut potentials) = self.potentials[at].take() else {
            let columns = self.potentials_near(at, cap);
            return Ok((Potentials::new(left, cap, columns)?, Stage::Tightened));
        };
        if stage == Stage::Old {
            potentials.tighten(left, cap);
            return Ok((potentials, Stage::Tightened));
        }
        potentials.solve(left, cap, &mut self.forest, enough);
        Ok((potentials, Stage::Done))
    }

    /// Potentials of columns for a day that is tried for the first time: proportional to those of
    /// the nearest day tried before.
    fn potentials_near(&self, at: usize, cap: i64) -> Vec<i64> {
        let steps = 0..=self.grid.len();
        let mut around = steps.flat_map(|step| [at.wrapping_sub(step), at + step]);
        let near = around.find_map(|near| {
            let potentials = self.potentials.get(near)?.as_ref()?;
            Some((self.grid.get(near).map_or(cap, |near| near.cap), potentials))
        });
        let Some((of, potentials)) = near else {
            return vec![0; self.n];
        };
        let scaled = |&v: &i64| (i128::from(v) * i128::from(cap) / i128::from(of.max(1))) as i64;
        potentials.columns.potential.iter().map(scaled).collect()
    }

    /// The matching of solved potentials, with its best day.
    fn found(&self, potentials: &Potentials, longest: Time) -> Option<Choice> {
        if !potentials.is_solved() {
            return None;
        }
        let permutation = potentials.permutation();
        let (ratio, day) = self.fit(&permutation, self.terms(longest));
        let what = What::New(permutation);
        Some(Choice { ratio, day, what })
    }

    /// The slot that is best lengthened, which costs no night: the first of those with most pairs
    /// that have remaining demand. It is lengthened until one of these pairs has sent everything,
    /// because the ratio only falls afterwards.
    fn longer(&self) -> Option<Choice> {
        let open = self.open.iter().copied().max().filter(|&open| open > 0)?;
        let at = self.open.iter().position(|&other| other == open)?;
        let slot = &self.slots[at];
        let least = self
            .entries(&slot.permutation)
            .filter(|&entry| entry > 0)
            .min()?;
        let terms = Terms {
            night: Time::ZERO,
            before: slot.day,
            shortest: Time::ZERO,
            ..self.terms(self.remaining)
        };
        let day = terms.day_for(least);
        let bytes = open as i64 * terms.bytes(day);
        let ratio = Ratio { bytes, time: day };
        let what = What::Longer(at);
        ratio
            .beats(Ratio::NOTHING)
            .then_some(Choice { ratio, day, what })
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

    /// The longest day that still fits; it need not be on the grid.
    fn longest(&self) -> Candidate {
        let day = self.remaining - self.options.frame.night;
        let cap = self.options.bytes(day);
        let longer = self.grid.iter().find(|candidate| candidate.day >= day);
        let most = match cap {
            0 => 0,
            _ => longer.map_or(i64::MAX, |candidate| candidate.most),
        };
        let own = self.potentials.last().and_then(Option::as_ref);
        let own = own.and_then(|own| i64::try_from(own.most).ok());
        let most = most.min(own.unwrap_or(i64::MAX));
        Candidate { day, cap, most }
    }

    /// The candidate with the best bound if it may beat `best`: its index in the grid, or one
    /// beyond it.
    fn promising(&self, longest: Candidate, stages: &[Stage], mut best: Ratio) -> Option<usize> {
        let fit = self
            .grid
            .partition_point(|candidate| candidate.day < longest.day);
        let on_grid = self.grid[..fit].iter().copied().enumerate();
        let mut found = None;
        for (at, candidate) in on_grid.chain([(self.grid.len(), longest)]) {
            let bound = self.ratio(candidate.day, candidate.most);
            if stages[at] != Stage::Done && bound.beats(best) {
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

    /// The most bytes in a day whose ratio does not beat `best`.
    fn enough(&self, day: Time, best: Ratio) -> i64 {
        let time = i128::from((day + self.options.frame.night).0);
        let bytes = i128::from(best.bytes) * time / i128::from(best.time.0);
        i64::try_from(bytes).unwrap_or(i64::MAX)
    }

    /// Derives bounds for other days from one day: shorter days carry no more bytes, longer ones no
    /// more in proportion.
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
        terms.best_day(&mut self.entries(permutation).collect::<Vec<_>>())
    }

    /// The remaining demand of a permutation's pairs.
    fn entries<'p>(&'p self, permutation: &'p [u32]) -> impl Iterator<Item = i64> + 'p {
        let pairs = permutation.iter().enumerate();
        pairs.map(|(row, &column)| self.left.get(row, column))
    }

    fn light(&mut self, choice: Choice) {
        let (at, night) = match choice.what {
            What::Longer(at) => (at, Time::ZERO),
            What::New(permutation) => {
                let day = Time::ZERO;
                let open = self.entries(&permutation).filter(|&entry| entry > 0);
                self.open.push(open.count());
                self.slots.push(Slot { permutation, day });
                (self.slots.len() - 1, self.options.frame.night)
            }
        };
        let day = self.slots[at].day + choice.day;
        let cap = self.options.bytes(day) - self.options.bytes(self.slots[at].day);
        for i in 0..self.n {
            let j = self.slots[at].permutation[i];
            let entry = self.left.get(i, j);
            let sent = cap.min(entry);
            if sent == 0 {
                continue;
            }
            self.left.shrink(i, j, entry - sent);
            self.covered += sent;
            if sent == entry {
                self.close(i, j);
            }
        }
        self.slots[at].day = day;
        self.remaining -= choice.day + night;
    }

    /// Records that a pair has sent everything, in every slot that contains it.
    fn close(&mut self, i: usize, j: u32) {
        for (open, slot) in self.open.iter_mut().zip(&self.slots) {
            *open -= usize::from(slot.permutation[i] == j);
        }
    }

    /// The upper bound by diminishing returns: an optimal schedule adds to the covered demand at
    /// most one window at the best ratio, from which the grid differs by a factor of at most 1 + η.
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
        // Rounding errors of floats must not make the bound too small.
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
    use crate::algorithms::assignment::{Solver, Weights};
    use crate::algorithms::eclipse::plan;
    use crate::algorithms::eclipse::tests::options;
    use crate::demand::tests::demands;
    use proptest::prelude::*;

    proptest! {
        /// Lazy evaluation is only an optimisation: no day of the grid, computed anew on the
        /// remaining demand, has a better ratio than the chosen one.
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
                        let weights = Weights::new(search.n, search.left.cells()).capped(candidate.cap);
                        let most = Solver::new().maximum(&weights).unwrap().weight;
                        prop_assert!(candidate.most >= most);
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
