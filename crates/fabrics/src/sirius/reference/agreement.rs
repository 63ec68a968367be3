//! The kernel against the reference, bit by bit: flow tables, time series and counters of
//! random small networks.

use super::ideal::Ideal;
use super::Reference;
use crate::cases::costly;
use crate::contract::{FabricConfig, Site};
use crate::discipline::Discipline;
use crate::sirius::config::{GrantRule, Intermediates, Mode, Recovery, SiriusConfig};
use crate::sirius::schedule::plan::UplinkPlan;
use lightloom_engine::kernel::slot::Slotted;
use lightloom_engine::run::{run, Fault, Plan, Sample, Silent, Stop};
use lightloom_engine::*;
use proptest::prelude::*;

/// The results that must be equal.
struct Results {
    start: Vec<Time>,
    finish: Vec<Time>,
    delivered: Vec<u64>,
    /// As bits, because unknown values are NaN, which does not equal itself.
    hops: Vec<u32>,
    ledger: lightloom_engine::io::Ledger,
    simulated: Time,
    samples: Vec<Sample>,
    totals: Totals,
}

impl Results {
    /// The first difference between two results, as text.
    fn first_difference(&self, other: &Results) -> Option<String> {
        fn at<T: PartialEq + std::fmt::Debug>(what: &str, a: &[T], b: &[T]) -> Option<String> {
            let differs = (0..a.len().max(b.len())).find(|&k| a.get(k) != b.get(k))?;
            let (a, b) = (a.get(differs), b.get(differs));
            Some(format!("{what} {differs}: {a:?}, {b:?}"))
        }
        let flows = at("start of flow", &self.start, &other.start)
            .or_else(|| at("finish of flow", &self.finish, &other.finish))
            .or_else(|| at("bytes of flow", &self.delivered, &other.delivered))
            .or_else(|| at("hops of flow", &self.hops, &other.hops));
        flows
            .or_else(|| at("sample", &self.samples, &other.samples))
            .or_else(|| at("ledger", &[self.ledger], &[other.ledger]))
            .or_else(|| at("totals", &[self.totals], &[other.totals]))
            .or_else(|| at("end", &[self.simulated], &[other.simulated]))
    }
}

/// A network, its traffic, and its failures.
#[derive(Clone, Debug)]
struct Case {
    cluster: Cluster,
    config: SiriusConfig,
    flows: Vec<(u32, u32, u64, i64)>,
    seed: u64,
    threads: usize,
    stop: Stop,
    sample: Time,
    faults: Vec<Fault>,
    /// Whether every third flow waits for the one before.
    chained: bool,
}

impl Case {
    fn flows(&self) -> Flows {
        let (mut flows, hosts) = (Flows::new(), self.cluster.hosts());
        for &(src, dst, bytes, at) in &self.flows {
            let src = src % hosts;
            let dst = (src + 1 + dst % (hosts - 1)) % hosts;
            flows.push(HostId(src), HostId(dst), bytes, Time::NS * at);
        }
        flows.sort_by_arrival();
        if self.chained {
            let waits = |flow: u32| flow % 3 == 2 && flow < flows.len() as u32;
            let all = 0..flows.len() as u32;
            let waiting: Vec<FlowId> = all.clone().filter(|&f| waits(f)).map(FlowId).collect();
            let before = |f: u32| (0..f).filter(|&f| waits(f + 1)).count() as u32;
            flows.after = Dependencies {
                starts: (0..=flows.len() as u32).map(before).collect(),
                missing: all.map(|f| waits(f) as u32).collect(),
                delay: vec![Time::NS * 70; flows.len()],
                edges: waiting.clone(),
                ..Dependencies::default()
            };
            for flow in waiting {
                flows.arrival[flow.index()] = Time::NEVER;
            }
        }
        flows
    }

    fn results(&self, build: impl Fn(&Site) -> Box<dyn Fabric>) -> Results {
        let flows = self.flows();
        let site = Site {
            cluster: &self.cluster,
            flows: &flows,
            seed: self.seed,
            threads: self.threads,
            library: None,
        };
        let mut fabric = build(&site);
        let mut io = Io::new(flows.clone());
        let plan = Plan {
            stop: self.stop,
            limit: Time::US * 700,
            sample: Some(self.sample),
            faults: self.faults.clone(),
        };
        let out = run(fabric.as_mut(), &mut io, &plan, &mut Silent).unwrap();
        Results {
            start: io.flows.start,
            finish: io.flows.finish,
            delivered: io.flows.delivered,
            hops: io.flows.hops.iter().map(|h| h.to_bits()).collect(),
            ledger: io.ledger,
            simulated: out.simulated,
            samples: out.samples,
            totals: out.totals,
        }
    }

    /// The same with a fault.
    fn faulty(&self, command: Command, at: i64) -> Case {
        let at = Time::NS * at;
        Case {
            faults: vec![Fault { at, command }],
            ..self.clone()
        }
    }

    /// The first difference between kernel and reference.
    fn differs(&self) -> Option<String> {
        self.kernel().first_difference(&self.reference())
    }

    /// The results of the kernel.
    fn kernel(&self) -> Results {
        self.results(|site| self.config.build(site).unwrap())
    }

    /// The results of the reference.
    fn reference(&self) -> Results {
        self.results(|site| {
            let (config, derived) = (&self.config, self.config.derive(site.cluster).unwrap());
            match config.mode {
                Mode::RequestGrant => Box::new(Slotted::new(Reference::new(config, derived, site))),
                Mode::Ideal => Box::new(Slotted::new(Ideal::new(config, derived, site))),
            }
        })
    }
}

/// Racks, base uplinks, uplinks, plan.
fn shapes(large: bool) -> impl Strategy<Value = (u32, u32, u32, UplinkPlan)> {
    use UplinkPlan::{Mixed, Rotor, Wide};
    let most = if large { 150u32 } else { 20 };
    let least = if large { 65 } else { 2 };
    let rotor = (least..most).prop_flat_map(|n| (Just(n), 1..=n.min(12)));
    let rotor = rotor.prop_map(|(n, uplinks)| (n, 1, uplinks, Rotor));
    let (base, ports) = if large {
        (5u32..9, 14u32..19)
    } else {
        (1u32..5, 2u32..7)
    };
    let tiled = (
        base,
        ports,
        0u32..9,
        prop::sample::select(vec![Mixed, Wide]),
    );
    let tiled = tiled.prop_filter_map("wired", |(base, ports, extra, plan)| {
        let (racks, uplinks) = (base * ports, base + extra);
        (uplinks <= racks).then_some((racks, base, uplinks, plan))
    });
    // Pairs meet more often in a frame than numbers of meetings can distinguish.
    let often = (33u32..40).prop_flat_map(|n| (Just(n), 33..=n));
    let plan = prop::sample::select(vec![Mixed, Wide]);
    let often = (often, plan).prop_map(|((n, uplinks), plan)| (n, 1, uplinks, plan));
    prop_oneof![10 => rotor, 14 => tiled, 1 => often]
}

/// Sizes of cells as a share of the maximum for a slot, and channel rates [Gb/s].
fn cells() -> impl Strategy<Value = (Option<u64>, u64)> {
    let share = prop_oneof![2 => Just(None), 1 => (20u64..=100).prop_map(Some)];
    (share, prop::sample::select(vec![50, 50, 25, 100]))
}

/// Ports of the base gratings: the number that the plan requires, or any number that connects all
/// nodes.
fn ports() -> impl Strategy<Value = Option<u32>> {
    prop_oneof![3 => Just(None), 1 => (1u32..40).prop_map(Some)]
}

/// Tables of all keys.
fn configs(large: bool) -> impl Strategy<Value = (Cluster, SiriusConfig)> {
    let protocol = (
        prop_oneof![Just(4u32), Just(2), 2u32..9, Just(64)],
        any::<bool>(),
        any::<bool>(),
    );
    let timing = (
        prop::sample::select(vec![0i64, 0, 1, 100, 101, 730, 2_500]),
        prop::sample::select(vec![(100i64, 10i64), (100, 0), (38, 3), (400, 40)]),
        prop_oneof![2 => Just(None), 1 => (0u32..9).prop_map(Some)],
    );
    let nic = prop_oneof![
        2 => Just(Nic::Uncapped),
        1 => (1u64..60).prop_map(|gbps| Nic::Capped(Rate(gbps * Rate::GBPS.0))),
    ];
    let switches = prop::sample::select(vec![0i64, 0, 1, 99, 100, 640]);
    let discipline = prop::sample::select(vec![Discipline::Fair, Discipline::Fifo]);
    let fec = prop::sample::select(vec![0i64, 0, 103]);
    let beside = (switches, fec, 0u64..40, discipline);
    let wired = (shapes(large), ports(), protocol, timing);
    (wired, cells(), (1u32..4, nic, beside)).prop_filter_map(
        "a table that is accepted",
        |((shape, ports, protocol, timing), (share, channel), (servers, nic, beside))| {
            let (racks, base, uplinks, uplink_plan) = shape;
            let channel_rate = Rate(channel * Rate::GBPS.0);
            // The next number that divides the nodes.
            let ports = ports.and_then(|ports| (ports..=racks).find(|p| racks % p == 0));
            let (queue, others, once) = protocol;
            let (propagation, (slot, guardband), more) = timing;
            let (switch_latency, fec_latency, header, discipline) = beside;
            let cluster = Cluster {
                racks,
                servers_per_rack: servers,
                server_rate: Rate(channel_rate.0 * base as u64 / servers as u64 + 1),
                nic,
            };
            let config = SiriusConfig {
                uplinks: Some(uplinks),
                uplink_plan,
                channel_rate,
                grating_ports: ports.filter(|_| uplink_plan != UplinkPlan::Rotor),
                slot: Time::NS * slot,
                guardband: Time::NS * guardband,
                propagation: Time::NS * propagation,
                switch_latency: Time::NS * switch_latency,
                fec_latency: Time::NS * fec_latency,
                header: Bytes(header),
                discipline,
                queue,
                intermediates: if others {
                    Intermediates::Others
                } else {
                    Intermediates::All
                },
                grant_rule: if once {
                    GrantRule::OnePerDestination
                } else {
                    GrantRule::Threshold
                },
                ..SiriusConfig::default()
            };
            let derived = config.derive(&cluster).ok()?;
            let slots = derived.schedule.epoch_slots();
            let config = SiriusConfig {
                epoch_slots: more.map(|more| (slots + more) as f64),
                cell: share.map(|share| Bytes((derived.cell * share / 100).max(1))),
                ..config
            };
            config.derive(&cluster).ok()?;
            Some((cluster, config))
        },
    )
}

/// Flows as (source, destination, bytes, arrival [ns]): some towards few servers, some so
/// long that LOCAL never runs out.
fn traffic(most: usize) -> impl Strategy<Value = Vec<(u32, u32, u64, i64)>> {
    let end = || prop_oneof![1 => 0u32..3, 2 => any::<u32>()];
    let bytes = prop_oneof![2 => 1u64..1_200, 4 => 1u64..40_000, 1 => 1u64..400_000];
    let arrivals = prop::sample::select(vec![1i64, 2_000, 20_000, 200_000]);
    arrivals.prop_flat_map(move |last| {
        prop::collection::vec((end(), end(), bytes.clone(), 0..last), 1..most)
    })
}

fn ends() -> impl Strategy<Value = Stop> {
    prop_oneof![
        3 => Just(Stop::Drain),
        1 => Just(Stop::LastArrival),
        1 => (1i64..90).prop_map(|us| Stop::At(Time::US * us)),
    ]
}

fn cases(large: bool) -> impl Strategy<Value = Case> {
    let most = if large { 200 } else { 90 };
    let run = (any::<u64>(), 1usize..4, ends(), 30i64..3_000, any::<bool>());
    (configs(large), traffic(most), run).prop_map(
        |((cluster, config), flows, (seed, threads, stop, sample, chained))| Case {
            cluster,
            config,
            flows,
            seed,
            threads,
            stop,
            sample: Time::NS * sample,
            faults: vec![],
            chained,
        },
    )
}

/// SIRIUS (IDEAL), which has no protocol.
fn ideal() -> impl Strategy<Value = Case> {
    (cases(false), 1u32..5, 0u32..100).prop_map(|(mut case, ideal_window, crowd)| {
        // More small flows at one source than one set of places has.
        let small = |k: u32| (0, k, 1 + 40 * k as u64, k as i64 % 3);
        case.flows.extend((0..crowd).map(small));
        let config = &case.config;
        case.config = SiriusConfig {
            mode: Mode::Ideal,
            uplinks: config.uplinks,
            uplink_plan: config.uplink_plan,
            channel_rate: config.channel_rate,
            grating_ports: config.grating_ports,
            cell: config.cell,
            slot: config.slot,
            guardband: config.guardband,
            propagation: config.propagation,
            switch_latency: config.switch_latency,
            fec_latency: config.fec_latency,
            header: config.header,
            intermediates: config.intermediates,
            ideal_window,
            ..SiriusConfig::default()
        };
        case
    })
}

/// The same with servers whose links have a rate, from much less than one cell per slot to several.
fn ideal_with_links() -> impl Strategy<Value = Case> {
    (ideal(), 1u64..150).prop_map(|(mut case, gbps)| {
        case.cluster.nic = Nic::Capped(Rate(gbps * Rate::GBPS.0));
        case
    })
}

/// Many nodes send to few, and Q is large, so that queues overflow and cells are set aside.
fn crowded() -> impl Strategy<Value = Case> {
    let traffic = (1u32..4, 50_000u64..200_000, 33u32..=64);
    (cases(false), traffic).prop_map(|(mut case, (few, bytes, queue))| {
        case.config.queue = queue;
        let hosts = case.cluster.hosts();
        for (k, flow) in (0..).zip(&mut case.flows) {
            let (src, dst) = (k % hosts, k % few);
            let bytes = bytes + 1_000 * k as u64;
            *flow = (src, (dst + hosts - 1 - src) % hosts, bytes, k as i64);
        }
        case
    })
}

/// Failures that never lose a cell.
fn never() -> impl Strategy<Value = Command> {
    let element = prop_oneof![
        Just(Element::Node(0)),
        Just(Element::Transceiver { node: 1, uplink: 0 })
    ];
    let fails = |element| {
        let loss = 1e-15;
        prop_oneof![
            Just(Command::Fail { element, loss }),
            Just(Command::Repair(element))
        ]
    };
    element.prop_flat_map(fails)
}

proptest! {
    #![proptest_config(costly(300))]
    #[test]
    fn requests_and_grants_give_the_same_bytes(case in cases(false)) {
        prop_assert_eq!(case.differs(), None);
    }

    /// Cells are stored by pair while a part is broken, otherwise by slot of departure; this does
    /// not change the order of cells.
    #[test]
    fn a_fault_that_never_strikes_changes_no_byte(
        case in cases(false), fault in never(), at in 0i64..90_000,
    ) {
        let faulty = case.faulty(fault, at).kernel();
        prop_assert_eq!(faulty.first_difference(&case.kernel()), None);
    }
}

proptest! {
    #![proptest_config(costly(100))]
    #[test]
    fn the_ideal_gives_the_same_bytes(case in ideal()) {
        prop_assert_eq!(case.differs(), None);
    }

    #[test]
    fn the_ideal_obeys_servers_links_as_its_reference_does(case in ideal_with_links()) {
        prop_assert_eq!(case.differs(), None);
    }
}

/// Up to five parts of any kind that die or have grey failures; most of them are repaired.
fn failing(large: bool) -> impl Strategy<Value = Case> {
    let part = (any::<u32>(), any::<u32>(), 0u32..3);
    let loss = prop_oneof![2 => Just(1.0), 1 => 0.001f64..0.9];
    let back = prop_oneof![1 => Just(None), 3 => (1i64..60_000).prop_map(Some)];
    let fault = (part, loss, 0i64..60_000, back);
    let faults = prop::collection::vec(fault, 1..6);
    let keys = (1u32..5, any::<bool>());
    (cases(large), faults, keys).prop_map(|(mut case, faults, (k, reschedule))| {
        let config = &mut case.config;
        config.detection_epochs = k;
        if reschedule && config.uplink_plan == UplinkPlan::Rotor {
            config.recovery = Recovery::Reschedule;
        }
        let derived = config.derive(&case.cluster).unwrap();
        for ((number, uplink, kind), loss, at, back) in faults {
            let node = number % case.cluster.racks;
            let uplink = uplink % derived.uplinks;
            let element = match (kind, derived.schedule.gratings()) {
                (0, _) => Element::Node(node),
                (1, Some(gratings)) => Element::Grating(number % gratings),
                _ => Element::Transceiver { node, uplink },
            };
            let fault = |at, command| {
                let at = Time::NS * at;
                Fault { at, command }
            };
            let back = back.map(|later| fault(at + later, Command::Repair(element)));
            case.faults.push(fault(at, Command::Fail { element, loss }));
            case.faults.extend(back);
        }
        case
    })
}

proptest! {
    #![proptest_config(costly(160))]
    #[test]
    fn failures_give_the_same_bytes(case in failing(false)) {
        prop_assert_eq!(case.differs(), None);
    }
}

proptest! {
    #![proptest_config(costly(12))]
    #[test]
    fn failures_of_large_networks_give_the_same_bytes(case in failing(true)) {
        prop_assert_eq!(case.differs(), None);
    }
}

proptest! {
    #![proptest_config(costly(60))]
    #[test]
    fn long_queues_give_the_same_bytes(case in crowded(), fault in never(), at in 0i64..90_000) {
        let kernel = case.kernel();
        prop_assert_eq!(case.faulty(fault, at).kernel().first_difference(&kernel), None);
        prop_assert_eq!(kernel.first_difference(&case.reference()), None);
    }
}

proptest! {
    #![proptest_config(costly(24))]
    /// More than a block of nodes, so that there are shards for several threads.
    #[test]
    fn large_networks_give_the_same_bytes(
        case in cases(true), fault in never(), at in 0i64..90_000,
    ) {
        let kernel = case.kernel();
        prop_assert_eq!(case.faulty(fault, at).kernel().first_difference(&kernel), None);
        prop_assert_eq!(kernel.first_difference(&case.reference()), None);
    }
}
