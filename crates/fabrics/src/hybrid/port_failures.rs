//! The optical ports that have failed, by themselves or with their plane's switch: a port works if
//! neither has failed.

use lightloom_control::hardware::Hardware;

/// Assumptions of hybrid networks on failures.
pub const FAILURES: &str = "its controller detects a failed port at once, and the circuits of the \
                            port are dark; without a controller from the start, no circuit is ever \
                            set; a failed plane is modelled as failed ports of all racks to it. \
                            The electrical network beside them does not fail";

/// The condition of all optical ports.
#[derive(Clone, Debug)]
pub struct PortFailures {
    hardware: Hardware,
    /// Whether each port works, by the hardware's port number.
    ports: Vec<bool>,
    /// Whether each plane works.
    planes: Vec<bool>,
}

impl PortFailures {
    /// All work.
    pub fn new(hardware: Hardware) -> PortFailures {
        PortFailures {
            hardware,
            ports: vec![false; hardware.columns()],
            planes: vec![false; hardware.planes as usize],
        }
    }

    /// Lets a port fail or repairs it; returns whether its condition changes.
    pub fn set_port(&mut self, rack: u32, plane: u32, fails: bool) -> bool {
        let port = &mut self.ports[self.hardware.port(rack, plane)];
        let changes = *port != fails;
        *port = fails;
        changes && !self.planes[plane as usize]
    }

    /// Lets a plane fail or repairs it; returns the racks whose ports to it change their condition.
    pub fn set_plane(&mut self, plane: u32, fails: bool) -> Vec<u32> {
        let state = &mut self.planes[plane as usize];
        if *state == fails {
            return Vec::new();
        }
        *state = fails;
        let sound = |&rack: &u32| !self.ports[self.hardware.port(rack, plane)];
        (0..self.hardware.racks).filter(sound).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::Rate;

    #[test]
    fn a_port_works_while_neither_it_nor_its_plane_has_failed() {
        let mut failures = PortFailures::new(Hardware::new(3, 2, Rate::GBPS));
        assert!(failures.set_port(1, 0, true));
        assert_eq!(failures.set_plane(0, true), [0, 2]);
        assert!(!failures.set_port(2, 0, true));
        assert!(!failures.set_port(1, 0, false));
        assert_eq!(failures.set_plane(0, false), [0, 1]);
        assert!(failures.set_port(2, 0, false));
        assert!(failures.set_plane(0, false).is_empty());
        assert!(failures.set_port(1, 1, true));
    }
}
