//! The capacity of the schedule and the protocol, as rates.
//!
//! *One rack.* A rack cannot use all of the capacity C of its uplinks for its own traffic: in one
//! N-th of the slots it would meet itself, and it relays one N-th of all traffic T between racks,
//! in and out. It therefore sends and receives at most C − T/N. Relaying is spread evenly over all
//! racks; other racks do not take over the share of a busy rack.
//!
//! A source sends each node one request per epoch, so it sends at most N cells per epoch. A node
//! has at most Q cells queued or granted for a destination. A cell counts from its grant until its
//! second hop leaves, so a destination receives at most Q cells from each node in this time. The
//! first Q cells of each node need not wait if there are no others.
//!
//! *All racks.* A byte from a source in S to a destination in D via a relay m crosses two links,
//! each with the capacity C/N between two nodes. Let p be the number of racks that only send, q of
//! those that only receive, r of those that do both, o of those that do neither; s = p + r, d = q +
//! r, e = min(s, d). Via one of the o racks, a byte uses a link from S to the rack and one from the
//! rack to D; e · o of these fit. All other bytes use a link from S to D, of which there are s · d.
//! Via m in S only, a byte also uses a link from S to m; via m in D only, one from m to D; e · (p +
//! q) of these fit. Via m in both, it uses two links from S to D. So
//!
//! ```text
//! T = C/N · (e · o + min(s · d, (s · d + e · (p + q)) / 2))
//! ```
//!
//! With all racks active this is N · C/2, because every byte takes two hops; for one pair it is (N
//! − 1) · C/N. A cell that its own source or destination relays crosses one link only; this
//! compensates for the unused links from a node to itself. With `intermediates = "others"`, where
//! nodes do not relay for themselves, these links are left out.
//!
//! Traffic within S and D is assumed to be even.

use crate::sirius::config::{Derived, GrantRule, Intermediates, SiriusConfig};
use lightloom_engine::{Rate, Time};

/// Bits of a byte × picoseconds of a second.
const BITS: u128 = 8 * 1_000_000_000_000;

/// Rates of payload.
#[derive(Clone, Debug)]
pub struct Capacity {
    nodes: u128,
    others: bool,
    /// C: the rate between two nodes × N.
    uplinks: u128,
    /// Limits of a rack's rate, regardless of other racks: requests limit the traffic that it
    /// sends, grants the traffic that it receives.
    sent: u128,
    received: u128,
    /// Bytes that a destination may be granted at once [B].
    granted: u64,
}

impl Capacity {
    /// The capacity for a table that has been completed.
    pub fn new(config: &SiriusConfig, derived: &Derived) -> Capacity {
        let nodes = derived.schedule.nodes() as u128;
        let (slots, of) = derived.epoch;
        let (slot, cell) = (config.slot.0 as u128, derived.cell as u128);
        let uplinks = derived.uplinks as u128 * cell * BITS / slot;
        // N cells in an epoch.
        let once = nodes * cell * BITS * of as u128 / (slots as u128 * slot);
        let meeting = uplinks * (nodes - 1) / nodes;
        let granted = match config.grant_rule {
            GrantRule::Threshold => u128::MAX,
            GrantRule::OnePerDestination => once,
        };
        // Q cells from each node in the time for which a cell is counted.
        let window = config.queue as u128 * (nodes - 1) * cell * BITS / counted(config, derived);
        Capacity {
            nodes,
            others: config.intermediates == Intermediates::Others,
            uplinks,
            sent: meeting.min(once),
            received: meeting.min(granted).min(window),
            granted: config.queue as u64 * derived.schedule.nodes() as u64 * derived.cell,
        }
    }

    /// The rate at which one rack can send while all send at rate `all`.
    pub fn sent(&self, all: Rate) -> Rate {
        Rate(self.sent.min(self.beside(all)) as u64)
    }

    /// The rate that one rack can receive while all send at rate `all`.
    pub fn received(&self, all: Rate) -> Rate {
        Rate(self.received.min(self.beside(all)) as u64)
    }

    /// The capacity of a rack's uplinks that is not used for relaying.
    fn beside(&self, all: Rate) -> u128 {
        self.uplinks - (all.0 as u128 / self.nodes).min(self.uplinks / 2)
    }

    /// The largest change of the total rate for which the solution is not computed again.
    pub fn little(&self) -> u64 {
        (self.nodes * self.uplinks / 256) as u64
    }

    /// Time by which bytes arrive earlier than the rate of their destination gives, if nothing else
    /// was granted for it.
    pub fn sooner(&self, bytes: u64) -> Time {
        let first = bytes.min(self.granted);
        let [sent, received] = [self.sent(Rate(0)), self.received(Rate(0))];
        (received.time_for(first) - sent.time_for(first)).max(Time::ZERO)
    }

    /// Links that a byte crosses, on average.
    pub fn hops(&self) -> f64 {
        match self.others {
            true => 2.0,
            false => 2.0 - 2.0 / self.nodes as f64,
        }
    }

    /// The largest rate at which all racks together can send to each other.
    pub fn together(&self, active: &Active) -> Rate {
        let Active { p, q, r, .. } = *active;
        let (s, d) = (p + r, q + r);
        let none = self.nodes - p - q - r;
        let itself = |count: u128| if self.others { count } else { 0 };
        let direct = s * d - itself(r);
        let about = (s * p - itself(p)).min(p * d) + (q * d - itself(q)).min(s * q);
        let halves = match r {
            0 => 2 * direct.min(about),
            _ => (2 * direct).min(direct + about),
        };
        Rate((self.uplinks * (2 * none * s.min(d) + halves) / (2 * self.nodes)) as u64)
    }
}

/// Time for which a cell counts among the Q of its intermediate [ps]: until its source has the
/// grant, half an epoch of waiting for the slot of each of its two hops, the flight, and half an
/// epoch until the next grants are made.
fn counted(config: &SiriusConfig, derived: &Derived) -> u128 {
    let (slots, of) = (derived.epoch.0 as u128, derived.epoch.1 as u128);
    let halves = 2 * derived.lag(config) as u128 + 3;
    let epochs = halves * slots * config.slot.0 as u128 / (2 * of);
    epochs + (config.slot + config.crossing()).0 as u128
}

/// The racks that have flows to send or to receive.
#[derive(Clone, Debug, Default)]
pub struct Active {
    sends: Vec<u32>,
    receives: Vec<u32>,
    /// Numbers of racks that only send (p), only receive (q) and do both (r).
    p: u128,
    q: u128,
    r: u128,
}

impl Active {
    /// No active racks out of `racks`.
    pub fn new(racks: usize) -> Active {
        Active {
            sends: vec![0; racks],
            receives: vec![0; racks],
            ..Active::default()
        }
    }

    /// Whether a rack receives nothing.
    pub fn is_quiet(&self, to: usize) -> bool {
        self.receives[to] == 0
    }

    /// Records the start of a flow; returns whether other racks are active now.
    pub fn open(&mut self, from: usize, to: usize) -> bool {
        let new = [self.sends[from] == 0, self.receives[to] == 0];
        self.change(from, to, |count| *count += 1);
        new != [false; 2]
    }

    /// Records the end of a flow; returns the same.
    pub fn close(&mut self, from: usize, to: usize) -> bool {
        self.change(from, to, |count| *count -= 1);
        self.sends[from] == 0 || self.receives[to] == 0
    }

    fn change(&mut self, from: usize, to: usize, change: impl Fn(&mut u32)) {
        self.count(from, -1);
        self.count(to, -1);
        change(&mut self.sends[from]);
        change(&mut self.receives[to]);
        self.count(from, 1);
        self.count(to, 1);
    }

    /// Adds a rack to the count of its kind, or removes it.
    fn count(&mut self, rack: usize, by: i128) {
        let class = match (self.sends[rack] > 0, self.receives[rack] > 0) {
            (true, false) => &mut self.p,
            (false, true) => &mut self.q,
            (true, true) => &mut self.r,
            (false, false) => return,
        };
        *class = class.wrapping_add_signed(by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{Bytes, Cluster, Nic};
    use proptest::prelude::*;

    /// Four uplinks of 8 nodes; a cell of 1,000 B in a slot of 100 ns: 80 Gb/s an uplink.
    fn capacity(nodes: u32, table: SiriusConfig) -> Capacity {
        let cluster = Cluster {
            racks: nodes,
            servers_per_rack: 1,
            server_rate: Rate(400 * Rate::GBPS.0),
            nic: Nic::Uncapped,
        };
        let config = SiriusConfig {
            channel_rate: Rate(100 * Rate::GBPS.0),
            uplinks: Some(4),
            cell: Some(Bytes(1_000)),
            ..table
        };
        Capacity::new(&config, &config.derive(&cluster).unwrap())
    }

    fn active(nodes: usize, pairs: &[(usize, usize)]) -> Active {
        let mut active = Active::new(nodes);
        pairs.iter().for_each(|&(from, to)| {
            active.open(from, to);
        });
        active
    }

    const GBPS: u64 = Rate::GBPS.0;

    /// C is 320 Gb/s, and two nodes have 40 Gb/s for each other.
    #[test]
    fn capacities_are_those_of_the_links_that_cells_cross() {
        let c = capacity(8, SiriusConfig::default());
        assert_eq!(c.sent(Rate(0)), Rate(280 * GBPS));
        // The rack relays 100 of 800 Gb/s.
        assert_eq!(c.sent(Rate(800 * GBPS)), Rate(220 * GBPS));
        assert_eq!(c.received(Rate(0)), Rate(280 * GBPS));
        let gbps = |pairs: &[(usize, usize)]| c.together(&active(8, pairs)).0 / GBPS;
        let ring = |n: usize| (0..n).map(|i| (i, (i + 1) % n)).collect::<Vec<_>>();
        // One pair: via six others, or directly.
        assert_eq!(gbps(&[(0, 1)]), 7 * 40);
        // All racks: half of 8 times 320.
        assert_eq!(gbps(&ring(8)), 4 * 320);
        // Four racks among themselves: 16 links via the others, and the capacity of 8 pairs among
        // them.
        assert_eq!(gbps(&ring(4)), (16 + 8) * 40);
        // Four racks to four others: every byte crosses one of the 16 links between them.
        let across: Vec<_> = (0..4).map(|i| (i, i + 4)).collect();
        assert_eq!(gbps(&across), 16 * 40);
        // Three to one: 7 links lead there.
        assert_eq!(gbps(&[(1, 0), (2, 0), (3, 0)]), (4 + 3) * 40);
    }

    /// Results of linear programming (scipy's `linprog`) for two-hop routes over links of 1 between
    /// 8 or 12 nodes. All pairs from S to D may send through any relay, except for the 2/N of each
    /// pair that its own ends relay; with the source and destination relaying, and without. If some
    /// racks send and receive while others do only one of these, the rule is an upper bound.
    #[test]
    fn together_racks_carry_what_linear_programming_finds() {
        const FOUND: [(u32, [usize; 3], [f64; 2]); 14] = [
            (8, [1, 1, 0], [7.0, 6.0]),
            (8, [2, 2, 0], [12.0, 12.0]),
            (8, [4, 4, 0], [16.0, 16.0]),
            (8, [7, 1, 0], [7.0, 7.0]),
            (8, [0, 0, 8], [32.0, 28.0]),
            (12, [6, 6, 0], [36.0, 36.0]),
            // From here on to a third of the uplinks of a rack.
            (8, [0, 0, 4], [25.143, 22.0]),
            (8, [2, 0, 4], [25.143, 22.0]),
            (8, [4, 1, 3], [24.571, 22.0]),
            (8, [2, 2, 2], [22.0, 20.0]),
            (8, [3, 3, 2], [23.0, 21.0]),
            (12, [3, 3, 3], [50.727, 48.0]),
            (12, [0, 0, 6], [55.636, 51.0]),
            (12, [4, 2, 4], [53.455, 50.0]),
        ];
        for (k, (nodes, [p, q, r], found)) in FOUND.into_iter().enumerate() {
            // Racks p.. receive, those below p and from p + q on send.
            let senders: Vec<usize> = (0..p).chain(p + q..p + q + r).collect();
            let pairs: Vec<_> = (p..p + q + r)
                .flat_map(|d| senders.iter().map(move |&s| (s, d)))
                .filter(|(s, d)| s != d)
                .collect();
            for (intermediates, found) in [Intermediates::All, Intermediates::Others]
                .into_iter()
                .zip(found)
            {
                let c = capacity(
                    nodes,
                    SiriusConfig {
                        intermediates,
                        ..SiriusConfig::default()
                    },
                );
                let of = active(nodes as usize, &pairs);
                let racks = c.sent(Rate(0)).0 as f64 * (p + r).min(q + r) as f64;
                let link = 320.0 * GBPS as f64 / nodes as f64;
                let carried = racks.min(c.together(&of).0 as f64) / link;
                let within = if k < 6 { 1e-9 } else { nodes as f64 / 3.0 };
                assert!(
                    (carried - found).abs() <= within,
                    "{nodes} nodes, {p}, {q}, {r}: {carried} links' worth, {found} found"
                );
            }
        }
    }

    #[test]
    fn the_protocol_may_take_longer_than_the_schedule() {
        // Epochs of twice the length: half the number of requests, and grants by the other rule. A
        // cell counts for 2.5 epochs and a slot, 1.1 µs.
        let slow = SiriusConfig {
            epoch_slots: Some(4.0),
            ..SiriusConfig::default()
        };
        let c = capacity(8, slow.clone());
        assert_eq!(
            (c.sent(Rate(0)).0, c.received(Rate(0)).0),
            (160 * GBPS, 4 * 7 * 8_000_000_000_000_000 / 1_100_000)
        );
        let c = capacity(
            8,
            SiriusConfig {
                grant_rule: GrantRule::OnePerDestination,
                ..slow
            },
        );
        assert_eq!(
            (c.sent(Rate(0)).0, c.received(Rate(0)).0),
            (160 * GBPS, 160 * GBPS)
        );
        // Epochs of 200 ns, 1 us of fibre: 6 of them, 1.5, 1.1 us; 4 cells each in 2.6 us.
        let far = SiriusConfig {
            propagation: Time::US,
            ..SiriusConfig::default()
        };
        let received = capacity(8, far).received(Rate(0));
        assert_eq!(received, Rate(4 * 7 * 8_000_000_000_000_000 / 2_600_000));
    }

    proptest! {
        /// The counts of racks are right after any sequence of flows.
        #[test]
        fn racks_are_counted_as_they_are(
            pairs in prop::collection::vec((0usize..6, 0usize..6), 1..40),
            ends in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
        ) {
            let mut open: Vec<(usize, usize)> = pairs.into_iter().filter(|(a, b)| a != b).collect();
            let mut counted = active(6, &open);
            for end in ends {
                if open.is_empty() {
                    break;
                }
                let (from, to) = open.swap_remove(end.index(open.len()));
                counted.close(from, to);
            }
            let is = |sends: bool, receives: bool| {
                let racks = (0..6).filter(|&k| {
                    open.iter().any(|f| f.0 == k) == sends && open.iter().any(|f| f.1 == k) == receives
                });
                racks.count() as u128
            };
            prop_assert_eq!(
                (counted.p, counted.q, counted.r),
                (is(true, false), is(false, true), is(true, true))
            );
        }
    }
}
