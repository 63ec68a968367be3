//! Oracles of scheduled circuits: a model that sends packet by packet, closed forms, cases worked
//! out by hand.

use crate::mordia::frames::Punctuality;
use crate::mordia::kernel::{Mordia, MordiaSetup};
use crate::overheads::Overheads;
use crate::tdma::burst::Wire;
use crate::tdma::setup::Setup;
use lightloom_control::schedule::{Schedule, Slot};
use lightloom_engine::kernel::event::EventDriven;
use lightloom_engine::{Cluster, Fabric, Flows, HostId, Io, Nic, Rate, Reports, Time};
use proptest::prelude::*;
use std::sync::Arc;

mod loss;

/// A byte a nanosecond.
const BYTE_NS: Rate = Rate(8 * Rate::GBPS.0);

/// Each of `racks` racks has one server.
fn cluster(racks: u32) -> Cluster {
    Cluster {
        racks,
        servers_per_rack: 1,
        server_rate: BYTE_NS,
        nic: Nic::Uncapped,
    }
}

fn setup(schedule: Schedule, packet: u64) -> MordiaSetup {
    MordiaSetup {
        punctuality: Punctuality::exact(schedule.night),
        network: Setup {
            overheads: Overheads::default(),
            cluster: cluster(schedule.ports as u32),
            discipline: crate::Discipline::Fair,
            link_rate: BYTE_NS,
            wire: Wire {
                rate: BYTE_NS,
                packet,
            },
            propagation: Time::ZERO,
            planes: vec![Some(Arc::new(schedule))],
        },
        retransmit_after: Time::ZERO,
        packet_rate: None,
        control: None,
    }
}

/// (source, destination, bytes, arrival in ns).
type Row = (u32, u32, u64, i64);

fn flows(rows: &[Row]) -> Flows {
    let mut flows = Flows::new();
    for &(src, dst, bytes, ns) in rows {
        flows.push(HostId(src), HostId(dst), bytes, Time::NS * ns);
    }
    flows
}

/// The flows at `ns`.
fn run(setup: MordiaSetup, rows: &[Row], ns: i64) -> (Io, EventDriven<Mordia>) {
    let flows = flows(rows);
    let mut fabric = EventDriven::new(Mordia::new(setup, flows.len(), 1));
    let mut io = Io::new(flows);
    // Includes the events at this instant.
    fabric.advance(Time::NS * ns + Time(1), &mut io);
    (io, fabric)
}

fn slots(night: i64, slots: &[(&[u32], i64)]) -> Schedule {
    Schedule {
        ports: slots[0].0.len(),
        night: Time::NS * night,
        slots: { slots.iter() }
            .map(|&(permutation, day)| Slot {
                permutation: permutation.to_vec(),
                day: Time::NS * day,
            })
            .collect(),
    }
}

/// Days of 80, 160 and 240 ns (Fig 7, in nanoseconds): bandwidth is in proportion.
#[test]
fn days_of_any_length_carry_in_proportion() {
    let days: [(&[u32], i64); 3] = [
        (&[1, 2, 3, 0], 80),
        (&[2, 3, 0, 1], 160),
        (&[3, 0, 1, 2], 240),
    ];
    let long = 1 << 40;
    let rows = [(0, 1, long, 0), (0, 2, long, 0), (0, 3, long, 0)];
    let (io, fabric) = run(setup(slots(10, &days), 1), &rows, 5 * 510);
    assert_eq!(io.flows.delivered, [5 * 80, 5 * 160, 5 * 240]);
    assert_eq!(fabric.lit_for(Time::NS * 5 * 510), Some(Time::NS * 5 * 480));
    let starts: Vec<i64> = io.flows.start.iter().map(|t| t.0 / 1_000).collect();
    assert_eq!(starts, [10, 100, 270]);
}

/// Four packets of 22 B fit into 100 ns, and no part of a fifth; no packet is lost.
#[test]
fn sending_stops_before_a_packet_would_be_cut() {
    let schedule = || slots(10, &[(&[1, 0], 100)]);
    let (io, _) = run(setup(schedule(), 22), &[(0, 1, 1 << 40, 0)], 110);
    assert_eq!((io.flows.delivered[0], io.ledger.losses), (88, 0));
    // When a flow ends, the next one uses the rest of the day if its first packet fits.
    let rows = [(0, 1, 75, 0), (0, 1, 30, 0), (0, 1, 5, 0)];
    let (io, _) = run(setup(schedule(), 22), &rows, 220);
    let finish: Vec<i64> = io.flows.finish.iter().map(|t| t.0 / 1_000).collect();
    // 75 B until 85 ns, 22 of 30 B until 107 ns; then 8 B and 5 B in the next day.
    assert_eq!(finish, [85, 128, 133]);
}

/// A flow that arrives during the day leaves in it; at once, if the circuit is idle.
#[test]
fn who_comes_during_the_day_leaves_in_it() {
    let rows = [
        (0, 1, 20, 50),
        (0, 1, 20, 55),
        (1, 0, 20, 105),
        (1, 0, 5, 105),
    ];
    let (io, _) = run(setup(slots(10, &[(&[1, 0], 100)]), 10), &rows, 400);
    let finish: Vec<i64> = io.flows.finish.iter().map(|t| t.0 / 1_000).collect();
    // From 105 ns no packet of 10 B fits twice before 110: both wait for 120.
    assert_eq!(finish, [70, 90, 140, 145]);
}

/// A night takes 30 ns instead of the planned 10 ns: the first two packets of 10 B are lost, rejoin
/// the end of the queue when the day is over, and are sent last.
#[test]
fn what_is_sent_into_the_night_is_lost_and_sent_again() {
    let mut late = setup(slots(10, &[(&[1, 0], 100)]), 10);
    late.punctuality = Punctuality::exact(Time::NS * 30);
    let (io, _) = run(late, &[(0, 1, 50, 0), (0, 1, 5, 0)], 109);
    // 50 B from 10 to 60 ns, of which 20 B until 30 ns; then 5 B.
    assert_eq!(io.flows.delivered, [30, 5]);
    assert_eq!((io.flows.finish[1], io.ledger.losses), (Time::NS * 65, 2));
    let mut late = setup(slots(10, &[(&[1, 0], 100)]), 10);
    late.punctuality = Punctuality::exact(Time::NS * 30);
    late.retransmit_after = Time::NS * 35;
    let (io, _) = run(late, &[(0, 1, 50, 0), (0, 1, 5, 0)], 400);
    // The packets join the queue at 145 ns, during the light from 140 to 220 ns.
    assert_eq!((io.ledger.losses, io.flows.finish[0]), (2, Time::NS * 165));
}

/// A server's link of half the rate limits the packets that a circuit carries.
#[test]
fn servers_links_take_a_packet_at_a_time() {
    let mut capped = setup(slots(10, &[(&[1, 0], 1_000)]), 10);
    capped.network.cluster.nic = Nic::Capped(Rate(4 * Rate::GBPS.0));
    let (io, _) = run(capped, &[(0, 1, 20, 100)], 900);
    // At their rack at 120 and 140 ns, across by 150 ns, at the server by 170 ns.
    assert_eq!(
        (io.flows.start[0], io.flows.finish[0]),
        (Time::NS * 100, Time::NS * 170)
    );
}

// ---- A packet at a time ------------------------------------------------------

/// When each flow finishes, if one packet is sent after the other.
fn one_by_one(schedule: &Schedule, nic: Time, packet: u64, flows: &Flows, end: Time) -> Vec<Time> {
    let n = flows.len();
    let mut left = flows.bytes.clone();
    let mut finish = vec![Time::NEVER; n];
    let mut begins = Time::ZERO;
    for slot in schedule.slots.iter().cycle() {
        let (from, until) = (
            begins + schedule.night + nic,
            begins + schedule.night + slot.day,
        );
        for (a, b) in slot.circuits() {
            let mut free = from;
            let pair = |f: &usize| (flows.src[*f].index(), flows.dst[*f].index()) == (a, b);
            // First in, first out.
            while let Some(f) = (0..n).filter(pair).find(|&f| left[f] > 0) {
                let bytes = packet.min(left[f]);
                let starts = free.max(flows.arrival[f] + nic);
                let ends = starts + BYTE_NS.time_for(bytes);
                if ends > until {
                    break;
                }
                left[f] -= bytes;
                free = ends;
                if left[f] == 0 {
                    finish[f] = ends;
                }
            }
        }
        begins = until;
        if begins > end {
            break;
        }
    }
    finish
        .into_iter()
        .map(|t| if t <= end { t } else { Time::NEVER })
        .collect()
}

fn schedules() -> impl Strategy<Value = Schedule> {
    (2usize..6).prop_flat_map(|racks| {
        let order = Just((0..racks as u32).collect::<Vec<u32>>()).prop_shuffle();
        let slot = (order, 1i64..200).prop_map(|(permutation, day)| Slot {
            permutation,
            day: Time::NS * day,
        });
        (prop::collection::vec(slot, 1..5), 0i64..50).prop_map(move |(slots, night)| Schedule {
            ports: racks,
            night: Time::NS * night,
            slots,
        })
    })
}

proptest! {
    /// The kernel, which computes whole days in closed form, gives the same results as a
    /// packet-by-packet model.
    #[test]
    fn days_are_their_packets(
        schedule in schedules(),
        nic in 0i64..30,
        packet in 1u64..40,
        rows in prop::collection::vec((any::<u32>(), any::<u32>(), 1u64..300, 0i64..400), 1..12),
    ) {
        let n = schedule.ports as u32;
        let mut now = 0;
        let rows: Vec<Row> = rows.into_iter().map(|(src, dst, bytes, gap)| {
            now += gap;
            let src = src % n;
            (src, (src + 1 + dst % (n - 1)) % n, bytes, now)
        }).collect();
        let end = now + 3_000;
        let flows = flows(&rows);
        let expected = one_by_one(&schedule, Time::NS * nic, packet, &flows, Time::NS * end);
        let mut it = setup(schedule, packet);
        it.punctuality.nic_delay = Time::NS * nic;
        let (io, _) = run(it, &rows, end);
        prop_assert_eq!(io.flows.finish, expected);
    }
}

/// A flow of 10 ms ends in its day and another continues: a sample within the day contains the
/// bytes of each that have arrived, to within a millisecond and a packet.
#[test]
fn a_look_within_a_long_day_finds_what_has_arrived() {
    let ms = |n: i64| Time::MS * n;
    let day = |permutation: &[u32]| lightloom_control::schedule::Slot {
        permutation: permutation.to_vec(),
        day: ms(20),
    };
    let schedule = Schedule {
        ports: 2,
        night: ms(1),
        slots: vec![day(&[1, 0])],
    };
    // One byte per nanosecond, from 1 ms on.
    let rows = [(0, 1, 10_000_000, 0), (1, 0, 100_000_000, 0)];
    for (at, ends, goes_on) in [
        (5, 4_000_000, 4_000_000),
        (8, 7_000_000, 7_000_000),
        (15, 10_000_000, 14_000_000),
    ] {
        let (io, _) = run(setup(schedule.clone(), 1_000), &rows, at * 1_000_000);
        let near = |bytes: u64, expected: u64| bytes <= expected && bytes + 1_001_000 > expected;
        assert!(
            near(io.flows.delivered[0], ends),
            "{at} {:?}",
            io.flows.delivered
        );
        assert!(near(io.flows.delivered[1], goes_on) && io.flows.delivered[1] + 2_000 > goes_on);
    }
}
