//! A log played again: what another policy, or the same, would have done.
//!
//! Until the two part, the other policy hears exactly what the log says, answers to its
//! steps included: the same policy never parts. From then on a [fake switch](crate::fake)
//! carries out what it asks for. It measures what the log measured last, its ports break
//! when they broke, it is deaf when the log's controller was, and its steps take and
//! fail what the log's did: the k-th of a kind as the k-th there; if that was never
//! answered, or there is none, as the last before it; as the median of its kind, if none
//! was answered before; and no time, if the log has no such step.
//!
//! Not modelled: that other circuits would have carried other traffic, so that there
//! would have been other demand later. When a silence began the log does not say: it
//! began after the last that the controller heard.

use crate::log::Read;
use crate::order::Order;
use crate::policy::Policy;
pub use crate::words::in_words;
use lightloom_engine::{Refusal, Time};
use serde::Serialize;

/// What comes of playing a log against a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replay {
    /// Where the two part; nowhere, if they do the same.
    pub parted: Option<Parting>,
    /// What the controller of the log did.
    pub recorded: Account,
    /// What the other did.
    pub replayed: Account,
}

/// The first action that is not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parting {
    /// When.
    #[serde(with = "crate::ps", rename = "at_ps")]
    pub at: Time,
    /// The line of the log, counted from 1, in which the action stands, or the next
    /// input if there is none.
    pub line: usize,
    /// What the log's controller did there, in words; nothing, if the other does more.
    pub recorded: Option<String>,
    /// What the other does.
    pub replayed: Option<String>,
}

/// What a controller did from the first line of a log to its last.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Account {
    /// Each of its decisions.
    pub decisions: Vec<Decision>,
    /// Decisions that changed something.
    pub changes: u64,
    /// Steps that failed.
    pub failed_steps: u64,
    /// Schedules that were handed over; what follows concerns circuits that stay.
    pub schedules: u64,
    /// Circuits that came up.
    pub made: u64,
    /// Circuits that were taken down.
    pub broken: u64,
    /// Circuits that ports took with them when they broke, or a silence did.
    pub lost: u64,
    /// By plane: for how long circuits were lit, added up [circuit-seconds]; days of
    /// schedules included.
    pub lit_circuit_s: Vec<f64>,
    /// By plane: for how long ports had no light to send, added up [port-seconds].
    pub dark_port_s: Vec<f64>,
}

/// A decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// When its demand was measured.
    #[serde(with = "crate::ps", rename = "at_ps")]
    pub at: Time,
    /// The demand that the policy saw [B].
    pub demand_bytes: u64,
    /// As much of it is between racks that it joined: by a route, or in any slot of a
    /// schedule [B].
    pub joined_bytes: u64,
    /// The latter ÷ the former; none without demand.
    pub share: Option<f64>,
}

/// Plays a log against a policy that was built for `log.header.hardware`, whose changes
/// are carried out in its own order or, with `order`, in that one. Timing and estimation
/// of demand are those of the log.
///
/// The policy of the log itself is `policies::find(kind)?.build(table, &hardware)` of
/// `log.header.policy`, with `log.header.order`.
///
/// # Errors
/// If a line of the log names a rack, a plane or a reporter that its first line does not
/// have; if the policy cannot decide, or not for this switch: `policy`, with the time.
pub fn replay(
    log: &Read,
    policy: Box<dyn Policy>,
    order: Option<Order>,
) -> Result<Replay, Refusal> {
    let _ = (log, policy, order);
    todo!("the signature, for those who call it")
}
