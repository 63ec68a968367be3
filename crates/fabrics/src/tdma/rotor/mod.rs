//! Bulk traffic over rotor switches, as RotorNet and Opera serve it: each byte crosses its direct
//! circuit, or by RotorLB two circuits with a relay between.
//!
//! | file | contents |
//! |---|---|
//! | [`bulk`] | the queues of bulk traffic, at sources and at relays |
//! | `sending` | direct traffic and second hops, in the order in which a circuit sends them |
//! | [`rotorlb`], [`offers`], [`shares`] | RotorLB: offers, acceptances, fair shares; its inputs and grants |
//! | [`relays`], `detours`, [`crossed_count`] | first hops: bytes that a rack may send to relays, and those in transit |
//! | [`per_host`], `by_hosts` | RotorLB by hosts, as Opera's authors simulate it |
//! | [`failures`] | rotor switches that fail |
//! | [`idle_switches`] | matchings that leave switches idle |
//!
//! Words for traffic over a relay, in the order of its way:
//!
//! | word | meaning |
//! |---|---|
//! | offer | bytes that a rack would send to a relay |
//! | grant, plan | bytes of an offer that the relay accepts in this slot; each is a *detour* |
//! | first hop | a detour that is being sent; its bytes are *crossing*, and *crossed* when the slot ends |
//! | held, coming | bytes at a relay; bytes that it has accepted and that are not there yet |
//! | second hop | bytes from a relay to their destination |
//! | only hop | direct traffic |

pub mod bulk;
mod by_hosts;
pub mod crossed_count;
mod detours;
pub mod failures;
pub mod idle_switches;
pub mod offers;
pub mod per_host;
pub mod relays;
pub mod rotorlb;
mod sending;
pub mod shares;

pub use sending::Part;
