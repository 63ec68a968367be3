//! The agenda: a calendar queue of typed events.
//!
//! Time is divided into days of equal width (a power of two of picoseconds). The days of the near
//! future are buckets of a ring; each bucket is an unsorted chain in one pool of nodes. All later
//! events are in one unsorted list. A day is sorted when it begins. Events are `Copy` values and
//! are never boxed; in the steady state nothing is allocated.
//!
//! Events at the same time leave in the order in which they were scheduled, so that runs are
//! deterministic. No sequence number is needed: chains, list and sort preserve the order of
//! insertion, and all events of one time are in the same place at any moment.
//!
//! Events that are always scheduled the same time ahead need no calendar. A kernel may append them
//! to one of a few *lanes*, queues that are in order of time without sorting. Among events at the
//! same time, those of lanes leave first, the lowest lane before all others.
//!
//! The width of days adapts to the events: every few thousand events, the agenda compares the
//! number of distinct times per day with the length of the search for the next day, and changes the
//! layout if either is too large.
//!
//! Compared with `std::collections::BinaryHeap` with sequence numbers, in the hold model (pop one
//! event, schedule one): nanoseconds per hold, heap → agenda, as `quick_bench` below printed them
//! on one core of a 2-core virtual machine:
//!
//! | leads | 100 waiting | 2,000 | 100,000 |
//! |---|---|---|---|
//! | packets: 240 ns, some shorter | 23 → 17 | 35 → 17 | 89 → 19 |
//! | exponential | 37 → 20 | 50 → 22 | 120 → 38 |
//! | two scales: 10 ns and 1 ms | 39 → 15 | 60 → 19 | 106 → 46 |
//! | lock step: multiples of 100 ns | 24 → 12 | 36 → 13 | 102 → 32 |
//! | heavy tail: Pareto 1.05 | 38 → 20 | 50 → 21 | 122 → 36 |

mod lanes;
mod tuning;

pub use lanes::LANES;

use crate::time::Time;
use lanes::Lanes;
use tuning::Work;

/// End of a chain.
const NONE: u32 = u32::MAX;
/// Smallest number of buckets; a multiple of the bits of a word.
const BUCKETS_MIN: usize = 64;
/// The first guess of a day's width: 2¹³ ps is 8 ns.
const SHIFT_FIRST: u32 = 13;
/// The value of `Agenda::beyond` before it is computed.
const UNKNOWN: Time = Time(i64::MIN);
/// Smallest number of events between two checks of the layout.
const TUNE_EVERY: u64 = 4096;

#[derive(Clone, Copy, Debug)]
struct Node<E> {
    at: Time,
    event: E,
    next: u32,
}

/// A calendar queue of typed `Copy` events.
///
/// ```
/// use lightloom_engine::{Agenda, Time};
/// let mut agenda = Agenda::new();
/// agenda.schedule(Time::NS * 2, 'b');
/// agenda.schedule(Time::NS, 'a');
/// agenda.schedule(Time::NS * 2, 'c');
/// assert_eq!(agenda.pop_before(Time::NS * 2), Some((Time::NS, 'a')));
/// assert_eq!(agenda.pop_before(Time::NS * 2), None);
/// assert_eq!(agenda.pop_before(Time::NEVER), Some((Time::NS * 2, 'b')));
/// assert_eq!(agenda.pop_before(Time::NEVER), Some((Time::NS * 2, 'c')));
/// ```
#[derive(Clone, Debug)]
pub struct Agenda<E> {
    /// The events of the present day, in order; those before `head` have left.
    today: Vec<(Time, E)>,
    head: usize,
    /// First node of each bucket's chain, latest first.
    buckets: Vec<u32>,
    /// One bit per bucket, set if the bucket is not empty.
    occupied: Vec<u64>,
    nodes: Vec<Node<E>>,
    /// Chain of unused nodes.
    free: u32,
    /// Events on days from `end` on.
    later: Vec<(Time, E)>,
    /// No event of `later` is before this.
    later_from: Time,
    /// A day is `1 << shift` picoseconds.
    shift: u32,
    /// The day that has begun.
    day: i64,
    /// The first day beyond the buckets; a multiple of half their number, and
    /// at most their number after `day`.
    end: i64,
    /// No event after today is before this time; `UNKNOWN` if it is not computed.
    beyond: Time,
    lanes: Lanes<E>,
    len: usize,
    work: Work,
    tune_at: u64,
}

impl<E: Copy> Default for Agenda<E> {
    fn default() -> Self {
        Agenda::new()
    }
}

impl<E: Copy> Agenda<E> {
    /// An empty agenda.
    pub fn new() -> Self {
        Agenda {
            today: Vec::new(),
            head: 0,
            buckets: vec![NONE; BUCKETS_MIN],
            occupied: vec![0; BUCKETS_MIN / 64],
            nodes: Vec::new(),
            free: NONE,
            later: Vec::new(),
            later_from: Time::NEVER,
            shift: SHIFT_FIRST,
            day: 0,
            end: BUCKETS_MIN as i64,
            beyond: UNKNOWN,
            lanes: Lanes::new(),
            len: 0,
            work: Work::default(),
            tune_at: TUNE_EVERY,
        }
    }

    /// The number of scheduled events.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no event is scheduled.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Schedules `event` at `at`, after all events that are already scheduled for that time.
    #[inline]
    pub fn schedule(&mut self, at: Time, event: E) {
        self.len += 1;
        self.place(at, event);
    }

    /// Schedules `event` at `at` in a lane (a number below [`LANES`]). Its events must be appended
    /// in order of time: `at` must not be before the last of them.
    #[inline]
    pub fn append(&mut self, lane: usize, at: Time, event: E) {
        self.len += 1;
        self.lanes.push(lane, at, event);
    }

    /// Takes the next event if it is strictly before `limit`.
    #[inline]
    pub fn pop_before(&mut self, limit: Time) -> Option<(Time, E)> {
        let lane = self.lanes.next;
        if let Some(next) = self.pop_calendar(limit.min(lane)) {
            return Some(next);
        }
        if lane >= limit {
            return None;
        }
        self.len -= 1;
        self.lanes.pop()
    }

    /// Takes the next event of the calendar if it is strictly before `limit`.
    ///
    /// The calendar does not advance beyond `limit`, because the next scheduled event may be
    /// earlier than those that are waiting.
    #[inline]
    fn pop_calendar(&mut self, limit: Time) -> Option<(Time, E)> {
        while self.head == self.today.len() {
            if self.beyond >= limit || !self.begin_day(limit) {
                return None;
            }
        }
        let next = self.today[self.head];
        if next.0 >= limit {
            return None;
        }
        self.head += 1;
        self.len -= 1;
        self.work.popped += 1;
        if self.work.popped >= self.tune_at {
            self.tune();
        }
        Some(next)
    }

    #[inline]
    fn place(&mut self, at: Time, event: E) {
        self.beyond = self.beyond.min(at);
        let day = at.0 >> self.shift;
        if day <= self.day {
            self.squeeze(at, event);
        } else if day < self.end {
            self.chain(day, at, event);
        } else {
            self.later_from = self.later_from.min(at);
            self.later.push((at, event));
        }
    }

    /// Inserts an event into the present day, after all events at the same time.
    fn squeeze(&mut self, at: Time, event: E) {
        if self.head == self.today.len() {
            self.today.clear();
            self.head = 0;
        }
        if self.today.last().is_none_or(|l| l.0 <= at) {
            self.today.push((at, event));
            return;
        }
        let place = self.head + self.today[self.head..].partition_point(|e| e.0 <= at);
        self.work.squeezed += (self.today.len() - place) as u64;
        self.today.insert(place, (at, event));
    }

    #[inline]
    fn chain(&mut self, day: i64, at: Time, event: E) {
        let bucket = day as usize & (self.buckets.len() - 1);
        let node = Node {
            at,
            event,
            next: self.buckets[bucket],
        };
        let place = self.free;
        if place == NONE {
            self.buckets[bucket] = self.nodes.len() as u32;
            self.nodes.push(node);
        } else {
            self.free = self.nodes[place as usize].next;
            self.nodes[place as usize] = node;
            self.buckets[bucket] = place;
        }
        self.occupied[bucket / 64] |= 1 << (bucket % 64);
    }

    /// Begins the next day that has events, unless it begins at `limit` or later. The present day
    /// must be over.
    fn begin_day(&mut self, limit: Time) -> bool {
        self.today.clear();
        self.head = 0;
        let Some(day) = self.next_occupied() else {
            return self.turn_to_later(limit);
        };
        self.beyond = Time(day << self.shift);
        if self.beyond >= limit {
            return false;
        }
        self.beyond = UNKNOWN;
        self.day = day;
        self.open(day as usize & (self.buckets.len() - 1));
        let half = self.buckets.len() as i64 / 2;
        if day >= self.end - half {
            self.end += half;
            self.fetch();
        }
        true
    }

    /// The first day after today with a chain.
    #[inline]
    fn next_occupied(&mut self) -> Option<i64> {
        let mut day = self.day + 1;
        while day < self.end {
            let bucket = day as usize & (self.buckets.len() - 1);
            let word = self.occupied[bucket / 64] >> (bucket % 64);
            self.work.looked += 1;
            if word != 0 {
                return Some(day + word.trailing_zeros() as i64);
            }
            day += 64 - (bucket % 64) as i64;
        }
        None
    }

    /// Makes a chain the present day; the order of a chain is that of insertion, reversed.
    #[inline]
    fn open(&mut self, bucket: usize) {
        self.occupied[bucket / 64] &= !(1 << (bucket % 64));
        let mut at = std::mem::replace(&mut self.buckets[bucket], NONE);
        while at != NONE {
            let node = &mut self.nodes[at as usize];
            self.today.push((node.at, node.event));
            let next = std::mem::replace(&mut node.next, self.free);
            self.free = at;
            at = next;
        }
        self.today.reverse();
        self.work.days += 1;
        self.work.times += sort_stable(&mut self.today);
    }

    /// Moves the window of the buckets, which are all empty, to the first event of the far future.
    fn turn_to_later(&mut self, limit: Time) -> bool {
        self.beyond = self.later_from;
        if self.beyond >= limit {
            return false;
        }
        self.beyond = UNKNOWN;
        let (day, half) = (
            self.later_from.0 >> self.shift,
            self.buckets.len() as i64 / 2,
        );
        self.day = day - 1;
        self.end = (self.day.div_euclid(half) + 2) * half;
        self.fetch();
        true
    }

    /// Moves events of the far future into buckets if the window now covers them.
    fn fetch(&mut self) {
        let end = Time(self.end << self.shift);
        if self.later_from >= end {
            return;
        }
        let mut later = std::mem::take(&mut self.later);
        self.later_from = Time::NEVER;
        let before = later.len();
        later.retain(|&(at, event)| {
            if at < end {
                self.place(at, event);
            } else {
                self.later_from = self.later_from.min(at);
            }
            at >= end
        });
        self.work.sifted += before as u64;
        self.work.fetched += (before - later.len()) as u64;
        self.later = later;
    }
}

/// Sorts by time; equal events keep their order. Returns the number of distinct times.
#[inline]
fn sort_stable<E: Copy>(events: &mut [(Time, E)]) -> u64 {
    if events.len() > 32 {
        events.sort_by_key(|e| e.0);
    } else {
        for i in 1..events.len() {
            let (moved, mut to) = (events[i], i);
            while to > 0 && events[to - 1].0 > moved.0 {
                events[to] = events[to - 1];
                to -= 1;
            }
            events[to] = moved;
        }
    }
    1 + events.windows(2).filter(|w| w[0].0 != w[1].0).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    /// The oracle: a binary heap with lanes, the calendar behind them, and
    /// sequence numbers.
    #[derive(Default)]
    struct Heap {
        heap: BinaryHeap<Reverse<(Time, usize, u64)>>,
        sequence: u64,
    }

    impl Heap {
        fn schedule(&mut self, at: Time) -> u64 {
            self.append(LANES, at)
        }

        fn append(&mut self, lane: usize, at: Time) -> u64 {
            self.sequence += 1;
            self.heap.push(Reverse((at, lane, self.sequence)));
            self.sequence
        }

        fn pop_before(&mut self, limit: Time) -> Option<(Time, u64)> {
            let Reverse((at, _, event)) = *self.heap.peek()?;
            (at < limit).then(|| (self.heap.pop(), (at, event)).1)
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Schedule(i64),
        Append(usize, i64),
        Pop(i64),
        Drain(i64),
    }

    /// Lead times from picoseconds to seconds, many of them equal, some of them before the last
    /// event that was popped.
    fn lead() -> impl Strategy<Value = i64> {
        prop_oneof![
            4 => 0i64..4,
            4 => (0i64..50).prop_map(|x| x * 1_000),
            2 => 0i64..100_000_000,
            1 => (0i64..4).prop_map(|x| x * 1_000_000_000_000),
            1 => -5_000i64..0,
        ]
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            5 => lead().prop_map(Step::Schedule),
            5 => (0..LANES, lead()).prop_map(|(lane, lead)| Step::Append(lane, lead)),
            4 => lead().prop_map(Step::Pop),
            1 => lead().prop_map(Step::Drain),
        ];
        prop::collection::vec(step, 0..400)
    }

    /// Runs the same steps on both; the agenda checks its layout every `tune` events.
    fn same_as_heap(steps: &[Step], tune: u64) {
        let (mut heap, mut agenda) = (Heap::default(), Agenda::new());
        let mut now = Time::ZERO;
        let mut last = [Time(i64::MIN); LANES];
        for step in steps {
            match *step {
                Step::Append(lane, lead) => {
                    last[lane] = last[lane].max(now + Time(lead));
                    let event = heap.append(lane, last[lane]);
                    agenda.append(lane, last[lane], event);
                }
                Step::Schedule(lead) => {
                    let at = now + Time(lead);
                    let event = heap.schedule(at);
                    agenda.schedule(at, event);
                }
                Step::Pop(lead) => {
                    agenda.tune_at = agenda.tune_at.min(tune);
                    let limit = now + Time(lead);
                    let expected = heap.pop_before(limit);
                    assert_eq!(agenda.pop_before(limit), expected);
                    now = expected.map_or(now, |e| e.0);
                }
                Step::Drain(lead) => {
                    let limit = now + Time(lead);
                    while let Some(expected) = heap.pop_before(limit) {
                        assert_eq!(agenda.pop_before(limit), Some(expected));
                        now = expected.0;
                    }
                    assert_eq!(agenda.pop_before(limit), None);
                }
            }
            assert_eq!(agenda.len(), heap.heap.len());
        }
        while let Some(expected) = heap.pop_before(Time::NEVER) {
            assert_eq!(agenda.pop_before(Time::NEVER), Some(expected));
        }
        assert!(agenda.is_empty());
    }

    proptest! {
        #[test]
        fn leaves_in_the_order_of_a_heap(steps in steps(), tune in 1u64..50) {
            same_as_heap(&steps, tune);
        }
    }

    /// Leads of the hold model.
    type Lead = fn(&mut Stream) -> i64;
    const LEADS: [(&str, Lead); 5] = [
        ("packets: 240 ns, a few shorter", |r| match r.below(32) {
            0 => 240_000 - r.below(200_000) as i64,
            _ => 240_000,
        }),
        ("exponential, mean 1 us", |r| {
            (-(1.0 - r.unit()).ln() * 1e6) as i64
        }),
        ("two scales: 10 ns and 1 ms", |r| match r.below(10) {
            0 => r.below(1_000_000_000) as i64,
            _ => r.below(10_000) as i64,
        }),
        ("lock step: multiples of 100 ns", |r| {
            100_000 * (1 + r.below(3) as i64)
        }),
        ("heavy tail: Pareto 1.05 from 5 ns", |r| {
            ((1.0 - r.unit()).powf(-1.0 / 1.05) * 5e3).min(1e12) as i64
        }),
    ];

    #[test]
    fn tuning_keeps_the_order_on_every_scale() {
        for (name, lead) in LEADS {
            let (mut heap, mut agenda) = (Heap::default(), Agenda::new());
            let mut rng = Stream::new(1, name, 0);
            for k in 0..60_000 {
                if k >= 3_000 {
                    let expected = heap.pop_before(Time::NEVER).unwrap();
                    assert_eq!(agenda.pop_before(Time::NEVER), Some(expected), "{name}");
                }
                let now = heap.heap.peek().map_or(Time::ZERO, |e| e.0 .0);
                let at = now + Time(lead(&mut rng));
                agenda.schedule(at, heap.schedule(at));
            }
        }
    }

    /// Events far ahead must not make the calendar skip the next event.
    #[test]
    fn a_limit_keeps_the_calendar_from_turning() {
        let mut agenda = Agenda::new();
        agenda.schedule(Time::S, 0);
        for k in 1..10_000 {
            assert_eq!(agenda.pop_before(Time::NS * k), None);
            agenda.schedule(Time::NS * k, k);
            assert_eq!(agenda.pop_before(Time::S), Some((Time::NS * k, k)));
        }
        assert_eq!(agenda.work.squeezed, 0);
    }

    /// `cargo test --release -p lightloom-engine quick_bench -- --ignored --nocapture`
    #[test]
    #[ignore = "prints a table"]
    fn quick_bench() {
        println!("ns a hold (pop one, schedule one): binary heap, agenda");
        for (name, lead) in LEADS {
            for waiting in [100, 2_000, 100_000] {
                let heap = {
                    let mut heap = Heap::default();
                    hold(lead, waiting, |at, limit| match limit {
                        None => (heap.schedule(at), at).1,
                        Some(limit) => heap.pop_before(limit).unwrap().0,
                    })
                };
                let calendar = {
                    let mut agenda = Agenda::new();
                    hold(lead, waiting, |at, limit| match limit {
                        None => (agenda.schedule(at, 0u64), at).1,
                        Some(limit) => agenda.pop_before(limit).unwrap().0,
                    })
                };
                println!("{name:36} {waiting:7} {heap:7.1} {calendar:7.1}");
            }
        }
    }

    fn hold(lead: Lead, waiting: usize, mut queue: impl FnMut(Time, Option<Time>) -> Time) -> f64 {
        let mut rng = Stream::new(1, "hold", 0);
        let leads: Vec<i64> = (0..1 << 16).map(|_| lead(&mut rng)).collect();
        for k in 0..waiting {
            queue(Time(leads[k % leads.len()]), None);
        }
        let rounds = 3_000_000;
        let mut now = Time::ZERO;
        let mut clock = std::time::Instant::now();
        for k in 0..2 * rounds {
            if k == rounds {
                clock = std::time::Instant::now();
            }
            now = queue(now, Some(Time::NEVER));
            queue(now + Time(leads[k % leads.len()]), None);
        }
        clock.elapsed().as_secs_f64() * 1e9 / rounds as f64
    }
}
