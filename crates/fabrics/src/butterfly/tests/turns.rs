//! Who is served when everybody wants the same: each host of a router as often.

use super::*;
use lightloom_engine::HostId;

/// All other hosts of its router send a host packets of 64 B, as many as it can hear and
/// more: virtual channels and the switch take turns, and each has its share but for the
/// packets that are on their way, one of each virtual channel at most.
#[test]
fn hosts_of_a_router_are_served_in_turn() {
    let hosts = 64;
    for (vcs, iterations) in [(1, 1), (1, 2), (4, 1), (4, 2)] {
        let keys = json!({"concentration": 8, "vcs": vcs, "allocator_iterations": iterations});
        let table = bare("dimension-order", keys);
        let nobody = kernel(hosts, &table, &Flows::new());
        let rivals = nobody.topology.concentration as u32 - 1;
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
