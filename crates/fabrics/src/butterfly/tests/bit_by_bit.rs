//! The kernel against the plain reference, flow by flow and to the picosecond, on small random
//! networks with all options of routers, at loads from idle to overload.

use super::reference::Reference;
use super::traffic::{packets, Pattern};
use super::*;
use lightloom_engine::Stream;

/// Number of hosts, routers along each dimension, and hosts of a router.
const SHAPES: [(u32, &[u32], u32); 7] = [
    (6, &[3], 2),
    (4, &[1], 4),
    (8, &[2, 2], 2),
    (12, &[3, 2], 2),
    (9, &[3, 3], 1),
    (24, &[2, 3, 2], 2),
    (20, &[5], 4),
];

fn any<T: Copy>(random: &mut Stream, of: &[T]) -> T {
    of[random.below(of.len() as u32) as usize]
}

/// A table for a shape, with random routers, packets and wires.
fn drawn(random: &mut Stream, (_, routers, concentration): (u32, &[u32], u32)) -> Value {
    let routing = any(random, &["dimension-order", "valiant", "ugal"]);
    let payload = any(random, &[16u64, 64, 100]);
    let (flit, header) = (any(random, &[4u64, 8, 16]), any(random, &[0u64, 5]));
    let flits = (payload + header).div_ceil(flit);
    let whole = random.unit() < 0.4;
    let depth = any(random, &[1u64, 2, 5, 16]);
    let speedup = any(random, &[1, 1, 2, 2, 3, 4]);
    let mut table = json!({
        "routers": routers, "concentration": concentration, "routing": routing,
        "packet": format!("{payload} B"), "header": format!("{header} B"),
        "flit": format!("{flit} B"),
        "vcs": any(random, &[2, 3, 4, 16]),
        "vc_buffer": if whole { depth + flits } else { depth },
        "flow_control": if whole { "virtual-cut-through" } else { "wormhole" },
        "speedup": speedup,
        "input_speedup": any(random, &[1, 1, 2, 4]),
        "allocator_iterations": any(random, &[1, 2, 3]),
        "router_latency": format!("{} ps", any(random, &[0, 6_400, 19_200, 31_250])),
        "credit_latency": format!("{} ps", any(random, &[0, 6_400, 12_800, 20_001])),
        "host_wire": format!("{} mm", any(random, &[0, 1_750])),
        "spacing": format!("{} mm", any(random, &[0, 5_000])),
    });
    if speedup > 1 && random.unit() < 0.8 {
        table["output_buffer"] = json!(any(random, &[1, 2, 7]));
    }
    if routing == "dimension-order" && random.unit() < 0.2 {
        table["vcs"] = json!(1);
    }
    if routing == "ugal" && random.unit() < 0.5 {
        table["ugal_bias"] = json!("24 B");
    }
    table["discipline"] = json!(any(random, &["fair", "fifo"]));
    table
}

/// Flows of one or several packets, some of which arrive at the start of a cycle.
fn offered(random: &mut Stream, hosts: u32) -> Flows {
    let pattern = any(
        random,
        &[Pattern::Uniform, Pattern::Uniform, Pattern::HotSpot(1)],
    );
    let load = any(random, &[0.05, 0.5, 0.9, 1.5]);
    let mut flows = packets(pattern, hosts, load, (64, 8), 150);
    for f in 0..flows.len() {
        flows.bytes[f] = 1 + random.below(200) as u64;
        if random.unit() < 0.3 {
            flows.arrival[f] = Time(flows.arrival[f].0 / CYCLE.0 * CYCLE.0);
        }
    }
    flows.arrival.sort();
    flows
}

/// Start, finish and routers visited of every flow.
fn outcome(hosts: u32, table: &Value, flows: &Flows) -> Vec<(Time, Time, f32)> {
    let (io, _) = simulate(hosts, table, flows.clone(), Time::MS);
    let of = |f: usize| (io.flows.start[f], io.flows.finish[f], io.flows.hops[f]);
    (0..flows.len()).map(of).collect()
}

fn by_reference(hosts: u32, table: &Value, flows: &Flows) -> Vec<(Time, Time, f32)> {
    let table = (ENTRY.resolve)(table, &cluster(hosts)).expect("a table that can run");
    let config: ButterflyConfig = config::read(&table, "fabric").expect("reads back");
    let mut plain = Reference::new(&config, hosts as usize, flows, 1);
    plain.run(flows, 1_000_000);
    let hops = |f: usize| (plain.routers_visited[f] as f64 / flows.bytes[f] as f64) as f32;
    let of = |f: usize| (plain.start[f], plain.finish[f], hops(f));
    (0..flows.len()).map(of).collect()
}

/// Any router, on any shape, and every routing.
#[test]
fn as_the_plain_reference_to_the_last_bit() {
    let mut queued = 0;
    for trial in 0..150 {
        let mut random = Stream::new(trial, "test.reference", 0);
        let shape = any(&mut random, &SHAPES);
        let table = drawn(&mut random, shape);
        let flows = offered(&mut random, shape.0);
        let (ours, plain) = (
            outcome(shape.0, &table, &flows),
            by_reference(shape.0, &table, &flows),
        );
        let apart = ours.iter().zip(&plain).position(|(a, b)| a != b);
        if let Some(f) = apart {
            panic!(
                "trial {trial}, flow {f}: {:?} for {:?}, {table}",
                ours[f], plain[f]
            );
        }
        assert!(
            plain.iter().all(|f| f.1 != Time::NEVER),
            "{trial} stands still: {table}"
        );
        queued += (table["speedup"] != 1) as u32;
    }
    assert!(queued > 60, "{queued} with a speedup");
}

/// LIONS' network with both presets at half load.
#[test]
fn the_presets_as_the_plain_reference() {
    for name in ["basic", "aggressive"] {
        for routing in ["dimension-order", "ugal"] {
            let table = preset(name, json!({"routing": routing}));
            let flows = packets(Pattern::Uniform, 64, 0.6, (256, 33), 500);
            let (ours, plain) = (
                outcome(64, &table, &flows),
                by_reference(64, &table, &flows),
            );
            assert!(ours == plain, "{name} {routing}");
        }
    }
}
