//! The congestion control: requests, grants, and cells that they move (§4.3, A.3).

pub(crate) mod accept;
pub(crate) mod epoch;
pub(crate) mod grant;
pub(crate) mod matrix;
pub(crate) mod request;
mod simd;
