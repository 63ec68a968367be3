//! Limits and defaults of a flattened butterfly's table.

use super::config::{
    ButterflyConfig, FlowControl, Routing, BUFFER_MAX, OUTPUT_BUFFER, OUTPUT_BUFFER_MAX,
};
use crate::findings::Finding;
use crate::ranges::{host_rate, refuse, within, PACKET_MAX};
use lightloom_engine::{Bytes, Cluster, Length, Refusal, Time};

/// The most hosts.
const HOSTS_MAX: u32 = 16_384;
/// Largest number of ports of a router, and of virtual channels of a link, because sets of them are
/// words of 64 bits.
const PORTS_MAX: u32 = 64;
/// The largest number of cycles on a wire.
const CYCLES_MAX: u64 = 1 << 20;

impl ButterflyConfig {
    /// Sets the values that depend on the cluster and refuses a table that cannot run.
    ///
    /// # Errors
    /// If a value is refused; names the first key.
    pub(super) fn complete(&mut self, cluster: &Cluster) -> Result<(), Refusal> {
        refuse_cluster(cluster)?;
        self.resolve_shape(cluster.racks)?;
        self.refuse_packets()?;
        self.refuse_router()?;
        self.resolve_speedup()?;
        self.rate = Some(host_rate(self.rate, cluster)?);
        self.refuse_wires()?;
        self.vc_buffer.get_or_insert(self.covering_buffer());
        Ok(())
    }

    /// The buffer of a resolved configuration if it is below the round trip of the longest wire;
    /// else `None`.
    pub(super) fn shallow_buffer(&self) -> Option<Finding> {
        let (buffer, round_trip) = (self.buffer(), self.round_trip());
        if buffer as u64 >= round_trip {
            return None;
        }
        let covering = self.covering_buffer();
        Some(Finding {
            parameter: "vc_buffer",
            value: format!("{buffer} flits"),
            effect: format!(
                "one virtual channel carries at most {:.2} of the rate of the longest wire, {}, \
                 whose credits return after {round_trip} cycles",
                buffer as f64 / round_trip as f64,
                self.longest_wire()
            ),
            remedy: match covering as u64 >= round_trip {
                true => format!("remove it, or raise it to {covering}"),
                false => "shorten fabric.spacing, or lengthen fabric.flit".to_owned(),
            },
        })
    }

    /// Fills in the shape, or refuses one that does not connect the hosts.
    fn resolve_shape(&mut self, hosts: u32) -> Result<(), Refusal> {
        if let Some(c) = self.concentration {
            within("concentration", c, 1..=PORTS_MAX, fitting(hosts))?;
        }
        if let Some(sizes) = &self.routers {
            refuse_sizes(sizes, hosts)?;
        }
        let (c, sizes) = match (self.concentration, &self.routers) {
            (Some(c), Some(sizes)) => (c, sizes.clone()),
            (None, Some(sizes)) => (hosts / product(sizes).min(hosts), sizes.clone()),
            (Some(c), None) => (c, square(hosts / c.min(hosts))),
            (None, None) => usual(hosts),
        };
        if c as u64 * product(&sizes) as u64 != hosts as u64 {
            return self.refuse_product(c, &sizes, hosts);
        }
        let shape = (c, sizes);
        let (ports, sizes) = (radix(&shape), &shape.1);
        if ports > PORTS_MAX {
            let limit = format!("makes routers of {ports} ports; {PORTS_MAX} are modelled");
            return refuse("routers", format!("{sizes:?}"), limit, fitting(hosts));
        }
        (self.concentration, self.routers) = (Some(shape.0), Some(shape.1));
        Ok(())
    }

    fn refuse_product(&self, c: u32, sizes: &[u32], hosts: u32) -> Result<(), Refusal> {
        let remedy = format!("{}, or other hosts", fitting(hosts));
        let routers = product(sizes);
        if self.routers.is_none() {
            let limit = format!("does not divide the cluster's {hosts} hosts");
            return refuse("concentration", c, limit, &remedy);
        }
        let limit = match self.concentration {
            Some(_) => format!(
                "{routers} routers of {c} hosts connect {}, not the cluster's {hosts}",
                routers as u64 * c as u64
            ),
            None => format!("{routers} routers do not divide the cluster's {hosts} hosts"),
        };
        refuse("routers", format!("{sizes:?}"), limit, &remedy)
    }

    fn refuse_packets(&self) -> Result<(), Refusal> {
        for (key, value, least, usual) in [
            ("packet", self.packet, 1, "256 B"),
            ("flit", self.flit, 1, "8 B"),
            ("header", self.header, 0, "5 B"),
        ] {
            within(
                key,
                value,
                Bytes(least)..=PACKET_MAX,
                format!("use {usual}"),
            )?;
        }
        if self.packet < self.header {
            let limit = format!("is shorter than its header of {}", self.header);
            let remedy = "lengthen it, or shorten fabric.header";
            return refuse("packet", self.packet, limit, remedy);
        }
        if self.packet < self.flit {
            let limit = format!("is shorter than a flit of {}", self.flit);
            let remedy = "lengthen it, or shorten fabric.flit";
            return refuse("packet", self.packet, limit, remedy);
        }
        if self.flits(self.packet.0) > 65_535 {
            let limit = "makes more than 65535 flits";
            return refuse("packet", self.packet, limit, "lengthen fabric.flit");
        }
        let most = Bytes(1_000_000_000);
        within("ugal_bias", self.ugal_bias, Bytes(0)..=most, "use 0 B")?;
        if self.ugal_bias > Bytes(0) && self.routing != Routing::Ugal {
            let limit = "has no effect without fabric.routing = \"ugal\"";
            return refuse("ugal_bias", self.ugal_bias, limit, "remove it, or set that");
        }
        Ok(())
    }

    fn refuse_router(&self) -> Result<(), Refusal> {
        for (key, value, most, usual) in [
            ("vcs", self.vcs, PORTS_MAX, "2"),
            ("input_speedup", self.input_speedup, 4, "1"),
            ("allocator_iterations", self.allocator_iterations, 16, "1"),
        ] {
            within(key, value, 1..=most, format!("use {usual}"))?;
        }
        if self.vcs < 2 && self.routing != Routing::DimensionOrder {
            let limit = "is too few: each phase of the routing needs its own virtual channels";
            let remedy = "use 2 or more, or fabric.routing = \"dimension-order\"";
            return refuse("vcs", self.vcs, limit, remedy);
        }
        let whole = self.flits(self.packet.0);
        let cut_through = self.flow_control == FlowControl::VirtualCutThrough;
        if let Some(buffer) = self.vc_buffer {
            let remedy = "remove it; the default covers the round trip";
            within("vc_buffer", buffer, 1..=BUFFER_MAX, remedy)?;
            if cut_through && whole > buffer as u64 {
                let limit = format!("holds no packet: a packet has {whole} flits");
                let remedy = "deepen it, or use fabric.flow_control = \"wormhole\"";
                return refuse("vc_buffer", buffer, limit, remedy);
            }
        }
        if cut_through && whole > BUFFER_MAX as u64 {
            let limit = format!("makes packets of {whole} flits, more than a buffer holds");
            return refuse("packet", self.packet, limit, "lengthen fabric.flit");
        }
        for (key, value) in [
            ("router_latency", self.router_latency),
            ("credit_latency", self.credit_latency),
        ] {
            within(key, value, Time::ZERO..=Time::MS, "use a few nanoseconds")?;
        }
        Ok(())
    }

    /// Fills in the queue of outputs if the switch has a speedup; refuses one if it has none.
    fn resolve_speedup(&mut self) -> Result<(), Refusal> {
        within("speedup", self.speedup, 1..=4, "use 1")?;
        match self.output_buffer {
            Some(flits) if self.speedup == 1 => {
                let limit = "has no effect with fabric.speedup = 1";
                refuse("output_buffer", flits, limit, "remove it, or raise that")
            }
            Some(flits) => {
                let usual = format!("use {OUTPUT_BUFFER}");
                within("output_buffer", flits, 1..=OUTPUT_BUFFER_MAX, usual)
            }
            None => {
                self.output_buffer = (self.speedup > 1).then_some(OUTPUT_BUFFER);
                Ok(())
            }
        }
    }

    fn refuse_wires(&self) -> Result<(), Refusal> {
        for (key, value, usual) in [
            ("host_wire", self.host_wire, "1.75 m"),
            ("spacing", self.spacing, "5 m"),
        ] {
            let longest = Length(1_000_000 * Length::M.0);
            within(key, value, Length(0)..=longest, format!("use {usual}"))?;
        }
        let cycles = |wire| self.flit_cycles(wire).max(self.credit_cycles(wire));
        if self.wires().map(cycles).max() > Some(CYCLES_MAX) {
            let cycle = self.cycle();
            let limit = format!("a cycle, of {cycle}, is too short for latencies and wires");
            return refuse(
                "flit",
                self.flit,
                &limit,
                "lengthen it, or lower fabric.rate",
            );
        }
        Ok(())
    }
}

fn refuse_cluster(cluster: &Cluster) -> Result<(), Refusal> {
    if cluster.servers_per_rack != 1 {
        return Err(Refusal::new(
            "cluster.servers_per_rack",
            cluster.servers_per_rack,
            "the flattened butterfly connects single nodes",
            "give cluster.hosts instead of racks and servers_per_rack",
        ));
    }
    if cluster.racks > HOSTS_MAX {
        return Err(Refusal::new(
            "cluster.hosts",
            cluster.racks,
            format!("the flattened butterfly is modelled with up to {HOSTS_MAX} hosts"),
            "lower it",
        ));
    }
    Ok(())
}

fn refuse_sizes(sizes: &[u32], hosts: u32) -> Result<(), Refusal> {
    let (shown, remedy) = (|| format!("{sizes:?}"), fitting(hosts));
    if sizes.is_empty() || sizes.len() > 14 {
        let limit = "must have from 1 to 14 dimensions";
        return refuse("routers", shown(), limit, &remedy);
    }
    if sizes.iter().any(|&k| k == 0 || k > PORTS_MAX) {
        let limit = format!("must be from 1 to {PORTS_MAX} routers along each dimension");
        return refuse("routers", shown(), limit, &remedy);
    }
    if sizes.iter().map(|&k| k as f64).product::<f64>() > HOSTS_MAX as f64 {
        let limit = format!("must be at most {HOSTS_MAX} routers in total");
        return refuse("routers", shown(), limit, &remedy);
    }
    Ok(())
}

fn product(sizes: &[u32]) -> u32 {
    sizes.iter().product()
}

/// A shape that connects this number of hosts, as a remedy.
fn fitting(hosts: u32) -> String {
    let shape = Some(usual(hosts)).filter(|shape| radix(shape) <= PORTS_MAX);
    match shape.or_else(|| narrow(hosts)) {
        Some((c, sizes)) => format!("use routers = {sizes:?} with concentration = {c}"),
        None => "use a number of hosts with small factors".to_owned(),
    }
}

/// Ports of a router.
fn radix((c, sizes): &(u32, Vec<u32>)) -> u32 {
    c + sizes.iter().map(|k| k - 1).sum::<u32>()
}

/// Concentration and routers of a grid for this number of hosts.
fn usual(hosts: u32) -> (u32, Vec<u32>) {
    let c = (1..=4u32).rev().find(|&c| hosts.is_multiple_of(c));
    let c = c.unwrap_or(1);
    (c, square(hosts / c))
}

/// The most nearly square grid of this number of routers.
fn square(routers: u32) -> Vec<u32> {
    let root = (1..=routers.isqrt())
        .rev()
        .find(|&k| routers.is_multiple_of(k));
    match root.unwrap_or(1) {
        1 => vec![routers],
        k => vec![routers / k, k],
    }
}

/// The grid for this number of hosts whose routers have the fewest ports, or that of three
/// dimensions if they are few enough.
fn narrow(hosts: u32) -> Option<(u32, Vec<u32>)> {
    let concentrations = || (1..PORTS_MAX).filter(|&c| hosts.is_multiple_of(c));
    let grids = concentrations().map(|c| (c, square(hosts / c)));
    let layers = |c: u32| (2..PORTS_MAX).filter(move |&k| (hosts / c).is_multiple_of(k));
    let cubes = concentrations().flat_map(|c| {
        layers(c).map(move |k| {
            let mut sizes = square(hosts / c / k);
            sizes.push(k);
            (c, sizes)
        })
    });
    let fits = |shape: &(u32, Vec<u32>)| radix(shape) <= PORTS_MAX;
    let grid = grids.min_by_key(radix).filter(fits);
    grid.or_else(|| cubes.min_by_key(radix).filter(fits))
}
