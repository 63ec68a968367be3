//! What hybrid fabrics share: the electrical tree that is always there, what
//! transport makes of a path that changes, and the record of which circuits were lit
//! when.

pub mod recorder;
pub mod transport;
pub mod tree;
