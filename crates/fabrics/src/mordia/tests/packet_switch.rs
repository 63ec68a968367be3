//! The packet switch beside the circuits: its queues and those of receivers' links, and the bytes
//! that it carries beside days with losses.

use super::{built, cluster};
use crate::tdma::testing;
use lightloom_engine::{Audit, Cluster, Fabric, Io, Nic, QueuePlace, Rate, Time, View};
use serde_json::{json, Value};

/// Every rack is permanently connected to the next.
fn ring(racks: u32) -> Value {
    let permutation: Vec<u32> = (0..racks).map(|rack| (rack + 1) % racks).collect();
    json!({"kind": "fixed", "schedule": {"ports": racks, "night_ps": 11_500_000, "slots": [
        {"permutation": permutation, "day_ps": 90_000_000},
    ]}})
}

/// Five racks, each with one server. Servers' links, circuits and links of the packet switch have
/// 10 Gb/s: a packet takes 1.2 us on each.
fn of_five(rows: &[testing::Row]) -> (Box<dyn Fabric>, Io) {
    let cluster = Cluster {
        nic: Nic::Capped(Rate(10 * Rate::GBPS.0)),
        ..cluster(5)
    };
    let table = json!({"policy": ring(5), "interval": "1 ms", "packet_rate": "10 Gb/s"});
    built(&cluster, &table, testing::flows(rows))
}

fn seen(fabric: &dyn Fabric, io: &Io) -> View {
    let mut view = View::default();
    fabric.observe(io, &mut view);
    assert_eq!(view.placed_bytes(), io.ledger.in_flight());
    view
}

/// Size of a full packet [B].
const PACKET: u64 = 1_500;

/// The instant after 1 ms by the time of `packets` packets and a quarter of one; no packet begins
/// or ends then.
fn after(packets: i64) -> Time {
    Time::MS + Time(1_200_000 * packets + 300_000)
}

/// Racks 0, 3 and 4 send 30 packets each to rack 2 over the packet switch from 1 ms on. From 930 us
/// on rack 1 sends to rack 2 at the rate of its server over a circuit that is lit until 1,015 us.
/// In the time of a packet three packets reach the packet switch and one leaves it; two reach the
/// receiver's link and one leaves it.
#[test]
fn bytes_at_the_packet_switch_and_at_receivers_are_in_places_of_their_own() {
    let few = 30 * PACKET;
    let rows = [
        (0, 2, few, Time::ZERO),
        (3, 2, few, Time::ZERO),
        (4, 2, few, Time::ZERO),
        (1, 2, 70 * PACKET, Time::US * 930),
    ];
    let (mut fabric, mut io) = of_five(&rows);
    fabric.advance(after(-1), &mut io);
    let before = seen(&*fabric, &io);
    // One packet is at the receiver's link.
    assert_eq!(
        (before.queued_bytes, before.queued_bytes_worst),
        (PACKET, PACKET)
    );
    for packets in [1, 4, 8] {
        fabric.advance(after(packets as i64), &mut io);
        let view = seen(&*fabric, &io);
        let (at_switch, at_rack) = (2 * packets * PACKET, packets * PACKET);
        assert_eq!(view.queued_bytes, at_switch + at_rack, "after {packets}");
        assert_eq!(view.queued_bytes_worst, at_switch, "after {packets}");
        // Three on links to the packet switch, one from it, one on the circuit.
        assert_eq!(view.on_links_bytes, 5 * PACKET, "after {packets}");
    }
    fabric.advance(Time::MS * 10, &mut io);
    assert!(fabric.idle());
    assert_eq!(seen(&*fabric, &io).placed_bytes(), 0);
    assert_eq!(io.ledger.delivered, io.flows.total_bytes());
    // The last three of 90 packets arrive when 29 have left: 60 wait behind the one in
    // transmission.
    let totals = fabric.totals();
    assert_eq!(totals.queue_peak_bytes, Some(60 * PACKET));
    assert_eq!(totals.queue_place, QueuePlace::Port);
}

/// Two servers of rack 1 send over the circuit to one server of rack 2, whose link has half of
/// their rate. Packets come to the packet switch only from rack 0 and do not wait there.
#[test]
fn the_place_of_the_peak_is_that_of_the_longer_queue() {
    let cluster = Cluster {
        servers_per_rack: 2,
        nic: Nic::Capped(Rate(10 * Rate::GBPS.0)),
        ..cluster(5)
    };
    let table = json!({"policy": ring(5), "interval": "1 ms", "packet_rate": "10 Gb/s"});
    // When the last two of 40 packets arrive, 19 have left.
    let rows = [
        (0, 4, 30 * PACKET, Time::ZERO),
        (2, 4, 20 * PACKET, Time::US * 930),
        (3, 4, 20 * PACKET, Time::US * 930),
    ];
    let (mut fabric, mut io) = built(&cluster, &table, testing::flows(&rows));
    fabric.advance(Time::MS * 10, &mut io);
    assert_eq!(io.ledger.delivered, io.flows.total_bytes());
    let totals = fabric.totals();
    assert_eq!(totals.circuit_bytes, Some(40 * PACKET));
    assert_eq!(totals.queue_peak_bytes, Some(21 * PACKET));
    assert_eq!(totals.queue_place, QueuePlace::Relay);
}

/// Synchronisation frames arrive early or late, so many frames are lost in the dark and
/// retransmitted, while the packet switch carries the demand that schedules leave.
#[test]
fn lossy_days_and_the_packet_switch_deliver_every_byte_once() {
    let racks = 5;
    let rows: Vec<testing::Row> = { 0..200u32 }
        .map(|k| {
            let (from, step) = (k % racks, 1 + k / racks % (racks - 1));
            let bytes = 1 + u64::from(k) * 977 % 40_000;
            (
                from,
                (from + step) % racks,
                bytes,
                Time::US * i64::from(20 * k),
            )
        })
        .collect();
    for (policy, again) in [("solstice", "0 s"), ("tms", "0 s"), ("solstice", "150 us")] {
        let table = json!({
            "policy": policy, "interval": "1 ms", "packet_rate": "1 Gb/s", "nic_delay": "5 us",
            "sync_jitter": "3 us", "late_sync_fraction": 0.2, "retransmit_after": again,
        });
        let (mut fabric, mut io) = built(&cluster(racks), &table, testing::flows(&rows));
        io.audit = Some(Audit::default());
        for step in 1..=400 {
            fabric.advance(Time::US * (250 * step), &mut io);
            seen(&*fabric, &io);
        }
        let total = io.flows.total_bytes();
        assert!(fabric.idle() && io.ledger.losses > 20, "{policy} {again}");
        assert_eq!(io.flows.delivered, io.flows.bytes, "{policy} {again}");
        // Every byte crossed one circuit, or a link to the packet switch and one from it.
        let circuit = fabric.totals().circuit_bytes.expect("it has circuits");
        let audit = io.audit.as_ref().expect("it was asked for");
        let carried = |first: u32, ports: u32| -> u64 {
            let of = audit
                .transmissions
                .iter()
                .filter(|t| (first..first + ports).contains(&t.tx.0));
            of.map(|t| t.bytes).sum()
        };
        let up = 3 * racks;
        assert_eq!(carried(0, racks), circuit, "{policy} {again}");
        assert_eq!(carried(up, racks), total - circuit, "{policy} {again}");
        assert_eq!(
            carried(up + racks, racks),
            total - circuit,
            "{policy} {again}"
        );
        assert!(
            circuit > 0 && circuit < total,
            "{policy} {again}: {circuit} of {total}"
        );
    }
}

/// Rack 0 is connected to rack 1 for 90 µs, then to no rack for 800 µs. Every frame is late, so the
/// rack sends for 5 µs, the delay of the interface, after the light has ended; these packets are
/// lost and rejoin their queue when the last of them has left. The demand of 90 µs was measured at
/// 1.2 ms and planned for the day from 1,837.5 µs on. Lost packets therefore cross the packet
/// switch as soon as they are back in their queue, not after the next decision at 2.4 ms or in the
/// next day; each takes 1.2 µs on either link.
#[test]
fn lost_packets_of_the_demand_cross_the_packet_switch_when_they_are_back() {
    let day = |permutation: [u32; 3], ps: u64| json!({"permutation": permutation, "day_ps": ps});
    let slots = json!([day([1, 2, 0], 90_000_000), day([0, 1, 2], 800_000_000)]);
    let table = json!({
        "policy": {"kind": "fixed", "schedule": {"ports": 3, "night_ps": 11_500_000, "slots": slots}},
        "interval": "1.2 ms", "packet_rate": "10 Gb/s", "nic_delay": "5 us", "late_sync_fraction": 1.0,
    });
    let uncapped = Cluster {
        nic: Nic::Uncapped,
        ..cluster(3)
    };
    let demand = 75 * PACKET;
    let rows = [(0, 1, demand, Time::US * 1_100)];
    let (mut fabric, mut io) = built(&uncapped, &table, testing::flows(&rows));
    for step in 1..=400 {
        fabric.advance(Time::US * (7 * step), &mut io);
        seen(&*fabric, &io);
    }
    assert_eq!(io.ledger.delivered, demand);
    let lost = io.ledger.losses as i64;
    assert!((4..=5).contains(&lost), "{lost}");
    // From the time at which the last packet has left: after the light has ended, by less than the
    // interface's delay.
    let dark = Time(1_927_500_000);
    let last = io.flows.finish[0] - Time(1_200_000 * (lost + 1));
    assert!(last > dark && last <= dark + Time::US * 5, "{last}");
    let circuit = fabric.totals().circuit_bytes.expect("it has circuits");
    assert!(circuit > 0 && circuit + lost as u64 * PACKET < demand);
}
