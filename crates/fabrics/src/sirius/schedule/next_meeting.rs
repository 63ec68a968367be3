//! The next meeting of two nodes: the schedule, pair by pair.
//!
//! The meetings of a pair are numbered. A cell that joins the queue of a pair leaves at the first
//! meeting that no earlier cell uses, so its slot of departure is known when it joins.

use super::Schedule;
use crate::sirius::index::Label;
use lightloom_control::algorithms::cyclic::RoundRobin;

/// The next meeting of a pair, seen from some slot.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// Its number, modulo 256.
    pub number: u8,
    /// The key by which [`NextMeeting::ahead`] finds its slot.
    key: u32,
}

/// All meetings from some slot on. Nodes are named by label.
pub trait NextMeeting: Copy {
    /// The next meeting of `from` with `to`.
    fn next(&self, from: Label, to: Label) -> Meeting;

    /// Number of slots from now until the `k`-th meeting.
    fn ahead(&self, next: Meeting, k: usize) -> usize;
}

/// A schedule, arranged for finding the next meeting of a pair.
#[derive(Clone, Debug)]
pub enum Timetable {
    /// See [`Rounds`].
    Rotor(Rounds),
    /// See [`Frame`].
    Gratings(Frame),
}

/// The largest number of meetings of a pair in a frame whose numbers can be distinguished.
const MEETINGS_MAX: usize = 32;

impl Timetable {
    /// The timetable of a schedule, for the `most` next meetings of a pair; `None` if pairs meet
    /// too often in a frame.
    pub fn new(schedule: &Schedule, most: usize) -> Option<Timetable> {
        match schedule {
            Schedule::Rotor(rr) => Some(Timetable::Rotor(Rounds::new(*rr))),
            Schedule::Gratings(_) => Frame::new(schedule, most).map(Timetable::Gratings),
        }
    }

    /// Number of slots within which any pair meets `most` times.
    pub fn reach(&self, most: usize) -> usize {
        match self {
            Timetable::Rotor(Rounds { rr, .. }) => {
                (most * rr.nodes as usize).div_ceil(rr.uplinks as usize)
            }
            Timetable::Gratings(frame) => most.div_ceil(frame.a_frame) * frame.slots,
        }
    }

    /// The smallest number of any pair's next meeting as of `slot`; the numbers of other pairs
    /// exceed it by at most `MEETINGS_MAX`.
    pub fn number(&self, slot: i64) -> i64 {
        match self {
            Timetable::Rotor(Rounds { rr, .. }) => rounds(*rr, slot),
            Timetable::Gratings(frame) => {
                slot.div_euclid(frame.slots as i64) * frame.a_frame as i64
            }
        }
    }
}

/// Whole rounds before `slot`.
fn rounds(rr: RoundRobin, slot: i64) -> i64 {
    (slot as i128 * rr.uplinks as i128).div_euclid(rr.nodes as i128) as i64
}

/// The fractional round robin: in a slot a node meets the peers of the next U turns of its
/// round; the turn of `to` in the round of `from` is (to − from − 1) mod N.
#[derive(Clone, Debug)]
pub struct Rounds {
    rr: RoundRobin,
    /// Remainders modulo N of three consecutive ranges of N; the array is long enough for all
    /// labels, so that no index is out of bounds.
    modulo: Box<[u16; MODULO]>,
}

/// A power of two that is at least three times the largest number of labels.
const MODULO: usize = 1 << 18;

impl Rounds {
    fn new(rr: RoundRobin) -> Rounds {
        let mut modulo = vec![0; MODULO];
        for (x, m) in (0..3 * rr.nodes).zip(&mut modulo) {
            *m = (x % rr.nodes) as u16;
        }
        let modulo = modulo.try_into().expect("as many");
        Rounds { rr, modulo }
    }

    /// The meetings from `slot` on.
    pub fn at(&self, slot: i64) -> RoundAt<'_> {
        let (nodes, turn) = (self.rr.nodes as usize, self.rr.first_turn(slot) as usize);
        RoundAt {
            nodes,
            modulo: &self.modulo,
            shift: 2 * nodes - 1 - turn,
            left: nodes - turn,
            number: rounds(self.rr, slot) as u8,
            slots_a_turn: (1u64 << 40).div_ceil(self.rr.uplinks as u64),
        }
    }
}

/// The [`Rounds`], seen from some slot.
#[derive(Clone, Copy, Debug)]
pub struct RoundAt<'a> {
    nodes: usize,
    modulo: &'a [u16; MODULO],
    /// 2 N − 1 minus the first turn of the slot.
    shift: usize,
    /// Turns that are left in the round.
    left: usize,
    /// Rounds before it.
    number: u8,
    /// 2⁴⁰ / U, rounded up: converts turns to slots without a division; exact below 2²⁴ turns and
    /// 2¹⁶ uplinks.
    slots_a_turn: u64,
}

impl NextMeeting for RoundAt<'_> {
    #[inline(always)]
    fn next(&self, from: Label, to: Label) -> Meeting {
        let turns = self.modulo[(to.index() + self.shift - from.index()) % MODULO];
        Meeting {
            number: self
                .number
                .wrapping_add((turns as usize >= self.left) as u8),
            key: turns as u32,
        }
    }

    #[inline(always)]
    fn ahead(&self, next: Meeting, k: usize) -> usize {
        let turns = next.key as usize + k * self.nodes;
        ((turns as u64 * self.slots_a_turn) >> 40) as usize
    }
}

/// Cyclic wavelengths: the meetings of a pair within a frame depend only on the difference of its
/// nodes' numbers modulo the frame, because gratings route cyclically.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Number of slots of a frame, and number of meetings of each pair in it.
    slots: usize,
    a_frame: usize,
    /// The number of each label's node modulo the frame.
    place: Vec<u16>,
    /// By difference: the slots of its meetings, from the start of a frame on.
    meetings: Vec<u32>,
    /// Number of these meetings that are kept.
    kept: usize,
    /// By slot of the frame and difference: the number of meetings that are over.
    over: Vec<u8>,
}

impl Frame {
    /// `None` if pairs meet more often than numbers can distinguish.
    fn new(schedule: &Schedule, most: usize) -> Option<Frame> {
        let slots = schedule.frame() as usize;
        let mut met = vec![Vec::new(); slots];
        for slot in 0..slots {
            for uplink in 0..schedule.uplinks() {
                // All nodes are equivalent: node 0 and the nodes of a frame represent all pairs.
                let peer = schedule.peer(0, uplink, slot as i64).0 as usize;
                if peer < slots {
                    met[peer].push(slot as u32);
                }
            }
        }
        let a_frame = met[0].len();
        if a_frame > MEETINGS_MAX {
            return None;
        }
        let kept = a_frame + most;
        let later = move |m: &[u32], k: usize| m[k % a_frame] + (k / a_frame * slots) as u32;
        let meetings = met
            .iter()
            .flat_map(|m| (0..kept).map(move |k| later(m, k)))
            .collect();
        let mut over = vec![0; slots * slots];
        for (difference, m) in met.iter().enumerate() {
            for (slot, over) in over.iter_mut().skip(difference).step_by(slots).enumerate() {
                *over = m.partition_point(|&t| (t as usize) < slot) as u8;
            }
        }
        let place = |label| (schedule.node(label) as usize % slots) as u16;
        Some(Frame {
            slots,
            a_frame,
            place: (0..schedule.nodes()).map(place).collect(),
            meetings,
            kept,
            over,
        })
    }

    /// The meetings from `slot` on.
    pub fn at(&self, slot: i64) -> FrameAt<'_> {
        let phase = slot.rem_euclid(self.slots as i64) as usize;
        let frames = slot.div_euclid(self.slots as i64);
        FrameAt {
            slots: self.slots,
            place: &self.place,
            meetings: &self.meetings,
            kept: self.kept,
            over: &self.over[phase * self.slots..][..self.slots],
            phase: phase as u32,
            number: (frames * self.a_frame as i64) as u8,
        }
    }
}

/// A [`Frame`], seen from some slot.
#[derive(Clone, Copy, Debug)]
pub struct FrameAt<'a> {
    slots: usize,
    place: &'a [u16],
    meetings: &'a [u32],
    kept: usize,
    over: &'a [u8],
    phase: u32,
    /// Meetings of every pair before this frame, modulo 256.
    number: u8,
}

impl NextMeeting for FrameAt<'_> {
    #[inline(always)]
    fn next(&self, from: Label, to: Label) -> Meeting {
        let place = |label: Label| self.place[label.index()] as usize;
        let (from, to) = (place(from), place(to));
        let difference = to + if to < from { self.slots } else { 0 } - from;
        let over = self.over[difference];
        Meeting {
            number: self.number.wrapping_add(over),
            key: (difference * self.kept) as u32 + over as u32,
        }
    }

    #[inline(always)]
    fn ahead(&self, next: Meeting, k: usize) -> usize {
        (self.meetings[next.key as usize + k] - self.phase) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sirius::schedule::tests::schedules;
    use proptest::prelude::*;

    const MOST: usize = 20;

    /// Slots from `slot` on in which the schedule brings a pair together.
    fn met(s: &Schedule, slot: i64, from: u32, to: u32) -> impl Iterator<Item = usize> + '_ {
        let (from, to) = (s.node(from), s.node(to));
        (0..).filter(move |&ahead| {
            (0..s.uplinks()).any(|u| s.peer(from, u, slot + ahead as i64).0 == to)
        })
    }

    fn check(
        s: &Schedule,
        slot: i64,
        (least, reach): (i64, usize),
        m: impl NextMeeting,
        later: impl NextMeeting,
    ) {
        for (from, to) in (0..s.nodes()).flat_map(|a| (0..s.nodes()).map(move |b| (a, b))) {
            let [a, b] = [from, to].map(|label| Label::new(label as usize));
            let next = m.next(a, b);
            let wanted: Vec<usize> = met(s, slot, from, to).take(MOST).collect();
            assert!(wanted[MOST - 1] < reach);
            let told = (0..MOST).map(|k| m.ahead(next, k)).collect::<Vec<_>>();
            assert_eq!(told, wanted, "slot {slot}, {from} to {to}");
            let over = later.next(a, b).number.wrapping_sub(next.number);
            assert_eq!(over, (wanted[0] == 0) as u8, "numbers count meetings");
            assert!(next.number.wrapping_sub(least as u8) as usize <= MEETINGS_MAX);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn meetings_are_those_of_the_schedule(s in schedules(), slot in -100i64..10_000) {
            let Some(timetable) = Timetable::new(&s, MOST) else {
                return Ok(());
            };
            let bounds = (timetable.number(slot), timetable.reach(MOST));
            match &timetable {
                Timetable::Rotor(r) => check(&s, slot, bounds, r.at(slot), r.at(slot + 1)),
                Timetable::Gratings(f) => check(&s, slot, bounds, f.at(slot), f.at(slot + 1)),
            }
        }
    }
}
