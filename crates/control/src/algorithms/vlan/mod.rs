//! VLANs for paths over circuits, with as few VLANs as possible (HydRA, JOCN 7(3), 2015, §III.B.1
//! and Fig. 4).
//!
//! Without a spanning-tree protocol a VLAN must not contain a loop: the circuits of all its paths
//! form a forest, and two parallel circuits are a loop, too. A path that is part of another path
//! needs no VLAN of its own, because its racks are on the other's VLAN. The other paths are added,
//! longest first, to the first VLAN that they fit; other orders are tried as well, and the best is
//! kept. A lower bound limits the distance to the minimum.
//!
//! The caller chooses VLAN IDs and tags ports.

mod bound;
mod forest;

use bound::lower_bound;
use forest::{Forest, Path};
use lightloom_engine::{Refusal, Stream};

/// The largest number of VLANs: 12 bits, of which two values are reserved.
pub const MAX_VLANS: usize = 4094;
/// Number of orders that are tried in addition to the first.
const SHUFFLES: u64 = 20;

/// The VLAN of each path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The VLAN of each path, counted from 0; `None` for a path without circuits.
    pub vlan_of: Vec<Option<u32>>,
    /// The circuits (by index, ascending) of each VLAN.
    pub circuits: Vec<Vec<u32>>,
    /// Paths that are not part of others.
    pub distinct: usize,
    /// A lower bound on the number of VLANs of any allocation.
    pub lower_bound: usize,
}

/// Assigns every path to a VLAN. `circuits` are pairs of racks, `paths` lists of circuits (by
/// index) from one end to the other; an empty path is not served. `seed` selects the other orders
/// that are tried.
///
/// # Errors
/// If a circuit does not exist or connects a rack with itself; if a path is not connected or visits
/// a rack twice; if more than [`MAX_VLANS`] are needed.
///
/// ```
/// use lightloom_control::algorithms::vlan::allocate;
/// // Two paths around a square, 0-1-2 and 2-3-0, and the first half of one.
/// let circuits = [(0, 1), (1, 2), (2, 3), (3, 0)];
/// let found = allocate(&circuits, &[vec![0, 1], vec![2, 3], vec![0]], 1).unwrap();
/// assert_eq!(found.vlan_of, [Some(0), Some(1), Some(0)]);
/// assert_eq!(found.circuits, [[0, 1], [2, 3]]);
/// assert_eq!((found.distinct, found.lower_bound), (2, 2));
/// ```
pub fn allocate(
    circuits: &[(u32, u32)],
    paths: &[Vec<u32>],
    seed: u64,
) -> Result<Allocation, Refusal> {
    let walks = read(circuits, paths)?;
    let found = few(circuits, paths, &walks, seed, 0);
    if found.circuits.len() > MAX_VLANS {
        return Err(Refusal::new(
            "paths",
            format!("{} VLANs", found.circuits.len()),
            format!("more VLANs than exist: at most {MAX_VLANS}"),
            "plan fewer demands, or shorter paths",
        ));
    }
    Ok(found)
}

/// The subset of `paths`, in order of importance, that at most `limit` VLANs hold: all of them if
/// an allocation is found, else each that fits when its turn comes. Arguments and errors: as for
/// [`allocate`], except that there are never too many VLANs.
///
/// ```
/// use lightloom_control::algorithms::vlan::within;
/// // Two paths around a square form a loop: one VLAN holds the first and its part.
/// let circuits = [(0, 1), (1, 2), (2, 3), (3, 0)];
/// let paths = [vec![0, 1], vec![2, 3], vec![0]];
/// assert_eq!(within(&circuits, &paths, 1, 1).unwrap(), [true, false, true]);
/// assert_eq!(within(&circuits, &paths, 2, 1).unwrap(), [true, true, true]);
/// ```
pub fn within(
    circuits: &[(u32, u32)],
    paths: &[Vec<u32>],
    limit: usize,
    seed: u64,
) -> Result<Vec<bool>, Refusal> {
    let walks = read(circuits, paths)?;
    let held = vec![true; paths.len()];
    if paths.len() <= limit || few(circuits, paths, &walks, seed, limit).circuits.len() <= limit {
        return Ok(held);
    }
    let order: Vec<usize> = (0..paths.len())
        .filter(|&at| !paths[at].is_empty())
        .collect();
    let vlan_of = first_fit(circuits, &walks, &order).vlan_of;
    let fits = |at: usize| vlan_of[at].is_none_or(|vlan| (vlan as usize) < limit);
    Ok((0..paths.len()).map(fits).collect())
}

/// The best of several orders. The first order that needs at most `enough` VLANs is used, and then
/// no lower bound is computed.
fn few(
    circuits: &[(u32, u32)],
    paths: &[Vec<u32>],
    walks: &[Path],
    seed: u64,
    enough: usize,
) -> Allocation {
    let container = containers(circuits.len(), paths);
    let whole = |&at: &usize| container[at] == at && !paths[at].is_empty();
    let mut order: Vec<usize> = (0..paths.len()).filter(whole).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(paths[at].len()));
    let mut best = first_fit(circuits, walks, &order);
    let lower_bound = match best.forests.len() <= enough {
        true => 0,
        false => lower_bound(circuits, walks, &order),
    };
    for shuffle in 0..SHUFFLES {
        if best.forests.len() <= lower_bound.max(enough) {
            break;
        }
        let mut other = order.clone();
        Stream::new(seed, "vlan order", shuffle).shuffle(&mut other);
        if shuffle % 2 == 0 {
            other.sort_by_key(|&at| std::cmp::Reverse(paths[at].len()));
        }
        let found = first_fit(circuits, walks, &other);
        if found.forests.len() < best.forests.len() {
            best = found;
        }
    }
    let vlan = |at: usize| best.vlan_of[container[at]];
    Allocation {
        vlan_of: (0..paths.len()).map(vlan).collect(),
        circuits: best.forests.iter().map(Forest::circuits).collect(),
        distinct: order.len(),
        lower_bound,
    }
}

/// Circuits and paths from lists of racks, for [`allocate`]: one circuit for each
/// pair of racks that are next to each other in some path.
///
/// ```
/// use lightloom_control::algorithms::vlan::{allocate, from_racks};
/// // Fig. 4 of the paper is of this kind: seven paths, six after merging.
/// let (circuits, paths) = from_racks(&[
///     vec![0, 1, 2], vec![1, 2], vec![2, 3, 0], vec![3, 1],
///     vec![0, 2, 4], vec![4, 5], vec![5, 0],
/// ]);
/// let found = allocate(&circuits, &paths, 1).unwrap();
/// assert_eq!((found.distinct, found.circuits.len(), found.lower_bound), (6, 3, 3));
/// ```
pub fn from_racks(paths: &[Vec<u32>]) -> (Vec<(u32, u32)>, Vec<Vec<u32>>) {
    let pairs = |path: &Vec<u32>| -> Vec<(u32, u32)> {
        let pairs = path.windows(2);
        { pairs }
            .map(|p| (p[0].min(p[1]), p[0].max(p[1])))
            .collect()
    };
    let mut circuits: Vec<(u32, u32)> = paths.iter().flat_map(pairs).collect();
    circuits.sort_unstable();
    circuits.dedup();
    let index = |pair| circuits.binary_search(&pair).expect("it is among them") as u32;
    let paths = paths
        .iter()
        .map(|path| pairs(path).into_iter().map(index).collect());
    let paths = paths.collect();
    (circuits, paths)
}

/// Number of rules for the servers' virtual switches in the steps of a reconfiguration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Step 3-1: moves affected traffic to the electrical network.
    pub leave: u64,
    /// Step 3-2: installs the new paths at a lower priority.
    pub install: u64,
    /// Step 3-3: deletes the rules of step 3-1.
    pub enter: u64,
}

impl Rules {
    /// The worst case: all `racks` communicate with all others, and everything changes.
    ///
    /// ```
    /// use lightloom_control::algorithms::vlan::Rules;
    /// let worst = Rules::worst(320, 32);
    /// assert_eq!((worst.leave, worst.install, worst.enter), (10_240, 3_276_800, 10_240));
    /// ```
    pub fn worst(racks: u64, servers: u64) -> Rules {
        Rules {
            leave: servers * racks,
            install: servers * racks * racks,
            enter: servers * racks,
        }
    }

    /// The rules for a change of the paths of some pairs of racks, with `servers` in each rack: one
    /// rule on every server of these racks in the steps 3-1 and 3-3, and one rule for every path
    /// that begins at the server.
    ///
    /// ```
    /// use lightloom_control::algorithms::vlan::Rules;
    /// let rules = Rules::of([(0, 1), (2, 0)], 32);
    /// assert_eq!((rules.leave, rules.install, rules.enter), (96, 128, 96));
    /// ```
    pub fn of(pairs: impl IntoIterator<Item = (u32, u32)>, servers: u64) -> Rules {
        let mut racks: Vec<u32> = pairs.into_iter().flat_map(|(a, b)| [a, b]).collect();
        let install = servers * racks.len() as u64;
        racks.sort_unstable();
        racks.dedup();
        let concerned = servers * racks.len() as u64;
        Rules {
            leave: concerned,
            install,
            enter: concerned,
        }
    }
}

struct Fit {
    forests: Vec<Forest>,
    vlan_of: Vec<Option<u32>>,
}

fn first_fit(circuits: &[(u32, u32)], paths: &[Path], order: &[usize]) -> Fit {
    let racks = rack_count(circuits);
    let mut forests: Vec<Forest> = Vec::new();
    let mut vlan_of = vec![None; paths.len()];
    for &at in order {
        let vlan = match forests.iter_mut().position(|forest| forest.add(&paths[at])) {
            Some(vlan) => vlan,
            None => {
                let mut forest = Forest::new(racks, circuits.len());
                assert!(forest.add(&paths[at]), "a path has no loop");
                forests.push(forest);
                forests.len() - 1
            }
        };
        vlan_of[at] = Some(vlan as u32);
    }
    Fit { forests, vlan_of }
}

fn rack_count(circuits: &[(u32, u32)]) -> usize {
    let racks = circuits.iter().map(|&(a, b)| a.max(b) as usize + 1);
    racks.max().unwrap_or(0)
}

/// For each path, the path that contains it, or itself: the longest, then the first, so that
/// containers are not contained in others.
fn containers(circuits: usize, paths: &[Vec<u32>]) -> Vec<usize> {
    let mut over: Vec<Vec<usize>> = vec![Vec::new(); circuits];
    for (at, path) in paths.iter().enumerate() {
        path.iter()
            .for_each(|&circuit| over[circuit as usize].push(at));
    }
    let contains = |whole: usize, part: &[u32]| part.iter().all(|c| paths[whole].contains(c));
    let container = |(at, path): (usize, &Vec<u32>)| {
        let lists = path.iter().map(|&circuit| &over[circuit as usize]);
        let Some(shortest) = lists.min_by_key(|list| list.len()) else {
            return at;
        };
        let around = shortest
            .iter()
            .copied()
            .filter(|&whole| contains(whole, path));
        let longest = around.min_by_key(|&whole| (std::cmp::Reverse(paths[whole].len()), whole));
        longest.expect("a path contains itself")
    };
    paths.iter().enumerate().map(container).collect()
}

/// The racks of every path; refuses invalid paths.
fn read<'a>(circuits: &[(u32, u32)], paths: &'a [Vec<u32>]) -> Result<Vec<Path<'a>>, Refusal> {
    if let Some(at) = circuits.iter().position(|(a, b)| a == b) {
        return Err(Refusal::new(
            format!("circuits[{at}]"),
            format!("rack {} with itself", circuits[at].0),
            "a circuit joins two racks",
            "remove it",
        ));
    }
    let read = |(at, path): (usize, &'a Vec<u32>)| {
        let hops = path.iter().enumerate();
        if let Some((hop, circuit)) = { hops }.find(|(_, &c)| c as usize >= circuits.len()) {
            return Err(Refusal::new(
                format!("paths[{at}][{hop}]"),
                circuit,
                format!("there are {} circuits", circuits.len()),
                "name a circuit that exists",
            ));
        }
        match racks(circuits, path) {
            Some(racks) => Ok(Path {
                circuits: path,
                racks,
            }),
            None => Err(Refusal::new(
                format!("paths[{at}]"),
                format!("circuits {path:?}"),
                "not a path: each circuit begins where the last one ends, and no rack comes twice",
                "correct it",
            )),
        }
    };
    paths.iter().enumerate().map(read).collect()
}

/// The racks of a path if its circuits are consecutive and visit no rack twice.
fn racks(circuits: &[(u32, u32)], path: &[u32]) -> Option<Vec<u32>> {
    let Some(&first) = path.first() else {
        return Some(Vec::new());
    };
    let from = |start: u32| {
        let mut racks = vec![start];
        for &circuit in path {
            let ((a, b), at) = (circuits[circuit as usize], racks[racks.len() - 1]);
            let to = a ^ b ^ at;
            if (at != a && at != b) || racks.contains(&to) {
                return None;
            }
            racks.push(to);
        }
        Some(racks)
    };
    let (a, b) = circuits[first as usize];
    from(a).or_else(|| from(b))
}

#[cfg(test)]
mod tests {
    use super::racks as racks_of;
    use super::*;
    use proptest::prelude::*;

    /// Random paths over a random multigraph; some can be parts of others.
    fn instances(most: usize) -> impl Strategy<Value = (Vec<(u32, u32)>, Vec<Vec<u32>>)> {
        (3u32..8, 3usize..14, 0..=most, any::<u64>()).prop_map(|(racks, circuits, count, seed)| {
            let mut rng = Stream::new(seed, "instance", 0);
            let mut circuit = || {
                let (a, step) = rng.below2(racks, racks - 1);
                (a, (a + 1 + step) % racks)
            };
            let circuits: Vec<(u32, u32)> = (0..circuits).map(|_| circuit()).collect();
            let mut path = || {
                let mut path = vec![rng.below(circuits.len() as u32)];
                for _ in 0..rng.below(4) {
                    path.push(rng.below(circuits.len() as u32));
                    if racks_of(&circuits, &path).is_none() {
                        path.pop();
                    }
                }
                path
            };
            let paths = (0..count).map(|_| path()).collect();
            (circuits, paths)
        })
    }

    /// Whether circuits contain no loop, by removing leaves until nothing is left.
    fn is_forest(circuits: &[(u32, u32)], chosen: &[u32]) -> bool {
        let mut left: Vec<(u32, u32)> = chosen.iter().map(|&c| circuits[c as usize]).collect();
        loop {
            let degree = |rack| {
                left.iter()
                    .filter(|&&(a, b)| a == rack || b == rack)
                    .count()
            };
            let leaf = left
                .iter()
                .position(|&(a, b)| degree(a) == 1 || degree(b) == 1);
            match leaf {
                Some(at) => drop(left.swap_remove(at)),
                None => return left.is_empty(),
            }
        }
    }

    /// The fewest VLANs, by trying every partition.
    fn exhaustive(circuits: &[(u32, u32)], paths: &[Vec<u32>]) -> usize {
        fn place(
            circuits: &[(u32, u32)],
            paths: &[Vec<u32>],
            vlans: &mut Vec<Vec<u32>>,
            best: &mut usize,
        ) {
            let Some((path, rest)) = paths.split_first() else {
                *best = vlans.len().min(*best);
                return;
            };
            for vlan in 0..vlans.len() {
                let before = vlans[vlan].clone();
                vlans[vlan].extend(path.iter().filter(|c| !before.contains(c)));
                if is_forest(circuits, &vlans[vlan]) {
                    place(circuits, rest, vlans, best);
                }
                vlans[vlan] = before;
            }
            if vlans.len() + 1 < *best {
                vlans.push(path.clone());
                place(circuits, rest, vlans, best);
                vlans.pop();
            }
        }
        let mut best = paths.len();
        place(circuits, paths, &mut Vec::new(), &mut best);
        best
    }

    fn check_allocation(circuits: &[(u32, u32)], paths: &[Vec<u32>], found: &Allocation) {
        for (at, path) in paths.iter().enumerate() {
            match found.vlan_of[at] {
                None => assert!(path.is_empty()),
                Some(vlan) => {
                    let on = &found.circuits[vlan as usize];
                    assert!(path.iter().all(|circuit| on.contains(circuit)));
                }
            }
        }
        for vlan in &found.circuits {
            assert!(is_forest(circuits, vlan) && vlan.windows(2).all(|w| w[0] < w[1]));
        }
        assert!(found.lower_bound <= found.circuits.len());
    }

    proptest! {
        #[test]
        fn forests_carry_all_paths((circuits, paths) in instances(60), seed: u64) {
            let found = allocate(&circuits, &paths, seed).unwrap();
            check_allocation(&circuits, &paths, &found);
            prop_assert_eq!(&found, &allocate(&circuits, &paths, seed).unwrap());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        /// Exhaustive search bounds the result from below and the bound from above. The shuffled
        /// orders find the minimum except in rare cases, in which they need one VLAN more.
        #[test]
        fn few_paths_get_nearly_the_fewest_vlans((circuits, paths) in instances(12)) {
            let found = allocate(&circuits, &paths, 1).unwrap();
            let fewest = exhaustive(&circuits, &paths);
            prop_assert!(found.lower_bound <= fewest);
            prop_assert!(found.circuits.len() >= fewest);
            prop_assert!(found.circuits.len() <= fewest + 1);
        }

        /// With any limit the first path is accepted, the accepted paths need no more VLANs, and a
        /// sufficient limit accepts all paths.
        #[test]
        fn paths_within_a_limit((circuits, paths) in instances(8), limit in 1usize..5) {
            let held = within(&circuits, &paths, limit, 1).unwrap();
            let kept: Vec<_> = { paths.iter().zip(&held) }
                .filter(|(path, &held)| held && !path.is_empty())
                .map(|(path, _)| path.clone())
                .collect();
            prop_assert!(exhaustive(&circuits, &kept) <= limit);
            prop_assert!(held.first().is_none_or(|&first| first));
            if allocate(&circuits, &paths, 1).unwrap().circuits.len() <= limit {
                prop_assert!(held.iter().all(|&h| h));
            }
        }
    }

    #[test]
    fn shuffles_find_the_fewest_in_nearly_all_small_cases() {
        use proptest::strategy::ValueTree;
        use proptest::test_runner::TestRunner;
        let mut runner = TestRunner::deterministic();
        let (mut fewest, cases) = (0, 300);
        for _ in 0..cases {
            let instance = instances(12).new_tree(&mut runner).unwrap();
            let (circuits, paths) = instance.current();
            let found = allocate(&circuits, &paths, 1).unwrap();
            fewest += usize::from(found.circuits.len() == exhaustive(&circuits, &paths));
        }
        assert!(fewest * 100 >= cases * 99, "{fewest} of {cases}");
    }

    #[test]
    fn the_fixture_needs_exactly_three() {
        let racks = [
            vec![0, 1, 2],
            vec![1, 2],
            vec![2, 3, 0],
            vec![3, 1],
            vec![0, 2, 4],
            vec![4, 5],
            vec![5, 0],
        ];
        let (circuits, paths) = from_racks(&racks);
        assert_eq!(circuits.len(), 9);
        for seed in 0..20 {
            let found = allocate(&circuits, &paths, seed).unwrap();
            check_allocation(&circuits, &paths, &found);
            assert_eq!(
                (found.distinct, found.circuits.len(), found.lower_bound),
                (6, 3, 3)
            );
            assert_eq!(found.vlan_of[1], found.vlan_of[0]);
        }
        assert_eq!(exhaustive(&circuits, &paths), 3);
    }

    #[test]
    fn parallel_circuits_are_a_loop() {
        let found = allocate(&[(0, 1), (1, 0)], &[vec![0], vec![1], vec![0]], 1).unwrap();
        assert_eq!(found.vlan_of, [Some(0), Some(1), Some(0)]);
        assert_eq!((found.distinct, found.lower_bound), (2, 2));
        let none = allocate(&[(0, 1)], &[vec![]], 1).unwrap();
        assert_eq!((none.vlan_of, none.lower_bound), (vec![None], 0));
    }

    #[test]
    fn more_vlans_than_exist_are_refused() {
        let circuits = vec![(0, 1); 4095];
        let paths = |count: u32| -> Vec<Vec<u32>> { (0..count).map(|c| vec![c]).collect() };
        assert_eq!(
            allocate(&circuits, &paths(4094), 1).unwrap().circuits.len(),
            4094
        );
        assert_eq!(
            allocate(&circuits, &paths(4095), 1)
                .unwrap_err()
                .to_string(),
            "paths = 4095 VLANs: more VLANs than exist: at most 4094; \
             plan fewer demands, or shorter paths"
        );
    }

    #[test]
    fn bad_paths_are_refused_by_name() {
        let circuits = [(0, 1), (1, 2), (2, 0), (2, 3)];
        let refused = |path: Vec<u32>| {
            let refusal = allocate(&circuits, &[vec![0], path], 1).unwrap_err();
            refusal.to_string()
        };
        assert!(refused(vec![0, 4]).starts_with("paths[1][1] = 4: there are 4 circuits"));
        assert!(refused(vec![0, 3]).starts_with("paths[1] = circuits [0, 3]: not a path"));
        assert!(refused(vec![0, 1, 2]).contains("no rack comes twice"));
        assert!(refused(vec![0, 0]).contains("not a path"));
        let itself = allocate(&[(3, 3)], &[], 1).unwrap_err();
        assert_eq!(itself.key, "circuits[0]");
    }
}
