//! The leaders: all nodes in turn, and the rule for a dead leader (Sirius §4.4).
//!
//! Nodes hold over while their leader is silent. After some missed epochs they regard it as dead:
//! the next node takes over, and the dead node is skipped from then on. All nodes are assumed to
//! notice in the same epoch, because all receive the leader in every epoch.

use super::config::Death;

/// The turns of the leaders.
#[derive(Clone, Debug)]
pub struct Rotation {
    order: Vec<u32>,
    /// The present leader, as a position in `order`.
    at: usize,
    /// Epochs that remain of its turn.
    left: u64,
    epochs: u64,
    /// By node: the first epoch in which it is silent, and the missed epochs after which others
    /// regard it as dead.
    silent: Vec<(u64, u64)>,
    /// By node: epochs in which its cell was missed.
    missed: Vec<u64>,
}

impl Rotation {
    /// Turns of `epochs` epochs each, in the given order.
    pub fn new(order: Vec<u32>, epochs: u64) -> Rotation {
        let nodes = order.len();
        Rotation {
            order,
            at: 0,
            left: epochs,
            epochs,
            silent: vec![(u64::MAX, 1); nodes],
            missed: vec![0; nodes],
        }
    }

    /// Makes a node silent from an epoch on.
    pub fn dies(&mut self, death: &Death, epoch: u64) {
        self.silent[death.node as usize] = (epoch, death.missed);
    }

    /// The leader whose cell is received in this epoch, if any. Must be called once per epoch.
    pub fn hear(&mut self, epoch: u64) -> Option<usize> {
        if self.left == 0 || self.known_dead(self.order[self.at] as usize) {
            self.pass_on();
        }
        self.left -= 1;
        let leader = self.order[self.at] as usize;
        if epoch < self.silent[leader].0 {
            return Some(leader);
        }
        self.missed[leader] += 1;
        None
    }

    fn pass_on(&mut self) {
        for _ in 0..self.order.len() {
            self.at = (self.at + 1) % self.order.len();
            if !self.known_dead(self.order[self.at] as usize) {
                break;
            }
        }
        self.left = self.epochs;
    }

    fn known_dead(&self, node: usize) -> bool {
        self.missed[node] >= self.silent[node].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::Time;

    fn heard(rotation: &mut Rotation, epochs: u64) -> Vec<Option<usize>> {
        (0..epochs).map(|epoch| rotation.hear(epoch)).collect()
    }

    #[test]
    fn all_lead_in_turn() {
        let mut rotation = Rotation::new(vec![2, 0, 1], 2);
        let expected = [2, 2, 0, 0, 1, 1, 2, 2].map(Some);
        assert_eq!(heard(&mut rotation, 8), expected);
    }

    #[test]
    fn the_next_takes_over_when_a_leader_dies_and_it_never_leads_again() {
        let mut rotation = Rotation::new(vec![0, 1, 2], 4);
        let (node, at) = (1, Time::ZERO);
        rotation.dies(
            &Death {
                node,
                at,
                missed: 2,
            },
            5,
        );
        let lead = |node| [Some(node); 4];
        let expected = [
            &lead(0)[..],
            &[Some(1), None, None],
            &lead(2),
            &lead(0),
            &lead(2),
        ];
        assert_eq!(heard(&mut rotation, 19), expected.concat());
    }

    #[test]
    fn a_turn_that_is_shorter_than_patience_is_waited_out() {
        let mut rotation = Rotation::new(vec![0, 1], 1);
        let (node, at) = (1, Time::ZERO);
        rotation.dies(
            &Death {
                node,
                at,
                missed: 2,
            },
            0,
        );
        let expected = [Some(0), None, Some(0), None, Some(0), Some(0)];
        assert_eq!(heard(&mut rotation, 6), expected);
    }
}
