//! Failures in a network of bundles, and the links that remain.
//!
//! A rack's uplinks go to the aggregation switches of its pod in turn, and a pod's to the core's
//! switches in equal shares, so a failed switch removes an equal share of every bundle that ends at
//! it. Both directions of a link fail together.
//!
//! All switches react at once, as with back-pressure: a link that fails still delivers the packet
//! that is on it, and takes no other. No packet is therefore lost, and the remaining capacity is
//! the most that any electrical network could have. The failure of a rack's own switch also cuts
//! off its servers, in this network as in all others, and is refused.

use lightloom_engine::{Command, Element, Refusal, Rejected, SwitchTier};

/// The assumptions of networks of bundles about failures.
pub const FAILURES: &str = "all switches detect it at once and no packet on a link is lost; \
                            routing protocols take milliseconds";

/// Links between a group of switches and those above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uplinks {
    /// The uplinks of a rack.
    OfRack(u32),
    /// The uplinks of a pod.
    OfPod(u32),
}

/// The switches to which the links lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wiring {
    /// The fabric's kind, for refusals.
    pub fabric: &'static str,
    /// Number of racks.
    pub racks: u32,
    /// Racks of a pod, and the pod's links to the core; `None` if racks are connected to the core.
    pub pod: Option<(u32, u64)>,
    /// Uplinks of a rack.
    pub rack_links: u64,
    /// Aggregation switches of a pod; 0 where there are no pods.
    pub aggregation: u32,
    /// Switches of the core.
    pub core: u32,
}

impl Wiring {
    fn pods(&self) -> u32 {
        self.pod.map_or(0, |(racks, _)| self.racks / racks)
    }

    /// Number of pods with links to the core; zero if there is one pod.
    fn pods_below_core(&self) -> u32 {
        match self.pods() {
            1 => 0,
            pods => pods,
        }
    }

    /// Number of links.
    pub fn links(&self, uplinks: Uplinks) -> u64 {
        match (uplinks, self.pod) {
            (Uplinks::OfPod(_), Some((_, links))) => links,
            _ => self.rack_links,
        }
    }

    /// The switch of the core that a link leads to.
    fn core_of(&self, link: u64, links: u64) -> u64 {
        link * self.core as u64 / links
    }

    /// Whether a link fails with a part.
    fn takes(&self, element: Element, uplinks: Uplinks, link: u64) -> bool {
        match (element, uplinks, self.pod) {
            (Element::Transceiver { node, uplink }, Uplinks::OfRack(rack), _) => {
                node == rack && uplink as u64 == link
            }
            (Element::Switch { tier, index }, Uplinks::OfRack(rack), Some((racks, _))) => {
                let (a, pod) = (self.aggregation as u64, rack / racks);
                tier == SwitchTier::Aggregation && index as u64 == pod as u64 * a + link % a
            }
            (Element::Switch { tier, index }, Uplinks::OfPod(pod), _) => {
                let a = self.aggregation as u64;
                let by_core = self.core_of(link, self.links(uplinks));
                match tier {
                    SwitchTier::Aggregation => index as u64 == pod as u64 * a + link % a,
                    SwitchTier::Core => index as u64 == by_core,
                }
            }
            (Element::Switch { tier, index }, Uplinks::OfRack(_), None) => {
                tier == SwitchTier::Core && index as u64 == self.core_of(link, self.rack_links)
            }
            _ => false,
        }
    }

    /// The bundles that may lose links if a part fails.
    fn touched(&self, element: Element) -> Vec<Uplinks> {
        let all_pods = || (0..self.pods_below_core()).map(Uplinks::OfPod).collect();
        match (element, self.pod) {
            (Element::Transceiver { node, .. }, _) => vec![Uplinks::OfRack(node)],
            (
                Element::Switch {
                    tier: SwitchTier::Core,
                    ..
                },
                None,
            ) => (0..self.racks).map(Uplinks::OfRack).collect(),
            (
                Element::Switch {
                    tier: SwitchTier::Core,
                    ..
                },
                Some(_),
            ) => all_pods(),
            (Element::Switch { index, .. }, Some((racks, _))) => {
                let pod = index / self.aggregation;
                let below = (pod * racks..(pod + 1) * racks).map(Uplinks::OfRack);
                let above = (pod < self.pods_below_core()).then_some(Uplinks::OfPod(pod));
                below.chain(above).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Refuses a number of core switches where no link leads to a core.
    fn refuse_core_of_one_pod(&self, core_switches: Option<u32>) -> Result<(), Refusal> {
        match core_switches {
            Some(switches) if self.pods() == 1 => Err(Refusal::new(
                "fabric.core_switches",
                switches,
                format!(
                    "has no effect: all {} racks are in one pod and nothing passes the core",
                    self.racks
                ),
                "remove it, or lower fabric.racks_per_pod",
            )),
            _ => Ok(()),
        }
    }

    /// Refuses a tier without switches, or with more switches than links lead to it.
    /// `core_switches` is the fabric's key, if it was given.
    ///
    /// # Errors
    /// If a tier has such a number of switches; names the fabric's key.
    pub fn refuse_switches(&self, core_switches: Option<u32>) -> Result<(), Refusal> {
        self.refuse_core_of_one_pod(core_switches)?;
        let of_core = self.pod.map_or(self.rack_links, |(_, links)| links);
        let tiers = [
            ("aggregation_switches", self.aggregation, self.rack_links),
            ("core_switches", self.core, of_core),
        ];
        let wrong = |&(_, switches, links): &(_, u32, u64)| !(1..=links).contains(&switches.into());
        let checked = if self.pod.is_some() {
            &tiers[..]
        } else {
            &tiers[1..]
        };
        match checked.iter().find(|tier| wrong(tier)) {
            None => Ok(()),
            Some((key, switches, links)) => Err(Refusal::new(
                format!("fabric.{key}"),
                switches,
                format!("must be from 1 to the {links} links that lead there from one rack or pod"),
                "leave it out for as many",
            )),
        }
    }

    /// Refuses a part that does not exist.
    fn refuse(&self, element: Element) -> Result<(), Rejected> {
        let fabric = self.fabric;
        let below = |what: &str, n: u64, end: u64| match n < end {
            true => Ok(()),
            false => Err(Rejected(format!(
                "{fabric}'s {what} are 0 to {}; lower it",
                end - 1
            ))),
        };
        match element {
            Element::Transceiver { uplink, .. } => {
                below("uplinks of a rack", uplink as u64, self.rack_links)
            }
            Element::Switch {
                tier: SwitchTier::Core,
                ..
            } if self.pods() == 1 => Err(Rejected(format!(
                "{fabric} of one pod has no core switches; let an aggregation switch fail"
            ))),
            Element::Switch {
                tier: SwitchTier::Core,
                index,
            } => below("core switches", index as u64, self.core as u64),
            Element::Switch { index, .. } if self.pod.is_some() => {
                let switches = self.pods() as u64 * self.aggregation as u64;
                below("aggregation switches", index as u64, switches)
            }
            Element::Switch { .. } => Err(Rejected(format!(
                "{fabric} of two levels has no aggregation switches; let a core switch fail"
            ))),
            Element::Node(_) => Err(Rejected(format!(
                "a failed rack switch disconnects its servers in any network; {fabric} does not \
                 model this; let a transceiver or a switch above the racks fail"
            ))),
            _ => Err(Rejected(format!(
                "{fabric} has no such part; let a transceiver or a switch fail"
            ))),
        }
    }
}

/// The switches and links that have failed.
#[derive(Clone, Debug)]
pub struct Failures {
    wiring: Wiring,
    failed: Vec<Element>,
}

impl Failures {
    /// No failures yet.
    pub fn new(wiring: Wiring) -> Failures {
        Failures {
            wiring,
            failed: Vec::new(),
        }
    }

    /// Makes a part fail or work again; returns the bundles whose links may have changed.
    ///
    /// # Errors
    /// If there is no such part, or if the failure is partial.
    pub fn apply(&mut self, command: Command) -> Result<Vec<Uplinks>, Rejected> {
        let (Command::Fail { element, .. } | Command::Repair(element)) = command;
        self.wiring.refuse(element)?;
        self.failed.retain(|&e| e != element);
        if let Command::Fail { loss, .. } = command {
            if loss < 1.0 {
                return Err(Rejected(format!(
                    "links of {} are up or down, and loss is {loss}; leave loss out",
                    self.wiring.fabric
                )));
            }
            self.failed.push(element);
        }
        Ok(self.wiring.touched(element))
    }

    /// Whether a link is down.
    pub fn is_down(&self, uplinks: Uplinks, link: u64) -> bool {
        { self.failed.iter() }.any(|&element| self.wiring.takes(element, uplinks, link))
    }

    /// Number of links, and number of links that are up.
    pub fn up(&self, uplinks: Uplinks) -> (u64, u64) {
        let links = self.wiring.links(uplinks);
        let up = (0..links).filter(|&link| !self.is_down(uplinks, link));
        (links, up.count() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two pods of two racks: each rack has 6 uplinks to 3 switches, which have 4 links each to a
    /// core of 4.
    fn clos() -> Failures {
        Failures::new(Wiring {
            fabric: "clos",
            racks: 4,
            pod: Some((2, 12)),
            rack_links: 6,
            aggregation: 3,
            core: 4,
        })
    }

    fn fail(element: Element) -> Command {
        Command::Fail { element, loss: 1.0 }
    }

    fn down(failures: &Failures, uplinks: Uplinks) -> Vec<u64> {
        let links = 0..failures.wiring.links(uplinks);
        links.filter(|&l| failures.is_down(uplinks, l)).collect()
    }

    /// Switch 4 is the second of the second pod.
    #[test]
    fn an_aggregation_switch_takes_its_share_of_its_pod_alone() {
        let mut failures = clos();
        let switch = Element::Switch {
            tier: SwitchTier::Aggregation,
            index: 4,
        };
        let touched = failures.apply(fail(switch)).unwrap();
        assert_eq!(
            touched,
            [Uplinks::OfRack(2), Uplinks::OfRack(3), Uplinks::OfPod(1)]
        );
        assert_eq!(down(&failures, Uplinks::OfRack(2)), [1, 4]);
        assert_eq!(down(&failures, Uplinks::OfPod(1)), [1, 4, 7, 10]);
        assert_eq!(failures.up(Uplinks::OfRack(1)), (6, 6));
        assert_eq!(failures.up(Uplinks::OfPod(0)), (12, 12));
    }

    #[test]
    fn a_core_switch_takes_its_share_of_every_pod() {
        let mut failures = clos();
        let switch = Element::Switch {
            tier: SwitchTier::Core,
            index: 3,
        };
        failures.apply(fail(switch)).unwrap();
        assert_eq!(down(&failures, Uplinks::OfPod(0)), [9, 10, 11]);
        assert_eq!(down(&failures, Uplinks::OfPod(1)), [9, 10, 11]);
        assert_eq!(failures.up(Uplinks::OfRack(0)), (6, 6));
    }

    /// Links that two failed parts took down come back when both are repaired.
    #[test]
    fn a_link_is_up_when_nothing_takes_it() {
        let mut failures = clos();
        let cable = Element::Transceiver { node: 2, uplink: 1 };
        let switch = Element::Switch {
            tier: SwitchTier::Aggregation,
            index: 4,
        };
        failures.apply(fail(cable)).unwrap();
        failures.apply(fail(switch)).unwrap();
        failures.apply(Command::Repair(switch)).unwrap();
        assert_eq!(down(&failures, Uplinks::OfRack(2)), [1]);
        failures.apply(Command::Repair(cable)).unwrap();
        assert_eq!(failures.up(Uplinks::OfRack(2)), (6, 6));
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let said = |element| clos().apply(fail(element)).unwrap_err().0;
        let switch = |tier, index| Element::Switch { tier, index };
        let cable = Element::Transceiver { node: 0, uplink: 6 };
        for (element, expect) in [
            (cable, "clos's uplinks of a rack are 0 to 5; lower it"),
            (
                switch(SwitchTier::Core, 4),
                "clos's core switches are 0 to 3; lower it",
            ),
            (
                switch(SwitchTier::Aggregation, 6),
                "clos's aggregation switches are 0 to 5; lower it",
            ),
            (
                Element::Node(0),
                "a failed rack switch disconnects its servers",
            ),
            (Element::Grating(0), "clos has no such part"),
        ] {
            assert!(said(element).starts_with(expect), "{}", said(element));
        }
        let grey = Command::Fail {
            element: switch(SwitchTier::Core, 0),
            loss: 0.5,
        };
        assert!(clos().apply(grey).unwrap_err().0.contains("loss is 0.5"));
        let two_levels = Wiring {
            pod: None,
            ..clos().wiring
        };
        let refused = Failures::new(two_levels).apply(fail(switch(SwitchTier::Aggregation, 0)));
        assert!(refused.unwrap_err().0.contains("two levels"));
    }
}
