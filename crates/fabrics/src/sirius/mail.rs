//! What a shard sends in one slot.
//!
//! Nothing is copied: the chunks that leave are the mail, box by box, until they have
//! been read; then their memory goes back to where they came from.

use super::cell::{Cell, Routes};
use super::departures::{kind, Kind};
use super::queued::Queued;

/// The cells that the nodes of one shard send in one slot.
#[derive(Clone, Debug, Default)]
pub struct Flight {
    /// Chunks, those of each block of senders in turn, with their box. The row of a cell
    /// that is to be relayed is the label of its intermediate.
    chunks: Vec<(usize, Vec<Queued>)>,
    /// Chunks that have landed.
    landed: Vec<(usize, Vec<Queued>)>,
}

impl Flight {
    /// Gives back the memory of what has landed.
    #[inline]
    pub fn clear(&mut self, spare: &mut Vec<Vec<Queued>>) {
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

    /// It has landed, though what was in it can still be read.
    pub fn land(&mut self) {
        self.landed.append(&mut self.chunks);
    }

    /// The cells, as (label of the sender, label of the receiver, cell).
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

    /// Takes out what is on its way to `label`, as (cell, whether it is to be
    /// relayed there).
    #[cold]
    pub fn purge(&mut self, label: usize) -> Vec<(Cell, bool)> {
        let mut lost = Vec::new();
        for (to_box, chunk) in &mut self.chunks {
            let second = kind(*to_box) == Kind::Second;
            chunk.retain(|q| {
                let to = if second { q.destination() } else { q.row() };
                if to == label {
                    lost.push((q.cell(), q.destination() != label));
                }
                to != label
            });
        }
        lost
    }
}
