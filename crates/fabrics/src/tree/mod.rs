//! The oversubscribed electrical tree: what hybrid fabrics are measured by, and
//! what they fall back on.
//!
//! Two levels are the tree of c-Through §5.1: racks whose uplinks carry a part
//! of what their servers can send (40:1, 10:1, 4:1). Three levels are the
//! β-oversubscribed fat tree of HydRA §IV, where each level divides by √β.
//! β = 1 is full bisection.
//!
//! Flows move at their max-min fair rates (flow kernel). Not modelled: packets,
//! queues, latency, transport protocols, collisions of hashed paths (multipath
//! routing is ideal: all parallel paths are one link), failures, broadcast.

pub mod config;
pub mod kernel;
#[cfg(test)]
mod tests;

use crate::registry::{build, facts, memory, resolve, schema, Entry, Preset};
use config::TreeConfig;

/// `kind = "tree"`.
pub const ENTRY: Entry = Entry {
    kind: "tree",
    title: "Oversubscribed tree",
    source: "Wang et al., SIGCOMM 2010, §5.1; Christodoulopoulos et al., JOCN 2015, §IV",
    summary: "Racks below an electrical tree that carries a part of what their servers can send \
              (40:1, 10:1, 4:1), a β-oversubscribed fat tree of three levels, or full bisection; \
              flows at max-min fair rates.",
    presets: PRESETS,
    schema: schema::<TreeConfig>,
    resolve: resolve::<TreeConfig>,
    build: build::<TreeConfig>,
    memory: memory::<TreeConfig>,
    facts: facts::<TreeConfig>,
};

const PRESETS: &[Preset] = &[
    Preset {
        name: "full-bisection",
        summary: "nothing is oversubscribed: the upper baseline of c-Through §6",
        table: r#"{"oversubscription": 1.0}"#,
    },
    Preset {
        name: "40to1",
        summary: "c-Through §5.1: 100 Mb/s out of a rack of four servers at 1 Gb/s",
        table: r#"{"oversubscription": 40.0}"#,
    },
    Preset {
        name: "10to1",
        summary: "c-Through §5.1: 400 Mb/s out of a rack of four servers at 1 Gb/s",
        table: r#"{"oversubscription": 10.0}"#,
    },
    Preset {
        name: "4to1",
        summary: "c-Through §5.1: 1 Gb/s out of a rack of four servers at 1 Gb/s",
        table: r#"{"oversubscription": 4.0}"#,
    },
    Preset {
        name: "fat-tree-4to1",
        summary: "HydRA §IV: three levels, each divided by 2, β = 4",
        table: r#"{"oversubscription": 4.0, "levels": 3}"#,
    },
];
