//! Between servers and their rack switch: links that have a rate, and traffic that stays in
//! the rack.

mod due;
pub(crate) mod links;
pub(crate) mod rack;
pub(crate) mod receiving;
mod steps;
