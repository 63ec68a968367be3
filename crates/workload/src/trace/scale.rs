//! A trace at another load: its arrival times multiplied by one factor.

use super::form::Unit;
use super::Format;
use crate::arrivals::MAX_ARRIVAL;
use lightloom_engine::{Cluster, Flows, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Scaling of a trace to a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// All arrival times are multiplied by one factor.
    Time,
}

/// The load of flows that do not depend on others: their bits ÷ (servers × server rate × time in
/// which they arrive); `None` if all arrive at once.
pub fn own_load(flows: &Flows, cluster: &Cluster) -> Option<f64> {
    let span = flows.last_arrival() - flows.first_arrival();
    let capacity = cluster.hosts() as f64 * cluster.server_rate.0 as f64;
    (span > Time::ZERO).then(|| flows.total_bytes() as f64 * 8.0 / (capacity * span.as_secs_f64()))
}

/// Load [ratio] above which the times of a connection matrix are probably in another unit: a trace
/// with a load of 0.001 in microseconds has a load of 1,000 if it is read in picoseconds.
const ABSURD: f64 = 1_000.0;

/// Refuses a connection matrix without a unit whose flows arrive faster than servers could send
/// them, because its starts may be in microseconds (uet-htsim) or picoseconds (csg-htsim). With
/// triggers, or with flows that send until the end of the run, the few starts in a file do not show
/// the load, and it is read in ps.
///
/// # Errors
/// With the unit to write.
pub fn check_unit(
    flows: &Flows,
    path: &str,
    format: Option<Format>,
    unit: Option<Unit>,
    cluster: &Cluster,
) -> Result<(), Refusal> {
    let is_cm = format.or_else(|| Format::of(path)) == Some(Format::Cm);
    let open = flows.after.is_empty() && !flows.bytes.contains(&0);
    if !is_cm || unit.is_some() || !open {
        return Ok(());
    }
    match own_load(flows, cluster).filter(|load| *load > ABSURD) {
        None => Ok(()),
        Some(load) => Err(Refusal::new(
            "workload.trace",
            format!("\"{path}\""),
            format!(
                "in ps, its flows have {load:.2e} times the bytes that all servers can send until \
                 the last start"
            ),
            "add trace_unit = \"us\" if starts are microseconds, as uet-htsim has, or \"ps\" \
             if they are picoseconds",
        )),
    }
}

/// The flows at `load`, and the factor by which their times were multiplied.
///
/// # Errors
/// If all arrive at 0, depend on each other or send until the end of the run, or if the last would
/// arrive after the clock's range.
pub fn scaled(mut flows: Flows, load: f64, cluster: &Cluster) -> Result<(Flows, f64), Refusal> {
    let refuse = |limit: String, remedy: &str| Refusal::new("workload.load", load, limit, remedy);
    if !flows.after.is_empty() {
        let limit = "flows of the trace wait for triggers, so their times do not set its load";
        return Err(refuse(limit.into(), "remove it"));
    }
    if flows.bytes.contains(&0) {
        let limit = "flows of the trace send until the run stops, so it has no load to scale";
        return Err(refuse(limit.into(), "remove it"));
    }
    let own = own_load(&flows, cluster).ok_or_else(|| {
        refuse(
            "all flows of the trace arrive at 0, so there is no load to scale".into(),
            "remove it",
        )
    })?;
    let factor = own / load;
    if flows.last_arrival().0 as f64 * factor > MAX_ARRIVAL.0 as f64 {
        let limit = format!("the trace has a load of {own:.3e}, and would go on beyond 53 days");
        return Err(refuse(limit, "raise it"));
    }
    // An initial silence stays; it is not part of the load.
    let first = flows.first_arrival();
    for arrival in &mut flows.arrival {
        *arrival = first + Time(((*arrival - first).0 as f64 * factor).round() as i64);
    }
    Ok((flows, factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::tests::cluster;
    use crate::trace;
    use crate::WorkloadConfig;
    use lightloom_engine::config;
    use proptest::prelude::*;
    use serde_json::{json, Value};

    /// 12 servers of 1 Gb/s: 1,500 B take all of them 1 µs.
    fn flows(arrivals: &[i64]) -> Flows {
        let rows: Vec<String> = arrivals
            .iter()
            .map(|at| format!("0,1,1500,{at}\n"))
            .collect();
        let text = format!("src,dst,bytes,arrival_ps\n{}", rows.concat());
        trace::read(trace::Format::Csv, &text, "t", 12).unwrap()
    }

    #[test]
    fn four_flows_in_16_us_have_a_load_of_a_quarter() {
        let flows = flows(&[0, 4_000_000, 8_000_000, 16_000_000]);
        assert_eq!(own_load(&flows, &cluster(4, 3)), Some(0.25));
        let (at_half, factor) = scaled(flows, 0.5, &cluster(4, 3)).unwrap();
        assert_eq!(factor, 0.5);
        let times: Vec<i64> = at_half.arrival.iter().map(|t| t.0).collect();
        assert_eq!(times, [0, 2_000_000, 4_000_000, 8_000_000]);
        assert_eq!(own_load(&at_half, &cluster(4, 3)), Some(0.5));
    }

    #[test]
    fn a_silence_before_a_trace_has_no_part_in_its_load() {
        let from = |start: i64| flows(&[0, 4_000_000, 8_000_000, 16_000_000].map(|t| t + start));
        let (s, network) = (1_000_000_000_000, cluster(4, 3));
        assert_eq!(own_load(&from(2 * s), &network), Some(0.25));
        let (at_half, factor) = scaled(from(2 * s), 0.5, &network).unwrap();
        assert_eq!(factor, 0.5);
        let times: Vec<i64> = at_half.arrival.iter().map(|t| t.0 - 2 * s).collect();
        assert_eq!(times, [0, 2_000_000, 4_000_000, 8_000_000]);
        // Four flows in 16 µs arrive every 5.3 µs: ten times that is not yet a silence.
        assert_eq!(own_load(&from(53_000_000), &network), Some(4.0 / 69.0));
        assert_eq!(own_load(&from(54_000_000), &network), Some(0.25));
    }

    #[test]
    fn what_cannot_be_scaled_is_refused() {
        let refused = |arrivals: &[i64], load| {
            scaled(flows(arrivals), load, &cluster(4, 3))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused(&[0, 0], 0.5),
            "workload.load = 0.5: all flows of the trace arrive at 0, so there is no load to \
             scale; remove it"
        );
        let e = refused(&[0, 1 << 61], 1e-20);
        assert!(e.contains("would go on beyond 53 days; raise it"), "{e}");
    }

    #[test]
    fn flows_without_times_or_sizes_are_not_scaled() {
        for (headings, lines, says) in [
            (
                "Triggers 1\ntrigger id 1 oneshot\n",
                "0->1 start 9 size 5 send_done_trigger 1\n1->2 trigger 1 size 5\n",
                "workload.load = 0.5: flows of the trace wait for triggers, so their times do \
                 not set its load; remove it",
            ),
            (
                "",
                "0->1 start 9 size 5\n1->2 start 0 size 0\n",
                "workload.load = 0.5: flows of the trace send until the run stops, so it has no \
                 load to scale; remove it",
            ),
        ] {
            let text = format!("Nodes 4\nConnections 2\n{headings}{lines}");
            let flows = trace::read_cm(&text, "t").unwrap();
            let e = scaled(flows, 0.5, &cluster(4, 3)).unwrap_err();
            assert_eq!(e.to_string(), says);
        }
    }

    fn resolve(table: Value) -> Result<(), String> {
        let workload: WorkloadConfig =
            config::read(&table, "workload").map_err(|e| e.to_string())?;
        workload
            .resolve(&cluster(4, 3))
            .map(drop)
            .map_err(|e| e.to_string())
    }

    #[test]
    fn a_load_needs_a_scale_and_a_scale_a_trace() {
        for (table, expect) in [
            (
                json!({"trace": "t.csv", "load": 0.3}),
                "workload.load = 0.3: a trace defines its flows completely, their times \
                 included; add scale = \"time\" to [workload] to scale its times, or remove",
            ),
            (
                json!({"trace": "t.csv", "load": 0, "scale": "time"}),
                "workload.load = 0: must be a number above 0",
            ),
            (
                json!({"trace": "t.csv", "load": [0.1, 0.3], "scale": "time"}),
                "workload.load = [0.1,0.3]: a run has one load; write compare.loads = [0.1,0.3]",
            ),
            (
                json!({"trace": "t.csv", "scale": "times"}),
                "workload.scale = \"times\": must be one of \"time\"",
            ),
            (
                json!({"trace": "t.csv", "scale": "time", "load": 0.3, "flows": 4}),
                "workload.flows = (set): a trace defines its flows",
            ),
            (
                json!({"sizes": "web-search", "load": 0.3, "scale": "time", "flows": 4}),
                "workload.scale = (set): has no effect without a trace; add workload.trace",
            ),
            (
                json!({"jobs": ["fft"], "scale": "time"}),
                "workload.scale = (set): has no effect without a trace; add workload.trace",
            ),
        ] {
            let e = resolve(table).unwrap_err();
            assert!(e.starts_with(expect), "{e}");
        }
    }

    proptest! {
        /// For any times, the load equals the requested one, flows keep their order, and twice the
        /// load takes half of the time.
        #[test]
        fn the_load_is_the_one_asked_for(
            arrivals in prop::collection::vec(0i64..=1 << 50, 1..40),
            load in 0.01f64..5.0,
        ) {
            prop_assume!(arrivals.iter().max() > Some(&1_000_000));
            let (once, factor) = scaled(flows(&arrivals), load, &cluster(4, 3)).unwrap();
            prop_assert!((own_load(&once, &cluster(4, 3)).unwrap() / load - 1.0).abs() < 1e-3);
            prop_assert!(once.arrival.is_sorted());
            let (_, half) = scaled(flows(&arrivals), 2.0 * load, &cluster(4, 3)).unwrap();
            prop_assert!((half * 2.0 / factor - 1.0).abs() < 1e-12);
        }
    }
}
