//! Hosts' links behind k receivers, and presets at other rates.

use super::*;
use crate::Discipline;
use lightloom_engine::HostId;

fn capped(hosts: u32, gbps: u64) -> Cluster {
    let rate = Rate(gbps * Rate::GBPS.0);
    Cluster {
        server_rate: rate,
        nic: Nic::Capped(rate),
        ..cluster(hosts)
    }
}

/// The time at which the last byte of 15 × 100 KB reaches one of 16 hosts.
fn incast(cluster: &Cluster, table: &Value) -> Time {
    let mut flows = Flows::new();
    for src in 1..16 {
        flows.push(HostId(src), HostId(0), 100_000, Time::ZERO);
    }
    let table = (ENTRY.resolve)(table, cluster).unwrap_or_else(|e| panic!("{e}"));
    let mut fabric = (ENTRY.build)(&table, &Site::plain(cluster, &flows)).expect("a fabric");
    let mut io = Io::new(flows);
    let plan = Plan {
        stop: Stop::Drain,
        limit: Time::S,
        sample: None,
        faults: vec![],
    };
    run(&mut *fabric, &mut io, &plan, &mut Silent).expect("no faults");
    let finish = io.flows.finish.iter();
    finish.copied().max().expect("flows")
}

/// A host receives no faster than its link: 15 × 100 KB and the headers of 15 × 391 packets at 25
/// Gb/s take 489.4 µs, and not much longer, because four receivers fill the link.
#[test]
fn a_host_hears_what_its_link_carries() {
    let cluster = capped(16, 25);
    let least = cluster.server_rate.time_for(15 * (100_000 + 391 * 5));
    assert!(least > Time::US * 480);
    for discipline in ["fair", "fifo"] {
        for timing in ["unslotted", "slotted"] {
            let table = json!({"discipline": discipline, "timing": timing});
            let took = incast(&cluster, &table);
            assert!(
                (least..least + Time::US * 2).contains(&took),
                "{discipline}, {timing}: {took} for {least}"
            );
        }
    }
    let nack = json!({"architecture": "ao-nack", "detector": "timers"});
    let took = incast(&cluster, &nack);
    assert!(took >= least, "{took} for {least}");
}

/// §IV: four receivers have four times the bandwidth, less the loss by collisions.
#[test]
fn hosts_of_the_paper_hear_all_receivers() {
    let cluster = capped(16, 10);
    let wire = cluster.server_rate.time_for(15 * (100_000 + 391 * 22));
    for preset in ["dlb", "mlb", "ao-nack"] {
        let table = ENTRY
            .presets
            .iter()
            .find(|p| p.name == preset)
            .expect("one");
        let table = serde_json::from_str(table.table).expect("JSON");
        let took = incast(&cluster, &table);
        assert!(took < wire / 2, "{preset}: {took}");
        assert!(took >= wire / 4, "{preset}: {took}");
    }
    let uncapped = Cluster {
        nic: Nic::Uncapped,
        ..cluster
    };
    assert!(incast(&uncapped, &json!({})) < wire / 2);
    let nic = json!({"host_link": "nic"});
    let refusal = (ENTRY.resolve)(&nic, &uncapped).unwrap_err().to_string();
    assert_eq!(
        refusal,
        "fabric.host_link = nic: cluster.nic = \"uncapped\" gives a host's link no rate; set \
         cluster.nic to a rate, or use \"receivers\""
    );
}

/// A preset uses the rate of the cluster's servers instead of the paper's.
#[test]
fn presets_have_the_rate_of_the_servers() {
    for gbps in [1, 10, 25, 400] {
        let cluster = capped(4, gbps);
        for preset in ENTRY.presets {
            let mut table: Value = serde_json::from_str(preset.table).expect("JSON");
            if preset.name == "mlb" {
                table["receivers"] = json!(2);
            }
            let resolved = (ENTRY.resolve)(&table, &cluster).unwrap_or_else(|e| panic!("{e}"));
            let rate: Rate = serde_json::from_value(resolved["rate"].clone()).expect("a rate");
            assert_eq!(rate, cluster.server_rate, "{}", preset.name);
        }
    }
}

/// A packet that finds its link idle is not delayed; any other waits until the link is free, in
/// turn with others.
#[test]
fn packets_wait_for_a_link_that_sends() {
    use super::super::config::{HostLink, LionsConfig};
    use super::super::host_links::{Heard, HostLinks};
    use crate::hosts::Packet;
    use lightloom_engine::FlowId;
    // A byte a nanosecond.
    let cluster = capped(2, 8);
    let config = LionsConfig {
        host_link: Some(HostLink::Nic),
        discipline: Discipline::Fair,
        ..LionsConfig::default()
    };
    let mut links = HostLinks::new(&config, &cluster, 3).expect("links with a rate");
    let packet = |flow| Packet {
        flow: FlowId(flow),
        bytes: 95,
    };
    let ns = |n: i64| Time::NS * n;
    assert_eq!(links.hear(0, packet(0), false, ns(100)), Heard::Delivered);
    // For 40 of its 100 ns the link sent the packet while it arrived.
    assert_eq!(
        links.hear(0, packet(0), true, ns(140)),
        Heard::Sending(ns(200))
    );
    assert_eq!(links.hear(0, packet(0), false, ns(150)), Heard::Waits);
    assert_eq!(links.hear(0, packet(0), false, ns(160)), Heard::Waits);
    assert_eq!(links.hear(0, packet(1), false, ns(170)), Heard::Waits);
    assert_eq!((links.bytes, links.worst()), (4 * 95, 4 * 95));
    assert_eq!(links.sent(0, ns(200)), (packet(0), true, Some(ns(300))));
    assert_eq!(links.sent(0, ns(300)), (packet(0), false, Some(ns(400))));
    assert_eq!(links.sent(0, ns(400)), (packet(1), false, Some(ns(500))));
    assert_eq!(links.sent(0, ns(500)), (packet(0), false, None));
    assert_eq!((links.bytes, links.worst(), links.peak), (0, 0, 4 * 95));
    assert_eq!(links.hear(0, packet(2), false, ns(600)), Heard::Delivered);
}
