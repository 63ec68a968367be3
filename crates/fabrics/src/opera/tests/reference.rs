//! A reference that simulates every packet: each packet of bulk is an event, nothing is computed
//! ahead, paths are found by relaxation. The same flows end at the same picoseconds as in the
//! kernel.

use super::{built, cluster, Row};
use crate::tdma::rotor::offers::{Grant, RelayQueues, Spare, Taken};
use crate::tdma::rotor::rotorlb::RotorLb;
use crate::tdma::voq::Voqs;
use lightloom_control::algorithms::factorization::random_factors;
use lightloom_engine::rng::Stream;
use lightloom_engine::{Command, Element, FlowId, Rate, Time};
use proptest::prelude::*;
use serde_json::json;
use std::collections::{BTreeMap, VecDeque};

/// A byte a nanosecond.
const RATE: Rate = Rate(8_000_000_000);
const NS: i64 = 1_000;
const FAR: usize = 1_000;

#[derive(Clone, Copy, Debug)]
struct Net {
    racks: u32,
    switches: u32,
    night: i64,
    slice: i64,
    fly: i64,
    packet: u64,
    below: u64,
    relays: bool,
    /// A switch that is dead throughout.
    dead: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    flow: usize,
    bytes: u64,
    at: usize,
    hops: u64,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// All are lit.
    Begin,
    /// A switch turns.
    Turn(usize),
    /// The bytes that a line carried to relays arrive.
    Relayed(usize),
    Arrive(usize),
    Hop(Packet),
    Landed(usize, u64),
    /// Circuits change: waiting packets are tried again.
    Again,
    /// A line of a rack may have room for one of them.
    Room(usize),
    /// A line may start a packet of bulk. This is the last of all events at an instant.
    Idle(usize),
}

struct Reference<'a> {
    net: Net,
    rows: &'a [Row],
    factors: Vec<Vec<u32>>,
    todo: BTreeMap<(i64, bool, u64), Event>,
    number: u64,
    /// Each line is busy until then.
    busy: Vec<i64>,
    own: Voqs,
    relayed: Voqs,
    rule: RotorLb,
    planned: Vec<VecDeque<Grant>>,
    crossing: Vec<Vec<(u32, u32, FlowId, u64)>>,
    waiting: Vec<Vec<Packet>>,
    again_at: i64,
    room_at: Vec<i64>,
    chance: Stream,
    delivered: Vec<u64>,
    finish: Vec<i64>,
    hops: Vec<u64>,
}

impl Net {
    fn slot(&self) -> i64 {
        self.slice * i64::from(self.switches)
    }

    /// The number of a switch's slot: the slot begins with its night, before the slice in which its
    /// circuits are first lit.
    fn number(&self, plane: usize, now: i64) -> i64 {
        let first = (plane as i64 + 1) * self.slice - self.night;
        (now - first).div_euclid(self.slot()) + 1
    }

    /// Times of first light and of the next night.
    fn day(&self, plane: usize, now: i64) -> (i64, i64) {
        let ends = (plane as i64 + 1) * self.slice - self.night;
        let ends = ends + self.number(plane, now) * self.slot();
        (ends - self.slot() + self.night, ends)
    }

    fn guard(&self) -> i64 {
        self.slice - self.night
    }
}

impl Reference<'_> {
    fn schedule(&mut self, at: i64, event: Event) {
        self.number += 1;
        match event {
            Event::Idle(line) => self.todo.insert((at, true, line as u64), event),
            _ => self.todo.insert((at, false, self.number), event),
        };
    }

    fn racks(&self) -> usize {
        self.net.racks as usize
    }

    /// The rack to which a line sends; the sender itself if the line idles.
    fn to(&self, line: usize, now: i64) -> usize {
        let (plane, rack) = (line / self.racks(), line % self.racks());
        if self.net.dead == Some(plane as u32) {
            return rack;
        }
        let s = self.net.switches as usize;
        let slots = self.factors.len().div_ceil(s) as i64;
        let slot = self.net.number(plane, now).rem_euclid(slots) as usize;
        let factor = self.factors.get(slot * s + plane);
        factor.map_or(rack, |factor| factor[rack] as usize)
    }

    /// Whether each pair of racks ever meets, row by row: in a matching of a switch that works.
    fn meet(&self) -> Vec<bool> {
        let (racks, switches) = (self.racks(), self.net.switches as usize);
        let mut meet = vec![false; racks * racks];
        for (number, factor) in self.factors.iter().enumerate() {
            if self.net.dead != Some((number % switches) as u32) {
                let pairs = factor.iter().enumerate();
                pairs.for_each(|(a, &b)| meet[a * racks + b as usize] = true);
            }
        }
        meet
    }

    fn ends(&self, flow: usize) -> (usize, usize) {
        (self.rows[flow].0 as usize, self.rows[flow].1 as usize)
    }

    /// Planes whose circuits take low-latency packets now.
    fn usable(&self, now: i64) -> Vec<usize> {
        let takes = |&plane: &usize| {
            let (light, night) = self.net.day(plane, now);
            light <= now && now < night - self.net.guard()
        };
        (0..self.net.switches as usize).filter(takes).collect()
    }

    /// Circuits from each rack to one, over usable planes.
    fn distances(&self, to: usize, now: i64) -> Vec<usize> {
        let mut far = vec![FAR; self.racks()];
        far[to] = 0;
        for _ in 0..self.racks() {
            for plane in self.usable(now) {
                for rack in 0..self.racks() {
                    let next = self.to(plane * self.racks() + rack, now);
                    far[rack] = far[rack].min(far[next] + 1);
                }
            }
        }
        far
    }

    /// Planes that bring a rack's packets nearer to another rack.
    fn nearer(&self, rack: usize, to: usize, now: i64) -> Vec<usize> {
        let far = self.distances(to, now);
        let nearer = |&plane: &usize| {
            far[rack] < FAR && far[self.to(plane * self.racks() + rack, now)] < far[rack]
        };
        self.usable(now).into_iter().filter(nearer).collect()
    }

    /// Whether at most seven full packets are ahead and another one ends before the night.
    fn has_room(&self, plane: usize, rack: usize, now: i64) -> bool {
        let packet = self.net.packet as i64 * NS;
        let begins = self.busy[plane * self.racks() + rack].max(now);
        begins - now <= 7 * packet && begins + packet <= self.net.day(plane, now).1
    }

    /// Circuits have changed.
    fn again(&mut self, now: i64) {
        self.again_at = i64::MAX;
        for rack in 0..self.racks() {
            self.refill(rack, now);
            for packet in std::mem::take(&mut self.waiting[rack]) {
                self.hold(packet, now);
            }
        }
    }

    fn go_on(&mut self, packet: Packet, now: i64) -> bool {
        // Waiting packets go first, even if there is room only from this instant on.
        if self.again_at <= now {
            self.again(now);
        } else if self.room_at[packet.at] == now + 1 {
            self.refill(packet.at, now);
        }
        let (_, to) = self.ends(packet.flow);
        if { self.waiting[packet.at].iter() }.any(|other| self.ends(other.flow).1 == to) {
            return false;
        }
        let mut planes = self.nearer(packet.at, to, now);
        planes.retain(|&plane| self.has_room(plane, packet.at, now));
        if planes.is_empty() {
            return false;
        }
        let plane = planes[self.chance.below(planes.len() as u32) as usize];
        self.cross(plane, packet, now);
        true
    }

    fn cross(&mut self, plane: usize, packet: Packet, now: i64) {
        let line = plane * self.racks() + packet.at;
        let ends = self.busy[line].max(now) + packet.bytes as i64 * NS;
        self.busy[line] = ends;
        let next = Packet {
            at: self.to(line, now),
            hops: packet.hops + 1,
            ..packet
        };
        self.schedule(ends + self.net.fly, Event::Hop(next));
        self.schedule(ends, Event::Idle(line));
    }

    fn hold(&mut self, packet: Packet, now: i64) {
        self.waiting[packet.at].push(packet);
        if self.again_at == i64::MAX {
            let changes = (0..self.net.switches as usize).flat_map(|plane| {
                let (light, night) = self.net.day(plane, now);
                [light, night - self.net.guard(), night]
            });
            self.again_at = changes.filter(|&at| at > now).min().expect("a night");
            self.schedule(self.again_at, Event::Again);
        }
    }

    /// A rack at which packets wait is served again when the next of its lines has room.
    fn look_again(&mut self, rack: usize, now: i64) {
        if self.waiting[rack].is_empty() {
            return;
        }
        let packet = self.net.packet as i64 * NS;
        let mut soonest = self.room_at[rack];
        for plane in self.usable(now) {
            let busy = self.busy[plane * self.racks() + rack];
            let room = busy - 7 * packet + 1;
            if room > now && busy + packet <= self.net.day(plane, now).1 {
                soonest = soonest.min(room);
            }
        }
        if soonest < self.room_at[rack] {
            self.room_at[rack] = soonest;
            self.schedule(soonest, Event::Room(rack));
        }
    }

    /// Packets in transit through a rack go first; then flows take turns.
    fn refill(&mut self, rack: usize, now: i64) {
        for plane in self.usable(now) {
            while self.has_room(plane, rack, now) {
                let waits = self.waiting[rack].iter().enumerate();
                let candidates = waits.filter(|(_, packet)| {
                    let to = self.ends(packet.flow).1;
                    self.nearer(rack, to, now).contains(&plane)
                });
                let first = candidates.min_by_key(|(place, packet)| (packet.hops == 0, *place));
                let Some(place) = first.map(|(place, _)| place) else {
                    break;
                };
                let packet = self.waiting[rack].remove(place);
                if packet.hops == 0 {
                    // Moves the flow, which has had its turn, behind the others.
                    let waits = std::mem::take(&mut self.waiting[rack]);
                    let same = |other: &Packet| other.flow == packet.flow && other.hops == 0;
                    let (behind, before) = waits.into_iter().partition::<Vec<_>, _>(same);
                    self.waiting[rack] = before;
                    self.waiting[rack].extend(behind);
                }
                self.cross(plane, packet, now);
            }
        }
        self.look_again(rack, now);
    }

    fn wake(&mut self, from: usize, now: i64) {
        for plane in 0..self.net.switches as usize {
            self.schedule(now, Event::Idle(plane * self.racks() + from));
        }
    }

    fn arrive(&mut self, flow: usize, now: i64) {
        let (from, to) = self.ends(flow);
        let bytes = self.rows[flow].2;
        if bytes >= self.net.below {
            let queue = self.own.of(from as u32, to as u32);
            self.own.push(queue, FlowId(flow as u32), bytes);
            return self.wake(from, now);
        }
        let mut sent = 0;
        while sent < bytes {
            let packet = Packet {
                flow,
                bytes: self.net.packet.min(bytes - sent),
                at: from,
                hops: 0,
            };
            sent += packet.bytes;
            if !self.go_on(packet, now) {
                self.hold(packet, now);
            }
        }
        self.look_again(from, now);
    }

    fn deliver(&mut self, flow: usize, bytes: u64, now: i64) {
        self.delivered[flow] += bytes;
        if self.delivered[flow] == self.rows[flow].2 {
            self.finish[flow] = now;
        }
    }

    /// Starts a packet of bulk on a free line, if one fits.
    fn idle(&mut self, line: usize, now: i64) {
        let (plane, rack) = (line / self.racks(), line % self.racks());
        let (light, night) = self.net.day(plane, now);
        let to = self.to(line, now);
        if self.busy[line] > now || light > now || to == rack {
            return;
        }
        let queue = self.own.of(rack as u32, to as u32);
        let fits = |bytes: u64| now + bytes as i64 * NS <= night;
        let first = |queues: &Voqs| {
            let (flow, bytes) = queues.front(queue)?;
            let bytes = bytes.min(self.net.packet);
            fits(bytes).then_some((flow, bytes))
        };
        let (relayed, own) = (first(&self.relayed), first(&self.own));
        let bytes = if let Some((flow, bytes)) = relayed.or(own) {
            match relayed {
                Some(_) => self.relayed.take(queue, bytes),
                None => self.own.take(queue, bytes),
            }
            self.hops[flow.index()] += bytes * if relayed.is_some() { 2 } else { 1 };
            let at = now + bytes as i64 * NS + self.net.fly;
            self.schedule(at, Event::Landed(flow.index(), bytes));
            bytes
        } else {
            match self.detour(line, to, now, night) {
                None => return,
                Some(bytes) => {
                    // The packet that is now first in that queue may be shorter, and fit elsewhere.
                    self.wake(rack, now);
                    bytes
                }
            }
        };
        self.busy[line] = now + bytes as i64 * NS;
        self.schedule(self.busy[line], Event::Idle(line));
    }

    fn detour(&mut self, line: usize, relay: usize, now: i64, night: i64) -> Option<u64> {
        while let Some(grant) = self.planned[line].front_mut() {
            let queue = self
                .own
                .of((line % self.net.racks as usize) as u32, grant.to);
            let packet = { self.own.front(queue) }
                .map(|(flow, bytes)| (flow, bytes.min(grant.bytes).min(self.net.packet)))
                .filter(|(_, bytes)| now + *bytes as i64 * NS <= night);
            let Some((flow, bytes)) = packet else {
                self.planned[line].pop_front();
                continue;
            };
            let crossing = (relay as u32, grant.to, flow, bytes);
            grant.bytes -= bytes;
            if grant.bytes == 0 {
                self.planned[line].pop_front();
            }
            self.own.take(queue, bytes);
            self.crossing[line / self.net.racks as usize].push(crossing);
            return Some(bytes);
        }
        None
    }

    /// Changes a switch: spare capacity of its lines goes to relays.
    fn turn(&mut self, plane: usize, now: i64) {
        let lines = plane * self.racks()..(plane + 1) * self.racks();
        for line in lines.clone() {
            self.planned[line].clear();
        }
        let (light, night) = self.net.day(plane, now);
        for line in lines.clone() {
            self.schedule(light.max(0), Event::Idle(line));
        }
        self.schedule(night, Event::Turn(plane));
    }

    fn grant(&mut self, lines: std::ops::Range<usize>, now: i64) {
        if !self.net.relays {
            return;
        }
        let left = |r: &Self, line: usize| {
            let (light, night) = r.net.day(line / r.racks(), now);
            let begins = r.busy[line].max(light).max(now);
            let idle = r.to(line, now) == line % r.racks();
            if idle {
                0
            } else {
                ((night - begins).max(0) / NS) as u64
            }
        };
        let ends = |r: &Self, line: usize| ((line % r.racks()) as u32, r.to(line, now) as u32);
        let mut spare = Vec::new();
        for line in lines {
            let (from, relay) = ends(self, line);
            let queue = self.own.of(from, relay);
            let waits = self.own.waiting(queue) + self.relayed.waiting(queue);
            let bytes = left(self, line).saturating_sub(waits);
            if bytes > 0 {
                spare.push(Spare {
                    line: line as u32,
                    from,
                    relay,
                    bytes,
                });
            }
        }
        let mut taken = Vec::new();
        for line in 0..self.planned.len() {
            let (from, to) = ends(self, line);
            let bytes = left(self, line);
            if bytes > 0 {
                taken.push(Taken { from, to, bytes });
            }
            taken.extend(self.planned[line].iter().map(|grant| Taken {
                from,
                to: grant.to,
                bytes: grant.bytes,
            }));
        }
        taken.sort_unstable();
        // Bytes that relays have accepted: valid grants, and bytes on circuits.
        let mut coming = vec![0; self.racks() * self.racks()];
        for (line, planned) in self.planned.iter().enumerate() {
            for grant in planned {
                coming[self.own.of(ends(self, line).1, grant.to)] += grant.bytes;
            }
        }
        for &(relay, to, _, bytes) in self.crossing.iter().flatten() {
            coming[self.own.of(relay, to)] += bytes;
        }
        let relays = RelayQueues {
            relayed: &self.relayed,
            coming: &coming,
            meet: &self.meet(),
        };
        let mut grants = Vec::new();
        self.rule
            .grant(&spare, &taken, &self.own, &relays, &mut grants);
        for grant in grants {
            self.planned[grant.line as usize].push_back(grant);
        }
    }

    fn run(&mut self, until: i64) {
        while let Some(((now, ..), event)) = self.todo.pop_first() {
            if now > until {
                return;
            }
            match event {
                Event::Begin => {
                    (0..self.net.switches as usize).for_each(|plane| self.turn(plane, now));
                    self.grant(0..self.busy.len(), now);
                }
                Event::Turn(plane) => {
                    self.schedule(now + self.net.fly, Event::Relayed(plane));
                    self.turn(plane, now);
                    self.grant(plane * self.racks()..(plane + 1) * self.racks(), now);
                }
                Event::Relayed(plane) => {
                    for (relay, to, flow, bytes) in std::mem::take(&mut self.crossing[plane]) {
                        self.relayed.push(self.relayed.of(relay, to), flow, bytes);
                        self.wake(relay as usize, now);
                    }
                }
                Event::Arrive(flow) => self.arrive(flow, now),
                Event::Landed(flow, bytes) => self.deliver(flow, bytes, now),
                Event::Hop(packet) => {
                    if packet.at == self.ends(packet.flow).1 {
                        self.hops[packet.flow] += packet.bytes * packet.hops;
                        self.deliver(packet.flow, packet.bytes, now);
                    } else if !self.go_on(packet, now) {
                        self.hold(packet, now);
                        self.look_again(packet.at, now);
                    }
                }
                Event::Again if self.again_at == now => self.again(now),
                Event::Again => {}
                Event::Room(rack) if self.room_at[rack] == now => {
                    self.room_at[rack] = i64::MAX;
                    self.refill(rack, now);
                }
                Event::Room(_) => {}
                Event::Idle(line) => self.idle(line, now),
            }
        }
    }
}

fn reference<'a>(net: Net, rows: &'a [Row], seed: u64) -> Reference<'a> {
    let lines = (net.racks * net.switches) as usize;
    let day = (net.slot() - net.night) / NS;
    let mut reference = Reference {
        net,
        rows,
        factors: random_factors(net.racks, 5),
        todo: BTreeMap::new(),
        number: 0,
        busy: vec![0; lines],
        own: Voqs::new(net.racks),
        relayed: Voqs::new(net.racks),
        rule: RotorLb::new(net.racks, day as u64 / net.packet * net.packet),
        planned: vec![VecDeque::new(); lines],
        crossing: vec![Vec::new(); net.switches as usize],
        waiting: vec![Vec::new(); net.racks as usize],
        again_at: i64::MAX,
        room_at: vec![i64::MAX; net.racks as usize],
        chance: Stream::new(seed, "paths", 0),
        delivered: vec![0; rows.len()],
        finish: vec![i64::MAX; rows.len()],
        hops: vec![0; rows.len()],
    };
    reference.schedule(0, Event::Begin);
    for (flow, row) in rows.iter().enumerate() {
        reference.schedule(row.3 .0, Event::Arrive(flow));
    }
    reference
}

fn nets() -> impl Strategy<Value = Net> {
    let shape = (3u32..9, 2u32..6, 0i64..300, 301i64..3_000);
    let rest = (0.0..1.0f64, prop::sample::select(vec![50u64, 300]));
    let below = prop::sample::select(vec![0u64, 800, 1 << 40]);
    let dead = prop::option::of(0u32..6);
    (shape, rest, below, prop::bool::ANY, dead).prop_map(
        |((racks, switches, night, more), (fly, packet), below, relays, dead)| Net {
            racks,
            switches: switches.min(racks - 1),
            dead: dead.filter(|&plane| plane < switches.min(racks - 1)),
            night: night * NS,
            slice: (night + more) * NS,
            // No packet of bulk starts at such a time.
            fly: ((night - 1).max(0) as f64 * fly) as i64 * NS + 500.min(night * NS),
            packet,
            below,
            relays,
        },
    )
}

/// Flows arrive at distinct even picoseconds. Lines are checked for free capacity at odd ones, so
/// that few events coincide.
fn rows(racks: u32) -> impl Strategy<Value = Vec<Row>> {
    let row = (0..racks, 1..racks, 1u64..4_000, 1i64..60_000);
    prop::collection::vec(row, 1..40).prop_map(move |rows| {
        let row = |(k, (src, places, bytes, ns)): (usize, (u32, u32, u64, i64))| {
            (
                src,
                (src + places) % racks,
                bytes,
                Time(ns * NS + 2 + 2 * k as i64),
            )
        };
        rows.into_iter().enumerate().map(row).collect()
    })
}

/// Runs kernel and reference; returns the bytes that crossed more than one circuit, and all bytes.
fn check(net: Net, rows: &[Row]) -> Result<(f64, f64), TestCaseError> {
    let ps = |time: i64| format!("{time} ps");
    let table = json!({
        "switches": net.switches, "link_rate": "8 Gb/s", "matchings_seed": 5,
        "night": ps(net.night), "slice": ps(net.slice), "propagation": ps(net.fly),
        "packet": format!("{} B", net.packet), "low_latency": format!("{} B", net.below),
        "indirect": if net.relays { "rotorlb" } else { "none" },
    });
    let until = Time(net.slot() * 40 + 100_000 * NS);
    let (mut fabric, mut io) = built(&cluster(net.racks, RATE), &table, rows);
    if let Some(plane) = net.dead {
        let (element, loss) = (Element::Plane(plane), 1.0);
        fabric.apply(Command::Fail { element, loss }).expect("dies");
    }
    fabric.advance(until, &mut io);
    fabric.settle(&mut io);
    let mut reference = reference(net, rows, 1);
    reference.run(until.0 - 1);
    let ends: Vec<i64> = io.flows.finish.iter().map(|t| t.0).collect();
    prop_assert_eq!(&ends, &reference.finish);
    let (mut more, mut all) = (0.0, 0.0);
    for (flow, row) in rows.iter().enumerate() {
        if ends[flow] < i64::MAX {
            let hops = reference.hops[flow] as f64 / row.2 as f64;
            prop_assert!((f64::from(io.flows.hops[flow]) - hops).abs() < 1e-5);
            more += (hops - 1.0) * row.2 as f64;
            all += row.2 as f64;
        }
    }
    Ok((more, all))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn flows_end_as_packet_by_packet(
        (net, mut rows) in nets().prop_flat_map(|net| (Just(net), rows(net.racks))),
    ) {
        rows.sort_by_key(|row| row.3);
        check(net, &rows)?;
    }
}

/// Otherwise the comparison would not cover relays, priority or longer paths.
#[test]
fn all_of_it_is_tried() {
    let net = Net {
        racks: 8,
        switches: 4,
        night: 100 * NS,
        slice: 1_000 * NS,
        fly: 50_500,
        packet: 50,
        below: 800,
        relays: true,
        dead: None,
    };
    // From each rack 9,000 B to one other, and 400 B to a third.
    let row = |k: u32| -> Row {
        let (places, bytes) = if k < 8 { (3, 9_000) } else { (1 + k % 7, 400) };
        let comes = Time(NS * 130 * i64::from(k) + 2 + 2 * i64::from(k));
        (k % 8, (k + places) % 8, bytes, comes)
    };
    let rows: Vec<Row> = (0..60).map(row).collect();
    let (more, all) = check(net, &rows).expect("they agree");
    assert_eq!(all, 8.0 * 9_000.0 + 52.0 * 400.0);
    // At least a third of the bulk went via relays, and half of the rest over two circuits.
    assert!(more > 24_000.0 + 10_000.0, "{more}");
    let dead = Some(2);
    let (longer, arrived) = check(Net { dead, ..net }, &rows).expect("they agree");
    assert_eq!(arrived, all, "over racks between");
    assert!(longer > more, "{longer}");
    let (alone, _) = check(Net { below: 0, ..net }, &rows).expect("they agree");
    assert!(alone > 24_000.0, "{alone}");
}

/// When a circuit from rack 1 to rack 2 becomes lit, 320 of the bytes that waited for it have left
/// for a relay over another circuit. They arrive after the rest of their flow.
#[test]
fn what_has_left_for_a_relay_does_not_wait_for_the_next_circuit() {
    let net = Net {
        racks: 3,
        switches: 2,
        night: 44 * NS,
        slice: 943 * NS,
        fly: 1_500,
        packet: 300,
        below: 0,
        relays: true,
        dead: None,
    };
    let rows = [
        (1, 2, 3043, Time(44_277_004)),
        (1, 2, 3374, Time(46_481_008)),
        (1, 2, 3685, Time(46_580_006)),
        (1, 2, 2165, Time(46_947_002)),
        (1, 0, 2072, Time(51_670_016)),
        (2, 0, 1442, Time(52_613_014)),
        (1, 2, 3556, Time(57_622_012)),
        (0, 2, 3280, Time(59_259_010)),
    ];
    check(net, &rows).expect("they agree");
}

/// A packet of 300 B that does not fit into the rest of its direct circuit's day leaves for
/// a relay; the 49 B behind it do fit.
#[test]
fn what_is_behind_a_packet_that_has_left_for_a_relay_goes_directly() {
    let net = Net {
        racks: 4,
        switches: 3,
        night: 168 * NS,
        slice: 1_319 * NS,
        fly: 61_500,
        packet: 300,
        below: 0,
        relays: true,
        dead: None,
    };
    let rows = [
        (0, 3, 3301, Time(59_425_002)),
        (0, 3, 49, Time(59_425_006)),
        (0, 2, 1801, Time(59_774_004)),
    ];
    check(net, &rows).expect("they agree");
}
