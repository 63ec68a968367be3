//! Optical devices, and what a fabric of them can do.
//!
//! | module | |
//! |---|---|
//! | [`awgr`] | cyclic routing of a grating |
//! | [`grating`] | its loss and crosstalk, schedules without in-band crosstalk |
//! | [`laser`] | wavelengths and tuning times of four designs |
//! | [`receiver`] | error rate at a power, penalty of crosstalk |
//! | [`fec`] | error correction, and cells that codewords do not fit into |
//! | [`link`] | link budget, lasers that are shared |
//! | [`cdr`] | clock recovery, cached phases |
//! | [`amplitude`] | gain, cached or set anew |
//! | [`guardband`] | its parts |
//! | [`clock`] | clock synchronisation: its loop, its drift over a day |
//! | [`circuit_switch`] | rings of wavelength-selective switches, mirrors, rotors |
//! | [`switch_link`] | the link budget of their circuits |
//! | [`design`] | all of them together: slot, guardband, reach, ports, error rate |
//! | [`named`] | devices by a preset's name, or by a table |
//! | [`quantity`] | decibels, wavelengths and other quantities with units |
//!
//! Physics runs when a fabric is built. Dispersion and equalisation are not modelled.

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
