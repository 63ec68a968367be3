//! The switch that circuits are decided for: racks, planes, ports.

use lightloom_engine::{Rate, Refusal};
use serde::{Deserialize, Serialize};

/// Racks with ports on one or several optical switches in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hardware {
    /// Racks.
    pub racks: u32,
    /// Optical switches in parallel.
    pub planes: u32,
    /// Ports of a rack on each plane, usually 1.
    pub ports: u32,
    /// What a circuit carries, each way [b/s].
    #[serde(with = "rate_bps", rename = "rate_bps")]
    pub rate: Rate,
}

mod rate_bps {
    use super::{Deserialize, Rate};
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(rate: &Rate, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_u64(rate.0)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Rate, D::Error> {
        u64::deserialize(d).map(Rate)
    }
}

impl Hardware {
    /// Racks with one port on each plane.
    pub fn new(racks: u32, planes: u32, rate: Rate) -> Hardware {
        Hardware {
            racks,
            planes,
            ports: 1,
            rate,
        }
    }

    /// Where the port of a rack on a plane is in columns of ports.
    pub fn port(&self, rack: u32, plane: u32) -> usize {
        plane as usize * self.racks as usize + rack as usize
    }

    /// Refuses a port that the switch does not have.
    ///
    /// # Errors
    /// Names the rack and the plane.
    pub fn check_port(&self, rack: u32, plane: u32) -> Result<(), Refusal> {
        if rack < self.racks && plane < self.planes {
            return Ok(());
        }
        let (racks, planes) = (self.racks - 1, self.planes - 1);
        let limit = format!("the racks are 0 to {racks}, the planes 0 to {planes}");
        let value = format!("rack {rack} on plane {plane}");
        Err(Refusal::new(
            "port",
            value,
            limit,
            "name a port that exists",
        ))
    }

    /// How long such a column is.
    pub fn columns(&self) -> usize {
        self.racks as usize * self.planes as usize
    }

    /// Refuses what a policy of single circuits a rack cannot use.
    ///
    /// # Errors
    /// Names `planes` or `ports`.
    pub fn require_one_port(&self, policy: &str) -> Result<(), Refusal> {
        let refuse = |key, value| {
            let limit = format!("{policy} decides for one port of each rack");
            Err(Refusal::new(key, value, limit, "use 1"))
        };
        match (self.planes, self.ports) {
            (1, 1) => Ok(()),
            (1, ports) => refuse("ports", ports),
            (planes, _) => refuse("planes", planes),
        }
    }
}
