//! Table I of the paper: the parts of each loop-back buffer, and the parts that all architectures
//! have.

use super::config::{Architecture, LionsConfig};
use super::ports::Ports;
use crate::facts::Part;
use lightloom_engine::Rate;

/// A bill of materials. Rates are those of one memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// P: the number of inputs and of outputs of the grating.
    pub grating_ports: u32,
    /// Inputs of the grating that the loop-back buffer takes; with AO-NACK the
    /// reflective output.
    pub occupied_ports: u32,
    /// Wavelength converters, label extractors and delay lines: one for each
    /// host.
    pub converters: u32,
    /// Receivers behind the hosts' outputs: k each.
    pub host_receivers: u32,
    /// 1:k demultiplexers in front of them, if k is not 1.
    pub host_demultiplexers: u32,
    /// Receivers of the loop-back buffer; with AO-NACK those of the hosts for
    /// NACKs.
    pub receivers: u32,
    /// Fixed transmitters of the loop-back buffer.
    pub fixed_transmitters: u32,
    /// Tunable transmitters of the loop-back buffer.
    pub tunable_transmitters: u32,
    /// 1:N demultiplexers of the loop-back buffer.
    pub demultiplexers: u32,
    /// N:1 multiplexers of the loop-back buffer.
    pub multiplexers: u32,
    /// 2:1 couplers that join the transmitters of a queue.
    pub couplers: u32,
    /// Memories.
    pub memories: u32,
    /// Write bandwidth of a memory [b/s].
    pub write: Rate,
    /// Read bandwidth of a memory [b/s].
    pub read: Rate,
    /// Optical circulators: three for each host with AO-NACK (two at the switch,
    /// one at the host), and the reflector's (Fig 5).
    pub circulators: u32,
}

impl Parts {
    /// The parts of the network, by name.
    pub fn list(&self) -> Vec<Part> {
        let receivers = match self.memories {
            0 => "nack_receivers",
            _ => "loopback_receivers",
        };
        let all = [
            ("grating_ports", self.grating_ports.into()),
            ("grating_ports_taken", self.occupied_ports.into()),
            ("converters", self.converters.into()),
            ("host_receivers", self.host_receivers.into()),
            ("host_demultiplexers", self.host_demultiplexers.into()),
            (receivers, self.receivers.into()),
            ("fixed_transmitters", self.fixed_transmitters.into()),
            ("tunable_transmitters", self.tunable_transmitters.into()),
            ("loopback_demultiplexers", self.demultiplexers.into()),
            ("loopback_multiplexers", self.multiplexers.into()),
            ("couplers", self.couplers.into()),
            ("memories", self.memories.into()),
            ("memory_write_bps", self.write.0),
            ("memory_read_bps", self.read.0),
            ("circulators", self.circulators.into()),
        ];
        let part = |(name, count): (&'static str, u64)| Part { name, count };
        all.into_iter().map(part).filter(|p| p.count > 0).collect()
    }
}

/// The parts of a resolved configuration with this number of hosts.
pub fn parts(config: &LionsConfig, hosts: u32) -> Parts {
    let (n, r, m, b) = (hosts, config.r(), config.m(), config.line_rate().0);
    let k = config.receivers;
    let common = Parts {
        grating_ports: Ports::new(config, hosts).inputs,
        occupied_ports: 0,
        converters: n,
        host_receivers: n * k,
        host_demultiplexers: if k > 1 { n } else { 0 },
        receivers: 0,
        fixed_transmitters: 0,
        tunable_transmitters: 0,
        demultiplexers: 0,
        multiplexers: 0,
        couplers: 0,
        memories: 0,
        write: Rate(0),
        read: Rate(0),
        circulators: 0,
    };
    match config.architecture {
        Architecture::Slb => Parts {
            occupied_ports: 1,
            receivers: n,
            fixed_transmitters: n,
            demultiplexers: 1,
            multiplexers: 1,
            memories: 1,
            write: Rate(n as u64 * b),
            read: Rate(n as u64 * b),
            ..common
        },
        Architecture::Mlb => Parts {
            occupied_ports: n / r,
            receivers: n,
            tunable_transmitters: n / r * m,
            demultiplexers: 1,
            couplers: (m - 1) * (n / r),
            memories: n / r,
            write: Rate(r as u64 * b),
            read: Rate(m as u64 * b),
            ..common
        },
        Architecture::Dlb => Parts {
            occupied_ports: n,
            receivers: n,
            tunable_transmitters: n * m,
            couplers: n * (m - 1),
            memories: n,
            write: Rate(b),
            read: Rate(m as u64 * b),
            ..common
        },
        Architecture::AoNack => Parts {
            occupied_ports: 1,
            receivers: n,
            circulators: 3 * n + 1,
            ..common
        },
        Architecture::Drop => common,
    }
}
