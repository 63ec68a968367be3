//! The layout of the calendar adapts to the events: the work since the last check shows whether
//! days are too wide or too narrow, and whether there are too few buckets.

use super::{Agenda, BUCKETS_MIN, NONE, TUNE_EVERY};
use crate::time::Time;

/// Largest number of buckets: 2²⁰ take 4 MiB.
const BUCKETS_MAX: usize = 1 << 20;
/// Widest day: 2⁵⁰ ps is 19 minutes.
const SHIFT_MAX: u32 = 50;

/// The cost of the events since the last check.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    pub(super) popped: u64,
    /// The number of days that have begun.
    pub(super) days: u64,
    /// The number of distinct times in these days when they began.
    pub(super) times: u64,
    /// The number of events that were inserted into the day that had begun.
    pub(super) squeezed: u64,
    /// The number of words of the bitmap that were examined.
    pub(super) looked: u64,
    /// The number of events taken from the list of the far future.
    pub(super) fetched: u64,
    /// The number of events examined in that list.
    pub(super) sifted: u64,
}

impl<E: Copy> Agenda<E> {
    /// Checks the layout by the work since the last check. A new layout costs a few operations for
    /// each waiting event and each bucket; at least as many events pass between two checks.
    #[cold]
    pub(super) fn tune(&mut self) {
        let w = self.work;
        let mut shift = self.shift as i64;
        let mut buckets = self.buckets.len();
        let crowd = (w.times / w.days.max(1)).max(w.squeezed / w.popped.max(1));
        if crowd > 3 {
            let finer = (crowd / 2).ilog2() as i64;
            shift -= finer;
            buckets <<= finer.min(20);
        } else if w.looked > 2 * w.popped {
            shift += 2;
        }
        if w.fetched * 8 > w.popped || w.sifted > 2 * w.popped {
            if buckets < 8 * self.len {
                buckets *= 2;
            } else if crowd <= 3 {
                shift += 1;
            }
        }
        let shift = shift.clamp(0, SHIFT_MAX as i64) as u32;
        let most = (8 * self.len).next_power_of_two();
        let buckets = buckets.min(most).clamp(BUCKETS_MIN, BUCKETS_MAX);
        if shift != self.shift || buckets != self.buckets.len() {
            self.lay_out(shift, buckets);
        }
        self.work = Work::default();
        self.tune_at = TUNE_EVERY.max(2 * (self.len + self.buckets.len()) as u64);
    }

    /// Changes the width of a day and the number of buckets.
    fn lay_out(&mut self, shift: u32, buckets: usize) {
        let now = Time(self.day << self.shift);
        let mut waiting = self.today.split_off(self.head);
        for day in self.day + 1..self.end {
            let mut at = self.buckets[day as usize & (self.buckets.len() - 1)];
            let from = waiting.len();
            while at != NONE {
                let node = self.nodes[at as usize];
                waiting.push((node.at, node.event));
                at = node.next;
            }
            waiting[from..].reverse();
        }
        waiting.append(&mut self.later);
        self.later_from = Time::NEVER;
        self.today.clear();
        self.head = 0;
        self.nodes.clear();
        self.free = NONE;
        self.buckets.clear();
        self.buckets.resize(buckets, NONE);
        self.occupied.clear();
        self.occupied.resize(buckets / 64, 0);
        self.shift = shift;
        self.day = now.0 >> shift;
        let half = buckets as i64 / 2;
        self.end = (self.day.div_euclid(half) + 2) * half;
        for (at, event) in waiting {
            self.place(at, event);
        }
    }
}
