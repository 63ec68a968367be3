//! Algorithms of control: pure functions for policies, the `plan` command and users' scripts. When
//! circuits are decided and how a switch carries out a decision is not part of them.
//!
//! | for | modules |
//! |---|---|
//! | bidirectional circuits | [`matching`], [`multihop`] |
//! | directed circuits | [`assignment`], [`hopcroft_karp`] |
//! | schedules of permutations | [`birkhoff`] after [`sinkhorn`] or [`quickstuff`], [`solstice`], [`eclipse`] |
//! | fixed schedules | [`cyclic`], [`factorization`] |
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
