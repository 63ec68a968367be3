//! iSLIP: matches the inputs and outputs of a switch in each slot by round-robin pointers (McKeown,
//! IEEE/ACM Transactions on Networking 7(2), 1999).
//!
//! In every iteration each free output grants one of the free inputs that request it, the next at
//! or after its pointer; each input accepts one grant in the same way. Pointers move beyond their
//! partner only if a grant of the first iteration was accepted. Priorities and multicast are not
//! modelled.

use crate::algorithms::round_robin::{RoundRobin, Set};

/// The pointers of a switch of up to 64 · W ports.
#[derive(Clone, Debug)]
pub struct Islip<const W: usize>(RoundRobin<W>);

impl<const W: usize> Islip<W> {
    /// All pointers at port 0.
    ///
    /// # Panics
    /// If there are more than 64 · W ports.
    pub fn new(ports: usize) -> Islip<W> {
        Islip(RoundRobin::new(ports))
    }

    /// Creates an arbiter with the pointers that [`Islip::pointers`] returned.
    ///
    /// # Panics
    /// If the number of pointers is not that of the ports, or a port is beyond the last.
    pub fn with_pointers(grant: &[u32], accept: &[u32]) -> Islip<W> {
        Islip(RoundRobin::with_pointers(grant, accept))
    }

    /// The input that each output grants first, and the output that each input
    /// accepts first.
    ///
    /// ```
    /// use lightloom_control::algorithms::islip::Islip;
    /// let mut switch = Islip::<1>::new(2);
    /// switch.schedule(1, |_| [0b01], |_, _| ());
    /// assert_eq!(switch.pointers(), (&[1, 0][..], &[1, 0][..]));
    /// ```
    pub fn pointers(&self) -> (&[u32], &[u32]) {
        self.0.pointers()
    }

    /// The matching of one slot: `join(input, output)` is called for every pair of it.
    /// `requests(output)` are the inputs that have cells for it. Ends early when an iteration adds
    /// no pair; returns the number of pairs. Takes about W words for each port and iteration.
    ///
    /// # Panics
    /// If there is a request from beyond the last port.
    ///
    /// ```
    /// use lightloom_control::algorithms::islip::Islip;
    /// let mut switch = Islip::<1>::new(3);
    /// // Inputs 0 and 1 request output 0, and input 0 also output 2.
    /// let requests = |output| [[0b011], [0b000], [0b001]][output];
    /// let mut pairs = Vec::new();
    /// assert_eq!(switch.schedule(1, requests, |i, o| pairs.push((i, o))), 1);
    /// // Output 0 now grants input 1; input 0 gets output 2.
    /// assert_eq!(switch.schedule(1, requests, |i, o| pairs.push((i, o))), 2);
    /// assert_eq!(pairs, [(0, 0), (0, 2), (1, 0)]);
    /// ```
    #[inline]
    pub fn schedule(
        &mut self,
        iterations: usize,
        requests: impl Fn(usize) -> Set<W>,
        mut join: impl FnMut(usize, usize),
    ) -> usize {
        self.0
            .schedule(iterations, requests, |output, input| join(input, output))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::algorithms::round_robin::{all, insert};

    /// Not matched.
    pub(crate) const FREE: u32 = u32::MAX;

    /// Stores the output of every input.
    pub(crate) fn into(output_of: &mut [u32]) -> impl FnMut(usize, usize) + '_ {
        output_of.fill(FREE);
        |input, output| output_of[input] = output as u32
    }
    use lightloom_engine::Stream;
    use proptest::prelude::*;

    /// Random requests: `wants[i][j]`.
    pub(crate) fn random_wants(ports: usize, density: f64, rng: &mut Stream) -> Vec<Vec<bool>> {
        let mut row = |_| (0..ports).map(|_| rng.unit() < density).collect();
        (0..ports).map(&mut row).collect()
    }

    /// The requests as sets of inputs, output by output.
    fn columns(wants: &[Vec<bool>]) -> Vec<Set<2>> {
        let mut sets = vec![[0; 2]; wants.len()];
        for (i, row) in wants.iter().enumerate() {
            (0..row.len())
                .filter(|&j| row[j])
                .for_each(|j| insert(&mut sets[j], i));
        }
        sets
    }

    pub(crate) fn check_matching(wants: &[Vec<bool>], output_of: &[u32], matched: usize) {
        let mut taken = vec![false; wants.len()];
        for (i, &j) in output_of.iter().enumerate().filter(|(_, &j)| j != FREE) {
            assert!(wants[i][j as usize], "a match without a request");
            assert!(!std::mem::replace(&mut taken[j as usize], true));
        }
        assert_eq!(output_of.iter().filter(|&&j| j != FREE).count(), matched);
    }

    pub(crate) fn is_maximal(wants: &[Vec<bool>], output_of: &[u32]) -> bool {
        let free = |j: usize| !output_of.contains(&(j as u32));
        let idle = (0..wants.len()).filter(|&i| output_of[i] == FREE);
        { idle }.all(|i| (0..wants.len()).all(|j| !wants[i][j] || !free(j)))
    }

    /// Feeds a switch with a cell per input and slot at a load, to outputs drawn uniformly. Returns
    /// the sent and arrived cells of the second half, in which queues of an unstable switch keep
    /// growing.
    pub(crate) fn throughput(
        ports: usize,
        load: f64,
        slots: usize,
        mut schedule: impl FnMut(&[Vec<u32>], &mut [u32]),
    ) -> (usize, usize) {
        let mut rng = Stream::new(7, "cells", 0);
        let mut queues = vec![vec![0u32; ports]; ports];
        let mut output_of = vec![FREE; ports];
        let (mut sent, mut arrived) = (0, 0);
        for slot in 0..slots {
            if slot == slots / 2 {
                (sent, arrived) = (0, 0);
            }
            for queue in &mut queues {
                if rng.unit() < load {
                    queue[rng.below(ports as u32) as usize] += 1;
                    arrived += 1;
                }
            }
            schedule(&queues, &mut output_of);
            for (i, &j) in output_of.iter().enumerate().filter(|(_, &j)| j != FREE) {
                queues[i][j as usize] -= 1;
                sent += 1;
            }
        }
        (sent, arrived)
    }

    proptest! {
        #[test]
        fn enough_iterations_leave_no_pair_that_could_talk(
            ports in 1usize..100, density in 0.0f64..1.0, seed: u64,
        ) {
            let mut rng = Stream::new(seed, "requests", 0);
            let mut switch = Islip::<2>::new(ports);
            let mut output_of = vec![FREE; ports];
            for _ in 0..5 {
                let wants = random_wants(ports, density, &mut rng);
                let columns = columns(&wants);
                let mut first = vec![FREE; ports];
                switch.clone().schedule(1, |j| columns[j], into(&mut first));
                let matched = switch.schedule(ports, |j| columns[j], into(&mut output_of));
                check_matching(&wants, &output_of, matched);
                prop_assert!(is_maximal(&wants, &output_of));
                // Later iterations only add to the first.
                for (once, more) in first.iter().zip(&output_of) {
                    prop_assert!(*once == FREE || once == more);
                }
            }
        }

        /// McKeown: a persistent request is served within N² slots, whatever the other requests
        /// are.
        #[test]
        fn nobody_starves(ports in 2usize..9, density in 0.1f64..1.0, seed: u64) {
            let mut rng = Stream::new(seed, "starve", 0);
            let mut switch = Islip::<2>::new(ports);
            let mut output_of = vec![FREE; ports];
            let (input, output) = rng.below2(ports as u32, ports as u32);
            let mut waited = 0;
            for _ in 0..4 * ports * ports {
                let mut wants = random_wants(ports, density, &mut rng);
                wants[input as usize][output as usize] = true;
                let columns = columns(&wants);
                switch.schedule(1, |j| columns[j], into(&mut output_of));
                waited = if output_of[input as usize] == output { 0 } else { waited + 1 };
                prop_assert!(waited <= ports * ports);
            }
        }
    }

    /// With every queue full, pointers desynchronise and stay so: all inputs send in all slots. All
    /// outputs grant input 0, which accepts output 2 first.
    #[test]
    fn pointers_are_those_that_were_given_and_move_beyond_who_is_served() {
        let mut switch = Islip::<1>::with_pointers(&[0, 1, 0], &[2, 0, 1]);
        assert_eq!(switch.pointers(), (&[0, 1, 0][..], &[2, 0, 1][..]));
        let mut pairs = Vec::new();
        switch.schedule(1, |_| [0b001], |i, o| pairs.push((i, o)));
        assert_eq!(pairs, [(0, 2)]);
        assert_eq!(switch.pointers(), (&[0, 1, 1][..], &[0, 0, 1][..]));
    }

    #[test]
    fn backlog_desynchronises_the_pointers() {
        for ports in [2, 3, 16, 63, 64, 65, 100] {
            let mut switch = Islip::<2>::new(ports);
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
            // A time-division round: every pair meets once.
            assert!(met.iter().all(|&times| times == 1));
        }
    }

    /// One iteration serves uniform traffic at any load below 1 (McKeown, §III).
    #[test]
    fn uniform_traffic_is_served_in_full() {
        let mut switch = Islip::<2>::new(16);
        let (sent, arrived) = throughput(16, 0.95, 40_000, |queues, output_of| {
            let requests = |j: usize| {
                let mut set = [0; 2];
                (0..16)
                    .filter(|&i| queues[i][j] > 0)
                    .for_each(|i| insert(&mut set, i));
                set
            };
            switch.schedule(1, requests, into(output_of));
        });
        assert!(sent as f64 > 0.995 * arrived as f64, "{sent} of {arrived}");
    }
}
