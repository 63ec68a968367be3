//! The switch that circuits are decided for: racks, planes, ports.

use lightloom_engine::{check_range, Rate, Refusal, Time};
use serde::{Deserialize, Serialize};

/// Most racks, as demand is a matrix of all pairs; most ports of each on a plane, too.
const RACKS_MAX: u32 = 4_096;
const PLANES_MAX: u32 = 128;
const RATE_MAX: Rate = Rate(1_000_000_000_000_000);

/// Two racks: the lower first where circuits carry both directions, else the one that
/// sends.
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
    /// The night to plan for: nothing is sent for so long in each slot.
    pub night: Time,
    /// No slot is shorter, its night included.
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
    /// Racks with one port on each plane.
    pub fn new(racks: u32, planes: u32, rate: Rate) -> Hardware {
        Hardware {
            racks,
            planes,
            ports: 1,
            rate,
        }
    }

    /// Refuses a switch that cannot be, or is larger than any that is decided for.
    ///
    /// # Errors
    /// Names `racks`, `planes`, `ports` or `rate_bps`.
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

    /// Refuses pairs of racks that the switch does not have, or of a rack with itself.
    ///
    /// # Errors
    /// Names the first such pair.
    pub fn check_pairs(&self, pairs: &[Pair]) -> Result<(), Refusal> {
        let is_odd = |&(_, &(a, b)): &(usize, &Pair)| a == b || a.max(b) >= self.racks;
        let Some((at, (a, b))) = pairs.iter().enumerate().find(is_odd) else {
            return Ok(());
        };
        let limit = format!("two of the racks 0 to {}", self.racks - 1);
        let (key, value) = (format!("pairs[{at}]"), format!("({a}, {b})"));
        Err(Refusal::new(key, value, limit, "name racks that exist"))
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
