//! The lists that cells in line are kept in, and whence their memory comes: lists
//! that were read leave it to those that grow (`spare`).

use crate::sirius::relay::queued::Placed;

/// Adds a cell to a list.
#[inline(always)]
pub(crate) fn append(list: &mut Vec<Placed>, placed: Placed, spare: &mut Vec<Vec<Placed>>) {
    if list.len() == list.capacity() {
        refill(list, spare);
    }
    list.push(placed);
}

/// Moves the cells whose rows have a bit in `rows` from a list to the end of
/// another; without branches, for any row may have one.
#[inline(always)]
pub(crate) fn divide(
    list: &mut Vec<Placed>,
    next: &mut Vec<Placed>,
    rows: &[u64],
    spare: &mut Vec<Vec<Placed>>,
) {
    if next.capacity() == 0 && !list.is_empty() {
        refill(next, spare);
    }
    let (mut stay, mut gone) = (0, next.len());
    next.resize(gone + list.len(), Placed::default());
    for k in 0..list.len() {
        let (placed, row) = (list[k], list[k].queued.row());
        let goes = rows[row / 64] >> (row % 64) & 1;
        (list[stay], next[gone]) = (placed, placed);
        gone += goes as usize;
        stay += 1 - goes as usize;
    }
    list.truncate(stay);
    next.truncate(gone);
}

/// Makes room in a full list.
#[cold]
#[inline(never)]
fn refill(list: &mut Vec<Placed>, spare: &mut Vec<Vec<Placed>>) {
    match spare.pop() {
        Some(empty) if list.capacity() == 0 => *list = empty,
        other => {
            spare.extend(other);
            list.reserve(16);
        }
    }
}
