//! Optical devices. So far the passive grating; lasers, link budget and clocks
//! follow with their own issues and are not modelled yet.

pub mod awgr;
pub mod clock;

pub use awgr::Awgr;
