//! What a fabric's table says of it before anything runs.

/// So many of one part, or of its bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is, in words joined by `_`; ends in `_bps` if it is a bandwidth
    /// [b/s].
    pub name: &'static str,
    /// How many.
    pub count: u64,
}

/// What is known of a resolved table on its cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The bill of parts; empty where none is worked out.
    pub parts: Vec<Part>,
}
