//! The windows of the flows of one source at every intermediate.
//!
//! For each intermediate and flow, they contain the number of further cells that the flow may have
//! there (its credit) and whether it has a cell there now. With thousands of flows and peers this
//! is most of the state, and every cell requires a search for the next flow with credit. Credits
//! are therefore stored bit-sliced: a word holds one binary digit of the credit of 64 flows, the OR
//! of the digits shows which flows have credit, and 64 flows are skipped at once. A window of 2
//! takes 3 bits per flow and intermediate.

/// Flows a word.
const FLOWS: usize = 64;

/// Binary digits of a window.
fn digits(window: u32) -> usize {
    (u32::BITS - window.leading_zeros()) as usize
}

/// A word in which all flows have digit `d` of `credit`.
#[inline(always)]
fn all_with(credit: u32, d: usize) -> u64 {
    ((credit >> d & 1) as u64).wrapping_neg()
}

/// Bytes of state for one intermediate if up to `flows` flows of the source are open at the same
/// time.
pub fn bytes_a_peer(window: u32, flows: u64) -> u64 {
    flows.div_ceil(FLOWS as u64) * (1 + digits(window) as u64) * size_of::<u64>() as u64
}

/// Credits of the flows of one source, by their places.
#[derive(Clone, Debug)]
pub struct Credits {
    window: u32,
    peers: usize,
    /// Words of flows.
    words: usize,
    /// Words of bits for each peer and word of flows: "a cell is there", then the digits of the
    /// credit, lowest first.
    planes: usize,
    /// The bits, in order of word of flows, peer and plane. A node meets its peers in order and
    /// uses the same word of flows for several peers.
    bits: Vec<u64>,
}

impl Credits {
    /// Room for no flows.
    pub fn new(peers: usize, window: u32) -> Credits {
        Credits {
            window,
            peers,
            words: 0,
            planes: 1 + digits(window),
            bits: Vec::new(),
        }
    }

    /// Places of flows.
    pub fn room(&self) -> usize {
        self.words * FLOWS
    }

    /// Makes room for another word of flows, with full credit everywhere.
    pub fn grow(&mut self) {
        let mut fresh = vec![0];
        fresh.extend((0..self.planes - 1).map(|d| all_with(self.window, d)));
        self.bits.extend(fresh.repeat(self.peers));
        self.words += 1;
    }

    /// The planes of the word that holds `place`, and its bit.
    #[inline(always)]
    fn planes(&mut self, peer: usize, place: usize) -> (&mut [u64], u64) {
        let at = (place / FLOWS * self.peers + peer) * self.planes;
        (&mut self.bits[at..][..self.planes], 1 << (place % FLOWS))
    }

    /// The first place from `from` on, cyclically, whose flow waits and has credit at `peer`.
    /// `from` is below [`Credits::room`].
    #[inline(always)]
    pub fn next_open(&self, peer: usize, waiting: &[u64], from: usize) -> Option<usize> {
        let open = |word: usize| {
            let at = (word * self.peers + peer) * self.planes;
            let digits = &self.bits[at..][1..self.planes];
            waiting[word] & digits.iter().fold(0, |any, d| any | d)
        };
        let found = |word: usize, set: u64| word * FLOWS + set.trailing_zeros() as usize;
        let (first, before) = (from / FLOWS, !(u64::MAX << (from % FLOWS)));
        let here = open(first);
        if here & !before != 0 {
            return Some(found(first, here & !before));
        }
        let others = (first + 1..self.words).chain(0..first);
        let other = others.filter(|&w| waiting[w] != 0).find_map(|w| {
            let set = open(w);
            (set != 0).then(|| found(w, set))
        });
        other.or((here & before != 0).then(|| found(first, here & before)))
    }

    /// Takes one credit; there must be one.
    #[inline(always)]
    pub fn take(&mut self, peer: usize, place: usize) {
        let (planes, mut borrow) = self.planes(peer, place);
        for digit in &mut planes[1..] {
            let was = *digit;
            *digit ^= borrow;
            borrow &= !was;
        }
        debug_assert!(borrow == 0, "took more than the window");
    }

    /// Gives one credit back; returns whether all are back.
    #[inline(always)]
    pub fn give(&mut self, peer: usize, place: usize) -> bool {
        let window = self.window;
        let (planes, bit) = self.planes(peer, place);
        let (mut carry, mut missing) = (bit, 0);
        for (d, digit) in planes[1..].iter_mut().enumerate() {
            let was = *digit;
            *digit ^= carry;
            carry &= was;
            missing |= *digit ^ all_with(window, d);
        }
        debug_assert!(carry == 0, "gave more than the window");
        missing & bit == 0
    }

    /// Sets the credit at `peer` to the whole window, or to none if `open` is false: the peer then
    /// never relays this flow.
    pub fn open(&mut self, peer: usize, place: usize, open: bool) {
        let credit = if open { self.window } else { 0 };
        let (planes, bit) = self.planes(peer, place);
        for (d, digit) in planes[1..].iter_mut().enumerate() {
            *digit = *digit & !bit | all_with(credit, d) & bit;
        }
    }

    /// Records that a cell of the flow is at `peer`; returns whether one already was.
    #[inline(always)]
    pub fn enter(&mut self, peer: usize, place: usize) -> bool {
        let (planes, bit) = self.planes(peer, place);
        let was = planes[0] & bit != 0;
        planes[0] |= bit;
        was
    }

    /// Records that no cell of the flow is at `peer` any more.
    #[inline(always)]
    pub fn leave(&mut self, peer: usize, place: usize) {
        let (planes, bit) = self.planes(peer, place);
        planes[0] &= !bit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compared with plain numbers, one for each flow and intermediate.
        #[test]
        fn digits_count_like_numbers(
            window in 1u32..=255,
            ops in prop::collection::vec((0usize..3, 0usize..128, any::<bool>()), 1..600),
        ) {
            let mut credits = Credits::new(3, window);
            (0..2).for_each(|_| credits.grow());
            let mut plain = vec![[window; 256]; 3];
            for (k, (peer, place, take)) in ops.into_iter().enumerate() {
                if k == 300 {
                    credits.grow();
                }
                let left = &mut plain[peer][place];
                if take && *left > 0 {
                    *left -= 1;
                    credits.take(peer, place);
                } else if !take && *left < window {
                    *left += 1;
                    prop_assert_eq!(credits.give(peer, place), *left == window);
                }
                let waiting = vec![u64::MAX; credits.room() / 64];
                let next = (place..credits.room()).chain(0..place).find(|&p| plain[peer][p] > 0);
                prop_assert_eq!(credits.next_open(peer, &waiting, place), next);
            }
        }

        #[test]
        fn the_next_flow_waits_and_has_credit(
            closed in prop::collection::vec(0usize..256, 0..300),
            idle in prop::collection::vec(0usize..256, 0..300),
            from in 0usize..256,
        ) {
            let mut credits = Credits::new(2, 1);
            (0..4).for_each(|_| credits.grow());
            closed.iter().for_each(|&place| credits.open(1, place, false));
            let mut waiting = [u64::MAX; 4];
            idle.iter().for_each(|&place| waiting[place / 64] &= !(1 << (place % 64)));
            let next = (from..256).chain(0..from);
            let next = next.into_iter().find(|p| !closed.contains(p) && !idle.contains(p));
            prop_assert_eq!(credits.next_open(1, &waiting, from), next);
        }
    }

    #[test]
    fn room_costs_what_is_said() {
        for (window, flows) in [(1, 1), (2, 64), (3, 65), (4, 1000), (255, 129)] {
            let mut credits = Credits::new(7, window);
            while credits.room() < flows {
                credits.grow();
            }
            let bytes = size_of_val(credits.bits.as_slice()) as u64;
            assert_eq!(bytes, 7 * bytes_a_peer(window, flows as u64));
        }
    }
}
