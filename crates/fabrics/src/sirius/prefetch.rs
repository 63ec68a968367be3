//! Memory prefetches. The schedule determines the addresses in advance.

/// Asks the memory system for `column[index]`; does nothing beyond the end or
/// on processors without the hint.
#[inline(always)]
#[allow(unsafe_code)]
pub fn prefetch<T>(column: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = column.get(index) {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        // SAFETY: a prefetch reads nothing that the program can see, and the
        // address is that of a live element.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (column, index);
}

/// Number of items between a prefetch and its use: large enough for memory to respond, small enough
/// for the first-level cache.
pub const AHEAD: usize = 32;

/// Calls `work` on each item in order, each item after an early `hint`.
#[inline(always)]
pub fn hinted<T, S>(items: &[T], state: &mut S, hint: impl Fn(&S, &T), work: impl Fn(&mut S, &T)) {
    let ahead = items.len().min(AHEAD);
    items[..ahead].iter().for_each(|item| hint(state, item));
    for (item, later) in items.iter().zip(&items[ahead..]) {
        hint(state, later);
        work(state, item);
    }
    let last = &items[items.len() - ahead..];
    last.iter().for_each(|item| work(state, item));
}
