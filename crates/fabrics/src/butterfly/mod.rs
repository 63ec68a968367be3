//! The flattened butterfly: an electrical packet network of high-radix routers
//! (Kim, Dally and Abts, "Flattened Butterfly: A Cost-Efficient Topology for
//! High-Radix Networks", ISCA 2007), the baseline of LIONS (Yin et al., JSTQE 2013,
//! §IV).
//!
//! A host's packet is cut into flits, which enter a buffer of its router: one of
//! the *virtual channels* of that input. There the packet is routed, wins a virtual
//! channel of its output, and its flits cross the switch one by one, as far as there
//! are *credits* for room in the buffer at the other end of the wire; a credit goes
//! back for every flit that leaves a buffer.
//!
//! | file | |
//! |---|---|
//! | [`config`] | the table, and what is refused |
//! | [`topology`] | which router is wired to which |
//! | [`network`] | the state |
//! | [`hosts`], [`packets`], [`lines`] | what sends, what is sent, what is on wires |
//! | [`routing`] | dimension order, Valiant, UGAL, and why nothing deadlocks |
//! | `allocation` | who gets virtual channels and the switch |
//! | `transfer`, `injection` | flits and credits that arrive and leave |
//! | [`kernel`] | cycle by cycle |
//! | [`bound`] | what tests hold the kernel to |
//!
//! What waits at hosts is in [`crate::hosts`].
//!
//! - Routers and hosts share a clock, a flit at the line rate; a wire and a
//!   pipeline take whole cycles, rounded up together. A packet that comes to a host
//!   within a cycle waits for the next.
//! - A packet may take a virtual channel as soon as the last flit of the one before
//!   has been sent there; it need not have left the buffer.
//! - `hops` are routers visited, 1 between hosts of one router. `packet_hops` and
//!   `cell_hops` count crossings of routers by packets and by flits: a hop is a
//!   router, so hosts' own links are not counted.
//! - Queues are counted in flits, header and padding included, once they are
//!   through the pipeline. Packets of a flow may overtake each other; how much waits
//!   for its turn at hosts is not tracked: `reorder_peak_bytes` is null.
//!
//! The papers at hand give the wiring and its lengths, the packets and the rate
//! (LIONS §IV) and nothing of the routers: what the presets and defaults have of
//! those is our assumption.
//!
//! Not modelled: errors on links, failures, multicast, priorities, wires' serial
//! coding, slower clocks than the links'.

mod allocation;
mod books;
pub mod bound;
pub mod config;
pub mod hosts;
mod injection;
pub mod kernel;
mod limits;
pub mod lines;
pub mod network;
pub mod packets;
pub mod routing;
#[cfg(test)]
mod tests;
pub mod topology;
mod transfer;

use crate::registry::{build, facts, memory, resolve, schema, Entry, Preset};
use config::ButterflyConfig;
use lightloom_engine::Rejected;

/// `kind = "flattened-butterfly"`.
pub const ENTRY: Entry = Entry {
    kind: "flattened-butterfly",
    title: "Flattened butterfly",
    source: "Kim, Dally and Abts, Flattened Butterfly, ISCA 2007; as in Yin et al., LIONS, IEEE \
             JSTQE 19(2), 2013, §IV",
    summary: "Electrical routers, each wired to all others of its row and column; flits, virtual \
              channels and credits; dimension-order, Valiant or UGAL routing. The baseline of \
              LIONS, for single nodes.",
    presets: PRESETS,
    schema: schema::<ButterflyConfig>,
    resolve: resolve::<ButterflyConfig>,
    build: build::<ButterflyConfig>,
    memory: memory::<ButterflyConfig>,
    facts: facts::<ButterflyConfig>,
};

const PRESETS: &[Preset] = &[
    Preset {
        name: "basic",
        summary: "LIONS §IV with a plain router, as we assume one: 2 virtual channels of 48 flits, 100 ns, one \
                  round of allocation",
        table: r#"{"vcs": 2, "vc_buffer": 48, "router_latency": "100 ns",
                   "input_speedup": 1, "allocator_iterations": 1, "flow_control": "wormhole"}"#,
    },
    Preset {
        name: "aggressive",
        summary: "LIONS §IV with a router that, as we assume, is hardly in the way: 8 virtual channels of 64 \
                  flits, a pipeline of three cycles (19.2 ns), speedup 4, three rounds",
        table: r#"{"vcs": 8, "vc_buffer": 64, "router_latency": "19.2 ns",
                   "input_speedup": 4, "allocator_iterations": 3,
                   "flow_control": "virtual-cut-through"}"#,
    },
];

fn no_failures() -> Rejected {
    Rejected("flattened-butterfly does not model failures yet; remove it".to_owned())
}
