//! Potentials and assignments of one side of the demand, rows or columns, and the operations of its
//! lines on the peers of the other side; both sides use the same code.

use super::left::Lines;

/// No line.
pub(super) const NONE: u32 = u32::MAX;

/// The rows or the columns.
#[derive(Clone, Debug)]
pub(super) struct Side {
    pub potential: Vec<i64>,
    /// The peer that is assigned to each line.
    pub peer: Vec<u32>,
}

impl Side {
    pub fn new(potential: Vec<i64>) -> Side {
        let n = potential.len();
        Side {
            potential,
            peer: vec![NONE; n],
        }
    }

    /// Lines with a potential above 0 that are not assigned.
    pub fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        let lines = self.potential.iter().zip(&self.peer).zip(0..);
        lines
            .filter(|((&potential, &peer), _)| potential > 0 && peer == NONE)
            .map(|(_, line)| line)
    }

    /// Lines that are not assigned.
    pub fn free(&self) -> impl Iterator<Item = u32> + '_ {
        let lines = self.peer.iter().zip(0..);
        lines
            .filter(|(&peer, _)| peer == NONE)
            .map(|(_, line)| line)
    }
}

/// Potentials as seen from the rows or from the columns.
pub(super) struct View<'a> {
    pub lines: &'a Lines,
    pub cap: i64,
    pub own: &'a mut Side,
    pub other: &'a mut Side,
    pub most: &'a mut i128,
}

/// The gain of a line from its best and its second best peer, with these peers: w_ij less the
/// peer's potential. At least 0, for no peer.
type TwoBest = [(i64, u32); 2];

impl View<'_> {
    pub fn assign(&mut self, line: u32, peer: u32) {
        self.own.peer[line as usize] = peer;
        self.other.peer[peer as usize] = line;
    }

    fn set(&mut self, line: u32, to: i64) {
        let potential = &mut self.own.potential[line as usize];
        *self.most += i128::from(to) - i128::from(*potential);
        *potential = to;
    }

    /// Lowers the potentials of waiting lines to the gain from their best peer, and assigns that
    /// peer if it is free.
    pub fn lower(&mut self) {
        for line in 0..self.own.peer.len() as u32 {
            let at = line as usize;
            if self.own.peer[at] != NONE || self.own.potential[at] == 0 {
                continue;
            }
            let [(worth, peer), _] = self.two_best(line);
            self.set(line, worth);
            if peer != NONE && self.other.peer[peer as usize] == NONE {
                self.assign(line, peer);
            }
        }
    }

    /// A round of bids (augmenting row reduction): every line takes its best peer and pays until
    /// the second best is equally good. A line that loses its peer bids at once, but at most once;
    /// the others are returned.
    pub fn bid(&mut self, mut waiting: Vec<u32>) -> Vec<u32> {
        let (mut lost, mut at, mut patience) = (Vec::new(), 0, waiting.len());
        while at < waiting.len() {
            let line = waiting[at];
            at += 1;
            let [(best, mut peer), (next, second)] = self.two_best(line);
            self.set(line, next);
            if best == 0 {
                continue;
            }
            if best == next && self.other.peer[peer as usize] != NONE {
                peer = second;
            }
            self.other.potential[peer as usize] += best - next;
            *self.most += i128::from(best - next);
            let loser = self.other.peer[peer as usize];
            self.assign(line, peer);
            if loser == NONE {
                continue;
            }
            self.own.peer[loser as usize] = NONE;
            if best > next && patience > 0 {
                patience -= 1;
                at -= 1;
                waiting[at] = loser;
            } else {
                lost.push(loser);
            }
        }
        lost
    }

    fn two_best(&self, line: u32) -> TwoBest {
        let mut two = [(0, NONE); 2];
        for entry in self.lines.line(line as usize) {
            let weight = entry.bytes.min(self.cap);
            if weight <= two[1].0 {
                break;
            }
            let worth = weight - self.other.potential[entry.of as usize];
            if worth > two[1].0 {
                two = match worth > two[0].0 {
                    true => [(worth, entry.of), two[0]],
                    false => [two[0], (worth, entry.of)],
                };
            }
        }
        two
    }
}
