//! The parts of a hybrid network, for the networks of all papers.

use super::computation::Computation;
use super::tree::Tree;
use lightloom_control::controller::Timing;
use lightloom_control::demand::Thresholds;
use lightloom_control::hardware::Hardware;
use lightloom_control::order::Order;
use lightloom_control::policy::{Policy, Target};
use lightloom_engine::{Cluster, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A hybrid network, to be simulated by [`super::kernel::Hybrid`].
pub struct Setup {
    /// The name of the network in messages.
    pub title: &'static str,
    /// Racks and servers.
    pub cluster: Cluster,
    /// The electrical network, or the servers' links alone.
    pub tree: Tree,
    /// The optical switches.
    pub hardware: Hardware,
    /// The policy that chooses circuits.
    pub policy: Box<dyn Policy>,
    /// Its table, as logs have it.
    pub described: Value,
    /// The circuits that are lit, or the schedule, when the run begins; none if all is dark.
    pub initial: Option<Target>,
    /// The order of a change, if not the policy's own.
    pub order: Option<Order>,
    /// When the policy decides.
    pub timing: Timing,
    /// Duration of a decision.
    pub computation: Computation,
    /// The measure of demand that the policy receives.
    pub monitoring: Monitoring,
    /// The time that each step of a change takes.
    pub delays: Delays,
    /// The reaction of TCP to changes of a path.
    pub transport: Transport,
    /// Share of a server's link that its flows over circuits may claim; none where
    /// servers schedule nothing.
    pub optical_weight: Option<f64>,
    /// When and how servers give up on a controller that is silent.
    pub give_up: Option<GiveUp>,
}

/// How demand is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Monitoring {
    /// The bytes that are counted as demand.
    pub demand: DemandFrom,
    /// The largest number of bytes of a flow that its server reports [B].
    pub buffer: u64,
    /// When servers report.
    pub thresholds: Option<Thresholds>,
    /// Weight of a new report in the estimate, above 0 and at most 1.
    pub smoothing: f64,
    /// No pair of racks counts for more [B].
    pub most: u64,
}

/// Where the controller's demand comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DemandFrom {
    /// Applications say what they still have to send (default): bandwidth on
    /// demand.
    Announced,
    /// The bytes that were carried since the last cycle.
    Monitored,
}

/// The times that the steps of a change take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// Mirrors move and settle.
    pub settle: Time,
    /// Then transceivers at both ends find each other.
    pub link_up: Time,
    /// Ports of rack switches are tagged, beside the mirrors.
    pub retag: Time,
    /// To push one rule to a server.
    pub rule: Time,
    /// Rules that new routes take; counted unless given.
    pub rules: Option<u64>,
    /// Whether servers get their rules one after the other.
    pub pushing: Pushing,
}

/// How rules get to the servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pushing {
    /// One rule after the other (default): at hundreds of racks a reconfiguration
    /// takes minutes.
    Sequential,
    /// To all servers at once, to each one rule after the other; the paper thinks
    /// this hard to achieve in full.
    Parallel,
}

/// Time that moved flows take to fill their new path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transport {
    /// A path with circuits.
    pub ramp: Time,
    /// A path of the electrical network.
    pub dip: Time,
}

/// The reaction of servers that receive nothing from the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GiveUp {
    /// After this long.
    pub after: Time,
    /// Whether circuits go dark then, or stay lit and empty.
    pub dark: bool,
}

/// A policy's table, as logs have it.
pub fn described(kind: &str, table: &impl Serialize) -> Value {
    let mut value = serde_json::to_value(table).expect("configurations are plain data");
    value["kind"] = kind.into();
    value
}

/// The refusal of a policy's key, or of its hardware's, by a fabric that has that key
/// itself.
pub fn of_policy(refusal: Refusal) -> Refusal {
    let key = refusal.key.strip_prefix("policy.").unwrap_or(&refusal.key);
    Refusal {
        key: format!("fabric.{key}"),
        ..refusal
    }
}
