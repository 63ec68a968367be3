//! HydRA (Christodoulopoulos et al., "Performance evaluation of a hybrid optical/electrical
//! interconnect", JOCN 7(3), 2015): an oversubscribed electrical network, and K parallel MEMS
//! switches that connect racks by circuits; traffic may take several circuits.
//!
//! | file | the paper's mechanism |
//! |---|---|
//! | [`crate::hybrid::meter`] | step 1: traffic is monitored, or applications announce their demand (§III.B) |
//! | [`lightloom_control::policies::hydra`] | step 2: the logical topology with multihop circuits (§III.B.3) |
//! | [`lightloom_control::order`] | step 3: the three substeps of a reconfiguration (§III.B.1) |
//! | [`crate::hybrid::switch`] | the duration of each substep |
//! | [`crate::hybrid::paths::forwarding`] | the paths in force, over one or more VLANs (§III.B.1) |
//! | [`crate::hybrid::kernel`] | flows, the control cycle, failures |
//! | [`config`] | the paper's parameters, and the set-up of the parts above |
//!
//! Flows have their max-min fair rates (flow kernel): over the circuits of their racks' path if
//! there is one, otherwise over the electrical tree. A reconfiguration first moves the traffic that
//! it affects to the tree (3-1), then sets mirrors, tags ToR ports and installs rules at the same
//! time (3-2), then moves traffic to the new circuits (3-3). No byte is sent to a dark circuit.
//! Unchanged circuits carry traffic throughout.
//!
//! Assumed where the paper is silent: a cycle begins every `interval`, or later, when the previous
//! cycle is complete; a pair with more demand than a circuit carries may have several paths, over
//! which its flows are spread evenly; when the controller fails, all state remains, because VLANs
//! and rules work without it (unless `controller_timeout` states when servers leave the circuits),
//! and a change that had begun is cancelled (mirrors that were moving stay dark); if an optical
//! port of a rack fails, the traffic of this port takes the tree at once.
//!
//! Not modelled: packets, queues and their delay, several ports of a rack on one
//! plane (raise `planes`), unidirectional circuits, servers with a second link for
//! the electrical network (the paper's other variant), the bandwidth of control
//! messages.

pub mod config;
#[cfg(test)]
mod tests;

use crate::contract::{
    build, doubts, draws, facts, failures, findings, findings_of_run, ideal, memory, obey, resolve,
    schema, switch_tiers, Entry, Preset, LOST,
};
use crate::emulation::{Emulation, Plane};
use config::HydraConfig;

/// `kind = "hydra"`.
pub const ENTRY: Entry = Entry {
    kind: "hydra",
    title: "HydRA",
    name: "HydRA",
    drops: LOST,
    in_turn: false,
    no_circuits: "",
    bounds: &[],
    testbed: Some(Emulation {
        plane: Plane::Kernel,
        server_rules: true,
        dark: &["settle", "link_up"],
    }),
    source: "Christodoulopoulos et al., Performance evaluation of a hybrid optical/electrical \
             interconnect, JOCN 7(3), 2015",
    summary: "An oversubscribed electrical tree and several parallel optical circuit switches: a \
        controller connects racks by their demand, over several circuits if there is no direct \
        one, and moves traffic to the tree while it sets mirrors and VLANs.",
    presets: PRESETS,
    schema: schema::<HydraConfig>,
    resolve: resolve::<HydraConfig>,
    obey: obey::<HydraConfig>,
    ideal: ideal::<HydraConfig>,
    draws: draws::<HydraConfig>,
    failures: failures::<HydraConfig>,
    switch_tiers: switch_tiers::<HydraConfig>,
    findings: findings::<HydraConfig>,
    findings_of_run: findings_of_run::<HydraConfig>,
    doubts: doubts::<HydraConfig>,
    build: build::<HydraConfig>,
    memory: memory::<HydraConfig>,
    facts: facts::<HydraConfig>,
};

const PRESETS: &[Preset] = &[
    Preset {
        name: "paper",
        summary: "§III: 32 planes of 10 Gb/s circuits, paths of up to 4 hops, 1.2 s to tag ports",
        table: r#"{"planes": 32, "oversubscription": 10.0, "circuit_rate": "10 Gb/s"}"#,
    },
    Preset {
        name: "testbed",
        summary:
            "§V.B: one switch, a 1 Gb/s electrical network beside 10 Gb/s (10:1), a cycle of 10 s",
        table: r#"{"planes": 1, "oversubscription": 10.0, "circuit_rate": "10 Gb/s",
                   "interval": "10 s"}"#,
    },
    Preset {
        name: "instant",
        summary: "the topology without delays: every delay of a reconfiguration is 0",
        table: r#"{"settle": "0 s", "retag": "0 s", "rule": "0 s", "link_up": "0 s", "transport_recovery": "0 s"}"#,
    },
];
