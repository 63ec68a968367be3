//! Pairwise exchange: a round-robin tournament by the circle method, in the order of FFTW's
//! transposition over MPI (`mpi/transpose-pairwise.c`, one call of `MPI_Sendrecv` per round).
//!
//! The pairs of all rounds are a 1-factorisation of the complete graph: every member meets every
//! other member once, and meets at most one in each round. If their number is odd, one sits out.
//!
//! Modelled as for messages with a rendezvous: a pair begins when both have finished the rounds
//! before, and each continues when both of its blocks, the sent and the received one, are
//! delivered. Not modelled: copying the block that stays local.

use lightloom_engine::{Dag, Node, Task};

/// Rounds among `n`: n - 1, or n if one sits out in each.
pub(super) fn rounds(n: usize) -> usize {
    n - 1 + n % 2
}

/// The partner of member `one` of `n` in a round; `None` if it sits out.
///
/// All members but the last of an even number form a circle. In round k, two members meet that are
/// at equal distance from k on either side; k itself meets the last member, or sits out.
pub(super) fn partner(n: usize, one: usize, round: usize) -> Option<usize> {
    let circle = rounds(n);
    let opposite = |k: usize| (2 * round + circle - k) % circle;
    let last = (n.is_multiple_of(2)).then_some(n - 1);
    match one {
        _ if Some(one) == last => Some(round),
        _ if opposite(one) == one => last,
        _ => Some(opposite(one)),
    }
}

/// Pairs `(a, b)`, a below b, of a round.
pub(super) fn pairs(n: usize, round: usize) -> impl Iterator<Item = (usize, usize)> {
    let meets = move |a| Some((a, partner(n, a, round)?));
    (0..n).filter_map(meets).filter(|(a, b)| a < b)
}

/// Adds all rounds among `n`, after all of `before`; `send(a, b)` is the flow from a to b. Returns
/// the flows that end last.
pub(super) fn build(
    n: usize,
    send: impl Fn(usize, usize) -> Task,
    before: &[Node],
    dag: &mut Dag,
) -> Vec<Node> {
    let mut done: Vec<Vec<Node>> = vec![before.to_vec(); n];
    // A member that sits out in the last round has met, before, a member that does not sit out.
    let mut last = Vec::new();
    for round in 0..rounds(n) {
        last.clear();
        for (a, b) in pairs(n, round) {
            let mut after = done[a].clone();
            after.extend(done[b].iter().filter(|node| !done[a].contains(node)));
            let swap = [(a, b), (b, a)].map(|(from, to)| dag.task(send(from, to), &after));
            done[a] = swap.to_vec();
            done[b] = swap.to_vec();
            last.extend(swap);
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::tests::{generate, play};
    use crate::patterns::tests::cluster;
    use lightloom_engine::{HostId, Io, Time};
    use proptest::prelude::*;
    use serde_json::json;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn all_rounds_are_a_one_factorisation_of_the_complete_graph() {
        for n in 2..70 {
            let mut met = BTreeSet::new();
            for round in 0..rounds(n) {
                let pairs: Vec<_> = pairs(n, round).collect();
                assert_eq!(pairs.len(), n / 2, "{n}: at most one sits out");
                let of_round: BTreeSet<usize> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
                assert_eq!(of_round.len(), n - n % 2, "{n}: none meets two");
                assert!(of_round.iter().all(|&one| one < n));
                for (a, b) in pairs {
                    assert_eq!(partner(n, a, round), Some(b));
                    assert_eq!(partner(n, b, round), Some(a));
                    assert!(met.insert((a, b)), "{n}: {a} and {b} meet twice");
                }
            }
            assert_eq!(met.len(), n * (n - 1) / 2);
        }
    }

    #[test]
    fn among_an_odd_number_everybody_sits_out_once() {
        for n in (3..70).step_by(2) {
            let sits_out = |one| {
                (0..rounds(n))
                    .filter(|&r| partner(n, one, r).is_none())
                    .count()
            };
            assert!((0..n).all(|one| sits_out(one) == 1), "{n}");
        }
    }

    /// The order of FFTW's schedule, by hand: for six, and for five.
    #[test]
    fn partners_stand_on_either_side_of_the_round() {
        let order = |n: usize, one| {
            (0..rounds(n))
                .map(|r| partner(n, one, r))
                .collect::<Vec<_>>()
        };
        assert_eq!(order(6, 0), [Some(5), Some(2), Some(4), Some(1), Some(3)]);
        assert_eq!(order(6, 5), [Some(0), Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!(order(5, 0), [None, Some(2), Some(4), Some(1), Some(3)]);
    }

    /// The time at which each block is delivered if blocks take the times of `takes`, round by
    /// round.
    fn by_hand(n: usize, takes: &[Vec<i64>]) -> BTreeMap<(usize, usize), Time> {
        let mut through = vec![0; n];
        let mut delivered = BTreeMap::new();
        for round in 0..rounds(n) {
            for a in 0..n {
                let Some(b) = partner(n, a, round).filter(|&b| a < b) else {
                    continue;
                };
                let begin = through[a].max(through[b]);
                let (there, back) = (begin + takes[a][b], begin + takes[b][a]);
                delivered.insert((a, b), Time(there));
                delivered.insert((b, a), Time(back));
                (through[a], through[b]) = (there.max(back), there.max(back));
            }
        }
        delivered
    }

    /// Runs the exchange at one picosecond per byte; members do not affect each other.
    fn played(n: usize, takes: &[Vec<i64>]) -> (Io, Vec<Node>) {
        let send = |a: usize, b: usize| Task {
            src: HostId(a as u32),
            dst: HostId(b as u32),
            bytes: takes[a][b] as u64,
            compute: Time::ZERO,
        };
        let mut dag = Dag::new();
        let last = build(n, send, &[], &mut dag);
        (play(dag.build(), |bytes| Time(bytes as i64)), last)
    }

    proptest! {
        #[test]
        fn a_pair_begins_when_both_are_through_with_the_rounds_before(
            takes in (2usize..18).prop_flat_map(|n| {
                prop::collection::vec(prop::collection::vec(1i64..1_000, n), n)
            }),
        ) {
            let n = takes.len();
            let (io, last) = played(n, &takes);
            let by_hand = by_hand(n, &takes);
            prop_assert_eq!(io.flows.len(), by_hand.len());
            for f in 0..io.flows.len() {
                let pair = (io.flows.src[f].index(), io.flows.dst[f].index());
                prop_assert_eq!(io.flows.finish[f], by_hand[&pair], "{:?}", pair);
            }
            // Every member's last flow is among the flows that are reported to end last.
            prop_assert_eq!(last.len(), n - n % 2);
        }

        /// All kinds of exchange send the same blocks.
        #[test]
        fn every_way_to_exchange_sends_the_same_bytes(
            hosts in 2u32..12, elements in 150u64..10_000, transposes in 1u32..4,
        ) {
            let sent = |exchange: &str| {
                let job = json!({"kind": "fft", "elements": elements, "hosts": hosts,
                                 "transposes": transposes, "exchange": exchange});
                let flows = generate(json!([job]), &cluster(3, 4)).unwrap();
                let mut sent = BTreeMap::new();
                for f in 0..flows.len() {
                    let pair = (flows.src[f].index(), flows.dst[f].index());
                    *sent.entry(pair).or_insert(0) += flows.bytes[f];
                }
                sent
            };
            let tournament = sent("tournament");
            prop_assert_eq!(tournament.len(), (hosts * (hosts - 1)) as usize);
            prop_assert_eq!(&tournament, &sent("at-once"));
            prop_assert_eq!(&tournament, &sent("pairwise"));
        }
    }

    /// Equal blocks: a round takes the time of one block, because in every pair at least one has
    /// met another member in the round before.
    #[test]
    fn equal_blocks_take_as_long_as_there_are_rounds() {
        for n in 2..40 {
            let (io, _) = played(n, &vec![vec![100; n]; n]);
            let end = io.flows.finish.iter().max();
            assert_eq!(end, Some(&Time(100 * rounds(n) as i64)), "{n}");
        }
    }
}
