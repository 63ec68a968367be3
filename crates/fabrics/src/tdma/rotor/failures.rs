//! Rotor switches that fail: a plane whose switch has failed lights no circuit from its next night
//! on.
//!
//! The bytes that its last day carries arrive. All racks detect at once which racks no longer meet:
//! no rack relays for a rack that it would never meet. Bytes that a relay holds for such a rack
//! wait for the repair, as do bytes at a source whose destination it reaches through no relay
//! either.

use crate::tdma::circuits::Circuits;
use crate::tdma::failures::refuse_grey;
use lightloom_engine::{Command, Element, Rejected};

/// Assumption of networks of rotor switches about failures.
pub const FAILURES: &str = "all racks detect a failed rotor switch at once: no rack relays for a \
                            rack to which it has no circuit; pairs without a circuit or a relay \
                            wait. Racks and their uplinks do not fail";

impl Circuits {
    /// Makes a rotor switch fail, or repairs it.
    ///
    /// # Errors
    /// If the network `title` has no such part, or if the failure is partial.
    pub fn set_switch(&mut self, title: &str, command: Command) -> Result<(), Rejected> {
        let (element, works) = match command {
            Command::Fail { element, .. } => (element, false),
            Command::Repair(element) => (element, true),
        };
        let planes = self.planes.len();
        let plane = match element {
            Element::Plane(plane) if (plane as usize) < planes => plane as usize,
            Element::Plane(_) => {
                let last = planes - 1;
                return Err(Rejected(format!(
                    "{title} has planes 0 to {last}; lower it"
                )));
            }
            Element::Controller => {
                return Err(Rejected(format!("{title} has no controller; remove it")))
            }
            _ => {
                return Err(Rejected(format!(
                    "in {title} the rotor switches alone can fail; write element = \"plane\", or \
                     remove it"
                )))
            }
        };
        refuse_grey("switches fail", command)?;
        self.planes[plane].works = works;
        Ok(())
    }
}
