//! Routers with a speedup against output-queued switches, for which there are closed forms: a
//! switch whose speedup equals its number of inputs is output-queued, and one with a speedup of two
//! is nearly so.

use super::traffic::{packets, Pattern};
use super::*;
use lightloom_engine::{HostId, Stream};

/// Hosts of one router.
const HOSTS: u32 = 16;

/// The mean wait of flits in cycles, with the half-width of its 99.9 % interval, if each host sends
/// a flit to any other host with this probability in each cycle.
fn wait(speedup: u32, load: f64) -> (f64, f64) {
    let table = bare(
        "dimension-order",
        json!({
            "routers": [1], "concentration": HOSTS, "packet": "8 B", "vcs": 16,
            "speedup": speedup, "router_latency": "0 ns",
        }),
    );
    let (mut random, mut flows) = (Stream::new(11, "test.flits", 0), Flows::new());
    for cycle in 0..24_000 {
        for host in 0..HOSTS {
            if random.unit() >= load {
                continue;
            }
            let to = (host + 1 + random.below(HOSTS - 1)) % HOSTS;
            flows.push(HostId(host), HostId(to), 8, CYCLE * cycle);
        }
    }
    let (io, _) = simulate(HOSTS, &table, flows, Time::S);
    // A cycle on the host's wire and one on the output wire are not waiting time.
    let of = |f: usize| (io.flows.finish[f] - io.flows.arrival[f]).0 as f64 / CYCLE.0 as f64 - 2.0;
    let waits: Vec<f64> = (0..io.flows.len()).map(of).collect();
    interval(&waits[waits.len() / 8..])
}

/// By the means of 20 batches; Student's t of 19 degrees of freedom.
fn interval(values: &[f64]) -> (f64, f64) {
    let size = values.len() / 20;
    let batches = values.chunks_exact(size).take(20);
    let means: Vec<f64> = batches
        .map(|b| b.iter().sum::<f64>() / size as f64)
        .collect();
    let mean = means.iter().sum::<f64>() / 20.0;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / 19.0;
    (mean, 3.883 * (variance / 20.0).sqrt())
}

/// Karol, Hluchyj and Morgan, IEEE Trans. Commun. 35(12), 1987: (n - 1)/n · p/(2(1 - p))
/// slots if n senders share an output that queues them all.
fn queued_at_outputs(load: f64) -> f64 {
    let senders = (HOSTS - 1) as f64;
    (senders - 1.0) / senders * load / (2.0 * (1.0 - load))
}

/// With a speedup of four the wait is within the interval, with two a few per cent above; without a
/// speedup inputs wait for each other.
#[test]
fn flits_wait_as_if_they_queued_at_outputs() {
    for load in [0.3, 0.6, 0.8, 0.9] {
        let theory = queued_at_outputs(load);
        let [plain, twice, four] = [1, 2, 4].map(|speedup| wait(speedup, load));
        let what = format!("p {load}: {plain:?} {twice:?} {four:?} for {theory}");
        assert!((four.0 - theory).abs() <= four.1 + 0.01 * theory, "{what}");
        assert!(four.1 < 0.1 * theory, "{what}");
        assert!(twice.0 >= theory - twice.1, "{what}");
        assert!(twice.0 <= 1.1 * theory + twice.1, "{what}");
        assert!(plain.0 - plain.1 > twice.0, "{what}");
    }
}

/// In LIONS' network: accepted uniform traffic ÷ capacity of the wires. A router has 3 wires in
/// each dimension for the packets that its 4 hosts send to 48 of 63 others.
fn of_the_wires(table: &Value, (bytes, flits): (u64, u64)) -> f64 {
    let cycles = 30_000;
    let flows = packets(Pattern::Uniform, 64, 1.2, (bytes, flits), cycles);
    let (io, _) = simulate(64, table, flows, CYCLE * cycles);
    let late = |t: &&Time| **t > CYCLE * (cycles / 2) && **t != Time::NEVER;
    let packets = io.flows.finish.iter().filter(late).count();
    let carried = (packets as u64 * flits) as f64 / (cycles / 2) as f64 / 64.0;
    carried / (3.0 / 4.0 * 63.0 / 48.0)
}

/// The most capable router uses nearly the full capacity of its wires.
#[test]
fn uniform_traffic_fills_the_wires() {
    for (packet, flits, least) in [(256, 33, 0.955), (64, 9, 0.98)] {
        let of = |keys: Value| {
            let table = preset("aggressive", json!({"packet": format!("{packet} B")}));
            of_the_wires(&with(table, keys), (packet, flits))
        };
        let (strong, plain) = (
            of(json!({})),
            of(json!({"speedup": 1, "output_buffer": null})),
        );
        let what = format!("{packet} B: {strong} of the wires, {plain} without a speedup");
        assert!((least..=1.002).contains(&strong), "{what}");
        assert!(plain < strong - 0.05, "{what}");
    }
}
