//! The bytes that each host sends over the new circuits of a slot.
//!
//! 1. Second hops: a relay sends at most an h-th of a share to each host of the connected rack.
//! 2. Only hops: hosts of both racks divide the rest of their shares fairly.
//! 3. First hops: each host offers the rest of its share evenly to the hosts of the connected rack.
//!    For each destination a relay accepts at most two h-ths of a share, less what it holds for
//!    that destination.

use super::{Circuit, PerHost, Way};
use crate::tdma::rotor::shares::Shares;

/// The bytes that hosts may still send and receive over a circuit.
#[derive(Clone, Debug, Default)]
pub(super) struct Left {
    /// Bytes that each host of the sending rack may send.
    send: Vec<u64>,
    /// Bytes that each host of the receiving rack may receive.
    receive: Vec<u64>,
}

/// Bytes that a host offers to relays: their destination, and the bytes that no relay has accepted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    sender: u32,
    to: u32,
    bytes: u64,
}

impl PerHost {
    /// Determines the bytes that hosts send over new circuits, in the three steps above.
    pub fn plan(&mut self, circuits: &[Circuit]) {
        self.first = (self.first + 1) % self.hosts_per_rack;
        let mut left = Vec::with_capacity(circuits.len());
        for circuit in circuits {
            self.left = self.shares_of(circuit);
            self.second_hops(circuit);
            self.only_hops(circuit);
            left.push(std::mem::take(&mut self.left));
        }
        for (circuit, left) in circuits.iter().zip(left) {
            self.left = left;
            self.first_hops(circuit);
        }
    }

    fn shares_of(&self, circuit: &Circuit) -> Left {
        let share = self.share(circuit.bytes);
        let all = vec![share; self.hosts_per_rack as usize];
        Left {
            send: all.clone(),
            receive: all,
        }
    }

    /// Step 1: traffic that hosts relay for hosts of the connected rack.
    fn second_hops(&mut self, circuit: &Circuit) {
        let h = self.hosts_per_rack;
        let most = self.whole(self.share(circuit.bytes) / u64::from(h));
        for (i, j) in pairs(h) {
            let (from, to) = (self.host(circuit.from, i), self.host(circuit.to, j));
            let waits = self.relayed.waiting(self.relayed.of(from, to));
            let bytes = waits.min(most);
            self.left.send[i as usize] -= bytes;
            self.left.receive[j as usize] -= bytes;
            self.move_to_plan(circuit.line, from, to, Way::Second, bytes);
        }
    }

    /// Step 2: senders divide their shares, then receivers theirs among these bytes, repeatedly,
    /// until no host gets more.
    fn only_hops(&mut self, circuit: &Circuit) {
        let h = self.hosts_per_rack;
        let queue = |i, j| {
            self.own
                .of(self.host(circuit.from, i), self.host(circuit.to, j))
        };
        let wants: Vec<u64> = { pairs(h) }
            .map(|(i, j)| self.own.waiting(queue(i, j)))
            .collect();
        if wants.iter().all(|&bytes| bytes == 0) {
            return;
        }
        let mut left = std::mem::take(&mut self.left);
        let got = divide_both_ways(&wants, &mut left.send, &mut left.receive, &mut self.shares);
        self.left = left;
        for ((i, j), bytes) in pairs(h).zip(got) {
            let (from, to) = (self.host(circuit.from, i), self.host(circuit.to, j));
            self.move_to_plan(circuit.line, from, to, Way::Direct, bytes);
        }
    }

    /// Step 3: the rest of the shares carries bytes of third racks to relays. Each relay computes
    /// how much it would accept of all offers, and each offer is divided fairly among the relays;
    /// this is repeated until no relay accepts more.
    fn first_hops(&mut self, circuit: &Circuit) {
        self.offer(circuit);
        while !self.offers.is_empty() && self.accept(circuit) > 0 {
            self.offers.retain(|offer| offer.bytes > 0);
        }
    }

    /// Each sender divides the rest of its share fairly among the destinations for which bytes
    /// wait.
    fn offer(&mut self, circuit: &Circuit) {
        self.offers.clear();
        for i in 0..self.hosts_per_rack {
            let cap = self.left.send[i as usize];
            if cap == 0 {
                continue;
            }
            let from = self.host(circuit.from, i);
            let begin = self.offers.len();
            self.list(circuit, from, i);
            let wants = self.offers[begin..].iter().map(|offer| offer.bytes);
            let shares = self.shares.divide(cap, wants);
            for (offer, &bytes) in self.offers[begin..].iter_mut().zip(shares) {
                offer.bytes = bytes;
            }
        }
        self.offers.retain(|offer| offer.bytes > 0);
    }

    /// Lists the bytes that wait at a source for hosts of third racks.
    fn list(&mut self, circuit: &Circuit, from: u32, sender: u32) {
        let words = self.busy.len() / (self.racks * self.hosts_per_rack) as usize;
        let row = &self.busy[from as usize * words..][..words];
        for (word, &bits) in (0u32..).zip(row) {
            let mut bits = bits;
            while bits != 0 {
                let to = word * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                if to / self.hosts_per_rack != circuit.to {
                    let bytes = self.own.waiting(self.own.of(from, to));
                    self.offers.push(Offer { sender, to, bytes });
                }
            }
        }
    }

    /// Relays accept offers. Returns the accepted bytes.
    fn accept(&mut self, circuit: &Circuit) -> u64 {
        let mut offers = std::mem::take(&mut self.offers);
        offers.sort_by_key(|offer| offer.to);
        let relays = self.hosts_per_rack;
        let would: Vec<Vec<u64>> = { 0..relays }
            .map(|number| self.would_accept(circuit, number, &offers))
            .collect();
        let mut all = 0;
        for (at, offer) in offers.iter_mut().enumerate() {
            let caps = would.iter().map(|of| of[at]);
            let got = self.shares.divide(offer.bytes, caps).to_vec();
            let from = self.host(circuit.from, offer.sender);
            for (number, bytes) in (0..relays).zip(got) {
                let relay = self.host(circuit.to, number);
                offer.bytes -= bytes;
                self.left.receive[number as usize] -= bytes;
                self.coming[self.relayed.of(relay, offer.to)] += bytes;
                self.move_to_plan(circuit.line, from, offer.to, Way::First { relay }, bytes);
                all += bytes;
            }
        }
        self.offers = offers;
        all
    }

    /// The bytes of each offer that a relay would accept. Offers for one host share the relay's
    /// room for this host, and all offers share the bytes that the relay may still receive.
    fn would_accept(&mut self, circuit: &Circuit, number: u32, offers: &[Offer]) -> Vec<u64> {
        let relay = self.host(circuit.to, number);
        let mut allowed: Vec<u64> = Vec::with_capacity(offers.len());
        for same in offers.chunk_by(|a, b| a.to == b.to) {
            let room = self.room_at(relay, same[0].to);
            let shares = self
                .shares
                .divide(room, same.iter().map(|offer| offer.bytes));
            allowed.extend_from_slice(shares);
        }
        let cap = self.left.receive[number as usize];
        self.shares.divide(cap, allowed.into_iter()).to_vec()
    }

    /// The bytes that a relay still accepts for a destination: none if their racks no longer meet.
    fn room_at(&self, relay: u32, to: u32) -> u64 {
        let racks = self.rack(relay) as usize * self.racks as usize + self.rack(to) as usize;
        if !self.meet.is_empty() && !self.meet[racks] {
            return 0;
        }
        let queue = self.relayed.of(relay, to);
        let held = self.own.waiting(queue) + self.relayed.waiting(queue) + self.coming[queue];
        self.room.saturating_sub(held)
    }
}

/// The hosts of two racks, by their numbers.
fn pairs(h: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..h).flat_map(move |i| (0..h).map(move |j| (i, j)))
}

/// Divides the share of each sender and each receiver among the pairs that could use it, sender by
/// sender: each side in turn divides fairly, until neither can give more. The bytes given are
/// subtracted from both shares.
pub(super) fn divide_both_ways(
    could_use: &[u64],
    send: &mut [u64],
    receive: &mut [u64],
    shares: &mut Shares,
) -> Vec<u64> {
    let h = send.len();
    let mut wants = could_use.to_vec();
    let mut got = vec![0; wants.len()];
    loop {
        let mut may = Vec::with_capacity(wants.len());
        for (row, &cap) in wants.chunks(h).zip(send.iter()) {
            let open = row.iter().zip(receive.iter());
            let usable = open.map(|(&bytes, &most)| bytes.min(most));
            may.extend_from_slice(shares.divide(cap, usable));
        }
        let mut given = 0;
        for j in 0..h {
            let column = shares.divide(receive[j], (0..h).map(|i| may[i * h + j]));
            for (i, &bytes) in column.iter().enumerate() {
                got[i * h + j] += bytes;
                wants[i * h + j] -= bytes;
                send[i] -= bytes;
                receive[j] -= bytes;
                given += bytes;
            }
        }
        if given == 0 {
            return got;
        }
    }
}
