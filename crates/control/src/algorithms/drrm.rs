//! DRRM, dual round-robin matching: each input requests one output, each output
//! grants one input, both by round-robin pointers (Chao & Park, "Centralized
//! contention resolution schemes for a large-capacity optical ATM switch", 1998).
//!
//! One exchange less than [`crate::algorithms::islip`], because no port has to choose among grants.
//! Pointers move beyond their partner only if a request of the first iteration was granted.

use crate::algorithms::round_robin::{RoundRobin, Set};

/// The pointers of a switch of up to 64 · W ports.
#[derive(Clone, Debug)]
pub struct Drrm<const W: usize>(RoundRobin<W>);

impl<const W: usize> Drrm<W> {
    /// All pointers at port 0.
    ///
    /// # Panics
    /// If there are more than 64 · W ports.
    pub fn new(ports: usize) -> Drrm<W> {
        Drrm(RoundRobin::new(ports))
    }

    /// The pointers that [`Drrm::pointers`] returned.
    ///
    /// # Panics
    /// If the number of pointers is not that of the ports, or a port is beyond the last.
    pub fn with_pointers(request: &[u32], grant: &[u32]) -> Drrm<W> {
        Drrm(RoundRobin::with_pointers(request, grant))
    }

    /// The output that each input requests first, and the input that each output
    /// grants first.
    ///
    /// ```
    /// use lightloom_control::algorithms::drrm::Drrm;
    /// let mut switch = Drrm::<1>::new(2);
    /// switch.schedule(1, |_| [0b01], |_, _| ());
    /// assert_eq!(switch.pointers(), (&[1, 0][..], &[1, 0][..]));
    /// ```
    pub fn pointers(&self) -> (&[u32], &[u32]) {
        self.0.pointers()
    }

    /// The matching of one slot: `join(input, output)` is called for every pair of it.
    /// `queues(input)` are the outputs for which the input has cells. Ends early when an iteration
    /// adds no pair; returns the number of pairs. Takes about W words for each port and iteration.
    ///
    /// # Panics
    /// If there is a queue for a port beyond the last.
    ///
    /// ```
    /// use lightloom_control::algorithms::drrm::Drrm;
    /// let mut switch = Drrm::<1>::new(3);
    /// // Inputs 0 and 1 have cells for output 0, and input 0 also for output 2.
    /// let queues = |input| [[0b101], [0b001], [0b000]][input];
    /// let mut pairs = Vec::new();
    /// assert_eq!(switch.schedule(1, queues, |i, o| pairs.push((i, o))), 1);
    /// // Input 0 requests its next output now; output 0 grants input 1.
    /// assert_eq!(switch.schedule(1, queues, |i, o| pairs.push((i, o))), 2);
    /// assert_eq!(pairs, [(0, 0), (1, 0), (0, 2)]);
    /// ```
    #[inline]
    pub fn schedule(
        &mut self,
        iterations: usize,
        queues: impl Fn(usize) -> Set<W>,
        join: impl FnMut(usize, usize),
    ) -> usize {
        self.0.schedule(iterations, queues, join)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::islip::tests::{
        check_matching, into, is_maximal, random_wants, throughput, FREE,
    };
    use crate::algorithms::round_robin::{all, insert};
    use lightloom_engine::Stream;
    use proptest::prelude::*;

    /// The requests as sets of outputs, input by input.
    fn rows(wants: &[Vec<bool>]) -> Vec<Set<2>> {
        let row = |row: &Vec<bool>| {
            let mut set = [0; 2];
            (0..row.len())
                .filter(|&j| row[j])
                .for_each(|j| insert(&mut set, j));
            set
        };
        wants.iter().map(row).collect()
    }

    proptest! {
        #[test]
        fn enough_iterations_leave_no_pair_that_could_talk(
            ports in 1usize..100, density in 0.0f64..1.0, seed: u64,
        ) {
            let mut rng = Stream::new(seed, "requests", 0);
            let mut switch = Drrm::<2>::new(ports);
            let mut output_of = vec![FREE; ports];
            for _ in 0..5 {
                let wants = random_wants(ports, density, &mut rng);
                let rows = rows(&wants);
                let matched = switch.schedule(ports, |i| rows[i], into(&mut output_of));
                check_matching(&wants, &output_of, matched);
                prop_assert!(is_maximal(&wants, &output_of));
            }
        }
    }

    /// Input 0 requests output 1 first, and output 1 grants input 2 first.
    #[test]
    fn pointers_are_those_that_were_given_and_move_beyond_who_is_served() {
        let mut switch = Drrm::<1>::with_pointers(&[1, 0, 1], &[0, 2, 0]);
        assert_eq!(switch.pointers(), (&[1, 0, 1][..], &[0, 2, 0][..]));
        let mut pairs = Vec::new();
        switch.schedule(1, |_| [0b010], |i, o| pairs.push((i, o)));
        assert_eq!(pairs, [(2, 1)]);
        assert_eq!(switch.pointers(), (&[1, 0, 2][..], &[0, 0, 0][..]));
    }

    #[test]
    fn backlog_desynchronises_the_pointers() {
        for ports in [2, 3, 16, 63, 64, 65, 100] {
            let mut switch = Drrm::<2>::new(ports);
            let mut output_of = vec![FREE; ports];
            let everyone = all::<2>(ports);
            for _ in 0..2 * ports {
                switch.schedule(1, |_| everyone, into(&mut output_of));
            }
            let mut met = vec![0; ports * ports];
            for _ in 0..ports {
                assert_eq!(
                    switch.schedule(1, |_| everyone, into(&mut output_of)),
                    ports
                );
                (0..ports).for_each(|i| met[i * ports + output_of[i] as usize] += 1);
            }
            assert!(met.iter().all(|&times| times == 1));
        }
    }

    #[test]
    fn uniform_traffic_is_served_in_full() {
        let mut switch = Drrm::<2>::new(16);
        let (sent, arrived) = throughput(16, 0.95, 40_000, |queues, output_of| {
            let cells = |i: usize| {
                let mut set = [0; 2];
                (0..16)
                    .filter(|&j| queues[i][j] > 0)
                    .for_each(|j| insert(&mut set, j));
                set
            };
            switch.schedule(1, cells, into(output_of));
        });
        assert!(sent as f64 > 0.995 * arrived as f64, "{sent} of {arrived}");
    }
}
