//! Two-sided round-robin matching: the common part of iSLIP and DRRM.
//!
//! Each port of one side makes an offer to one of its possible partners; ports of the other side
//! choose among their offers. In [`crate::algorithms::islip`] outputs offer (they grant) and inputs
//! choose (they accept), in [`crate::algorithms::drrm`] inputs offer (they request) and outputs
//! choose (they grant). Pointers move beyond their partner only if the first iteration matched the
//! two: this keeps pointers from synchronising, so that one iteration serves uniform traffic in
//! full, and prevents starvation.
//!
//! For use inside kernels: sets of ports are arrays of words, nothing is allocated after
//! construction, and all functions are inlined.

/// A set of up to 64 · W ports: bit `p % 64` of word `p / 64`.
pub type Set<const W: usize> = [u64; W];

/// The first port of a set at or after `from`, around the end.
///
/// ```
/// use lightloom_control::algorithms::round_robin::next_from;
/// assert_eq!(next_from(&[0b1001], 1), Some(3));
/// assert_eq!(next_from(&[0b1001], 4), Some(0));
/// assert_eq!(next_from(&[0, 1 << 6], 65), Some(70));
/// assert_eq!(next_from(&[0], 5), None);
/// ```
#[inline(always)]
pub fn next_from<const W: usize>(set: &Set<W>, from: usize) -> Option<usize> {
    let (word, bit) = (from / 64, from % 64);
    let first = |word: usize, bits: u64| word * 64 + bits.trailing_zeros() as usize;
    let late = set.get(word).map_or(0, |bits| bits >> bit << bit);
    if late != 0 {
        return Some(first(word, late));
    }
    // The word of `from` comes last: of it only the bits before `from` remain.
    let around = (word + 1..W).chain(0..W.min(word + 1));
    for word in around {
        if set[word] != 0 {
            return Some(first(word, set[word]));
        }
    }
    None
}

/// All ports below `count`.
#[inline(always)]
pub(crate) fn all<const W: usize>(count: usize) -> Set<W> {
    std::array::from_fn(|word| match count.saturating_sub(word * 64) {
        0 => 0,
        left if left >= 64 => u64::MAX,
        left => (1 << left) - 1,
    })
}

#[inline(always)]
fn and<const W: usize>(a: &Set<W>, b: &Set<W>) -> Set<W> {
    std::array::from_fn(|word| a[word] & b[word])
}

#[inline(always)]
pub(crate) fn insert<const W: usize>(set: &mut Set<W>, port: usize) {
    set[port / 64] |= 1 << (port % 64);
}

#[inline(always)]
fn remove<const W: usize>(set: &mut Set<W>, port: usize) {
    set[port / 64] &= !(1 << (port % 64));
}

/// Calls `each` for every port of a set, ascending.
#[inline(always)]
fn for_each<const W: usize>(set: &Set<W>, mut each: impl FnMut(usize)) {
    for (word, &bits) in set.iter().enumerate() {
        let mut bits = bits;
        while bits != 0 {
            each(word * 64 + bits.trailing_zeros() as usize);
            bits &= bits - 1;
        }
    }
}

/// The pointers of a switch of up to 64 · W ports.
#[derive(Clone, Debug)]
pub(crate) struct RoundRobin<const W: usize> {
    ports: usize,
    /// The first partner that each port of the offering side tries, and the first that each port of
    /// the choosing side prefers.
    offer: Vec<u32>,
    choose: Vec<u32>,
    /// Offers to each port in this iteration.
    offers: Vec<Set<W>>,
}

impl<const W: usize> RoundRobin<W> {
    /// All pointers at port 0.
    pub fn new(ports: usize) -> RoundRobin<W> {
        assert!(ports <= 64 * W, "{ports} ports in {W} words");
        RoundRobin {
            ports,
            offer: vec![0; ports],
            choose: vec![0; ports],
            offers: vec![[0; W]; ports],
        }
    }

    /// The pointers that [`RoundRobin::pointers`] returned.
    pub fn with_pointers(offer: &[u32], choose: &[u32]) -> RoundRobin<W> {
        let known = |&port: &u32| (port as usize) < offer.len();
        assert!(
            offer.len() == choose.len() && offer.iter().chain(choose).all(known),
            "two pointers a port, to ports"
        );
        RoundRobin {
            offer: offer.to_vec(),
            choose: choose.to_vec(),
            ..RoundRobin::new(offer.len())
        }
    }

    /// The pointers of the offering and of the choosing side.
    pub fn pointers(&self) -> (&[u32], &[u32]) {
        (&self.offer, &self.choose)
    }

    /// The matching of one slot: `join(offering, choosing)` is called for every pair of it.
    /// `partners(offering)` are the ports with which a port may be matched. Ends early when an
    /// iteration adds no pair; returns the number of pairs.
    #[inline(always)]
    pub fn schedule(
        &mut self,
        iterations: usize,
        partners: impl Fn(usize) -> Set<W>,
        mut join: impl FnMut(usize, usize),
    ) -> usize {
        let mut offering = all::<W>(self.ports);
        let mut choosing = offering;
        let mut matched = 0;
        for iteration in 0..iterations {
            let offered = self.offer(&offering, &choosing, &partners);
            if offered == [0; W] {
                break;
            }
            for_each(&offered, |to| {
                let offers = std::mem::replace(&mut self.offers[to], [0; W]);
                let by = next_from(&offers, self.choose[to] as usize);
                let by = by.expect("a port that was offered something");
                join(by, to);
                remove(&mut offering, by);
                remove(&mut choosing, to);
                matched += 1;
                if iteration == 0 {
                    self.choose[to] = self.after(by);
                    self.offer[by] = self.after(to);
                }
            });
        }
        matched
    }

    /// Each free port of the offering side makes an offer; returns its partner.
    #[inline(always)]
    fn offer(
        &mut self,
        offering: &Set<W>,
        choosing: &Set<W>,
        partners: &impl Fn(usize) -> Set<W>,
    ) -> Set<W> {
        let mut offered = [0; W];
        for_each(offering, |by| {
            let free = and(&partners(by), choosing);
            if let Some(to) = next_from(&free, self.offer[by] as usize) {
                insert(&mut self.offers[to], by);
                insert(&mut offered, to);
            }
        });
        offered
    }

    #[inline(always)]
    fn after(&self, port: usize) -> u32 {
        match port + 1 {
            next if next == self.ports => 0,
            next => next as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_next_port_is_found(ports in 1usize..128, from in 0usize..128, bits: [u64; 2]) {
            let set = and(&bits, &all(ports));
            let from = from % ports;
            let around = (0..ports).map(|step| (from + step) % ports);
            let expected = { around }.find(|&port| set[port / 64] >> (port % 64) & 1 == 1);
            prop_assert_eq!(next_from(&set, from), expected);
        }
    }

    /// The last port is accepted, the next number is not.
    #[test]
    #[should_panic(expected = "two pointers a port, to ports")]
    fn pointers_beyond_the_last_port_are_refused() {
        let to_the_last = RoundRobin::<1>::with_pointers(&[1, 0], &[0, 1]);
        assert_eq!(to_the_last.pointers(), (&[1, 0][..], &[0, 1][..]));
        RoundRobin::<1>::with_pointers(&[1, 0], &[0, 2]);
    }
}
