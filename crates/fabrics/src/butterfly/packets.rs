//! Packets that are inside the network.

use lightloom_engine::FlowId;

/// The present destination of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Its first router has not chosen a path.
    Undecided,
    /// The shortest way.
    Minimal,
    /// An intermediate router (Valiant's first phase).
    Outward,
    /// Its destination, from the intermediate router (the second phase).
    Inward,
}

/// A packet.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// The flow.
    pub flow: FlowId,
    /// Payload [B].
    pub bytes: u16,
    /// Flits.
    pub flits: u16,
    /// Router of its destination.
    pub router: u32,
    /// Port of its destination there.
    pub terminal: u8,
    /// The present destination.
    pub way: Way,
    /// Routers visited so far.
    pub hops: u16,
    /// The intermediate router.
    pub middle: u32,
}

/// A table of packets that reuses its places.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    rows: Vec<Packet>,
    free: Vec<u32>,
}

impl Packets {
    /// Keeps a packet.
    #[inline]
    pub fn add(&mut self, packet: Packet) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.rows[place as usize] = packet;
                place
            }
            None => {
                self.rows.push(packet);
                self.rows.len() as u32 - 1
            }
        }
    }

    /// A packet that is inside.
    #[inline]
    pub fn get(&self, packet: u32) -> Packet {
        self.rows[packet as usize]
    }

    /// A mutable reference to a packet.
    #[inline]
    pub fn get_mut(&mut self, packet: u32) -> &mut Packet {
        &mut self.rows[packet as usize]
    }

    /// Forgets a packet.
    #[inline]
    pub fn remove(&mut self, packet: u32) -> Packet {
        self.free.push(packet);
        self.rows[packet as usize]
    }
}
