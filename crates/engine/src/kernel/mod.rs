//! The kernels that fabric authors write, and the drivers that make each a
//! [`Fabric`](crate::fabric::Fabric).
//!
//! | kernel | for | state advances by |
//! |---|---|---|
//! | [`slot`] | synchronous slotted fabrics | slots |
//! | [`event`] | packet fabrics | typed events on a calendar queue |
//! | [`flow`] | circuits at the time scale of seconds | rate changes |

pub mod delegates;
pub mod event;
pub mod flow;
pub mod slot;
