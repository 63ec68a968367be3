//! Racks, and the parallel switches that connect them.

use lightloom_engine::Refusal;

/// The most planes.
pub const MAX_PLANES: u32 = 128;

/// Racks and the planes that connect them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hardware {
    /// N.
    pub racks: u32,
    /// K: parallel switches.
    pub planes: u32,
    /// Z: ports of a rack on each plane, usually 1.
    pub ports: u32,
    /// Ports of each switch, at least N · Z.
    pub radix: u32,
    /// Capacity of a circuit each way, in the unit of [`super::Demand::need`].
    pub capacity: i64,
}

impl Hardware {
    /// Racks with one port on each plane, and switches of minimum size.
    pub fn new(racks: u32, planes: u32, capacity: i64) -> Hardware {
        Hardware {
            racks,
            planes,
            ports: 1,
            radix: racks,
            capacity,
        }
    }

    /// Refuses hardware that cannot be built.
    ///
    /// # Errors
    /// Fewer than two racks; no planes or more than [`MAX_PLANES`]; no ports, or
    /// more than the switches have; a capacity that is not positive.
    ///
    /// ```
    /// use lightloom_control::algorithms::multihop::Hardware;
    /// let hydra = Hardware::new(320, 32, 10_000_000_000);
    /// assert!(hydra.check().is_ok());
    /// let twice = Hardware { ports: 2, ..hydra };
    /// assert_eq!(
    ///     twice.check().unwrap_err().to_string(),
    ///     "ports = 2: 640 ports on each plane, more than the 320 that its switch has; \
    ///      lower ports or racks, or raise radix"
    /// );
    /// ```
    pub fn check(&self) -> Result<(), Refusal> {
        let at_least = |key, value: i64, least: i64| match value >= least {
            true => Ok(()),
            false => Err(Refusal::new(
                key,
                value,
                format!("at least {least}"),
                "raise it",
            )),
        };
        at_least("racks", self.racks.into(), 2)?;
        at_least("planes", self.planes.into(), 1)?;
        at_least("ports", self.ports.into(), 1)?;
        at_least("capacity", self.capacity, 1)?;
        if self.planes > MAX_PLANES {
            return Err(Refusal::new(
                "planes",
                self.planes,
                format!("at most {MAX_PLANES}"),
                "lower it",
            ));
        }
        let used = u64::from(self.racks) * u64::from(self.ports);
        if used > self.radix.into() {
            return Err(Refusal::new(
                "ports",
                self.ports,
                format!(
                    "{used} ports on each plane, more than the {} that its switch has",
                    self.radix
                ),
                "lower ports or racks, or raise radix",
            ));
        }
        Ok(())
    }
}
