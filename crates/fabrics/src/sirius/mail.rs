//! What shards send each other: the cells of a slot, box by box.

use super::cell::Cell;

/// A cell on its way to an intermediate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Relayed {
    /// Label of the intermediate.
    pub via: u16,
    /// Label of the destination.
    pub destination: u16,
    /// The cell.
    pub cell: Cell,
}

/// What the nodes of one shard send to those of another in one slot.
///
/// Whether a cell is at its destination cannot be predicted, so each is written
/// to the end of both lists and counted in one: no branch.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    relay: Vec<Relayed>,
    deliver: Vec<Cell>,
    relays: usize,
    delivers: usize,
    /// Where both lists end after each column of the slot.
    ends: Vec<(usize, usize)>,
}

impl Outbox {
    /// An empty box for at most `room` cells.
    pub fn new(room: usize) -> Outbox {
        Outbox {
            relay: vec![Relayed::default(); room + 1],
            deliver: vec![Cell::default(); room + 1],
            relays: 0,
            delivers: 0,
            ends: Vec::new(),
        }
    }

    /// No more is sent on the present column of the slot.
    pub(super) fn end_column(&mut self) {
        self.ends.push((self.relays, self.delivers));
    }

    /// How many columns the slot had.
    pub(super) fn columns(&self) -> usize {
        self.ends.len()
    }

    /// What was sent on the column `k` of the slot.
    pub(super) fn column(&self, k: usize) -> (&[Relayed], &[Cell]) {
        let from = if k == 0 { (0, 0) } else { self.ends[k - 1] };
        (
            &self.relay[from.0..self.ends[k].0],
            &self.deliver[from.1..self.ends[k].1],
        )
    }

    /// First hops.
    pub fn relay(&self) -> &[Relayed] {
        &self.relay[..self.relays]
    }

    /// Cells at their destination.
    pub fn deliver(&self) -> &[Cell] {
        &self.deliver[..self.delivers]
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.relays = 0;
        self.delivers = 0;
        self.ends.clear();
    }

    /// Takes out what is on its way to `label`, as (cell, whether it is to be
    /// relayed there).
    #[cold]
    pub(super) fn purge(&mut self, label: u16, destinations: &[u16]) -> Vec<(Cell, bool)> {
        let old = self.clone();
        let mut lost = Vec::new();
        self.clear();
        for k in 0..old.ends.len() {
            let (relay, deliver) = old.column(k);
            let gone = relay.iter().filter(|r| r.via == label);
            lost.extend(gone.map(|r| (r.cell, true)));
            for r in relay.iter().filter(|r| r.via != label) {
                self.relay[self.relays] = *r;
                self.relays += 1;
            }
            for &c in deliver {
                if destinations[c.rank() as usize] == label {
                    lost.push((c, false));
                } else {
                    self.deliver[self.delivers] = c;
                    self.delivers += 1;
                }
            }
            self.ends.push((self.relays, self.delivers));
        }
        lost
    }

    /// Opens the box for many cells: the ends of its lists stay in registers.
    #[inline(always)]
    pub(super) fn open(&mut self) -> Post<'_> {
        Post {
            relay: &mut self.relay[self.relays..],
            deliver: &mut self.deliver[self.delivers..],
            relays: 0,
            delivers: 0,
            counts: (&mut self.relays, &mut self.delivers),
        }
    }
}

/// An [`Outbox`] that is being filled.
pub(super) struct Post<'a> {
    relay: &'a mut [Relayed],
    deliver: &'a mut [Cell],
    relays: usize,
    delivers: usize,
    counts: (&'a mut usize, &'a mut usize),
}

impl Post<'_> {
    #[inline(always)]
    pub(super) fn push(&mut self, sent: Relayed) {
        let arrived = sent.destination == sent.via;
        self.deliver[self.delivers] = sent.cell;
        self.relay[self.relays] = sent;
        self.delivers += arrived as usize;
        self.relays += !arrived as usize;
    }

    pub(super) fn close(self) {
        *self.counts.0 += self.relays;
        *self.counts.1 += self.delivers;
    }
}
