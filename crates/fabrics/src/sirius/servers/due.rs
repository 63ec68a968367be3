//! The time at which each server's link finishes its present cell, and the earliest of each rack.
//!
//! The earliest time of a rack is found by a scan of its few servers, which is faster than a heap
//! over all servers of the network.

use lightloom_engine::{Cluster, Time};
use std::ops::Range;

/// The due time of each server, or [`Time::NEVER`].
#[derive(Clone, Debug)]
pub struct Due {
    per_rack: u32,
    at: Vec<Time>,
    /// By rack, the earliest time and its server; the lowest if several have that time.
    first: Vec<(Time, u32)>,
    /// Number of servers with a due time.
    busy: usize,
}

impl Due {
    /// Nothing is due.
    pub fn new(cluster: &Cluster) -> Due {
        Due {
            per_rack: cluster.servers_per_rack,
            at: vec![Time::NEVER; cluster.hosts() as usize],
            first: vec![(Time::NEVER, u32::MAX); cluster.racks as usize],
            busy: 0,
        }
    }

    /// Whether no server has a due time.
    pub fn is_empty(&self) -> bool {
        self.busy == 0
    }

    /// The servers of a rack.
    pub fn servers(&self, rack: u32) -> Range<u32> {
        rack * self.per_rack..(rack + 1) * self.per_rack
    }

    /// The first server of a rack that is due by `until`, with its time.
    #[inline]
    pub fn by(&self, rack: u32, until: Time) -> Option<(Time, u32)> {
        Some(self.first[rack as usize]).filter(|first| first.0 <= until)
    }

    /// Sets the time at which a server is due; returns the previous one.
    #[inline]
    pub fn set(&mut self, host: u32, at: Time) -> Time {
        let before = std::mem::replace(&mut self.at[host as usize], at);
        self.busy += (at != Time::NEVER) as usize;
        self.busy -= (before != Time::NEVER) as usize;
        let rack = host / self.per_rack;
        let first = &mut self.first[rack as usize];
        if (at, host) < *first {
            *first = (at, host);
        } else if first.1 == host {
            self.first[rack as usize] = self.look(rack);
        }
        before
    }

    /// Visits the servers of a rack that are due by `until`; `then` returns when each is due next.
    #[inline]
    pub fn pass(&mut self, rack: u32, until: Time, mut then: impl FnMut(u32) -> Time) {
        if self.first[rack as usize].0 > until {
            return;
        }
        let servers = self.servers(rack);
        let times = &mut self.at[servers.start as usize..servers.end as usize];
        let mut first = (Time::NEVER, u32::MAX);
        for (at, host) in times.iter_mut().zip(servers) {
            if *at <= until {
                *at = then(host);
                self.busy -= (*at == Time::NEVER) as usize;
            }
            if *at < first.0 {
                first = (*at, host);
            }
        }
        self.first[rack as usize] = first;
    }

    fn look(&self, rack: u32) -> (Time, u32) {
        let servers = self.servers(rack);
        let times = &self.at[servers.start as usize..servers.end as usize];
        let mut first = (Time::NEVER, u32::MAX);
        for (&at, host) in times.iter().zip(servers) {
            if at < first.0 {
                first = (at, host);
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{Nic, Rate};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_of_a_rack_is_the_least_of_its_servers(
            changes in prop::collection::vec((0u32..12, prop::option::of(0i64..20)), 1..60),
            until in 0i64..20,
        ) {
            let cluster = Cluster {
                racks: 3,
                servers_per_rack: 4,
                server_rate: Rate::GBPS,
                nic: Nic::Capped(Rate::GBPS),
            };
            let mut due = Due::new(&cluster);
            let mut plain = [Time::NEVER; 12];
            for (host, at) in changes {
                let at = at.map_or(Time::NEVER, Time);
                let before = std::mem::replace(&mut plain[host as usize], at);
                prop_assert_eq!(due.set(host, at), before);
                prop_assert_eq!(due.is_empty(), plain.iter().all(|&t| t == Time::NEVER));
                let mut passed = due.clone();
                let mut after = plain;
                for at in after.iter_mut().filter(|at| **at <= Time(until)) {
                    *at = if at.0 % 2 == 0 { Time::NEVER } else { Time(until + 1 + at.0) };
                }
                for rack in 0..3 {
                    passed.pass(rack, Time(until), |host| after[host as usize]);
                    let least = passed.servers(rack).map(|h| (after[h as usize], h)).min();
                    let least = least.filter(|least| least.0 < Time::NEVER);
                    prop_assert_eq!(passed.by(rack, Time(i64::MAX - 1)), least);
                }
                prop_assert_eq!(passed.is_empty(), after.iter().all(|&t| t == Time::NEVER));
                for rack in 0..3 {
                    let of = due.servers(rack).map(|h| (plain[h as usize], h));
                    let least = of.min().filter(|least| least.0 <= Time(until));
                    prop_assert_eq!(due.by(rack, Time(until)), least);
                }
            }
        }
    }
}
