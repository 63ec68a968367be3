//! The arbiters, one for each output and wavegroup.
//!
//! Loop-back queues go before hosts and take turns, unless the table has another rule
//! ([`super::contest`]). A host's packet does not wait at the arbiter: it wins if the receiver is
//! free and no queue requests it; otherwise it loses.

use super::ports::Ports;
use lightloom_engine::Time;

#[derive(Clone, Copy, Debug)]
struct Arbiter {
    /// Time at which its receiver can receive the next packet.
    free: Time,
    /// The number of queues that request it.
    asking: u32,
    /// The queue, by rank in the group, whose turn it is.
    turn: u32,
}

/// All arbiters.
#[derive(Clone, Debug)]
pub struct Arbiters {
    arbiters: Vec<Arbiter>,
    /// Queues with requests, by arbiter and rank in the group.
    asking: Vec<u64>,
    /// Words of `asking` for each arbiter.
    words: usize,
    /// The queues of each group by rank, and the index of each group's first queue.
    members: Vec<u32>,
    begin: Vec<usize>,
    /// Rank of each queue in its group.
    rank: Vec<u32>,
    groups: usize,
}

impl Arbiters {
    /// Arbiters with idle receivers: `groups` at each output.
    pub fn new(ports: &Ports, groups: u32) -> Arbiters {
        let groups = groups as usize;
        let (mut members, mut begin) = (Vec::new(), vec![0]);
        let mut rank = vec![0; ports.queues()];
        for g in 0..groups {
            let of_group = |&q: &u32| ports.queue_group[q as usize] as usize == g;
            for (r, q) in (0..ports.queues() as u32).filter(of_group).enumerate() {
                rank[q as usize] = r as u32;
                members.push(q);
            }
            begin.push(members.len());
        }
        let largest = begin.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
        let count = ports.hosts() * groups;
        let idle = Arbiter {
            free: Time::ZERO,
            asking: 0,
            turn: 0,
        };
        Arbiters {
            arbiters: vec![idle; count],
            words: largest.div_ceil(64),
            asking: vec![0; count * largest.div_ceil(64)],
            members,
            begin,
            rank,
            groups,
        }
    }

    /// The arbiter of an output and group.
    #[inline]
    pub fn of(&self, output: u32, group: u32) -> usize {
        output as usize * self.groups + group as usize
    }

    /// The output of an arbiter.
    #[inline]
    pub fn output(&self, arbiter: usize) -> u32 {
        (arbiter / self.groups) as u32
    }

    /// Whether a packet may have the receiver now: it is free, and no queue requests it.
    #[inline]
    pub fn is_open(&self, arbiter: usize, now: Time) -> bool {
        let a = &self.arbiters[arbiter];
        a.free <= now && a.asking == 0
    }

    /// Assigns the receiver to a packet until `free`.
    #[inline]
    pub fn occupy(&mut self, arbiter: usize, free: Time) {
        self.arbiters[arbiter].free = free;
    }

    /// Records the request of a queue. Returns the time of the grant, unless a grant is already
    /// scheduled.
    pub fn ask(&mut self, arbiter: usize, queue: u32) -> Option<Time> {
        let rank = self.rank[queue as usize];
        self.asking[arbiter * self.words + rank as usize / 64] |= 1 << (rank % 64);
        let a = &mut self.arbiters[arbiter];
        a.asking += 1;
        (a.asking == 1).then_some(a.free)
    }

    /// Grants the queue whose turn it is and removes its request.
    pub fn grant(&mut self, arbiter: usize) -> u32 {
        let asking = &self.asking[arbiter * self.words..][..self.words];
        let rank = first_from(asking, self.arbiters[arbiter].turn);
        self.arbiters[arbiter].turn = rank + 1;
        self.withdraw(arbiter, rank)
    }

    /// Grants a queue and removes its request.
    pub fn grant_to(&mut self, arbiter: usize, queue: u32) {
        self.withdraw(arbiter, self.rank[queue as usize]);
    }

    fn withdraw(&mut self, arbiter: usize, rank: u32) -> u32 {
        self.asking[arbiter * self.words + rank as usize / 64] &= !(1 << (rank % 64));
        self.arbiters[arbiter].asking -= 1;
        self.members[self.begin[arbiter % self.groups] + rank as usize]
    }

    /// The queues with requests.
    pub fn asking(&self, arbiter: usize) -> impl Iterator<Item = u32> + '_ {
        let members = &self.members[self.begin[arbiter % self.groups]..];
        let words = &self.asking[arbiter * self.words..][..self.words];
        let bits = words.iter().enumerate().flat_map(|(w, &word)| {
            let set = (0..64).filter(move |b| word >> b & 1 == 1);
            set.map(move |b| w * 64 + b)
        });
        bits.map(|rank| members[rank])
    }

    /// Time at which the receiver can receive the next packet.
    #[inline]
    pub fn free(&self, arbiter: usize) -> Time {
        self.arbiters[arbiter].free
    }

    /// Time of the next grant to a queue, if there is a request.
    #[inline]
    pub fn next_grant(&self, arbiter: usize) -> Option<Time> {
        let a = &self.arbiters[arbiter];
        (a.asking > 0).then_some(a.free)
    }
}

/// The first set bit at or after `from`, otherwise the first set bit of all.
fn first_from(words: &[u64], from: u32) -> u32 {
    let first = from as usize / 64;
    let bit = |w: usize, word: u64| w as u32 * 64 + word.trailing_zeros();
    if let Some(word) = words.get(first).map(|w| w & (!0 << (from % 64))) {
        if word != 0 {
            return bit(first, word);
        }
    }
    let behind = (first + 1)..words.len();
    let found = behind.chain(0..words.len()).find(|&w| words[w] != 0);
    let w = found.expect("a queue asks");
    bit(w, words[w])
}

#[cfg(test)]
mod tests {
    use super::super::config::{Architecture, LionsConfig};
    use super::*;
    use lightloom_engine::Stream;

    #[test]
    fn the_next_bit_wraps_around() {
        let words = [1 << 3, 0, 1 << 63 | 1];
        for (from, expected) in [(0, 3), (3, 3), (4, 128), (129, 191), (191, 191), (192, 3)] {
            assert_eq!(first_from(&words, from), expected, "{from}");
        }
    }

    /// A distributed buffer's arbiters, and the queues of one group by rank.
    fn distributed(hosts: u32, k: u32) -> (Arbiters, usize, Vec<u32>) {
        let config = LionsConfig {
            architecture: Architecture::Dlb,
            receivers: k,
            ..LionsConfig::default()
        };
        let ports = Ports::new(&config, hosts);
        let arbiters = Arbiters::new(&ports, k);
        let mine = |&q: &u32| ports.queue_group[q as usize] == k - 1;
        let at = arbiters.of(5, k - 1);
        (arbiters, at, (0..hosts).filter(mine).collect())
    }

    #[test]
    fn every_output_and_group_has_an_arbiter() {
        for (hosts, k) in [(8, 1), (12, 3)] {
            let (arbiters, ..) = distributed(hosts, k);
            let all = (0..hosts).flat_map(|o| (0..k).map(move |g| (o, g)));
            for (number, (output, group)) in all.enumerate() {
                assert_eq!(arbiters.of(output, group), number);
                assert_eq!(arbiters.output(number), output);
            }
        }
    }

    /// Queues that always have packets are granted in turn: none is granted again before all others
    /// have been.
    #[test]
    fn a_queue_that_asks_again_goes_behind_the_others() {
        for (hosts, k) in [(8, 1), (8, 2), (200, 1), (200, 2)] {
            let (mut arbiters, at, mine) = distributed(hosts, k);
            for &q in &mine {
                arbiters.ask(at, q);
            }
            for round in 0..3 {
                for &expected in &mine {
                    let granted = arbiters.grant(at);
                    assert_eq!(granted, expected, "round {round} of {hosts}, {k}");
                    arbiters.ask(at, granted);
                }
            }
        }
    }

    /// Random requests of queues, compared with a plain model of round robin.
    #[test]
    fn the_next_in_the_circle_is_granted() {
        for (hosts, k) in [(8, 2), (200, 1)] {
            let (mut arbiters, at, mine) = distributed(hosts, k);
            let mut rng = Stream::new(5, "test.arbiter", hosts as u64);
            let (mut asks, mut turn) = (vec![false; mine.len()], 0);
            for step in 0..5_000 {
                let r = rng.below(mine.len() as u32) as usize;
                if !std::mem::replace(&mut asks[r], true) {
                    arbiters.ask(at, mine[r]);
                }
                if rng.below(3) == 0 {
                    let mut circle = (turn..mine.len()).chain(0..turn);
                    let next = circle.find(|&r| asks[r]).expect("one asks");
                    assert_eq!(arbiters.grant(at), mine[next], "step {step}");
                    (asks[next], turn) = (false, next + 1);
                }
                let waiting = asks.iter().any(|&a| a);
                assert_eq!(arbiters.next_grant(at).is_some(), waiting, "step {step}");
                assert_eq!(arbiters.is_open(at, Time::ZERO), !waiting);
                if !waiting {
                    arbiters.ask(at, mine[0]);
                    asks[0] = true;
                }
            }
        }
    }

    /// A receiver that receives a packet is granted again once it is free, and to no packet
    /// earlier; its neighbours are not delayed.
    #[test]
    fn a_receiver_is_free_when_its_packet_is_over() {
        let (mut arbiters, at, mine) = distributed(8, 2);
        let until = Time::NS * 3;
        arbiters.occupy(at, until);
        assert!(!arbiters.is_open(at, until - Time(1)));
        assert!(arbiters.is_open(at, until));
        assert!(arbiters.is_open(at - 1, Time::ZERO) && arbiters.is_open(at + 1, Time::ZERO));
        assert_eq!(arbiters.next_grant(at), None);
        assert_eq!(arbiters.ask(at, mine[1]), Some(until));
        assert_eq!(arbiters.ask(at, mine[0]), None, "that is settled");
        assert!(!arbiters.is_open(at, until), "queues go first");
        assert!(arbiters.is_open(at - 1, until));
        assert_eq!(arbiters.grant(at), mine[0]);
        assert_eq!(arbiters.next_grant(at), Some(until));
        assert_eq!(arbiters.grant(at), mine[1]);
        assert_eq!(arbiters.next_grant(at), None);
    }

    /// Every queue with a request is granted once in a round, in order.
    #[test]
    fn queues_take_turns() {
        for (hosts, k) in [(8, 1), (8, 2), (200, 1), (200, 2)] {
            let (mut arbiters, at, mine) = distributed(hosts, k);
            for round in 0..3 {
                for (i, &q) in mine.iter().enumerate() {
                    assert_eq!(arbiters.ask(at, q).is_some(), i == 0, "round {round}");
                }
                assert!(!arbiters.is_open(at, Time::NS));
                let granted: Vec<u32> = mine.iter().map(|_| arbiters.grant(at)).collect();
                assert_eq!(granted, mine);
            }
            assert!(arbiters.is_open(at, Time::ZERO) && arbiters.next_grant(at).is_none());
        }
    }
}
