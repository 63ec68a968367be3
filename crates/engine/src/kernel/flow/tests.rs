//! Oracles of the driver.

use super::*;
use crate::audit::Audit;
use crate::fabric::Shape;
use crate::fair::{reference, LinkId, WEIGHT};
use crate::flows::Flows;
use crate::ids::{HostId, PortId};
use crate::io::Ledger;
use crate::time::Rate;
use proptest::prelude::*;

/// All flows over one link of 8 Gb/s, dark from 2 s to 3 s.
struct Pipe;

#[derive(Clone, Copy)]
enum Light {
    Off,
    On,
}

impl FlowKernel for Pipe {
    type Event = Light;

    fn begin(&mut self, net: &mut Net, todo: &mut Todo<Light>) {
        net.add_link(Rate(8_000_000_000), LinkKind::Circuit);
        todo.schedule(Time::S * 2, Light::Off);
        todo.schedule(Time::S * 3, Light::On);
    }

    fn arrive(&mut self, flow: FlowId, _: Time, io: &mut Io, net: &mut Net, _: &mut Todo<Light>) {
        net.open(
            flow,
            io.flows.bytes[flow.index()],
            &[LinkId(0)],
            WEIGHT,
            None,
        );
        net.set_delay(flow, Time::MS);
    }

    fn handle(&mut self, _: Time, event: Light, _: &mut Io, net: &mut Net, _: &mut Todo<Light>) {
        let rate = match event {
            Light::Off => Rate(0),
            Light::On => Rate(8_000_000_000),
        };
        net.set_capacity(LinkId(0), rate);
    }

    fn apply(
        &mut self,
        _: Command,
        _: Time,
        _: &mut Net,
        _: &mut Todo<Light>,
    ) -> Result<(), Rejected> {
        Ok(())
    }
}

impl Reports for Pipe {
    fn shape(&self) -> Shape {
        Shape {
            hosts: 2,
            racks: 2,
            host_rate: Rate(8_000_000_000),
            link_capacity: Rate(8_000_000_000),
        }
    }

    fn soonest(&self, _: HostId, _: HostId, bytes: u64) -> Time {
        Rate(8_000_000_000).time_for(bytes) + Time::MS
    }

    fn port_rate(&self, _: PortId) -> Rate {
        Rate(8_000_000_000)
    }
}

/// 1 GB alone takes a second; two share; in the dark nothing moves.
#[test]
fn bytes_move_at_the_shared_rate_and_not_in_the_dark() {
    let mut flows = Flows::new();
    flows.push(HostId(0), HostId(1), 1_500_000_000, Time::ZERO);
    flows.push(HostId(0), HostId(1), 1_000_000_000, Time::S);
    let mut io = Io::new(flows);
    let mut fabric = FlowDriven::new(Pipe);
    fabric.advance(Time::MS * 1_500, &mut io);
    // 1 GB alone, 0.25 GB shared; 0.25 GB of the other.
    assert_eq!(io.ledger.delivered, 1_500_000_000);
    fabric.advance(Time::S * 10, &mut io);
    // Both have half a GB left at 2 s, but the first finishes just then.
    assert_eq!(io.flows.finish[0], Time::S * 2 + Time::MS);
    assert_eq!(io.flows.finish[1], Time::MS * 3_501);
    assert!(fabric.idle());
    assert_eq!(fabric.totals().circuit_bytes, Some(2_500_000_000));
}

/// Regression test: a flow that left and returned within an instant was in its bundle twice and was
/// closed twice.
#[test]
fn a_flow_may_leave_others_and_come_back() {
    let plan = Plan {
        links: vec![9_000_000; 5],
        flows: vec![(1_125_000, Time::ZERO, [0, 1], WEIGHT); 3],
        turns: vec![
            (Time::MS, Turn::Reroute(1, [0, 2])),
            (Time::MS, Turn::Reroute(1, [0, 1])),
        ],
    };
    let (io, fabric) = plan.run(&[Time::S * 4]);
    // 9 Mb/s for three flows of 9 Mb.
    assert_eq!(io.flows.finish, vec![Time::S * 3; 3]);
    assert!(fabric.idle());
}

/// An event of a [`Mesh`], besides flows.
#[derive(Clone, Copy, Debug)]
enum Turn {
    Capacity(usize, u64),
    Reroute(usize, [usize; 2]),
    Limit(usize, u64),
}

/// Links and flows as drawn; paths are two links, or one twice.
#[derive(Clone, Debug)]
struct Plan {
    /// [b/s].
    links: Vec<u64>,
    /// Bytes, arrival, path, weight.
    flows: Vec<(u64, Time, [usize; 2], u32)>,
    turns: Vec<(Time, Turn)>,
}

fn plans() -> impl Strategy<Value = Plan> {
    let time = || (0i64..2_000).prop_map(|ms| Time::MS * ms);
    // Some flows are equal and move together.
    let path = || {
        let any = (0usize..5, 0usize..5).prop_map(|(a, b)| [a, b]);
        prop_oneof![any, Just([0, 1])]
    };
    let rate = || prop_oneof![1 => Just(0u64), 4 => 1_000_000u64..1_000_000_000];
    let weight = || prop_oneof![2 => Just(WEIGHT), 1 => Just(WEIGHT / 3)];
    let turn = prop_oneof![
        (0usize..5, rate()).prop_map(|(l, c)| Turn::Capacity(l, c)),
        (0usize..12, path()).prop_map(|(f, p)| Turn::Reroute(f, p)),
        (0usize..12, rate()).prop_map(|(f, l)| Turn::Limit(f, l)),
    ];
    let links = prop::collection::vec(1_000_000u64..1_000_000_000, 5);
    let flow = (1u64..50_000_000, time(), path(), weight());
    let flows = prop::collection::vec(flow, 12);
    (links, flows, prop::collection::vec((time(), turn), 0..12)).prop_map(
        |(links, mut flows, mut turns)| {
            flows.sort_by_key(|f| f.1);
            turns.sort_by_key(|t| t.0);
            Plan {
                links,
                flows,
                turns,
            }
        },
    )
}

fn ids(path: [usize; 2]) -> Vec<LinkId> {
    let mut ids = path.map(|l| LinkId(l as u32)).to_vec();
    ids.dedup();
    ids
}

/// A kernel that follows its plan.
struct Mesh(Plan);

impl FlowKernel for Mesh {
    type Event = Turn;

    fn begin(&mut self, net: &mut Net, todo: &mut Todo<Turn>) {
        for (l, &rate) in self.0.links.iter().enumerate() {
            let kinds = [LinkKind::Switch, LinkKind::Circuit, LinkKind::Server];
            net.add_link(Rate(rate), kinds[l % 3]);
        }
        for &(at, turn) in &self.0.turns {
            todo.schedule(at, turn);
        }
    }

    fn arrive(&mut self, flow: FlowId, _: Time, _: &mut Io, net: &mut Net, _: &mut Todo<Turn>) {
        let (bytes, _, path, weight) = self.0.flows[flow.index()];
        net.open(flow, bytes, &ids(path), weight, None);
    }

    fn handle(&mut self, _: Time, turn: Turn, _: &mut Io, net: &mut Net, _: &mut Todo<Turn>) {
        let open = |net: &Net, f: usize| net.is_open(FlowId(f as u32));
        match turn {
            Turn::Capacity(l, c) => net.set_capacity(LinkId(l as u32), Rate(c)),
            Turn::Reroute(f, path) if open(net, f) => net.reroute(FlowId(f as u32), &ids(path)),
            Turn::Limit(f, l) if open(net, f) => net.set_limit(FlowId(f as u32), Some(Rate(l))),
            _ => {}
        }
    }

    fn apply(
        &mut self,
        _: Command,
        _: Time,
        _: &mut Net,
        _: &mut Todo<Turn>,
    ) -> Result<(), Rejected> {
        Ok(())
    }
}

impl Reports for Mesh {
    fn shape(&self) -> Shape {
        Pipe.shape()
    }

    fn soonest(&self, _: HostId, _: HostId, _: u64) -> Time {
        Time::ZERO
    }

    fn port_rate(&self, _: PortId) -> Rate {
        Rate(1_000_000_000)
    }
}

impl Plan {
    fn run(&self, looks: &[Time]) -> (Io, FlowDriven<Mesh>) {
        self.run_at(Precision::EXACT, looks)
    }

    /// Every look is audited.
    fn run_at(&self, precision: Precision, looks: &[Time]) -> (Io, FlowDriven<Mesh>) {
        let mut flows = Flows::new();
        for f in &self.flows {
            flows.push(HostId(0), HostId(1), f.0, f.1);
        }
        let (mut io, mut fabric) = (Io::new(flows), FlowDriven::new(Mesh(self.clone())));
        io.audit = Some(Audit::default());
        fabric.set_rate_precision(precision);
        looks.iter().for_each(|&t| fabric.advance(t, &mut io));
        fabric.settle(&mut io);
        (io, fabric)
    }

    /// Finish time of each flow [s] in a fluid model with floats, whose rates the reference
    /// computes at every event.
    fn fluid(&self, end: f64) -> Vec<Option<f64>> {
        let mut capacity = self.links.clone();
        let mut left: Vec<f64> = self.flows.iter().map(|f| f.0 as f64 * 8.0).collect();
        let mut path: Vec<[usize; 2]> = self.flows.iter().map(|f| f.2).collect();
        let mut limit = vec![None; left.len()];
        let mut finish = vec![None; left.len()];
        let (mut now, mut turns) = (0.0, self.turns.iter().peekable());
        while now < end {
            let open: Vec<usize> = (0..left.len())
                .filter(|&f| finish[f].is_none() && self.flows[f].1.as_secs_f64() <= now)
                .collect();
            let flow = |&f: &usize| reference::Flow {
                path: ids(path[f]).iter().map(|l| l.index()).collect(),
                weight: self.flows[f].3,
                limit: limit[f],
            };
            let flows: Vec<reference::Flow> = open.iter().map(flow).collect();
            let rates = reference::rates(&capacity, &flows);
            let done = open.iter().zip(&rates).map(|(&f, r)| now + left[f] / r);
            let arrivals = self.flows.iter().map(|f| f.1.as_secs_f64());
            let turn = turns.peek().map(|t| t.0.as_secs_f64());
            let next = arrivals
                .filter(|&t| t > now)
                .chain(done)
                .chain(turn)
                .fold(end, f64::min);
            for (&f, rate) in open.iter().zip(&rates) {
                left[f] -= rate * (next - now);
                // A hundredth of a bit.
                if left[f] <= 0.01 {
                    finish[f] = Some(next);
                }
            }
            now = next;
            while let Some((_, turn)) = turns.next_if(|t| t.0.as_secs_f64() <= now) {
                match *turn {
                    Turn::Capacity(l, c) => capacity[l] = c,
                    Turn::Reroute(f, p) if self.open(f, now, &finish) => path[f] = p,
                    Turn::Limit(f, l) if self.open(f, now, &finish) => limit[f] = Some(l),
                    _ => {}
                }
            }
        }
        finish
    }

    fn open(&self, f: usize, now: f64, finish: &[Option<f64>]) -> bool {
        finish[f].is_none() && self.flows[f].1.as_secs_f64() <= now
    }
}

/// The results that must not depend on the engine's horizons.
#[derive(Debug, PartialEq)]
struct Results {
    finish: Vec<Time>,
    start: Vec<Time>,
    delivered: Vec<u64>,
    hops: Vec<u32>,
    ledger: Ledger,
    view: View,
    totals: Totals,
}

fn results((io, fabric): &(Io, FlowDriven<Mesh>)) -> Results {
    let mut view = View::default();
    fabric.observe(io, &mut view);
    Results {
        finish: io.flows.finish.clone(),
        start: io.flows.start.clone(),
        delivered: io.flows.delivered.clone(),
        hops: io.flows.hops.iter().map(|h| h.to_bits()).collect(),
        ledger: io.ledger,
        view,
        totals: fabric.totals(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn flows_end_when_a_fluid_does(plan in plans()) {
        let end = Time::S * 20;
        let (io, _) = plan.run(&[end]);
        let expected = plan.fluid(end.as_secs_f64());
        for (f, (&finish, fluid)) in io.flows.finish.iter().zip(&expected).enumerate() {
            let got = (finish != Time::NEVER).then(|| finish.as_secs_f64());
            match (got, fluid) {
                // Rates are integer b/s of at least a megabit.
                (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-4 * b, "flow {f}: {a}, fluid {b}"),
                (a, b) => {
                    let last = |t: Option<f64>| t.is_none_or(|t| t > end.as_secs_f64() * 0.9999);
                    prop_assert!(last(a) && last(*b), "flow {f}: {a:?}, fluid {b:?}");
                }
            }
        }
    }

    #[test]
    fn where_the_engine_looks_changes_nothing(
        plan in plans(),
        billionths in prop_oneof![1 => Just(0), 2 => 0u32..=100_000_000],
        looks in prop::collection::vec(0i64..3_000, 0..40),
        end in 0i64..3_000,
    ) {
        let end = Time::MS * end;
        let mut looks: Vec<Time> = looks.into_iter().map(|ms| Time::MS * ms).filter(|&t| t < end).collect();
        looks.sort();
        looks.push(end);
        let precision = Precision::billionths(billionths).unwrap();
        let run = |looks: &[Time]| plan.run_at(precision, looks);
        let (once, often) = (run(&[end]), run(&looks));
        for load in &often.0.audit.as_ref().unwrap().loads {
            prop_assert!(load.rate <= load.capacity, "{load:?}");
        }
        let (a, b) = (results(&once), results(&often));
        prop_assert_eq!(a.view.in_flight_bytes, a.ledger.in_flight());
        prop_assert_eq!(a, b);
    }
}
