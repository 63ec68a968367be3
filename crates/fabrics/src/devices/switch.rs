//! Fabrics that name their circuit switch: its dark time, its number of ports, and whether the link
//! budget of its circuits closes.

use super::{explained, lay, Following, AT};
use crate::contract::FabricConfig;
use lightloom_engine::{config, Cluster, Length, Refusal, Time};
use lightloom_photonics::circuit_switch::{Constraint, SwitchDesign, SWITCHES};
use lightloom_photonics::switch_link::CircuitBudget;
use lightloom_photonics::Named;
use serde_json::{json, Value};

/// The constraints of a fabric on its switch, and the keys of the fabric that follow the switch.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The key of the time in which circuits are dark.
    pub settle: &'static str,
    /// The key of its standard deviation, if the fabric has one.
    pub deviation: Option<&'static str>,
    /// The key of the ports; without one, every rack uses one port of each switch.
    pub ports: Option<&'static str>,
    /// Kinds of switches that can light its circuits.
    pub takes: &'static [Constraint],
}

/// The switch that a table names, if it names one.
///
/// # Errors
/// If a key of the design is wrong.
pub fn named(table: &Value) -> Result<Option<SwitchDesign>, Refusal> {
    let named = table.get("devices").filter(|named| !named.is_null());
    let read = |named| Named::<SwitchDesign>::read(named, AT).map(|named| named.0);
    named.map(read).transpose()
}

impl Asked {
    /// The table with the values that follow from its switch, if it names one.
    ///
    /// # Errors
    /// If the switch is refused, or if a key contradicts it.
    pub fn lay<C: FabricConfig>(&self, table: &Value, cluster: &Cluster) -> Result<Value, Refusal> {
        let Some(switch) = named(table)? else {
            return Ok(table.clone());
        };
        switch.check(AT)?;
        let budget = switch.budget(AT)?;
        self.refuse(&switch, cluster.racks)?;
        let follows = self.following(&switch);
        let mut laid = lay::<C>(table, &follows)?;
        laid["devices"] = json!(switch);
        refuse_fibre(&laid, budget.as_ref())?;
        let config = config::read::<C>(&laid, "fabric")?;
        let resolved = config.resolve(cluster);
        resolved.map_err(|refusal| explained(refusal, table, &follows))?;
        Ok(laid)
    }

    fn following(&self, switch: &SwitchDesign) -> Vec<Following> {
        let mut follows = vec![Following::new(self.settle, switch.settle, "settle")];
        if let Some(key) = self.deviation {
            let deviation = switch.deviation.unwrap_or_default();
            follows.push(Following::new(key, deviation, "deviation"));
        }
        follows.extend(
            self.ports
                .map(|key| Following::new(key, switch.ports, "ports")),
        );
        follows
    }

    fn refuse(&self, switch: &SwitchDesign, racks: u32) -> Result<(), Refusal> {
        if !self.takes.contains(&switch.constraint) {
            let (key, value) = (format!("{AT}.constraint"), json!(switch.constraint));
            let remedy = format!("use one of {}", fitting(self.takes));
            return Err(Refusal::new(key, value, unfit(switch.constraint), remedy));
        }
        if self.ports.is_some() || racks <= switch.ports {
            return Ok(());
        }
        let limit = format!("each of the {racks} racks (cluster.racks) takes a port");
        let remedy = "use a switch of more ports, or fewer racks";
        Err(Refusal::new(
            format!("{AT}.ports"),
            switch.ports,
            limit,
            remedy,
        ))
    }
}

/// The reason why such a switch cannot light the circuits.
fn unfit(has: Constraint) -> &'static str {
    match has {
        Constraint::Matching => {
            "a schedule lets a rack send to one rack and receive from another, but its light passes in both directions"
        }
        Constraint::Rotor => "it rotates through fixed matchings, but here a policy decides",
        Constraint::Multicast => "it has circuits of one direction",
    }
}

/// Names of the suitable switches of papers.
fn fitting(takes: &[Constraint]) -> String {
    let fit = SWITCHES
        .iter()
        .filter(|switch| takes.contains(&switch.constraint));
    config::list(&fit.map(|switch| switch.name).collect::<Vec<_>>())
}

/// Refuses fibres with which the link budget does not close.
fn refuse_fibre(table: &Value, budget: Option<&CircuitBudget>) -> Result<(), Refusal> {
    let Some(budget) = budget else {
        return Ok(());
    };
    let propagation: Time = match table.get("propagation").and_then(Value::as_str) {
        // An unreadable value is refused together with the other keys.
        Some(text) => text.parse().unwrap_or_default(),
        None => Time::ZERO,
    };
    let fibre = Length::of_delay(propagation);
    if fibre <= budget.reach {
        return Ok(());
    }
    let limit = format!(
        "light passes {fibre} of fibre, but {AT} reach {}: {}",
        budget.reach, budget.reach_by
    );
    let remedy = format!("lower it, or {AT}.loss or {AT}.link.margin");
    let key = "fabric.propagation";
    Err(Refusal::new(key, propagation, limit, remedy))
}

/// The record of a switch: the design, and its link budget if its loss is known.
pub fn record(devices: Option<Named<SwitchDesign>>) -> Option<Value> {
    let switch = devices?.0;
    let mut said = json!(switch);
    // A budget that does not close was refused when the table was completed.
    said["budget"] = json!(switch.budget(AT).ok().flatten());
    Some(said)
}
