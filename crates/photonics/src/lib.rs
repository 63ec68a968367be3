//! Models of optical devices, and the limits that they set for a fabric.
//!
//! | module | contents |
//! |---|---|
//! | [`awgr`] | cyclic routing of a grating |
//! | [`grating`] | loss and crosstalk of a grating, schedules without in-band crosstalk |
//! | [`laser`] | wavelengths and tuning times of lasers |
//! | [`receiver`] | error rate at a power, penalty of crosstalk |
//! | [`fec`] | error correction, and how codewords fit into cells |
//! | [`link`] | link budget, sharing of lasers |
//! | [`cdr`] | clock recovery, cached phases |
//! | [`amplitude`] | gain, cached or set for each cell |
//! | [`guardband`] | the parts of the guardband |
//! | [`clock`] | clock synchronisation: its loop, its drift over a day |
//! | [`circuit_switch`] | rings of wavelength-selective switches, mirrors, rotors |
//! | [`switch_link`] | the link budget of their circuits |
//! | [`design`] | all of them together: slot, guardband, reach, ports, error rate |
//! | [`named`] | devices by a preset's name, or by a table |
//! | [`quantity`] | decibels, wavelengths and other quantities with units |
//!
//! Physics is computed when a fabric is built. Dispersion and equalisation are not modelled.

pub mod amplitude;
pub mod awgr;
pub mod cdr;
pub mod circuit_switch;
pub mod clock;
pub mod design;
pub mod fec;
pub mod grating;
pub mod guardband;
pub mod laser;
pub mod link;
pub mod named;
pub mod quantity;
pub mod receiver;
pub mod switch_link;

pub use awgr::Awgr;
pub use design::{Derived, Design};
pub use grating::{Grating, Wavelengths};
pub use named::Named;
