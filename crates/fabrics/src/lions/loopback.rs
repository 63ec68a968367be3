//! The loop-back buffers: memories with a virtual output queue for each output.
//!
//! The head packet of a VOQ first gets one of the queue's tunable transmitters, which tunes and
//! remains assigned until the packet is sent; then the VOQ sends a request to the arbiter (§II.B).
//! The shared buffer has a fixed transmitter for each output, and its packets send requests at
//! once. One VOQ sends one packet at a time, because two packets would have the same wavelength.

use super::config::{Architecture, LionsConfig, TransmitterRule};
use super::ports::Ports;
use crate::hosts::Packet;
use lightloom_engine::{FlowId, Stream};

/// Index that means "no packet" or "no transmitter".
const NONE: u32 = u32::MAX;

/// A packet in a memory.
#[derive(Clone, Copy, Debug)]
struct Stored {
    packet: Packet,
    /// The packet behind it; while it is still arriving, its queue.
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct Voq {
    head: u32,
    tail: u32,
    /// The transmitter that is assigned to it.
    transmitter: u32,
}

#[derive(Clone, Debug)]
struct Queue {
    /// Bytes that wait, and their peak.
    bytes: u64,
    peak: u64,
    /// Number of VOQs that wait for a transmitter.
    candidates: u32,
    /// Number of free transmitters; they are first in the list.
    idle: u32,
    /// The output whose turn it is.
    turn: u32,
    rng: Stream,
}

/// All loop-back buffers.
#[derive(Clone, Debug)]
pub struct Loopback {
    outputs: u32,
    /// m; 0 for the shared buffer, whose transmitters are fixed.
    transmitters: u32,
    rule: TransmitterRule,
    queues: Vec<Queue>,
    voqs: Vec<Voq>,
    /// VOQs that wait for a transmitter, by queue.
    candidates: Vec<u64>,
    words: usize,
    /// Transmitters of each queue, the idle ones first.
    stacks: Vec<u32>,
    /// The output that each transmitter sends to.
    output: Vec<u32>,
    packets: Vec<Stored>,
    unused: u32,
}

impl Loopback {
    /// Empty buffers of a resolved configuration.
    pub fn new(config: &LionsConfig, ports: &Ports, seed: u64) -> Loopback {
        let (outputs, queues) = (ports.hosts() as u32, ports.queues());
        let fixed = config.architecture == Architecture::Slb;
        let transmitters = if fixed { 0 } else { config.m() };
        let words = (outputs as usize).div_ceil(64);
        let queue = |q| Queue {
            bytes: 0,
            peak: 0,
            candidates: 0,
            idle: transmitters,
            turn: 0,
            rng: Stream::new(seed, "lions.transmitters", q),
        };
        let empty = Voq {
            head: NONE,
            tail: NONE,
            transmitter: NONE,
        };
        let all = transmitters * queues as u32;
        Loopback {
            outputs,
            transmitters,
            rule: config.transmitter_order(),
            queues: (0..queues as u64).map(queue).collect(),
            voqs: vec![empty; queues * outputs as usize],
            candidates: vec![0; queues * words],
            words,
            stacks: (0..all).collect(),
            output: vec![0; all as usize],
            packets: Vec::new(),
            unused: NONE,
        }
    }

    /// The VOQ of a queue for an output.
    #[inline]
    fn voq(&self, queue: u32, output: u32) -> usize {
        queue as usize * self.outputs as usize + output as usize
    }

    /// Adds a packet that begins to arrive at a queue.
    pub fn admit(&mut self, queue: u32, packet: Packet) -> u32 {
        self.queues[queue as usize].bytes += packet.bytes as u64;
        let stored = Stored {
            packet,
            next: queue,
        };
        if self.unused == NONE {
            self.packets.push(stored);
            return self.packets.len() as u32 - 1;
        }
        let at = self.unused;
        self.unused = self.packets[at as usize].next;
        self.packets[at as usize] = stored;
        at
    }

    /// The queue and the flow of a packet that arrives.
    pub fn arriving(&self, packet: u32) -> (u32, FlowId) {
        let p = &self.packets[packet as usize];
        (p.next, p.packet.flow)
    }

    /// Adds a packet to its VOQ. Returns whether it is now the first of a VOQ that is not sending.
    pub fn enqueue(&mut self, packet: u32, queue: u32, output: u32) -> bool {
        self.packets[packet as usize].next = NONE;
        let at = self.voq(queue, output);
        let voq = &mut self.voqs[at];
        let first = voq.head == NONE;
        if first {
            voq.head = packet;
        } else {
            self.packets[voq.tail as usize].next = packet;
        }
        voq.tail = packet;
        first && voq.transmitter == NONE
    }

    /// Whether a VOQ holds packets.
    pub fn holds(&self, queue: u32, output: u32) -> bool {
        self.voqs[self.voq(queue, output)].head != NONE
    }

    /// The flow of the first packet of a VOQ, which must not be empty.
    pub fn first(&self, queue: u32, output: u32) -> FlowId {
        let head = self.voqs[self.voq(queue, output)].head;
        self.packets[head as usize].packet.flow
    }

    /// Whether a VOQ may send a request: it holds packets and, if transmitters are tunable, has
    /// one.
    pub fn is_ready(&self, queue: u32, output: u32) -> bool {
        let voq = &self.voqs[self.voq(queue, output)];
        voq.head != NONE && (voq.transmitter != NONE || !self.is_tunable())
    }

    /// Takes a VOQ's first packet.
    pub fn dequeue(&mut self, queue: u32, output: u32) -> Packet {
        let at = self.voq(queue, output);
        let head = self.voqs[at].head;
        let stored = &mut self.packets[head as usize];
        self.voqs[at].head = std::mem::replace(&mut stored.next, self.unused);
        self.unused = head;
        self.queues[queue as usize].bytes -= stored.packet.bytes as u64;
        stored.packet
    }

    /// Whether transmitters are tunable and have to be assigned.
    #[inline]
    pub fn is_tunable(&self) -> bool {
        self.transmitters > 0
    }

    /// Records that a VOQ waits for a transmitter.
    pub fn await_transmitter(&mut self, queue: u32, output: u32) {
        let word = queue as usize * self.words + output as usize / 64;
        self.candidates[word] |= 1 << (output % 64);
        self.queues[queue as usize].candidates += 1;
    }

    /// Gives an idle transmitter of a queue to one of the VOQs that wait.
    /// Returns its output.
    pub fn assign(&mut self, queue: u32) -> Option<u32> {
        let q = &mut self.queues[queue as usize];
        if q.idle == 0 || q.candidates == 0 {
            return None;
        }
        let words = &mut self.candidates[queue as usize * self.words..][..self.words];
        let output = match self.rule {
            TransmitterRule::Random if q.candidates == 1 => nth(words, 0),
            TransmitterRule::Random => nth(words, q.rng.below(q.candidates)),
            TransmitterRule::RoundRobin => {
                let before = rank(words, q.turn) % q.candidates;
                nth(words, before)
            }
        };
        words[output as usize / 64] &= !(1 << (output % 64));
        q.candidates -= 1;
        q.turn = output + 1;
        q.idle -= 1;
        let transmitter = self.stacks[(queue * self.transmitters + q.idle) as usize];
        self.output[transmitter as usize] = output;
        let at = self.voq(queue, output);
        self.voqs[at].transmitter = transmitter;
        Some(output)
    }

    /// The transmitter that is assigned to a VOQ.
    pub fn transmitter(&self, queue: u32, output: u32) -> u32 {
        self.voqs[self.voq(queue, output)].transmitter
    }

    /// The queue and the output of an assigned transmitter.
    pub fn aim(&self, transmitter: u32) -> (u32, u32) {
        let queue = transmitter / self.transmitters;
        (queue, self.output[transmitter as usize])
    }

    /// Releases a transmitter that has sent its packet. Its VOQ waits for a transmitter again if it
    /// has more packets. Returns the queue.
    pub fn release(&mut self, transmitter: u32) -> u32 {
        let (queue, output) = (
            transmitter / self.transmitters,
            self.output[transmitter as usize],
        );
        let q = &mut self.queues[queue as usize];
        self.stacks[(queue * self.transmitters + q.idle) as usize] = transmitter;
        q.idle += 1;
        let at = self.voq(queue, output);
        self.voqs[at].transmitter = NONE;
        if self.voqs[at].head != NONE {
            self.await_transmitter(queue, output);
        }
        queue
    }

    /// Updates the peak of a queue.
    #[inline]
    pub fn note_peak(&mut self, queue: u32) {
        let q = &mut self.queues[queue as usize];
        q.peak = q.peak.max(q.bytes);
    }

    /// Bytes in all memories, and in the fullest one.
    pub fn bytes(&self) -> (u64, u64) {
        let bytes = || self.queues.iter().map(|q| q.bytes);
        (bytes().sum(), bytes().max().unwrap_or(0))
    }

    /// Peak of the bytes in any memory.
    pub fn peak(&self) -> Option<u64> {
        self.queues.iter().map(|q| q.peak).max()
    }
}

/// The position of the n-th set bit.
fn nth(words: &[u64], mut n: u32) -> u32 {
    for (w, &word) in words.iter().enumerate() {
        let ones = word.count_ones();
        if n < ones {
            let mut rest = word;
            (0..n).for_each(|_| rest &= rest - 1);
            return w as u32 * 64 + rest.trailing_zeros();
        }
        n -= ones;
    }
    unreachable!("fewer bits are set than were counted")
}

/// Number of set bits before a position.
fn rank(words: &[u64], place: u32) -> u32 {
    let full = place as usize / 64;
    let part = words
        .get(full)
        .map_or(0, |w| (w & !(!0 << (place % 64))).count_ones());
    words.iter().take(full).map(|w| w.count_ones()).sum::<u32>() + part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_found_by_number_and_counted_by_place() {
        let words = [0b1010_0001, 0, 1 << 63];
        let places = [0, 5, 7, 191];
        for (n, &place) in places.iter().enumerate() {
            assert_eq!(nth(&words, n as u32), place);
            assert_eq!(rank(&words, place), n as u32);
            assert_eq!(rank(&words, place + 1), n as u32 + 1);
        }
    }

    fn distributed(m: u32, rule: TransmitterRule) -> Loopback {
        let config = LionsConfig {
            transmitters: Some(m),
            transmitter_rule: Some(rule),
            ..LionsConfig::default()
        };
        Loopback::new(&config, &Ports::new(&config, 8), 1)
    }

    /// Three VOQs share two transmitters: the third VOQ waits until one is released; a VOQ with
    /// more packets then waits behind it.
    #[test]
    fn a_queue_sends_as_many_packets_as_it_has_transmitters() {
        let mut l = distributed(2, TransmitterRule::RoundRobin);
        for output in [1, 4, 4, 6] {
            let p = l.admit(
                3,
                Packet {
                    flow: FlowId(output),
                    bytes: 100,
                },
            );
            if l.enqueue(p, 3, output) {
                l.await_transmitter(3, output);
            }
        }
        assert_eq!(
            (l.assign(3), l.assign(3), l.assign(3)),
            (Some(1), Some(4), None)
        );
        l.note_peak(3);
        assert_eq!(l.dequeue(3, 4).flow, FlowId(4));
        assert_eq!(l.release(l.transmitter(3, 4)), 3);
        assert_eq!(l.assign(3), Some(6), "its turn is before that of 4");
        assert_eq!(l.assign(3), None);
        l.dequeue(3, 1);
        l.release(l.transmitter(3, 1));
        assert_eq!(l.assign(3), Some(4));
        assert_eq!((l.bytes(), l.peak()), ((200, 200), Some(400)));
    }

    /// 300,000 draws among three VOQs: within four standard errors of a third.
    #[test]
    fn chance_favours_no_output() {
        let mut l = distributed(1, TransmitterRule::Random);
        let mut won = [0u32; 8];
        for output in [0, 3, 7] {
            let p = l.admit(
                2,
                Packet {
                    flow: FlowId(0),
                    bytes: 1,
                },
            );
            l.enqueue(p, 2, output);
            l.await_transmitter(2, output);
        }
        for _ in 0..300_000 {
            let output = l.assign(2).expect("one is idle");
            won[output as usize] += 1;
            l.release(l.transmitter(2, output));
        }
        for output in [0, 3, 7] {
            assert!(won[output].abs_diff(100_000) < 4 * 258, "{won:?}");
        }
    }
}
