//! The guardband: the time that a receiver needs before it can receive another sender (Sirius
//! §4.5).
//!
//! **Calibration**: the second prototype needs 3.84 ns at 25 GBaud, 96 symbols (§6). The paper
//! states three parts of it: the laser (912 ps), synchronisation (±5 ps) and a bound for clock
//! recovery (1 ns). The remaining 1.92 ns, 48 symbols, are amplitude caching and preamble together;
//! the model assigns half to each. Only their sum follows from the paper.

use lightloom_engine::{check_range, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Symbols of the preamble: fitted, because only their sum with those of amplitude caching follows.
const FITTED_SYMBOLS: i64 = 24;
/// Largest difference between two clocks (Sirius §6).
const SYNC: Time = Time(5);

/// Parts of a guardband that a design gives directly; the laser, clock recovery and gain have
/// tables of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Guard {
    /// Largest difference between two clocks [time]. Default 5 ps (Sirius §6).
    pub sync: Option<Time>,
    /// Time until the receiver's gain is set [time]. Default: by `amplitude.kind`; with caching 24
    /// symbols, which is fitted.
    pub amplitude: Option<Time>,
    /// Length of a cell's preamble [time]. Default: 24 symbols, which is fitted.
    pub preamble: Option<Time>,
    /// Changes of wavelength that determine the tuning time.
    pub transitions: Transitions,
}

/// Changes of wavelength whose longest tuning time is the laser's part of the guardband.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transitions {
    /// Changes between any two wavelengths of the laser, as in the paper (§3.2).
    #[default]
    All,
    /// The changes of the cyclic schedule over the grating's ports: each to the next, and the last
    /// to the first (§4.2).
    Schedule,
}

/// The source of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The paper states the figure or a bound on it.
    Paper,
    /// It follows from a model whose parameters are fitted to the paper.
    Fitted,
    /// The design gives it.
    Given,
    /// It follows from values that no paper states.
    Assumed,
}

/// A part of the guardband.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// The key or table of the design from which it follows.
    pub key: &'static str,
    /// The name of the part.
    pub name: &'static str,
    /// Its length.
    pub time: Time,
    /// Its source.
    pub basis: Basis,
}

/// A guardband and its parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Guardband {
    /// The parts in order of time.
    pub parts: Vec<Part>,
    /// Length of a symbol.
    pub symbol: Time,
    /// Their sum in whole symbols.
    pub symbols: i64,
    /// The sum as a time.
    pub total: Time,
}

impl Guard {
    /// The guardband with the given parts for laser, clock recovery and gain.
    pub fn with(&self, [laser, recovery, gain]: [(Time, Basis); 3], symbol: Time) -> Guardband {
        let part = |key, name, time, basis| Part {
            key,
            name,
            time,
            basis,
        };
        let given = |key, name, time: Option<Time>, usual, basis| {
            let basis = if time.is_some() { Basis::Given } else { basis };
            part(key, name, time.unwrap_or(usual), basis)
        };
        let fitted = symbol * FITTED_SYMBOLS;
        let amplitude = match self.amplitude {
            Some(_) => "guard.amplitude",
            None => "amplitude.kind",
        };
        let parts = vec![
            part("laser.kind", "laser", laser.0, laser.1),
            part("cdr.kind", "clock recovery", recovery.0, recovery.1),
            given(amplitude, "amplitude", self.amplitude, gain.0, gain.1),
            given(
                "guard.sync",
                "synchronisation",
                self.sync,
                SYNC,
                Basis::Paper,
            ),
            given(
                "guard.preamble",
                "preamble",
                self.preamble,
                fitted,
                Basis::Fitted,
            ),
        ];
        let sum = parts.iter().fold(Time::ZERO, |sum, part| sum + part.time);
        let symbols = sum.div_ceil(symbol);
        Guardband {
            parts,
            symbol,
            symbols,
            total: symbol * symbols,
        }
    }

    /// Refuses impossible values.
    ///
    /// # Errors
    /// Names keys below `at`.
    pub fn check(&self, at: &str) -> Result<(), Refusal> {
        for (key, time) in [
            ("sync", self.sync),
            ("amplitude", self.amplitude),
            ("preamble", self.preamble),
        ] {
            let key = format!("{at}.guard.{key}");
            check_range(key, time.unwrap_or_default(), Time::ZERO..=Time::MS)?;
        }
        Ok(())
    }
}

impl Guardband {
    /// The longest part.
    pub fn longest(&self) -> &Part {
        let longest = self.parts.iter().max_by_key(|part| part.time);
        longest.expect("a guardband has parts")
    }
}
