//! The slot kernel of Sirius with its request/grant protocol: admit, answer,
//! accept, ask, transmit, receive.

use super::accepting::Answers;
use super::book::{self, by_intermediate, Book, Deal};
use super::cell::Routes;
use super::config::{Derived, Recovery, SiriusConfig};
use super::departures::timetable;
use super::eras::Eras;
use super::faults::{Delays, Faults, Stretch};
use super::grants::Asker;
use super::mail::Flight;
use super::meetings::Timetable;
use super::prefetch::{hinted, prefetch};
use super::recovery::Avoid;
use super::servers::Servers;
use super::shard::{Shard, Ways};
use super::topology::{ColumnRef, Schedule, Visits};
use crate::registry::Site;
use lightloom_engine::kernel::slot::SlotKernel;
use lightloom_engine::{
    Cluster, Command, FlowId, HostId, Io, Nic, PortId, Rate, Rejected, Shape, Time, Totals, View,
};
use rayon::prelude::*;

/// Sirius.
pub struct Sirius {
    pub(super) cluster: Cluster,
    pub(super) config: SiriusConfig,
    pub(super) derived: Derived,
    seed: u64,
    pub(super) routes: Routes,
    pub(super) visits: Visits,
    /// When nodes meet, where cells are kept by the slot in which they leave.
    pub(super) timetable: Option<Timetable>,
    pub(super) deal: Deal,
    pub(super) shards: Vec<Shard>,
    /// What is in flight, by slot of sending, then by shard of the sender.
    pub(super) flights: Vec<Vec<Flight>>,
    pub(super) books: Vec<Book>,
    /// Epochs from asking to answering: 1, and more over long fibres.
    lag: i64,
    pool: Option<rayon::ThreadPool>,
    /// Cells sent and not yet received.
    flying: u64,
    pub(super) bypassed: super::bypass::Bypass,
    /// Which schedule is in force.
    pub(super) eras: Eras,
    pub(super) faults: Faults,
    /// The links of servers, where they have a rate of their own.
    pub(super) servers: Option<Servers>,
}

/// What a step of the kernel needs, borrowed at once.
struct Parts<'a> {
    ways: Ways<'a>,
    shards: &'a mut [Shard],
    flights: &'a mut [Vec<Flight>],
    books: &'a mut [Book],
    pool: &'a Option<rayon::ThreadPool>,
}

impl Sirius {
    /// An idle fabric.
    pub fn new(config: &SiriusConfig, derived: Derived, site: &Site) -> Self {
        let schedule = &derived.schedule;
        let nodes = schedule.nodes() as usize;
        let routes = Routes::new(site.flows, site.cluster, schedule, derived.cell);
        let deal = Deal::new(nodes, site.threads);
        let timetable = timetable(schedule);
        let servers = Servers::new(site.cluster);
        let capped = servers.is_some();
        let known = (&deal, timetable.as_ref(), derived.uplinks);
        let shards: Vec<Shard> = deal
            .shards()
            .map(|part| Shard::new(config, part, &routes, site.seed, known, capped))
            .collect();
        let lag = derived.lag(config);
        let books = derived.books(config);
        let empty = vec![Flight::default(); shards.len()];
        let flights = derived.flights(config);
        let pool = (shards.len() > 1).then(|| {
            let threads = rayon::ThreadPoolBuilder::new().num_threads(shards.len());
            threads.build().expect("threads can be started")
        });
        let delays = Delays {
            detection: config.detection_epochs as i64,
            hop: lag,
            reschedule: config.recovery == Recovery::Reschedule,
        };
        Sirius {
            servers,
            eras: Eras::new(schedule, derived.epoch),
            faults: Faults::new(nodes, site.seed, delays),
            cluster: *site.cluster,
            config: config.clone(),
            seed: site.seed,
            visits: Visits::new(schedule),
            timetable,
            routes,
            flights: vec![empty; flights as usize],
            books: (0..books).map(|_| Book::new(&deal)).collect(),
            deal,
            shards,
            lag,
            pool,
            flying: 0,
            bypassed: super::bypass::Bypass::new(site.cluster),
            derived,
        }
    }

    /// The longest relay queue of any pair now [cells].
    pub fn longest_relay_queue(&self) -> usize {
        self.shards
            .iter()
            .map(Shard::longest_relay_queue)
            .max()
            .unwrap_or(0)
    }

    /// Cells queued and granted at all nodes, the sum of M: none when the fabric
    /// is idle.
    #[cfg(test)]
    pub(super) fn outstanding(&self, nodes: u32) -> i64 {
        let of = |s: &Shard| -> i64 {
            let rows = (0..s.rows).flat_map(|row| (0..nodes as usize).map(move |d| (row, d)));
            rows.map(|(row, d)| s.grants.count(row, d) as i64).sum()
        };
        self.shards.iter().map(of).sum()
    }

    /// Sets of tiles that were made.
    #[cfg(test)]
    pub(super) fn tiles(&self) -> i64 {
        self.books.iter().filter(|b| !b.tiles.is_empty()).count() as i64
    }

    /// Who meets whom.
    #[cfg(test)]
    pub(super) fn schedule(&self) -> &Schedule {
        &self.derived.schedule
    }

    fn admit(&mut self, now: Time, io: &mut Io) {
        if self.servers.is_some() {
            return self.admit_capped(now, io);
        }
        while let Some(flow) = io.arrive(now) {
            let (src, dst) = (io.flows.src[flow.index()], io.flows.dst[flow.index()]);
            if self.cluster.rack_of(src) == self.cluster.rack_of(dst) {
                self.bypassed.admit(flow, io);
                continue;
            }
            let rank = self.routes.rank[flow.index()];
            let label = self.routes.src[rank as usize] as usize;
            if self.faults.on {
                let (seq, count) = (0, self.routes.cells[rank as usize]);
                self.enter(Stretch { rank, seq, count });
                continue;
            }
            let shard = &mut self.shards[self.deal.shard[label] as usize];
            let row = label - shard.lo;
            let (dst, cells) = (
                self.routes.dst[rank as usize],
                self.routes.cells[rank as usize],
            );
            shard.local.admit(row, rank, dst, 0, cells);
        }
    }

    fn book(&self, epoch: i64) -> usize {
        epoch.rem_euclid(self.books.len() as i64) as usize
    }

    /// At the start of an epoch: unused grants lapse, requests are answered,
    /// grants are taken up, new requests are made.
    fn protocol(&mut self, slot: i64, epoch: i64, now: Time, io: &mut Io) {
        if self.faults.on {
            self.recover(slot, epoch, io);
        }
        let faulty = self.faults.on;
        let asked = epoch - self.lag;
        let granted = asked - self.lag;
        let used = granted - self.lag;
        self.lapse(self.book(used));
        if faulty {
            self.strike(self.book(asked), slot, epoch);
        }
        self.answer(self.book(asked), epoch);
        let [granted, asking] = [self.book(granted), self.book(epoch)];
        // Where nothing is broken each node asks as soon as it has taken up its grants.
        self.accept(slot, [granted, asking], !faulty);
        if faulty {
            self.sweep_late(epoch, io);
            let avoid = self.avoid(slot);
            self.ask(asking, &avoid);
        }
        for shard in &mut self.shards {
            let flow = |rank: &u32| self.routes.flow[*rank as usize];
            let hint = |io: &Io, rank: &u32| prefetch(&io.flows.start, flow(rank).index());
            hinted(&shard.started, io, hint, |io, rank| {
                io.start(flow(rank), now)
            });
            shard.started.clear();
        }
    }

    fn lapse(&mut self, book: usize) {
        let unused = &mut self.books[book].unused;
        each(
            &self.pool,
            self.shards.iter_mut().enumerate(),
            |(i, shard)| {
                unused.iter().for_each(|from| shard.lapse(&from[i]));
            },
        );
        unused.iter_mut().flatten().for_each(Vec::clear);
    }

    fn answer(&mut self, book: usize, epoch: i64) {
        self.books[book].answered = true;
        let (Book { tiles, askers, .. }, seed) = (&mut self.books[book], self.seed);
        let askers: Vec<Asker> = (0..)
            .zip(askers.iter())
            .flat_map(|(shard, askers)| {
                askers.iter().map(move |(row, destinations)| Asker {
                    shard,
                    row,
                    destinations,
                })
            })
            .collect();
        if !askers.is_empty() {
            let work = self.shards.iter_mut().zip(by_intermediate(tiles));
            each(&self.pool, work, |(shard, mut tiles)| {
                shard
                    .grants
                    .compute_grants(seed, epoch, &askers, &mut tiles)
            });
        }
    }

    /// What all shards need to know, and the rest that a step changes.
    fn parts(&mut self) -> Parts<'_> {
        Parts {
            ways: Ways {
                visits: &self.visits,
                timetable: self.timetable.as_ref(),
                routes: &self.routes,
                deal: &self.deal,
                faults: &self.faults,
            },
            shards: &mut self.shards,
            flights: &mut self.flights,
            books: &mut self.books,
            pool: &self.pool,
        }
    }

    /// Nodes take up the grants of one book; if they ask `at_once`, their new requests go to
    /// the other.
    fn accept(&mut self, slot: i64, [granted, asking]: [usize; 2], at_once: bool) {
        let slots = self.eras.slots_from(slot);
        let Parts {
            ways,
            shards,
            books,
            pool,
            ..
        } = self.parts();
        book::open(books, [granted, asking], slots, ways.deal);
        let two = books.get_disjoint_mut([granted, asking]);
        let [granted, asking] = two.expect("two epochs have two books");
        let answers = asking.tiles.iter_mut().zip(&mut granted.askers);
        let answers = answers.zip(&mut granted.unused);
        let work = shards.iter_mut().zip(answers).zip(&mut asking.askers);
        each(pool, work, |((shard, answers), asking)| {
            let ((tiles, askers), unused) = answers;
            let answers = Answers {
                tiles,
                askers,
                unused,
            };
            shard.accept(slot, &ways, answers, at_once.then_some(asking))
        });
    }

    /// Nodes ask, but not whom they `avoid`.
    fn ask(&mut self, book: usize, avoid: &Avoid) {
        let Book { tiles, askers, .. } = &mut self.books[book];
        let work = self.shards.iter_mut().zip(tiles).zip(askers);
        each(&self.pool, work, |((shard, tiles), askers)| {
            shard.request(tiles, askers, avoid)
        });
    }

    /// Where it is known who leaves when, `slot` is now.
    fn begin(&mut self, slot: i64) {
        let Some(timetable) = &self.timetable else {
            return;
        };
        let least = timetable.number(slot);
        for shard in &mut self.shards {
            shard.begin(slot, least);
        }
    }

    fn transmit(&mut self, slot: i64, io: &mut Io) {
        match (io.audit.is_some(), self.faults.on) {
            (false, false) => self.transmit_all::<false, false>(slot),
            (true, false) => self.transmit_all::<true, false>(slot),
            (false, true) => self.transmit_faulty::<false>(slot, io),
            (true, true) => self.transmit_faulty::<true>(slot, io),
        }
        if io.audit.is_some() {
            self.record(slot, io);
        }
    }

    #[cold]
    fn transmit_faulty<const WATCHED: bool>(&mut self, slot: i64, io: &mut Io) {
        self.faults.prepare(slot, &self.eras, &self.visits);
        self.transmit_all::<WATCHED, true>(slot);
        self.note_lost(slot, io);
    }

    fn transmit_all<const WATCHED: bool, const FAULTY: bool>(&mut self, slot: i64) {
        let Parts {
            ways,
            shards,
            flights,
            pool,
            ..
        } = self.parts();
        let sent = slot.rem_euclid(flights.len() as i64) as usize;
        let work = shards.iter_mut().zip(flights[sent].iter_mut());
        each(pool, work, |(shard, out)| {
            if FAULTY {
                let columns = ways.faults.columns.iter().map(|c| ColumnRef {
                    turn: c.turn,
                    uplink: c.uplink,
                    labels: c.labels.as_deref(),
                });
                shard.transmit::<WATCHED, true>(slot, columns, &ways, out)
            } else {
                shard.send::<WATCHED>(slot, &ways, out)
            }
        });
    }

    fn receive(&mut self, slot: i64, io: &mut Io) {
        let delay = self.flights.len() as i64 - 1;
        let Parts {
            ways,
            shards,
            flights,
            pool,
            ..
        } = self.parts();
        let landing = &mut flights[(slot - delay).rem_euclid(delay + 1) as usize];
        each(pool, shards.iter_mut().enumerate(), |(itself, shard)| {
            shard.receive(slot, &ways, landing, itself)
        });
        landing.iter_mut().for_each(Flight::land);
        if delay > 0 {
            self.flying = self.flights.iter().flatten().map(Flight::cells).sum();
        }
        let at = self.config.slot * (slot - delay + 1) + self.config.propagation;
        if self.servers.is_some() {
            self.deliver_capped(at, self.config.slot * (slot + 1), io);
        }
        for shard in &mut self.shards {
            io.deliver_some(std::mem::take(&mut shard.reorder.bytes));
            let flow = |rank: &u32| self.routes.flow[*rank as usize];
            let completed = &mut shard.reorder.completed;
            hinted(
                completed,
                io,
                |io, rank| expect(io, flow(rank)),
                |io, rank| io.finish(flow(rank), at),
            );
            completed.clear();
        }
    }

    /// For the audit. Ports are numbered node · U + uplink; the receiving node is
    /// the one to which the kernel really handed the cell.
    fn record(&mut self, slot: i64, io: &mut Io) {
        let (schedule, u) = (&self.derived.schedule, self.derived.uplinks);
        let audit = io.audit.as_mut().expect("only when audited");
        let from = self.config.slot * slot + self.config.guardband;
        for sent in self.shards.iter_mut().flat_map(|s| s.sent.drain(..)) {
            let (node, to) = (schedule.node(sent.from), schedule.node(sent.to));
            let met = self.eras.peer(sent.from as u16, sent.uplink as u16, slot);
            let port = met.map_or(0, |m| m.1 as u32);
            let (tx, rx) = (PortId(node * u + sent.uplink), PortId(to * u + port));
            audit.transmit(tx, rx, from, self.config.slot * (slot + 1), sent.bytes);
        }
    }

    fn bytes_inside(&self) -> u64 {
        let flights = self.flights.iter().flatten();
        let in_fibre: u64 = flights.map(|f| f.bytes(&self.routes)).sum();
        let at_nodes: u64 = self.shards.iter().map(|s| s.bytes(&self.routes)).sum();
        let kept: u64 = self.faults.each_cell().map(|c| self.routes.bytes(c)).sum();
        let servers = self.servers.as_ref().map_or(0, |s| s.bytes(&self.routes));
        at_nodes + in_fibre + kept + servers + self.bypassed.bytes()
    }
}

/// Hints that a flow will be finished soon.
#[inline(always)]
fn expect(io: &Io, flow: FlowId) {
    prefetch(&io.flows.bytes, flow.index());
    prefetch(&io.flows.delivered, flow.index());
    prefetch(&io.flows.finish, flow.index());
}

/// Runs `work` on every item: in this thread, or on all threads of the pool.
fn each<I: Send>(
    pool: &Option<rayon::ThreadPool>,
    items: impl Iterator<Item = I>,
    work: impl Fn(I) + Sync + Send,
) {
    match pool {
        None => items.for_each(work),
        Some(pool) => {
            let items: Vec<I> = items.collect();
            pool.install(|| items.into_par_iter().for_each(work));
        }
    }
}

impl SlotKernel for Sirius {
    fn shape(&self) -> Shape {
        let uplinks = self.derived.uplinks as u64 * self.cluster.racks as u64;
        Shape {
            hosts: self.cluster.hosts(),
            racks: self.cluster.racks,
            host_rate: self.cluster.server_rate,
            link_capacity: Rate(self.config.channel_rate.0 * uplinks),
        }
    }

    fn slot_length(&self) -> Time {
        self.config.slot
    }

    fn slot(&mut self, slot: i64, io: &mut Io) {
        let now = self.config.slot * slot;
        if self.faults.on && !self.faults.commands.is_empty() {
            if self.timetable.is_some() {
                self.keep_by_turn();
            }
            self.carry_out(slot, io);
        }
        self.admit(now, io);
        // What a delivery within a rack releases may have arrived by now, too.
        while self.bypassed.deliver(now, io) {
            self.admit(now, io);
        }
        self.bypassed.deliver(now + self.config.slot, io);
        self.begin(slot);
        if let Some(epoch) = self.eras.epoch_at(slot) {
            self.protocol(slot, epoch, now, io);
        }
        self.transmit(slot, io);
        self.receive(slot, io);
    }

    fn idle(&self) -> bool {
        self.flying == 0
            && self.shards.iter().all(Shard::idle)
            && !self.books.iter().any(Book::is_live)
            && self.bypassed.is_empty()
            && !self.faults.pending()
            && self.servers.as_ref().is_none_or(Servers::idle)
    }

    fn apply(&mut self, command: Command, _now: Time) -> Result<(), Rejected> {
        self.order(command)
    }

    fn observe(&self, io: &Io, view: &mut View) {
        let payload = self.routes.payload;
        if io.audit.is_some() {
            view.in_flight_bytes = self.bytes_inside();
        }
        view.queued_bytes = self.shards.iter().map(Shard::relaying).sum::<u64>() * payload;
        view.queued_bytes_worst = self.shards.iter().map(Shard::queue).max().unwrap_or(0) * payload;
        let waiting: u64 = self.shards.iter().map(Shard::waiting).sum();
        let unsent = self.servers.as_ref().map_or(0, |s| s.waiting);
        view.waiting_bytes = (waiting + unsent + self.faults.cells()) * payload;
        view.carried_bytes = self.shards.iter().map(|s| s.hops).sum::<u64>() * payload;
    }

    fn totals(&self) -> Totals {
        let payload = self.routes.payload;
        Totals {
            queue_peak_bytes: self.shards.iter().map(|s| s.queue_peak() * payload).max(),
            reorder_peak_bytes: self.shards.iter().map(|s| s.reorder.peak_bytes()).max(),
            cell_hops: Some(self.shards.iter().map(|s| s.hops).sum()),
            packet_hops: None,
            circuit_bytes: None,
        }
    }

    fn settle(&self, io: &mut Io) {
        for (&rank, inside) in self.servers.iter().flat_map(|s| &s.inside) {
            let flow = self.routes.flow[rank as usize].index();
            io.flows.delivered[flow] = inside.bytes;
        }
        for shard in &self.shards {
            for (rank, bytes, hops) in shard.reorder.progress() {
                let flow = self.routes.flow[rank as usize].index();
                io.flows.delivered[flow] = bytes;
                io.flows.hops[flow] = hops;
            }
        }
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        soonest(&self.cluster, &self.config, &self.derived, src, dst, bytes)
    }

    fn lit(&self, tx: PortId, rx: PortId, at: Time) -> bool {
        let slot = at.0.div_euclid(self.config.slot.0);
        if self.eras.full_at(slot) {
            return lit(&self.config, &self.derived.schedule, tx, rx, at);
        }
        let u = self.derived.uplinks;
        let met = self.eras.peer((tx.0 / u) as u16, (tx.0 % u) as u16, slot);
        let heard = met.map(|(to, port)| PortId(to as u32 * u + port as u32));
        at % self.config.slot >= self.config.guardband && heard == Some(rx)
    }

    fn port_rate(&self, _tx: PortId) -> Rate {
        self.config.channel_rate
    }
}

/// No flow can be faster than one cell a slot on every uplink of its source.
pub fn soonest(
    cluster: &Cluster,
    config: &SiriusConfig,
    derived: &Derived,
    src: HostId,
    dst: HostId,
    bytes: u64,
) -> Time {
    if cluster.rack_of(src) == cluster.rack_of(dst) {
        return super::bypass::rate(cluster).time_for(bytes);
    }
    let cells = bytes.div_ceil(derived.cell) as i64;
    let slots = (cells + derived.uplinks as i64 - 1) / derived.uplinks as i64;
    let optics = config.slot * slots + config.propagation;
    let Nic::Capped(rate) = cluster.nic else {
        return optics;
    };
    // Its server sends the last cell after all others; that takes a slot at least,
    // and the link to its destination.
    let last = (bytes - 1) % derived.cell + 1;
    let servers = rate.time_for(bytes) + config.slot + config.propagation + rate.time_for(last);
    servers.max(optics)
}

/// Light passes between the guardband and the end of a slot, to the receiver
/// that wiring and wavelength name.
pub fn lit(config: &SiriusConfig, schedule: &Schedule, tx: PortId, rx: PortId, at: Time) -> bool {
    let (slot, u) = (at.0.div_euclid(config.slot.0), schedule.uplinks());
    let (peer, port) = schedule.peer(tx.0 / u, tx.0 % u, slot);
    at % config.slot >= config.guardband && rx == PortId(peer * u + port)
}
