//! A private wire from every rack to every rack: the smallest fabric there is,
//! worked through in CONTRIBUTING.md. `cargo run --example wires` runs it.
//!
//! Flows of one pair of racks leave one after the other, whole, in order of
//! arrival. *Not modelled*: packets (a flow arrives all at once), the links
//! between servers and their rack switch, failures.

use lightloom_engine::kernel::event::{EventDriven, EventKernel};
use lightloom_engine::run::{run, Plan, Silent, Stop};
use lightloom_engine::{
    Agenda, Cluster, Command, Fabric, FlowId, Flows, HostId, Io, Nic, PortId, Rate, Refusal,
    Rejected, Reports, Shape, Time, View,
};
use lightloom_fabrics::physics::{ideal_of, Obeyed, Physics, Term};
use lightloom_fabrics::{contract, Entry, FabricConfig, Preset, Site};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// ---- config.rs: the fabric's own table ------------------------------------

/// A private wire from every rack to every rack.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct WiresConfig {
    /// Rate of each wire [b/s].
    rate: Rate,
    /// Propagation delay of each wire [s]; 5 ns per metre.
    propagation: Time,
}

impl Default for WiresConfig {
    fn default() -> Self {
        let (rate, propagation) = (Rate(10 * Rate::GBPS.0), Time::ZERO);
        WiresConfig { rate, propagation }
    }
}

impl WiresConfig {
    /// Refuses wires that carry nothing, or more than a server can send.
    fn check(&self, cluster: &Cluster) -> Result<(), Refusal> {
        if self.rate.0 == 0 {
            let remedy = "use e.g. \"10 Gb/s\"";
            return Err(Refusal::new(
                "fabric.rate",
                self.rate,
                "carries nothing",
                remedy,
            ));
        }
        // No server sends faster than its link.
        if let Nic::Capped(most) = cluster.nic {
            if self.rate > most {
                let limit = format!("faster than servers' links, cluster.nic = {most}");
                return Err(Refusal::new("fabric.rate", self.rate, limit, "lower it"));
            }
        }
        Ok(())
    }
}

// ---- kernel.rs: what happens ------------------------------------------------

/// The state: when each wire is free. The one event is "this flow has arrived".
struct Wires {
    config: WiresConfig,
    cluster: Cluster,
    free_at: Vec<Time>,
    inside: u64,
    carried: u64,
}

impl Wires {
    fn new(config: WiresConfig, cluster: Cluster) -> Wires {
        let wires = (cluster.racks as usize).pow(2);
        Wires {
            config,
            cluster,
            free_at: vec![Time::ZERO; wires],
            inside: 0,
            carried: 0,
        }
    }

    /// The wire between the racks of two servers.
    fn wire(&self, src: HostId, dst: HostId) -> usize {
        let (from, to) = (self.cluster.rack_of(src), self.cluster.rack_of(dst));
        (from * self.cluster.racks + to) as usize
    }
}

impl EventKernel for Wires {
    type Event = FlowId;

    fn arrive(&mut self, flow: FlowId, now: Time, io: &mut Io, agenda: &mut Agenda<FlowId>) {
        let row = flow.index();
        let (bytes, wire) = (
            io.flows.bytes[row],
            self.wire(io.flows.src[row], io.flows.dst[row]),
        );
        let from = self.free_at[wire].max(now);
        let until = from + self.config.rate.time_for(bytes);
        self.free_at[wire] = until;
        self.inside += bytes;
        io.start(flow, from);
        if let Some(audit) = &mut io.audit {
            let port = PortId(wire as u32);
            audit.transmit(port, port, from, until, bytes);
        }
        agenda.schedule(until + self.config.propagation, flow);
    }

    fn handle(&mut self, now: Time, flow: FlowId, io: &mut Io, _: &mut Agenda<FlowId>) {
        let bytes = io.flows.bytes[flow.index()];
        self.inside -= bytes;
        self.carried += bytes;
        io.deliver(flow, bytes, now);
    }

    fn apply(&mut self, _: Command, _: Time, _: &mut Agenda<FlowId>) -> Result<(), Rejected> {
        Err(Rejected::no_failures("wires"))
    }

    fn idle(&self) -> bool {
        self.inside == 0
    }
}

impl Reports for Wires {
    fn shape(&self) -> Shape {
        Shape {
            hosts: self.cluster.hosts(),
            racks: self.cluster.racks,
            host_rate: self.cluster.server_rate,
            link_capacity: Rate(self.config.rate.0 * self.free_at.len() as u64),
        }
    }

    fn observe(&self, _: &Io, view: &mut View) {
        view.in_flight_bytes = self.inside;
        view.on_links_bytes = self.inside;
        view.carried_bytes = self.carried;
    }

    fn settle(&self, io: &mut Io) {
        io.flows.hops.fill(1.0);
    }

    fn soonest(&self, _: HostId, _: HostId, bytes: u64) -> Time {
        self.config.rate.time_for(bytes) + self.config.propagation
    }

    fn port_rate(&self, _: PortId) -> Rate {
        self.config.rate
    }
}

// ---- entry.rs: table and kernel, in the registry ----------------------------

const ENTRY: Entry = Entry {
    kind: "wires",
    title: "Wires: a private wire for every pair of racks",
    name: "wires",
    drops: contract::LOST,
    in_turn: false,
    no_circuits: "",
    bounds: &[],
    testbed: None,
    source: "CONTRIBUTING.md",
    summary: "Every pair of racks has a wire of its own. Nothing is shared.",
    presets: &[Preset {
        name: "default",
        summary: "Wires of 10 Gb/s.",
        table: "{}",
    }],
    schema: contract::schema::<WiresConfig>,
    resolve: contract::resolve::<WiresConfig>,
    obey: contract::obey::<WiresConfig>,
    ideal: contract::ideal::<WiresConfig>,
    draws: contract::draws::<WiresConfig>,
    failures: contract::failures::<WiresConfig>,
    switch_tiers: contract::switch_tiers::<WiresConfig>,
    build: contract::build::<WiresConfig>,
    memory: contract::memory::<WiresConfig>,
    facts: contract::facts::<WiresConfig>,
    findings: contract::findings::<WiresConfig>,
    findings_of_run: contract::findings_of_run::<WiresConfig>,
    doubts: contract::doubts::<WiresConfig>,
};

impl FabricConfig for WiresConfig {
    fn resolve(self, cluster: &Cluster) -> Result<Self, Refusal> {
        self.check(cluster)?;
        Ok(self)
    }

    fn obey(&self, physics: &Physics, _: &Cluster) -> Obeyed {
        let (switch, fec) = (physics.switch_latency, physics.fec_latency);
        Obeyed::default()
            .by(Term::Propagation, "propagation", physics.propagation)
            .lacks(Term::SwitchLatency, switch, "a wire has no switch")
            .lacks(Term::FecLatency, fec, "not modelled")
            .lacks(
                Term::Header,
                physics.framing(),
                "wires carry flows, no packets",
            )
    }

    fn ideal(&self) -> Vec<&'static str> {
        ideal_of(&[
            ("no propagation", self.propagation == Time::ZERO),
            ("no headers", true),
        ])
    }

    fn build(&self, site: &Site) -> Result<Box<dyn Fabric>, Refusal> {
        Ok(Box::new(EventDriven::new(Wires::new(
            self.clone(),
            *site.cluster,
        ))))
    }

    fn memory(&self, site: &Site) -> u64 {
        8 * u64::from(site.cluster.racks).pow(2)
    }
}

// ---- tests beside it: an oracle, worked out by hand -------------------------

/// Two flows of 1,250 B share a wire of 10 Gb/s, a third has its own: 1 µs each.
fn main() {
    let rate = Rate(10 * Rate::GBPS.0);
    let cluster = Cluster {
        racks: 4,
        servers_per_rack: 2,
        server_rate: rate,
        nic: Nic::Uncapped,
    };
    let mut flows = Flows::new();
    for dst in [2, 3, 4] {
        flows.push(HostId(0), HostId(dst), 1_250, Time::ZERO);
    }
    let table = (ENTRY.resolve)(&serde_json::json!({"rate": "10 Gb/s"}), &cluster)
        .expect("the table is good");
    let site = Site {
        cluster: &cluster,
        flows: &flows,
        seed: 1,
        threads: 1,
        library: None,
    };
    let mut fabric = (ENTRY.build)(&table, &site).expect("it can be built");
    let mut io = Io::new(flows);
    let plan = Plan {
        stop: Stop::Drain,
        limit: Time::S,
        sample: None,
        faults: Vec::new(),
    };
    run(&mut *fabric, &mut io, &plan, &mut Silent).expect("no faults to reject");
    assert_eq!(io.flows.finish, [Time::US, Time::US * 2, Time::US]);
    println!("{}: {:?}", ENTRY.kind, io.flows.finish);
}

#[test]
fn flows_of_one_pair_take_turns() {
    main();
}

#[test]
fn wires_that_no_server_can_use_are_refused_by_name() {
    let rate = Rate(10 * Rate::GBPS.0);
    let mut cluster = Cluster {
        racks: 2,
        servers_per_rack: 1,
        server_rate: rate,
        nic: Nic::Uncapped,
    };
    let refused = |cluster: &Cluster, rate| {
        let table = serde_json::json!({ "rate": rate });
        (ENTRY.resolve)(&table, cluster).unwrap_err().to_string()
    };
    assert!(refused(&cluster, "0 Gb/s").starts_with("fabric.rate = 0 b/s: carries nothing"));
    cluster.nic = Nic::Capped(rate);
    let faster = "fabric.rate = 11 Gb/s: faster than servers' links, cluster.nic = 10 Gb/s";
    assert!(refused(&cluster, "11 Gb/s").starts_with(faster));
}
