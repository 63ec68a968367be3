//! The bounds against which tests check the kernels, computed from the configuration alone: the
//! shortest possible time of a flow, the receivers that each transmitter can reach, and their rate.
//!
//! | transmitter | number |
//! |---|---|
//! | converter of host h | h |
//! | shared buffer's, for output o | N + o |
//! | t-th of queue q | N + q·m + t |
//!
//! | receiver | number |
//! |---|---|
//! | of wavegroup g at output o | o·k + g |
//! | of the loop-back buffer, or of NACKs, for host h | N·k + h |

use super::config::{Architecture, GroupRule, LionsConfig};
use super::ports::Ports;
use lightloom_engine::{Cluster, PortId, Rate, Shape, Time};
use lightloom_photonics::awgr::Awgr;

/// Bounds and port numbers of a resolved configuration.
#[derive(Clone, Debug)]
pub struct Bound {
    config: LionsConfig,
    ports: Ports,
    hosts: u32,
    server_rate: Rate,
}

impl Bound {
    /// For a resolved configuration.
    pub fn new(config: &LionsConfig, cluster: &Cluster) -> Bound {
        Bound {
            ports: Ports::new(config, cluster.racks),
            config: config.clone(),
            hosts: cluster.racks,
            server_rate: cluster.server_rate,
        }
    }

    /// The shape of the fabric. Its links are the transmitters at the inputs of the grating.
    pub fn shape(&self) -> Shape {
        let links = self.hosts + self.transmitters();
        Shape {
            hosts: self.hosts,
            racks: self.hosts,
            host_rate: self.server_rate,
            link_capacity: Rate(self.config.line_rate().0 * links as u64),
        }
    }

    /// Transmitters of the loop-back buffers.
    fn transmitters(&self) -> u32 {
        match self.config.architecture {
            Architecture::Slb => self.hosts,
            _ => self.ports.queues() as u32 * self.config.m(),
        }
    }

    /// Receivers of an output.
    pub fn receivers(&self) -> u32 {
        self.config.receivers
    }

    /// Time from the arrival of a flow to its last byte if it is alone in the network: the host
    /// sends its packets one after another.
    pub fn soonest(&self, bytes: u64) -> Time {
        let (c, packet) = (&self.config, self.config.packet.0);
        let before = (bytes - 1) / packet;
        let last = bytes - before * packet + c.header.0;
        (c.full() + c.gap()) * before as i64
            + c.line_rate().time_for(last)
            + c.to_switch()
            + c.fibre.delay()
    }

    /// Rate of every transmitter.
    pub fn rate(&self) -> Rate {
        self.config.line_rate()
    }

    /// Whether light of `tx` can reach `rx`: some wavelength routes it from the transmitter's input
    /// to the output and is in the receiver's group.
    pub fn lit(&self, tx: PortId, rx: PortId) -> bool {
        let (n, k) = (self.hosts, self.config.receivers);
        let input = match tx.0.checked_sub(n) {
            None => self.ports.host_input[tx.0 as usize],
            Some(t) if self.config.architecture == Architecture::Slb => {
                return rx.0 == t * k;
            }
            Some(t) => self.ports.queue_input[(t / self.config.m()) as usize],
        };
        if let Some(host) = rx.0.checked_sub(n * k) {
            return tx.0 == host;
        }
        let (output, group) = (self.ports.host_input[(rx.0 / k) as usize], rx.0 % k);
        let grating = Awgr {
            ports: self.ports.inputs,
        };
        let wavelength = grating.wavelength(input, output);
        grating.output(input, wavelength) == output && self.group(input) == group
    }

    /// The wavegroup of an input, by the rule's definition.
    fn group(&self, input: u32) -> u32 {
        let (k, grouped) = (
            self.config.receivers,
            Ports::grouped(&self.config, self.hosts),
        );
        match self.config.group_rule {
            GroupRule::Contiguous => (0..k).rfind(|&g| g * (grouped / k) <= input).unwrap_or(0),
            GroupRule::Interleaved => input % k,
        }
    }
}
