//! What a shard sends in one slot.
//!
//! Nothing is copied: the lists that leave the lines are the mail, box by box,
//! until they have been read; then their memory goes back to the lines.

use super::cell::{Cell, Routes};
use super::departures::Kind;
use super::lines::Queued;
use super::topology::Visits;

/// The cells that the nodes of one shard send in one slot, column by column.
#[derive(Clone, Debug, Default)]
pub struct Flight {
    /// First label of the shard.
    lo: usize,
    /// Boxes a column.
    boxes: usize,
    /// The turn of each column under way.
    turns: Vec<u16>,
    /// By column and box.
    lists: Vec<Vec<Queued>>,
    /// In place of columns, where cells are kept by their departures: those of each block
    /// in turn, with their box. There the row of a cell that is to be relayed is the
    /// label of its intermediate.
    chunks: Vec<(usize, Vec<Queued>)>,
    /// Chunks that have landed.
    landed: Vec<(usize, Vec<Queued>)>,
}

/// What a shard sends to another on one column.
#[derive(Clone, Copy, Debug)]
pub struct Mail<'a> {
    /// First label of the senders.
    pub lo: usize,
    /// Turn of the senders.
    pub turn: usize,
    /// Cells that are to be relayed.
    pub relay: &'a [Queued],
    /// Cells at their destination.
    pub deliver: &'a [Queued],
}

/// The box for cells to `shard`, their destination or not.
#[inline(always)]
pub fn to_box(shard: usize, destination: bool) -> usize {
    2 * shard + destination as usize
}

impl Flight {
    /// Nothing, from the shard with first label `lo` to `shards` shards.
    pub fn new(lo: usize, shards: usize) -> Flight {
        Flight {
            lo,
            boxes: to_box(shards, false),
            ..Flight::default()
        }
    }

    /// Gives back the memory of what has landed.
    #[inline]
    pub fn clear(&mut self, spare: &mut Vec<Vec<Queued>>) {
        self.turns.clear();
        for list in self.lists.iter_mut().filter(|l| l.capacity() > 0) {
            list.clear();
            spare.push(std::mem::take(list));
        }
    }

    /// The same for chunks.
    #[inline]
    pub fn clear_chunks(&mut self, spare: &mut Vec<Vec<Queued>>) {
        spare.extend(self.landed.drain(..).map(|(_, mut chunk)| {
            chunk.clear();
            chunk
        }));
    }

    /// Sends chunks of a box.
    #[inline]
    pub fn send(&mut self, to_box: usize, chunks: impl Iterator<Item = Vec<Queued>>) {
        self.chunks.extend(chunks.map(|chunk| (to_box, chunk)));
    }

    /// The chunks sent to a box, in order.
    #[inline]
    pub fn chunks(&self, to_box: usize) -> impl Iterator<Item = &[Queued]> {
        let chunks = self.chunks.iter().filter(move |c| c.0 == to_box);
        chunks.map(|c| &c.1[..])
    }

    /// Begins the next column; returns its boxes, empty.
    #[inline(always)]
    pub fn open(&mut self, turn: u16) -> &mut [Vec<Queued>] {
        let first = self.turns.len() * self.boxes;
        self.turns.push(turn);
        if self.lists.len() < first + self.boxes {
            self.lists.resize(first + self.boxes, Vec::new());
        }
        &mut self.lists[first..][..self.boxes]
    }

    /// It has landed, though what was in it can still be read.
    pub fn land(&mut self) {
        self.turns.clear();
        self.landed.append(&mut self.chunks);
    }

    /// How many columns the slot had.
    pub fn columns(&self) -> usize {
        self.turns.len()
    }

    /// What was sent to a shard on column `k` of the slot.
    #[inline(always)]
    pub fn column(&self, k: usize, shard: usize) -> Mail<'_> {
        let lists = &self.lists[k * self.boxes..][..self.boxes];
        Mail {
            lo: self.lo,
            turn: self.turns[k] as usize,
            relay: &lists[to_box(shard, false)],
            deliver: &lists[to_box(shard, true)],
        }
    }

    /// The cells of chunks, as (label of the sender, label of the receiver, cell).
    pub fn links<'a>(
        &'a self,
        routes: &'a Routes,
    ) -> impl Iterator<Item = (usize, usize, &'a Queued)> + 'a {
        self.chunks.iter().flat_map(move |(to_box, chunk)| {
            let second = *to_box % 3 == Kind::Second as usize;
            chunk.iter().map(move |q| match second {
                true => (q.row(), q.destination(), q),
                false => (routes.src[q.cell().rank() as usize] as usize, q.row(), q),
            })
        })
    }

    /// Every cell under way.
    pub fn each(&self) -> impl Iterator<Item = &Queued> + '_ {
        let columns = self.lists[..self.turns.len() * self.boxes].iter();
        columns.chain(self.chunks.iter().map(|c| &c.1)).flatten()
    }

    /// Their number.
    pub fn cells(&self) -> u64 {
        let columns = self.lists[..self.turns.len() * self.boxes].iter();
        let lists = columns.chain(self.chunks.iter().map(|c| &c.1));
        lists.map(|list| list.len() as u64).sum()
    }

    /// Their bytes.
    pub fn bytes(&self, routes: &Routes) -> u64 {
        self.each().map(|q| routes.bytes(q.cell())).sum()
    }

    /// Chunks become columns; `shards` has the shard of each label.
    #[cold]
    pub fn sort_by_turn(&mut self, visits: &Visits, routes: &Routes, shards: &[u16]) {
        let links = self.links(routes);
        let cells: Vec<(usize, usize, Queued)> = links.map(|(a, b, &q)| (a, b, q)).collect();
        self.chunks.clear();
        for (from, to, q) in cells {
            let turn = visits.turn(from, to) as u16;
            let column = self.turns.iter().position(|&t| t == turn);
            let column = column.unwrap_or_else(|| {
                self.open(turn);
                self.turns.len() - 1
            });
            let to_box = to_box(shards[to] as usize, q.destination() == to);
            let itself = Queued::new(q.cell(), from - self.lo, q.destination() as u16);
            self.lists[column * self.boxes + to_box].push(itself);
        }
    }

    /// Takes out what is on its way to `label`, as (cell, whether it is to be
    /// relayed there).
    #[cold]
    pub fn purge(&mut self, label: usize, visits: &Visits) -> Vec<(Cell, bool)> {
        let mut lost = Vec::new();
        for (k, &turn) in self.turns.iter().enumerate() {
            for list in &mut self.lists[k * self.boxes..][..self.boxes] {
                list.retain(|q| {
                    let stays = visits.peer(self.lo + q.row(), turn as usize) != label;
                    if !stays {
                        lost.push((q.cell(), q.destination() != label));
                    }
                    stays
                });
            }
        }
        lost
    }
}
