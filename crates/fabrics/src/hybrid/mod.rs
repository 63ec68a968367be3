//! Hybrid networks: circuits that a policy chooses, with or without an electrical network.
//! c-Through and HydRA are two of them with the parameters of their papers; the kind `hybrid`
//! accepts any policy.
//!
//! | file | contents |
//! |---|---|
//! | [`config`] | the table of `kind = "hybrid"` |
//! | [`devices`] | its circuit switch, and the policy's requirements of it |
//! | [`policy_table`] | its policy: from the registry, or from a user's file |
//! | [`schedule_file`] | a schedule that was planned before, from its file |
//! | [`standing`] | the circuits of a policy that never changes them |
//! | [`setup`] | the parts of every hybrid network |
//! | [`kernel`] | the fabric: its state, its events, its failures; `changes`: execution of the controller's actions |
//! | [`event`] | the events, and the context in which they are processed |
//! | [`host`] | the controller: inputs, actions, the log |
//! | [`paths`] | flows and routes: forwarding, moves, spreading over several routes, behaviour of servers and TCP |
//! | [`switch`] | the optical switches: lit circuits, duration of steps |
//! | [`port_failures`] | failed optical ports, single ones or with their plane |
//! | [`days`] | the position in a schedule that the switch follows by itself |
//! | [`findings`](mod@findings) | settings that leave circuits, or flows over them, too little time |
//! | [`decisions`] | the number of decisions in a run, and notes on the interval |
//! | [`meter`] | the reports of servers to the controller |
//! | [`computation`] | the time of a decision, given or measured |
//! | [`tree`] | the electrical tree |
//! | [`packets`] | times of flows beyond their rates: propagation, headers, stored packets |
//! | [`recorder`] | the times of lit circuits |
//! | [`trouble`] | an invalid decision, as a refusal of a user's key |
//!
//! Flows have their max-min fair rates (flow kernel): over the circuits of their racks' route if
//! there is one, otherwise over the electrical tree; without a tree they wait. The switch follows
//! schedules of directed circuits day by day.
//!
//! Not modelled: queues in switches and their delay, slow start of new flows, bandwidth and delay
//! of reports and commands, loss of light, several ports of a rack on one plane, and flows that
//! wait for a circuit although there is a tree.

pub mod computation;
pub mod config;
pub mod days;
pub mod decisions;
pub mod devices;
pub mod event;
pub mod findings;
pub mod host;
pub mod kernel;
pub mod meter;
pub mod packets;
pub mod paths;
pub mod policy_table;
pub mod port_failures;
pub mod recorder;
pub mod schedule_file;
pub mod setup;
pub mod standing;
pub mod switch;
#[cfg(test)]
mod tests;
pub mod tree;
pub mod trouble;

use crate::contract::{
    build, doubts, draws, facts, failures, findings, findings_of_run, ideal, memory, obey, resolve,
    schema, switch_tiers, Entry, Preset, LOST,
};
use crate::emulation::{Emulation, Plane};
use config::HybridConfig;

/// `kind = "hybrid"`.
pub const ENTRY: Entry = Entry {
    kind: "hybrid",
    title: "hybrid",
    name: "hybrid",
    drops: LOST,
    in_turn: false,
    no_circuits: "",
    bounds: &[],
    testbed: Some(Emulation {
        plane: Plane::Kernel,
        server_rules: false,
        dark: &["settle", "link_up"],
    }),
    source: "Wang et al., c-Through: Part-time Optics in Data Centers, SIGCOMM 2010, and others",
    summary: "Optical circuits under any policy of Lightloom or your own in Python, with or \
              without an oversubscribed electrical tree.",
    presets: PRESETS,
    schema: schema::<HybridConfig>,
    resolve: resolve::<HybridConfig>,
    obey: obey::<HybridConfig>,
    ideal: ideal::<HybridConfig>,
    draws: draws::<HybridConfig>,
    failures: failures::<HybridConfig>,
    switch_tiers: switch_tiers::<HybridConfig>,
    findings: findings::<HybridConfig>,
    findings_of_run: findings_of_run::<HybridConfig>,
    doubts: doubts::<HybridConfig>,
    build: build::<HybridConfig>,
    memory: memory::<HybridConfig>,
    facts: facts::<HybridConfig>,
};

const PRESETS: &[Preset] = &[
    Preset {
        name: "cthrough",
        summary: "c-Through's matching every second with 10 ms of darkness, beside an electrical \
            tree",
        table: r#"{"policy": "cthrough"}"#,
    },
    Preset {
        name: "mesh",
        summary: "four optical switches and no electrical network, as between pods of \
                  accelerators: HydRA's topology, changed every 10 s",
        table: r#"{"policy": "hydra", "electrical": false, "planes": 4, "interval": "10 s"}"#,
    },
    Preset {
        name: "rotation",
        summary: "every rack is connected to every other in turn for 10 ms each, without reports \
            of demand",
        table: r#"{"policy": {"kind": "rotation", "day": "10 ms", "night": "1 ms"},
                   "ramp": "0 s", "dip": "0 s"}"#,
    },
];
