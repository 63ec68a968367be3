//! The time of a single flow on a path whose switches store every packet before they forward it.
//! Fabrics with rates add this time to bytes ÷ rate, so that flows take as long as their packets
//! would.
//!
//! A hop has parallel links; consecutive packets of a flow take different links, so that packet k
//! follows packet k − n on its link. The k-th full packet has passed hop b after
//!
//! > Σ_{i ≤ b} t_i + max_{i ≤ b} (⌈k ÷ n_i⌉ - 1) t_i
//!
//! where t_i is the time of one packet on a link of hop i, in whole picoseconds: the packet passes
//! every hop once, and waits for earlier rounds on the hop where they take longest. A short last
//! packet leaves a hop of one link after the full packet ahead of it. With several links it may
//! overtake others, but a hop of one link carries packets one after another in any order of
//! arrival.
//!
//! The formula is exact if every hop has one link, and for full packets if all links have the same
//! rate. Otherwise the time is too short by less than one packet's time on every hop, because full
//! packets arrive in bunches at a bundle of other links.
//!
//! Not modelled: queues behind packets of other flows, which rates do not have.

use crate::electrical::layout::Bundle;
use lightloom_engine::{Rate, Time};

/// A hop, with the time of a full packet on one of its links.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Hop {
    links: Bundle,
    full: Time,
}

impl Hop {
    /// Time from the first of `packets` full packets to the last on its links.
    fn ahead(&self, packets: u64) -> Time {
        let rounds = packets.div_ceil(self.links.links).saturating_sub(1);
        Time(self.full.0.saturating_mul(rounds as i64))
    }
}

/// A path, and the packets on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Alone {
    hops: Vec<Hop>,
    /// Payload of a full packet, and the header of every packet [B].
    packet: u64,
    header: u64,
    /// Time of a full packet over all hops.
    full: Time,
    /// Whether every hop has one link.
    single: bool,
    /// Payload that the path carries.
    payload: Rate,
}

impl Alone {
    /// Creates the path of a flow whose narrowest hop carries this rate of payload; `None` for an
    /// empty path.
    pub fn new(path: &[Bundle], packet: u64, header: u64, payload: Rate) -> Option<Alone> {
        let dead = |links: &Bundle| links.rate == Rate(0);
        if path.is_empty() || path.iter().any(dead) || payload == Rate(0) {
            return None;
        }
        let hop = |&links: &Bundle| Hop {
            links,
            full: links.rate.time_for(packet + header),
        };
        let hops: Vec<Hop> = path.iter().map(hop).collect();
        Some(Alone {
            full: hops.iter().fold(Time::ZERO, |sum, hop| sum + hop.full),
            single: path.iter().all(|links| links.links == 1),
            hops,
            packet,
            header,
            payload,
        })
    }

    /// The time from the first bit sent to the last bit stored, without propagation and switch
    /// latency.
    pub fn takes(&self, bytes: u64) -> Time {
        let (full, short) = (bytes / self.packet, bytes % self.packet);
        let ahead = |packets| {
            let hops = self.hops.iter().map(|hop| hop.ahead(packets));
            hops.max().unwrap_or(Time::ZERO)
        };
        let whole = match full {
            0 => Time::ZERO,
            _ => self.full + ahead(full),
        };
        match short {
            0 => whole,
            _ if self.single => self.last_of_single(full, short),
            _ => whole
                .max(self.last(full, short))
                .max(self.in_a_row(full, short)),
        }
    }

    /// The part of that time that exceeds the flow's bytes ÷ the path's rate.
    pub fn beyond_rate(&self, bytes: u64) -> Time {
        // Payload of whole b/s is cut, so that more packets than there are b/s take longer by
        // rate than one after the other.
        (self.takes(bytes) - self.payload.time_for(bytes)).max(Time::ZERO)
    }

    /// Time at which a last packet of `short` bytes has passed all hops, if it waits for full
    /// packets on the first hop only.
    fn last(&self, full: u64, short: u64) -> Time {
        let first = self.hops[0];
        let one = |hop: &Hop| hop.links.rate.time_for(short + self.header);
        let way = self.hops.iter().fold(Time::ZERO, |sum, hop| sum + one(hop));
        first.ahead(full + 1) + way
    }

    /// Time at which all packets have passed all hops, if they wait on one hop only: of the hops
    /// with one link, the one with the latest time. It is busy from the first packet to arrive,
    /// full or short, to the last.
    fn in_a_row(&self, full: u64, short: u64) -> Time {
        let one = |hop: &Hop| hop.links.rate.time_for(short + self.header);
        let mut rest = self.hops.iter().fold(Time::ZERO, |sum, hop| sum + one(hop));
        let (mut of_full, mut of_short) = (Time::ZERO, self.hops[0].ahead(full + 1));
        let mut end = Time::ZERO;
        for hop in &self.hops {
            rest -= one(hop);
            if hop.links.links == 1 {
                let all = Time(hop.full.0.saturating_mul(full as i64)) + one(hop);
                end = end.max(of_full.min(of_short) + all + rest);
            }
            of_full += hop.full;
            of_short += one(hop);
        }
        end
    }

    /// Time at which all packets have passed all hops, if every hop has one link: the last packet
    /// waits on each hop.
    fn last_of_single(&self, full: u64, short: u64) -> Time {
        let (mut through, mut slowest, mut end) = (Time::ZERO, Time::ZERO, Time::ZERO);
        for hop in &self.hops {
            through += hop.full;
            slowest = slowest.max(hop.full);
            if full > 0 {
                end = end.max(through + Time(slowest.0.saturating_mul(full as i64 - 1)));
            }
            end += hop.links.rate.time_for(short + self.header);
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn links(links: u64, gbps: u64) -> Bundle {
        let rate = Rate(gbps * Rate::GBPS.0);
        Bundle { links, rate }
    }

    fn alone(path: &[Bundle], packet: u64, header: u64) -> Alone {
        let narrowest = path.iter().map(|b| b.links * b.rate.0).min().unwrap();
        let payload = narrowest as u128 * packet as u128 / (packet + header) as u128;
        Alone::new(path, packet, header, Rate(payload as u64)).expect("a path")
    }

    /// Simulates every packet over every hop, first come first served, each on the link that is
    /// free first.
    fn packet_by_packet(path: &[Bundle], packet: u64, header: u64, bytes: u64) -> Time {
        let sizes: Vec<u64> = (0..bytes.div_ceil(packet))
            .map(|k| packet.min(bytes - k * packet) + header)
            .collect();
        let mut at = vec![Time::ZERO; sizes.len()];
        for hop in path {
            let mut free = vec![Time::ZERO; hop.links as usize];
            // A short last packet may arrive before the packet ahead of it, and then leaves first.
            let mut order: Vec<usize> = (0..sizes.len()).collect();
            order.sort_by_key(|&k| at[k]);
            for k in order {
                let link = free.iter_mut().min().expect("a link");
                *link = at[k].max(*link) + hop.rate.time_for(sizes[k]);
                at[k] = *link;
            }
        }
        at.into_iter().max().expect("a packet")
    }

    /// 1,500 B at 10 Gb/s take 1.2 us on a link, 3.6 us on three consecutive links.
    #[test]
    fn one_packet_is_stored_on_every_hop() {
        let ps = |path: &[Bundle], bytes| alone(path, 1_500, 0).takes(bytes).0;
        assert_eq!(ps(&[links(1, 10)], 1_500), 1_200_000);
        assert_eq!(ps(&[links(1, 10); 3], 1_500), 3_600_000);
        let slow = [links(1, 10), links(8, 5), links(1, 10)];
        assert_eq!(ps(&slow, 1_500), 4_800_000);
        // Two follow each other, on one link or on two.
        assert_eq!(ps(&[links(1, 10); 3], 3_000), 4_800_000);
        assert_eq!(ps(&[links(2, 10); 3], 3_000), 3_600_000);
        // A server's link, two hops with twice as many links, a server's link: ten and a half
        // packets pass the last link one after another, starting when the first packet arrives
        // there.
        let clos = [links(1, 10), links(2, 10), links(2, 10), links(1, 10)];
        assert_eq!(ps(&clos, 15_750), 3_600_000 + 12_600_000);
        // The short packet catches up with the full packet ahead of it, and waits.
        assert_eq!(ps(&[links(1, 10); 3], 1_501), 3_600_800);
        let beyond = alone(&[links(1, 10); 3], 1_500, 0).beyond_rate(15_000);
        assert_eq!(beyond, Time::NS * 2_400);
    }

    #[test]
    fn nothing_is_stored_over_nothing() {
        assert_eq!(Alone::new(&[], 1_500, 0, Rate::GBPS), None);
        assert_eq!(Alone::new(&[links(1, 0)], 1_500, 0, Rate::GBPS), None);
        assert_eq!(Alone::new(&[links(1, 1)], 1_500, 0, Rate(0)), None);
    }

    fn path(rates: std::ops::Range<u64>, bundles: bool) -> impl Strategy<Value = Vec<Bundle>> {
        let most: u64 = if bundles { 9 } else { 2 };
        let hop = (1..most, rates).prop_map(|(n, gbps)| links(n, gbps));
        prop::collection::vec(hop, 1..7)
    }

    proptest! {
        #[test]
        fn hops_of_one_link_are_exact(
            path in path(1..30, false), packet in 64u64..2_000, header in 0u64..100,
            bytes in 1u64..50_000,
        ) {
            let takes = alone(&path, packet, header).takes(bytes);
            prop_assert_eq!(takes, packet_by_packet(&path, packet, header, bytes));
        }

        #[test]
        fn full_packets_are_exact_on_links_of_one_rate(
            path in path(7..8, true), packet in 64u64..2_000, header in 0u64..100,
            packets in 1u64..60,
        ) {
            let takes = alone(&path, packet, header).takes(packets * packet);
            let exact = packet_by_packet(&path, packet, header, packets * packet);
            prop_assert_eq!(takes, exact);
        }

        /// Too early, but by less than a packet's time on every hop.
        #[test]
        fn bundles_of_any_rates_are_a_bound(
            path in path(1..30, true), packet in 64u64..2_000, header in 0u64..100,
            bytes in 1u64..50_000,
        ) {
            let alone = alone(&path, packet, header);
            let (takes, exact) = (alone.takes(bytes), packet_by_packet(&path, packet, header, bytes));
            prop_assert!(takes <= exact, "{takes} is later than {exact}");
            prop_assert!(exact - takes < alone.full, "{takes}, packet by packet {exact}");
        }
    }
}
