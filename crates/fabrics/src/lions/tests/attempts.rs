//! AO-NACK with several packets in flight (L/2D < 1), compared with a plain model that processes a
//! list of events in order of time, at several N and k, with and without the paper's headers,
//! guards and fibre.
//!
//! With the same packets both have to agree to the picosecond. With different random packets the
//! means have to agree within their confidence intervals.

use super::super::theory::Uniform;
use super::traffic::poisson_in;
use super::*;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The parameters of the model; times in ps.
#[derive(Clone, Copy)]
struct Case {
    hosts: u32,
    receivers: u32,
    packet: u64,
    header: u64,
    guard: u64,
    tuning_ns: i64,
    fibre_m: i64,
    sequence: bool,
}

/// A byte at 10 Gb/s, and a metre of fibre [ps].
const BYTE: i64 = 800;
const METRE: i64 = 5_000;

impl Case {
    /// Packets without headers and guards; 20 m of fibre for each slot that a NACK takes.
    const fn bare(hosts: u32, receivers: u32, fibre_m: i64) -> Case {
        Case {
            hosts,
            receivers,
            packet: PACKET,
            header: 0,
            guard: 0,
            tuning_ns: 0,
            fibre_m,
            sequence: false,
        }
    }

    /// The paper's values: 5 B of header, 17 B of guard, 10 m of fibre; packets of 64 B take 55 ns,
    /// so a NACK returns after 110 ns, when its packet is over.
    const fn paper(hosts: u32, receivers: u32, sequence: bool) -> Case {
        Case {
            hosts,
            receivers,
            packet: 64,
            header: 5,
            guard: 17,
            tuning_ns: 10,
            fibre_m: 10,
            sequence,
        }
    }

    fn table(self) -> Value {
        json!({
            "architecture": "ao-nack", "receivers": self.receivers,
            "packet": format!("{} B", self.packet), "header": format!("{} B", self.header),
            "guard": format!("{} B", self.guard), "tuning": format!("{} ns", self.tuning_ns),
            "fibre": format!("{} m", self.fibre_m),
            "detector": if self.sequence { "sequence" } else { "timers" },
        })
    }

    fn wire(self, bytes: u64) -> i64 {
        (bytes + self.header) as i64 * BYTE
    }

    /// Duration of a full packet and the gap after it.
    fn slot(self) -> Time {
        let gap = (self.guard as i64 * BYTE).max(self.tuning_ns * 1_000);
        Time(self.wire(self.packet) + gap)
    }

    fn to_switch(self) -> i64 {
        self.fibre_m * METRE + self.tuning_ns * 1_000
    }

    /// Time from the transmission of a packet's first bit until the host has identified its NACK
    /// [ps].
    fn known(self) -> i64 {
        let read = if self.sequence {
            self.header as i64 * BYTE
        } else {
            0
        };
        self.to_switch() + self.fibre_m * METRE + read
    }

    /// The same in slots.
    fn beta(self) -> f64 {
        self.known() as f64 / self.slot().0 as f64
    }

    /// Latency of a packet that meets no other, without the gap after it [slots].
    fn alone(self) -> f64 {
        let all = self.wire(self.packet) + self.to_switch() + self.fibre_m * METRE;
        all as f64 / self.slot().0 as f64
    }

    /// Single packets at random times, `load` per slot and host.
    fn flows(self, load: f64, seed: u64) -> Flows {
        let slots = 480_000 / self.hosts as usize;
        poisson_in(self.slot(), self.packet, self.hosts, load, slots, seed)
    }
}

/// Events, in the order in which they are processed at the same instant. A host's packets return
/// with the same spacing with which they were sent, so a host often may send at the instant at
/// which a packet returns. Directly after a full packet it has already chosen the next one by then;
/// otherwise it has not. Of equal events the first that was scheduled is first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Happens {
    Arrives(usize),
    IsAtTheSwitch(usize),
    SendsBehindAFullOne(usize),
    IsBack(usize),
    MaySend(usize),
}

/// A host of the model: packets that were never sent, and returned packets.
#[derive(Clone, Default)]
struct Host {
    new: VecDeque<usize>,
    back: VecDeque<usize>,
    free: i64,
    planned: bool,
}

impl Happens {
    fn rank(self) -> u8 {
        match self {
            Happens::Arrives(_) => 0,
            Happens::IsAtTheSwitch(_) => 1,
            Happens::SendsBehindAFullOne(_) => 2,
            Happens::IsBack(_) => 3,
            Happens::MaySend(_) => 4,
        }
    }
}

/// The model in progress.
struct Model<'a> {
    case: Case,
    flows: &'a Flows,
    hosts: Vec<Host>,
    /// Time at which each receiver can receive the next packet.
    free: Vec<i64>,
    agenda: BinaryHeap<Reverse<(i64, u8, u64, Happens)>>,
    planned: u64,
    finish: Vec<Time>,
    losses: u64,
}

/// The delivery time of each packet, and the number of reflections.
fn model(case: Case, flows: &Flows) -> (Vec<Time>, u64) {
    let mut model = Model {
        case,
        flows,
        hosts: vec![Host::default(); case.hosts as usize],
        free: vec![i64::MIN; (case.hosts * case.receivers) as usize],
        agenda: BinaryHeap::new(),
        planned: 0,
        finish: vec![Time::NEVER; flows.len()],
        losses: 0,
    };
    (0..flows.len()).for_each(|f| model.plan(flows.arrival[f].0, Happens::Arrives(f)));
    while let Some(Reverse((now, _, _, what))) = model.agenda.pop() {
        match what {
            Happens::Arrives(f) => {
                let host = flows.src[f].index();
                model.hosts[host].new.push_back(f);
                model.wake(host, now);
            }
            Happens::IsBack(f) => {
                let host = flows.src[f].index();
                model.hosts[host].back.push_back(f);
                model.wake(host, now);
            }
            Happens::MaySend(host) | Happens::SendsBehindAFullOne(host) => model.send(host, now),
            Happens::IsAtTheSwitch(f) => model.ask(f, now),
        }
    }
    (model.finish, model.losses)
}

impl Model<'_> {
    fn plan(&mut self, at: i64, what: Happens) {
        self.planned += 1;
        self.agenda
            .push(Reverse((at, what.rank(), self.planned, what)));
    }

    /// Schedules the next packet of a host as soon as it is free.
    fn wake(&mut self, host: usize, now: i64) {
        let Host { planned, free, .. } = &mut self.hosts[host];
        if !std::mem::replace(planned, true) {
            let at = now.max(*free);
            self.plan(at, Happens::MaySend(host));
        }
    }

    /// Sends a returned packet of a host first, otherwise a new one.
    fn send(&mut self, host: usize, now: i64) {
        let Host { new, back, .. } = &mut self.hosts[host];
        let next = back.pop_front().or_else(|| new.pop_front());
        let (f, more) = (next.expect("a packet"), !back.is_empty() || !new.is_empty());
        let gap = self.case.slot().0 - self.case.wire(self.case.packet);
        let free = now + self.case.wire(self.flows.bytes[f]) + gap;
        self.hosts[host].planned = more;
        self.hosts[host].free = free;
        self.plan(now + self.case.to_switch(), Happens::IsAtTheSwitch(f));
        match self.flows.bytes[f] == self.case.packet {
            _ if !more => {}
            true => self.plan(free, Happens::SendsBehindAFullOne(host)),
            false => self.plan(free, Happens::MaySend(host)),
        }
    }

    /// Arbitrates a packet: it gets its receiver or is reflected.
    fn ask(&mut self, f: usize, now: i64) {
        let (n, k) = (self.case.hosts as usize, self.case.receivers as usize);
        let group = self.flows.src[f].index() * k / n;
        let receiver = &mut self.free[self.flows.dst[f].index() * k + group];
        if *receiver <= now {
            let wire = self.case.wire(self.flows.bytes[f]);
            *receiver = now + wire + self.case.guard as i64 * BYTE;
            self.finish[f] = Time(now + wire + self.case.fibre_m * METRE);
        } else {
            self.losses += 1;
            let back = now - self.case.to_switch() + self.case.known();
            self.plan(back, Happens::IsBack(f));
        }
    }
}

/// Latency of packets in order of arrival [slots].
fn slots(case: Case, flows: &Flows, finish: &[Time]) -> Vec<f64> {
    let of = |f: usize| (finish[f] - flows.arrival[f]).0 as f64 / case.slot().0 as f64;
    (0..flows.len()).map(of).collect()
}

fn kernel(case: Case, flows: &Flows) -> Io {
    simulate(case.hosts, &case.table(), flows.clone(), Stop::Drain).0
}

const CASES: [(Case, f64); 12] = [
    (Case::bare(8, 4, 41), 0.6),
    (Case::bare(8, 2, 63), 0.4),
    (Case::bare(16, 1, 31), 0.25),
    (Case::bare(16, 8, 83), 0.7),
    (Case::bare(32, 4, 43), 0.5),
    (Case::bare(32, 2, 37), 0.4),
    (Case::bare(128, 4, 41), 0.5),
    (Case::bare(128, 16, 61), 0.7),
    (Case::paper(8, 2, false), 0.4),
    (Case::paper(32, 8, true), 0.6),
    (Case::paper(64, 4, false), 0.6),
    (Case::paper(128, 4, true), 0.5),
];

/// With the same packets, full and short ones, times are equal to the picosecond.
#[test]
fn each_packet_as_the_model_has_it() {
    for (i, (case, load)) in CASES.into_iter().enumerate() {
        let mut flows = case.flows(load, 23);
        if i.is_multiple_of(3) {
            let short = |f: usize| {
                if f.is_multiple_of(5) {
                    case.packet / 2
                } else {
                    case.packet
                }
            };
            (0..flows.len()).for_each(|f| flows.bytes[f] = short(f));
        }
        let (finish, losses) = model(case, &flows);
        let io = kernel(case, &flows);
        let what = format!("N {} k {}", case.hosts, case.receivers);
        let apart = (0..flows.len()).find(|&f| io.flows.finish[f] != finish[f]);
        if let Some(f) = apart {
            let (ours, theirs) = (io.flows.finish[f], finish[f]);
            panic!(
                "{what}, flow {f} of {}: {ours} for {theirs}",
                flows.arrival[f]
            );
        }
        assert_eq!(io.ledger.losses, losses, "{what}");
    }
}

/// With different random packets the mean latencies agree within the sum of both 99.9 % intervals,
/// and are not less than with independent attempts.
#[test]
fn mean_latency_by_chance() {
    for (case, load) in CASES {
        let what = format!("N {} k {} p {load}", case.hosts, case.receivers);
        let (ours, theirs) = (case.flows(load, 5), case.flows(load, 91));
        let got = Estimate::of(&slots(case, &ours, &kernel(case, &ours).flows.finish));
        let chance = Estimate::of(&slots(case, &theirs, &model(case, &theirs).0));
        let both = got.half.hypot(chance.half);
        let apart = (got.mean - chance.mean).abs();
        assert!(apart <= both, "{what}: {got:?} for {chance:?}");
        assert!(both <= 0.03 * chance.mean, "{what}: {both} is too wide");
        let uniform = Uniform::new(case.hosts, case.receivers, load);
        let bound = uniform.nack_latency_pipelined(case.beta()) - 1.0 + case.alone();
        got.is_from(bound, f64::INFINITY, &what);
    }
}

/// At saturation the packets that hosts deliver per slot agree within the sum of both intervals.
#[test]
fn throughput_by_chance() {
    for (case, _) in CASES {
        let what = format!("N {} k {}", case.hosts, case.receivers);
        let (ours, theirs) = (case.flows(1.5, 5), case.flows(1.5, 91));
        let count = 480_000 / case.hosts as usize;
        let until = case.slot() * count as i64;
        let per_slot = |io: &Io| Estimate::of(&delivered_in(case.slot(), io, case.hosts, count));
        let (io, _) = simulate(case.hosts, &case.table(), ours, Stop::At(until));
        let got = per_slot(&io);
        let mut other = Io::new(theirs);
        other.flows.finish = model(case, &other.flows).0;
        let chance = per_slot(&other);
        let both = got.half.hypot(chance.half);
        assert!(
            (got.mean - chance.mean).abs() <= both,
            "{what}: {got:?} for {chance:?}"
        );
        assert!(both <= 0.02 * chance.mean, "{what}: {both} is too wide");
        let independent = Uniform::new(case.hosts, case.receivers, 1.0).nack_saturation();
        assert!(
            got.mean - got.half < independent,
            "{what}: {got:?} {independent}"
        );
    }
}
