//! Algorithms of control: pure functions that policies, the `plan` command and
//! users' scripts call alike. When circuits are decided on, and what a switch makes
//! of it, is not here.
//!
//! | for | modules |
//! |---|---|
//! | circuits of both directions | [`matching`], [`multihop`] |
//! | circuits of one direction | [`assignment`], [`hopcroft_karp`] |
//! | schedules of permutations | [`birkhoff`] after [`sinkhorn`] or [`quickstuff`], [`solstice`], [`eclipse`] |
//! | known for ever | [`cyclic`], [`factorization`] |
//! | slot by slot, inside kernels | [`islip`], [`drrm`], both on [`round_robin`] |
//! | VLANs for multihop paths | [`vlan`] |

pub mod assignment;
pub mod birkhoff;
pub mod cyclic;
pub mod drrm;
pub mod eclipse;
pub mod factorization;
pub mod hopcroft_karp;
pub mod islip;
mod largest;
pub mod matching;
pub mod multihop;
pub mod quickstuff;
pub mod round_robin;
pub mod sinkhorn;
pub mod solstice;
pub mod vlan;
