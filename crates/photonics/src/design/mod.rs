//! A design: the devices of a fabric of gratings and tunable lasers, and its derived values.
//!
//! [`Design::derive`] computes slot, guardband, reach, ports and error rate, or refuses the design
//! with the key of the part that makes it impossible. Each module states the calibration of its
//! model.

mod derive;
mod presets;

use crate::amplitude::Amplitude;
use crate::cdr::Cdr;
use crate::fec::Fec;
use crate::grating::{Grating, Wavelengths};
use crate::guardband::Guard;
use crate::laser::Laser;
use crate::link::Link;
use crate::receiver::{Modulation, Receiver};
pub use derive::Derived;
use lightloom_engine::{Rate, Time};
pub use presets::{Preset, PRESETS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The optical devices of a fabric. Defaults: the second prototype of Sirius, with gratings of 16
/// ports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Design {
    /// The gratings.
    pub grating: Grating,
    /// Wavelengths that the inputs of a grating use in a slot.
    pub wavelengths: Wavelengths,
    /// The lasers.
    pub laser: Laser,
    /// Modulation of light.
    pub modulation: Modulation,
    /// Rate of a channel [b/s] (Sirius §6).
    pub channel_rate: Rate,
    /// The receivers.
    pub receiver: Receiver,
    /// The link budget: losses, margin, and sharing of lasers.
    pub link: Link,
    /// Number of uplinks of a node, whose transceivers share lasers [count] (Sirius §4.1).
    #[schemars(range(min = 1))]
    pub uplinks: u32,
    /// Clock and data recovery of the receivers.
    pub cdr: Cdr,
    /// Adaptation of the receivers' gain.
    pub amplitude: Amplitude,
    /// The other parts of the guardband.
    pub guard: Guard,
    /// Length of a slot, including the guardband [time]. Default: guardband ÷ `overhead`.
    pub slot: Option<Time>,
    /// Guardband ÷ slot [ratio]; without effect if `slot` is given (Sirius §2.2, §7: 10 %).
    pub overhead: f64,
    /// Forward error correction of cells.
    pub fec: Fec,
    /// Largest bit error rate after correction, with the margin used up [ratio] (Sirius §6).
    pub error_rate: f64,
}

impl Default for Design {
    fn default() -> Self {
        Design {
            grating: Grating::default(),
            wavelengths: Wavelengths::Common,
            laser: Laser::default(),
            modulation: Modulation::Pam4,
            channel_rate: Rate(50 * Rate::GBPS.0),
            receiver: Receiver::default(),
            link: Link::default(),
            uplinks: 256,
            cdr: Cdr::default(),
            amplitude: Amplitude::default(),
            guard: Guard::default(),
            slot: None,
            overhead: 0.1,
            fec: Fec::Shortened,
            error_rate: 1e-12,
        }
    }
}
