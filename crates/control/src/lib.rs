//! Control algorithms: pure functions that simulated managers, the `plan` command
//! and real controllers call alike. Who is joined with whom, and for how long, is
//! decided here and nowhere else; when it is decided, and what a switch makes of
//! it, is not.
//!
//! | for | modules |
//! |---|---|
//! | demand between nodes, checked | [`demand`] |
//! | circuits of both directions | [`matching`], [`multihop`] |
//! | circuits of one direction | [`assignment`], [`hopcroft_karp`] |
//! | schedules of permutations | [`schedule`], [`birkhoff`] after [`sinkhorn`] or [`quickstuff`], [`solstice`], [`eclipse`] |
//! | slot by slot, inside kernels | [`cyclic`], [`islip`], [`drrm`] |
//! | VLANs for multihop paths | [`vlan`] |
//!
//! Weights and volumes are `i64`, times integer picoseconds; equals are decided by
//! the lowest index, so the same demand gives the same result on every machine.
//! Bad input is a [`Refusal`](lightloom_engine::Refusal) that names its key.

pub mod assignment;
pub mod birkhoff;
pub mod cyclic;
pub mod demand;
pub mod drrm;
pub mod eclipse;
pub mod hopcroft_karp;
pub mod islip;
mod largest;
pub mod matching;
pub mod multihop;
pub mod quickstuff;
pub mod schedule;
pub mod sinkhorn;
pub mod solstice;
pub mod vlan;
