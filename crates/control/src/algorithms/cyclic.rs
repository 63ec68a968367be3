//! Cyclic schedules: the pairs that meet in each slot are known in advance for all slots.

/// The idealised fractional round robin: in slot `t` uplink `u` of node `s` meets node `(s + 1 + (t
/// · U + u)) mod N`. A pair therefore meets every `N / U` slots on average, with a deviation of at
/// most one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundRobin {
    /// N.
    pub nodes: u32,
    /// U, at most N.
    pub uplinks: u32,
}

impl RoundRobin {
    /// The node that `uplink` of `node` meets in `slot`.
    pub fn peer(&self, node: u32, uplink: u32, slot: i64) -> u32 {
        let n = self.nodes as u64;
        ((node as u64 + 1 + self.first_turn(slot) + uplink as u64) % n) as u32
    }

    /// `(t · U) mod N`: the turn of the first uplink in `slot`, that is, the position of its peer
    /// in the order in which a node meets the others.
    pub fn first_turn(&self, slot: i64) -> u64 {
        ((slot as i128 * self.uplinks as i128).rem_euclid(self.nodes as i128)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn receivers_hear_one_sender_and_pairs_meet_evenly(
            (nodes, uplinks) in (2u32..40).prop_flat_map(|n| (Just(n), 1..=n)),
            slot in 0i64..1_000_000,
        ) {
            let rr = RoundRobin { nodes, uplinks };
            for u in 0..uplinks {
                let mut heard = vec![0; nodes as usize];
                for s in 0..nodes {
                    heard[rr.peer(s, u, slot) as usize] += 1;
                }
                prop_assert!(heard.iter().all(|&h| h == 1));
            }
            // N slots are U whole rounds: every pair meets exactly U times.
            let mut met = vec![0; nodes as usize];
            for t in slot..slot + nodes as i64 {
                for u in 0..uplinks {
                    met[rr.peer(0, u, t) as usize] += 1;
                }
            }
            prop_assert!(met.iter().all(|&m| m == uplinks));
        }
    }
}
