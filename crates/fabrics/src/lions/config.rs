//! The table of `kind = "lions"`.

use super::bound::Bound;
use super::kernel::Switch;
use super::pipelined::Pipelined;
use super::ports::Ports;
use super::slotted::Slotted;
use crate::registry::{FabricConfig, Site};
use lightloom_engine::kernel::event::EventDriven;
use lightloom_engine::{Bytes, Cluster, Fabric, Length, Nic, Rate, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An AWGR packet switch: packets pick their output by wavelength, losers are
/// buffered in a loop-back path or reflected to their sender (Yin et al., 2013).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LionsConfig {
    /// What becomes of a packet whose receiver is taken (§II, §IV): buffered in
    /// a shared, mixed or distributed loop-back buffer, or reflected. Default
    /// "dlb".
    pub architecture: Architecture,
    /// Whether hosts send at any time or at the start of slots. Default
    /// "unslotted", as in the test-bed (§III).
    pub timing: Timing,
    /// k: receivers behind each output, each of which hears one wavegroup
    /// (§II). From 1 to N; must divide the inputs that groups are made of.
    /// Default 4 (§IV).
    pub receivers: u32,
    /// Which inputs share a wavegroup. Default "contiguous", which alone
    /// satisfies all that §II claims of interleaved ports.
    pub group_rule: GroupRule,
    /// r: hosts that a queue of the mixed loop-back buffer serves; 2r must
    /// divide N (§II.C). Default: the largest of 4, 2 and 1 that fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts_per_queue: Option<u32>,
    /// m: tunable transmitters of a queue of the distributed loop-back buffer,
    /// at most its N virtual output queues (§II.B). Default 4, which the paper
    /// leaves open; in the mixed one r (Table I).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transmitters: Option<u32>,
    /// Which virtual output queue wins a transmitter that is free; it keeps it
    /// until its packet is sent. The paper does not say. Default "random".
    pub transmitter_rule: TransmitterRule,
    /// Whether a packet may leave the loop-back buffer before it has fully
    /// arrived. Default true, as §II.A says of the shared one.
    pub cut_through: bool,
    /// Payload of a full packet [B]; the last of a flow is short. Default 256 B
    /// (§III, which has 64 B too). Not shorter than the header.
    pub packet: Bytes,
    /// Header of every packet [B]: preamble, addresses, length (§III: 5 B).
    pub header: Bytes,
    /// Silence between packets [B at the line rate], in which receivers settle
    /// (§III: 17 B). Longer if `tuning` is.
    pub guard: Bytes,
    /// Line rate of every wavelength [b/s]; that of the servers unless given
    /// (§IV: 10 Gb/s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// D: fibre between each host and the switch [length] (§IV: 10 m).
    pub fibre: Length,
    /// Reading a label [time]. Default 0; the paper does not say.
    pub label: Time,
    /// Arbitration [time]. Default 0; the paper does not say.
    pub arbitration: Time,
    /// Tuning of a wavelength converter, or of a transmitter of a loop-back
    /// queue [time]. Default 10 ns; the paper has "nanoseconds".
    pub tuning: Time,
    /// Fibre delay line that holds a packet while its label is read, its output
    /// arbitrated and its converter tuned [time]; their sum unless given (§II).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_line: Option<Time>,
    /// How a host tells which packet an all-optical NACK is of (§IV). Default
    /// "auto": the edge detector where it is enough, else timers.
    pub detector: Detector,
    /// Whether a NACK that finds its packet still being sent cuts it short.
    /// Default false.
    pub abort_on_nack: bool,
}

/// What becomes of a packet whose receiver is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// Shared loop-back buffer: one memory, a queue for each output, a fixed
    /// transmitter for each (§II.A).
    Slb,
    /// Mixed loop-back buffer: a queue for every r hosts (§II.C).
    Mlb,
    /// Distributed loop-back buffer: a queue for each host (§II.B).
    Dlb,
    /// No buffer: the packet is reflected and is its own all-optical negative
    /// acknowledgement, upon which its host sends it again (§IV).
    AoNack,
    /// No buffer and no NACK: the packet is lost. A reference for theory, not
    /// in the paper.
    Drop,
}

/// When hosts may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Timing {
    /// At any time; arbiters serve first come, first served.
    Unslotted,
    /// At the start of slots of one full packet; all of a slot are arbitrated
    /// together. A reference for theory; a host of "ao-nack" knows its packet's
    /// fate before the next slot.
    Slotted,
}

/// Which inputs share a wavegroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GroupRule {
    /// Input i of P is in group ⌊i·k/P⌋.
    Contiguous,
    /// Input i is in group i mod k.
    Interleaved,
}

/// Which virtual output queue wins a free transmitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TransmitterRule {
    /// Any that waits, uniformly.
    Random,
    /// The next in order of outputs.
    RoundRobin,
}

/// How a host tells which packet a NACK is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Detector {
    /// The edge detector where a NACK returns before its packet is sent, else
    /// timers.
    Auto,
    /// Light that returns is of the packet being sent; after one too short for
    /// that the host waits.
    Edge,
    /// A timer for each packet in flight: a NACK takes a fixed time.
    Timers,
    /// The header of the NACK is read for a sequence number.
    Sequence,
}

impl Default for LionsConfig {
    fn default() -> Self {
        LionsConfig {
            architecture: Architecture::Dlb,
            timing: Timing::Unslotted,
            receivers: 4,
            group_rule: GroupRule::Contiguous,
            hosts_per_queue: None,
            transmitters: None,
            transmitter_rule: TransmitterRule::Random,
            cut_through: true,
            packet: Bytes(256),
            header: Bytes(5),
            guard: Bytes(17),
            rate: None,
            fibre: Length(10 * Length::M.0),
            label: Time::ZERO,
            arbitration: Time::ZERO,
            tuning: Time::NS * 10,
            delay_line: None,
            detector: Detector::Auto,
            abort_on_nack: false,
        }
    }
}

/// The most hosts: port numbers and products of two fit into 32 bits.
const HOSTS_MAX: u32 = 16_384;

impl LionsConfig {
    /// The line rate of a resolved configuration.
    pub fn line_rate(&self) -> Rate {
        self.rate.unwrap_or(Rate(1))
    }

    /// r of a resolved configuration.
    pub fn r(&self) -> u32 {
        self.hosts_per_queue.unwrap_or(1)
    }

    /// m of a resolved configuration.
    pub fn m(&self) -> u32 {
        self.transmitters.unwrap_or(1)
    }

    /// From the first bit of a packet at a host to the instant at which the
    /// switch forwards it.
    pub fn to_switch(&self) -> Time {
        self.fibre.delay() + self.delay_line.unwrap_or(self.budget())
    }

    /// From the first bit sent to the first bit of its reflection at the host.
    pub fn round_trip(&self) -> Time {
        self.to_switch() + self.fibre.delay()
    }

    /// Silence after a packet: the guard, or the converter's tuning if longer.
    pub fn gap(&self) -> Time {
        self.line_rate().time_for(self.guard.0).max(self.tuning)
    }

    /// Time on the wire of a full packet.
    pub fn full(&self) -> Time {
        self.line_rate().time_for(self.packet.0 + self.header.0)
    }

    /// What the delay line has to cover.
    pub fn budget(&self) -> Time {
        self.label + self.arbitration + self.tuning
    }

    fn refuse_cluster(&self, cluster: &Cluster) -> Result<(), Refusal> {
        if cluster.servers_per_rack != 1 {
            return Err(Refusal::new(
                "cluster.servers_per_rack",
                cluster.servers_per_rack,
                "LIONS connects single nodes",
                "give cluster.hosts instead of racks and servers_per_rack",
            ));
        }
        if cluster.racks > HOSTS_MAX {
            return Err(Refusal::new(
                "cluster.hosts",
                cluster.racks,
                format!("LIONS is modelled with up to {HOSTS_MAX} hosts"),
                "lower it",
            ));
        }
        Ok(())
    }

    fn refuse_quantities(&self) -> Result<(), Refusal> {
        let refuse = |key: &str, value: String, limit: &str, remedy: &str| {
            Err(Refusal::new(format!("fabric.{key}"), value, limit, remedy))
        };
        if self.packet.0 == 0 || self.packet.0 > 65_535 {
            let limit = "must be from 1 B to 65535 B";
            return refuse("packet", self.packet.to_string(), limit, "use 256 B");
        }
        for (key, value, usual) in [
            ("header", self.header, "5 B"),
            ("guard", self.guard, "17 B"),
        ] {
            if value.0 > 65_535 {
                let limit = "must be from 0 B to 65535 B";
                return refuse(key, value.to_string(), limit, &format!("use {usual}"));
            }
        }
        if self.packet < self.header {
            let limit = format!("is shorter than its header of {}", self.header);
            let remedy = "lengthen it, or shorten fabric.header";
            return refuse("packet", self.packet.to_string(), &limit, remedy);
        }
        if self.fibre > Length(1_000_000 * Length::M.0) {
            let limit = "must be from 0 m to 1000 km";
            return refuse("fibre", self.fibre.to_string(), limit, "use 10 m");
        }
        let times = [
            ("label", self.label),
            ("arbitration", self.arbitration),
            ("tuning", self.tuning),
            ("delay_line", self.delay_line.unwrap_or_default()),
        ];
        for (key, value) in times {
            if !(Time::ZERO..=Time::MS).contains(&value) {
                let limit = "must be from 0 s to 1 ms";
                return refuse(key, value.to_string(), limit, "use a few nanoseconds");
            }
        }
        Ok(())
    }

    fn refuse_delay_line(&self) -> Result<(), Refusal> {
        match self.delay_line {
            Some(line) if line < self.budget() => Err(Refusal::new(
                "fabric.delay_line",
                line,
                format!(
                    "is shorter than label, arbitration and tuning, {} together",
                    self.budget()
                ),
                "lengthen it, or leave it out",
            )),
            _ => Ok(()),
        }
    }

    fn resolve_rate(&mut self, cluster: &Cluster) -> Result<(), Refusal> {
        let link = match cluster.nic {
            Nic::Uncapped => None,
            Nic::Capped(rate) => Some(rate),
        };
        let rate = *self.rate.get_or_insert(link.unwrap_or(cluster.server_rate));
        let limit = match link {
            _ if rate.0 == 0 => "must be more than 0 b/s".to_owned(),
            _ if rate.0 > 1_000_000_000_000_000 => "must be at most 1000 Tb/s".to_owned(),
            Some(link) if rate > link => format!("is faster than the server's link of {link}"),
            _ => return Ok(()),
        };
        let remedy = "lower it, or leave it out for the server's rate";
        let remedy = if rate.0 == 0 { "use 10 Gb/s" } else { remedy };
        Err(Refusal::new("fabric.rate", rate, limit, remedy))
    }

    fn resolve_buffers(&mut self, hosts: u32) -> Result<(), Refusal> {
        let refuse = |key: &str, value: u32, limit: String, remedy: &str| {
            Err(Refusal::new(format!("fabric.{key}"), value, limit, remedy))
        };
        let mixed = self.architecture == Architecture::Mlb;
        let fits = |r: u32| r > 0 && r <= hosts && hosts.is_multiple_of(2 * r);
        if mixed {
            let usual = [4, 2, 1].into_iter().find(|&r| fits(r)).unwrap_or(1);
            self.hosts_per_queue.get_or_insert(usual);
        }
        match self.hosts_per_queue {
            Some(r) if r == 0 || mixed && !fits(r) => {
                let limit = format!("twice as many must divide the {hosts} hosts");
                let remedy = "use a divisor of half the hosts, or leave it out";
                return refuse("hosts_per_queue", r, limit, remedy);
            }
            _ => {}
        }
        if self.architecture == Architecture::Dlb && !hosts.is_multiple_of(2) {
            return Err(Refusal::new(
                "cluster.hosts",
                hosts,
                "must be even for \"dlb\", where hosts have every second port",
                "add or remove one, or use fabric.architecture = \"slb\"",
            ));
        }
        match self.architecture {
            Architecture::Dlb => _ = self.transmitters.get_or_insert(4.min(hosts)),
            Architecture::Mlb => _ = self.transmitters.get_or_insert(self.r()),
            _ => {}
        }
        match self.transmitters {
            Some(0) => {
                let limit = "a queue needs at least 1".to_owned();
                refuse("transmitters", 0, limit, "use 4")
            }
            Some(m) if m > hosts => {
                let limit = format!("a queue has {hosts} virtual output queues to send from");
                refuse("transmitters", m, limit, "lower it")
            }
            _ => Ok(()),
        }
    }

    fn refuse_receivers(&self, hosts: u32) -> Result<(), Refusal> {
        let (k, inputs) = (self.receivers, Ports::grouped(self, hosts));
        if k == 0 || k > hosts {
            return Err(Refusal::new(
                "fabric.receivers",
                k,
                format!("must be from 1 to the {hosts} hosts"),
                format!("use {}", divisor(inputs, 4.min(hosts))),
            ));
        }
        if inputs.is_multiple_of(k) {
            return Ok(());
        }
        Err(Refusal::new(
            "fabric.receivers",
            k,
            format!("must divide the {inputs} inputs of the grating that share wavegroups"),
            format!("use {}", divisor(inputs, k)),
        ))
    }

    /// Refuses a detector that cannot work, and chooses one.
    fn resolve_detector(&mut self) -> Result<(), Refusal> {
        if self.architecture != Architecture::AoNack {
            return Ok(());
        }
        let (back, sent) = (self.round_trip(), self.full());
        if self.timing == Timing::Slotted {
            return match back <= sent + self.gap() {
                true => Ok(()),
                false => Err(Refusal::new(
                    "fabric.fibre",
                    self.fibre,
                    format!(
                        "a NACK takes {back}, more than a slot of {}",
                        sent + self.gap()
                    ),
                    "shorten it, or use fabric.timing = \"unslotted\"",
                )),
            };
        }
        match self.detector {
            Detector::Auto if back <= sent => self.detector = Detector::Edge,
            Detector::Auto => self.detector = Detector::Timers,
            Detector::Edge if back > sent => {
                return Err(Refusal::new(
                    "fabric.detector",
                    "\"edge\"",
                    format!("a NACK takes {back} and a packet only {sent}"),
                    "use \"timers\" or \"sequence\", longer packets or shorter fibre",
                ))
            }
            _ => {}
        }
        Ok(())
    }
}

/// The largest divisor of `of` up to `most`.
fn divisor(of: u32, most: u32) -> u32 {
    (1..=most)
        .rev()
        .find(|d| of.is_multiple_of(*d))
        .unwrap_or(1)
}

impl FabricConfig for LionsConfig {
    fn resolve(mut self, cluster: &Cluster) -> Result<Self, Refusal> {
        self.refuse_cluster(cluster)?;
        self.refuse_quantities()?;
        self.refuse_delay_line()?;
        self.resolve_rate(cluster)?;
        self.resolve_buffers(cluster.racks)?;
        self.refuse_receivers(cluster.racks)?;
        self.delay_line = Some(self.delay_line.unwrap_or(self.budget()));
        self.resolve_detector()?;
        Ok(self)
    }

    fn build(&self, site: &Site) -> Result<Box<dyn Fabric>, Refusal> {
        let config = self.clone().resolve(site.cluster)?;
        let bound = Bound::new(&config, site.cluster);
        let ports = Ports::new(&config, site.cluster.racks);
        if config.timing == Timing::Slotted {
            return Ok(Box::new(EventDriven::new(Slotted::new(
                &config, ports, bound, site,
            ))));
        }
        Ok(match config.detector {
            Detector::Timers | Detector::Sequence
                if config.architecture == Architecture::AoNack =>
            {
                Box::new(EventDriven::new(Pipelined::new(
                    &config, ports, bound, site,
                )))
            }
            _ => Box::new(EventDriven::new(Switch::new(&config, ports, bound, site))),
        })
    }

    fn memory(&self, site: &Site) -> u64 {
        let Ok(config) = self.clone().resolve(site.cluster) else {
            return 0;
        };
        let ports = Ports::new(&config, site.cluster.racks);
        let (n, k) = (site.cluster.racks as u64, config.receivers as u64);
        let queues = ports.queues() as u64;
        let words = queues.div_ceil(k).div_ceil(64).max(1);
        let servers = n * k * (24 + 8 * words);
        // Heads and tails, nodes of packets at worst as many as are offered.
        let packets = site.flows.total_bytes() / config.packet.0 + site.flows.len() as u64;
        let queue = n * 12 + n / 8 + 80 + 8 * config.m() as u64;
        servers + queues * queue + n * 64 + 12 * (site.flows.len() as u64 + packets.min(1 << 24))
    }
}
