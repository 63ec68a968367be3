//! Jobs that count updates, and what a fabric leaves room for.
//!
//! What a fabric puts around a packet is read from its table: packet fabrics call it
//! `header` and `guard`, and the payload of a full packet `packet`.

use crate::fabric::FabricTable;
use lightloom_engine::{Bytes, Cluster};
use lightloom_metrics::Counted;
use lightloom_workload::{Job, JobKind};
use serde_json::Value;

/// The counted jobs of a resolved workload on a resolved fabric.
pub(crate) fn counted(
    jobs: Option<&Vec<Job>>,
    fabric: &FabricTable,
    cluster: &Cluster,
) -> Vec<Counted> {
    let framing = Framing::of(&fabric.table());
    let count = |job: &Job| {
        let JobKind::Gups(gups) = &job.kind else {
            return None;
        };
        let most = |f: &Framing| gups.ceiling(cluster.server_rate, f.packet, f.overhead);
        Some(Counted {
            job: job.name.clone()?,
            updates: gups.total(),
            ceiling: gups.ceiling(cluster.server_rate, None, Bytes(0)),
            ceiling_framed: framing.as_ref().map(most),
        })
    };
    jobs.into_iter().flatten().filter_map(count).collect()
}

/// What is around packets.
struct Framing {
    packet: Option<Bytes>,
    overhead: Bytes,
}

impl Framing {
    fn of(table: &Value) -> Option<Framing> {
        let bytes = |key: &str| table.get(key)?.as_str()?.parse::<Bytes>().ok();
        let (header, guard) = (bytes("header"), bytes("guard"));
        header.or(guard)?;
        let all = header.map_or(0, |b| b.0) + guard.map_or(0, |b| b.0);
        Some(Framing {
            packet: bytes("packet"),
            overhead: Bytes(all),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn framing_is_header_and_guard() {
        let framing = |table: Value| Framing::of(&table).map(|f| (f.packet, f.overhead));
        let lions = json!({"header": "5 B", "guard": "17 B", "packet": "256 B"});
        assert_eq!(framing(lions), Some((Some(Bytes(256)), Bytes(22))));
        assert_eq!(framing(json!({"header": "5 B"})), Some((None, Bytes(5))));
        assert_eq!(framing(json!({"packet": "1500 B"})), None);
        assert_eq!(framing(json!({"guard": "10 ns", "packet": "1 KB"})), None);
    }
}
