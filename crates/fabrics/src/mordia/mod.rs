//! Mordia (Porter et al., "Integrating Microsecond Circuit Switching into the Data Center",
//! SIGCOMM 2013): a ring of wavelength-selective switches between racks, scheduled by
//! traffic matrix.
//!
//! | file | the paper's mechanism |
//! |---|---|
//! | [`lightloom_control::policies::mordia`] | traffic-matrix scheduling: Sinkhorn, Birkhoff-von Neumann, lengths of days |
//! | [`lightloom_control::policies::rotation`] | round robin, the schedule of the prototype (§6) |
//! | [`crate::tdma::voq`], [`crate::tdma::burst`] | the queueing discipline: a queue for each destination; for its tokens stands the window in which a queue may send, which ends early (§5.2.1) |
//! | [`crate::tdma::frames`] | nights (§6.1), synchronisation frames (§5.2.1, §6.2) |
//! | [`crate::tdma::control`] | demand and decisions, from one period to the next |
//! | [`config`] | the paper's parameters |
//!
//! Each rack sends on its own wavelength, and each drops one from the ring, so that any
//! permutation can be set up; a schedule is a sequence of them, with days of any length
//! from the shortest slot on, and a night before each in which all circuits are dark. What
//! is sent into a night is lost and sent again later.
//!
//! Assumed where the paper is silent: a schedule that was decided on begins with the next
//! night, wherever in its period the one before is; a policy sees what waits in the queues
//! of the racks when its interval is over, without what the running slot still takes; round
//! robins and schedules from files are followed from the start, others from their first
//! decision on. Racks are a port each; the servers of one share it. Light that comes sooner
//! than it should is not used.
//!
//! Not modelled: multicast, the loss of light around the ring, how rings are stacked, the
//! packet-switched network that carries synchronisation frames, reordering, TCP's window.

pub mod config;
#[cfg(test)]
mod tests;

use crate::contract::{build, facts, ideal, memory, obey, resolve, schema, Entry, Preset};
use config::MordiaConfig;

/// `kind = "mordia"`.
pub const ENTRY: Entry = Entry {
    kind: "mordia",
    title: "Mordia",
    source: "Porter et al., Integrating Microsecond Circuit Switching into the Data Center, \
             SIGCOMM 2013",
    summary: "A ring of wavelength-selective switches that joins every rack to one other at a \
              time, by a schedule of days of some hundred microseconds with nights of 11.5 us \
              between them, made from the traffic matrix.",
    presets: PRESETS,
    schema: schema::<MordiaConfig>,
    resolve: resolve::<MordiaConfig>,
    obey: obey::<MordiaConfig>,
    ideal: ideal::<MordiaConfig>,
    build: build::<MordiaConfig>,
    memory: memory::<MordiaConfig>,
    facts: facts::<MordiaConfig>,
};

const PRESETS: &[Preset] = &[
    Preset {
        name: "prototype",
        summary: "§6: 24 ports of 10 Gb/s, round robin in slots of 106 us, hosts as racks: 23 us \
                  in the interface, jitter of 1 us, 1 % of frames at the wrong time",
        table: r#"{"policy": "rotation", "link_rate": "10 Gb/s", "wavelengths": 24,
                   "night": "11.55 us", "night_deviation": "2.36 us", "nic_delay": "23 us",
                   "sync_jitter": "1 us", "late_sync_fraction": 0.01, "packet": "9000 B"}"#,
    },
    Preset {
        name: "round-robin",
        summary: "every pair has its slot of 106 us in turn, and nobody asks for demand",
        table: r#"{"policy": "rotation"}"#,
    },
    Preset {
        name: "tms",
        summary: "traffic-matrix scheduling of what waits, a schedule a period",
        table: r#"{"policy": "mordia"}"#,
    },
    Preset {
        name: "stacked",
        summary: "§7: eight rings of 88 wavelengths, 704 ports",
        table: r#"{"wavelengths": 88, "rings": 8}"#,
    },
];
