//! What hybrid fabrics share: the electrical tree that is always there, what
//! transport makes of a path that changes, and the record of which circuits were lit
//! when.

pub mod days;
pub mod demultiplex;
pub mod forwarding;
pub mod kernel;
pub mod meter;
pub mod recorder;
pub mod setup;
pub mod switch;
pub mod transport;
pub mod tree;
