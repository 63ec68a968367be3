//! The cells that a shard sends in one slot.
//!
//! No cell is copied: the chunks that leave are in flight, lane by lane, until they have been read;
//! then their memory is reused.

use super::queued::Queued;
use crate::sirius::cell::{Cell, Routes};
use crate::sirius::index::Label;

/// The treatment of a cell at the other end of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The cell is relayed.
    Relay,
    /// The cell is on its second hop and is delivered.
    Second,
    /// The cell is delivered on its first hop.
    Direct,
}

/// The lane of cells to a shard: one for each purpose.
#[inline(always)]
pub fn lane_of(shard: usize, purpose: Purpose) -> usize {
    3 * shard + purpose as usize
}

/// The purpose of the cells of a lane.
pub fn purpose(lane: usize) -> Purpose {
    [Purpose::Relay, Purpose::Second, Purpose::Direct][lane % 3]
}

/// The cells that the nodes of one shard send in one slot.
#[derive(Clone, Debug, Default)]
pub struct Flight {
    /// Chunks with their lanes, block of senders by block.
    chunks: Vec<(usize, Vec<Queued>)>,
    /// Chunks that have landed.
    landed: Vec<(usize, Vec<Queued>)>,
}

impl Flight {
    /// Returns the memory of cells that have arrived.
    #[inline]
    pub fn clear(&mut self, spare: &mut Vec<Vec<Queued>>) {
        spare.extend(self.landed.drain(..).map(|(_, mut chunk)| {
            chunk.clear();
            chunk
        }));
    }

    /// Sends chunks of a lane.
    #[inline]
    pub fn send(&mut self, lane: usize, chunks: impl Iterator<Item = Vec<Queued>>) {
        self.chunks.extend(chunks.map(|chunk| (lane, chunk)));
    }

    /// The chunks sent to a lane, in order.
    #[inline]
    pub fn chunks(&self, lane: usize) -> impl Iterator<Item = &[Queued]> {
        let chunks = self.chunks.iter().filter(move |c| c.0 == lane);
        chunks.map(|c| &c.1[..])
    }

    /// Marks the flight as landed; its cells can still be read.
    pub fn land(&mut self) {
        self.landed.append(&mut self.chunks);
    }

    /// The cells, as (label of the sender, label of the receiver, cell).
    pub fn links<'a>(
        &'a self,
        routes: &'a Routes,
    ) -> impl Iterator<Item = (Label, Label, &'a Queued)> + 'a {
        self.chunks.iter().flat_map(move |(lane, chunk)| {
            let second = purpose(*lane) == Purpose::Second;
            chunk.iter().map(move |q| match second {
                true => (q.intermediate(), q.destination(), q),
                false => (routes.source(q.cell()), q.intermediate(), q),
            })
        })
    }

    /// All cells in flight.
    pub fn each(&self) -> impl Iterator<Item = &Queued> + '_ {
        self.chunks.iter().flat_map(|c| &c.1)
    }

    /// Their number.
    pub fn cells(&self) -> u64 {
        self.chunks.iter().map(|c| c.1.len() as u64).sum()
    }

    /// Their bytes.
    pub fn bytes(&self, routes: &Routes) -> u64 {
        self.each().map(|q| routes.bytes(q.cell())).sum()
    }

    /// Removes the cells in transit to `label`, as (cell, whether it is to be relayed there).
    #[cold]
    pub fn purge(&mut self, label: Label) -> Vec<(Cell, bool)> {
        let mut lost = Vec::new();
        for (lane, chunk) in &mut self.chunks {
            let second = purpose(*lane) == Purpose::Second;
            chunk.retain(|q| {
                let to = if second {
                    q.destination()
                } else {
                    q.intermediate()
                };
                if to == label {
                    lost.push((q.cell(), q.destination() != label));
                }
                to != label
            });
        }
        lost
    }
}
