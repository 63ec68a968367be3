//! Between servers and their rack switch: links that have a rate, and traffic that stays in
//! the rack.

pub(crate) mod links;
pub(crate) mod rack;
mod steps;
