//! The lasers of Sirius (§3.2–3.3): their wavelengths and tuning times.
//!
//! | laser | tuning |
//! |---|---|
//! | `off-the-shelf` | 10 ms for every pair (§3.2) |
//! | `dsdbr-undamped` | a single step of the current, followed by ringing ([`damped`]) |
//! | `dsdbr` | overshoot and undershoot ([`damped`]) |
//! | `fixed-bank` | one laser per wavelength, selected by gates ([`gates`]) |
//! | `tunable-bank` | `dsdbr` lasers in turn, selected by gates ([`bank`]) |
//! | `comb` | one source of all wavelengths, selected by gates |
//!
//! Power, temperature control, cost, line width and wavelength drift are not modelled.

pub mod bank;
pub mod damped;
pub mod gates;
pub mod tuning;

use crate::quantity::Dbm;
pub use damped::Drive;
pub use gates::Gates;
use lightloom_engine::{check_range, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use tuning::{AtDistance, Distribution, Tuning};

/// Tuning time of an off-the-shelf laser (Sirius §3.2).
pub const OFF_THE_SHELF: Time = Time(10 * Time::MS.0);
/// Wavelengths of a DSDBR laser (Sirius §3.2).
pub const DSDBR_WAVELENGTHS: u32 = 112;
/// Wavelengths of a comb: "more than a hundred" (Sirius §3.3).
pub const COMB_WAVELENGTHS: u32 = 100;
/// The largest number of wavelengths that is modelled.
const WAVELENGTHS_MAX: u32 = 512;

/// Kind of laser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LaserKind {
    /// A DSDBR laser with its off-the-shelf drive: 10 ms.
    OffTheShelf,
    /// A DSDBR laser whose current changes in one step.
    DsdbrUndamped,
    /// A DSDBR laser with a damped drive.
    Dsdbr,
    /// One fixed laser per wavelength; gates select one.
    #[default]
    FixedBank,
    /// Several DSDBR lasers, which tune while another one sends; gates select one.
    TunableBank,
    /// A frequency comb; gates select one of its lines.
    Comb,
}

impl LaserKind {
    /// All of them.
    pub const ALL: [LaserKind; 6] = [
        LaserKind::OffTheShelf,
        LaserKind::DsdbrUndamped,
        LaserKind::Dsdbr,
        LaserKind::FixedBank,
        LaserKind::TunableBank,
        LaserKind::Comb,
    ];

    /// Whether it contains tunable lasers.
    pub fn tunes(self) -> bool {
        !matches!(self, LaserKind::FixedBank | LaserKind::Comb)
    }

    /// Whether gates select the wavelength.
    pub fn gated(self) -> bool {
        matches!(
            self,
            LaserKind::FixedBank | LaserKind::Comb | LaserKind::TunableBank
        )
    }
}

/// The laser of one transceiver, or of several.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Laser {
    /// Kind of laser.
    pub kind: LaserKind,
    /// Number of wavelengths [count]. Default: 112 for tunable lasers (Sirius §3.2), 100 for a comb
    /// (§3.3), and for a fixed bank those of the chips of 19 that the grating's ports need (§6).
    #[schemars(range(min = 1, max = 512))]
    pub wavelengths: Option<u32>,
    /// Output power [dBm] (Sirius §4.5).
    pub output: Dbm,
    /// Ringing and drive of tunable lasers. Default: values that are fitted to the paper.
    pub drive: Option<Drive>,
    /// The gates. Default: the values of the paper.
    pub gates: Option<Gates>,
    /// Number of spare lasers of a tunable bank [count]. Default 1 (§4.5).
    pub spares: Option<u32>,
}

impl Default for Laser {
    fn default() -> Self {
        Laser {
            kind: LaserKind::FixedBank,
            wavelengths: None,
            output: Dbm(16.0),
            drive: None,
            gates: None,
            spares: None,
        }
    }
}

impl Laser {
    /// A laser of this kind with the paper's values.
    pub fn of(kind: LaserKind) -> Laser {
        Laser {
            kind,
            ..Laser::default()
        }
    }

    /// Its number of wavelengths, for a grating with this number of ports.
    pub fn wavelengths(&self, ports: u32) -> u32 {
        self.wavelengths.unwrap_or_else(|| match self.kind {
            LaserKind::FixedBank => self.gates().chips(ports) * self.gates().a_chip,
            LaserKind::Comb => COMB_WAVELENGTHS,
            _ => DSDBR_WAVELENGTHS,
        })
    }

    /// Its gates.
    pub fn gates(&self) -> Gates {
        self.gates.unwrap_or_default()
    }

    /// Its drive.
    pub fn drive(&self) -> Drive {
        self.drive.unwrap_or_default()
    }

    /// The tuning times between any two wavelengths as a receiver observes them: for a bank, those
    /// of its gates.
    pub fn tuning(&self, ports: u32) -> Tuning {
        let wavelengths = self.wavelengths(ports);
        if self.kind.gated() {
            return self.gates().tuning(wavelengths);
        }
        self.source_tuning(wavelengths)
    }

    /// The tuning times of the tunable lasers themselves, including those that a bank hides.
    pub fn source_tuning(&self, wavelengths: u32) -> Tuning {
        let drive = self.drive();
        let steps = match self.kind {
            LaserKind::OffTheShelf => return Tuning::by(wavelengths, |_, _| OFF_THE_SHELF),
            LaserKind::DsdbrUndamped => None,
            _ => drive.steps(),
        };
        Tuning::by(wavelengths, |from, to| {
            let mismatch = drive.mismatch(wavelengths, from, to);
            drive.settles(steps, mismatch, from.abs_diff(to))
        })
    }

    /// Refuses keys that are out of range, or that this laser does not have.
    ///
    /// # Errors
    /// Names keys below `at`.
    pub fn check(&self, at: &str) -> Result<(), Refusal> {
        let of = |key: &str| format!("{at}.laser.{key}");
        let range = 1..=WAVELENGTHS_MAX;
        check_range(of("wavelengths"), self.wavelengths.unwrap_or(1), range)?;
        check_range(of("output"), self.output, Dbm(-30.0)..=Dbm(40.0))?;
        check_range(of("spares"), self.spares.unwrap_or(0), 0..=64)?;
        let drives = self.kind.tunes() && self.kind != LaserKind::OffTheShelf;
        for (key, given, has) in [
            ("drive", self.drive.is_some(), drives),
            ("gates", self.gates.is_some(), self.kind.gated()),
            (
                "spares",
                self.spares.is_some(),
                self.kind == LaserKind::TunableBank,
            ),
        ] {
            if given && !has {
                let limit = "a laser of this kind has none";
                return Err(Refusal::new(of(key), "(given)", limit, "remove it"));
            }
        }
        self.drive().check(&of("drive"))?;
        self.gates().check(&of("gates"))
    }
}
