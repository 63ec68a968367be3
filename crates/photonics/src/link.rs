//! The link budget, and the number of transceivers that share a laser (Sirius §4.5).
//!
//! The paper's arithmetic: −8 dBm at the receiver, 6 dB of grating, 7 dB of coupling and modulation
//! and 2 dB of margin require 7 dBm. A laser of 16 dBm has 9 dB more, a factor of 7.94, which the
//! paper rounds to 8. `rounding` stands for this: a split into 8 takes 9.03 dB, and 0.05 dB are
//! tolerated. Fibre is part of the 7 dB; its possible length follows from the margin. Dispersion,
//! non-linear effects and ageing are not modelled.

use crate::quantity::{rounded, Attenuation, Dbm, Decibel};
use lightloom_engine::{check_range, Length, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Losses between laser and receiver, besides that of the grating.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Link {
    /// Loss of coupling, modulator and all other parts [dB] (Sirius §4.5).
    pub other: Decibel,
    /// Margin of the link budget [dB] (Sirius §4.5).
    pub margin: Decibel,
    /// Power penalty in addition to that of crosstalk [dB]. Default 0 dB; the paper counts none.
    pub penalty: Decibel,
    /// Excess loss, beyond 3 dB, of each halving of a laser's light [dB]. Default 0 dB; the paper
    /// counts none.
    pub splitter_excess: Decibel,
    /// Number of transceivers that share a laser [count]. Default: the largest number that its
    /// power supplies.
    #[schemars(range(min = 1))]
    pub share: Option<u32>,
    /// Tolerance of the loss of a split [dB], because the paper rounds 7.94 to 8.
    pub rounding: Decibel,
    /// Longest fibre through the grating that the link must support [length]. Default 500 m: the
    /// span of a large data centre (Sirius §4.2).
    pub fibre: Length,
    /// Attenuation of fibre [dB/km]: 0.2 at 1,550 nm (ITU-T G.652, typical).
    pub attenuation: Attenuation,
}

impl Default for Link {
    fn default() -> Self {
        Link {
            other: Decibel(7.0),
            margin: Decibel(2.0),
            penalty: Decibel(0.0),
            splitter_excess: Decibel(0.0),
            share: None,
            rounding: Decibel(0.05),
            fibre: Length(500 * Length::M.0),
            attenuation: Attenuation(0.2),
        }
    }
}

/// The largest number of splitter outputs that is accepted.
const SHARE_MAX: u32 = 1024;

/// A link budget and its consequences.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Budget {
    /// Power at which the receiver has its threshold error rate.
    pub sensitivity: Dbm,
    /// The losses and margins above the sensitivity, from the receiver backwards.
    pub losses: Vec<(&'static str, Decibel)>,
    /// Power that a transceiver needs from its laser.
    pub required: Dbm,
    /// Power of the laser.
    pub laser: Dbm,
    /// Transceivers that the laser's power could feed if a splitter had no excess loss and any
    /// number of outputs.
    pub feeds: f64,
    /// Transceivers that share a laser.
    pub share: u32,
    /// Loss of the splitter.
    pub split: Decibel,
    /// Power at the receiver on the worst path, with penalties and margin unused.
    pub received: Dbm,
    /// The longest fibre that the margin and the remaining power of the laser after the split
    /// allow.
    pub reach: Length,
    /// The terms that limit the reach, the largest first.
    pub reach_by: String,
}

impl Link {
    /// Loss of a split into `share` parts: 10·log₁₀, plus the excess of each halving.
    pub fn split(&self, share: u32) -> Decibel {
        let halvings = f64::from(share).log2().ceil();
        Decibel(Decibel::of(f64::from(share)).0 + halvings * self.splitter_excess.0)
    }

    /// The largest number of transceivers that this surplus feeds; 0 if there is no surplus.
    pub fn most(&self, surplus: Decibel) -> u32 {
        let fits = |share: &u32| self.split(*share).0 <= surplus.0 + self.rounding.0;
        (1..=SHARE_MAX).take_while(fits).last().unwrap_or(0)
    }

    /// Computes the budget.
    ///
    /// # Errors
    /// For the laser's power if it feeds no transceiver, for `share` if the laser feeds fewer, for
    /// the fibre if it is longer than the margin allows; keys are below `at`.
    pub fn budget(
        &self,
        at: &str,
        powers: (Dbm, Dbm),
        grating: Decibel,
        crosstalk: Decibel,
    ) -> Result<Budget, Refusal> {
        let (laser, sensitivity) = powers;
        let losses = vec![
            ("grating", grating),
            ("other", self.other),
            ("margin", self.margin),
            ("crosstalk penalty", crosstalk),
            ("other penalty", self.penalty),
        ];
        let total: f64 = losses.iter().map(|(_, loss)| loss.0).sum();
        let required = Dbm(sensitivity.0 + total);
        let surplus = Decibel(laser.0 - required.0);
        let share = self.share_of(at, surplus, (laser, required), &losses)?;
        let split = self.split(share);
        let received = Dbm(laser.0 - split.0 - grating.0 - self.other.0);
        let spare = self.margin.0 + surplus.0 - split.0;
        let reach = Length((spare.max(0.0) / self.attenuation.0 * 1e3) as u64 * Length::M.0);
        if self.fibre > reach {
            let limit = format!(
                "{} dB of margin carry {reach} at {}",
                rounded(spare, 2),
                self.attenuation
            );
            let remedy = format!("shorten it, or raise {at}.link.margin");
            return Err(Refusal::new(
                format!("{at}.link.fibre"),
                self.fibre,
                limit,
                remedy,
            ));
        }
        let feeds = surplus.ratio();
        Ok(Budget {
            sensitivity,
            losses,
            required,
            laser,
            feeds,
            share,
            split,
            received,
            reach,
            reach_by: self.reach_by(Decibel(spare - self.margin.0), share),
        })
    }

    /// A text that states where the reach comes from: the margin, and the remaining power after a
    /// split.
    fn reach_by(&self, left: Decibel, share: u32) -> String {
        let margin = format!("the margin of {}", self.margin);
        let lacks = if left.0 < 0.0 { "lacks" } else { "leaves" };
        let split = match share {
            1 => format!(
                "the {} dB that a laser of its own {lacks}",
                rounded(left.0.abs(), 2)
            ),
            _ => format!(
                "the {} dB that a laser shared by {share} {lacks}",
                rounded(left.0.abs(), 2)
            ),
        };
        let both = match left > self.margin {
            true => format!("{split}, and {margin}"),
            false if left.0 < 0.0 => format!("{margin}, less {split}"),
            false => format!("{margin}, and {split}"),
        };
        format!("{both}, at {}", self.attenuation)
    }

    fn share_of(
        &self,
        at: &str,
        surplus: Decibel,
        (laser, required): (Dbm, Dbm),
        losses: &[(&'static str, Decibel)],
    ) -> Result<u32, Refusal> {
        let most = self.most(surplus);
        let largest = losses.iter().max_by(|a, b| a.1 .0.total_cmp(&b.1 .0));
        let (name, loss) = largest.expect("a budget has losses");
        let most_of_it = format!("{name}, {} dB", rounded(loss.0, 2));
        let needs = rounded(required.0, 2);
        if most == 0 {
            let limit =
                format!("a transceiver needs {needs} dBm, the largest loss is {most_of_it}");
            let remedy = format!("raise it by {} dB, or lower a loss", rounded(-surplus.0, 2));
            return Err(Refusal::new(
                format!("{at}.laser.output"),
                laser,
                limit,
                remedy,
            ));
        }
        let share = self.share.unwrap_or(most);
        if share > most {
            let limit = format!("a laser of {laser} feeds {most} that need {needs} dBm each");
            let remedy = format!("lower it, or a loss: the largest is {most_of_it}");
            return Err(Refusal::new(
                format!("{at}.link.share"),
                share,
                limit,
                remedy,
            ));
        }
        Ok(share)
    }

    /// Refuses impossible values.
    ///
    /// # Errors
    /// Names keys below `at`.
    pub fn check(&self, at: &str) -> Result<(), Refusal> {
        for (key, loss) in [
            ("other", self.other),
            ("margin", self.margin),
            ("penalty", self.penalty),
            ("splitter_excess", self.splitter_excess),
            ("rounding", self.rounding),
        ] {
            let range = Decibel(0.0)..=Decibel(60.0);
            check_range(format!("{at}.link.{key}"), loss, range)?;
        }
        let shares = 1..=SHARE_MAX;
        check_range(format!("{at}.link.share"), self.share.unwrap_or(1), shares)?;
        let range = Attenuation(0.01)..=Attenuation(100.0);
        check_range(format!("{at}.link.attenuation"), self.attenuation, range)
    }
}
