//! What hybrid fabrics share: the electrical tree that is always there, and the
//! record of which circuits were lit when.

pub mod recorder;
pub mod tree;
