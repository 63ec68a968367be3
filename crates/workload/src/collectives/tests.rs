//! Collectives, compared with their definition and with closed forms.

use super::halving_doubling::HalvingDoubling;
use super::ring::Ring;
use super::rounds::Rounds;
use super::tree::Tree;
use crate::jobs::tests::{generate, play};
use crate::patterns::tests::cluster;
use lightloom_engine::{Flows, Time};
use proptest::prelude::*;
use serde_json::{json, Value};

/// Executes the sums: for every byte, member m holds the set of members whose data is included, at
/// first only m. A received part is either added, and then no member may be in both sets, or it is
/// the total, which replaces the set.
fn sums_up(algorithm: &dyn Rounds, n: usize, bytes: usize) -> Result<(), TestCaseError> {
    let mut held: Vec<Vec<u64>> = (0..n).map(|m| vec![1 << m; bytes]).collect();
    let mut sends = 0;
    for k in 0..algorithm.rounds() {
        let before = held.clone();
        for send in algorithm.round(k) {
            sends += 1;
            for byte in send.part.start as usize..send.part.end as usize {
                let (new, old) = (before[send.from][byte], &mut held[send.to][byte]);
                prop_assert!(new & *old == 0 || new & *old == *old, "round {k}: {send:?}");
                *old |= new;
            }
        }
    }
    let all = u64::MAX >> (64 - n);
    prop_assert!(held.iter().flatten().all(|&h| h == all), "{held:?}");
    prop_assert_eq!(sends, algorithm.sends());
    Ok(())
}

proptest! {
    #[test]
    fn every_all_reduce_adds_everything_up_once(n in 2usize..40, bytes in 40usize..90) {
        let b = bytes as u64;
        sums_up(&Ring { n, bytes: b }, n, bytes)?;
        sums_up(&Tree { n, bytes: b }, n, bytes)?;
        sums_up(&HalvingDoubling { n, bytes: b }, n, bytes)?;
    }

    /// Each member sends and receives 2 (n - 1) / n of the data, which is the minimum; the tree has
    /// the same total, 2 (n - 1) times the data.
    #[test]
    fn the_bytes_of_an_all_reduce_are_its_definition(
        log in 1u32..5, n in 2u32..20, bytes in 100u64..10_000, chunks in 1u32..4, iterations in 1u32..3,
    ) {
        for (algorithm, n, even) in [("ring", n, true), ("halving-doubling", 1 << log, true), ("tree", n, false)] {
            let bytes = bytes * (chunks * n) as u64;
            let job = json!({"kind": "all-reduce", "algorithm": algorithm, "bytes": format!("{bytes} B"),
                             "hosts": n, "chunks": chunks, "iterations": iterations});
            let flows = generate(json!([job]), &cluster(5, 4)).unwrap();
            let all = 2 * (n as u64 - 1) * bytes * iterations as u64;
            prop_assert_eq!(flows.total_bytes(), all);
            for host in (0..n).filter(|_| even) {
                let (sent, heard) = ends(&flows, host);
                prop_assert_eq!((sent, heard), (all / n as u64, all / n as u64));
            }
        }
    }
}

/// Bytes that a server sends and receives.
fn ends(flows: &Flows, host: u32) -> (u64, u64) {
    let of = |f: &dyn Fn(usize) -> u32| {
        let at = (0..flows.len()).filter(|&i| f(i) == host);
        at.map(|i| flows.bytes[i]).sum()
    };
    (of(&|i| flows.src[i].0), of(&|i| flows.dst[i].0))
}

/// The duration of a job if a message of b bytes takes 1 µs + b · 1 ns.
fn takes(job: Value) -> Time {
    let flows = generate(json!([job]), &cluster(4, 16)).unwrap();
    let io = play(flows, |bytes| Time::US + Time::NS * bytes as i64);
    io.completed(io.flows.after.jobs[0].end)
}

fn us(us: i64) -> Time {
    Time::US * us
}

/// Hockney's model: a message takes alpha + beta · bytes. Closed forms from Thakur, Rabenseifner
/// and Gropp (IJHPCA 2005).
#[test]
fn completion_times_are_those_of_the_alpha_beta_model() {
    let all_reduce = |algorithm: &str, n: i64| {
        takes(json!({"kind": "all-reduce", "algorithm": algorithm, "bytes": "64 KB", "hosts": n}))
    };
    for n in [2i64, 8, 16, 64] {
        let log = n.ilog2() as i64;
        assert_eq!(
            all_reduce("ring", n),
            us(2 * (n - 1)) + us(2 * (n - 1) * 64 / n) + rest(n)
        );
        assert_eq!(all_reduce("tree", n), us(2 * log * 65));
        assert_eq!(
            all_reduce("halving-doubling", n),
            us(2 * log) + us(2 * (n - 1) * 64 / n) + rest(n)
        );
    }
    // Five members are folded into four, which takes two more rounds of all the data.
    assert_eq!(
        all_reduce("halving-doubling", 5),
        us(2 * 65 + 2 * 2 + 2 * 3 * 16)
    );
    // Member 4 sends up at once, while others do; on the way down there are three levels.
    assert_eq!(all_reduce("tree", 5), us((2 + 3) * 65));
    let all_to_all = |exchange: &str| {
        takes(
            json!({"kind": "all-to-all-collective", "bytes": "64 KB", "hosts": 8, "exchange": exchange,
                     "iterations": 3, "compute": "5 us"}),
        )
    };
    // 8 KB for every other member: at once, or in seven rounds, in which a member sends to one and
    // receives from another, or exchanges with a partner.
    assert_eq!(all_to_all("at-once"), us(3 * (5 + 9)));
    assert_eq!(all_to_all("pairwise"), us(3 * (5 + 7 * 9)));
    assert_eq!(all_to_all("tournament"), us(3 * (5 + 7 * 9)));
}

/// The fraction of a microsecond in 2 (n - 1) · 64 / n µs.
fn rest(n: i64) -> Time {
    Time::NS * (2 * (n - 1) * 64 * 1_000 / n % 1_000)
}

/// Chunks follow each other through the tree: depth + chunks - 1 steps of a chunk in each
/// direction, unless a parent serves several children in turn. A chain of two members has no such
/// parent.
#[test]
fn chunks_make_a_pipeline() {
    let two = takes(
        json!({"kind": "all-reduce", "algorithm": "tree", "bytes": "60 KB", "hosts": 2, "chunks": 4}),
    );
    // Five steps of 16 µs: up 1, then down 1 while up 2, ...
    assert_eq!(two, us(5 * 16));
}

#[test]
fn a_pipeline_fills_and_drains() {
    let pipeline = |forward: i64, backward: Option<i64>| {
        takes(
            json!({"kind": "pipeline", "bytes": "9 KB", "hosts": 4, "microbatches": 6,
                     "forward": format!("{forward} us"),
                     "backward": backward.map(|b| format!("{b} us"))}),
        )
    };
    // Stages take 20 µs, and sending from one to the next takes 10 µs.
    let pass = |stage: i64| 4 * stage + 3 * 10 + 5 * stage.max(10);
    assert_eq!(pipeline(20, None), us(pass(20)));
    assert_eq!(pipeline(20, Some(40)), us(pass(20) + pass(40)));
    // Sending is the bottleneck.
    assert_eq!(pipeline(3, None), us(pass(3)));
}
