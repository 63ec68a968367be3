//! The switch for which circuits are decided: racks, planes, ports.

use lightloom_engine::{check_range, Rate, Refusal, Time};
use serde::{Deserialize, Serialize};

/// The largest number of racks, because demand is a matrix of all pairs, and of ports of a rack on
/// a plane.
const RACKS_MAX: u32 = 4_096;
const PLANES_MAX: u32 = 128;
const RATE_MAX: Rate = Rate(1_000_000_000_000_000);

/// Two racks: the lower first if circuits are bidirectional, otherwise the sending rack first.
pub type Pair = (u32, u32);

/// Racks with ports on one or several optical switches in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hardware {
    /// Racks.
    pub racks: u32,
    /// Optical switches in parallel.
    pub planes: u32,
    /// Ports of a rack on each plane, usually 1.
    pub ports: u32,
    /// Rate of a circuit, each way [b/s].
    #[serde(with = "rate_bps", rename = "rate_bps")]
    pub rate: Rate,
}

/// The limits of slots, for a switch that follows schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// The night for which schedules are planned: the dark time of each slot.
    pub night: Time,
    /// The shortest slot, with its night.
    pub shortest: Time,
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
    /// Rate of all circuits that a rack can have at once, each way [b/s].
    pub fn rate_of_rack(&self) -> Rate {
        let circuits = u64::from(self.planes) * u64::from(self.ports);
        Rate(self.rate.0.saturating_mul(circuits))
    }

    /// Racks with one port on each plane.
    pub fn new(racks: u32, planes: u32, rate: Rate) -> Hardware {
        Hardware {
            racks,
            planes,
            ports: 1,
            rate,
        }
    }

    /// Refuses a switch that cannot exist or is larger than supported.
    ///
    /// # Errors
    /// If a value is out of range; names `racks`, `planes`, `ports` or `rate_bps`.
    pub fn check(&self) -> Result<(), Refusal> {
        let ranges = [
            ("racks", self.racks.into(), 2, RACKS_MAX.into()),
            ("planes", self.planes.into(), 1, PLANES_MAX.into()),
            ("ports", self.ports.into(), 1, RACKS_MAX.into()),
            ("rate_bps", self.rate.0, 1, RATE_MAX.0),
        ];
        for (key, value, least, most) in ranges {
            check_range(key, value, least..=most)?;
        }
        Ok(())
    }

    /// The index of a rack's port on a plane in columns of ports.
    pub fn port(&self, rack: u32, plane: u32) -> usize {
        plane as usize * self.racks as usize + rack as usize
    }

    /// Refuses a port that the switch does not have.
    ///
    /// # Errors
    /// If the rack or the plane does not exist.
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

    /// Refuses pairs of racks that the switch does not have, and pairs of a rack with itself.
    ///
    /// # Errors
    /// If there is such a pair; names the first.
    pub fn check_pairs(&self, pairs: &[Pair]) -> Result<(), Refusal> {
        let is_odd = |&(_, &(a, b)): &(usize, &Pair)| a == b || a.max(b) >= self.racks;
        let Some((at, (a, b))) = pairs.iter().enumerate().find(is_odd) else {
            return Ok(());
        };
        let limit = format!("two of the racks 0 to {}", self.racks - 1);
        let (key, value) = (format!("pairs[{at}]"), format!("({a}, {b})"));
        Err(Refusal::new(key, value, limit, "name racks that exist"))
    }

    /// The length of such a column.
    pub fn columns(&self) -> usize {
        self.racks as usize * self.planes as usize
    }

    /// Refuses a switch that a policy for one circuit per rack cannot use.
    ///
    /// # Errors
    /// If there are several planes or ports; names `planes` or `ports`.
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
