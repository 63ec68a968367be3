//! Dense indices. Each is an index into a column; none is ever hashed.

/// A server: the source and sink of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u32);

/// A row of the flow columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// A transmitter or receiver of a fabric, numbered by that fabric; the audit checks capacity per
/// port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u32);

impl FlowId {
    /// The row as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl HostId {
    /// The host as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
