//! The order of service if all hosts of a router request the same output: each is served equally
//! often.

use super::traffic::{packets, Pattern};
use super::*;
use lightloom_engine::HostId;

/// All other hosts of its router send packets of 64 B to one host, more than it can receive.
/// Virtual channels and the switch take turns, and each host gets its share, except for the packets
/// in transit, at most one per virtual channel.
#[test]
fn hosts_of_a_router_are_served_in_turn() {
    let hosts = 64;
    for (vcs, iterations) in [(1, 1), (1, 2), (4, 1), (4, 2)] {
        let keys = json!({"concentration": 8, "vcs": vcs, "allocator_iterations": iterations});
        let table = bare("dimension-order", keys);
        let idle = kernel(hosts, &table, &Flows::new());
        let rivals = idle.topology.concentration as u32 - 1;
        assert!(rivals > 2, "a router with several hosts");
        let (rounds, mut flows) = (200, Flows::new());
        for _ in 0..2 * rounds {
            for host in 1..=rivals {
                flows.push(HostId(host), HostId(0), 64, Time::ZERO);
            }
        }
        let until = CYCLE * (8 * rounds * rivals as usize) as i64;
        let (io, _) = simulate(hosts, &table, flows, until);
        let mut heard = vec![0u32; rivals as usize];
        for f in (0..io.flows.len()).filter(|&f| io.flows.finish[f] != Time::NEVER) {
            heard[io.flows.src[f].index() - 1] += 1;
        }
        let what = format!("{vcs} channels, {iterations} iterations: {heard:?}");
        let (least, most) = (heard.iter().min().unwrap(), heard.iter().max().unwrap());
        assert!(most - least <= 1 + vcs, "{what}");
        let all = heard.iter().sum::<u32>() as f64 / (rounds as u32 * rivals) as f64;
        assert!((0.97..=1.0).contains(&all), "{what}: {all}");
    }
}

/// The virtual channels of an input take turns: the first that is ready at or after the turn sends
/// a flit, and the turn moves behind it. A virtual channel that sends nothing keeps its turn.
/// Checked cycle by cycle for all inputs in a loaded network.
#[test]
fn virtual_channels_of_an_input_take_turns() {
    const FLITS: u16 = 8;
    let (hosts, vcs) = (64, 4);
    let table = bare("dimension-order", json!({"concentration": 8, "vcs": vcs}));
    let flows = packets(Pattern::Uniform, hosts, 1.2, (64, FLITS as u64), 100);
    let mut fabric = network(hosts, &table, &flows);
    let (mut io, mut served, mut chosen) = (Io::new(flows), 0, 0);
    for cycle in 1..600 {
        let kernel = fabric.kernel();
        let (ready, turns) = (kernel.ready.clone(), kernel.input_turn.clone());
        let lanes = kernel.lanes.clone();
        fabric.advance(CYCLE * cycle, &mut io);
        let after = fabric.kernel();
        for channel in 0..ready.len() {
            let own = (0..vcs).map(|v| channel << after.bits.vc | v);
            let sends = |&vc: &usize| {
                let (was, is) = (&lanes[vc], &after.lanes[vc]);
                match (was.packets > 0, is.packets > 0) {
                    (true, _) => was.left != is.left,
                    // The first flit of a packet may leave in the cycle in which it arrives.
                    (false, came) => came && is.left < FLITS,
                }
            };
            let sent: Vec<usize> = own.filter(sends).map(|vc| vc & 3).collect();
            let turns = (turns[channel], after.input_turn[channel]);
            let [number] = sent[..] else {
                assert!(sent.is_empty(), "an input sends one flit a cycle");
                assert_eq!(turns.0, turns.1);
                continue;
            };
            assert_eq!(
                turns.1 as usize,
                number + 1,
                "cycle {cycle}, input {channel}"
            );
            let rank = |v: usize| v.wrapping_sub(turns.0 as usize) & 63;
            let others = (0..vcs).filter(|v| ready[channel] >> v & 1 != 0);
            assert!(others.clone().all(|v| rank(v) >= rank(number)));
            served += 1;
            chosen += u32::from(others.count() > 1);
        }
    }
    assert!(chosen > 300, "{chosen} choices of {served}");
}
