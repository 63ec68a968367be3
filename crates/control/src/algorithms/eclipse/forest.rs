//! Shortest augmenting paths from all free rows at once.
//!
//! A tree grows from every free row along pairs that are tight. While time passes, the
//! potentials of the forest's rows fall, those of its columns rise, so that columns
//! outside become tight and join with their rows; one that is free ends a path to the
//! root of its tree, which is assigned and leaves the forest. The other trees stay as
//! they are: nothing is searched twice. The bound falls by one for each tree and unit
//! of time, so that a search that can stop early stops soon.
//!
//! O(N) for each row that joins, and O(NF) for a tree that leaves with N rows and
//! columns or was nearest to them, where F rows stay.

use super::potentials::{Potentials, NONE};
use crate::algorithms::assignment::Weights;

/// The forest, to be kept between calls for its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Forest {
    /// Its rows.
    rows: Vec<u32>,
    /// For each of them the free row that its tree grows from, and u at time 0.
    root: Vec<u32>,
    key: Vec<i64>,
    now: i64,
    trees: i64,
    /// Columns outside, when each becomes tight, and with which row.
    open: Vec<u32>,
    tight_at: Vec<i64>,
    tight_with: Vec<u32>,
    /// When columns of the forest joined.
    joined: Vec<i64>,
    /// The next time, and the column that joins then.
    next: (i64, u32),
    /// Columns that have to be looked at again.
    stale: Vec<u32>,
}

impl Forest {
    /// Assigns all free rows (`true`), or stops when no matching can carry more than
    /// `enough`.
    pub fn grow(&mut self, weights: &Weights, potentials: &mut Potentials, enough: i64) -> bool {
        self.plant(weights, potentials);
        while self.trees > 0 {
            let (time, column) = self.next;
            let spare = (potentials.most - i128::from(enough)).max(0);
            let trees = i128::from(self.trees);
            let wait = (spare + trees - 1) / trees;
            if i128::from(time - self.now) >= wait {
                self.pass(self.now + wait as i64, potentials);
                self.fell(None, potentials);
                return false;
            }
            self.pass(time, potentials);
            match potentials.row_of[column as usize] {
                NONE => self.augment(column, weights, potentials),
                row => self.extend(row, column, weights, potentials),
            }
        }
        true
    }

    /// Every free row is a tree of its own.
    fn plant(&mut self, weights: &Weights, potentials: &Potentials) {
        let n = weights.size();
        self.rows.clear();
        self.root.resize(n, NONE);
        self.key.resize(n, 0);
        self.joined.resize(n, 0);
        (self.now, self.trees) = (0, 0);
        self.open.clear();
        self.open.extend(0..n as u32);
        self.tight_at.clear();
        self.tight_at.resize(n, i64::MAX);
        self.tight_with.clear();
        self.tight_with.resize(n, NONE);
        for row in potentials.free_rows() {
            self.trees += 1;
            self.join(row, row, weights, potentials);
        }
    }

    fn pass(&mut self, to: i64, potentials: &mut Potentials) {
        potentials.most -= i128::from(self.trees) * i128::from(to - self.now);
        self.now = to;
    }

    /// The root of the tree with which a column is tight.
    fn root_at(&self, column: u32) -> u32 {
        self.root[self.tight_with[column as usize] as usize]
    }

    /// A column joins, and the row that has it.
    fn extend(&mut self, row: u32, column: u32, weights: &Weights, potentials: &Potentials) {
        self.open.retain(|&open| open != column);
        self.joined[column as usize] = self.now;
        self.join(row, self.root_at(column), weights, potentials);
    }

    /// A row joins; some columns are tight sooner with it.
    fn join(&mut self, row: u32, root: u32, weights: &Weights, potentials: &Potentials) {
        let key = potentials.u[row as usize] + self.now;
        self.rows.push(row);
        self.root[row as usize] = root;
        self.key[row as usize] = key;
        let (line, cap) = (weights.row(row as usize), weights.cap());
        let v = &potentials.v[..line.len()];
        let tight_at = &mut self.tight_at[..line.len()];
        let mut next = (i64::MAX, NONE);
        for &column in &self.open {
            let at = column as usize;
            let time = key - line[at].min(cap) + v[at];
            if time < tight_at[at] {
                tight_at[at] = time;
                self.tight_with[at] = row;
            }
            if tight_at[at] < next.0 {
                next = (tight_at[at], column);
            }
        }
        self.next = next;
    }

    /// A path has come to a free column: every row on it shifts by one column, and its
    /// tree leaves.
    fn augment(&mut self, end: u32, weights: &Weights, potentials: &mut Potentials) {
        let root = self.root_at(end);
        self.fell(Some(root), potentials);
        self.stale.clear();
        for &column in &self.open {
            let with = self.tight_with[column as usize];
            if with != NONE && self.root[with as usize] == root {
                self.stale.push(column);
            }
        }
        let (mut column, mut row) = (end, NONE);
        while row != root {
            row = self.tight_with[column as usize];
            let given_up = potentials.column_of[row as usize];
            potentials.assign(row, column);
            column = given_up;
        }
        self.trees -= 1;
        self.look_again(weights, potentials);
    }

    /// The tree with this root leaves the forest, or all do; its potentials are fixed.
    fn fell(&mut self, root: Option<u32>, potentials: &mut Potentials) {
        let now = self.now;
        self.rows.retain(|&row| {
            let at = row as usize;
            if root.is_some_and(|root| self.root[at] != root) {
                return true;
            }
            potentials.u[at] = self.key[at] - now;
            let column = potentials.column_of[at];
            if column != NONE {
                potentials.v[column as usize] += now - self.joined[column as usize];
                self.open.push(column);
            }
            false
        });
    }

    /// When stale columns become tight with the rows that stayed.
    fn look_again(&mut self, weights: &Weights, potentials: &Potentials) {
        for &column in &self.stale {
            self.tight_at[column as usize] = i64::MAX;
            self.tight_with[column as usize] = NONE;
        }
        for &row in &self.rows {
            let (line, cap) = (weights.row(row as usize), weights.cap());
            let key = self.key[row as usize];
            for &column in &self.stale {
                let at = column as usize;
                let time = key - line[at].min(cap) + potentials.v[at];
                if time < self.tight_at[at] {
                    (self.tight_at[at], self.tight_with[at]) = (time, row);
                }
            }
        }
        let times = self.open.iter();
        let times = times.map(|&column| (self.tight_at[column as usize], column));
        self.next = times.min().unwrap_or((i64::MAX, NONE));
    }
}
