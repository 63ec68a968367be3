//! The reaction of nodes to a declared failure: cells that cannot leave are called back, parked or
//! retransmitted, and the schedule may change (Sirius §4.5).
//!
//! M stays exact: a lost or recalled cell releases the count at the intermediate that granted it. A
//! lost cell stays with its source, so no cell is both lost and delivered.

use super::faults::{Event, Part, Stretch};
use crate::sirius::cell::{Cell, FlowIndex};
use crate::sirius::index::{Label, Row, Turn};
use crate::sirius::kernel::Sirius;
use crate::sirius::relay::local::Local;
use crate::sirius::relay::Queues;
use crate::sirius::shard::Shard;
use lightloom_engine::Io;

impl Shard {
    /// Removes the cells for which `goes` is true from the queue for the peer at `turn`.
    #[cold]
    pub(super) fn pull(&mut self, turn: Turn, row: Row, goes: impl Fn(Cell) -> bool) -> Vec<Cell> {
        let Queues::ByPair(by_pair) = &mut self.queues else {
            return Vec::new();
        };
        let gone = by_pair.pull(turn, row, &goes);
        self.held -= gone.len() as u64;
        self.relaying[row.0] -= gone.iter().filter(|c| c.is_second()).count() as u32;
        gone
    }
}

impl Sirius {
    /// Processes the news of the epoch: nodes that are cut off or back, and cells to retransmit.
    #[cold]
    pub(crate) fn recover(&mut self, slot: i64, epoch: i64, io: &mut Io) {
        for (by, destination) in self.faults.lapsed_by(epoch) {
            self.release(by, destination);
        }
        let mut changed = false;
        while let Some(event) = self.faults.due(epoch) {
            changed = true;
            match event {
                Event::Declare(part) => {
                    self.faults.declare(part, true, epoch, &self.schedules);
                    if let Part::Node(n) = part {
                        Label::all(self.partition.nodes).for_each(|s| self.park_local(s, n));
                    }
                }
                Event::Withdraw(part) => self.faults.declare(part, false, epoch, &self.schedules),
                Event::Reschedule => self.reschedule(slot, epoch),
            }
        }
        if changed {
            self.faults.find_cut(&self.schedules);
            let nodes = self.partition.nodes;
            for from in Label::all(nodes) {
                Turn::all(nodes).for_each(|turn| self.sweep(from, turn, epoch, io));
            }
            self.unpark();
        }
        for s in self.faults.resent_by(epoch) {
            self.enter_again(s);
        }
        self.faults.update(&self.schedules);
    }

    fn reschedule(&mut self, slot: i64, epoch: i64) {
        let all = Label::all(self.partition.nodes);
        let members: Vec<Label> = all.filter(|n| !self.faults.known[n.index()]).collect();
        let same = match self.schedules.members() {
            Some(now) => now == members,
            None => members.len() == self.partition.nodes,
        };
        // A single node has no peer to meet.
        if !same && members.len() > 1 {
            self.schedules.begin(slot, epoch, members, &self.peer_order);
        }
    }

    /// Recalls cells that wait for a peer that is unreachable or could not relay them.
    fn sweep(&mut self, from: Label, turn: Turn, epoch: i64, io: &mut Io) {
        let peer = self.peer_order.peer_of(from, turn);
        let (faults, routes) = (&self.faults, &self.routes);
        let unreachable = faults.known[peer.index()] || faults.cut.contains(&(from, peer));
        let goes = |cell: Cell| {
            let d = routes.destination(cell);
            let onwards = || peer != d && faults.cut.contains(&(peer, d));
            unreachable || !cell.is_second() && (faults.known[d.index()] || onwards())
        };
        let shard = &mut self.shards[self.partition.shard_of(from)];
        let row = Row::of(from, shard.lo);
        for cell in shard.pull(turn, row, goes) {
            if cell.is_second() {
                self.release(from, peer);
                self.lose(cell, epoch, None, io);
            } else {
                self.call_back(cell, peer);
            }
        }
    }

    /// Cells that left before the declaration arrived are called back, too.
    #[cold]
    pub(crate) fn sweep_late(&mut self, epoch: i64, io: &mut Io) {
        let nodes = Label::all(self.partition.nodes);
        let known = nodes.clone().filter(|n| self.faults.known[n.index()]);
        let mut pairs: Vec<(Label, Label)> = known
            .flat_map(|n| nodes.clone().map(move |from| (from, n)))
            .collect();
        pairs.extend(&self.faults.cut);
        for (from, to) in pairs {
            let turn = self.peer_order.turn_of(from, to);
            self.sweep(from, turn, epoch, io);
        }
    }

    /// Records the cells of the slot that did not arrive.
    #[cold]
    pub(crate) fn note_lost(&mut self, slot: i64, io: &mut Io) {
        let epoch = self.schedules.epoch_of(slot);
        for shard in 0..self.shards.len() {
            for lost in std::mem::take(&mut self.shards[shard].lost) {
                if !lost.cell.is_second() {
                    let destination = self.routes.destination(lost.cell);
                    self.faults.lapse(lost.via, destination, epoch);
                }
                self.lose(lost.cell, epoch, lost.known_from, io);
            }
        }
    }

    pub(super) fn row(&mut self, label: Label) -> (&mut Shard, Row) {
        let shard = &mut self.shards[self.partition.shard_of(label)];
        let row = Row::of(label, shard.lo);
        (shard, row)
    }

    /// Releases the count at `by` of a cell that will not arrive or has left.
    pub(super) fn release(&mut self, by: Label, destination: Label) {
        let (shard, row) = self.row(by);
        shard.grants.release(row, destination, true);
    }

    pub(super) fn lose(&mut self, cell: Cell, epoch: i64, known_from: Option<i64>, io: &mut Io) {
        io.lose();
        self.faults.resend(cell, epoch, known_from);
    }

    /// Returns a granted cell to LOCAL.
    pub(super) fn call_back(&mut self, cell: Cell, by: Label) {
        let destination = self.routes.destination(cell);
        self.release(by, destination);
        self.enter_again(Stretch {
            flow_index: cell.flow_index(),
            seq: cell.seq(),
            count: 1,
        });
    }

    pub(super) fn park_local(&mut self, source: Label, destination: Label) {
        let (shard, row) = self.row(source);
        let cells = shard.local.withdraw(row, destination);
        for (flow_index, seq, count) in cells {
            self.enter(Stretch {
                flow_index,
                seq,
                count,
            });
        }
    }

    /// Adds cells to LOCAL of their source, or parks them while they cannot leave.
    pub(crate) fn enter(&mut self, s: Stretch) {
        self.join(s, Local::admit);
    }

    /// Returns cells to LOCAL that had left it. They are placed before cells that never left,
    /// because the receiver cannot use the rest of their flow without them.
    fn enter_again(&mut self, s: Stretch) {
        self.join(s, Local::readmit);
    }

    fn join<T>(
        &mut self,
        s: Stretch,
        how: impl Fn(&mut Local, Row, FlowIndex, Label, u32, u32) -> T,
    ) {
        let [src, dst] = self.routes.ends(s.flow_index);
        if self.faults.bars(src, dst) {
            self.faults.parked.entry(src).or_default().push(s);
        } else {
            let (shard, row) = self.row(src);
            how(&mut shard.local, row, s.flow_index, dst, s.seq, s.count);
        }
    }

    pub(super) fn unpark(&mut self) {
        for stretch in std::mem::take(&mut self.faults.parked)
            .into_values()
            .flatten()
        {
            self.enter(stretch);
        }
    }
}
