//! Hybrid networks: circuits that a policy chooses, beside an electrical network or without one.
//! c-Through and HydRA are two of them with their papers' parameters; the kind `hybrid` takes any
//! policy.
//!
//! | file | what it is |
//! |---|---|
//! | [`config`] | the table of `kind = "hybrid"` |
//! | [`devices`] | its circuit switch: what the policy asks of it |
//! | [`policy_table`] | its policy: of the registry, or in a user's file |
//! | [`schedule_file`] | a schedule that was planned before, from its file |
//! | [`standing`] | the circuits of a policy that never changes them |
//! | [`setup`] | what every hybrid network is made of |
//! | [`kernel`] | the fabric: its state, its events, what can fail; `changes`: the controller's actions, carried out |
//! | [`event`] | what happens, and what an event acts on |
//! | [`host`] | the controller and its host: inputs, actions, the log |
//! | [`paths`] | flows and routes: forwarding, moves, spreading over several routes, what servers and TCP make of it |
//! | [`switch`] | the optical switches: what is lit, how long a step takes |
//! | [`port_failures`] | which optical ports have failed, by themselves or with their plane |
//! | [`days`] | where a schedule is that the switch follows by itself |
//! | [`findings`](mod@findings) | times of a table that leave circuits, or flows over them, no time |
//! | [`decisions`] | how often the controller decides in a run, and what that says of its interval |
//! | [`meter`] | what servers report to the controller |
//! | [`computation`] | what a decision takes, given or measured |
//! | [`tree`] | the electrical tree |
//! | [`packets`] | what flows take beyond their rates: the way, headers, packets that are stored |
//! | [`recorder`] | which circuits were lit when |
//! | [`trouble`] | a decision that cannot be, as a user's key |
//!
//! Flows move at their max-min fair rates (flow kernel): over the circuits of their
//! racks' route while there is one, over the electrical tree otherwise, and where there
//! is no tree they wait. Schedules of directed circuits are followed day by day.
//!
//! Not modelled: queues in switches and their delay, slow start of new flows,
//! bandwidth and delay of reports and commands, loss of light, several ports of a rack
//! on one plane, flows that wait for a circuit although there is a tree.

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
    build, facts, findings, findings_of_run, ideal, memory, obey, resolve, schema, Entry, Preset,
};
use config::HybridConfig;

/// `kind = "hybrid"`.
pub const ENTRY: Entry = Entry {
    kind: "hybrid",
    title: "hybrid",
    source: "Wang et al., c-Through: Part-time Optics in Data Centers, SIGCOMM 2010, and others",
    summary: "Optical circuits that any policy decides on, of Lightloom's or your own in Python, \
              beside an oversubscribed electrical tree or alone.",
    presets: PRESETS,
    schema: schema::<HybridConfig>,
    resolve: resolve::<HybridConfig>,
    obey: obey::<HybridConfig>,
    ideal: ideal::<HybridConfig>,
    findings: findings::<HybridConfig>,
    findings_of_run: findings_of_run::<HybridConfig>,
    build: build::<HybridConfig>,
    memory: memory::<HybridConfig>,
    facts: facts::<HybridConfig>,
};

const PRESETS: &[Preset] = &[
    Preset {
        name: "cthrough",
        summary: "c-Through's matching every second, 10 ms in the dark, beside an electrical tree",
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
        summary: "every rack meets every other in turn, 10 ms each, without reports of demand",
        table: r#"{"policy": {"kind": "rotation", "day": "10 ms", "night": "1 ms"},
                   "ramp": "0 s", "dip": "0 s"}"#,
    },
];
