//! Circuits by a schedule: Mordia, RotorNet, Opera. Eight racks of two servers of 10 Gb/s, so
//! that a rack's circuits carry 20 Gb/s while they are lit.

use super::{set, Row};
use crate::scenario::*;
use lightloom_engine::{Cluster, Element, Time};
use serde_json::{json, Value};

/// The slots that a schedule gives a pair of racks.
struct Turns {
    table: Value,
    /// Bytes that cross the direct circuit in a cycle.
    share: u64,
    /// A cycle [ms].
    cycle: f64,
    /// The computation of the share, as text.
    formula: &'static str,
    /// The parts that fail, and whether that stops all circuits.
    fails: (Vec<Element>, bool),
}

impl Turns {
    /// Time for bytes between two racks over direct circuits [ms].
    fn lasts(&self, bytes: u64) -> f64 {
        bytes as f64 / self.share as f64 * self.cycle
    }

    fn case(&self, flows: Vec<Flow>, ms: f64, formula: &'static str) -> Case {
        Case::new(two_racks(), self.table.clone(), flows, ms, formula)
    }

    /// As a case whose bounds are a cycle apart, because the schedule determines when the circuit
    /// is first lit.
    fn within_a_cycle(&self, flows: Vec<Flow>, ms: f64, formula: &'static str) -> Case {
        let cycle = "the first circuit is lit within a cycle";
        let case = self.case(flows, ms, formula);
        case.between(0.99 * ms, 1.01 * ms + self.cycle, cycle)
    }

    fn stops(&self, spans: &[(i64, i64)]) -> Verdict {
        let longest = spans.iter().map(|s| s.1).max().expect("one") - spans[0].0;
        let (elements, dark) = &self.fails;
        let least = self.lasts(100 * MB) + if *dark { longest as f64 } else { 0.0 };
        let formula = match dark {
            true => "100 MB at the rate of the pair, plus the time for which all circuits are dark",
            false => {
                "100 MB at the rate of the pair: the schedule is followed without a controller"
            }
        };
        let case = self.within_a_cycle(lone(100 * MB), least, formula);
        let all = spans
            .iter()
            .flat_map(|&span| elements.iter().map(move |&e| (e, span)));
        takes(all.fold(case, |case, (element, (from, until))| {
            case.fails(element, from, until)
        }))
    }

    /// The mouse waits for its turn at the server, then at most a cycle for its circuit.
    fn mouse_waits(&self) -> Verdict {
        let most = in_turn(1_500) + self.cycle + ms(MOUSE, 10.0) + 2.0 * ms(1_500, 10.0);
        let formula = "turns at the server's link, and a cycle at most until the circuit is lit";
        let when = "when the circuit is lit next depends on the schedule";
        takes(
            self.case(mouse(), 0.0, formula)
                .of(1)
                .between(ms(MOUSE, 10.0), most, when),
        )
    }

    fn row(&self, others: [Verdict; 4]) -> Row {
        let [mouse, planes, multihop, beside] = others;
        let pair = "two flows of 50 MB at the rate of their pair";
        let to_one = "25 MB at the rate of a pair, or 100 MB ÷ rate of the receiver's link";
        // A pair of racks has 4 MB, and its first day ends before the servers have filled it.
        let cycles = (4 * MB).div_ceil(self.share) as f64 + 1.0;
        let exchange = self.case(
            all_to_all(MB),
            0.0,
            "4 MB ÷ bytes that a pair has in a cycle",
        );
        let first = "a cycle more: a pair's first day ends before its servers have filled it";
        let rates = [10u64, 25, 50].map(|gbps| {
            let formula = "100 MB · rate ÷ 10 Gb/s, at a rate of the pair in proportion";
            let (flows, least) = (lone(10 * MB * gbps), self.lasts(100 * MB));
            Case::new(
                cluster(8, 2, gbps),
                self.table.clone(),
                flows,
                least,
                formula,
            )
        });
        vec![
            (
                "lone flow",
                takes(self.within_a_cycle(lone(100 * MB), self.lasts(100 * MB), self.formula)),
            ),
            (
                "permutation",
                takes(self.within_a_cycle(permutation(50 * MB), self.lasts(100 * MB), pair)),
            ),
            (
                "incast",
                takes(self.within_a_cycle(incast(25 * MB), self.lasts(25 * MB).max(80.0), to_one)),
            ),
            (
                "all-to-all",
                takes(exchange.between(12.0, cycles * self.cycle + 0.4, first)),
            ),
            ("mouse beside an elephant", mouse),
            (
                "parallel paths",
                takes(self.within_a_cycle(two(50 * MB), self.lasts(100 * MB), pair)),
            ),
            ("two planes", planes),
            ("multihop route", multihop),
            ("circuit beside electrical", beside),
            ("failure and repair", self.stops(&[(50, 150)])),
            ("overlapping failures", self.stops(&[(50, 250), (80, 100)])),
            ("three server rates", Verdict::Takes(rates.into())),
        ]
    }
}

fn two_racks() -> Cluster {
    cluster(8, 2, 10)
}

const NO_TREE: Verdict = Verdict::DoesNotApply("it has no electrical network");

pub fn mordia() -> Row {
    let turns = Turns {
        table: json!({"policy": "rotation"}),
        share: 157 * 1_500,
        cycle: 7.0 * 0.106,
        formula: "157 packets of 1,500 B, 94.5 µs of 20 Gb/s, once in 7 slots of 106 µs",
        fails: (vec![Element::Controller], false),
    };
    let mut row = turns.row([
        turns.mouse_waits(),
        Verdict::DoesNotApply("a rack has one circuit at a time"),
        Verdict::DoesNotApply("no packet takes two circuits"),
        Verdict::DoesNotApply("its packet switch is an option, which its own tests judge"),
    ]);
    for (scenario, spans) in [
        ("failure and repair", &[(50, 150)][..]),
        ("overlapping failures", &[(50, 250), (80, 100)]),
    ] {
        set(&mut row, scenario, undecided(spans));
    }
    row
}

/// A flow of 100 MB arrives at 60 ms, after the controller has failed: no schedule serves it before
/// the first decision after the repair. By then its rack has received the whole flow.
fn undecided(spans: &[(i64, i64)]) -> Verdict {
    let repaired = spans.iter().map(|s| s.1).max().expect("one");
    let interval = 7.0 * 0.106;
    let decided = (repaired as f64 / interval).ceil() * interval + 0.0115;
    let least = decided - 60.0 + ms(100 * MB, 10.0);
    let formula =
        "TMS: waits for the night after the first decision since the repair (one per 742 µs); \
                   then 100 MB ÷ rate of the receiver's link";
    let flows = vec![(0, 15, 100 * MB, Time::MS * 60)];
    let case = Case::new(two_racks(), json!({"policy": "tms"}), flows, least, formula);
    takes(spans.iter().fold(case, |case, &(from, until)| {
        case.fails(Element::Controller, from, until)
    }))
}

/// Time for 200 MB of each rack over relays [ms], which fill during one cycle and empty during
/// another.
pub fn relayed(table: Value, gbps: f64, cycle: f64, formula: &'static str) -> Verdict {
    let least = ms(200 * MB, gbps);
    let case = Case::new(two_racks(), table, permutation(100 * MB), least, formula);
    let relays = "relays fill for a cycle and empty for one, and the first circuit is lit in one";
    takes(case.between(0.99 * least, least + 3.0 * cycle, relays))
}

pub fn rotornet() -> Row {
    let turns = Turns {
        table: json!({"indirect": "none"}),
        share: 450_000,
        cycle: 1.4,
        formula: "450 kB, 180 µs of 20 Gb/s, once in 7 slots of 200 µs",
        fails: (vec![Element::Plane(0)], true),
    };
    // Seven matchings on two switches are four slots; in one of them one switch is idle.
    let table = json!({"indirect": "none", "switches": 2});
    let formula = "180 µs of 10 Gb/s, once in 4 slots of 200 µs";
    let least = ms(100 * MB, 10.0 * 0.9 / 4.0);
    let planes = Case::new(two_racks(), table, two(50 * MB), least, formula);
    let formula = "N ÷ (2 (N − 1)) of 18 Gb/s: its own slot, and half of each of six others";
    let multihop = relayed(json!({}), 18.0 * 8.0 / 14.0, turns.cycle, formula);
    turns.row([turns.mouse_waits(), takes(planes), multihop, NO_TREE])
}

/// Eight slices of 100 µs [ms].
pub const OPERA_CYCLE: f64 = 0.8;

pub fn opera() -> Row {
    let turns = Turns {
        table: json!({"indirect": "none", "low_latency": "1 B", "switches": 4}),
        share: 243_750,
        cycle: OPERA_CYCLE,
        formula: "390 µs of 5 Gb/s, once in 8 slices of 100 µs",
        fails: ((0..4).map(Element::Plane).collect(), true),
    };
    let table = json!({"low_latency": "1 B", "switches": 4});
    let multihop = relayed(
        table,
        9.75,
        turns.cycle,
        "half of 20 Gb/s and of 97.5 % of the time",
    );
    // The mouse is sent at once, before bulk traffic, over at most four circuits of 5 Gb/s.
    let table = json!({"low_latency": "1 MB", "switches": 4});
    let hops = 4.0 * (ms(MOUSE, 5.0) + 2.0 * ms(1_500, 5.0));
    let formula = "turns at the server's link, and circuits of 5 Gb/s, each behind a packet";
    let most = in_turn(1_500) + hops + ms(MOUSE, 10.0);
    let small = Case::new(two_racks(), table, mouse(), 0.0, formula).of(1);
    let small = small.between(
        ms(MOUSE, 10.0),
        most,
        "one to four circuits, depending on the slice",
    );
    let planes = Verdict::DoesNotApply("its four switches are planes, in every case");
    turns.row([takes(small), planes, multihop, NO_TREE])
}
