//! Lanes: events that are scheduled in the order in which they happen.
//!
//! If every event of a kind happens a fixed time after the event that schedules it, a queue keeps
//! them in order without sorting: a push and a pop take a fifth of the time of the calendar.

use crate::time::Time;
use std::collections::VecDeque;

/// The number of lanes.
pub const LANES: usize = 4;

/// Queues of events in order of time.
#[derive(Clone, Debug)]
pub(super) struct Lanes<E> {
    queues: [VecDeque<(Time, E)>; LANES],
    /// The time of the first event of each lane; [`Time::NEVER`] if the lane is empty.
    heads: [Time; LANES],
    /// The lane with the next event, the lowest one of equals, and the time of that event.
    lane: usize,
    pub next: Time,
}

impl<E: Copy> Lanes<E> {
    pub fn new() -> Self {
        Lanes {
            queues: std::array::from_fn(|_| VecDeque::new()),
            heads: [Time::NEVER; LANES],
            lane: 0,
            next: Time::NEVER,
        }
    }

    /// Adds an event that is not before the last of its lane.
    #[inline]
    pub fn push(&mut self, lane: usize, at: Time, event: E) {
        debug_assert!(
            self.queues[lane].back().is_none_or(|last| last.0 <= at),
            "events of a lane come in order of time"
        );
        if self.heads[lane] == Time::NEVER {
            self.heads[lane] = at;
            if (at, lane) < (self.next, self.lane) {
                (self.next, self.lane) = (at, lane);
            }
        }
        self.queues[lane].push_back((at, event));
    }

    /// Removes and returns the next event; there must be one.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let queue = &mut self.queues[self.lane];
        let first = queue.pop_front();
        self.heads[self.lane] = queue.front().map_or(Time::NEVER, |e| e.0);
        // The next lane cannot be predicted, so the loop has no branches and no stores.
        let (mut next, mut at) = (0, self.heads[0]);
        for lane in 1..LANES {
            next = if self.heads[lane] < at { lane } else { next };
            at = at.min(self.heads[lane]);
        }
        (self.lane, self.next) = (next, at);
        first
    }
}
