//! The invariants of every fabric, on random networks and traffic.

use super::*;
use lightloom_engine::{Audit, Dependencies, FlowId, View};
use proptest::prelude::*;
use serde_json::json;

fn networks() -> impl Strategy<Value = (Cluster, Value)> {
    let nic = prop_oneof![
        Just(Nic::Uncapped),
        (1u64..40).prop_map(|g| Nic::Capped(Rate(g * Rate::GBPS.0))),
    ];
    let cluster =
        (1u32..4, 1u32..4, 1u32..6, 1u64..30, nic).prop_map(|(pods, pod, servers, g, nic)| {
            let cluster = Cluster {
                racks: pods * pod,
                servers_per_rack: servers,
                server_rate: Rate(g * Rate::GBPS.0 + 7),
                nic,
            };
            (cluster, pod)
        });
    let table = (
        prop::sample::select(vec!["aggregation-core", "rack"]),
        prop::sample::select(vec![1.0, 1.7, 3.0]),
        1u32..12,
        prop::sample::select(vec![64u64, 300, 1_500, 9_000]),
        prop::sample::select(vec![0u64, 78]),
        prop::sample::select(vec![0u64, 1, 350]),
        prop::sample::select(vec![0u64, 40]),
        1u64..60,
    );
    (cluster, table).prop_map(
        |((cluster, pod), (at, ratio, buffer, mtu, header, fly, switch, g))| {
            let one_pod = pod == cluster.racks && at == "aggregation-core";
            let table = json!({
                "racks_per_pod": pod, "oversubscription_at": at, "flow_buffer": buffer,
                "oversubscription": if one_pod { 1.0 } else { ratio },
                "mtu": format!("{mtu} B"), "header": format!("{header} B"),
                "propagation": format!("{fly} ns"), "switch_latency": format!("{switch} ns"),
                "link_rate": format!("{g} Gb/s"),
            });
            (cluster, table)
        },
    )
}

/// Up to 60 flows within 20 µs, some of them at the same time.
fn traffic() -> impl Strategy<Value = Vec<(u32, u32, u64, i64)>> {
    let bytes = prop_oneof![1u64..2_000, 1u64..100_000];
    prop::collection::vec((any::<u32>(), any::<u32>(), bytes, 0i64..200), 1..60)
}

fn on(cluster: &Cluster, traffic: &[(u32, u32, u64, i64)]) -> Flows {
    let hosts = cluster.hosts();
    let rows: Vec<_> = traffic
        .iter()
        .map(|&(s, d, bytes, at)| {
            let src = s % hosts;
            let dst = if hosts == 1 {
                0
            } else {
                (src + 1 + d % (hosts - 1)) % hosts
            };
            (src, dst, bytes, Time::NS * 100 * at)
        })
        .collect();
    flows(&rows)
}

fn view(fabric: &dyn Fabric, io: &Io) -> View {
    let mut view = View::default();
    fabric.observe(io, &mut view);
    view
}

/// Advances in steps of `step` until all is delivered, and checks conservation at each step.
fn drain(fabric: &mut dyn Fabric, io: &mut Io, step: Time) -> Time {
    let mut now = Time::ZERO;
    while !(fabric.idle() && io.exhausted()) {
        now += step;
        assert!(now < Time::S, "nothing moves any more");
        fabric.advance(now, io);
        let v = view(fabric, io);
        assert_eq!(v.in_flight_bytes, io.ledger.in_flight(), "at {now}");
        assert!(v.queued_bytes_worst <= v.queued_bytes);
        assert!(v.queued_bytes + v.waiting_bytes <= v.in_flight_bytes);
    }
    now
}

fn check_audit(fabric: &dyn Fabric, audit: &Audit) {
    assert_eq!(audit.overlap(|t| t.tx), None, "two packets on one link");
    for t in &audit.transmissions {
        assert!(
            t.until - t.from >= fabric.port_rate(t.tx).time_for(t.bytes),
            "{t:?}"
        );
    }
}

proptest! {
    #[test]
    fn bytes_are_conserved_and_links_and_causality_respected(
        (cluster, table) in networks(), traffic in traffic(), step in 50i64..5_000,
    ) {
        let flows = on(&cluster, &traffic);
        let mut fabric = fabric(&cluster, &table, &flows);
        let mut io = Io::new(flows);
        io.audit = Some(Audit::default());
        drain(&mut *fabric, &mut io, Time::NS * step);
        fabric.settle(&mut io);
        prop_assert_eq!(io.ledger.delivered, io.flows.total_bytes());
        let transmissions = io.audit.take().unwrap();
        check_audit(&*fabric, &transmissions);
        prop_assert_eq!(
            fabric.totals().packet_hops, Some(transmissions.transmissions.len() as u64)
        );
        for f in 0..io.flows.len() {
            let took = io.flows.finish[f] - io.flows.arrival[f];
            let least = fabric.soonest(io.flows.src[f], io.flows.dst[f], io.flows.bytes[f]);
            prop_assert!(took >= least, "flow {} took {}, at least {}", f, took, least);
            prop_assert!(io.flows.start[f] >= io.flows.arrival[f]);
            prop_assert!([0.0, 2.0, 4.0].contains(&io.flows.hops[f]));
        }
    }

    #[test]
    fn horizons_change_nothing(
        (cluster, table) in networks(), traffic in traffic(), step in 50i64..50_000,
    ) {
        let flows = on(&cluster, &traffic);
        let result = |step: Time| {
            let mut fabric = fabric(&cluster, &table, &flows);
            let mut io = Io::new(flows.clone());
            fabric.advance(Time::US * 10, &mut io);
            let early = view(&*fabric, &io);
            drain(&mut *fabric, &mut io, step);
            (early, fabric.totals(), io.flows.start, io.flows.finish)
        };
        let steps = {
            let mut fabric = fabric(&cluster, &table, &flows);
            let mut io = Io::new(flows.clone());
            for k in 1..=100 {
                fabric.advance(Time::NS * 100 * k, &mut io);
            }
            view(&*fabric, &io)
        };
        let coarse = result(Time::MS);
        prop_assert_eq!(coarse.0, steps);
        prop_assert_eq!(coarse, result(Time::NS * step));
    }

    /// The formula is exact for a flow that is alone, in full packets, over links of one rate.
    #[test]
    fn a_lone_flow_takes_the_least_time(
        (mut cluster, mut table) in networks(), flow in (any::<u32>(), any::<u32>(), 1u64..400),
    ) {
        table["oversubscription"] = json!(1.0);
        table["link_rate"] = json!(cluster.server_rate.to_string());
        table["flow_buffer"] = Value::Null;
        table["header"] = json!("0 B");
        table.as_object_mut().unwrap().retain(|_, v| !v.is_null());
        cluster.nic = Nic::Uncapped;
        let bytes = flow.2 * resolved(&cluster, &table).mtu.0;
        let flows = on(&cluster, &[(flow.0, flow.1, bytes, 0)]);
        let mut fabric = fabric(&cluster, &table, &flows);
        let mut io = Io::new(flows);
        drain(&mut *fabric, &mut io, Time::US * 50);
        let least = fabric.soonest(io.flows.src[0], io.flows.dst[0], bytes);
        prop_assert_eq!(io.flows.finish[0], least);
    }
}

/// A flow that waits for another starts the moment that one is delivered.
#[test]
fn closed_loops_start_at_the_delivery() {
    let mut flows = flows(&[(0, 15, 3_000, Time::ZERO), (15, 0, 1_500, Time::ZERO)]);
    flows.arrival[1] = Time::NEVER;
    flows.after = Dependencies {
        starts: vec![0, 1, 1],
        edges: vec![FlowId(1)],
        missing: vec![0, 1],
        delay: vec![Time::ZERO, Time::ZERO],
        ..Dependencies::default()
    };
    let (io, _) = simulate(&cluster(4, 4), &json!({}), flows, Stop::Drain);
    assert_eq!(io.flows.start[1], io.flows.finish[0]);
    // One link of 40 Gb/s, 300 ns per packet, four hops.
    assert_eq!(io.flows.finish[0], Time::NS * 5 * 300);
    assert_eq!(io.flows.finish[1], Time::NS * (5 + 4) * 300);
}
