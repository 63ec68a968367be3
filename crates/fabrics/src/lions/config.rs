//! The table of `kind = "lions"`.

use crate::discipline::Discipline;
use crate::physics::is_nothing;
use lightloom_engine::{Bytes, Flows, Length, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An AWGR packet switch: the wavelength of a packet selects its output; packets that lose
/// arbitration are buffered in a loop-back path or reflected to their sender (Yin et al., 2013).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LionsConfig {
    /// The fate of a packet whose receiver is busy (§II, §IV): buffered in a shared, mixed or
    /// distributed loop-back buffer, or reflected. Default "dlb".
    pub architecture: Architecture,
    /// Whether hosts send at any time or at the start of slots. Default
    /// "unslotted", as in the test-bed (§III).
    pub timing: Timing,
    /// k: receivers behind each output of the switch, each for one wavegroup (§II). From 1 to N;
    /// must divide the number of inputs that form groups. The receivers belong to the switch;
    /// `host_link` limits the rate at which a host receives from them. Default 4 (§IV).
    #[schemars(range(min = 1))]
    pub receivers: u32,
    /// The rate at which a host receives from its k receivers. "nic": the rate of its link,
    /// `cluster.nic`; packets wait for this link. "receivers": the rate of all receivers together,
    /// over a link of k times the rate at which the host sends, as in §IV. Default: "nic" if
    /// `cluster.nic` is a rate (`server_rate`), otherwise "receivers". The presets of §IV use
    /// "receivers".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_link: Option<HostLink>,
    /// The assignment of inputs to wavegroups. Default "contiguous", the only one for which all
    /// claims of §II about interleaved ports hold.
    pub group_rule: GroupRule,
    /// r: hosts that a queue of the mixed loop-back buffer serves; 2r must divide N (§II.C). Only
    /// with "mlb". Default: the largest of 4, 2 and 1 that divides N.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub hosts_per_queue: Option<u32>,
    /// m: tunable transmitters of a queue of the distributed or mixed loop-back buffer, at most its
    /// N virtual output queues (§II.B). Only with "dlb" and "mlb". Default: 4 with "dlb" (not given
    /// in the paper), r with "mlb" (Table I).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub transmitters: Option<u32>,
    /// The rule that selects the virtual output queue to which a free transmitter is assigned; the
    /// queue keeps the transmitter until its packet is sent. Only with "dlb" and "mlb". The paper
    /// gives no rule. Default "random".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transmitter_rule: Option<TransmitterRule>,
    /// The rule that selects the packet of a receiver that hosts and loop-back queues request at
    /// the same instant. The paper gives no rule. Only with "slb", "mlb" and "dlb". Default
    /// "loop-back-first".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arbiter: Option<ArbiterRule>,
    /// Whether a packet may leave the loop-back buffer before it has fully arrived. Only with a
    /// loop-back buffer, and unslotted. Default true: §II.A states it for the shared buffer; for
    /// the others the paper gives no rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_through: Option<bool>,
    /// Order in which a host sends the flows that wait for its transmitter: "fair" (one packet of
    /// each flow in turn) or "fifo". The paper gives no order. Default: `cluster.discipline`, which
    /// is "fair".
    #[serde(skip_serializing_if = "is_nothing")]
    pub discipline: Discipline,
    /// Payload of a full packet [B]; the last packet of a flow may be shorter. Default 256 B (§III,
    /// which also uses 64 B). At least the size of the header.
    pub packet: Bytes,
    /// Header of every packet [B]: preamble, addresses, length (§III: 5 B).
    pub header: Bytes,
    /// Minimum gap between packets [B at the line rate], in which converters tune and receivers
    /// settle (§III: 17 B).
    pub guard: Bytes,
    /// Line rate of every wavelength [b/s]. Default: the rate of the servers (§IV: 10 Gb/s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// D: fibre between each host and the switch [length] (§IV: 10 m).
    pub fibre: Length,
    /// Time to read a label [time]. Default 0; the paper gives no value.
    pub label_reading: Time,
    /// Time of an arbitration [time]: for a host's packet, and again for the request of a stored
    /// packet. Default 0; the paper gives no value.
    pub arbitration: Time,
    /// Tuning time of a wavelength converter or of a transmitter of a loop-back queue [time]. It
    /// lengthens the delay line, and it is the gap between packets of a host if it is longer than
    /// `guard`. Default 10 ns; the paper says "nanoseconds".
    pub tuning: Time,
    /// Delay of the fibre that holds a packet while its label is read, its output arbitrated and
    /// its converter tuned [time]. Default: the sum of these times (§II).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_line: Option<Time>,
    /// The method by which a host finds the packet to which an all-optical NACK belongs (§IV). Only
    /// with "ao-nack", unslotted. Default "auto": the edge detector if it suffices for every
    /// packet, otherwise timers; `parts` of summary.json contains the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detector: Option<Detector>,
    /// Whether a NACK ends the transmission of its packet if the host is still sending it. Only
    /// with "ao-nack", unslotted. Default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abort_on_nack: Option<bool>,
}

/// The fate of a packet whose receiver is busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// Shared loop-back buffer: one memory with a queue and a fixed transmitter for each output
    /// (§II.A).
    Slb,
    /// Mixed loop-back buffer: a queue for every r hosts (§II.C).
    Mlb,
    /// Distributed loop-back buffer: a queue for each host (§II.B).
    Dlb,
    /// No buffer: the packet is reflected to its host; the reflection is the all-optical negative
    /// acknowledgement after which the host sends it again (§IV).
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
    /// At the start of slots of one full packet; all packets of a slot are arbitrated together. A
    /// reference for theory. With "ao-nack" a host has the result for its packet before the next
    /// slot.
    Slotted,
}

/// The number of packets that a host receives at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostLink {
    /// Limited by its link of rate `cluster.nic`.
    Nic,
    /// All receivers of its output.
    Receivers,
}

/// The assignment of inputs to wavegroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GroupRule {
    /// Input i of P is in group ⌊i·k/P⌋.
    Contiguous,
    /// Input i is in group i mod k.
    Interleaved,
}

/// The rule that selects the virtual output queue of a free transmitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TransmitterRule {
    /// Any waiting queue, with equal probability.
    Random,
    /// The next waiting queue in order of outputs.
    RoundRobin,
}

/// The rule that selects the packet of a receiver that hosts and loop-back queues request at the
/// same instant. A host's packet does not wait: it is stored unless it has a receiver at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArbiterRule {
    /// A packet of a loop-back queue; these queues take turns.
    LoopBackFirst,
    /// A packet of a host; hosts take turns, in order of the grating's inputs.
    HostsFirst,
    /// Hosts and loop-back queues take turns, in order of the grating's inputs.
    RoundRobin,
    /// The packet whose flow arrived first; equals take turns.
    OldestFirst,
}

/// The rule by which a host finds the packet of a NACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Detector {
    /// The edge detector if the transmission of every packet of the workload takes longer than its
    /// NACK, otherwise timers.
    Auto,
    /// Returning light belongs to the packet being sent; after a packet that is shorter than the
    /// round trip the host waits.
    Edge,
    /// A timer for each packet in flight: a NACK takes a fixed time.
    Timers,
    /// The host reads a sequence number from the header of the NACK.
    Sequence,
}

impl Detector {
    /// The name of these hosts in the bill of materials.
    pub fn hosts(self) -> &'static str {
        match self {
            Detector::Auto | Detector::Edge => "hosts_with_edge_detectors",
            Detector::Timers => "hosts_with_timers",
            Detector::Sequence => "hosts_with_sequence_numbers",
        }
    }
}

impl Default for LionsConfig {
    fn default() -> Self {
        LionsConfig {
            architecture: Architecture::Dlb,
            timing: Timing::Unslotted,
            receivers: 4,
            host_link: None,
            group_rule: GroupRule::Contiguous,
            hosts_per_queue: None,
            transmitters: None,
            transmitter_rule: None,
            arbiter: None,
            cut_through: None,
            discipline: Discipline::Fair,
            packet: Bytes(256),
            header: Bytes(5),
            guard: Bytes(17),
            rate: None,
            fibre: Length(10 * Length::M.0),
            label_reading: Time::ZERO,
            arbitration: Time::ZERO,
            tuning: Time::NS * 10,
            delay_line: None,
            detector: None,
            abort_on_nack: None,
        }
    }
}

impl LionsConfig {
    /// The line rate of a resolved configuration.
    pub fn line_rate(&self) -> Rate {
        self.rate.unwrap_or(Rate(1))
    }

    /// The value of `host_link` that limits reception to `nic`, if a host's receivers together are
    /// faster than this link.
    pub fn link_below(&self, nic: Option<Rate>) -> Option<HostLink> {
        let nic = nic?;
        let heard = self
            .rate
            .unwrap_or(nic)
            .0
            .saturating_mul(self.receivers.into());
        (heard > nic.0).then_some(HostLink::Nic)
    }

    /// r of a resolved configuration.
    pub fn r(&self) -> u32 {
        self.hosts_per_queue.unwrap_or(1)
    }

    /// m of a resolved configuration.
    pub fn m(&self) -> u32 {
        self.transmitters.unwrap_or(1)
    }

    /// The rule that selects the VOQ of a transmitter.
    pub fn transmitter_order(&self) -> TransmitterRule {
        self.transmitter_rule.unwrap_or(TransmitterRule::Random)
    }

    /// The rule that selects the packet of a receiver.
    pub fn arbiter_rule(&self) -> ArbiterRule {
        self.arbiter.unwrap_or(ArbiterRule::LoopBackFirst)
    }

    /// Whether a packet may leave a loop-back buffer before it has fully arrived.
    pub fn cuts_through(&self) -> bool {
        self.cut_through.unwrap_or(true)
    }

    /// Whether NACKs cut packets short.
    pub fn aborts(&self) -> bool {
        self.abort_on_nack.unwrap_or(false)
    }

    /// Time from the transmission of a packet's first bit by a host until the switch forwards it.
    pub fn to_switch(&self) -> Time {
        self.fibre.delay() + self.delay_line.unwrap_or(self.budget())
    }

    /// Time from the transmission of a packet's first bit to the arrival of its reflection at the
    /// host.
    pub fn round_trip(&self) -> Time {
        self.to_switch() + self.fibre.delay()
    }

    /// The detector for the packets of these flows.
    pub fn detector_for(&self, flows: &Flows) -> Detector {
        let last = |&bytes: &u64| (bytes - 1) % self.packet.0 + 1;
        let shortest = flows.bytes.iter().map(last).min();
        let sent = |payload| self.line_rate().time_for(payload + self.header.0);
        match self.detector.unwrap_or(Detector::Auto) {
            Detector::Auto if shortest.is_none_or(|p| self.round_trip() <= sent(p)) => {
                Detector::Edge
            }
            Detector::Auto => Detector::Timers,
            chosen => chosen,
        }
    }

    /// The gap of a receiver between two packets: the converter of the next one tunes while the
    /// receiver still receives the one before.
    pub fn settling(&self) -> Time {
        self.line_rate().time_for(self.guard.0)
    }

    /// Gap of a host between two packets: the guard, which includes the converter's tuning (§III),
    /// or the tuning time if that is longer.
    pub fn gap(&self) -> Time {
        self.settling().max(self.tuning)
    }

    /// Transmission time of a full packet.
    pub fn full(&self) -> Time {
        self.line_rate().time_for(self.packet.0 + self.header.0)
    }

    /// The time that the delay line has to cover.
    pub fn budget(&self) -> Time {
        self.label_reading + self.arbitration + self.tuning
    }
}
