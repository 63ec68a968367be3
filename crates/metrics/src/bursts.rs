//! Flows that arrive for one server at the same instant, as in an incast: its link serves them
//! together, so none of them is late until all of them could have been delivered.

use lightloom_engine::{Flows, Time};

/// For each flow, the bytes of all flows that arrive for its destination at the same instant,
/// including its own. A flow that never arrives counts only its own bytes.
pub(crate) fn together(flows: &Flows) -> Vec<u64> {
    let mut bytes = flows.bytes.clone();
    let mut rows: Vec<usize> = Vec::new();
    let mut from = 0;
    while from < flows.len() {
        let at = flows.arrival[from];
        let until = { flows.arrival[from..].iter() }
            .position(|&other| other != at)
            .map_or(flows.len(), |n| from + n);
        if until - from > 1 && at != Time::NEVER {
            rows.clear();
            rows.extend(from..until);
            rows.sort_unstable_by_key(|&f| flows.dst[f]);
            for burst in rows.chunk_by(|&a, &b| flows.dst[a] == flows.dst[b]) {
                let all = burst.iter().map(|&f| flows.bytes[f]).sum();
                for &f in burst {
                    bytes[f] = all;
                }
            }
        }
        from = until;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::HostId;

    #[test]
    fn flows_of_one_instant_for_one_server_count_together() {
        let mut flows = Flows::new();
        for (src, dst, bytes, at) in [
            (0, 3, 10, 5),
            (1, 3, 20, 5),
            (0, 2, 40, 5),
            (2, 3, 80, 5),
            (0, 3, 160, 6),
        ] {
            flows.push(HostId(src), HostId(dst), bytes, Time::NS * at);
        }
        for _ in 0..2 {
            let never = flows.push(HostId(0), HostId(1), 7, Time::NS * 9);
            flows.arrival[never.index()] = Time::NEVER;
        }
        assert_eq!(together(&flows), [110, 110, 40, 110, 160, 7, 7]);
    }
}
