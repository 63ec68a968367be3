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
    /// The table of the policy in the form that logs contain.
    pub described: Value,
    /// The circuits that are lit, or the schedule, when the run begins; `None` if all circuits are
    /// dark.
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
    /// Share of a server's link that is guaranteed to its flows over circuits; `None` if servers
    /// have no such scheduler.
    pub optical_weight: Option<f64>,
    /// When and how servers stop using circuits if the controller sends nothing.
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
    /// Largest demand that is counted for a pair of racks [B].
    pub most: u64,
}

/// The source of the controller's demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DemandFrom {
    /// Applications announce the bytes that they still have to send (default): bandwidth on demand.
    Announced,
    /// The bytes that were carried since the last cycle.
    Monitored,
}

/// The times that the steps of a change take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// Mirrors move and settle.
    pub settle: Time,
    /// Time, after the mirrors, for transceivers at both ends to establish the link.
    pub link_up: Time,
    /// Time to tag ports of rack switches, in parallel to the mirrors.
    pub retag: Time,
    /// Time to install one rule on a server.
    pub rule: Time,
    /// Number of rules for new routes; computed from the routes if `None`.
    pub rules: Option<u64>,
    /// Whether rules are installed on servers one after another.
    pub pushing: Pushing,
}

/// How rules get to the servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pushing {
    /// One rule after the other (default): at hundreds of racks a reconfiguration
    /// takes minutes.
    Sequential,
    /// To all servers in parallel, to each server one rule after the other; the paper considers
    /// this hard to achieve fully.
    Parallel,
}

/// Time that moved flows take to fill their new path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transport {
    /// Time to fill a path with circuits.
    pub ramp: Time,
    /// Time to fill a path of the electrical network.
    pub dip: Time,
}

/// The reaction of servers that receive nothing from the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GiveUp {
    /// Time without a message from the controller after which servers react.
    pub after: Time,
    /// Whether circuits go dark then, or stay lit and empty.
    pub dark: bool,
}

/// A policy's table in the form that logs contain.
pub fn described(kind: &str, table: &impl Serialize) -> Value {
    let mut value = serde_json::to_value(table).expect("configurations are plain data");
    value["kind"] = kind.into();
    value
}

/// The refusal of a key of a policy or of its hardware, for a fabric that has this key itself.
pub fn of_policy(refusal: Refusal) -> Refusal {
    let key = refusal.key.strip_prefix("policy.").unwrap_or(&refusal.key);
    Refusal {
        key: format!("fabric.{key}"),
        ..refusal
    }
}
