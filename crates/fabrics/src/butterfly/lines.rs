//! Delay lines: the flits and credits on wires.
//!
//! All wires of one length have the same delay in cycles, so entries leave in the order in which
//! they entered: one queue per length suffices, without sorting.

use std::collections::VecDeque;

/// No cycle.
pub const NEVER: u64 = u64::MAX;

#[derive(Clone, Debug)]
struct Line<T> {
    delay: u64,
    /// The cycle in which the first entry leaves; [`NEVER`] if the line is empty.
    due: u64,
    queue: VecDeque<(u64, T)>,
}

/// Lines by the number of their length.
#[derive(Clone, Debug)]
pub struct Lines<T>(Vec<Line<T>>);

impl<T: Copy> Lines<T> {
    /// Empty lines with these delays in cycles.
    pub fn new(delays: impl Iterator<Item = u64>) -> Lines<T> {
        let line = |delay| Line {
            delay,
            due: NEVER,
            queue: VecDeque::new(),
        };
        Lines(delays.map(line).collect())
    }

    /// Number of lines.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Cycles of a line.
    pub fn delay(&self, line: usize) -> u64 {
        self.0[line].delay
    }

    /// Adds `item` to a line in a cycle.
    #[inline]
    pub fn push(&mut self, line: usize, cycle: u64, item: T) {
        let line = &mut self.0[line];
        let due = cycle + line.delay;
        line.due = line.due.min(due);
        line.queue.push_back((due, item));
    }

    /// Takes an entry whose delay has ended by this cycle.
    #[inline]
    pub fn pop(&mut self, line: usize, cycle: u64) -> Option<T> {
        let line = &mut self.0[line];
        if line.due > cycle {
            return None;
        }
        let (_, item) = line.queue.pop_front()?;
        line.due = line.queue.front().map_or(NEVER, |next| next.0);
        Some(item)
    }

    /// The next cycle in which an entry leaves; [`NEVER`] if all lines are empty.
    pub fn next(&self) -> u64 {
        self.0.iter().map(|l| l.due).min().unwrap_or(NEVER)
    }

    /// All entries in the lines.
    pub fn items(&self) -> impl Iterator<Item = T> + '_ {
        self.0.iter().flat_map(|l| l.queue.iter().map(|q| q.1))
    }
}
