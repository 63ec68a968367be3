//! Injection of packets by hosts, one flit per cycle.

/// No such packet.
pub const NONE: u32 = u32::MAX;

/// The packet that a host is injecting.
#[derive(Clone, Copy, Debug)]
pub struct Injection {
    /// The packet; [`NONE`] between packets.
    pub packet: u32,
    /// Flits that have not been sent.
    pub flits: u16,
    /// Flits of the whole packet.
    pub of: u16,
    /// Its virtual channel.
    pub vc: u8,
    /// The virtual channel at which the next search begins.
    pub turn: u8,
}

impl Injection {
    /// None, yet.
    pub const NOTHING: Injection = Injection {
        packet: NONE,
        flits: 0,
        of: 0,
        vc: 0,
        turn: 0,
    };
}
