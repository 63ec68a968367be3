//! The link budget of a circuit: the launch power, the losses of fibre, connectors and switch, and
//! the power that the receiver needs.
//!
//! The defaults are those of 10GBASE-LR (IEEE 802.3-2012, Tables 52-12 and 52-13): at least −8.2
//! dBm launched and −14.4 dBm received, on average, leave 6.2 dB, penalties included. A circuit
//! crosses one switch. Receiver overload and amplifier noise are not modelled.

use crate::quantity::{rounded, Attenuation, Dbm, Decibel};
use lightloom_engine::{check_range, Length, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The transceivers at both ends of a circuit, and the losses besides the switch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SwitchLink {
    /// Minimum launch power of a transceiver [dBm]. Default -8.2 dBm (10GBASE-LR).
    pub launch: Dbm,
    /// Minimum power at a receiver, including penalties [dBm]. Default -14.4 dBm (10GBASE-LR).
    pub sensitivity: Dbm,
    /// Total loss of the connectors of a circuit [dB]. Default 2 dB: four connectors of 0.5 dB,
    /// assumed.
    pub connectors: Decibel,
    /// Gain of amplifiers in the switch [dB]. Default 0 dB: no amplifiers.
    pub gain: Decibel,
    /// Margin of the link budget [dB]. Default 0.5 dB, assumed.
    pub margin: Decibel,
    /// Longest fibre through the switch [length]. Default 500 m: the span of a large data centre
    /// (Sirius §4.2).
    pub fibre: Length,
    /// Attenuation of fibre [dB/km]. Default 0.4 dB/km, the maximum at 1,310 nm (ITU-T G.652).
    pub attenuation: Attenuation,
}

/// 10GBASE-LR.
pub const LR: SwitchLink = SwitchLink {
    launch: Dbm(-8.2),
    sensitivity: Dbm(-14.4),
    connectors: Decibel(2.0),
    gain: Decibel(0.0),
    margin: Decibel(0.5),
    fibre: Length(500 * Length::M.0),
    attenuation: Attenuation(0.4),
};

/// 10GBASE-ER, at 1,550 nm (IEEE 802.3-2012, Tables 52-16 and 52-17).
pub const ER: SwitchLink = SwitchLink {
    launch: Dbm(-4.7),
    sensitivity: Dbm(-15.8),
    attenuation: Attenuation(0.2),
    ..LR
};

impl Default for SwitchLink {
    fn default() -> Self {
        LR
    }
}

/// Tolerance for rounding of floats.
const ROUNDING: f64 = 1e-9;

/// Removes rounding errors, so that 0.5 dB is printed as 0.5 dB.
fn exact(decibels: f64) -> f64 {
    rounded(decibels, 9)
}

/// Rounds up to hundredths: removing this many decibels meets the budget.
fn enough(decibels: f64) -> f64 {
    (exact(decibels) * 100.0 - ROUNDING).ceil() / 100.0
}

/// A link budget of a circuit and its consequences.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CircuitBudget {
    /// Power at the transceiver.
    pub launch: Dbm,
    /// Losses and margins; the gain of amplifiers is negative.
    pub losses: Vec<(&'static str, Decibel)>,
    /// Power at the receiver with the margin unused.
    pub received: Dbm,
    /// Power that the receiver needs.
    pub sensitivity: Dbm,
    /// Power that remains in addition to the margin.
    pub spare: Decibel,
    /// The longest fibre for which this power suffices, with the margin kept.
    pub reach: Length,
    /// The term that limits the reach.
    pub reach_by: String,
}

impl SwitchLink {
    /// The budget with a switch of this loss.
    ///
    /// # Errors
    /// If the switch's loss exceeds the power that the other losses leave, or if the launch power
    /// does not suffice even without a switch; keys are below `at`.
    pub fn budget(&self, at: &str, loss: Decibel) -> Result<CircuitBudget, Refusal> {
        let fibre = self.lost_in_fibre();
        let others = self.connectors.0 + fibre.0 + self.margin.0 - self.gain.0;
        let left = self.launch.0 - self.sensitivity.0 - others;
        if left < -ROUNDING {
            return Err(self.refuse_rest(at, left));
        }
        let spare = left - loss.0;
        if spare < -ROUNDING {
            return Err(self.refuse_loss(at, loss, left));
        }
        let spare = exact(spare.max(0.0));
        let lights = spare + fibre.0;
        // Whole millimetres; the rounding error of floats is less than a millionth of one.
        let reach = Length((lights / self.attenuation.0 * 1e6 + 1e-6) as u64);
        let mut losses = vec![
            ("switch", loss),
            ("connectors", self.connectors),
            ("fibre", fibre),
            ("margin", self.margin),
        ];
        if self.gain.0 > 0.0 {
            losses.push(("amplifiers", Decibel(-self.gain.0)));
        }
        Ok(CircuitBudget {
            launch: self.launch,
            losses,
            received: Dbm(exact(self.sensitivity.0 + spare + self.margin.0)),
            sensitivity: self.sensitivity,
            spare: Decibel(spare),
            reach,
            reach_by: format!(
                "{} dB that the switch's loss leaves for fibre of {}",
                rounded(lights, 2),
                self.attenuation
            ),
        })
    }

    /// The loss of the longest fibre.
    fn lost_in_fibre(&self) -> Decibel {
        Decibel(exact(self.fibre.0 as f64 / 1e6 * self.attenuation.0))
    }

    /// The parts of a budget other than the switch, as text.
    fn others(&self) -> String {
        let fibre = rounded(self.lost_in_fibre().0, 2);
        let gain = match self.gain.0 > 0.0 {
            true => format!(" and amplifiers give back {}", self.gain),
            false => String::new(),
        };
        format!(
            "connectors take {}, fibre {fibre} dB, the margin {}{gain}",
            self.connectors, self.margin
        )
    }

    fn refuse_loss(&self, at: &str, loss: Decibel, left: f64) -> Refusal {
        let limit = format!(
            "more than the {} dB that are left: {} is launched, the receiver needs {}, {}",
            rounded(left, 2),
            self.launch,
            self.sensitivity,
            self.others()
        );
        let remedy = format!(
            "take a switch that loses {} dB less, or change {at}.link: launch, sensitivity, \
             connectors, gain, margin or fibre",
            enough(loss.0 - left)
        );
        Refusal::new(format!("{at}.loss"), loss, limit, remedy)
    }

    fn refuse_rest(&self, at: &str, left: f64) -> Refusal {
        let limit = format!(
            "{} dB too little for a receiver of {} without any switch: {}",
            rounded(-left, 2),
            self.sensitivity,
            self.others()
        );
        let remedy = format!("raise it, or lower {at}.link.sensitivity or a loss");
        Refusal::new(format!("{at}.link.launch"), self.launch, limit, remedy)
    }

    /// Refuses impossible values.
    ///
    /// # Errors
    /// Names keys below `at`.
    pub fn check(&self, at: &str) -> Result<(), Refusal> {
        let powers = [("launch", self.launch), ("sensitivity", self.sensitivity)];
        for (key, power) in powers {
            check_range(format!("{at}.link.{key}"), power, Dbm(-60.0)..=Dbm(40.0))?;
        }
        for (key, loss) in [
            ("connectors", self.connectors),
            ("gain", self.gain),
            ("margin", self.margin),
        ] {
            let range = Decibel(0.0)..=Decibel(60.0);
            check_range(format!("{at}.link.{key}"), loss, range)?;
        }
        let most = Length(200 * 1_000 * Length::M.0);
        check_range(format!("{at}.link.fibre"), self.fibre, Length(0)..=most)?;
        let range = Attenuation(0.01)..=Attenuation(100.0);
        check_range(format!("{at}.link.attenuation"), self.attenuation, range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit_switch::{SwitchDesign, SWITCHES};
    use proptest::prelude::*;

    const AT: &str = "fabric.devices";

    /// 6.2 dB between transceivers, minus 2 dB, 0.5 dB and 500 m at 0.4 dB/km, leave 3.5 dB.
    #[test]
    fn a_loss_within_the_budget_closes_and_one_beyond_does_not() {
        let within = LR.budget(AT, Decibel(3.5)).unwrap();
        assert!(within.spare.0.abs() < 1e-9, "{within:?}");
        assert!((within.received.0 + 13.9).abs() < 1e-9);
        assert_eq!(within.reach, Length(500 * Length::M.0));
        let told = LR.budget(AT, Decibel(3.51)).unwrap_err().to_string();
        assert_eq!(
            told,
            "fabric.devices.loss = 3.51 dB: more than the 3.5 dB that are left: -8.2 dBm is \
             launched, the receiver needs -14.4 dBm, connectors take 2 dB, fibre 0.2 dB, the \
             margin 0.5 dB; take a switch that loses 0.01 dB less, or change fabric.devices.link: \
             launch, sensitivity, connectors, gain, margin or fibre"
        );
        let told = LR.budget(AT, Decibel(3.500_001)).unwrap_err().to_string();
        assert!(told.contains("that loses 0.01 dB less"), "{told}");
        let weak = SwitchLink {
            launch: Dbm(-12.0),
            ..LR
        };
        let told = weak.budget(AT, Decibel(0.0)).unwrap_err().to_string();
        let expect = "fabric.devices.link.launch = -12 dBm: 0.3 dB too little for a receiver of";
        assert!(told.starts_with(expect), "{told}");
    }

    #[test]
    fn budgets_of_the_presets_close() {
        let spare = SWITCHES.map(|switch| {
            let loss = switch.loss.expect("presets say one");
            let budget = switch.link.budget(AT, loss);
            budget.expect(switch.name).spare
        });
        let expect = [2.5, 0.5, 0.5, 0.5, 0.5];
        for (spare, expect) in spare.iter().zip(expect) {
            assert!((spare.0 - expect).abs() < 1e-9, "{spare:?}");
        }
    }

    #[test]
    fn a_switch_of_unknown_loss_has_no_budget() {
        let design = SwitchDesign {
            loss: None,
            ..SwitchDesign::from(SWITCHES[1])
        };
        assert_eq!(design.budget(AT), Ok(None));
    }

    proptest! {
        /// The launch power minus all losses equals the required power plus the spare power; fibre
        /// as long as the reach leaves no spare power.
        #[test]
        fn lines_add_up(
            loss in 0.0..8.0f64,
            launch in -10.0..5.0f64,
            gain in 0.0..6.0f64,
            metres in 0u64..5_000,
        ) {
            let link = SwitchLink {
                launch: Dbm(launch),
                gain: Decibel(gain),
                fibre: Length(metres * Length::M.0),
                ..LR
            };
            let Ok(budget) = link.budget(AT, Decibel(loss)) else {
                let sum = launch + 14.4 + gain - loss - 2.5 - metres as f64 * 0.4e-3;
                prop_assert!(sum < 0.0);
                return Ok(());
            };
            let lost: f64 = budget.losses.iter().map(|(_, loss)| loss.0).sum();
            prop_assert!((launch - lost - (-14.4 + budget.spare.0)).abs() < 1e-9);
            let longest = SwitchLink { fibre: budget.reach, ..link };
            let left = longest.budget(AT, Decibel(loss)).unwrap().spare.0;
            prop_assert!(left < 1e-6, "{left}");
        }
    }
}
