//! `[[fault]]`: the part that fails, the time and severity of the failure, and its repair.
//!
//! Only the fabric can decide whether it has such a part; the fabric is called before the run
//! begins.

use lightloom_engine::outages::Outage;
use lightloom_engine::{Cluster, Element, Refusal, Rejected, SwitchTier, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Failure of a part at a given time, permanent or until its repair.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultTable {
    /// Time of the failure [s].
    pub at: Time,
    /// Kind of part.
    pub element: ElementKind,
    /// Number of the node (rack) that fails, or whose transceiver or optical port fails.
    #[serde(default)]
    pub node: Option<u32>,
    /// Uplink of the node whose transceiver fails.
    #[serde(default)]
    pub uplink: Option<u32>,
    /// Number of the grating.
    #[serde(default)]
    pub grating: Option<u32>,
    /// Number of the plane of optical switches that fails, or to which the optical port leads.
    /// Default for an optical port: 0.
    #[serde(default)]
    pub plane: Option<u32>,
    /// Tier of the electrical switch.
    #[serde(default)]
    pub tier: Option<TierName>,
    /// Number of the electrical switch within its tier; aggregation switches are numbered
    /// consecutively over all pods.
    #[serde(default)]
    pub switch: Option<u32>,
    /// Probability that a cell or packet is lost in the part. A value below 1 is a grey failure.
    /// Default 1.
    #[serde(default = "dead")]
    pub loss: f64,
    /// Time of the repair [s]. Default: the part is not repaired.
    #[serde(default)]
    pub repair_at: Option<Time>,
    /// Label of the only fabric in which the part fails. Default: all fabrics.
    #[serde(default)]
    pub fabric: Option<String>,
}

fn dead() -> f64 {
    1.0
}

/// Kinds of parts that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ElementKind {
    /// A rack or single node.
    Node,
    /// One uplink of a node.
    Transceiver,
    /// A passive grating of the optical core.
    Grating,
    /// The controller that decides on circuits.
    Controller,
    /// One optical port of a node.
    OpticalPort,
    /// The optical switch of a plane, with the ports of all nodes to it.
    Plane,
    /// An electrical switch above the racks.
    Switch,
}

/// Electrical switches above the racks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TierName {
    /// Switches between the racks of a pod and the core.
    Aggregation,
    /// Switches between pods, or between racks if there are no pods.
    Core,
}

impl TierName {
    fn tier(self) -> SwitchTier {
        match self {
            TierName::Aggregation => SwitchTier::Aggregation,
            TierName::Core => SwitchTier::Core,
        }
    }

    fn name(self) -> &'static str {
        match self {
            TierName::Aggregation => "aggregation",
            TierName::Core => "core",
        }
    }
}

pub(crate) fn check_all(
    faults: &[FaultTable],
    cluster: &Cluster,
    labels: &[&str],
) -> Result<(), Refusal> {
    faults
        .iter()
        .enumerate()
        .try_for_each(|(i, f)| f.check(&key(i), cluster, labels))
}

/// The path of the `index`-th fault.
pub(crate) fn key(index: usize) -> String {
    format!("fault[{index}]")
}

impl FaultTable {
    fn check(&self, at: &str, cluster: &Cluster, labels: &[&str]) -> Result<(), Refusal> {
        let refuse = |key: &str, value: String, limit: &str, remedy: &str| {
            Err(Refusal::new(format!("{at}.{key}"), value, limit, remedy))
        };
        self.element(at)?;
        if let Some(node) = self.node.filter(|&n| n >= cluster.racks) {
            let limit = format!("the cluster's nodes are 0 to {}", cluster.racks - 1);
            return refuse("node", node.to_string(), &limit, "lower it");
        }
        if !(self.loss > 0.0 && self.loss <= 1.0) {
            let limit = "a probability of loss is above 0 and at most 1";
            return refuse("loss", self.loss.to_string(), limit, "correct it");
        }
        if let Some(repair) = self.repair_at.filter(|&r| r <= self.at) {
            let limit = format!("must be later than the failure, {}", self.at);
            return refuse("repair_at", repair.to_string(), &limit, "raise it");
        }
        match &self.fabric {
            Some(label) if !labels.contains(&label.as_str()) => Err(Refusal::new(
                format!("{at}.fabric"),
                format!("\"{label}\""),
                "no fabric has this label",
                lightloom_engine::config::nearest(label, labels),
            )),
            _ => Ok(()),
        }
    }

    /// The part, if exactly the keys that name it are given.
    fn element(&self, at: &str) -> Result<Element, Refusal> {
        let (needs, may, what): (&[&str], &[&str], _) = match self.element {
            ElementKind::Node => (&["node"], &[], "a node"),
            ElementKind::Transceiver => (&["node", "uplink"], &[], "a transceiver"),
            ElementKind::Grating => (&["grating"], &[], "a grating"),
            ElementKind::Controller => (&[], &[], "the controller"),
            ElementKind::OpticalPort => (&["node"], &["plane"], "an optical port"),
            ElementKind::Plane => (&["plane"], &[], "a plane"),
            ElementKind::Switch => (&["tier", "switch"], &[], "a switch"),
        };
        for (key, value) in self.named_by() {
            let (limit, remedy, shown) = match (needs.contains(&key), value) {
                (true, None) => ("is named by", "add it", "(missing)".to_owned()),
                (false, Some(v)) if !may.contains(&key) => ("is not named by", "remove it", v),
                _ => continue,
            };
            let its = if what.starts_with("the ") { "a" } else { "its" };
            return Err(Refusal::new(
                format!("{at}.{key}"),
                shown,
                format!("{what} {limit} {its} {key}"),
                remedy,
            ));
        }
        let number = |n: Option<u32>| n.unwrap_or_default();
        let node = number(self.node);
        Ok(match self.element {
            ElementKind::Node => Element::Node(node),
            ElementKind::Transceiver => Element::Transceiver {
                node,
                uplink: number(self.uplink),
            },
            ElementKind::Grating => Element::Grating(number(self.grating)),
            ElementKind::Controller => Element::Controller,
            ElementKind::OpticalPort => Element::Port {
                node,
                plane: number(self.plane),
            },
            ElementKind::Plane => Element::Plane(number(self.plane)),
            ElementKind::Switch => Element::Switch {
                tier: self.tier.map_or(SwitchTier::Core, TierName::tier),
                index: number(self.switch),
            },
        })
    }

    /// The keys that may name a part.
    fn named_by(&self) -> [(&'static str, Option<String>); 6] {
        let shown = |n: Option<u32>| n.map(|n| n.to_string());
        [
            ("node", shown(self.node)),
            ("uplink", shown(self.uplink)),
            ("grating", shown(self.grating)),
            ("plane", shown(self.plane)),
            ("tier", self.tier.map(|tier| format!("\"{}\"", tier.name()))),
            ("switch", shown(self.switch)),
        ]
    }

    /// The part in words.
    pub(crate) fn part(&self) -> String {
        if let (Some(tier), Some(switch)) = (self.tier, self.switch) {
            return format!("{} switch {switch}", tier.name());
        }
        let named = |(key, n): (&str, Option<String>)| n.map(|n| format!("{key} {n}"));
        let parts: Vec<String> = self.named_by().into_iter().filter_map(named).collect();
        match parts.is_empty() {
            true => "controller".to_owned(),
            false => parts.join(" "),
        }
    }

    /// The reason for which a fabric cannot have the fault, and the remedy if there are `others`.
    pub(crate) fn refused(&self, index: usize, rejected: &Rejected, others: &[&str]) -> Refusal {
        let (limit, remedy) = rejected
            .0
            .rsplit_once("; ")
            .unwrap_or((&rejected.0, "correct it"));
        let mut remedy = remedy.to_owned();
        if self.fabric.is_none() && !others.is_empty() {
            let labels: Vec<String> = others.iter().map(|o| format!("\"{o}\"")).collect();
            let labels = labels.join(" or ");
            remedy += &format!(", or name the only fabric in which it happens: fabric = {labels}");
        }
        Refusal::new(key(index), self.part(), limit, remedy)
    }

    /// Whether the fault occurs in the fabric of that label.
    pub(crate) fn happens_in(&self, label: &str) -> bool {
        self.fabric.as_deref().is_none_or(|f| f == label)
    }

    /// The outage: the part, its time and its severity.
    pub(crate) fn outage(&self, index: usize) -> Result<Outage, Refusal> {
        Ok(Outage {
            element: self.element(&key(index))?,
            loss: self.loss,
            from: self.at,
            until: self.repair_at,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{config, Nic, Rate};
    use serde_json::{json, Value};

    fn check(table: Value) -> Result<FaultTable, String> {
        let cluster = Cluster {
            racks: 8,
            servers_per_rack: 1,
            server_rate: Rate(1),
            nic: Nic::Uncapped,
        };
        let fault: FaultTable = config::read(&table, "fault[0]").map_err(|e| e.to_string())?;
        check_all(std::slice::from_ref(&fault), &cluster, &["sirius", "clos"])
            .map_err(|e| e.to_string())?;
        Ok(fault)
    }

    #[test]
    fn a_fault_with_a_repair_is_an_outage() {
        let f = check(json!({"at": "1 us", "element": "transceiver", "node": 3, "uplink": 2, "repair_at": "5 us"}))
            .unwrap();
        let element = Element::Transceiver { node: 3, uplink: 2 };
        let outage = f.outage(0).unwrap();
        assert_eq!((outage.element, outage.loss), (element, 1.0));
        assert_eq!((outage.from, outage.until), (Time::US, Some(Time::US * 5)));
        assert!(f.happens_in("sirius"));
        assert_eq!(f.part(), "node 3 uplink 2");
    }

    #[test]
    fn controllers_and_optical_ports_fail() {
        let f = check(json!({"at": "1 s", "element": "controller"})).unwrap();
        let part = |f: &FaultTable| f.outage(0).unwrap().element;
        assert_eq!(part(&f), Element::Controller);
        assert_eq!(f.part(), "controller");
        for (table, plane) in [(json!({}), 0), (json!({"plane": 3}), 3)] {
            let mut fault = json!({"at": "1 s", "element": "optical-port", "node": 2});
            fault
                .as_object_mut()
                .unwrap()
                .extend(table.as_object().unwrap().clone());
            let f = check(fault).unwrap();
            assert_eq!(part(&f), Element::Port { node: 2, plane });
        }
    }

    #[test]
    fn refusals_name_the_key() {
        for (table, expect) in [
            (
                json!({"at": "1 us", "element": "node"}),
                "fault[0].node = (missing): a node is named by its node; add it",
            ),
            (
                json!({"at": "1 us", "element": "grating", "grating": 1, "node": 2}),
                "fault[0].node = 2: a grating is not named by its node; remove it",
            ),
            (
                json!({"at": "1 us", "element": "controller", "node": 2}),
                "fault[0].node = 2: the controller is not named by a node; remove it",
            ),
            (
                json!({"at": "1 us", "element": "optical-port", "plane": 2}),
                "fault[0].node = (missing): an optical port is named by its node; add it",
            ),
            (
                json!({"at": "1 us", "element": "node", "node": 1, "plane": 2}),
                "fault[0].plane = 2: a node is not named by its plane; remove it",
            ),
            (
                json!({"at": "1 us", "element": "switch", "switch": 2}),
                "fault[0].tier = (missing): a switch is named by its tier; add it",
            ),
            (
                json!({"at": "1 us", "element": "node", "node": 1, "tier": "core"}),
                "fault[0].tier = \"core\": a node is not named by its tier; remove it",
            ),
            (
                json!({"at": "1 us", "element": "node", "node": 8}),
                "fault[0].node = 8: the cluster's nodes are 0 to 7",
            ),
            (
                json!({"at": "1 us", "element": "node", "node": 1, "loss": 0.0}),
                "fault[0].loss = 0: ",
            ),
            (
                json!({"at": "1 us", "element": "node", "node": 1, "loss": 1.5}),
                "fault[0].loss = 1.5: ",
            ),
            (
                json!({"at": "2 us", "element": "node", "node": 1, "repair_at": "2 us"}),
                "fault[0].repair_at = 2 us: must be later than the failure, 2 us",
            ),
            (
                json!({"at": "2 us", "element": "node", "node": 1, "fabric": "sirus"}),
                "fault[0].fabric = \"sirus\": no fabric has this label; did you mean \"sirius\"?",
            ),
            (
                json!({"at": "2 us", "element": "nod"}),
                "fault[0].element = \"nod\": must be one of",
            ),
            (
                json!({"element": "node"}),
                "fault[0].at = (missing): required",
            ),
        ] {
            let e = check(table).unwrap_err();
            assert!(e.starts_with(expect), "{e}");
        }
    }
}
