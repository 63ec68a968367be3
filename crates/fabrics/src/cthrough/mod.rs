//! c-Through (Wang et al., "c-Through: Part-time Optics in Data Centers", SIGCOMM 2010): an
//! oversubscribed electrical tree that is always available, and one optical switch that connects
//! each rack to one other rack at a time.
//!
//! | file | the paper's mechanism |
//! |---|---|
//! | [`crate::hybrid::meter`], [`lightloom_control::demand`] | demand from the buffers of connections, and its reports (§4.1, §4.3) |
//! | [`lightloom_control::policies::cthrough`] | the manager: a maximum-weight perfect matching of the racks (§4.1) |
//! | [`lightloom_control::order`] | all circuits go dark, new ones come up, flows move (§5.1) |
//! | [`crate::hybrid::switch`] | the optical switch, which is dark while it reconfigures (§2, §5.1) |
//! | [`crate::hybrid::paths::demultiplex`] | optical and electrical VLAN; weights 0.9 and 0.1 (§4.2) |
//! | [`crate::hybrid::paths::transport`] | the reaction of TCP to a path that changes (§5.2.1) |
//! | [`crate::hybrid::kernel`] | flows, the manager's timeline, failures |
//! | [`config`] | the paper's parameters, and the set-up of the parts above |
//!
//! Flows have their max-min fair rates (flow kernel): over the circuit while their racks are
//! connected, otherwise over the tree. Each flow is one connection.
//!
//! Assumed where the paper is silent: the manager's first decision is one interval after the start;
//! a queue that falls below the threshold is reported as empty; `unrequested` defines the
//! connections of racks without reported demand; if the controller fails, circuits stay until
//! servers stop using them (`controller_timeout`), and a reconfiguration in progress leaves its
//! circuits dark; a rack whose optical port fails uses the tree at once, and gets no circuit until
//! the first decision after the repair.
//!
//! Not modelled: packets, queues in switches and their delay, slow start, bandwidth and delay of
//! reports and notices, broadcast and multicast, the memory of buffers, several circuits per rack,
//! rings or trees of optical switches (§7.3), circuits that stay lit while others move, and traffic
//! that waits for a circuit instead of using the tree (which the paper avoids, §7.3).

pub mod config;
#[cfg(test)]
mod tests;

use crate::contract::{
    build, doubts, draws, facts, failures, findings, findings_of_run, ideal, memory, obey, resolve,
    schema, switch_tiers, Entry, Preset, LOST,
};
use crate::emulation::{Emulation, Plane};
use config::CThroughConfig;

/// `kind = "cthrough"`.
pub const ENTRY: Entry = Entry {
    kind: "cthrough",
    title: "c-Through",
    name: "c-Through",
    drops: LOST,
    in_turn: false,
    no_circuits: "",
    bounds: &[],
    testbed: Some(Emulation {
        plane: Plane::Kernel,
        server_rules: false,
        dark: &["reconfiguration_delay"],
    }),
    source: "Wang et al., c-Through: Part-time Optics in Data Centers, SIGCOMM 2010",
    summary:
        "An oversubscribed electrical tree and one optical circuit switch that connects racks in \
        pairs: every second a manager matches them by the demand in the servers' socket buffers, \
        and all circuits go dark for 10 ms.",
    presets: PRESETS,
    schema: schema::<CThroughConfig>,
    resolve: resolve::<CThroughConfig>,
    obey: obey::<CThroughConfig>,
    ideal: ideal::<CThroughConfig>,
    draws: draws::<CThroughConfig>,
    failures: failures::<CThroughConfig>,
    switch_tiers: switch_tiers::<CThroughConfig>,
    findings: findings::<CThroughConfig>,
    findings_of_run: findings_of_run::<CThroughConfig>,
    doubts: doubts::<CThroughConfig>,
    build: build::<CThroughConfig>,
    memory: memory::<CThroughConfig>,
    facts: facts::<CThroughConfig>,
};

const PRESETS: &[Preset] = &[
    Preset {
        name: "testbed-40to1",
        summary: "§6: 100 Mb/s out of a rack of four servers, 100 MB buffers, 1 s interval",
        table: r#"{"oversubscription": 40.0, "circuit_rate": "4 Gb/s"}"#,
    },
    Preset {
        name: "testbed-10to1",
        summary: "the same with 400 Mb/s out of a rack",
        table: r#"{"oversubscription": 10.0, "circuit_rate": "4 Gb/s"}"#,
    },
    Preset {
        name: "testbed-4to1",
        summary: "the same with 1 Gb/s out of a rack",
        table: r#"{"oversubscription": 4.0, "circuit_rate": "4 Gb/s"}"#,
    },
    Preset {
        name: "default-buffers",
        summary: "40:1 with 128 KB buffers, the usual default of servers",
        table: r#"{"oversubscription": 40.0, "circuit_rate": "4 Gb/s", "socket_buffer": "128 KB"}"#,
    },
    Preset {
        name: "large-switch",
        summary: "§2, §7.3: 20 ms for a large MEMS switch, 640 ms to compute the matching of \
            1,000 racks",
        table: r#"{"oversubscription": 40.0, "circuit_rate": "4 Gb/s",
                   "reconfiguration_delay": "20 ms", "computation_delay": "640 ms"}"#,
    },
    Preset {
        name: "ideal-transport",
        summary: "40:1 with ideal transport: flows have their new rate at once",
        table: r#"{"oversubscription": 40.0, "circuit_rate": "4 Gb/s", "ramp": "0 s", "dip": "0 s"}"#,
    },
];
