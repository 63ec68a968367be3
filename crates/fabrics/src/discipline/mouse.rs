//! A small flow and a large flow at one server's link, and an all-to-all job, on fabrics that queue
//! packets before such links; the expected times are arithmetic.

use crate::{registry, Site};
use lightloom_engine::run::{run, Plan, Silent, Stop};
use lightloom_engine::{Cluster, Flows, HostId, Io, Nic, Rate, Time};
use serde_json::{json, Value};

/// Rate of servers and their links.
const RATE: Rate = Rate(10 * Rate::GBPS.0);
/// The elephant takes 11.2 ms of a link.
const ELEPHANT: u64 = 14_000_000;
/// Four packets of 1,500 B, the last of 1,471 B; 24 of 256 B.
const MOUSE: u64 = 5_971;

fn simulate(
    kind: &str,
    table: &Value,
    racks: u32,
    servers: u32,
    rows: &[(u32, u32, u64, Time)],
) -> Io {
    let cluster = Cluster {
        racks,
        servers_per_rack: servers,
        server_rate: RATE,
        nic: Nic::Capped(RATE),
    };
    let mut flows = Flows::new();
    for &(src, dst, bytes, at) in rows {
        flows.push(HostId(src), HostId(dst), bytes, at);
    }
    let entry = registry::find(kind).expect("a fabric");
    let table = (entry.resolve)(table, &cluster).expect("a good table");
    let site = Site {
        cluster: &cluster,
        flows: &flows,
        seed: 1,
        threads: 1,
        library: None,
    };
    let mut fabric = (entry.build)(&table, &site).expect("a fabric");
    let mut io = Io::new(flows);
    let plan = Plan {
        stop: Stop::Drain,
        limit: Time::S,
        sample: None,
        faults: vec![],
    };
    run(&mut *fabric, &mut io, &plan, &mut Silent).expect("no faults");
    io
}

fn with(table: &Value, discipline: &str) -> Value {
    let mut table = table.clone();
    table["discipline"] = json!(discipline);
    table
}

/// Time from arrival to the last byte of the last row.
fn last_took(io: &Io) -> Time {
    let last = io.flows.len() - 1;
    io.flows.finish[last] - io.flows.arrival[last]
}

/// (fabric, its table, racks and servers in each, time of the small flow beyond that of its link
/// up).
fn fabrics() -> Vec<(&'static str, Value, (u32, u32), Time)> {
    let rotor = json!({"indirect": "none"});
    vec![
        // Fibre, tuning and a packet.
        ("lions", json!({}), (16, 1), Time::US),
        // Wires and routers.
        ("flattened-butterfly", json!({}), (16, 1), Time::US),
        // A night of 20 µs, the arrivals during it over a circuit of twice the rate, and the last
        // packet over the circuit and down, once behind another packet.
        ("rotornet", rotor, (2, 2), Time::US * 33),
        // The same with a night of 11.5 us.
        (
            "mordia",
            json!({"policy": "rotation"}),
            (2, 2),
            Time::US * 20,
        ),
        // Two circuits with a queue of 8 packets of 0.6 us each, and the last packet.
        (
            "opera",
            json!({"link_rate": "20 Gb/s"}),
            (4, 2),
            Time::US * 13,
        ),
    ]
}

/// Time of a mouse on a link where another flow always has a packet: each of its packets waits for
/// one of the other flow, the first also for the rest of the one being sent.
fn fair_bounds(packet: u64, on_link: Time) -> (Time, Time) {
    let packets = MOUSE.div_ceil(packet) as i64;
    let (least, most) = (2 * packets - 2, 2 * packets);
    (on_link * least, on_link * most)
}

/// (payload, time of a full packet with all that follows it on the link).
fn packets(kind: &str) -> (u64, Time) {
    match kind {
        "lions" => (256, RATE.time_for(256 + 5 + 17)),
        "flattened-butterfly" => (256, RATE.time_for(264)),
        _ => (1_500, RATE.time_for(1_500)),
    }
}

#[test]
fn a_mouse_waits_for_one_packet_of_an_elephant_at_a_time() {
    for (kind, table, (racks, servers), beside) in fabrics() {
        let to = servers * racks - servers;
        let other = if servers > 1 { to + 1 } else { to - 1 };
        let rows = [(0, to, ELEPHANT, Time::ZERO), (0, other, MOUSE, Time::MS)];
        let took = last_took(&simulate(
            kind,
            &with(&table, "fair"),
            racks,
            servers,
            &rows,
        ));
        let (payload, on_link) = packets(kind);
        let (least, most) = fair_bounds(payload, on_link);
        assert!(
            (least..=most + beside).contains(&took),
            "{kind}: {took} for {least} to {}",
            most + beside
        );
        assert_eq!(
            took,
            last_took(&simulate(kind, &table, racks, servers, &rows)),
            "{kind}: fair is the default"
        );
        let behind = last_took(&simulate(
            kind,
            &with(&table, "fifo"),
            racks,
            servers,
            &rows,
        ));
        let elephant = RATE.time_for(ELEPHANT) - Time::MS;
        assert!(behind >= elephant, "{kind}: {behind} behind {elephant}");
    }
}

/// Two elephants of another rack fill the link to a server at twice its rate: after 1 ms a
/// millisecond of their packets waits for it.
#[test]
fn a_mouse_waits_for_one_packet_of_each_elephant_at_the_receivers_link() {
    for (kind, table, ..) in fabrics().into_iter().skip(2) {
        let mut table = table;
        table["link_rate"] = json!("40 Gb/s");
        let rows = [
            (4, 0, ELEPHANT, Time::ZERO),
            (5, 0, ELEPHANT, Time::ZERO),
            (1, 0, MOUSE, Time::MS),
        ];
        let racks = if kind == "opera" { 4 } else { 2 };
        let took = |discipline| {
            let io = simulate(kind, &with(&table, discipline), racks, 4, &rows);
            last_took(&io)
        };
        // On the link up the mouse is alone; on the link down each of its four packets waits for
        // one packet of each elephant, and the first also for the packet that is being sent.
        let packet = RATE.time_for(1_500);
        let most = RATE.time_for(MOUSE) * 2 + packet * 9;
        let least = RATE.time_for(MOUSE) + packet;
        let fair = took("fair");
        assert!((least..=most).contains(&fair), "{kind}: {fair}");
        // Circuits may be dark for a fifth of the time, so less than 1 ms of packets may wait.
        let behind = took("fifo");
        assert!(behind > Time::US * 700, "{kind}: {behind}");
    }
}

/// Every server sends to every server of other racks. A pair of racks meets for a day of 94.5 us
/// in every cycle of 7 slots of 106 us, and has bytes for 6 days.
#[test]
fn a_job_of_all_to_all_takes_what_its_circuits_do() {
    let day = Time(94_500_000);
    let bytes = Rate(40 * Rate::GBPS.0).bytes_in(day) * 6 / 16;
    let servers = |rack: u32| 4 * rack..4 * rack + 4;
    let pairs = (0..32u32).flat_map(|from| (0..8).flat_map(servers).map(move |to| (from, to)));
    let rows: Vec<_> = pairs
        .filter(|(from, to)| from / 4 != to / 4)
        .map(|(from, to)| (from, to, bytes, Time::ZERO))
        .collect();
    let cycle = Time::US * 106 * 7;
    let turns = json!({"night": "11.5 us", "slot": "106 us"});
    let rotor = json!({"indirect": "none", "switches": 1});
    for (kind, keys) in [
        ("mordia", json!({"policy": "rotation"})),
        ("rotornet", rotor),
    ] {
        let mut table = turns.clone();
        for (key, value) in keys.as_object().expect("a table") {
            table[key] = value.clone();
        }
        let took = |discipline: &str| {
            let io = simulate(kind, &with(&table, discipline), 8, 4, &rows);
            io.flows.finish.iter().copied().max().expect("flows")
        };
        // In the first cycle queues fill; a last packet may wait for another day.
        let (fair, least, most) = (took("fair"), cycle * 5, cycle * 8);
        assert!((least..=most).contains(&fair), "{kind}: {fair}");
        let fifo = took("fifo");
        assert!(fifo > most, "{kind}: {fifo}, {fair} where flows take turns");
    }
}
