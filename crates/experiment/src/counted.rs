//! Jobs that count updates, and the limits that a fabric imposes on them.

use lightloom_engine::Cluster;
use lightloom_fabrics::Framing;
use lightloom_metrics::Counted;
use lightloom_workload::{Job, JobKind};

/// The counted jobs of a resolved workload on a fabric with these packets; without packets,
/// servers' links have the cluster's rate.
pub(crate) fn counted(
    jobs: Option<&Vec<Job>>,
    framing: Option<Framing>,
    cluster: &Cluster,
) -> Vec<Counted> {
    let rate = framing.map_or(cluster.server_rate, |f| f.rate);
    let count = |job: &Job| {
        let JobKind::Gups(gups) = &job.kind else {
            return None;
        };
        Some(Counted {
            job: job.name.clone()?,
            updates: gups.total(),
            ceiling: gups.ceiling(|message| rate.time_for(message.0)),
            ceiling_framed: framing.map(|f| gups.ceiling(|message| f.time_for(message))),
        })
    };
    jobs.into_iter().flatten().filter_map(count).collect()
}

#[cfg(test)]
mod tests {
    use crate::Experiment;
    use serde_json::{json, Value};

    /// Ceilings [updates/s] of 16 hosts of 10 Gb/s with `batch` updates in a packet: for payload
    /// only, and with framing.
    fn ceilings(fabric: Value, batch: u32) -> (f64, Option<f64>) {
        let raw = json!({
            "cluster": {"hosts": 16, "server_rate": "10 Gb/s"},
            "workload": {"jobs": [
                {"kind": "gups", "name": "it", "updates": 64, "outstanding": 16, "batch": batch}
            ]},
            "fabric": [fabric],
        });
        let experiment = Experiment::read(&raw)
            .expect("good")
            .resolve()
            .expect("good");
        let cluster = experiment.cluster().expect("good");
        let site = lightloom_fabrics::Site {
            cluster: &cluster,
            flows: &lightloom_engine::Flows::new(),
            seed: 1,
            threads: 1,
            library: None,
        };
        let facts = experiment.fabric[0].facts(&site).expect("good");
        let jobs = experiment.workload.jobs.as_ref();
        let found = super::counted(jobs, facts.framing, &cluster);
        assert_eq!((found.len(), found[0].updates), (1, 16 * 64));
        (found[0].ceiling, found[0].ceiling_framed)
    }

    /// Updates per second if 16 updates occupy a link for that many nanoseconds, and 15 of 16 words
    /// are remote.
    fn updates(ns_for_16: f64) -> f64 {
        16.0 * 16.0 / (ns_for_16 * 1e-9) * 16.0 / 15.0
    }

    /// An update is 8, 16 and 16 B, at 0.8 ns per byte (10 Gb/s); 16 updates are packets of 128,
    /// 256 and 256 B.
    #[test]
    fn ceilings_by_hand() {
        let bare = 16.0 * 40.0 * 0.8;
        for (fabric, batch, rate, framed) in [
            // 5 B of header, 17 B of guard, longer than 10 ns of tuning.
            (json!({"kind": "lions"}), 16, 1.0, 3.0 * 22.0 * 0.8),
            (json!({"kind": "lions"}), 1, 1.0, 16.0 * 3.0 * 22.0 * 0.8),
            // At half of the rate each packet takes twice as long.
            (
                json!({"kind": "lions", "rate": "5 Gb/s"}),
                16,
                0.5,
                3.0 * 22.0 * 1.6,
            ),
            // Tuning that is longer than the guard takes its place.
            (
                json!({"kind": "lions", "tuning": "50 ns"}),
                16,
                1.0,
                3.0 * (5.0 * 0.8 + 50.0),
            ),
            // Packets of 133, 261 and 261 B are 17, 33 and 33 flits of 8 B; packets of 13, 21 and
            // 21 B are 2, 3 and 3 flits.
            (
                json!({"kind": "flattened-butterfly"}),
                16,
                1.0,
                (83.0 * 8.0 - 640.0) * 0.8,
            ),
            (
                json!({"kind": "flattened-butterfly"}),
                1,
                1.0,
                16.0 * (8.0 * 8.0 - 40.0) * 0.8,
            ),
            // Replies and writes in two packets each.
            (
                json!({"kind": "flattened-butterfly", "packet": "128 B", "rate": "5 Gb/s"}),
                16,
                0.5,
                (5.0 * 17.0 * 8.0 - 640.0) * 1.6,
            ),
            (
                json!({"kind": "clos", "mtu": "64 B", "header": "6 B"}),
                16,
                1.0,
                10.0 * 6.0 * 0.8,
            ),
        ] {
            let (most, least) = ceilings(fabric.clone(), batch);
            let expect = (updates(bare / rate), updates(bare / rate + framed));
            assert!((most / expect.0 - 1.0).abs() < 1e-9, "{fabric}: {most}");
            let least = least.expect("it has packets");
            assert!((least / expect.1 - 1.0).abs() < 1e-9, "{fabric}: {least}");
        }
        let (most, framed) = ceilings(json!({"kind": "tree"}), 16);
        assert_eq!(
            (framed, (most / updates(bare) - 1.0).abs() < 1e-9),
            (None, true)
        );
    }
}
