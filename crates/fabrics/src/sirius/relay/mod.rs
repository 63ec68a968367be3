//! The way of a cell: LOCAL, the virtual queue for its intermediate, the fibre, the relay
//! queue for its destination, the fibre again, the reorder buffer (§4.2, §4.3).

pub(crate) mod by_pair;
pub(crate) mod by_slot;
mod chunked;
pub(crate) mod in_flight;
mod lists;
pub(crate) mod local;
pub(crate) mod queued;
mod receive;
pub(crate) mod reorder;
mod transmit;
