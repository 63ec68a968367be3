//! Fabrics that name their circuit switch: how long it is dark, and how many ports it has.

use super::{explained, lay, Following, AT};
use crate::contract::FabricConfig;
use lightloom_engine::{config, Cluster, Refusal};
use lightloom_photonics::circuit_switch::{Constraint, SwitchDesign};
use lightloom_photonics::Named;
use serde_json::{json, Value};

/// What a fabric asks of its switch, and by which of its keys it obeys it.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The key of the time in which circuits are dark.
    pub settle: &'static str,
    /// That of its standard deviation, where the fabric has one.
    pub deviation: Option<&'static str>,
    /// That of the ports; without one every rack takes a port of each switch.
    pub ports: Option<&'static str>,
    /// What its circuits are.
    pub constraint: Constraint,
}

impl Asked {
    /// The table with what follows from the switch that it names, if it names one.
    ///
    /// # Errors
    /// Of the switch, or of a key that contradicts it.
    pub fn lay<C: FabricConfig>(&self, table: &Value, cluster: &Cluster) -> Result<Value, Refusal> {
        let Some(named) = table.get("devices").filter(|named| !named.is_null()) else {
            return Ok(table.clone());
        };
        let switch = Named::<SwitchDesign>::read(named, AT)?.0;
        switch.check(AT)?;
        self.refuse(&switch, cluster.racks)?;
        let follows = self.following(&switch);
        let mut laid = lay::<C>(table, &follows)?;
        laid["devices"] = json!(switch);
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
        if (self.constraint, switch.constraint) == (Constraint::Multicast, Constraint::Matching) {
            let key = format!("{AT}.constraint");
            let limit = "a schedule joins a rack to one and hears it from another, and light goes \
                         both ways";
            let remedy = "use \"wss-ring\", or a switch that is no \"matching\"";
            return Err(Refusal::new(key, "\"matching\"", limit, remedy));
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

/// What is recorded of a switch.
pub fn record(devices: Option<Named<SwitchDesign>>) -> Option<Value> {
    devices.map(|named| json!(named.0))
}
