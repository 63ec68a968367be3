//! The lists that cells in line are kept in, and whence their memory comes: lists
//! that were read leave it to those that grow (`spare`).

use super::queued::Queued;

/// Adds a cell to a list.
#[inline(always)]
pub(super) fn append(list: &mut Vec<Queued>, queued: Queued, spare: &mut Vec<Vec<Queued>>) {
    if list.len() == list.capacity() {
        refill(list, spare);
    }
    list.push(queued);
}

/// Moves the cells whose rows have a bit in `rows` from a list to the end of
/// another; without branches, for any row may have one.
#[inline(always)]
pub(super) fn divide(
    list: &mut Vec<Queued>,
    next: &mut Vec<Queued>,
    rows: &[u64],
    spare: &mut Vec<Vec<Queued>>,
) {
    if next.capacity() == 0 && !list.is_empty() {
        refill(next, spare);
    }
    let (mut stay, mut gone) = (0, next.len());
    next.resize(gone + list.len(), Queued::default());
    for k in 0..list.len() {
        let q = list[k];
        let goes = rows[q.row() / 64] >> (q.row() % 64) & 1;
        (list[stay], next[gone]) = (q, q);
        gone += goes as usize;
        stay += 1 - goes as usize;
    }
    list.truncate(stay);
    next.truncate(gone);
}

/// Makes room in a full list.
#[cold]
#[inline(never)]
fn refill(list: &mut Vec<Queued>, spare: &mut Vec<Vec<Queued>>) {
    match spare.pop() {
        Some(empty) if list.capacity() == 0 => *list = empty,
        other => {
            spare.extend(other);
            list.reserve(16);
        }
    }
}
