//! Loss, packet by packet: packets that a rack sends on a dark circuit, their retransmission, and
//! the arrival of the others.
//!
//! Every pair of racks is simulated separately, a packet at a time, within windows that [`Frames`]
//! draws from the same seed. Bytes that join a queue together, or directly behind bytes of the same
//! flow, form one group that is divided into packets. Packets of a group that are lost in a day
//! rejoin the queue together, when the day is over and the last of them has left. Flows arrive a
//! picosecond after a whole nanosecond, so that none coincides with a night.

use super::{cluster, schedules, setup, BYTE_NS};
use crate::contract::Site;
use crate::mordia;
use crate::mordia::frames::{Frames, Punctuality};
use crate::mordia::kernel::Mordia;
use crate::tdma::burst::Window;
use crate::tdma::days::SlotTimes;
use lightloom_control::schedule::Schedule;
use lightloom_engine::kernel::event::EventDriven;
use lightloom_engine::{Audit, Fabric, Flows, HostId, Io, Time};
use proptest::prelude::*;
use serde_json::json;
use std::collections::{BTreeMap, VecDeque};

/// The input of kernel and model.
#[derive(Clone, Debug)]
struct Case {
    schedule: Schedule,
    law: Punctuality,
    packet: u64,
    propagation: Time,
    retransmit_after: Time,
    seed: u64,
    flows: Flows,
    end: Time,
}

/// The outcome of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Outcome {
    /// For every flow: bytes that have arrived, time at which the first packet left, time at which
    /// the last arrived.
    flows: Vec<(u64, Time, Time)>,
    /// Packets that are already recorded as lost.
    lost: u64,
    /// Packets that crossed: from, to, begin, end, bytes.
    crossed: Vec<(u32, u32, Time, Time, u64)>,
}

/// A rack's day with its peer.
#[derive(Clone, Copy, Debug)]
struct Day {
    begins: Time,
    window: Window,
}

/// The days of every pair, in order.
fn days(case: &Case) -> BTreeMap<(u32, u32), Vec<Day>> {
    let racks = case.schedule.ports as u32;
    let mut frames = Frames::new(case.law, racks, case.seed);
    let mut days: BTreeMap<(u32, u32), Vec<Day>> = BTreeMap::new();
    let mut begins = Time::ZERO;
    for slot in case.schedule.slots.iter().cycle() {
        if begins >= case.end {
            break;
        }
        let planned = SlotTimes {
            begins,
            first_light: begins + case.schedule.night.min(case.law.night),
            ends: begins + case.schedule.night + slot.day,
        };
        let light = frames.light(&planned);
        for rack in 0..racks {
            let window = frames.window(rack, &planned, light);
            let pair = (rack, slot.permutation[rack as usize]);
            days.entry(pair).or_default().push(Day { begins, window });
        }
        begins = planned.ends;
    }
    days
}

/// A queue and its circuit.
struct Pair<'a> {
    case: &'a Case,
    ends: (u32, u32),
    /// Waiting bytes as (flow, bytes); adjacent bytes of one flow form one entry.
    queue: VecDeque<(usize, u64)>,
    /// Lost bytes as (flow, bytes), by the time at which they rejoin the queue and the number of
    /// earlier losses.
    back: BTreeMap<(Time, usize), (usize, u64)>,
    losses: usize,
    day: Option<Window>,
    free: Time,
    outcome: &'a mut Outcome,
}

impl Pair<'_> {
    fn join(&mut self, flow: usize, bytes: u64, now: Time) {
        match self.queue.back_mut().filter(|last| last.0 == flow) {
            Some(last) => last.1 += bytes,
            None => self.queue.push_back((flow, bytes)),
        }
        // The packet first passes the interface.
        self.send(now + self.case.law.nic_delay);
    }

    fn dawn(&mut self, day: &Day) {
        self.day = Some(day.window);
        self.free = day.window.from;
        self.send(day.begins);
    }

    /// Sends queued packets, not before `ready`.
    fn send(&mut self, ready: Time) {
        let Some(window) = self.day else {
            return;
        };
        while let Some((flow, waits)) = self.queue.pop_front() {
            let rest = self.send_together(flow, waits, ready, &window);
            if rest > 0 {
                return self.queue.push_front((flow, rest));
            }
        }
    }

    /// Sends packets of a flow while the next one fits into the day; returns the rest.
    fn send_together(&mut self, flow: usize, waits: u64, ready: Time, day: &Window) -> u64 {
        let (mut rest, mut at) = (waits, self.free.max(ready));
        let (mut lost, mut packets, mut arrives) = (0, 0, Vec::new());
        while rest > 0 {
            let bytes = rest.min(self.case.packet);
            let ends = at + BYTE_NS.time_for(bytes);
            if at >= day.until || ends > day.until {
                break;
            }
            let start = &mut self.outcome.flows[flow].1;
            *start = at.min(*start);
            if at < day.light || ends > day.dark {
                (lost, packets) = (lost + bytes, packets + 1);
            } else {
                let (from, to) = self.ends;
                self.outcome.crossed.push((from, to, at, ends, bytes));
                arrives.push((ends, bytes));
            }
            (rest, at, self.free) = (rest - bytes, ends, ends);
        }
        // Packets count together at the arrival of the last one; if the flow continues, they count
        // one by one, and the last one counts at the night, together with packets in transit.
        let last = arrives.last().map_or(day.dark, |last| last.0);
        let night = |ends: Time| ends + self.case.propagation >= day.dark;
        for (ends, bytes) in arrives {
            let counts = match rest > 0 {
                true if ends == last => day.dark,
                true if night(ends) && self.case.end > day.dark => day.dark,
                true => ends,
                false => last,
            };
            self.arrive(flow, bytes, ends, counts);
        }
        if packets > 0 {
            let when = at.max(day.dark + self.case.retransmit_after);
            self.back.insert((when, self.losses), (flow, lost));
            self.losses += 1;
        }
        // All lost packets count when the last of them has left.
        if at < self.case.end {
            self.outcome.lost += packets;
        }
        rest
    }

    fn arrive(&mut self, flow: usize, bytes: u64, ends: Time, counts: Time) {
        let propagation = self.case.propagation;
        if counts + propagation >= self.case.end {
            return;
        }
        let (arrived, _, finish) = &mut self.outcome.flows[flow];
        *arrived += bytes;
        if *arrived == self.case.flows.bytes[flow] {
            *finish = ends + propagation;
        }
    }

    /// Processes arrivals, days and losses in order of time, until the end.
    fn run(&mut self, days: &[Day]) {
        let flows = &self.case.flows;
        let here = |&f: &usize| (flows.src[f].0, flows.dst[f].0) == self.ends;
        let mut arrivals = (0..flows.len()).filter(here).collect::<VecDeque<usize>>();
        let mut days = days.iter().peekable();
        loop {
            let arrival = arrivals.front().map(|&f| flows.arrival[f]);
            let day = days.peek().map(|day| day.begins);
            let back = self.back.first_key_value().map(|(key, _)| key.0);
            let next = [arrival, day, back].map(|time| time.unwrap_or(Time::NEVER));
            let now = next.into_iter().min().expect("three");
            if now >= self.case.end {
                return;
            }
            if now == next[0] {
                let flow = arrivals.pop_front().expect("one arrives");
                self.join(flow, flows.bytes[flow], now);
            } else if now == next[1] {
                let day = days.next().expect("one begins");
                self.dawn(day);
            } else {
                let (_, (flow, bytes)) = self.back.pop_first().expect("one is back");
                self.join(flow, bytes, now);
            }
        }
    }
}

/// The model: one packet after the other.
fn one_by_one(case: &Case) -> Outcome {
    let mut outcome = Outcome {
        flows: vec![(0, Time::NEVER, Time::NEVER); case.flows.len()],
        ..Outcome::default()
    };
    for (ends, all) in days(case) {
        Pair {
            case,
            ends,
            queue: VecDeque::new(),
            back: BTreeMap::new(),
            losses: 0,
            day: None,
            free: Time::ZERO,
            outcome: &mut outcome,
        }
        .run(&all);
    }
    outcome.crossed.sort_unstable();
    outcome
}

fn seen(fabric: &mut dyn Fabric, case: &Case) -> Outcome {
    let mut io = Io::new(case.flows.clone());
    io.audit = Some(Audit::default());
    fabric.advance(case.end, &mut io);
    let flows = &io.flows;
    let of = |f: usize| (flows.delivered[f], flows.start[f], flows.finish[f]);
    let racks = case.schedule.ports as u32;
    let audit = io.audit.expect("it was asked for");
    let crossed = audit.transmissions.iter();
    let mut crossed: Vec<_> = crossed
        .map(|t| (t.tx.0, t.rx.0, t.from, t.until, t.bytes))
        .collect();
    assert!(crossed.iter().all(|c| c.0 < racks && c.1 < racks));
    crossed.sort_unstable();
    Outcome {
        flows: (0..flows.len()).map(of).collect(),
        lost: io.ledger.losses,
        crossed,
    }
}

/// The kernel, given a schedule.
fn by_kernel(case: &Case) -> Outcome {
    let mut it = setup(case.schedule.clone(), case.packet);
    it.punctuality = case.law;
    it.network.propagation = case.propagation;
    it.retransmit_after = case.retransmit_after;
    let kernel = Mordia::new(it, case.flows.len(), case.seed);
    seen(&mut EventDriven::new(kernel), case)
}

/// `kind = "mordia"` with a round robin.
fn by_mordia(case: &Case) -> Outcome {
    let cluster = cluster(case.schedule.ports as u32);
    let (law, slot) = (&case.law, &case.schedule.slots[0]);
    let ns = |time: Time| format!("{} ns", time.0 as f64 / 1e3);
    let slot = ns(case.schedule.night + slot.day);
    let table = json!({
        "policy": "rotation",
        "night": ns(law.night),
        "night_deviation": ns(law.night_deviation),
        "nic_delay": ns(law.nic_delay),
        "sync_jitter": ns(law.sync_jitter),
        "late_sync_fraction": law.late_sync_fraction,
        "slot": slot,
        "shortest_slot": slot,
        "packet": format!("{} B", case.packet),
        "propagation": ns(case.propagation),
        "retransmit_after": ns(case.retransmit_after),
    });
    let site = Site {
        cluster: &cluster,
        flows: &case.flows,
        seed: case.seed,
        threads: 1,
        library: None,
    };
    let table = (mordia::ENTRY.resolve)(&table, &cluster).expect("a good table");
    let mut fabric = (mordia::ENTRY.build)(&table, &site).expect("it was resolved");
    seen(&mut *fabric, case)
}

/// A schedule that connects every rack with the next, then with the one after it, and so on.
fn round_robin(racks: u32, night: Time, day: Time) -> Schedule {
    let joined = |step: u32| lightloom_control::schedule::Slot {
        permutation: (0..racks).map(|rack| (rack + step) % racks).collect(),
        day,
    };
    Schedule {
        ports: racks as usize,
        night,
        slots: (1..racks).map(joined).collect(),
    }
}

prop_compose! {
    /// Times of some hundred nanoseconds, with which a large part of the sent bytes is lost.
    fn laws()(
        night in 1i64..60,
        deviation in 0.0f64..1.0,
        jitter in prop_oneof![Just(0), 0i64..40],
        late in prop_oneof![Just(0.0), 0.0f64..1.0],
        nic in prop_oneof![Just(0), 0i64..50],
    ) -> Punctuality {
        Punctuality {
            night: Time::NS * night,
            night_deviation: Time(((Time::NS * night).0 as f64 * deviation) as i64),
            sync_jitter: Time::NS * jitter,
            late_sync_fraction: late,
            nic_delay: Time::NS * nic,
        }
    }
}

prop_compose! {
    /// Arrivals, and the times of observation.
    fn cases(schedules: impl Strategy<Value = Schedule>)(
        schedule in schedules,
        law in laws(),
        packet in 1u64..40,
        propagation in prop_oneof![Just(0), 0i64..300],
        // 0, or a time that is not a multiple of a slot.
        retransmit in prop_oneof![Just(0), (0i64..400).prop_map(|ns| 1_000 * ns + 2)],
        seed in any::<u64>(),
        rows in prop::collection::vec((any::<u32>(), any::<u32>(), 1u64..300, 0i64..400), 1..12),
        more in 0i64..4_000,
    ) -> Case {
        let (n, mut now, mut flows) = (schedule.ports as u32, 0, Flows::new());
        for (src, dst, bytes, gap) in rows {
            let src = src % n;
            let dst = (src + 1 + dst % (n - 1)) % n;
            now += gap;
            flows.push(HostId(src), HostId(dst), bytes, Time::NS * now + Time(1));
        }
        Case {
            schedule,
            law,
            packet,
            propagation: Time::NS * propagation,
            retransmit_after: Time(retransmit),
            seed,
            flows,
            end: Time::NS * (now + more) + Time(7),
        }
    }
}

fn round_robins() -> impl Strategy<Value = Schedule> {
    (2u32..6, 1i64..200).prop_map(|(racks, day)| round_robin(racks, Time::ZERO, Time::NS * day))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_096))]

    #[test]
    fn what_is_lost_is_its_packets(case in cases(schedules())) {
        prop_assert_eq!(by_kernel(&case), one_by_one(&case));
    }

    /// Planned nights include the delay of interfaces, and days are at least as long as this delay.
    #[test]
    fn what_mordia_loses_is_its_packets(mut case in cases(round_robins())) {
        let silent = case.law.night + case.law.nic_delay;
        let spare = case.law.night + BYTE_NS.time_for(case.packet);
        case.schedule.night = silent;
        for slot in &mut case.schedule.slots {
            slot.day += spare;
        }
        let slot = silent + case.schedule.slots[0].day;
        case.law.sync_jitter = case.law.sync_jitter.min(slot);
        prop_assert_eq!(by_mordia(&case), one_by_one(&case));
    }
}

/// Four packets of 10 B in a day of 60 ns whose light is 15 ns late and whose frame is on time: two
/// are lost, rejoin the queue when the day is over at 70 ns, and cross from 95 ns on, when the next
/// circuit is lit.
#[test]
fn by_hand() {
    let mut flows = Flows::new();
    flows.push(HostId(0), HostId(1), 40, Time::ZERO);
    let case = Case {
        schedule: round_robin(2, Time::NS * 10, Time::NS * 60),
        law: Punctuality::exact(Time::NS * 25),
        packet: 10,
        propagation: Time::NS * 5,
        retransmit_after: Time::NS * 25,
        seed: 1,
        flows,
        end: Time::NS * 400,
    };
    let ns = |n: i64| Time::NS * n;
    let crossed = |from, until| (0, 1, ns(from), ns(until), 10);
    let expected = Outcome {
        flows: vec![(40, ns(10), ns(120))],
        lost: 2,
        crossed: vec![
            crossed(30, 40),
            crossed(40, 50),
            crossed(95, 105),
            crossed(105, 115),
        ],
    };
    assert_eq!(one_by_one(&case), expected);
    assert_eq!(by_kernel(&case), expected);
}
