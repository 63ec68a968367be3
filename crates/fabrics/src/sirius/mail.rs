//! What a shard sends in one slot: column by column, or where it is known in advance who
//! leaves when, chunk by chunk.
//!
//! Nothing is copied: the lists that leave are the mail, box by box, until they have
//! been read; then their memory goes back to where they came from.

use super::cell::{Cell, Routes};
use super::departures::{kind, Kind};
use super::queued::Queued;
use super::topology::Visits;
use std::collections::BTreeSet;

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
            let second = kind(*to_box) == Kind::Second;
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

    /// The turns at which the cells of chunks were sent.
    #[cold]
    pub fn turns(&self, visits: &Visits, routes: &Routes) -> BTreeSet<u16> {
        let links = self.links(routes);
        links
            .map(|(from, to, _)| visits.turn(from, to) as u16)
            .collect()
    }

    /// Chunks become columns, of all `turns`; `shards` has the shard of each label.
    #[cold]
    pub fn sort_by_turn(
        &mut self,
        turns: &BTreeSet<u16>,
        visits: &Visits,
        routes: &Routes,
        shards: &[u16],
    ) {
        let links = self.links(routes).map(|(from, to, &q)| {
            let destination = q.destination();
            let to_box = to_box(shards[to] as usize, to == destination);
            let itself = Queued::new(q.cell(), from - self.lo, destination as u16);
            (visits.turn(from, to) as u16, from, to_box, itself)
        });
        let mut cells: Vec<_> = links.collect();
        cells.sort_by_key(|&(turn, from, ..)| (turn, from));
        (self.chunks, self.landed) = Default::default();
        let mut cells = cells.into_iter().peekable();
        for &turn in turns {
            let lists = self.open(turn);
            while let Some((.., to_box, q)) = cells.next_if(|c| c.0 == turn) {
                lists[to_box].push(q);
            }
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
