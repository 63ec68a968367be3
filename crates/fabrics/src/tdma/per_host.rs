//! RotorLB by hosts, as the authors' simulator has it (TritonNetworking/opera-sim,
//! `src/opera/rlbmodule.cpp`).
//!
//! Bulk waits for each pair of hosts by itself. When a switch has turned, what each host of a
//! rack sends over it until it turns again is decided at once. A host sends no more than its
//! share of the circuit, and receives no more: with h hosts a rack, an h-th of the whole packets
//! that the circuit carries.
//!
//! 1. Second hops: of what a host relays for one host of the rack that is met, at most an h-th
//!    of a share.
//! 2. First and only hops: hosts of both racks divide what is left of their shares fairly.
//! 3. First hops: what a host has left it offers to the hosts of the rack that is met, evenly.
//!    One of them accepts for each destination at most two h-ths of a share, less what it holds
//!    for it.
//!
//! What comes during a slot waits for the next. What low-latency packets leave no time for waits
//! in front of its queue again.
//!
//! Here as in [`super::relays`], bytes that cross are at the relay when the slot ends, and what
//! a relay has accepted counts as held; in the authors' simulator they come one by one, and what
//! is under way does not count. Their relays may together accept more than a host may send, which
//! then sends less of everything; here what they accept is what it sends.

use super::burst::Wire;
use super::relays::Relaying;
use super::rotorlb::Indirect;
use super::shares::Shares;
use super::voq::Voqs;
use crate::ranges::refuse;
use lightloom_engine::{Cluster, FlowId, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// For whom RotorLB divides circuits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fairness {
    /// For racks: a circuit carries what waits at its rack, whichever host sent it.
    #[default]
    PerRack,
    /// For hosts: each may use its share of a circuit, as in the authors' simulator.
    PerHost,
}

impl Fairness {
    /// What a circuit carries in a day, where it is divided among hosts [B].
    pub fn by_hosts(self, wire: Wire, day: Time) -> Option<u64> {
        (self == Fairness::PerHost).then(|| wire.rate.bytes_in(day))
    }

    /// The rule for so many racks, where circuits are divided among these.
    pub fn relaying(
        self,
        indirect: Indirect,
        racks: u32,
        wire: Wire,
        day: Time,
    ) -> Option<Box<dyn Relaying>> {
        match self {
            Fairness::PerRack => indirect.relaying(racks, wire, day),
            Fairness::PerHost => None,
        }
    }

    /// Refuses a division among hosts where nothing is relayed, or where a day carries less than
    /// a packet for each pair of hosts of two racks, who would then never relay.
    pub fn refuse(
        self,
        indirect: Indirect,
        cluster: &Cluster,
        wire: Wire,
        day: Time,
    ) -> Result<(), Refusal> {
        if self == Fairness::PerRack {
            return Ok(());
        }
        if indirect == Indirect::None {
            let limit = "divides circuits for two-hop traffic, and fabric.indirect = \"none\"";
            return refuse(
                "rotorlb",
                "per-host",
                limit.to_owned(),
                "remove one of the two",
            );
        }
        let hosts = u64::from(cluster.servers_per_rack);
        let (packets, fewest) = (wire.rate.bytes_in(day) / wire.packet, hosts * hosts);
        if packets < fewest {
            let limit = format!(
                "needs days of {fewest} packets at least, one for each pair of servers of two \
                 racks, and a day carries {packets}"
            );
            let remedy = "lengthen the day, shorten packets, or use \"per-rack\"";
            return refuse("rotorlb", "per-host", limit, remedy);
        }
        Ok(())
    }
}

/// Which way bytes go over a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From their source to their destination.
    Direct,
    /// From their source to a host that relays them.
    First {
        /// That host.
        relay: u32,
    },
    /// From there to their destination.
    Second,
}

/// Bytes of a flow that a line is to send in this slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Of this flow.
    pub flow: FlowId,
    /// How many.
    pub bytes: u64,
    /// Which way they go.
    pub way: Way,
    /// The host that sends them.
    pub from: u32,
    /// The host for which they are.
    pub to: u32,
}

/// A line with its circuit.
#[derive(Clone, Copy, Debug)]
pub struct Circuit {
    /// Number of the line: plane × racks + `from`.
    pub line: usize,
    /// The rack that sends.
    pub from: u32,
    /// The rack that hears it.
    pub to: u32,
    /// What it carries in this slot.
    pub bytes: u64,
}

/// What hosts may still send and receive over a circuit.
#[derive(Clone, Debug, Default)]
struct Left {
    /// By host of the rack that sends.
    send: Vec<u64>,
    /// By host of the rack that is met.
    receive: Vec<u64>,
}

/// Bytes that a host offers to those that relay: for whom, and what nobody has accepted.
#[derive(Clone, Copy, Debug)]
struct Offer {
    sender: u32,
    to: u32,
    bytes: u64,
}

/// Queues of all hosts, and what is planned for each line.
pub struct PerHost {
    hosts_per_rack: u32,
    racks: u32,
    packet: u64,
    /// What a host relays for another at most.
    room: u64,
    /// By source and destination, what has not left its source.
    own: Voqs,
    /// By relay and destination.
    relayed: Voqs,
    /// By the same numbers, bytes that a relay has accepted and that are not there yet.
    coming: Vec<u64>,
    /// By source, a bit for each destination for which something waits.
    busy: Vec<u64>,
    /// By line.
    plans: Vec<VecDeque<Planned>>,
    /// By plane, what is on its way to relays.
    crossing: Vec<Vec<Planned>>,
    /// By relay and destination rack, whether they ever meet; empty where all do.
    meet: Vec<bool>,
    /// Who is asked first: each slot another.
    first: u32,
    /// Bytes that have not left their sources.
    waiting: u64,
    /// By rack, bytes at its relays.
    held: Vec<u64>,
    /// Bytes of each flow that a relay has delivered.
    delivered: Vec<u64>,
    left: Left,
    offers: Vec<Offer>,
    shares: Shares,
}

impl PerHost {
    /// Empty queues, for circuits of which a slot carries so many bytes.
    pub fn new(
        cluster: &Cluster,
        carries: u64,
        packet: u64,
        planes: usize,
        flows: usize,
    ) -> PerHost {
        let (racks, hosts) = (cluster.racks, cluster.hosts());
        let (lines, words) = (planes * racks as usize, hosts.div_ceil(64) as usize);
        let mut new = PerHost {
            hosts_per_rack: cluster.servers_per_rack,
            racks,
            packet,
            room: 0,
            own: Voqs::new(hosts),
            relayed: Voqs::new(hosts),
            coming: vec![0; hosts as usize * hosts as usize],
            busy: vec![0; hosts as usize * words],
            plans: vec![VecDeque::new(); lines],
            crossing: vec![Vec::new(); planes],
            meet: Vec::new(),
            first: 0,
            waiting: 0,
            held: vec![0; racks as usize],
            delivered: vec![0; flows],
            left: Left::default(),
            offers: Vec::new(),
            shares: Shares::default(),
        };
        // Two h-ths of a share, rounded once.
        let share = new.share(carries);
        new.room = new.whole(2 * share / u64::from(new.hosts_per_rack));
        new
    }

    /// Memory that so many hosts, lines and flows take, about [B].
    pub fn memory(hosts: u64, lines: u64, flows: u64) -> u64 {
        hosts * hosts * (2 * 16 + 8) + hosts * hosts / 8 + lines * 256 + flows * 8
    }

    /// A host's share of what a circuit carries, in whole packets.
    fn share(&self, carries: u64) -> u64 {
        carries / self.packet / u64::from(self.hosts_per_rack) * self.packet
    }

    fn whole(&self, bytes: u64) -> u64 {
        bytes / self.packet * self.packet
    }

    fn rack(&self, host: u32) -> u32 {
        host / self.hosts_per_rack
    }

    /// The host of a rack with a number, counted from whoever is first in this slot.
    fn host(&self, rack: u32, number: u32) -> u32 {
        let h = self.hosts_per_rack;
        rack * h + (number + self.first) % h
    }

    /// Bytes that have not left their sources.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Bytes at relays of a rack.
    pub fn held(&self, rack: u32) -> u64 {
        self.held[rack as usize]
    }

    /// Bytes at all relays.
    pub fn all_held(&self) -> u64 {
        self.held.iter().sum()
    }

    /// Bytes of a flow that came over a relay.
    pub fn delivered(&self, flow: FlowId) -> u64 {
        self.delivered[flow.index()]
    }

    /// From now on these racks meet, by relay and destination; all if it is empty.
    pub fn meet(&mut self, meet: Vec<bool>) {
        self.meet = meet;
    }

    /// Bytes of a flow wait at their source.
    pub fn join(&mut self, flow: FlowId, from: u32, to: u32, bytes: u64) {
        self.waiting += bytes;
        self.own.push(self.own.of(from, to), flow, bytes);
        self.mark(from, to);
    }

    fn mark(&mut self, from: u32, to: u32) {
        let words = self.busy.len() / (self.racks * self.hosts_per_rack) as usize;
        let at = from as usize * words + to as usize / 64;
        let bit = 1u64 << (to % 64);
        match self.own.waiting(self.own.of(from, to)) {
            0 => self.busy[at] &= !bit,
            _ => self.busy[at] |= bit,
        }
    }

    /// What a line sends next.
    pub fn next(&self, line: usize) -> Option<Planned> {
        self.plans[line].front().copied()
    }

    /// Of that, so many bytes leave.
    pub fn send(&mut self, line: usize, bytes: u64) {
        let next = self.plans[line].front_mut().expect("it sends what is next");
        let way = next.way;
        next.bytes -= bytes;
        if next.bytes == 0 {
            self.plans[line].pop_front();
        }
        match way {
            Way::Second => self.held[line % self.racks as usize] -= bytes,
            Way::Direct | Way::First { .. } => self.waiting -= bytes,
        }
    }

    /// Bytes leave for a relay over a plane.
    pub fn cross(&mut self, plane: usize, part: Planned) {
        self.crossing[plane].push(part);
    }

    /// The slot is over: what a plane carried is at its relays. Returns its bytes.
    pub fn gather(&mut self, plane: usize) -> u64 {
        let mut crossed = std::mem::take(&mut self.crossing[plane]);
        let mut all = 0;
        for part in crossed.drain(..) {
            let Way::First { relay } = part.way else {
                unreachable!("only first hops cross to relays")
            };
            let queue = self.relayed.of(relay, part.to);
            self.coming[queue] -= part.bytes;
            self.relayed.push(queue, part.flow, part.bytes);
            let rack = self.rack(relay);
            self.held[rack as usize] += part.bytes;
            all += part.bytes;
        }
        self.crossing[plane] = crossed;
        all
    }

    /// Bytes that a relay sent are at the rack of their destination.
    pub fn land(&mut self, flow: FlowId, bytes: u64) {
        self.delivered[flow.index()] += bytes;
    }

    /// A line sends nothing more in this slot: what it was to send is first in its queue.
    pub fn unplan(&mut self, line: usize) {
        while let Some(part) = self.plans[line].pop_back() {
            let Planned {
                flow,
                bytes,
                from,
                to,
                ..
            } = part;
            match part.way {
                Way::Second => self
                    .relayed
                    .push_front(self.relayed.of(from, to), flow, bytes),
                Way::Direct => self.own.push_front(self.own.of(from, to), flow, bytes),
                Way::First { relay } => {
                    self.coming[self.relayed.of(relay, to)] -= bytes;
                    self.own.push_front(self.own.of(from, to), flow, bytes);
                }
            }
            self.mark(from, to);
        }
    }

    /// Decides what lines send whose circuits are new.
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

    /// Step 1: what hosts relay for those of the rack that is met.
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

    /// Step 2: senders divide what they may send, then receivers what they may receive of that,
    /// and again, until nobody gets more.
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

    /// Step 3: what is left of shares takes bytes of third racks to relays. Each relay says what
    /// it would accept of all offers, and each offer is divided fairly among those; and again,
    /// until no relay accepts more.
    fn first_hops(&mut self, circuit: &Circuit) {
        self.offer(circuit);
        while !self.offers.is_empty() && self.accept(circuit) > 0 {
            self.offers.retain(|offer| offer.bytes > 0);
        }
    }

    /// Each sender divides what it may still send fairly among those for whom something waits.
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

    /// What waits at a source for hosts of third racks.
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

    /// Relays take what they accept of the offers. Returns how much that is.
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

    /// What a relay has room for and may receive of offers, those for a host together.
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

    /// What a relay still accepts for a destination: nothing if their racks meet no more.
    fn room_at(&self, relay: u32, to: u32) -> u64 {
        let racks = self.rack(relay) as usize * self.racks as usize + self.rack(to) as usize;
        if !self.meet.is_empty() && !self.meet[racks] {
            return 0;
        }
        let queue = self.relayed.of(relay, to);
        let held = self.own.waiting(queue) + self.relayed.waiting(queue) + self.coming[queue];
        self.room.saturating_sub(held)
    }

    /// The first bytes of a queue are to be sent in this slot.
    fn move_to_plan(&mut self, line: usize, from: u32, to: u32, way: Way, bytes: u64) {
        let queues = match way {
            Way::Second => &mut self.relayed,
            _ => &mut self.own,
        };
        let (queue, mut left) = (queues.of(from, to), bytes);
        while left > 0 {
            let (flow, there) = queues.front(queue).expect("no more is planned than waits");
            let bytes = there.min(left);
            queues.take(queue, bytes);
            left -= bytes;
            self.plans[line].push_back(Planned {
                flow,
                bytes,
                way,
                from,
                to,
            });
        }
        if bytes > 0 {
            self.mark(from, to);
        }
    }
}

/// The hosts of two racks, by their numbers.
fn pairs(h: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..h).flat_map(move |i| (0..h).map(move |j| (i, j)))
}

/// Divides what each sender may send and each receiver may receive among pairs that could use
/// so much, sender by sender: each side in turn divides fairly, until neither can give more.
/// What is given is taken from both.
fn divide_both_ways(
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

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{Nic, Rate};
    use proptest::prelude::*;

    fn cluster(racks: u32, hosts: u32) -> Cluster {
        Cluster {
            racks,
            servers_per_rack: hosts,
            server_rate: Rate(8_000_000_000),
            nic: Nic::Uncapped,
        }
    }

    /// From, to, way, bytes.
    type Row = (u32, u32, Way, u64);

    /// All that is planned for a line.
    fn planned(rule: &PerHost, line: usize) -> Vec<Row> {
        { rule.plans[line].iter() }
            .map(|part| (part.from, part.to, part.way, part.bytes))
            .collect()
    }

    /// Two hosts a rack, a circuit of 8 packets of 10 B: a share is 40 B, half of one 20 B, and a
    /// relay takes 40 B for a destination.
    #[test]
    fn by_hand() {
        let mut rule = PerHost::new(&cluster(3, 2), 80, 10, 1, 3);
        // Host 0 has much for host 2 of the rack that is met, host 1 for host 4 of the third.
        rule.join(FlowId(0), 0, 2, 100);
        rule.join(FlowId(1), 1, 4, 100);
        // Host 1 relays for hosts 2 and 3.
        rule.relayed.push(rule.relayed.of(1, 2), FlowId(2), 30);
        rule.held[0] += 30;
        let circuit = Circuit {
            line: 0,
            from: 0,
            to: 1,
            bytes: 89,
        };
        rule.plan(&[circuit]);
        let mut all = planned(&rule, 0);
        all.sort_by_key(|&(from, to, _, bytes)| (from, to, bytes));
        // The second hop takes 20 B of the share of host 2, which leaves host 0 as much; what
        // host 1 has left, 20 B, goes to host 3, as host 2 receives no more.
        assert_eq!(
            all,
            [
                (0, 2, Way::Direct, 20),
                (1, 2, Way::Second, 20),
                (1, 4, Way::First { relay: 3 }, 20),
            ]
        );
        // What is not sent waits in front again.
        rule.unplan(0);
        assert_eq!(rule.own.waiting(rule.own.of(0, 2)), 100);
        assert_eq!(rule.own.waiting(rule.own.of(1, 4)), 100);
        assert_eq!(rule.relayed.waiting(rule.relayed.of(1, 2)), 30);
        assert_eq!(rule.coming.iter().sum::<u64>(), 0);
    }

    /// Nobody exceeds what he may, and no pair that wants more has both sides left.
    fn is_feasible_and_whole(
        could_use: &[u64],
        got: &[u64],
        send: (&[u64], &[u64]),
        receive: (&[u64], &[u64]),
    ) -> Result<(), TestCaseError> {
        let h = send.0.len();
        for i in 0..h {
            let row: u64 = got[i * h..][..h].iter().sum();
            prop_assert_eq!(row + send.1[i], send.0[i]);
            let column: u64 = (0..h).map(|k| got[k * h + i]).sum();
            prop_assert_eq!(column + receive.1[i], receive.0[i]);
        }
        for (at, (&want, &bytes)) in could_use.iter().zip(got).enumerate() {
            prop_assert!(bytes <= want);
            let spare = send.1[at / h].min(receive.1[at % h]);
            prop_assert!(bytes == want || spare == 0, "pair {} of {}", at, h);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn both_sides_keep_to_what_they_may(
            wants in prop::collection::vec(0u64..60, 9),
            send in prop::collection::vec(0u64..80, 3),
            receive in prop::collection::vec(0u64..80, 3),
        ) {
            let (mut sent, mut received) = (send.clone(), receive.clone());
            let mut shares = Shares::default();
            let got = divide_both_ways(&wants, &mut sent, &mut received, &mut shares);
            is_feasible_and_whole(&wants, &got, (&send, &sent), (&receive, &received))?;
        }

        /// The rules of the head of this file, for random queues and circuits.
        #[test]
        fn plans_keep_to_shares_and_rooms(
            own in prop::collection::vec((0u32..8, 0u32..8, 1u64..200), 0..40),
            relayed in prop::collection::vec((0u32..8, 0u32..8, 1u64..60), 0..20),
            packets in 4u64..30,
            turn in 1u32..4,
        ) {
            let (h, racks) = (2, 4);
            let mut rule = PerHost::new(&cluster(racks, h), packets * 10, 10, 1, 1);
            for &(from, to, bytes) in own.iter().filter(|row| row.0 / h != row.1 / h) {
                rule.join(FlowId(0), from, to, bytes);
            }
            for &(at, to, bytes) in relayed.iter().filter(|row| row.0 / h != row.1 / h) {
                rule.relayed.push(rule.relayed.of(at, to), FlowId(0), bytes);
                rule.held[(at / h) as usize] += bytes;
            }
            let before = (rule.own.clone(), rule.relayed.clone());
            let circuits: Vec<Circuit> = (0..racks)
                .map(|from| Circuit {
                    line: from as usize,
                    from,
                    to: (from + turn) % racks,
                    bytes: packets * 10 + 3,
                })
                .collect();
            rule.plan(&circuits);
            let share = packets / u64::from(h) * 10;
            for circuit in &circuits {
                let plan = planned(&rule, circuit.line);
                let sum = |keep: &dyn Fn(&Row) -> bool| -> u64 {
                    plan.iter().filter(|part| keep(part)).map(|part| part.3).sum()
                };
                for host in circuit.from * h..(circuit.from + 1) * h {
                    prop_assert!(sum(&|part| part.0 == host) <= share);
                }
                for host in circuit.to * h..(circuit.to + 1) * h {
                    let hears = |part: &(u32, u32, Way, u64)| match part.2 {
                        Way::First { relay } => relay == host,
                        _ => part.1 == host,
                    };
                    prop_assert!(sum(&hears) <= share);
                    for from in circuit.from * h..(circuit.from + 1) * h {
                        let second = sum(&|p| p.0 == from && p.1 == host && p.2 == Way::Second);
                        let waits = before.1.waiting(before.1.of(from, host));
                        let most = packets / u64::from(h) / u64::from(h) * 10;
                        prop_assert_eq!(second, waits.min(most));
                        // Whoever can send more to him, directly, has nothing left to send.
                        let direct = sum(&|p| p.0 == from && p.1 == host && p.2 == Way::Direct);
                        let waits = before.0.waiting(before.0.of(from, host));
                        let idle = sum(&|p| p.0 == from && !matches!(p.2, Way::First { .. })) < share
                            && sum(&|p| p.1 == host && !matches!(p.2, Way::First { .. })) < share;
                        prop_assert!(direct == waits || !idle);
                    }
                    for to in 0..h * racks {
                        let accepted = sum(&|p| p.2 == Way::First { relay: host } && p.1 == to);
                        let held = before.0.waiting(before.0.of(host, to))
                            + before.1.waiting(before.1.of(host, to));
                        let room = (2 * share / u64::from(h) / 10 * 10).saturating_sub(
                            rule.own.waiting(rule.own.of(host, to)).min(held),
                        );
                        prop_assert!(accepted <= room);
                        prop_assert!(accepted == 0 || to / h != circuit.to && to / h != circuit.from);
                    }
                }
            }
            // Nothing is lost, and what is taken back is where it was.
            (0..racks as usize).for_each(|line| rule.unplan(line));
            for from in 0..h * racks {
                for to in 0..h * racks {
                    let queue = rule.own.of(from, to);
                    prop_assert_eq!(rule.own.waiting(queue), before.0.waiting(queue));
                    prop_assert_eq!(rule.relayed.waiting(queue), before.1.waiting(queue));
                }
            }
        }
    }
}
