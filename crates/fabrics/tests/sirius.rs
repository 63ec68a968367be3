//! The claims of the Sirius paper, measured from outside: capacity under the worst traffic, and the
//! cost of the protocol for a lone flow, by uplinks and plan.

use lightloom_engine::{Cluster, Flows, HostId, Io, Nic, Rate, Stream, Time, Totals};
use lightloom_fabrics::{find, Site};
use serde_json::{json, Value};

/// The cluster of §7.
const PAPER: Cluster = Cluster {
    racks: 128,
    servers_per_rack: 24,
    server_rate: Rate(400_000_000_000 / 24),
    nic: Nic::Uncapped,
};

const PLANS: [&str; 3] = ["rotor", "mixed", "wide"];

/// Every rack has unlimited traffic for one other rack, and receives from one other rack.
fn permutation() -> Flows {
    let mut flows = Flows::new();
    for rack in 0..PAPER.racks {
        let to = (rack * 5 + 37) % PAPER.racks;
        assert_ne!(to, rack);
        let host = |rack| HostId(rack * PAPER.servers_per_rack);
        flows.push(host(rack), host(to), 1 << 25, Time::ZERO);
    }
    flows
}

/// Runs Sirius up to each time of `until`; returns the bytes delivered by then.
fn run(table: &Value, flows: Flows, until: &[Time]) -> (Io, Vec<u64>) {
    let (io, delivered, _) = run_on(&PAPER, table, flows, until);
    (io, delivered)
}

/// The same on any cluster, with the totals at the end.
fn run_on(
    cluster: &Cluster,
    table: &Value,
    flows: Flows,
    until: &[Time],
) -> (Io, Vec<u64>, Totals) {
    let entry = find("sirius").expect("registered");
    let table = (entry.resolve)(table, cluster).expect("a valid table");
    let site = Site {
        cluster,
        flows: &flows,
        seed: 1,
        threads: 1,
        library: None,
    };
    let mut fabric = (entry.build)(&table, &site).expect("a valid table");
    let mut io = Io::new(flows);
    let mut delivered = Vec::new();
    for &to in until {
        fabric.advance(to, &mut io);
        delivered.push(io.ledger.delivered);
    }
    (io, delivered, fabric.totals())
}

/// Delivered share of the base uplinks' rate between 0.1 and 0.4 ms.
fn carried(table: &Value) -> f64 {
    let (from, until) = (Time::US * 100, Time::US * 400);
    let (_, delivered) = run(table, permutation(), &[from, until]);
    let bits = (delivered[1] - delivered[0]) as f64 * 8.0;
    let base = PAPER.rack_rate().0 as f64 * PAPER.racks as f64;
    bits / (base * (until - from).as_secs_f64())
}

/// Each byte crosses the core twice, and a tenth of a slot is guardband: 1×,
/// 1.5× and 2× the base uplinks carry half of 0.9, 1.35 and 1.8 (§4.2, §7).
#[test]
fn a_permutation_gets_half_of_the_uplinks_in_every_plan() {
    for plan in PLANS {
        for (uplinks, expected) in [(8, 0.45), (12, 0.675), (16, 0.9)] {
            let share = carried(&json!({"uplink_plan": plan, "uplinks": uplinks}));
            assert!(
                (share / expected - 1.0).abs() < 0.02,
                "{plan}, {uplinks} uplinks: {share:.4} of the base uplinks, not {expected}"
            );
        }
    }
}

/// Mean time of lone flows of 81.8 KB between random racks, each long after the previous one and at
/// a random phase of an epoch [ps].
fn lone_flow(plan: &str, mode: &str, epoch_slots: Option<u32>) -> f64 {
    let mut rng = Stream::new(1, "lone", 0);
    let mut flows = Flows::new();
    let mut now = Time::ZERO;
    for _ in 0..500 {
        let src = rng.below(PAPER.hosts());
        let racks_on = 1 + rng.below(PAPER.racks - 1);
        let dst = (src + PAPER.servers_per_rack * racks_on) % PAPER.hosts();
        now += Time::US * 100 + Time(rng.below(10_000_000) as i64);
        flows.push(HostId(src), HostId(dst), 81_800, now);
    }
    let mut table = json!({"uplink_plan": plan, "mode": mode});
    if let Some(slots) = epoch_slots {
        table["epoch_slots"] = json!(slots);
    }
    let (io, _) = run(&table, flows, &[now + Time::MS]);
    let took = |f: usize| (io.flows.finish[f] - io.flows.arrival[f]).0 as f64;
    (0..io.flows.len()).map(took).sum::<f64>() / io.flows.len() as f64
}

/// The 63 % of the paper at L = 10 %, where flows hardly meet (§7). It holds in every plan on
/// average over pairs and phases, if the epochs of plans whose pairs meet within 11 slots have one
/// more slot to read the last requests; epochs of 16 slots, the longest gap of the `mixed` plan,
/// have such slots for nearly all pairs. Without that slot the value is a few points lower.
#[test]
fn a_lone_flow_saves_63_per_cent_without_the_protocol_in_every_plan() {
    for plan in PLANS {
        let ideal = lone_flow(plan, "ideal", None);
        let saved = |slots| 100.0 * (1.0 - ideal / lone_flow(plan, "request_grant", slots));
        let spare = saved((plan != "mixed").then_some(12));
        assert!((spare - 63.0).abs() < 2.0, "{plan}: {spare:.1} %");
        let none = saved(None);
        assert!((none - 63.0).abs() < 5.0, "{plan}: {none:.1} %");
    }
}

/// Servers that are nodes themselves: one per rack, with two base uplinks each.
const SERVERS: Cluster = Cluster {
    racks: 64,
    servers_per_rack: 1,
    server_rate: Rate(100_000_000_000),
    nic: Nic::Uncapped,
};

/// With 4 uplinks, each of 64 servers meets all others in an epoch of 64/4 slots; a cell that is
/// present at the start of an epoch is granted two epochs later. It crosses the core twice, so 4 ·
/// 50 Gb/s, of which a tenth is guardband, carry 90 Gb/s per server.
#[test]
fn servers_may_hang_on_the_gratings_themselves() {
    let others = json!({"uplinks": 4, "intermediates": "others"});
    let cells = 50;
    let mut lone = Flows::new();
    lone.push(HostId(3), HostId(4), 562 * cells, Time::ZERO);
    let (io, _, totals) = run_on(&SERVERS, &others, lone, &[Time::MS]);
    assert_eq!(io.flows.start[0], Time::NS * 100 * (2 * 64 / 4));
    assert_eq!(totals.cell_hops, Some(2 * cells));

    let mut all = Flows::new();
    for server in 0..64 {
        all.push(
            HostId(server),
            HostId((server * 5 + 37) % 64),
            1 << 25,
            Time::ZERO,
        );
    }
    let (from, until) = (Time::US * 100, Time::US * 400);
    let (_, delivered, _) = run_on(&SERVERS, &json!({"uplinks": 4}), all, &[from, until]);
    let bits = (delivered[1] - delivered[0]) as f64 * 8.0;
    let rate = bits / 64.0 / (until - from).as_secs_f64();
    assert!((rate / 90e9 - 1.0).abs() < 0.02, "{rate:e} b/s a server");
}
