//! Measures speed and memory of the Sirius kernel and prints one JSON object per line.
//!
//! Every case runs `RUNS` times in a process of its own, so that its peak memory is measured
//! separately; the fastest run counts, all are printed. Name cases to run only those: `cargo bench
//! --bench sirius -- paper-128`.

mod harness;

use harness::{least, peak_rss, repeat, site};
use lightloom_engine::run::{Fault, Plan, Stop};
use lightloom_engine::*;
use lightloom_workload::WorkloadConfig;
use serde_json::{json, Value};

/// A case: a cluster, flows, a table.
struct Case {
    name: &'static str,
    racks: u32,
    /// Rate of a rack [Gb/s].
    rack_gbps: u64,
    /// Pareto flows at this load, or a saturated permutation.
    /// Whether a server sends no faster than its share of the rack's rate.
    capped: bool,
    traffic: Traffic,
    table: Value,
    stop: Stop,
    threads: &'static [usize],
    runs: usize,
    faults: Vec<Fault>,
}

enum Traffic {
    Pareto { flows: u64, load: f64 },
    Permutation,
}

fn cases() -> Vec<Case> {
    let paper = |name, load, table: Value| Case {
        name,
        racks: 128,
        rack_gbps: 400,
        capped: false,
        traffic: Traffic::Pareto {
            flows: 200_000,
            load,
        },
        table,
        stop: Stop::LastArrival,
        threads: &[1],
        runs: 5,
        faults: vec![],
    };
    let permutation = |name, uplinks: u32| Case {
        traffic: Traffic::Permutation,
        stop: Stop::At(Time::MS * 3),
        ..paper(name, 0.0, json!({"uplinks": uplinks}))
    };
    // The paper's ratio: one base uplink for every 16 racks.
    let scale = |name, racks: u32, flows, runs| Case {
        name,
        racks,
        rack_gbps: racks as u64 / 16 * 50,
        traffic: Traffic::Pareto { flows, load: 0.5 },
        threads: &[1, 2],
        runs,
        ..paper(name, 0.5, json!({}))
    };
    vec![
        paper("paper-128", 0.5, json!({})),
        paper("paper-128-load-5", 0.05, json!({})),
        paper("paper-128-load-100", 1.0, json!({})),
        paper("paper-128-mixed", 0.5, json!({"uplink_plan": "mixed"})),
        // A part has failed: departures are not known in advance.
        Case {
            faults: vec![Fault {
                at: Time::ZERO,
                command: Command::Fail {
                    element: Element::Transceiver { node: 0, uplink: 0 },
                    loss: 1e-9,
                },
            }],
            ..paper("paper-128-grey", 0.5, json!({}))
        },
        // All is sound again.
        Case {
            faults: vec![Fault {
                at: Time::ZERO,
                command: Command::Repair(Element::Node(0)),
            }],
            ..paper("paper-128-repaired", 0.5, json!({}))
        },
        paper("paper-128-ideal", 0.5, json!({"mode": "ideal"})),
        Case {
            capped: true,
            ..paper("paper-128-capped", 0.5, json!({}))
        },
        Case {
            capped: true,
            ..paper("paper-128-ideal-capped", 0.5, json!({"mode": "ideal"}))
        },
        permutation("permutation-128-1x", 8),
        permutation("permutation-128-1.5x", 12),
        permutation("permutation-128-2x", 16),
        scale("scale-512", 512, 400_000, 3),
        scale("scale-1024", 1024, 400_000, 3),
        scale("scale-4096", 4096, 1_000_000, 1),
        Case {
            runs: 0,
            ..paper("tiny", 0.5, json!({}))
        },
    ]
}

impl Case {
    fn cluster(&self) -> Cluster {
        let server_rate = Rate(self.rack_gbps * Rate::GBPS.0 / 24);
        Cluster {
            racks: self.racks,
            servers_per_rack: 24,
            server_rate,
            nic: match self.capped {
                true => Nic::Capped(server_rate),
                false => Nic::Uncapped,
            },
        }
    }

    fn flows(&self, cluster: &Cluster) -> Flows {
        match self.traffic {
            Traffic::Pareto { flows, load } => {
                let flows = if self.runs == 0 { 10_000 } else { flows };
                let table = json!({
                    "arrivals": "poisson", "load": load, "flows": flows, "pattern": "uniform",
                    "sizes": {"kind": "pareto", "shape": 1.05, "mean": "100 KB"},
                });
                let workload: WorkloadConfig = serde_json::from_value(table).expect("a workload");
                let workload = workload.resolve(cluster).expect("a workload that can run");
                workload.generate(cluster, 1).expect("flows")
            }
            Traffic::Permutation => {
                let mut flows = Flows::new();
                for rack in 0..cluster.racks {
                    let to = (rack + 1 + rack % 2 * 6) % cluster.racks;
                    let host = |rack| HostId(rack * cluster.servers_per_rack);
                    flows.push(host(rack), host(to), 1 << 30, Time::ZERO);
                }
                flows
            }
        }
    }

    fn measure(&self, threads: usize) -> Value {
        let cluster = self.cluster();
        let flows = self.flows(&cluster);
        let plan = Plan {
            stop: self.stop,
            limit: Time::S,
            sample: None,
            faults: self.faults.clone(),
        };
        let site = site(&cluster, &flows, threads);
        let ran = repeat(self.runs.max(1), "sirius", &self.table, &site, &plan);
        let (ledger, outcome) = (&ran.ledger, &ran.outcome);
        let best = least(&ran.kernel_s);
        let hops = outcome.totals.cell_hops.expect("cells hop") as f64;
        json!({
            "bench": format!("sirius/{}", self.name),
            "threads": threads,
            "cell_hops": hops,
            "M_cell_hops_per_s": hops / best / 1e6,
            "ns_per_hop": best * 1e9 / hops,
            "kernel_s": ran.kernel_s,
            "simulated_us": outcome.simulated.as_secs_f64() * 1e6,
            "flows_completed": ledger.flows_completed,
            "goodput_of_base": ledger.delivered as f64 * 8.0
                / (cluster.rack_rate().0 as f64
                    * cluster.racks as f64
                    * outcome.simulated.as_secs_f64()),
            "peak_rss_bytes": peak_rss(),
        })
    }
}

fn main() {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    if let [case, threads] = &args[..] {
        if let Ok(threads) = threads.parse() {
            let cases = cases();
            let case = cases
                .iter()
                .find(|c| c.name == case)
                .expect("a case of that name");
            println!("{}", case.measure(threads));
            return;
        }
    }
    let itself = std::env::current_exe().expect("the path of this program");
    for case in cases() {
        let wanted = args.iter().any(|a| a == case.name) || (args.is_empty() && case.runs > 0);
        for threads in case.threads.iter().filter(|_| wanted) {
            let child = std::process::Command::new(&itself)
                .args([case.name, &threads.to_string()])
                .status()
                .expect("a process for the case");
            assert!(child.success(), "{} failed", case.name);
        }
    }
}
