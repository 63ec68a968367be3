//! One slot of Sirius with its request/grant protocol, in the paper's order and terms: admit; at
//! the start of an epoch, grant the requests of the epoch before, accept the grants, send new
//! requests (§4.3, A.3); transmit, receive.

use super::cell::{FlowIndex, Routes};
use super::config::{Derived, Recovery, SiriusConfig};
use super::failure::avoid::Avoid;
use super::failure::faults::{Delays, Faults, Stretch};
use super::index::Row;
use super::partition::{Partition, Threads};
use super::prefetch::{hinted, prefetch};
use super::protocol::accept::Answers;
use super::protocol::epoch::{self, by_intermediate, Epoch};
use super::protocol::grant::Asker;
use super::relay::by_slot::timetable;
use super::relay::in_flight::Flight;
use super::schedule::next_meeting::Timetable;
use super::schedule::peer_order::{MatchingRef, PeerOrder};
use super::schedule::reschedule::Schedules;
use super::servers::links::Servers;
use super::servers::rack::Bypass;
use super::shard::{Shard, Shared};
use crate::contract::Site;
use crate::entrance::Entrance;
use lightloom_engine::{Cluster, FlowId, Io, Time};

/// Sirius.
pub struct Sirius {
    pub(super) cluster: Cluster,
    pub(super) config: SiriusConfig,
    pub(super) derived: Derived,
    seed: u64,
    pub(super) routes: Routes,
    pub(super) peer_order: PeerOrder,
    /// The times at which nodes meet; set if cells can be kept by the slot in which they leave.
    pub(super) timetable: Option<Timetable>,
    /// Whether cells are kept by pair, because a part may have failed.
    pub(super) by_pair: bool,
    pub(super) partition: Partition,
    pub(super) shards: Vec<Shard>,
    /// Cells in flight, by the slot in which they were sent, then by shard of the sender.
    pub(super) flights: Vec<Vec<Flight>>,
    pub(super) epochs: Vec<Epoch>,
    /// Epochs from a request to its answer: 1, or more with long fibres.
    lag: i64,
    threads: Threads,
    /// Cells sent and not yet received.
    pub(super) flying: u64,
    /// Flows that have not yet passed the switch of their own rack.
    pub(super) entrance: Entrance,
    pub(super) bypassed: Bypass,
    /// All schedules, with the one in force.
    pub(super) schedules: Schedules,
    pub(super) faults: Faults,
    /// The links of servers, if they have a rate.
    pub(super) servers: Option<Servers>,
    /// Peak of the bytes that waited at any rack for second hops and servers' links; used if
    /// servers' links have a rate.
    pub(super) queue_peak: u64,
}

/// The state that a step of the kernel needs, borrowed at once.
struct Parts<'a> {
    shared: Shared<'a>,
    shards: &'a mut [Shard],
    flights: &'a mut [Vec<Flight>],
    epochs: &'a mut [Epoch],
    threads: &'a Threads,
}

impl Sirius {
    /// An idle fabric.
    pub fn new(config: &SiriusConfig, derived: Derived, site: &Site) -> Self {
        let schedule = &derived.schedule;
        let nodes = schedule.nodes() as usize;
        let routes = Routes::new(site.flows, site.cluster, schedule, derived.cell);
        let partition = Partition::new(nodes, site.threads);
        let timetable = timetable(schedule);
        let servers = Servers::new(site.cluster, config.discipline, site.flows, &routes);
        let known = (&partition, timetable.as_ref(), derived.uplinks);
        let shards: Vec<Shard> = partition
            .shards()
            .map(|part| Shard::new(config, part, &routes, site.seed, known, servers.is_some()))
            .collect();
        let (lag, epochs) = (derived.lag(config), derived.epochs(config));
        let empty = vec![Flight::default(); shards.len()];
        let delays = Delays {
            detection: config.detection_epochs as i64,
            lag,
            reschedule: config.recovery == Recovery::Reschedule,
        };
        Sirius {
            servers,
            schedules: Schedules::new(schedule, derived.epoch),
            faults: Faults::new(nodes, site.seed, delays),
            cluster: *site.cluster,
            config: config.clone(),
            seed: site.seed,
            peer_order: PeerOrder::new(schedule),
            timetable,
            by_pair: false,
            routes,
            flights: vec![empty; derived.flights(config) as usize],
            epochs: (0..epochs).map(|_| Epoch::new(&partition)).collect(),
            partition,
            threads: Threads::new(shards.len()),
            shards,
            lag,
            flying: 0,
            entrance: Entrance::new(config.switch_latency),
            bypassed: Bypass::new(site.cluster),
            queue_peak: 0,
            derived,
        }
    }

    /// Simulates one slot.
    pub(super) fn step(&mut self, slot: i64, io: &mut Io) {
        let now = self.config.slot * slot;
        if !self.faults.commands.is_empty() {
            self.keep_by_pair();
            self.carry_out(slot, io);
        } else if self.by_pair && !self.faults.on {
            self.keep_by_slot(slot);
        }
        self.admit(now, io);
        // Flows that a delivery within a rack releases may have arrived by now, too.
        while self.bypassed.deliver(now, io) {
            self.admit(now, io);
        }
        self.bypassed.deliver(now + self.config.slot, io);
        self.begin(slot);
        if let Some(epoch) = self.schedules.epoch_at(slot) {
            self.begin_epoch(slot, epoch, now, io);
        }
        self.transmit(slot, io);
        self.receive(slot, io);
    }

    fn admit(&mut self, now: Time, io: &mut Io) {
        if self.servers.is_some() {
            return self.admit_capped(now, io);
        }
        while let Some((flow, at)) = self.entrance.next(now, io) {
            let (src, dst) = (io.flows.src[flow.index()], io.flows.dst[flow.index()]);
            if self.cluster.rack_of(src) == self.cluster.rack_of(dst) {
                self.bypassed.admit(flow, at, io);
                continue;
            }
            let flow_index = self.routes.flow_index[flow.index()];
            let [from, to] = self.routes.ends(flow_index);
            let cells = self.routes.cells[flow_index as usize];
            if self.faults.on {
                let (seq, count) = (0, cells);
                self.enter(Stretch {
                    flow_index,
                    seq,
                    count,
                });
                continue;
            }
            let shard = &mut self.shards[self.partition.shard_of(from)];
            let row = Row::of(from, shard.lo);
            shard.local.admit(row, flow_index, to, 0, cells);
        }
    }

    fn kept(&self, epoch: i64) -> usize {
        epoch.rem_euclid(self.epochs.len() as i64) as usize
    }

    /// Starts an epoch: unused grants lapse, nodes answer requests, accept grants and send new
    /// requests.
    fn begin_epoch(&mut self, slot: i64, epoch: i64, now: Time, io: &mut Io) {
        if self.faults.on {
            self.recover(slot, epoch, io);
        }
        let asked = epoch - self.lag;
        let granted = asked - self.lag;
        let used = granted - self.lag;
        let [used, asked, granted, asking] =
            [used, asked, granted, epoch].map(|epoch| self.kept(epoch));
        self.lapse(used);
        if self.faults.on {
            self.strike(asked, slot, epoch);
            self.grant(asked, epoch);
            self.accept(slot, [granted, asking], false);
            self.sweep_late(epoch, io);
            let avoid = self.avoid(slot);
            self.request(asking, &avoid);
        } else {
            self.grant(asked, epoch);
            // Each node sends requests as soon as it has accepted its grants.
            self.accept(slot, [granted, asking], true);
        }
        self.note_started(now, io);
    }

    /// Records the start of flows whose first cell was granted.
    fn note_started(&mut self, now: Time, io: &mut Io) {
        for shard in &mut self.shards {
            let flow = |flow_index: &FlowIndex| self.routes.flow[*flow_index as usize];
            let hint = |io: &Io, flow_index: &FlowIndex| {
                prefetch(&io.flows.start, flow(flow_index).index())
            };
            hinted(&shard.started, io, hint, |io, flow_index| {
                io.start(flow(flow_index), now)
            });
            shard.started.clear();
        }
    }

    fn lapse(&mut self, kept: usize) {
        let unused = &mut self.epochs[kept].unused;
        self.threads
            .each(self.shards.iter_mut().enumerate(), |(i, shard)| {
                unused.iter().for_each(|from| shard.grants.lapse(&from[i]));
            });
        unused.iter_mut().flatten().for_each(Vec::clear);
    }

    fn grant(&mut self, kept: usize, epoch: i64) {
        let (kept, seed) = (&mut self.epochs[kept], self.seed);
        kept.answered = true;
        let askers: Vec<Asker> = (0..)
            .zip(kept.askers.iter())
            .flat_map(|(shard, askers)| {
                askers.iter().map(move |(row, destinations)| Asker {
                    shard,
                    row,
                    destinations,
                })
            })
            .collect();
        if !askers.is_empty() {
            let work = self
                .shards
                .iter_mut()
                .zip(by_intermediate(&mut kept.matrices));
            self.threads.each(work, |(shard, mut matrices)| {
                shard
                    .grants
                    .compute_grants(seed, epoch, &askers, &mut matrices)
            });
        }
    }

    /// The state that all shards share, and the rest that a step changes.
    fn parts(&mut self) -> Parts<'_> {
        Parts {
            shared: Shared {
                peer_order: &self.peer_order,
                timetable: self.timetable.as_ref(),
                routes: &self.routes,
                partition: &self.partition,
                faults: &self.faults,
            },
            shards: &mut self.shards,
            flights: &mut self.flights,
            epochs: &mut self.epochs,
            threads: &self.threads,
        }
    }

    /// Nodes accept the grants of the stored epoch `granted`. If `at_once`, each node also sends
    /// new requests, which go to the epoch `asking`.
    fn accept(&mut self, slot: i64, [granted, asking]: [usize; 2], at_once: bool) {
        let slots = self.schedules.slots_from(slot);
        let Parts {
            shared,
            shards,
            epochs,
            threads,
            ..
        } = self.parts();
        epoch::open(epochs, [granted, asking], slots, shared.partition);
        let two = epochs.get_disjoint_mut([granted, asking]);
        let [granted, asking] = two.expect("two epochs have two epochs");
        let answers = asking.matrices.iter_mut().zip(&mut granted.askers);
        let answers = answers.zip(&mut granted.unused);
        let work = shards.iter_mut().zip(answers).zip(&mut asking.askers);
        threads.each(work, |((shard, answers), asking)| {
            let ((matrices, askers), unused) = answers;
            let answers = Answers {
                matrices,
                askers,
                unused,
            };
            shard.accept(slot, &shared, answers, at_once.then_some(asking))
        });
    }

    /// Nodes send their requests, except to nodes in `avoid`.
    fn request(&mut self, kept: usize, avoid: &Avoid) {
        let Epoch {
            matrices, askers, ..
        } = &mut self.epochs[kept];
        let work = self.shards.iter_mut().zip(matrices).zip(askers);
        self.threads.each(work, |((shard, matrices), askers)| {
            let Shard {
                requests, local, ..
            } = shard;
            requests.request(local, matrices, askers, avoid)
        });
    }

    /// Starts the slot `slot` if departures are known in advance.
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
        self.faults.prepare(slot, &self.schedules, &self.peer_order);
        self.transmit_all::<WATCHED, true>(slot);
        self.note_lost(slot, io);
    }

    fn transmit_all<const WATCHED: bool, const FAULTY: bool>(&mut self, slot: i64) {
        let Parts {
            shared,
            shards,
            flights,
            threads,
            ..
        } = self.parts();
        let sent = slot.rem_euclid(flights.len() as i64) as usize;
        let work = shards.iter_mut().zip(flights[sent].iter_mut());
        threads.each(work, |(shard, out)| {
            if FAULTY {
                let matchings = shared.faults.matchings.iter().map(|c| MatchingRef {
                    turn: c.turn,
                    uplink: c.uplink,
                    labels: c.labels.as_deref(),
                });
                shard.transmit_by_pair::<WATCHED, true>(slot, matchings, &shared, out)
            } else {
                shard.transmit::<WATCHED>(slot, &shared, out)
            }
        });
    }

    fn receive(&mut self, slot: i64, io: &mut Io) {
        let delay = self.flights.len() as i64 - 1;
        let Parts {
            shared,
            shards,
            flights,
            threads,
            ..
        } = self.parts();
        let landing = &mut flights[(slot - delay).rem_euclid(delay + 1) as usize];
        threads.each(shards.iter_mut().enumerate(), |(itself, shard)| {
            shard.receive(slot, &shared, landing, itself)
        });
        landing.iter_mut().for_each(Flight::land);
        if delay > 0 {
            self.flying = self.flights.iter().flatten().map(Flight::cells).sum();
        }
        let at = self.config.slot * (slot - delay + 1) + self.config.crossing();
        if self.servers.is_some() {
            self.deliver_capped(at, self.config.slot * (slot + 1), io);
        }
        for shard in &mut self.shards {
            io.deliver_some(std::mem::take(&mut shard.reorder.bytes));
            let flow = |flow_index: &FlowIndex| self.routes.flow[*flow_index as usize];
            let completed = &mut shard.reorder.completed;
            hinted(
                completed,
                io,
                |io, flow_index| expect(io, flow(flow_index)),
                |io, flow_index| io.finish(flow(flow_index), at),
            );
            completed.clear();
        }
    }
}

/// Hints that a flow will be finished soon.
#[inline(always)]
fn expect(io: &Io, flow: FlowId) {
    prefetch(&io.flows.bytes, flow.index());
    prefetch(&io.flows.delivered, flow.index());
    prefetch(&io.flows.finish, flow.index());
}
