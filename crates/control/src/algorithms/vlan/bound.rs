//! Lower bounds on the number of VLANs.

use super::forest::{Forest, Path};
use super::rack_count;

/// Number of paths that are searched for mutually exclusive pairs.
const LOOKED_AT: usize = 256;

/// The larger of two bounds for the paths `order`.
pub(super) fn lower_bound(circuits: &[(u32, u32)], paths: &[Path], order: &[usize]) -> usize {
    let few: Vec<&Path> = order.iter().take(LOOKED_AT).map(|&at| &paths[at]).collect();
    density(circuits, order.iter().map(|&at| &paths[at])).max(exclusion(circuits, &few))
}

/// Nash-Williams: |S| racks have |E(S)| circuits among them, of which a forest contains at most |S|
/// − 1. The sets S that are tried are those that remain when racks of the lowest degree are removed
/// one by one.
fn density<'a>(circuits: &[(u32, u32)], paths: impl Iterator<Item = &'a Path<'a>>) -> usize {
    let mut used = vec![false; circuits.len()];
    for &circuit in paths.flat_map(|path| path.circuits) {
        used[circuit as usize] = true;
    }
    let racks = rack_count(circuits);
    let mut at: Vec<Vec<u32>> = vec![Vec::new(); racks];
    let mut left = 0;
    for (&(a, b), _) in circuits.iter().zip(&used).filter(|(_, &used)| used) {
        at[a as usize].push(b);
        at[b as usize].push(a);
        left += 1;
    }
    let mut degree: Vec<usize> = at.iter().map(Vec::len).collect();
    let mut size = degree.iter().filter(|&&degree| degree > 0).count();
    let mut removed: Vec<bool> = degree.iter().map(|&degree| degree == 0).collect();
    let mut best = 0;
    while size > 1 {
        best = best.max(usize::div_ceil(left, size - 1));
        let remaining = (0..racks).filter(|&rack| !removed[rack]);
        let least = remaining.min_by_key(|&rack| degree[rack]);
        let rack = least.expect("more than one rack is left");
        removed[rack] = true;
        size -= 1;
        left -= degree[rack];
        for &other in at[rack].iter().filter(|&&other| !removed[other as usize]) {
            degree[other as usize] -= 1;
        }
    }
    best
}

/// Paths of which every two would close a loop need separate VLANs. Such sets are grown from every
/// path in turn, with the first path that excludes all others in the set.
fn exclusion(circuits: &[(u32, u32)], paths: &[&Path]) -> usize {
    let racks = rack_count(circuits);
    let mut excludes = vec![false; paths.len() * paths.len()];
    for (i, first) in paths.iter().enumerate() {
        let mut alone = Forest::new(racks, circuits.len());
        alone.add(first);
        for (j, second) in paths.iter().enumerate().skip(i + 1) {
            let together = alone.fits(second);
            excludes[i * paths.len() + j] = !together;
            excludes[j * paths.len() + i] = !together;
        }
    }
    let mut best = 0;
    for start in 0..paths.len() {
        let mut set = vec![start];
        for other in 0..paths.len() {
            if set.iter().all(|&one| excludes[one * paths.len() + other]) {
                set.push(other);
            }
        }
        best = best.max(set.len());
    }
    best
}
