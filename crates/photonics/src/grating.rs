//! The grating as a device: its loss and its crosstalk.
//!
//! **Loss** is calibrated to one point, at most 6 dB at 100 ports (Sirius §4.5). Over the ports it
//! has the shape of a grating whose free spectral range equals all its channels: the outermost
//! channels lose about 3 dB more than the middle (Smit and van Dam, IEEE JSTQE 2(2), 1996). The
//! division of the 6 dB is not unique; set `loss` if a data sheet states it.
//!
//! **Crosstalk** is counted: if all inputs use one wavelength, every other input leaks at the
//! signal's own wavelength, two from neighbouring ports and G − 3 from the others. Second-order
//! leakage, reflections and the grating's polarisation are not modelled.

use crate::awgr::Awgr;
use crate::quantity::Decibel;
use lightloom_engine::{check_range, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Loss of the worst path of 100 ports (Sirius §4.5).
const LOSS: Decibel = Decibel(6.0);
const LOSS_PORTS: f64 = 100.0;
/// Loss of the outermost channel minus that of the middle one (Smit and van Dam 1996).
const NON_UNIFORMITY: Decibel = Decibel(3.0);
/// Difference between the leakage from neighbouring ports and from other ports [dB]; assumed.
const FARTHER: f64 = 10.0;
/// The largest number of ports of a prototype (Cheung et al., quoted by Sirius §3.1).
const PORTS_MAX: u32 = 512;

/// A grating of the core.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Grating {
    /// G: number of ports on each side [count]; gratings of 100 ports are sold, one of 512 ports
    /// was demonstrated (Sirius §3.1). Default 16, which connect 4,096 racks of 256 uplinks (§4.1).
    #[schemars(range(min = 1, max = 512))]
    pub ports: u32,
    /// Loss of the worst path [dB]. Default: derived from the number of ports, 6 dB for 100 (Sirius
    /// §4.5).
    pub loss: Option<Decibel>,
    /// Leakage from each neighbouring port [dB], a negative value. Default: crosstalk is not
    /// counted, as in the paper's link budget.
    pub adjacent: Option<Decibel>,
    /// Leakage from each port farther away [dB]. Default: 10 dB below `adjacent` (assumed).
    pub non_adjacent: Option<Decibel>,
}

impl Default for Grating {
    fn default() -> Self {
        Grating {
            ports: 16,
            loss: None,
            adjacent: None,
            non_adjacent: None,
        }
    }
}

/// The wavelengths that the inputs of a grating use in a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wavelengths {
    /// All inputs use wavelength t in slot t (Sirius §4.2); crosstalk is in-band.
    #[default]
    Common,
    /// Input i uses wavelength i + t, for odd G; crosstalk is out of band.
    OutOfBand,
}

impl Wavelengths {
    /// The wavelength of an input in a slot.
    pub fn at(self, grating: Awgr, input: u32, slot: u32) -> u32 {
        match self {
            Wavelengths::Common => slot % grating.ports,
            Wavelengths::OutOfBand => (input + slot) % grating.ports,
        }
    }

    /// The output that an input reaches in a slot.
    pub fn output(self, grating: Awgr, input: u32, slot: u32) -> u32 {
        grating.output(input, self.at(grating, input, slot))
    }
}

/// Light of other inputs at an output, relative to the signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Interference {
    /// Sum of the leaks at the signal's wavelength, which beat with it.
    pub in_band: f64,
    /// Sum of the squares of leaks at other wavelengths, which only add power.
    pub out_of_band_squares: f64,
}

/// Loss of the outermost of `ports` channels minus that of the middle one [dB].
fn edge(ports: f64) -> f64 {
    NON_UNIFORMITY.0 * ((ports - 1.0) / ports).powi(2)
}

impl Grating {
    /// Its routing function.
    pub fn awgr(&self) -> Awgr {
        Awgr { ports: self.ports }
    }

    /// Loss of the worst path.
    pub fn worst_loss(&self) -> Decibel {
        let by_ports = LOSS.0 - edge(LOSS_PORTS) + edge(f64::from(self.ports));
        self.loss.unwrap_or(Decibel(by_ports))
    }

    /// Loss of the worst path minus that of the best.
    pub fn spread(&self) -> Decibel {
        Decibel(edge(f64::from(self.ports)))
    }

    /// The number of other inputs whose outputs are neighbours, and of those farther away: 2 and G
    /// − 3 if the grating is large enough.
    pub fn others(&self) -> (u32, u32) {
        let others = self.ports - 1;
        (others.min(2), others.saturating_sub(2))
    }

    /// The light that leaks into an output if every input sends in every slot.
    pub fn interference(&self, wavelengths: Wavelengths) -> Interference {
        let Some(adjacent) = self.adjacent else {
            return Interference::default();
        };
        let farther = self.non_adjacent.unwrap_or(Decibel(adjacent.0 - FARTHER));
        let (near, far) = self.others();
        let sum = |power: i32| {
            f64::from(near) * adjacent.ratio().powi(power)
                + f64::from(far) * farther.ratio().powi(power)
        };
        match wavelengths {
            Wavelengths::Common => Interference {
                in_band: sum(1),
                ..Interference::default()
            },
            Wavelengths::OutOfBand => Interference {
                out_of_band_squares: sum(2),
                ..Interference::default()
            },
        }
    }

    /// Refuses values that no grating can have.
    ///
    /// # Errors
    /// Names keys below `at`.
    pub fn check(&self, at: &str, wavelengths: Wavelengths) -> Result<(), Refusal> {
        check_range(format!("{at}.grating.ports"), self.ports, 1..=PORTS_MAX)?;
        let loss = self.worst_loss();
        let none_to_60 = Decibel(0.0)..=Decibel(60.0);
        check_range(format!("{at}.grating.loss"), loss, none_to_60)?;
        for (key, leak) in [
            ("adjacent", self.adjacent),
            ("non_adjacent", self.non_adjacent),
        ] {
            let range = Decibel(-100.0)..=Decibel(0.0);
            let key = format!("{at}.grating.{key}");
            check_range(key, leak.unwrap_or_default(), range)?;
        }
        if let (None, Some(farther)) = (self.adjacent, self.non_adjacent) {
            let key = format!("{at}.grating.non_adjacent");
            let remedy = format!("give {at}.grating.adjacent, too");
            return Err(Refusal::new(
                key,
                farther,
                "no crosstalk of neighbours is given",
                remedy,
            ));
        }
        if wavelengths == Wavelengths::OutOfBand && self.ports.is_multiple_of(2) {
            // Hall and Paige 1955: cyclic groups of even order have no complete mapping.
            let limit = "with an even number of ports, no schedule gives each input its own \
                         wavelength and its own output";
            let remedy = format!("take {} ports, or wavelengths = \"common\"", self.ports - 1);
            let key = format!("{at}.grating.ports");
            return Err(Refusal::new(key, self.ports, limit, remedy));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The number of other inputs at the signal's wavelength at output `to` in slot `t`, divided by
    /// whether their own output is a neighbour.
    fn at_the_same_wavelength(g: Awgr, plan: Wavelengths, to: u32, t: u32) -> (u32, u32) {
        let input = (0..g.ports).find(|&i| plan.output(g, i, t) == to).unwrap();
        let mine = plan.at(g, input, t);
        let others = (0..g.ports).filter(|&i| i != input && plan.at(g, i, t) == mine);
        let neighbour = |i: u32| {
            let apart = plan.output(g, i, t).abs_diff(to);
            apart == 1 || apart == g.ports - 1
        };
        let (near, far): (Vec<u32>, Vec<u32>) = others.partition(|&i| neighbour(i));
        (near.len() as u32, far.len() as u32)
    }

    #[test]
    fn who_is_at_which_wavelength_counts_as_the_formula_does() {
        for ports in 1..=33 {
            let grating = Grating {
                ports,
                adjacent: Some(Decibel(-30.0)),
                ..Grating::default()
            };
            for (to, t) in (0..ports).flat_map(|to| (0..ports).map(move |t| (to, t))) {
                let g = grating.awgr();
                let common = at_the_same_wavelength(g, Wavelengths::Common, to, t);
                assert_eq!(common, grating.others());
                if !ports.is_multiple_of(2) {
                    let own = at_the_same_wavelength(g, Wavelengths::OutOfBand, to, t);
                    assert_eq!(own, (0, 0));
                }
            }
            if ports >= 3 {
                // X = 2·10^(adj/10) + (G − 3)·10^(non/10).
                let x = 2e-3 + f64::from(ports - 3) * 1e-4;
                let counted = grating.interference(Wavelengths::Common).in_band;
                assert!((counted - x).abs() < 1e-15, "{ports}: {counted}");
            }
        }
    }

    #[test]
    fn no_even_grating_has_a_schedule_out_of_band() {
        fn complete(g: u32, input: u32, used: u32, reached: u32) -> bool {
            input == g
                || (0..g).any(|w| {
                    let to = (input + w) % g;
                    used >> w & 1 == 0
                        && reached >> to & 1 == 0
                        && complete(g, input + 1, used | 1 << w, reached | 1 << to)
                })
        }
        for ports in 1..=9 {
            let grating = Grating {
                ports,
                ..Grating::default()
            };
            let exists = complete(ports, 0, 0, 0);
            assert_eq!(
                exists,
                grating.check("devices", Wavelengths::OutOfBand).is_ok()
            );
        }
    }

    #[test]
    fn loss_is_the_papers_at_100_ports_and_grows_with_them() {
        let loss = |ports| {
            Grating {
                ports,
                ..Grating::default()
            }
            .worst_loss()
            .0
        };
        assert!((loss(100) - 6.0).abs() < 1e-12);
        assert!((1..512).all(|ports| loss(ports) <= loss(ports + 1)));
        assert!(loss(512) < 6.1);
    }

    proptest! {
        #[test]
        fn every_slot_is_a_permutation_and_every_pair_meets_once(half in 0u32..60, odd: bool) {
            let (plan, ports) = if odd {
                (Wavelengths::OutOfBand, 2 * half + 1)
            } else {
                (Wavelengths::Common, half + 1)
            };
            let g = Awgr { ports };
            for input in 0..ports {
                let mut met: Vec<u32> = (0..ports).map(|t| plan.output(g, input, t)).collect();
                met.sort_unstable();
                prop_assert!(met.into_iter().eq(0..ports));
            }
            for t in 0..ports {
                let mut reached: Vec<u32> = (0..ports).map(|i| plan.output(g, i, t)).collect();
                reached.sort_unstable();
                prop_assert!(reached.into_iter().eq(0..ports));
            }
        }
    }
}
