//! Weights that follow from classes: a two-level scheduler at a link.
//!
//! A server's output scheduler serves classes of flows (for example, all flows to one rack) by
//! weight, and the flows of a class equally. In the fluid limit, while all flows can use their
//! share, the weight of a flow is that of its class ÷ the number of flows in the class. [`share`]
//! returns that weight in the units of [`Fair`](super::Fair); a kernel sets it again whenever a
//! class gains or loses a flow ([`Net::set_weight`](crate::kernel::flow::Net::set_weight)).
//!
//! The scheduler is work-conserving: the rest of a class that cannot use its share goes to other
//! flows by their weights. It differs from a true hierarchy: capacity that some flows of a class
//! leave goes to all flows of the link by weight, not to their own class first. Flows of several
//! servers that meet at other links share them by these weights, too.

use super::WEIGHT;

/// The weight of each of `flows` flows of a class with `millis` thousandths of its link's weight
/// (900 is 0.9). At least 1, so that no flow starves.
///
/// ```
/// use lightloom_engine::fair::{classes::share, WEIGHT};
/// assert_eq!(share(1_000, 1), WEIGHT);
/// assert_eq!(share(500, 2), WEIGHT / 4);
/// ```
pub fn share(millis: u32, flows: u32) -> u32 {
    let all = WEIGHT as u64 * millis as u64 / 1_000;
    (all / flows.max(1) as u64).clamp(1, u32::MAX as u64) as u32
}
