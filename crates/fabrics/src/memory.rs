//! Large zeroed columns on huge pages.
//!
//! State that is kept for every pair of nodes reaches gigabytes and is visited
//! at random; with pages of 4 KB each visit also misses the page tables.

use bytemuck::Pod;
use memmap2::{Advice, MmapMut};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Smallest size of a column with huge pages [B].
const LARGE: usize = 4 << 20;

/// A column of fixed length, zeroed at first.
pub struct Column<T> {
    store: Store<T>,
}

enum Store<T> {
    Small(Vec<T>),
    Large(MmapMut, PhantomData<T>),
}

impl<T: Pod> Column<T> {
    /// `len` zeros.
    pub fn zeroed(len: usize) -> Column<T> {
        let bytes = len * size_of::<T>();
        let large = (bytes >= LARGE)
            .then(|| MmapMut::map_anon(bytes).ok())
            .flatten();
        let store = match large {
            Some(map) => {
                // Without huge pages, the column is only slower.
                let _ = map.advise(Advice::HugePage);
                Store::Large(map, PhantomData)
            }
            None => Store::Small(vec![T::zeroed(); len]),
        };
        Column { store }
    }
}

impl<T: Pod> Default for Column<T> {
    fn default() -> Column<T> {
        Column::zeroed(0)
    }
}

impl<T: Pod> Deref for Column<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        match &self.store {
            Store::Small(v) => v,
            Store::Large(map, _) => bytemuck::cast_slice(map),
        }
    }
}

impl<T: Pod> DerefMut for Column<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.store {
            Store::Small(v) => v,
            Store::Large(map, _) => bytemuck::cast_slice_mut(map),
        }
    }
}

impl<T: Pod> Clone for Column<T> {
    fn clone(&self) -> Column<T> {
        let mut copy = Column::zeroed(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

impl<T: Pod> fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Column of {} × {}",
            self.len(),
            std::any::type_name::<T>()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_columns_are_zeroed_and_keep_what_is_written() {
        for len in [0, 10, LARGE / 8, LARGE] {
            let mut c = Column::<u64>::zeroed(len);
            assert!(c.len() == len && c.iter().all(|&x| x == 0));
            c.iter_mut().zip(1..).for_each(|(x, k)| *x = k);
            let copy = c.clone();
            assert!(copy.iter().zip(1..).all(|(&x, k)| x == k));
        }
    }
}
