//! Measures the speed of the flow kernel and prints one JSON object per line.
//!
//! 1,000 racks of 40 servers at 10 Gb/s below a core that never blocks; the case sets the
//! oversubscription of the racks' uplinks. A fixed number of flows is in progress at any time: each
//! begins when another ends, between servers of two racks drawn at random, with an exponential
//! size. Events are arrivals and completions. With less oversubscription, more bottlenecks are at
//! the servers and fewer flows are affected by a change; at 40:1 all bottlenecks are uplinks, and a
//! change reaches every level above its own.
//!
//! Other cases have arrivals that do not wait for completions, on the registry's tree, and run
//! until all is delivered: an overloaded tree of 64 hosts, and racks as above with uplinks at 85 %
//! of their capacity. For these, the mean and the 99th percentile of completion times are printed,
//! too, to compare precisions.
//!
//! Every case runs several times in a process of its own; the fastest run counts, all are printed.
//! Name cases to run only those: `cargo bench --bench flows -- 4to1-10k`.

mod harness;

use harness::{each_in_a_process, peak_rss};
use lightloom_engine::fair::{LinkId, Precision, WEIGHT};
use lightloom_engine::kernel::flow::{FlowDriven, FlowKernel, LinkKind, Net, Todo};
use lightloom_engine::{
    Cluster, Command, Dependencies, Fabric, FlowId, Flows, HostId, Io, Nic, PortId, Rate, Rejected,
    Reports, Shape, Stream, Time,
};
use lightloom_fabrics::{find, Site};
use lightloom_workload::WorkloadConfig;
use serde_json::{json, Value};

const RUNS: usize = 3;
const RACKS: u32 = 1_000;
const SERVERS: u32 = 40;
const NIC: Rate = Rate(10_000_000_000);

/// Rates to the b/s, to a thousandth, to a hundredth.
const EXACT: u32 = 0;
const PER_MILLE: u32 = 1_000_000;
const PER_CENT: u32 = 10_000_000;

/// Name, flows under way, oversubscription, events to measure, precision in parts
/// of 10^9.
const CASES: &[(&str, u32, u64, u64, u32)] = &[
    ("1to1-10k", 10_000, 1, 400_000, EXACT),
    ("4to1-10k", 10_000, 4, 400_000, EXACT),
    ("10to1-10k", 10_000, 10, 20_000, EXACT),
    ("40to1-10k", 10_000, 40, 20_000, EXACT),
    ("1to1-100k", 100_000, 1, 200_000, EXACT),
    ("4to1-100k", 100_000, 4, 200, EXACT),
    ("40to1-100k", 100_000, 40, 200, EXACT),
    ("10to1-10k-0.1pct", 10_000, 10, 200_000, PER_MILLE),
    ("10to1-10k-1pct", 10_000, 10, 200_000, PER_CENT),
    ("40to1-10k-0.1pct", 10_000, 40, 200_000, PER_MILLE),
    ("40to1-10k-1pct", 10_000, 40, 200_000, PER_CENT),
    ("4to1-100k-0.1pct", 100_000, 4, 20_000, PER_MILLE),
    ("4to1-100k-1pct", 100_000, 4, 100_000, PER_CENT),
    ("40to1-100k-0.1pct", 100_000, 40, 20_000, PER_MILLE),
    ("40to1-100k-1pct", 100_000, 40, 100_000, PER_CENT),
];

/// A tree with arrivals at a load.
struct Open {
    name: &'static str,
    cluster: Cluster,
    oversubscription: f64,
    load: f64,
    /// Flows and the law of their sizes, as users write it.
    flows: u64,
    sizes: (&'static str, &'static str),
    billionths: u32,
}

/// The 256 B flows of 300 us.
const fn overloaded(name: &'static str, billionths: u32) -> Open {
    Open {
        name,
        cluster: Cluster {
            racks: 64,
            servers_per_rack: 1,
            server_rate: NIC,
            nic: Nic::Uncapped,
        },
        oversubscription: 1.0,
        load: 1.1,
        flows: 103_125,
        sizes: ("fixed", "256 B"),
        billionths,
    }
}

const fn racks(name: &'static str, oversubscription: f64, billionths: u32) -> Open {
    Open {
        name,
        cluster: Cluster {
            racks: RACKS,
            servers_per_rack: SERVERS,
            server_rate: NIC,
            nic: Nic::Capped(NIC),
        },
        oversubscription,
        load: 0.85 / oversubscription,
        flows: 60_000,
        sizes: ("exponential", "10 MB"),
        billionths,
    }
}

const OPEN: &[Open] = &[
    overloaded("overloaded", EXACT),
    overloaded("overloaded-0.1pct", PER_MILLE),
    overloaded("overloaded-1pct", PER_CENT),
    racks("10to1-open", 10.0, EXACT),
    racks("10to1-open-0.1pct", 10.0, PER_MILLE),
    racks("10to1-open-1pct", 10.0, PER_CENT),
    racks("40to1-open", 40.0, EXACT),
    racks("40to1-open-0.1pct", 40.0, PER_MILLE),
    racks("40to1-open-1pct", 40.0, PER_CENT),
];

/// Racks below a core that never blocks.
struct Racks {
    uplink: Rate,
}

impl FlowKernel for Racks {
    type Event = ();

    fn begin(&mut self, net: &mut Net, _: &mut Todo<()>) {
        net.never_list_flows();
        for _ in 0..2 * RACKS * SERVERS {
            net.add_link(NIC, LinkKind::Server);
        }
        for _ in 0..2 * RACKS {
            net.add_link(self.uplink, LinkKind::Switch);
        }
    }

    fn arrive(&mut self, flow: FlowId, _: Time, io: &mut Io, net: &mut Net, _: &mut Todo<()>) {
        let f = flow.index();
        let (src, dst) = (io.flows.src[f].0, io.flows.dst[f].0);
        let (hosts, from, to) = (RACKS * SERVERS, src / SERVERS, dst / SERVERS);
        let up = LinkId(2 * hosts + from);
        let down = LinkId(2 * hosts + RACKS + to);
        let path = [LinkId(src), up, down, LinkId(hosts + dst)];
        net.open(flow, io.flows.bytes[f], &path, WEIGHT, None);
    }

    fn handle(&mut self, _: Time, (): (), _: &mut Io, _: &mut Net, _: &mut Todo<()>) {}

    fn apply(
        &mut self,
        _: Command,
        _: Time,
        _: &mut Net,
        _: &mut Todo<()>,
    ) -> Result<(), Rejected> {
        Err(Rejected("a bench".to_owned()))
    }
}

impl Reports for Racks {
    fn shape(&self) -> Shape {
        Shape {
            hosts: RACKS * SERVERS,
            racks: RACKS,
            host_rate: NIC,
            link_capacity: Rate(2 * RACKS as u64 * self.uplink.0),
        }
    }

    fn soonest(&self, _: HostId, _: HostId, bytes: u64) -> Time {
        NIC.time_for(bytes)
    }

    fn port_rate(&self, _: PortId) -> Rate {
        self.uplink
    }
}

/// `chains` flows at time zero; every other flow waits for the one `chains` before it. There are
/// enough flows that no chain ends within `events` events.
fn flows(chains: u32, events: u64) -> Flows {
    let total = chains * (4 + events as u32 / chains);
    let mut rng = Stream::new(1, "bench", 0);
    let mut flows = Flows::new();
    for f in 0..total {
        let (from, skip) = rng.below2(RACKS, RACKS - 1);
        let (a, b) = rng.below2(SERVERS, SERVERS);
        let to = (from + 1 + skip) % RACKS;
        let bytes = 1.0 - 10_000_000.0 * (1.0 - rng.unit()).ln();
        let arrival = if f < chains { Time::ZERO } else { Time::NEVER };
        let (src, dst) = (HostId(from * SERVERS + a), HostId(to * SERVERS + b));
        flows.push(src, dst, bytes as u64, arrival);
    }
    let followers = total - chains;
    flows.after = Dependencies {
        starts: (0..=total).map(|f| f.min(followers)).collect(),
        edges: (chains..total).map(FlowId).collect(),
        missing: (0..total).map(|f| (f >= chains) as u32).collect(),
        delay: vec![Time::ZERO; total as usize],
        ..Dependencies::default()
    };
    flows
}

fn measure(case: &(&str, u32, u64, u64, u32)) -> Value {
    let &(name, under_way, oversubscription, events, billionths) = case;
    let precision = Precision::billionths(billionths).expect("at most a tenth");
    let flows = flows(under_way, events);
    // A look costs a walk over the flows: few, but no long way past the end.
    let step = (Time::NS * (events as i64 / 2)).max(Time::US * 5);
    let (mut kernel_s, mut processor_s) = (Vec::new(), Vec::new());
    let mut last = (0, 0.0);
    for _ in 0..RUNS {
        let racks = Racks {
            uplink: Rate(NIC.0 * SERVERS as u64 / oversubscription),
        };
        let mut fabric = FlowDriven::new(racks);
        fabric.set_rate_precision(precision);
        let mut io = Io::new(flows.clone());
        // The first rates, of all flows at once, are not measured.
        let mut now = Time(1);
        fabric.advance(now, &mut io);
        let (clock, cpu) = (std::time::Instant::now(), harness::processor_s());
        while 2 * io.ledger.flows_completed < events {
            now += step;
            fabric.advance(now, &mut io);
        }
        kernel_s.push(clock.elapsed().as_secs_f64());
        processor_s.extend(
            harness::processor_s()
                .zip(cpu)
                .map(|(after, before)| after - before),
        );
        // Each completion lets another flow arrive.
        last = (2 * io.ledger.flows_completed, now.as_secs_f64());
    }
    // On a busy machine CPU time is more reliable than wall time.
    let times = if processor_s.is_empty() {
        &kernel_s
    } else {
        &processor_s
    };
    let best = times.iter().copied().fold(f64::INFINITY, f64::min);
    json!({
        "bench": format!("flows/{name}"),
        "threads": 1,
        "flow_events": last.0,
        "flow_events_per_s": last.0 as f64 / best,
        "us_per_event": best * 1e6 / last.0 as f64,
        "kernel_s": kernel_s,
        "processor_s": processor_s,
        "simulated_s": last.1,
        "peak_rss_bytes": peak_rss(),
    })
}

impl Open {
    fn flows(&self) -> Flows {
        let table = json!({
            "arrivals": "poisson", "load": self.load, "flows": self.flows,
            "pattern": "uniform",
            "sizes": match self.sizes {
                ("fixed", size) => json!({ "kind": "fixed", "size": size }),
                (kind, mean) => json!({ "kind": kind, "mean": mean }),
            },
        });
        let workload: WorkloadConfig = serde_json::from_value(table).expect("a workload");
        let workload = workload.resolve(&self.cluster).expect("one that can run");
        workload.generate(&self.cluster, 1).expect("flows")
    }

    fn fabric(&self, flows: &Flows) -> Box<dyn Fabric> {
        let entry = find("tree").expect("the tree is registered");
        let table = json!({ "oversubscription": self.oversubscription });
        let table = (entry.resolve)(&table, &self.cluster).expect("a tree");
        let site = Site {
            cluster: &self.cluster,
            flows,
            seed: 1,
            threads: 1,
            library: None,
        };
        let mut fabric = (entry.build)(&table, &site).expect("a fabric");
        let precision = Precision::billionths(self.billionths).expect("at most a tenth");
        assert!(fabric.set_rate_precision(precision));
        fabric
    }
}

fn measure_open(case: &Open) -> Value {
    let flows = case.flows();
    let (mut kernel_s, mut processor_s) = (Vec::new(), Vec::new());
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let (mut fabric, mut io) = (case.fabric(&flows), Io::new(flows.clone()));
        let (clock, cpu) = (std::time::Instant::now(), harness::processor_s());
        fabric.advance(Time::S * 1_000, &mut io);
        kernel_s.push(clock.elapsed().as_secs_f64());
        let after = harness::processor_s();
        processor_s.extend(after.zip(cpu).map(|(after, before)| after - before));
        let took = |f: usize| (io.flows.finish[f] - io.flows.arrival[f]).as_secs_f64() * 1e6;
        times = (0..flows.len()).map(took).collect();
    }
    times.sort_unstable_by(f64::total_cmp);
    let spent = if processor_s.is_empty() {
        &kernel_s
    } else {
        &processor_s
    };
    let best = spent.iter().copied().fold(f64::INFINITY, f64::min);
    json!({
        "bench": format!("flows/{}", case.name),
        "threads": 1,
        "flow_events": 2 * flows.len(),
        "flow_events_per_s": 2.0 * flows.len() as f64 / best,
        "us_per_event": best * 1e6 / (2.0 * flows.len() as f64),
        "kernel_s": kernel_s,
        "processor_s": processor_s,
        "fct_mean_us": times.iter().sum::<f64>() / times.len() as f64,
        "fct_p99_us": times[times.len() * 99 / 100],
        "peak_rss_bytes": peak_rss(),
    })
}

fn main() {
    each_in_a_process(CASES, |c| c.0, measure);
    each_in_a_process(OPEN, |c| c.name, measure_open);
}
