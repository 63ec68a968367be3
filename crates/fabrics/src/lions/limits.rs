//! Limits and defaults of a LIONS table.

use super::config::{Architecture, Detector, HostLink, LionsConfig, Timing};
use super::ports::Ports;
use crate::ranges::{host_rate, refuse, within, PACKET_MAX};
use lightloom_engine::{Bytes, Cluster, Length, Nic, Refusal, Time};

/// The shortest time of a NACK that ends a transmission. Each attempt is an event; attempts without
/// duration would follow each other endlessly.
const NACK_LEAST: Time = Time::NS;

/// Largest number of hosts: port numbers and products of two of them fit into 32 bits.
const HOSTS_MAX: u32 = 16_384;

impl LionsConfig {
    /// Sets the values that depend on the cluster and refuses a table that cannot run.
    ///
    /// # Errors
    /// If a value is refused; names the first key.
    pub(super) fn complete(&mut self, cluster: &Cluster) -> Result<(), Refusal> {
        self.refuse_cluster(cluster)?;
        self.refuse_idle_keys()?;
        self.refuse_quantities()?;
        self.refuse_delay_line()?;
        self.rate = Some(host_rate(self.rate, cluster)?);
        self.resolve_buffers(cluster.racks)?;
        self.refuse_receivers(cluster.racks)?;
        self.resolve_host_link(cluster)?;
        self.delay_line = Some(self.delay_line.unwrap_or(self.budget()));
        self.refuse_detector()?;
        self.resolve_switches();
        Ok(())
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
        within("packet", self.packet, Bytes(1)..=PACKET_MAX, "use 256 B")?;
        within("header", self.header, Bytes(0)..=PACKET_MAX, "use 5 B")?;
        within("guard", self.guard, Bytes(0)..=PACKET_MAX, "use 17 B")?;
        if self.packet < self.header {
            let limit = format!("is shorter than its header of {}", self.header);
            let remedy = "lengthen it, or shorten fabric.header";
            return refuse("packet", self.packet.to_string(), limit, remedy);
        }
        let longest = Length(1_000_000 * Length::M.0);
        within("fibre", self.fibre, Length(0)..=longest, "use 10 m")?;
        let times = [
            ("label_reading", self.label_reading),
            ("arbitration", self.arbitration),
            ("tuning", self.tuning),
            ("delay_line", self.delay_line.unwrap_or_default()),
        ];
        for (key, value) in times {
            within(key, value, Time::ZERO..=Time::MS, "use a few nanoseconds")?;
        }
        Ok(())
    }

    fn refuse_delay_line(&self) -> Result<(), Refusal> {
        match self.delay_line {
            Some(line) if line < self.budget() => Err(Refusal::new(
                "fabric.delay_line",
                line,
                format!(
                    "is shorter than label_reading, arbitration and tuning, {} together",
                    self.budget()
                ),
                "lengthen it, or leave it out",
            )),
            _ => Ok(()),
        }
    }

    fn resolve_buffers(&mut self, hosts: u32) -> Result<(), Refusal> {
        let even = match self.architecture {
            Architecture::Dlb => Some("\"dlb\", where hosts have every second port"),
            Architecture::Mlb => Some("\"mlb\", where a queue's hosts are half way around"),
            _ => None,
        };
        if let Some(even) = even.filter(|_| !hosts.is_multiple_of(2)) {
            return Err(Refusal::new(
                "cluster.hosts",
                hosts,
                format!("must be even for {even}"),
                "add or remove one, or use fabric.architecture = \"slb\"",
            ));
        }
        let mixed = self.architecture == Architecture::Mlb;
        let fits = |r: u32| r > 0 && r <= hosts && hosts.is_multiple_of(2 * r);
        if mixed {
            let usual = [4, 2, 1].into_iter().find(|&r| fits(r)).unwrap_or(1);
            self.hosts_per_queue.get_or_insert(usual);
        }
        match self.hosts_per_queue {
            Some(r) if !fits(r) => {
                let limit = format!("twice as many must divide the {hosts} hosts");
                let remedy = "use a divisor of half the hosts, or leave it out";
                return refuse("hosts_per_queue", r, limit, remedy);
            }
            _ => {}
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

    /// Limits the reception of a host to its link, if that has a rate.
    fn resolve_host_link(&mut self, cluster: &Cluster) -> Result<(), Refusal> {
        let usual = match cluster.nic {
            Nic::Uncapped => HostLink::Receivers,
            Nic::Capped(_) => HostLink::Nic,
        };
        if self.host_link == Some(HostLink::Nic) && usual == HostLink::Receivers {
            return Err(Refusal::new(
                "fabric.host_link",
                "nic",
                "cluster.nic = \"uncapped\" gives a host's link no rate",
                "set cluster.nic to a rate, or use \"receivers\"",
            ));
        }
        self.host_link.get_or_insert(usual);
        Ok(())
    }

    /// Refuses a detector that cannot work.
    fn refuse_detector(&self) -> Result<(), Refusal> {
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
        if self.aborts() && back + self.gap() < NACK_LEAST {
            return Err(Refusal::new(
                "fabric.fibre",
                self.fibre,
                format!(
                    "a host would send again only {} after it began to send, but at least \
                     {NACK_LEAST} is needed",
                    back + self.gap()
                ),
                "lengthen it, or set fabric.abort_on_nack = false",
            ));
        }
        if self.detector == Some(Detector::Edge) && back > sent {
            return Err(Refusal::new(
                "fabric.detector",
                "\"edge\"",
                format!("a NACK takes {back} to arrive, but a packet is sent in {sent}"),
                "use \"timers\" or \"sequence\", longer packets or shorter fibre",
            ));
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
