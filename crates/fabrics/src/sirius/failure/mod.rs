//! What fails, what nodes do about it, and what is lost meanwhile (§4.5).

pub(crate) mod avoid;
pub(crate) mod faults;
mod recovery;
