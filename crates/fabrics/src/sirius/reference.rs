//! A plain implementation of the protocol of §4.3 and A.3. It is the oracle of the kernel, whose
//! results must be equal bit by bit. It has one queue per pair, no shards and no optimisations. A
//! slot reads from top to bottom: admit; at the start of an epoch grant, accept, request; transmit,
//! receive.
//!
//! Nodes are named by label, as in [`Schedule`](crate::sirius::schedule::Schedule).
//!
//! # Who goes first
//! A node keeps one first-in, first-out queue for each other node (§6). The paper does not define
//! which of several cells that reach a node in the same slot joins its queues, or is delivered,
//! first. Here and in the kernel:
//!
//! 1. A cell *takes its place* when it joins a queue in which fewer than [`PLACES`] wait.
//!    Otherwise it is set aside, and takes its place at the end of the slot in which there
//!    is room. Places are taken
//!    - at the start of an epoch by granted cells, in order of their sources, and of one
//!      source in order of their intermediates;
//!    - at the end of a slot first by the cells that were set aside, in order of arrival, then by
//!      the cells that have reached their intermediates, in the order of rule 2.
//! 2. Of cells that reach nodes in the same slot, those of a lower *block* of senders go first (64
//!    labels, or more where 16 such blocks are too few for all nodes); within a block those that
//!    took their place at their sender earlier.
//! 3. At their destination, however, all cells on their second hop go before those that come
//!    directly from their source.
//!
//! # Random draws
//! The streams are those of the kernel: `sirius.requests` (one per node), `sirius.grants` (one for
//! each epoch and 32 intermediates, which process their askers in the same random order), and those
//! of failures. The sources of a block share one list of candidates. A walk starts from the order
//! that the previous walk left, because a draw may start from any order.

mod agreement;
mod fabric;
mod failures;
mod ideal;
mod servers;

use crate::contract::Site;
use crate::sirius::config::{Derived, GrantRule, Intermediates, SiriusConfig};
use crate::sirius::schedule::peer_order::PeerOrder;
use failures::Failures;
use lightloom_engine::{Cluster, FlowId, HostId, Io, Nic, Stream, Time};
use servers::Racks;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// Number of cells of a queue that have their own places.
const PLACES: usize = 32;

/// Number of intermediates that process the askers in the same order.
const INTERMEDIATES: usize = 32;

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    flow: usize,
    seq: u32,
    /// Whether it is on its second hop.
    relayed: bool,
}

/// The constants of a flow, and the cells that its destination has received.
#[derive(Clone, Debug)]
struct Flow {
    src: usize,
    dst: usize,
    bytes: u64,
    cells: u32,
    arrived: BTreeSet<u32>,
    /// Cells before the first that is missing.
    in_order: u32,
    /// Cells that came directly from the source.
    direct: u64,
}

/// A flow tuple of LOCAL: cells of one flow that wait at their source.
#[derive(Clone, Copy, Debug)]
struct Tuple {
    flow: usize,
    seq: u32,
    cells: u32,
    /// Whether cells that its server sends later join it.
    grows: bool,
    /// Whether its cells had left and have returned (called back or lost).
    returned: bool,
}

/// The place of a cell among all that wait, or among those that are set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Taken(u64),
    Aside(u64),
}

/// A cell in a queue.
#[derive(Clone, Copy, Debug)]
struct Queued {
    cell: Cell,
    place: Place,
}

/// A cell in a fibre.
#[derive(Clone, Copy, Debug)]
struct Sent {
    cell: Cell,
    place: Place,
    from: usize,
    to: usize,
}

/// The requests of an epoch, and the grants that answer them.
#[derive(Clone, Debug, Default)]
struct Epoch {
    /// By source, then by intermediate: the destination of the request, later that of the grant.
    requests: BTreeMap<usize, Vec<Option<usize>>>,
    /// The slots of their requests.
    slots: Range<i64>,
    answered: bool,
    /// Grants for which there was no cell: (intermediate, destination).
    unused: Vec<(usize, usize)>,
}

/// Sirius.
pub(super) struct Reference {
    cluster: Cluster,
    config: SiriusConfig,
    derived: Derived,
    seed: u64,
    nodes: usize,
    flows: Vec<Flow>,
    /// LOCAL of every node, the oldest first.
    local: Vec<Vec<Tuple>>,
    /// The queue of every node for every other.
    queues: Vec<Vec<VecDeque<Queued>>>,
    /// Cells that are set aside, in the order of their arrival: node, peer, place.
    aside: Vec<(usize, usize, Place)>,
    /// Places taken so far.
    places: u64,
    /// M of A.3: at every intermediate the cells queued and granted for every destination.
    m: Vec<Vec<u32>>,
    epochs: BTreeMap<i64, Epoch>,
    /// The candidates C of every block.
    candidates: Vec<Vec<usize>>,
    rng: Vec<Stream>,
    /// Cells in the fibres, by slot of sending.
    fibres: BTreeMap<i64, Vec<Sent>>,
    racks: Racks,
    /// Flows that pass the switch of their own rack, with the time at which they have passed it.
    entering: Vec<(FlowId, Time)>,
    failures: Failures,
    /// In which order nodes meet each other.
    peer_order: PeerOrder,
    hops: u64,
    queue_peak: u64,
    reorder_peak: u64,
}

impl Reference {
    /// An idle fabric.
    pub(super) fn new(config: &SiriusConfig, derived: Derived, site: &Site) -> Reference {
        let nodes = site.cluster.racks as usize;
        let label = |host: HostId| derived.schedule.label(site.cluster.rack_of(host)) as usize;
        let flow = |f: usize| Flow {
            src: label(site.flows.src[f]),
            dst: label(site.flows.dst[f]),
            bytes: site.flows.bytes[f],
            cells: site.flows.bytes[f].div_ceil(derived.cell) as u32,
            arrived: BTreeSet::new(),
            in_order: 0,
            direct: 0,
        };
        Reference {
            cluster: *site.cluster,
            config: config.clone(),
            seed: site.seed,
            nodes,
            flows: (0..site.flows.len()).map(flow).collect(),
            local: vec![Vec::new(); nodes],
            queues: vec![vec![VecDeque::new(); nodes]; nodes],
            aside: Vec::new(),
            places: 0,
            m: vec![vec![0; nodes]; nodes],
            epochs: BTreeMap::new(),
            candidates: vec![(0..nodes).collect(); nodes.div_ceil(block(nodes))],
            rng: (0..nodes as u64)
                .map(|node| Stream::new(site.seed, "sirius.requests", node))
                .collect(),
            fibres: BTreeMap::new(),
            racks: Racks::new(site.cluster),
            entering: Vec::new(),
            failures: Failures::none(),
            peer_order: PeerOrder::new(&derived.schedule),
            hops: 0,
            queue_peak: 0,
            reorder_peak: 0,
            derived,
        }
    }

    /// Epochs from a request to its answer, and from a grant to its acceptance; see `Derived::lag`.
    fn lag(&self) -> i64 {
        let (slots, of) = self.derived.epoch;
        let shortest = self.config.slot * (slots / of).max(1);
        1 + self.config.crossing().div_ceil(shortest)
    }

    fn bytes(&self, cell: Cell) -> u64 {
        let flow = &self.flows[cell.flow];
        let before = cell.seq as u64 * self.derived.cell;
        self.derived.cell.min(flow.bytes - before)
    }

    // Admit: cells join LOCAL as soon as they have come from their servers.

    /// Bytes of flows that have not passed the switch of their own rack.
    fn entering_bytes(&self) -> u64 {
        let flows = self
            .entering
            .iter()
            .map(|entering| &self.flows[entering.0.index()]);
        flows.map(|flow| flow.bytes).sum()
    }

    /// Flows that have passed the switch of their own rack by `now`, with the times at which they
    /// did.
    fn through(&mut self, now: Time, io: &mut Io) -> Vec<(FlowId, Time)> {
        let latency = self.config.switch_latency;
        while let Some(id) = io.arrive(now) {
            let at = io.flows.arrival[id.index()] + latency;
            self.entering.push((id, at));
        }
        self.entering.sort_by_key(|entering| entering.1);
        let count = self.entering.partition_point(|entering| entering.1 <= now);
        self.entering.drain(..count).collect()
    }

    fn admit(&mut self, now: Time, io: &mut Io) {
        for (id, at) in self.through(now, io) {
            let Flow {
                src, dst, cells, ..
            } = self.flows[id.index()];
            if self.cluster.nic != Nic::Uncapped || src == dst {
                self.admit_to_server(id, at, io);
            } else {
                self.enter(Tuple {
                    flow: id.index(),
                    seq: 0,
                    cells,
                    grows: false,
                    returned: false,
                });
            }
        }
        self.send_from_servers(now, io);
    }

    /// At the start of an epoch each stage of the protocol handles the requests of a different
    /// epoch: the latest requests are answered, the grants before them are accepted, and grants
    /// that were not used lapse.
    fn begin_epoch(&mut self, slot: i64, epoch: i64, io: &mut Io) {
        let asked = epoch - self.lag();
        let granted = asked - self.lag();
        self.recover(slot, epoch, io);
        self.lapse(granted - self.lag());
        self.strike(asked, slot, epoch);
        self.grant(asked, epoch);
        self.accept(granted, self.config.slot * slot, io);
        self.sweep_late(epoch, io);
        self.request(slot, epoch);
    }

    // Request (compute_requests of A.3, Fig 15): a node walks LOCAL and sends each of the random
    // intermediates one request, for permission to send cells of random flows.

    fn request(&mut self, slot: i64, epoch: i64) {
        let (slots, dark) = (self.slots_from(slot), self.dark_in(self.slots_from(slot)));
        for source in 0..self.nodes {
            let tuples = self.local[source].iter();
            let flows: Vec<(usize, u32)> =
                tuples.map(|t| (self.flows[t.flow].dst, t.cells)).collect();
            let mut wants = self.compute_requests(source, flows);
            self.avoid(source, &dark, &mut wants);
            if wants.iter().any(Option::is_some) {
                let epoch = self.epochs.entry(epoch).or_default();
                epoch.slots = slots.clone();
                epoch.requests.insert(source, wants);
            }
        }
    }

    /// `flows` are the tuples F as (destination, cells); returns the destination for which each
    /// intermediate is requested.
    fn compute_requests(
        &mut self,
        source: usize,
        mut flows: Vec<(usize, u32)>,
    ) -> Vec<Option<usize>> {
        let others = self.config.intermediates == Intermediates::Others;
        let candidates = &mut self.candidates[source / block(self.nodes)];
        let (rng, n) = (&mut self.rng[source], candidates.len());
        let mut wants = vec![None; n];
        if !others && flows.len() > 1 && flows.iter().all(|f| f.1 as usize >= n) {
            // No flow can run out, so flows and intermediates are drawn in pairs.
            for pair in wants.chunks_mut(2) {
                let (a, b) = rng.below2(flows.len() as u32, flows.len() as u32);
                let drawn = [a, b].map(|f| Some(flows[f as usize].0));
                pair.copy_from_slice(&drawn[..pair.len()]);
            }
            return wants;
        }
        let mut asked = 0;
        while !flows.is_empty() && asked < n {
            let left = &mut candidates[asked..];
            if !others && flows.len() == 1 && flows[0].1 as usize >= left.len() {
                // Only one flow is left for all remaining intermediates: no draw is needed.
                left.iter().for_each(|&by| wants[by] = Some(flows[0].0));
                break;
            }
            let (f, c) = rng.below2(flows.len() as u32, left.len() as u32);
            let (f, mut c, destination) = (f as usize, c as usize, flows[f as usize].0);
            flows[f].1 -= 1;
            if flows[f].1 == 0 {
                flows.swap_remove(f);
            }
            let barred = |by: usize| others && (by == source || by == destination);
            if left.iter().all(|&by| barred(by)) {
                flows.retain(|f| f.0 != destination);
                continue;
            }
            while barred(left[c]) {
                c = rng.below(left.len() as u32) as usize;
            }
            left.swap(0, c);
            wants[left[0]] = Some(destination);
            asked += 1;
        }
        wants
    }

    // Grant (compute_grants of A.3, Fig 15): an intermediate answers in random order, and
    // grants while the cells queued and granted for the destination are fewer than Q.

    fn grant(&mut self, asked: i64, now: i64) {
        let Some(epoch) = self.epochs.get_mut(&asked) else {
            return;
        };
        epoch.answered = true;
        let requests = &mut epoch.requests;
        for by in 0..self.nodes {
            let mut order: Vec<usize> = requests.keys().copied().collect();
            let index = (now as u64) << 16 | (by / INTERMEDIATES) as u64;
            Stream::new(self.seed, "sirius.grants", index).shuffle(&mut order);
            let mut served = BTreeSet::new();
            for source in order {
                let want = &mut requests.get_mut(&source).expect("it asked")[by];
                let Some(destination) = *want else { continue };
                let once = self.config.grant_rule == GrantRule::OnePerDestination;
                let m = &mut self.m[by][destination];
                if *m < self.config.queue && !(once && served.contains(&destination)) {
                    *m += 1;
                    served.insert(destination);
                } else {
                    *want = None;
                }
            }
        }
    }

    // Accept: each grant moves a cell, the oldest for its destination, from LOCAL to the
    // virtual queue for the intermediate. A grant that finds none lapses.

    fn accept(&mut self, granted: i64, now: Time, io: &mut Io) {
        let Some(epoch) = self.epochs.get_mut(&granted) else {
            return;
        };
        for (source, grants) in std::mem::take(&mut epoch.requests) {
            for (by, destination) in (0..).zip(grants).filter_map(|(by, d)| Some((by, d?))) {
                let Some(cell) = self.take(source, destination) else {
                    let epoch = self.epochs.entry(granted).or_default();
                    epoch.unused.push((by, destination));
                    continue;
                };
                if cell.seq == 0 {
                    io.start(FlowId(cell.flow as u32), now);
                }
                self.join(source, by, cell);
            }
        }
    }

    /// Takes the oldest cell for a destination out of LOCAL.
    fn take(&mut self, source: usize, destination: usize) -> Option<Cell> {
        let (local, flows) = (&mut self.local[source], &self.flows);
        let oldest = local
            .iter()
            .position(|t| flows[t.flow].dst == destination)?;
        let Tuple { flow, seq, .. } = local[oldest];
        local[oldest].seq += 1;
        local[oldest].cells -= 1;
        if local[oldest].cells == 0 {
            local.remove(oldest);
        }
        let relayed = false;
        Some(Cell { flow, seq, relayed })
    }

    fn lapse(&mut self, used: i64) {
        let epoch = self.epochs.remove(&used).unwrap_or_default();
        for (by, destination) in epoch.unused {
            self.m[by][destination] -= 1;
        }
    }

    /// A cell joins a queue.
    fn join(&mut self, node: usize, peer: usize, cell: Cell) {
        let queue = &mut self.queues[node][peer];
        let place = match queue.len() < PLACES {
            true => Place::Taken(self.places),
            false => Place::Aside(self.places),
        };
        self.places += 1;
        queue.push_back(Queued { cell, place });
        if let Place::Aside(_) = place {
            self.aside.push((node, peer, place));
        }
    }

    /// Cells that waited aside take their places if there is room now.
    fn move_up(&mut self) {
        for (node, peer, aside) in std::mem::take(&mut self.aside) {
            let mut queue = self.queues[node][peer].iter_mut().enumerate();
            match queue.find(|(_, q)| q.place == aside) {
                Some((before, queued)) if before < PLACES => {
                    queued.place = Place::Taken(self.places);
                    self.places += 1;
                }
                Some(_) => self.aside.push((node, peer, aside)),
                // The cell was called back.
                None => (),
            }
        }
    }

    // Transmit: every uplink sends the first cell that waits for its peer of this slot.

    fn transmit(&mut self, slot: i64, io: &mut Io) {
        for node in 0..self.nodes {
            for uplink in 0..self.derived.uplinks {
                let Some(peer) = self.peer(node, uplink, slot) else {
                    continue;
                };
                let Some(Queued { cell, place }) = self.queues[node][peer].pop_front() else {
                    continue;
                };
                self.hops += 1;
                self.m[node][peer] -= cell.relayed as u32;
                if !self.is_lost((cell, node, uplink), slot, io) {
                    let (from, to) = (node, peer);
                    let sent = self.fibres.entry(slot).or_default();
                    sent.push(Sent {
                        cell,
                        place,
                        from,
                        to,
                    });
                }
            }
        }
    }

    // Receive: cells on their first hop join the relay queues for their destinations; all others
    // have reached their destination.

    fn receive(&mut self, slot: i64, io: &mut Io) {
        let sent = slot - self.config.crossing().div_ceil(self.config.slot);
        let at = self.config.slot * (sent + 1) + self.config.crossing();
        let mut landed = self.fibres.remove(&sent).unwrap_or_default();
        landed.sort_by_key(|s| (s.from / block(self.nodes), s.place));
        self.move_up();
        for &Sent { cell, to, .. } in &landed {
            let destination = self.flows[cell.flow].dst;
            if to != destination {
                let relayed = true;
                self.join(to, destination, Cell { relayed, ..cell });
            }
        }
        let arrived = landed
            .iter()
            .filter(|s| s.to == self.flows[s.cell.flow].dst);
        let (second, direct): (Vec<Cell>, Vec<Cell>) =
            arrived.map(|s| s.cell).partition(|cell| cell.relayed);
        for cell in second.into_iter().chain(direct) {
            let itself = self.flows[cell.flow].dst;
            self.m[itself][itself] -= !cell.relayed as u32;
            self.send_to_server(cell, at, io);
        }
        self.queue_peak = self.queue_peak.max(self.longest_queue());
        self.deliver_to_servers(self.config.slot * (slot + 1), io);
    }

    /// Delivers a cell to its server, whose reorder buffer contains the cells beyond the first gap.
    fn deliver(&mut self, cell: Cell, at: Time, io: &mut Io) {
        io.deliver_some(self.bytes(cell));
        let flow = &mut self.flows[cell.flow];
        assert!(flow.arrived.insert(cell.seq), "a cell arrived twice");
        flow.direct += !cell.relayed as u64;
        while flow.arrived.contains(&flow.in_order) {
            flow.in_order += 1;
        }
        let (arrived, in_order) = (flow.arrived.len() as u64, flow.in_order as u64);
        self.reorder_peak = self.reorder_peak.max(arrived - in_order);
        if arrived == flow.cells as u64 {
            io.finish(FlowId(cell.flow as u32), at);
        }
    }

    /// Cells that a node relays.
    fn relaying(&self, node: usize) -> u64 {
        let queued = self.queues[node].iter().flatten();
        queued.filter(|q| q.cell.relayed).count() as u64
    }

    /// The largest number of bytes at any node: relayed cells, each counted as a full cell, and
    /// cells that wait for its servers' links.
    fn longest_queue(&self) -> u64 {
        let queue = |n: usize| self.relaying(n) * self.derived.cell + self.received(n);
        (0..self.nodes).map(queue).max().unwrap_or(0)
    }

    /// Bytes that wait at their source: at their servers, in LOCAL, and granted.
    fn waiting(&self) -> u64 {
        let tuples = self.local.iter().flatten().chain(self.failures.parked());
        let tuples = tuples.map(|t| self.bytes_from(t.flow, t.seq, t.seq + t.cells));
        let queued = self.queues.iter().flatten().flatten();
        let granted = queued.map(|q| q.cell).filter(|cell| !cell.relayed);
        let cells = granted.chain(self.failures.lost().copied());
        self.unsent() + tuples.sum::<u64>() + self.bytes_of(cells)
    }
}

/// Number of nodes in a block.
fn block(nodes: usize) -> usize {
    nodes.div_ceil(16).next_power_of_two().max(64)
}
