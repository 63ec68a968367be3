//! Failures (§4.5): injection, detection, avoidance, rescheduling.
//!
//! In epoch e a part dies. Its peers receive nothing for k epochs, the news takes one more, and
//! from then on all nodes act on it ([`Event::Declare`]): links to the part stay dark, unreachable
//! nodes receive no requests, and cells that wait for them are recalled. A part that is received
//! again is used again once all nodes know of it ([`Event::Withdraw`]). With `recovery =
//! "reschedule"` the remaining nodes agree on a round robin of their own. Every cell stays with its
//! source until it has arrived: a lost cell is retransmitted two epochs later, or when the part
//! that lost it is declared dead.
//!
//! This file contains detection and its consequences. The other files are `injection`, `light`
//! (passing light, and avoidance), `schedules` (rescheduling) and `entering` (retransmitted cells).
//!
//! At the first command all waiting cells get new places, in the order in which they would have
//! left. (The kernel skips this if pairs meet more than 32 times in a frame of gratings; no network
//! of these tests does.)

mod entering;
mod injection;
mod light;
mod schedules;

use super::{Cell, Reference, Tuple};
use crate::sirius::schedule::Schedule;
use lightloom_engine::{Command, Io};
use schedules::InForce;
use std::collections::{BTreeMap, BTreeSet};

/// A part; nodes are identified by label.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Node(usize),
    Transceiver(usize, u32),
    Grating(u32),
}

/// A part that loses cells, or that all nodes regard as dead.
#[derive(Clone, Debug)]
struct Broken {
    part: Part,
    /// Probability of losing a cell: 1 for a dead part, less for a grey failure.
    loss: f64,
    /// Time at which it was, or will be, declared failed.
    declared: i64,
    /// Whether all nodes act on it.
    known: bool,
}

/// An action of all nodes at the start of an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Declare(Part),
    Withdraw(Part),
    Reschedule,
}

/// The broken parts and their consequences.
#[derive(Clone, Debug)]
pub struct Failures {
    commands: Vec<Command>,
    /// Whether there has ever been a failure.
    ever: bool,
    broken: Vec<Broken>,
    events: Vec<(i64, Event)>,
    schedules: Vec<InForce>,
    /// Pairs that meet only over parts that are known to be dead.
    cut: BTreeSet<(usize, usize)>,
    /// Lost cells, by the epoch in which they are retransmitted.
    lost: BTreeMap<i64, Vec<Cell>>,
    /// Grants whose cells were lost, as (intermediate, destination), by the epoch in which the
    /// intermediate has the news.
    missed: BTreeMap<i64, Vec<(usize, usize)>>,
    /// Cells of flows from or to dead nodes, by source.
    parked: BTreeMap<usize, Vec<Tuple>>,
}

impl Failures {
    pub fn none() -> Failures {
        Failures {
            commands: Vec::new(),
            ever: false,
            broken: Vec::new(),
            events: Vec::new(),
            schedules: vec![InForce::default()],
            cut: BTreeSet::new(),
            lost: BTreeMap::new(),
            missed: BTreeMap::new(),
            parked: BTreeMap::new(),
        }
    }

    pub fn order(&mut self, command: Command) {
        self.commands.push(command);
    }

    /// Whether a detection, a retransmission or another action is pending.
    pub fn pending(&self) -> bool {
        let waits = self.commands.is_empty() && self.events.is_empty();
        !(waits && self.lost.is_empty() && self.missed.is_empty())
    }

    /// Cells at their source that cannot leave.
    pub fn parked(&self) -> impl Iterator<Item = &Tuple> {
        self.parked.values().flatten()
    }

    /// Lost cells, which are kept at their source.
    pub fn lost(&self) -> impl Iterator<Item = &Cell> {
        self.lost.values().flatten()
    }

    fn node(&self, node: usize) -> Option<&Broken> {
        self.broken.iter().find(|b| b.part == Part::Node(node))
    }

    fn is_dead(&self, node: usize) -> bool {
        self.node(node).is_some_and(|b| b.loss >= 1.0)
    }

    fn is_known(&self, node: usize) -> bool {
        self.node(node).is_some_and(|b| b.known)
    }

    /// Whether a flow between these nodes has to wait.
    pub fn bars(&self, src: usize, dst: usize) -> bool {
        self.is_dead(src) || self.is_known(src) || self.is_known(dst)
    }

    fn of(&mut self, part: Part) -> &mut Broken {
        let at = self.broken.iter().position(|b| b.part == part);
        let at = at.unwrap_or_else(|| {
            self.broken.push(Broken {
                part,
                loss: 0.0,
                declared: i64::MAX,
                known: false,
            });
            self.broken.len() - 1
        });
        &mut self.broken[at]
    }

    fn forget_the_sound(&mut self) {
        self.broken.retain(|b| b.loss > 0.0 || b.known);
    }
}

// // Detection, and its consequences at the start of an epoch.

impl Reference {
    pub(in crate::sirius::reference) fn recover(&mut self, slot: i64, epoch: i64, io: &mut Io) {
        let later = self.failures.missed.split_off(&(epoch + 1));
        let now = std::mem::replace(&mut self.failures.missed, later);
        for (by, destination) in now.into_values().flatten() {
            self.m[by][destination] -= 1;
        }
        let mut changed = false;
        while let Some(event) = self.due(epoch) {
            changed = true;
            match event {
                Event::Declare(part) => self.act_on(part, true, epoch),
                Event::Withdraw(part) => self.act_on(part, false, epoch),
                Event::Reschedule => self.reschedule(slot, epoch),
            }
        }
        if changed {
            self.failures.cut = self.find_cut(slot);
            for node in 0..self.nodes {
                for peer in self.in_order_of_meeting(node) {
                    self.sweep(node, peer, epoch, io);
                }
            }
            self.unpark();
        }
        self.send_again(epoch);
        self.failures.forget_the_sound();
    }

    /// The next event: the earliest; events of one epoch are in order of their causes.
    fn due(&mut self, epoch: i64) -> Option<Event> {
        let events = &mut self.failures.events;
        let (at, _) = (0..).zip(&*events).min_by_key(|(_, e)| e.0)?;
        (events[at].0 <= epoch).then(|| events.remove(at).1)
    }

    /// All nodes begin, or stop, to act on the failure of a part.
    fn act_on(&mut self, part: Part, known: bool, epoch: i64) {
        self.failures.of(part).known = known;
        let Part::Node(node) = part else { return };
        if self.reschedules() {
            let agreed = epoch + if known { self.lag() } else { 0 };
            self.failures.events.push((agreed, Event::Reschedule));
        }
        if known {
            (0..self.nodes).for_each(|source| self.park_local(source, node));
        }
    }

    fn find_cut(&self, slot: i64) -> BTreeSet<(usize, usize)> {
        let frame = match (&self.in_force(slot).members, &self.derived.schedule) {
            (None, schedule @ Schedule::Gratings(_)) => schedule.frame() as i64,
            (None, _) => self.nodes as i64,
            (Some(members), _) => members.len() as i64,
        };
        let silent = self.silent(slot..slot + frame, |l| l.known);
        silent.into_keys().collect()
    }

    /// Whether all nodes know that a cell cannot go from `node` via `peer`.
    fn is_hopeless(&self, cell: &Cell, node: usize, peer: usize) -> bool {
        let (f, destination) = (&self.failures, self.flows[cell.flow].dst);
        let onwards = !f.is_known(destination)
            && (peer == destination || !f.cut.contains(&(peer, destination)));
        f.is_known(peer) || f.cut.contains(&(node, peer)) || !cell.relayed && !onwards
    }

    /// Recalls cells that wait for a peer that is unreachable or could not relay them.
    fn sweep(&mut self, node: usize, peer: usize, epoch: i64, io: &mut Io) {
        let queue = self.queues[node][peer].iter();
        let hopeless = queue.filter(|q| self.is_hopeless(&q.cell, node, peer));
        let hopeless: Vec<Cell> = hopeless.map(|q| q.cell).collect();
        for cell in self.pull(node, peer, |cell| hopeless.contains(cell)) {
            if cell.relayed {
                self.m[node][peer] -= 1;
                self.lose(cell, epoch, None, io);
            } else {
                self.call_back(cell, peer);
            }
        }
    }

    /// Recalls cells that had left before the failure was known.
    pub(in crate::sirius::reference) fn sweep_late(&mut self, epoch: i64, io: &mut Io) {
        let known = (0..self.nodes).filter(|&n| self.failures.is_known(n));
        let mut pairs: Vec<(usize, usize)> = known
            .flat_map(|n| (0..self.nodes).map(move |node| (node, n)))
            .collect();
        pairs.extend(&self.failures.cut);
        for (node, peer) in pairs {
            self.sweep(node, peer, epoch, io);
        }
    }
}
