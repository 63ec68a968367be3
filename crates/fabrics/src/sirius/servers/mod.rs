//! The connection of servers to their rack switch: links with a rate, and traffic within the rack.

mod due;
pub(crate) mod links;
pub(crate) mod rack;
pub(crate) mod receiving;
mod steps;
