//! The invariants of every fabric, on random configurations.

use super::*;
use crate::sirius::config::Intermediates;
use crate::sirius::schedule::plan::UplinkPlan;
use lightloom_engine::{Audit, PortId};
use proptest::prelude::*;

/// Small networks with every plan and every key that affects this mode.
fn networks() -> impl Strategy<Value = (Cluster, SiriusConfig)> {
    let rotor = (2u32..14).prop_flat_map(|n| (Just(n), 1u32..=n, Just(UplinkPlan::Rotor)));
    let tiled = prop::sample::select(vec![
        (8, 3, UplinkPlan::Wide),
        (8, 4, UplinkPlan::Mixed),
        (8, 3, UplinkPlan::Mixed),
        (12, 6, UplinkPlan::Mixed),
        (12, 5, UplinkPlan::Wide),
    ]);
    let switches = (
        1u32..5,
        prop::sample::select(vec![0i64, 1, 100, 101, 730]),
        any::<bool>(),
        1u32..4,
    );
    (prop_oneof![rotor, tiled], switches).prop_map(
        |((racks, uplinks, plan), (window, propagation, others, servers))| {
            let cluster = Cluster {
                servers_per_rack: servers,
                server_rate: Rate(100 * Rate::GBPS.0 / servers as u64 + 1),
                ..cluster(racks, 2)
            };
            let config = SiriusConfig {
                mode: Mode::Ideal,
                uplinks: Some(uplinks),
                uplink_plan: plan,
                ideal_window: window,
                propagation: Time::NS * propagation,
                // With two nodes there are no others.
                intermediates: match others && racks > 2 {
                    true => Intermediates::Others,
                    false => Intermediates::All,
                },
                ..SiriusConfig::default()
            };
            (cluster, config)
        },
    )
}

/// Up to 90 flows in 20 µs, some towards few destinations, and many small ones at one source: more
/// than one word of places.
fn traffic() -> impl Strategy<Value = Vec<(u32, u32, u64, i64)>> {
    let bytes = prop_oneof![1u64..2_000, 1u64..60_000];
    let end = || prop_oneof![0u32..2, any::<u32>()];
    let flows = prop::collection::vec((end(), end(), bytes, 0i64..200), 1..90);
    (flows, 0u32..100).prop_map(|(mut flows, crowd)| {
        flows.extend((0..crowd).map(|k| (0, k, 1 + 40 * k as u64, k as i64 % 3)));
        flows
    })
}

fn on(cluster: &Cluster, traffic: &[(u32, u32, u64, i64)]) -> Flows {
    let hosts = cluster.hosts();
    flows(traffic.iter().map(|&(s, d, bytes, at)| {
        let src = s % hosts;
        (src, (src + 1 + d % (hosts - 1)) % hosts, bytes, at * 100)
    }))
}

fn check_audit(fabric: &Slotted<Ideal>, audit: &Audit) {
    assert_eq!(audit.overlap(|t| t.tx), None, "two cells on one uplink");
    assert_eq!(audit.overlap(|t| t.rx), None, "a receiver hears two");
    for t in &audit.transmissions {
        let rate = fabric.port_rate(t.tx);
        assert!(t.until - t.from >= rate.time_for(t.bytes), "{t:?}");
        let lit = |tx: PortId, at: Time| fabric.lit(tx, t.rx, at);
        assert!(lit(t.tx, t.from) && lit(t.tx, t.until - Time(1)), "{t:?}");
    }
}

proptest! {
    #[test]
    fn bytes_are_conserved_and_uplinks_and_causality_respected(
        (cluster, config) in networks(), traffic in traffic(), step in 50i64..3_000,
    ) {
        let flows = on(&cluster, &traffic);
        let mut fabric = fabric(&config, &cluster, &flows);
        let mut io = Io::new(flows);
        io.audit = Some(Audit::default());
        drain(&mut fabric, &mut io, Time::NS * step, |fabric, io| {
            let v = view(fabric, io);
            assert_eq!(v.in_flight_bytes, io.ledger.in_flight());
            assert!(v.queued_bytes_worst <= v.queued_bytes);
        });
        prop_assert_eq!(io.ledger.delivered, io.flows.total_bytes());
        prop_assert_eq!(&io.flows.delivered, &io.flows.bytes);
        let audit = io.audit.take().unwrap();
        check_audit(&fabric, &audit);
        prop_assert_eq!(fabric.totals().cell_hops, Some(audit.transmissions.len() as u64));
        for f in 0..io.flows.len() {
            let took = io.flows.finish[f] - io.flows.arrival[f];
            let least = fabric.soonest(io.flows.src[f], io.flows.dst[f], io.flows.bytes[f]);
            prop_assert!(took >= least, "flow {} took {}, at least {}", f, took, least);
            prop_assert!(io.flows.start[f] >= io.flows.arrival[f]);
            prop_assert!((0.0..=2.0).contains(&io.flows.hops[f]));
        }
    }

    #[test]
    fn horizons_change_nothing(
        (cluster, config) in networks(), traffic in traffic(), step in 50i64..30_000,
    ) {
        let flows = on(&cluster, &traffic);
        let result = |step: Time| {
            let mut fabric = fabric(&config, &cluster, &flows);
            let mut io = Io::new(flows.clone());
            drain(&mut fabric, &mut io, step, |_, _| ());
            (fabric.totals(), io.flows.start, io.flows.finish, io.flows.hops)
        };
        prop_assert_eq!(result(Time::NS * step), result(Time::US * 7));
    }

    #[test]
    fn the_queue_peak_is_the_longest_queue_of_any_slot(
        (cluster, config) in networks(), traffic in traffic(),
    ) {
        // The peak counts whole cells, a sample counts payload; every cell of these flows is full,
        // so both are equal.
        let mut flows = on(&cluster, &traffic);
        let cell = config.derive(&cluster).unwrap().cell;
        flows.bytes.iter_mut().for_each(|bytes| *bytes = bytes.next_multiple_of(cell));
        let mut fabric = fabric(&config, &cluster, &flows);
        let mut io = Io::new(flows.clone());
        let mut seen = 0;
        drain(&mut fabric, &mut io, config.slot, |fabric, io| {
            seen = seen.max(view(fabric, io).queued_bytes_worst);
        });
        prop_assert_eq!(fabric.totals().queue_peak_bytes, Some(seen));
    }
}
