//! The wiring of uplinks to ports of gratings (Sirius §3.1, §4.1, Fig 5).

use lightloom_photonics::Awgr;

/// A set of `N / G` uplinks of every node on gratings with `G` ports: enough to
/// meet every node once in `G` slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bank {
    /// The gratings.
    pub awgr: Awgr,
    /// The first of its uplinks at every node.
    pub first_uplink: u32,
    /// Uplinks of every node in this bank, N / G.
    pub uplinks: u32,
    /// Rotation of the grating inputs: node index `i` is connected to input `i + shift`, so that a
    /// pair meets over different banks at different times although all transceivers of a node use
    /// the same wavelength.
    pub shift: u32,
}

impl Bank {
    /// Number of its gratings: (N/G)², one for each pair of groups of G nodes.
    pub fn gratings(&self) -> u32 {
        self.uplinks * self.uplinks
    }
}

/// The connections of the uplinks of N nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wiring {
    /// N.
    pub nodes: u32,
    /// Banks of uplinks, in order.
    pub banks: Vec<Bank>,
}

/// One end of a fibre in the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GratingPort {
    /// Grating (a, u) of its bank, numbered bank by bank: `a · uplinks + u`.
    pub grating: u32,
    /// Its port.
    pub port: u32,
}

impl Wiring {
    /// Uplinks of a node.
    pub fn uplinks(&self) -> u32 {
        self.banks.iter().map(|b| b.uplinks).sum()
    }

    /// Gratings in the core: (N/G)² a bank.
    pub fn gratings(&self) -> u32 {
        self.banks.iter().map(Bank::gratings).sum()
    }

    /// The bank of an uplink, its number there, and the bank's first grating.
    pub(super) fn bank(&self, uplink: u32) -> (&Bank, u32, u32) {
        let mut first_grating = 0;
        for b in &self.banks {
            if uplink < b.first_uplink + b.uplinks {
                return (b, uplink - b.first_uplink, first_grating);
            }
            first_grating += b.gratings();
        }
        panic!("uplink {uplink} of {}", self.uplinks());
    }

    /// The input to which `uplink` of `node` is connected: node n is in group a = n div G with
    /// index i = n mod G; uplink u goes to grating (a, u), input i.
    pub fn input(&self, node: u32, uplink: u32) -> GratingPort {
        let (b, u, first) = self.bank(uplink);
        let (a, i) = (node / b.awgr.ports, node % b.awgr.ports);
        GratingPort {
            grating: first + a * b.uplinks + u,
            port: (i + b.shift) % b.awgr.ports,
        }
    }

    /// The node at output `port` of a grating: output k of grating (a, u) goes to receive port a of
    /// node u · G + k.
    pub fn output(&self, at: GratingPort) -> (u32, u32) {
        let mut grating = at.grating;
        for b in &self.banks {
            if grating < b.uplinks * b.uplinks {
                let (a, u) = (grating / b.uplinks, grating % b.uplinks);
                return (u * b.awgr.ports + at.port, b.first_uplink + a);
            }
            grating -= b.uplinks * b.uplinks;
        }
        panic!("grating {} of {}", at.grating, self.gratings());
    }

    /// The node and its receive port that `uplink` of `node` reaches on `wavelength`.
    pub fn peer(&self, node: u32, uplink: u32, wavelength: u32) -> (u32, u32) {
        let input = self.input(node, uplink);
        let (b, ..) = self.bank(uplink);
        self.output(GratingPort {
            port: b.awgr.output(input.port, wavelength),
            ..input
        })
    }
}
