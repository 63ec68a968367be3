//! The keys of Sirius whose values are words; the default is the first value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! switch {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$vdoc])* $variant),+ }
    };
}

switch! {
    /// Granularity of the simulation.
    Detail {
        /// Every cell in every slot.
        Cells,
        /// Max-min rates of flows.
        Flows,
    }
}
switch! {
    /// Congestion control.
    Mode {
        /// Request, grant, send (§4.3).
        RequestGrant,
        /// Per-flow queues and back-pressure (§7).
        Ideal,
    }
}
switch! {
    /// The rule by which an intermediate grants requests.
    GrantRule {
        /// All, in random order, while queued + granted < Q.
        Threshold,
        /// At most one per destination and epoch, in random order, while queued + granted < Q.
        OnePerDestination,
    }
}
switch! {
    /// The nodes that a source may ask to relay.
    Intermediates {
        /// Every node, the source and the destination included.
        All,
        /// Neither the source nor the destination.
        Others,
    }
}
switch! {
    /// The reaction to the detection of a dead node.
    Recovery {
        /// The slots of the dead node stay empty: each node loses 1/N of its bandwidth.
        Degrade,
        /// The other nodes agree on a schedule without the dead node.
        Reschedule,
    }
}
