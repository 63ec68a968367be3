//! Bundles of equal flows, which move together: joining and leaving.

use super::{Net, NONE};
use crate::fair::{LinkId, Slot};
use crate::kernel::flow::row::Bundle;
use crate::time::{Rate, Time};

/// Adds a number to a key (a multiplier of L'Ecuyer 1999, table 4).
fn mix(key: u64, number: u64) -> u64 {
    let product = (key ^ number).wrapping_mul(0xd134_2543_de82_ef95);
    product ^ product >> 32
}

impl Net {
    /// Records the bytes that a flow has sent so far.
    pub(super) fn anchor(&mut self, number: u32) {
        let mut row = self.rows[number as usize];
        let sent = self.sent(&row);
        row.left -= sent;
        row.joined += sent;
        row.carried += sent * row.hops as u128;
        self.carried += sent * row.hops as u128;
        for link in self.fair.path(Slot(row.bundle)) {
            self.over_link[link.index()] += sent;
        }
        if row.lit {
            self.circuit += sent;
        }
        self.rows[number as usize] = row;
    }

    /// Puts a flow into a bundle of its own.
    pub(super) fn begin(&mut self, number: u32, path: &[LinkId], weight: u32, limit: Option<Rate>) {
        let slot = self.fair.open(path, weight, limit);
        if slot.index() >= self.bundles.len() {
            self.bundles.resize_with(slot.index() + 1, Bundle::default);
        }
        let row = &mut self.rows[number as usize];
        row.bundle = slot.0;
        row.joined = 0;
        let bundle = &mut self.bundles[slot.index()];
        bundle.clear(self.now);
        bundle.join(number, row.left);
        self.alone.push(number);
    }

    /// Whether a flow is alone in its bundle; if so, no other flow joins it until the next
    /// solution.
    pub(super) fn is_alone(&mut self, number: u32) -> bool {
        let bundle = self.rows[number as usize].bundle;
        let alone = self.fair.count(Slot(bundle)) == 1;
        if alone {
            self.forget(bundle);
            self.alone.push(number);
        }
        alone
    }

    /// Takes a flow out of its bundle, with its remaining bytes.
    pub(super) fn leave(&mut self, number: u32) {
        self.anchor(number);
        let bundle = std::mem::replace(&mut self.rows[number as usize].bundle, NONE);
        self.fair.close(Slot(bundle));
        self.bundles[bundle as usize].left(bundle, &self.rows);
        self.expect(bundle);
    }

    /// Prevents further flows from joining a bundle.
    pub(super) fn forget(&mut self, bundle: u32) {
        let key = self.bundles[bundle as usize].key;
        if self.joinable.get(&key) == Some(&bundle) {
            self.joinable.remove(&key);
        }
    }

    /// The common properties of the flows of a bundle.
    fn key(&self, slot: Slot) -> u64 {
        let limit = self.fair.limit(slot).map_or(u64::MAX, |l| l.0);
        let own = mix(self.fair.weight(slot) as u64, limit);
        let path = self.fair.path(slot).iter();
        path.fold(own, |key, link| mix(key, link.0 as u64))
    }

    /// Adds a flow with a rate to the bundle of equal flows, or makes its bundle joinable.
    pub(super) fn gather(&mut self, number: u32) {
        let own = self.rows[number as usize].bundle;
        if own == NONE || self.fair.is_apart(Slot(own)) {
            return;
        }
        let key = self.key(Slot(own));
        self.bundles[own as usize].key = key;
        let mate = *self.joinable.entry(key).or_insert(own);
        if mate == own {
            return;
        }
        // Called before its slot gets another path, because the old links have carried the bytes
        // sent so far.
        self.anchor(number);
        if !self.fair.merge(Slot(mate), Slot(own)) {
            return;
        }
        self.finishes.set(own, Time::NEVER);
        let bundle = &mut self.bundles[mate as usize];
        let row = &mut self.rows[number as usize];
        row.bundle = mate;
        row.joined = bundle.moved(self.now);
        bundle.join(number, row.end());
        self.expect(mate);
    }

    /// Records when the next flow of a bundle will have sent its last byte.
    #[inline]
    pub(super) fn expect(&mut self, bundle: u32) {
        let finish = self.bundles[bundle as usize].expect();
        self.finishes.set(bundle, finish);
    }
}
