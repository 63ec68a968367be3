//! A plain implementation of RotorLB, slot by slot: queues contain single bytes, and shares are
//! assigned one byte at a time.

use super::{built, cluster, Row, BYTE_NS};
use lightloom_engine::{Command, Element, Fabric, Time};
use proptest::prelude::*;
use serde_json::json;
use std::collections::VecDeque;

type Queues = Vec<Vec<VecDeque<usize>>>;

/// Night, and bytes (nanoseconds) of a day.
#[derive(Clone, Copy, Debug)]
struct Plan {
    racks: usize,
    switches: usize,
    night: usize,
    day: usize,
    relays: bool,
    /// A switch that is dead from one slot to another.
    dead: Option<(usize, usize, usize)>,
}

impl Plan {
    /// Whether a switch has died.
    fn is_dead(&self, plane: usize, slot: usize) -> bool {
        { self.dead }.is_some_and(|(dead, from, to)| dead == plane && (from..to).contains(&slot))
    }

    /// Whether a rack ever sends to another over the switches that work.
    fn meets(&self, from: usize, to: usize, slot: usize) -> bool {
        let places = (to + self.racks - from) % self.racks;
        places > 0 && !self.is_dead((places - 1) % self.switches, slot)
    }
}

/// A flow: source, destination, bytes, slot of arrival, and bytes of the day that have passed at
/// its arrival.
type Comes = (usize, usize, u64, usize, usize);

struct Reference {
    plan: Plan,
    own: Queues,
    relayed: Queues,
    /// For each plane and rack: the receiver, and the part of the day that is used.
    lines: Vec<Vec<(usize, usize)>>,
    crossing: Vec<(usize, usize, usize)>,
    /// Bytes of its own that each rack gives to relays in this slot.
    given: Vec<Vec<usize>>,
    delivered: Vec<u64>,
    twice: Vec<u64>,
    peak: u64,
}

/// Assigns `all` one by one; an indivisible rest goes to the last of those that could use most.
fn dealt(mut all: usize, could_use: &[usize]) -> Vec<usize> {
    let mut shares = vec![0; could_use.len()];
    loop {
        let mut hungry: Vec<usize> = (0..shares.len())
            .filter(|&i| shares[i] < could_use[i])
            .collect();
        if all == 0 || hungry.is_empty() {
            return shares;
        }
        if hungry.len() > all {
            hungry.sort_by_key(|&i| (could_use[i], i));
            hungry.drain(..hungry.len() - all);
        }
        all -= hungry.len();
        hungry.into_iter().for_each(|i| shares[i] += 1);
    }
}

impl Reference {
    fn new(plan: Plan, flows: usize) -> Reference {
        let queues = || vec![vec![VecDeque::new(); plan.racks]; plan.racks];
        Reference {
            own: queues(),
            relayed: queues(),
            lines: vec![vec![(0, 0); plan.racks]; plan.switches],
            crossing: Vec::new(),
            given: vec![vec![0; plan.racks]; plan.racks],
            delivered: vec![0; flows],
            twice: vec![0; flows],
            peak: 0,
            plan,
        }
    }

    /// Sends from `from` to `to` directly after `used` bytes of the day; returns the bytes of the
    /// day that are used afterwards.
    fn direct(&mut self, from: usize, to: usize, mut used: usize) -> usize {
        while used < self.plan.day {
            if let Some(flow) = self.relayed[from][to].pop_front() {
                self.twice[flow] += 1;
                self.delivered[flow] += 1;
            } else if let Some(flow) = self.own[from][to].pop_front() {
                self.delivered[flow] += 1;
            } else {
                break;
            }
            used += 1;
        }
        used
    }

    fn slot(&mut self, slot: usize, comes: &[(usize, Comes)]) {
        let Plan {
            racks,
            switches,
            relays,
            ..
        } = self.plan;
        let slots = (racks - 1).div_ceil(switches);
        self.given.iter_mut().for_each(|row| row.fill(0));
        for plane in 0..switches {
            // Matchings 1 to N - 1 in the order of their assignment.
            let matching = (slot % slots) * switches + plane + 1;
            let lit = matching < racks && !self.plan.is_dead(plane, slot);
            let places = if lit { matching } else { 0 };
            for rack in 0..racks {
                let to = (rack + places) % racks;
                let used = match to == rack {
                    true => self.plan.day,
                    false => self.direct(rack, to, 0),
                };
                self.lines[plane][rack] = (to, used);
            }
        }
        if relays {
            for relay in 0..racks {
                self.accept((slot + relay) % racks, slot);
            }
        }
        for &(flow, (from, to, bytes, _, at)) in comes {
            self.own[from][to].extend((0..bytes).map(|_| flow));
            for plane in 0..switches {
                let (hears, used) = self.lines[plane][from];
                if hears == to && from != to {
                    self.lines[plane][from].1 = self.direct(from, to, used.max(at));
                }
            }
        }
        for (relay, to, flow) in std::mem::take(&mut self.crossing) {
            self.relayed[relay][to].push_back(flow);
        }
        let held = |rack: &Vec<VecDeque<usize>>| rack.iter().map(|q| q.len() as u64).sum();
        self.peak = self.relayed.iter().map(held).fold(self.peak, u64::max);
    }

    /// The bytes that a relay accepts from racks that have time left when the slot begins.
    fn accept(&mut self, relay: usize, slot: usize) {
        let Plan { racks, day, .. } = self.plan;
        let senders: Vec<(usize, usize)> = (0..self.plan.switches)
            .flat_map(|plane| (0..racks).map(move |rack| (plane, rack)))
            .filter(|&(plane, rack)| rack != relay && self.lines[plane][rack].0 == relay)
            .collect();
        let mut granted = vec![vec![0; racks]; senders.len()];
        loop {
            let left: Vec<usize> = (0..senders.len())
                .map(|i| {
                    let (plane, rack) = senders[i];
                    day - self.lines[plane][rack].1 - granted[i].iter().sum::<usize>()
                })
                .collect();
            let mut offered = vec![vec![0; racks]; senders.len()];
            for to in (0..racks).filter(|&to| self.plan.meets(relay, to, slot)) {
                // Bytes that the relay gives to others in this slot are still its own.
                let held = self.own[relay][to].len()
                    + self.given[relay][to]
                    + self.relayed[relay][to].len()
                    + granted.iter().map(|row| row[to]).sum::<usize>();
                let could_send = |i: usize| match left[i] {
                    0 => 0,
                    _ => self.own[senders[i].1][to].len() - granted[i][to],
                };
                let could_send: Vec<usize> = (0..senders.len()).map(could_send).collect();
                let shares = dealt(day.saturating_sub(held), &could_send);
                (0..senders.len()).for_each(|i| offered[i][to] = shares[i]);
            }
            let mut more = 0;
            for i in 0..senders.len() {
                let shares = dealt(left[i], &offered[i]);
                more += shares.iter().sum::<usize>();
                (0..racks).for_each(|to| granted[i][to] += shares[to]);
            }
            if more == 0 {
                break;
            }
        }
        for (row, (plane, rack)) in granted.into_iter().zip(senders) {
            for (to, bytes) in row.into_iter().enumerate() {
                let flows = self.own[rack][to].drain(..bytes);
                self.crossing.extend(flows.map(|flow| (relay, to, flow)));
                self.given[rack][to] += bytes;
                self.lines[plane][rack].1 += bytes;
            }
        }
    }
}

fn cases() -> impl Strategy<Value = (Plan, Vec<Comes>)> {
    let plan = (2usize..8, 1usize..8, 1usize..6, 1usize..40, any::<bool>());
    let dead = prop::option::of((0usize..8, 0usize..12, 1usize..40));
    (plan, dead).prop_flat_map(|((racks, switches, night, day, relays), dead)| {
        let switches = switches.min(racks - 1);
        let plan = Plan {
            racks,
            switches,
            night,
            day,
            relays,
            dead: dead.map(|(plane, from, slots)| (plane % switches, from, from + slots)),
        };
        // Some racks send much, and most nothing.
        let flow = (
            0..racks.min(3),
            1..racks,
            prop_oneof![1u64..20, 1u64..300],
            0usize..12,
            0..day,
        );
        let flows = prop::collection::vec(flow, 1..14).prop_map(move |mut flows| {
            flows.sort_by_key(|f| (f.3, f.4));
            let to = |from: usize, places: usize| (from + places) % racks;
            let flow = |(from, places, bytes, slot, at)| (from, to(from, places), bytes, slot, at);
            flows.into_iter().map(flow).collect()
        });
        (Just(plan), flows)
    })
}

fn check(plan: Plan, flows: &[Comes]) -> Result<(u64, u64), TestCaseError> {
    let slot = Time::NS * (plan.night + plan.day) as i64;
    let row = |&(from, to, bytes, slots, at): &Comes| -> Row {
        let comes = slot * slots as i64 + Time::NS * (plan.night + at) as i64;
        (from as u32, to as u32, bytes, comes)
    };
    let rows: Vec<Row> = flows.iter().map(row).collect();
    let table = json!({
        "switches": plan.switches, "link_rate": "8 Gb/s", "packet": "1 B",
        "night": format!("{} ns", plan.night), "slot": format!("{} ns", plan.night + plan.day),
        "indirect": if plan.relays { "rotorlb" } else { "none" },
    });
    let (mut fabric, mut io) = built(&cluster(plan.racks as u32, BYTE_NS), &table, &rows);
    let mut reference = Reference::new(plan, rows.len());
    // An event at a switch during a slot takes effect in the next.
    let strike = |fabric: &mut Box<dyn Fabric>, slot| {
        let Some((plane, from, to)) = plan.dead else {
            return;
        };
        let element = Element::Plane(plane as u32);
        if slot == from {
            let loss = 1.0;
            fabric.apply(Command::Fail { element, loss }).expect("dies");
        } else if slot == to {
            fabric.apply(Command::Repair(element)).expect("lives");
        }
    };
    strike(&mut fabric, 0);
    fabric.advance(Time(1), &mut io);
    for t in 0..60 {
        strike(&mut fabric, t + 1);
        let comes = flows.iter().copied().enumerate().filter(|(_, f)| f.3 == t);
        reference.slot(t, &comes.collect::<Vec<_>>());
        fabric.advance(slot * (t as i64 + 1) + Time(1), &mut io);
        prop_assert_eq!(
            &io.flows.delivered,
            &reference.delivered,
            "after slot {}",
            t
        );
        let peak = plan.relays.then_some(reference.peak);
        prop_assert_eq!(fabric.totals().queue_peak_bytes, peak);
    }
    fabric.settle(&mut io);
    for (f, &delivered) in reference.delivered.iter().enumerate() {
        if delivered > 0 {
            let hops = 1.0 + reference.twice[f] as f64 / delivered as f64;
            prop_assert!((f64::from(io.flows.hops[f]) - hops).abs() < 1e-6);
        }
    }
    Ok((
        reference.twice.iter().sum(),
        reference.delivered.iter().sum(),
    ))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn slots_are_as_byte_by_byte((plan, flows) in cases()) {
        check(plan, &flows)?;
    }
}

/// Otherwise the comparison would not cover relays.
#[test]
fn relays_are_tried() {
    let flows = [
        (0, 1, 300, 0, 3),
        (0, 2, 90, 0, 5),
        (2, 1, 150, 1, 0),
        (1, 2, 50, 2, 9),
    ];
    let plan = Plan {
        racks: 6,
        switches: 2,
        night: 2,
        day: 30,
        relays: true,
        dead: None,
    };
    let (twice, all) = check(plan, &flows).expect("they agree");
    assert_eq!(all, 590);
    assert!(twice > 150, "{twice}");
    // The switch that connects rack 0 to 1 is dead for a long time: traffic goes via relays
    // instead.
    let dead = Some((0, 0, 40));
    let (twice, all) = check(Plan { dead, ..plan }, &flows).expect("they agree");
    assert_eq!(all, 590);
    assert!(twice > 300, "{twice}");
}
