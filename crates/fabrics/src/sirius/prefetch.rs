//! Memory hints. The schedule is known in advance, so are the addresses.

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
