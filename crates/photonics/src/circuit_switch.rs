//! Circuit switches other than gratings: rings of wavelength-selective switches (Mordia), MEMS
//! mirrors (c-Through, HydRA) and rotors (RotorNet, Opera). The module describes their possible
//! circuits, the duration of a change and the loss of a circuit ([`crate::switch_link`]).
//!
//! Settle times are those of the papers. The papers state no losses: those of the presets are
//! assumed, and in a user's own table a loss is `None` unless it is given. Power monitoring and
//! mirror drift are not modelled.

use crate::named::Preset;
use crate::quantity::Decibel;
use crate::switch_link::{CircuitBudget, SwitchLink, ER, LR};
use lightloom_engine::{check_range, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sets of circuits that a switch can have at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Constraint {
    /// Every output receives from one input, and several outputs may receive from the same input
    /// (Mordia §2: every input has a wavelength that passes all outputs).
    Multicast,
    /// A matching: every port has one partner, and circuits are bidirectional (c-Through §3, HydRA
    /// §II, for each plane).
    Matching,
    /// One of a few fixed permutations, through which the switch steps for any demand (RotorNet,
    /// Opera).
    Rotor,
}

/// A circuit switch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CircuitSwitch {
    /// The name of the switch.
    pub name: &'static str,
    /// The source of its figures.
    pub source: &'static str,
    /// The largest number of ports.
    pub ports: u32,
    /// The sets of circuits that the switch can have at the same time. Required without a preset.
    pub constraint: Constraint,
    /// The mean time between the last light before a change and the first light after it.
    pub settle: Time,
    /// The standard deviation of this time, if it was measured.
    pub deviation: Option<Time>,
    /// Loss of a path, if known.
    pub loss: Option<Decibel>,
    /// The transceivers at the ends of its circuits and the losses between them.
    pub link: SwitchLink,
}

/// Switches with some hundred mirrors lose up to 2 or 3 dB; assumed for every preset with mirrors.
const MIRRORS: Option<Decibel> = Some(Decibel(3.0));

/// Switches of the papers.
pub const SWITCHES: [CircuitSwitch; 5] = [
    CircuitSwitch {
        name: "wss-ring",
        source: "Mordia (SIGCOMM 2013): 24 wavelengths of 44 in the C-band; 11.55 us, σ 2.36 us, N = 705",
        ports: 44,
        constraint: Constraint::Multicast,
        settle: Time(11_550_000),
        deviation: Some(Time(2_360_000)),
        // One wavelength-selective switch loses 5 to 8 dB; amplifiers are assumed to compensate for
        // the rest of the ring.
        loss: Some(Decibel(6.0)),
        link: ER,
    },
    CircuitSwitch {
        name: "mems-cthrough",
        source: "c-Through (SIGCOMM 2010): 320 ports sold; 10 ms, as its testbed waits",
        ports: 320,
        constraint: Constraint::Matching,
        settle: Time(10 * Time::MS.0),
        deviation: None,
        loss: MIRRORS,
        link: LR,
    },
    CircuitSwitch {
        name: "mems-hydra",
        source: "HydRA (§I): 320 ports; tens to hundreds of ms, taken as 100 ms",
        ports: 320,
        constraint: Constraint::Matching,
        settle: Time(100 * Time::MS.0),
        deviation: None,
        loss: MIRRORS,
        link: LR,
    },
    CircuitSwitch {
        name: "rotor-rotornet",
        source: "RotorNet (SIGCOMM 2017): its design of 2,048 ports; 20 us",
        ports: 2_048,
        constraint: Constraint::Rotor,
        settle: Time(20 * Time::US.0),
        deviation: None,
        loss: MIRRORS,
        link: LR,
    },
    CircuitSwitch {
        name: "rotor-opera",
        source: "Opera (NSDI 2020): a port for each of the 108 racks of its set-up; 10 us",
        ports: 108,
        constraint: Constraint::Rotor,
        settle: Time(10 * Time::US.0),
        deviation: None,
        loss: MIRRORS,
        link: LR,
    },
];

/// An optical circuit switch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchDesign {
    /// Largest number of ports [count]. Required without a preset.
    #[schemars(range(min = 2, max = 4096))]
    pub ports: u32,
    /// The sets of circuits that the switch can have at the same time. Required without a preset.
    pub constraint: Constraint,
    /// Mean time of a reconfiguration, from the last light before it to the first light after it
    /// [time]. Required without a preset.
    pub settle: Time,
    /// Standard deviation of `settle` [time]. Default: none was measured.
    #[serde(default)]
    pub deviation: Option<Time>,
    /// Loss of a path through the switch [dB]. Default: unknown; no link budget is then computed.
    #[serde(default)]
    pub loss: Option<Decibel>,
    /// Transceivers at both ends of a circuit, and the losses besides the switch.
    #[serde(default)]
    pub link: SwitchLink,
}

impl From<CircuitSwitch> for SwitchDesign {
    fn from(switch: CircuitSwitch) -> SwitchDesign {
        SwitchDesign {
            ports: switch.ports,
            constraint: switch.constraint,
            settle: switch.settle,
            deviation: switch.deviation,
            loss: switch.loss,
            link: switch.link,
        }
    }
}

impl Preset for SwitchDesign {
    fn presets() -> Vec<(&'static str, &'static str, SwitchDesign)> {
        let of = |switch: CircuitSwitch| (switch.name, switch.source, switch.into());
        SWITCHES.map(of).into()
    }
}

/// The largest number of ports that is accepted.
const PORTS_MAX: u32 = 4_096;

impl SwitchDesign {
    /// Refuses values that no switch can have.
    ///
    /// # Errors
    /// Names keys below `at`.
    pub fn check(&self, at: &str) -> Result<(), Refusal> {
        check_range(format!("{at}.ports"), self.ports, 2..=PORTS_MAX)?;
        check_range(format!("{at}.settle"), self.settle, Time::ZERO..=Time::S)?;
        let deviation = self.deviation.unwrap_or_default();
        check_range(
            format!("{at}.deviation"),
            deviation,
            Time::ZERO..=self.settle,
        )?;
        let loss = self.loss.unwrap_or_default();
        check_range(format!("{at}.loss"), loss, Decibel(0.0)..=Decibel(60.0))?;
        self.link.check(at)
    }

    /// The link budget of its circuits; `None` if its loss is not known.
    ///
    /// # Errors
    /// If the budget does not close; keys are below `at`.
    pub fn budget(&self, at: &str) -> Result<Option<CircuitBudget>, Refusal> {
        self.loss.map(|loss| self.link.budget(at, loss)).transpose()
    }
}

impl CircuitSwitch {
    /// Refuses circuits (input, output) that the switch cannot have at the same time.
    ///
    /// # Errors
    /// For the first circuit for which the switch has no port or no light.
    pub fn admit(&self, circuits: &[(u32, u32)]) -> Result<(), Refusal> {
        let mut hears = vec![None; self.ports as usize];
        let mut speaks = vec![None; self.ports as usize];
        for &(input, output) in circuits {
            let refuse = |limit: String| {
                let circuit = format!("{input} -> {output}");
                Refusal::new("circuits", circuit, limit, "remove one")
            };
            if input.max(output) >= self.ports {
                let last = self.ports - 1;
                return Err(refuse(format!("ports are 0 to {last}")));
            }
            if let Some(other) = hears[output as usize].replace(input) {
                return Err(refuse(format!(
                    "output {output} already receives from {other}"
                )));
            }
            let other = speaks[input as usize].replace(output);
            if let (false, Some(other)) = (self.constraint == Constraint::Multicast, other) {
                return Err(refuse(format!(
                    "input {input} is already connected to {other}"
                )));
            }
        }
        if self.constraint != Constraint::Matching {
            return Ok(());
        }
        let one_way = circuits
            .iter()
            .find(|(a, b)| speaks[*b as usize].is_some_and(|back| back != *a));
        one_way.map_or(Ok(()), |(a, b)| {
            let limit = format!(
                "light passes in both directions, and {b} is already connected to another port"
            );
            Err(Refusal::new(
                "circuits",
                format!("{a} -> {b}"),
                limit,
                "remove one",
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_ring_casts_to_many_and_mirrors_do_not() {
        let [ring, mirrors, ..] = SWITCHES;
        let both = [(0, 1), (0, 2)];
        assert_eq!(ring.admit(&both), Ok(()));
        let told = mirrors.admit(&both).unwrap_err().to_string();
        assert_eq!(
            told,
            "circuits = 0 -> 2: input 0 is already connected to 1; remove one"
        );
        assert!(ring.admit(&[(0, 2), (1, 2)]).is_err());
        assert!(ring.admit(&[(44, 0)]).is_err());
        assert_eq!(mirrors.admit(&[(0, 1), (1, 0)]), Ok(()));
        assert!(mirrors.admit(&[(0, 1), (1, 2)]).is_err());
    }

    proptest! {
        #[test]
        fn a_ring_has_any_permutation_and_mirrors_those_that_undo_themselves(
            outputs in Just((0u32..8).collect::<Vec<_>>()).prop_shuffle()
        ) {
            let circuits: Vec<_> = (0u32..).zip(outputs.iter().copied()).collect();
            prop_assert!(SWITCHES[0].admit(&circuits).is_ok());
            let matched = circuits.iter().all(|&(a, b)| outputs[b as usize] == a);
            prop_assert_eq!(SWITCHES[1].admit(&circuits).is_ok(), matched);
            prop_assert!(SWITCHES[3].admit(&circuits).is_ok());
        }
    }
}
