//! Servers with links of their own rate, against closed forms.

use crate::contract::{FabricConfig, Site};
use crate::sirius::config::{Mode, SiriusConfig};
use lightloom_engine::run::{run, Plan, Sample, Silent, Stop};
use lightloom_engine::*;
use proptest::prelude::*;

const NIC: u64 = 10;

fn cluster(racks: u32) -> Cluster {
    Cluster {
        racks,
        servers_per_rack: 8,
        server_rate: Rate(25 * Rate::GBPS.0),
        nic: Nic::Capped(Rate(NIC * Rate::GBPS.0)),
    }
}

const MODES: [Mode; 2] = [Mode::RequestGrant, Mode::Ideal];

/// Durations of flows [s] among 16 racks.
fn drained(mode: Mode, flows: &[(u32, u32, u64, Time)], sample: Time) -> Vec<f64> {
    drained_of(16, mode, flows, 1, sample).1
}

/// Runs until all flows are delivered; checks that bytes are conserved and that no flow is early.
/// Flows as (source, destination, bytes, arrival).
fn drained_of(
    racks: u32,
    mode: Mode,
    flows: &[(u32, u32, u64, Time)],
    threads: usize,
    sample: Time,
) -> (Io, Vec<f64>) {
    let c = cluster(racks);
    let config = SiriusConfig {
        mode,
        ..SiriusConfig::default()
    };
    let mut all = Flows::new();
    for &(src, dst, bytes, at) in flows {
        all.push(HostId(src), HostId(dst), bytes, at);
    }
    let site = Site {
        threads,
        ..Site::plain(&c, &all)
    };
    let mut fabric = config.build(&site).unwrap();
    let mut io = Io::new(all.clone());
    io.audit = Some(Audit::default());
    let plan = Plan {
        stop: Stop::Drain,
        limit: Time::S,
        sample: Some(sample),
        faults: vec![],
    };
    let out = run(fabric.as_mut(), &mut io, &plan, &mut Silent).unwrap();
    for s in &out.samples {
        assert_eq!(s.view.in_flight_bytes, s.ledger.in_flight(), "at {}", s.at);
    }
    let took: Vec<Time> = (0..all.len())
        .map(|f| io.flows.finish[f] - all.arrival[f])
        .collect();
    for (f, &t) in took.iter().enumerate() {
        assert!(
            t >= fabric.soonest(all.src[f], all.dst[f], all.bytes[f]),
            "flow {f}"
        );
    }
    (io, took.iter().map(|t| t.as_secs_f64()).collect())
}

fn alone(bytes: u64) -> f64 {
    bytes as f64 * 8.0 / (NIC as f64 * 1e9)
}

#[test]
fn a_lone_flow_takes_its_bytes_at_the_rate_of_its_server() {
    for mode in MODES {
        for (dst, bytes) in [(20, 1_000_000), (1, 1_000_000), (20, 100), (1, 100)] {
            let took = drained(mode, &[(0, dst, bytes, Time::NS * 250)], Time::US * 10);
            // The rest is the last cell on the second link and some epochs for request and grant.
            let over = took[0] - alone(bytes);
            let most = if dst == 1 { 0.5e-6 } else { 8e-6 };
            assert!((0.0..most).contains(&over), "{bytes} to {dst}: {over}");
        }
    }
}

/// Time from the arrival of a flow at `at` until its last byte reaches its server, in the ideal
/// mode. Each cell goes from server 0 of rack 0 over the server's link, in the next slot to the
/// peer of the first uplink, from there (unless this is the destination) at its next meeting to the
/// destination, and over the link of the receiving server. A cell has left rack 0 before the next
/// one comes, so cells wait for each other only at the last link.
fn ideal_alone(to_rack: u32, bytes: u64, at: Time) -> Time {
    const RACKS: i64 = 16;
    const UPLINKS: i64 = 6;
    let (slot, rate) = (Time::NS * 100, Rate(NIC * Rate::GBPS.0));
    let peer = |node: i64, uplink: i64, n: i64| (node + 1 + n * UPLINKS + uplink) % RACKS;
    let meets = |node: i64, n: i64| (0..UPLINKS).any(|u| peer(node, u, n) == to_rack as i64);
    let (mut left, mut arrivals) = (at, Vec::new());
    for cell in 0..bytes.div_ceil(562) {
        let link = rate.time_for(562.min(bytes - cell * 562));
        left += link;
        let sent = left.0.div_euclid(slot.0) + i64::from(left.0 % slot.0 != 0);
        let via = peer(0, 0, sent);
        let there = match (to_rack, via == to_rack as i64) {
            (0, _) => left,
            (_, true) => slot * (sent + 1),
            (_, false) => slot * ((sent + 1..).find(|&n| meets(via, n)).unwrap() + 1),
        };
        arrivals.push((there, link));
    }
    // Sort by time, because cells may overtake others.
    arrivals.sort_by_key(|cell| cell.0);
    let free = |free: Time, (there, link): (Time, Time)| free.max(there) + link;
    arrivals.into_iter().fold(Time::ZERO, free)
}

#[test]
fn a_lone_flow_of_the_ideal_takes_exactly_what_its_links_and_meetings_take() {
    for at in [0, 1, 250, 777].map(|ns| Time::NS * ns) {
        for bytes in [1, 562, 563, 10_000, 300_001] {
            for dst in [1, 20, 40, 127] {
                let flows = [(0, dst, bytes, at)];
                let (io, _) = drained_of(16, Mode::Ideal, &flows, 1, Time::US * 10);
                let expected = ideal_alone(dst / 8, bytes, at);
                assert_eq!(io.flows.finish[0], expected, "{bytes} B to {dst} at {at}");
            }
        }
    }
}

#[test]
fn flows_of_one_server_share_it_and_flows_of_two_do_not() {
    let (at, us) = (Time::ZERO, Time::US);
    let off = |took: f64, bytes| (took / alone(bytes) - 1.0).abs();
    for mode in MODES {
        let both = drained(mode, &[(0, 20, 500_000, at), (0, 40, 500_000, at)], us);
        assert!(both.iter().all(|&t| off(t, 1_000_000) < 0.02), "{both:?}");
        let two = drained(mode, &[(0, 20, 500_000, at), (1, 40, 500_000, at)], us);
        assert!(two.iter().all(|&t| off(t, 500_000) < 0.03), "{two:?}");
        // The short one takes every other cell.
        let short = drained(mode, &[(0, 20, 800_000, at), (0, 3, 80_000, at)], us);
        assert!(off(short[1], 160_000) < 0.02, "{short:?}");
    }
}

#[test]
fn incast_is_as_fast_as_the_link_of_its_server() {
    // From other racks and from its own.
    let flows: Vec<_> = [9, 30, 50, 70, 90, 2]
        .map(|src| (src, 3, 200_000, Time::ZERO))
        .into();
    for mode in MODES {
        let took = drained(mode, &flows, Time::US);
        let last = took.iter().copied().fold(0.0, f64::max);
        assert!((last / alone(6 * 200_000) - 1.0).abs() < 0.02, "{took:?}");
    }
}

/// More than one block of nodes, so that there are shards for several threads.
const RACKS: u32 = 144;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn all_is_delivered_whatever_the_threads(
        flows in prop::collection::vec(
            (0..8 * RACKS, 0..8 * RACKS - 1, 1u64..60_000, 0i64..20_000), 1..60,
        ),
    ) {
        let mut flows: Vec<_> = flows
            .into_iter()
            .map(|(s, d, b, at)| (s, (s + 1 + d) % (8 * RACKS), b, Time::NS * at))
            .collect();
        flows.sort_by_key(|f| f.3);
        let mode = Mode::RequestGrant;
        let (one, _) = drained_of(RACKS, mode, &flows, 1, Time::US);
        let (two, _) = drained_of(RACKS, mode, &flows, 3, Time::NS * 777);
        prop_assert_eq!(one.flows.finish, two.flows.finish);
        prop_assert_eq!(one.ledger, two.ledger);
    }
}

/// Two flows of 12.5 MB from servers of two racks to one server with a link of 10 Gb/s. The link
/// carries 10 Gb/s of the 20 Gb/s that arrive: after 8 ms each flow has sent 10 MB, of which 10 MB
/// in total are delivered; 10 MB wait for the link and 5 MB at the sources. (Regression: the bytes
/// that wait for the link were in no figure.)
#[test]
fn what_waits_for_the_link_of_a_server_is_queued_in_its_rack() {
    for mode in MODES {
        let flows = [
            (0, 127, 12_500_000, Time::ZERO),
            (8, 127, 12_500_000, Time::ZERO),
        ];
        let (out, io, totals) = observed(mode, &flows, Time::MS * 8);
        let at = out.iter().find(|s| s.at == Time::MS * 8).expect("a sample");
        let near = |bytes: u64, of: u64| bytes.abs_diff(of) < of / 200;
        assert!(
            near(at.view.queued_bytes, 10_000_000),
            "{mode:?}: {:?}",
            at.view
        );
        assert!(
            near(at.view.queued_bytes_worst, 10_000_000),
            "{mode:?}: {:?}",
            at.view
        );
        assert!(
            near(at.view.waiting_bytes, 5_000_000),
            "{mode:?}: {:?}",
            at.view
        );
        assert_eq!(at.view.placed_bytes(), at.ledger.in_flight());
        // The queue is longest when the last byte has arrived, at 10 ms: 25 MB minus 12.5 MB.
        let peak = totals.queue_peak_bytes.expect("it queues");
        assert!(near(peak, 12_500_000), "{mode:?}: {peak}");
        // The flows end together, because they take turns.
        let finish = io.flows.finish;
        assert!((finish[0] - finish[1]).0.abs() < Time::US.0, "{finish:?}");
    }
}

/// With "fair", a flow of 5 kB and two of 12.5 MB take turns at the link of their server: nine
/// cells of the short flow and at most twenty of the others, 450 ns each, take 13 µs; the link of
/// its source takes 4 µs; request, grant and two hops take 2 µs. With "fifo" it waits for the 5 MB
/// before it.
#[test]
fn a_short_flow_does_not_wait_behind_a_long_one() {
    let flows = [
        (0, 127, 12_500_000, Time::ZERO),
        (8, 127, 12_500_000, Time::ZERO),
        (16, 127, 5_000, Time::MS * 4),
    ];
    for mode in MODES {
        for (discipline, least, most) in [("fair", 4.0, 20.0), ("fifo", 3_900.0, 4_100.0)] {
            let config = SiriusConfig {
                mode,
                discipline: serde_json::from_value(discipline.into()).unwrap(),
                ..SiriusConfig::default()
            };
            let (_, io, _) = observed_of(&config, &flows, Time::MS);
            let took = (io.flows.finish[2] - io.flows.arrival[2]).as_secs_f64() * 1e6;
            assert!(
                (least..most).contains(&took),
                "{mode:?} {discipline}: {took} us"
            );
        }
    }
}

fn observed(
    mode: Mode,
    flows: &[(u32, u32, u64, Time)],
    sample: Time,
) -> (Vec<Sample>, Io, Totals) {
    let config = SiriusConfig {
        mode,
        ..SiriusConfig::default()
    };
    observed_of(&config, flows, sample)
}

/// Samples, flows and totals of a run among 16 racks.
fn observed_of(
    config: &SiriusConfig,
    flows: &[(u32, u32, u64, Time)],
    sample: Time,
) -> (Vec<Sample>, Io, Totals) {
    let c = cluster(16);
    let mut all = Flows::new();
    for &(src, dst, bytes, at) in flows {
        all.push(HostId(src), HostId(dst), bytes, at);
    }
    let mut fabric = config.build(&Site::plain(&c, &all)).unwrap();
    let mut io = Io::new(all);
    let plan = Plan {
        stop: Stop::Drain,
        limit: Time::S,
        sample: Some(sample),
        faults: vec![],
    };
    let out = run(fabric.as_mut(), &mut io, &plan, &mut Silent).unwrap();
    (out.samples, io, out.totals)
}
