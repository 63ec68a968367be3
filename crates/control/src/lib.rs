//! Control algorithms: pure functions that simulated managers, the `plan`
//! command and real controllers call alike. So far the cyclic schedules;
//! matching and decomposition follow with the hybrid fabrics.

pub mod assignment;
pub mod birkhoff;
pub mod cyclic;
pub mod demand;
pub mod drrm;
pub mod eclipse;
pub mod hopcroft_karp;
pub mod islip;
pub mod matching;
pub mod multihop;
pub mod quickstuff;
pub mod schedule;
pub mod sinkhorn;
pub mod solstice;
pub mod vlan;
