//! The `[workload]` table: its keys, and its checks.

use crate::arrivals::{self, Arrivals};
use crate::jobs::{self, Job, Schedule};
use crate::memory::{check_memory, BYTES_PER_FLOW};
use crate::part::Part;
use crate::patterns::Pattern;
use crate::sizes::{MeanRule, Sizes};
use crate::trace::{self, Form, Format, HostNames, Scale, TraceColumns, Unit};
use lightloom_engine::{config, Cluster, Flows, Refusal, Time};
use schemars::JsonSchema;
use serde::{de, Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A workload: distributions of sizes, arrivals and destinations; or a trace; or jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadConfig {
    /// Arrival process of flows: "poisson" (the default), "at-once", or a table with a `kind`
    /// (Sirius §7: Poisson).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Offered load L, above 0 and at most 10. At load 1 all servers send at their rate: flows
    /// arrive every F / (R · N · L), with F the mean flow size, R the server rate and N the number
    /// of servers (Sirius §7: 0.1 to 1). For a trace with `scale`: the load to which its times are
    /// scaled.
    #[serde(
        default,
        deserialize_with = "one_load",
        skip_serializing_if = "Option::is_none"
    )]
    pub load: Option<f64>,
    /// Distribution of flow sizes: a published distribution by name, or a table with a `kind`
    /// (Sirius §7: Pareto of shape 1.05 and mean 100 KB).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
    /// Treatment of a sample of sizes whose mean is not the mean of the distribution: "nominal"
    /// (the default), "rescaled" or "truncated". It matters for heavy tails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_rule: Option<MeanRule>,
    /// Traffic pattern, which gives the destinations of flows: "uniform" (the default),
    /// "permutation", "all-to-all", or a table with a `kind` (Sirius §7: uniform).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
    /// Number of flows (Sirius §7: about 200,000). Default: one round if the pattern has rounds (an
    /// incast; a permutation or an all-to-all without Poisson arrivals); with arrivals from a file,
    /// all its times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<u64>,
    /// A file of flows, in place of the keys above: CSV (`src,dst,bytes,arrival_ps`), Parquet with
    /// the same columns, htsim's `.cm` (with triggers, and flows of size 0, which send until the
    /// run stops), HPCC's flow files for ns-3 (a count, then `src dst pg dport bytes start_s`), or
    /// `src dst bytes start_ns`. Of the keys above, only `load` may be given with it, together with
    /// `scale`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Format of the trace, "csv", "cm", "ns" or "hpcc", if the name of the file does not show it.
    /// A Parquet file is recognised only by a name that ends in `.parquet`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_format: Option<Format>,
    /// Unit of the trace's times: "ps", "ns", "us", "ms" or "s". Default: the unit in the column's
    /// name in CSV and Parquet; ps in `.cm`, as csg-htsim reads it (uet-htsim reads us: if the load
    /// would be absurd in ps, a `.cm` file without this key is refused); s in HPCC's files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_unit: Option<Unit>,
    /// Names of the columns of a CSV or Parquet trace, such as `{ src = "source", arrival =
    /// "start_us" }`; other columns are then ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_columns: Option<TraceColumns>,
    /// A file that maps the names or addresses of a trace without server numbers to servers: CSV
    /// with the heading `host,number`, or `host,rack`, in which the hosts of a rack are in the
    /// order of its servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_hosts: Option<String>,
    /// Scaling of a trace to a `load` (or to each of `compare.loads`). "time" multiplies all times
    /// by one factor, load of the trace ÷ `load`; sources, destinations and sizes do not change.
    /// The trace's own load is its bits ÷ (servers × server rate × time of its last arrival).
    /// Without a load the trace is not scaled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// Parts of a mixed workload, each with its own arrivals, load, sizes and pattern:
    /// `[[workload.mix]]`. `load` is then the load of parts that need a load and do not have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<Vec<Part>>,
    /// Jobs whose flows depend on each other, in place of the keys above: each is a name, such as
    /// "sort", or a table with a `kind`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<Vec<Job>>,
    /// Start of jobs: "in-sequence" (the default), each when the job before it is complete, or
    /// "together", all at time zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
}

impl WorkloadConfig {
    /// Fills in the defaults and refuses invalid tables. Files are read, so that errors in them are
    /// found before anything starts.
    ///
    /// # Errors
    /// A refusal of the first invalid key, which begins with `workload.`.
    pub fn resolve(mut self, cluster: &Cluster) -> Result<WorkloadConfig, Refusal> {
        if self.jobs.is_none() && self.schedule.is_some() {
            return Err(Refusal::new(
                "workload.schedule",
                "(set)",
                "has no effect without jobs",
                "add workload.jobs, or remove it",
            ));
        }
        if let Some(trace) = &self.trace {
            self.alone()?;
            let flows = self.load_trace(trace, cluster)?;
            trace::check_unit(&flows, trace, self.trace_format, self.trace_unit, cluster)?;
            self.at_load(flows, cluster)?;
            return Ok(self);
        }
        if self.scale.is_some() {
            return Err(Refusal::new(
                "workload.scale",
                "(set)",
                "has no effect without a trace",
                "add workload.trace, or remove it",
            ));
        }
        if let Some(jobs) = self.jobs.take() {
            self.alone_with_jobs()?;
            self.jobs = Some(jobs::resolve(jobs, cluster)?);
            self.schedule.get_or_insert_default();
            return Ok(self);
        }
        if let Some(parts) = self.mix.take() {
            self.mix = Some(self.resolve_mix(parts, cluster)?);
            return Ok(self);
        }
        self = self.with_defaults()?;
        let plan = self.plan(cluster, 0, 0)?;
        self.flows = Some(plan.flows);
        Ok(self)
    }

    /// The number of flows that arrive during `span` except for the last ones: the value of `flows`
    /// if it is to follow from the load. For workloads with a rate and without `flows`.
    ///
    /// # Errors
    /// The refusals of [`WorkloadConfig::resolve`], and a refusal of more flows than fit in memory.
    pub fn flows_for(&self, span: Time, cluster: &Cluster) -> Result<u64, Refusal> {
        let one = WorkloadConfig {
            flows: Some(1),
            ..self.clone()
        };
        let plan = one.with_defaults()?.plan(cluster, 0, 0)?;
        let mean = span.0 as f64 / plan.gap;
        // A Poisson process of bursts; the other processes are more regular.
        let burst = plan.pairs.burst() as f64;
        let flows = (mean + 5.0 * (mean * burst).sqrt() + 2.0 * burst).ceil() as u64;
        check_memory("workload.flows", flows)?;
        Ok(flows)
    }

    /// Returns the workload with as many flows as arrive during `span`, as by
    /// [`WorkloadConfig::flows_for`], in each part of a mix; unchanged if it has no rate, or has a
    /// number of flows.
    ///
    /// # Errors
    /// As [`WorkloadConfig::flows_for`].
    pub fn filled_for(&self, span: Time, cluster: &Cluster) -> Result<WorkloadConfig, Refusal> {
        let mut filled = self.clone();
        match &self.mix {
            Some(parts) => {
                filled.mix = Some(self.fill_mix(parts, span, cluster)?);
            }
            None if self.flows.is_none() && self.has_rate() => {
                filled.flows = Some(self.flows_for(span, cluster)?);
            }
            None => {}
        }
        Ok(filled)
    }

    /// Mean time from one flow to the next [ps].
    pub(crate) fn mean_gap(&self, cluster: &Cluster) -> Result<f64, Refusal> {
        let one = WorkloadConfig {
            flows: Some(1),
            ..self.clone()
        };
        let plan = one.with_defaults()?.plan(cluster, 0, 0)?;
        Ok(plan.gap)
    }

    /// Whether flows arrive at a rate: not at once, not at times in a file, not from a trace and
    /// not in jobs.
    pub fn has_rate(&self) -> bool {
        if let Some(parts) = &self.mix {
            return parts.iter().any(|part| part.alone(self.load).has_rate());
        }
        let none = matches!(self.arrivals, Some(Arrivals::AtOnce(_) | Arrivals::File(_)));
        self.trace.is_none() && !self.has_jobs() && !none
    }

    /// Whether a run continues by default until everything is delivered, which is the case if flows
    /// do not arrive at a rate.
    pub fn default_stop_is_drain(&self) -> bool {
        !self.has_rate()
    }

    /// The flows of its trace.
    pub(crate) fn load_trace(&self, path: &str, cluster: &Cluster) -> Result<Flows, Refusal> {
        let hosts = self.host_names(cluster)?;
        let form = Form {
            format: self.trace_format,
            unit: self.trace_unit,
            columns: self.trace_columns.as_ref(),
            hosts: hosts.as_ref(),
        };
        trace::load(path, &form, cluster.hosts())
    }

    /// The servers of the names in its trace; `None` if it has numbers.
    ///
    /// # Errors
    /// If their file cannot be read.
    pub fn host_names(&self, cluster: &Cluster) -> Result<Option<HostNames>, Refusal> {
        let read = |path: &String| {
            let hosts = HostNames::load(path, cluster);
            hosts.map_err(|error| error.refusal("workload.trace_hosts"))
        };
        self.trace_hosts.as_ref().map(read).transpose()
    }

    /// Whether it consists of jobs: their flows have no arrival times before the run.
    pub fn has_jobs(&self) -> bool {
        self.jobs.is_some()
    }

    /// The number of flows that it draws, for a mix the sum over its parts; `None` for a trace and
    /// for jobs, or before it is resolved.
    pub fn flow_count(&self) -> Option<u64> {
        match &self.mix {
            Some(parts) => parts.iter().map(|part| part.flows).sum(),
            None => self.flows,
        }
    }

    /// Memory of its flows and their graph [B], as known before they are made; the workload must be
    /// resolved.
    pub fn memory(&self, cluster: &Cluster) -> u64 {
        match &self.jobs {
            Some(jobs) => jobs::memory(jobs, cluster),
            None => self
                .flow_count()
                .unwrap_or(0)
                .saturating_mul(BYTES_PER_FLOW),
        }
    }

    /// Refuses keys that have no effect with a trace, and a load that the trace cannot have.
    pub(crate) fn alone(&self) -> Result<(), Refusal> {
        let jobs = ("jobs", self.jobs.is_some());
        let limit = "a trace defines its flows completely";
        match (self.load, self.scale) {
            (Some(load), None) => Err(Refusal::new(
                "workload.load",
                load,
                format!("{limit}, their times included"),
                "add scale = \"time\" to [workload] to scale its times, or remove workload.load",
            )),
            (Some(load), Some(_)) => {
                arrivals::check_load(load)?;
                let law = WorkloadConfig {
                    load: None,
                    ..self.clone()
                };
                law.refuse_laws("trace", limit, &[jobs])
            }
            (None, _) => self.refuse_laws("trace", limit, &[jobs]),
        }
    }

    /// The flows of a trace scaled to the requested load, and the factor on their times; unchanged
    /// and `None` if no load is requested.
    ///
    /// # Errors
    /// If the flows have no load to scale, or the last would arrive after the clock's range.
    pub fn at_load(
        &self,
        flows: Flows,
        cluster: &Cluster,
    ) -> Result<(Flows, Option<f64>), Refusal> {
        match (self.load, self.scale) {
            (Some(load), Some(Scale::Time)) => {
                let (flows, factor) = trace::scaled(flows, load, cluster)?;
                Ok((flows, Some(factor)))
            }
            _ => Ok((flows, None)),
        }
    }

    /// Refuses keys that have no effect with jobs.
    fn alone_with_jobs(&self) -> Result<(), Refusal> {
        let limit = "jobs define the flows, their times and their destinations";
        self.refuse_laws("jobs", limit, &self.of_traces())
    }

    /// Refuses keys that belong to the parts of a mix.
    pub(crate) fn alone_with_mix(&self) -> Result<(), Refusal> {
        let limit = "the parts of a mix have this key";
        let laws = WorkloadConfig {
            load: None,
            ..self.clone()
        };
        laws.refuse_laws("mix", limit, &self.of_traces())
    }

    /// The keys that only a trace has, and whether they are given.
    fn of_traces(&self) -> [(&'static str, bool); 4] {
        [
            ("trace_format", self.trace_format.is_some()),
            ("trace_unit", self.trace_unit.is_some()),
            ("trace_columns", self.trace_columns.is_some()),
            ("trace_hosts", self.trace_hosts.is_some()),
        ]
    }

    fn refuse_laws(&self, by: &str, limit: &str, more: &[(&str, bool)]) -> Result<(), Refusal> {
        let laws = [
            ("arrivals", self.arrivals.is_some()),
            ("load", self.load.is_some()),
            ("sizes", self.sizes.is_some()),
            ("mean_rule", self.mean_rule.is_some()),
            ("pattern", self.pattern.is_some()),
            ("flows", self.flows.is_some()),
        ];
        match laws.iter().chain(more).find(|given| given.1) {
            None => Ok(()),
            Some((key, _)) => Err(Refusal::new(
                format!("workload.{key}"),
                "(set)",
                limit,
                format!("remove workload.{key}, or workload.{by}"),
            )),
        }
    }

    pub(crate) fn with_defaults(mut self) -> Result<WorkloadConfig, Refusal> {
        if let Some((key, _)) = self.of_traces().iter().find(|given| given.1) {
            return Err(Refusal::new(
                format!("workload.{key}"),
                "(set)",
                "has no effect without a trace",
                "add workload.trace, or remove it",
            ));
        }
        if self.sizes.is_none() {
            return Err(Refusal::new(
                "workload.sizes",
                "(missing)",
                "required unless workload.trace is given",
                "add it, such as sizes = \"web-search\"",
            ));
        }
        self.arrivals.get_or_insert_default();
        self.mean_rule.get_or_insert_default();
        self.pattern.get_or_insert_default();
        Ok(self)
    }
}

/// Reads a load; several loads are a curve, which a single run does not accept.
fn one_load<'de, D: Deserializer<'de>>(d: D) -> Result<Option<f64>, D::Error> {
    match Value::deserialize(d)? {
        Value::Null => Ok(None),
        list @ Value::Array(_) => Err(config::nested_refusal(Refusal::new(
            "",
            &list,
            "a run has one load",
            format!("write compare.loads = {list} for a curve, or vary it in a sweep"),
        ))),
        value => f64::deserialize(value).map(Some).map_err(de::Error::custom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::tests::cluster;
    use serde_json::json;

    fn resolve(v: Value) -> Result<WorkloadConfig, Refusal> {
        config::read::<WorkloadConfig>(&v, "workload")?.resolve(&cluster(4, 3))
    }

    fn refusal(v: Value) -> String {
        resolve(v).unwrap_err().to_string()
    }

    /// The paper's workload with one key changed.
    fn with(key: &str, value: Value) -> Value {
        let mut v = json!({
            "load": 0.5, "flows": 100, "sizes": {"kind": "pareto", "shape": 1.05, "mean": "100 KB"}
        });
        v[key] = value;
        v
    }

    /// E[s²] ÷ E[s] is twice the mean of an exponential distribution. An incast of five is one
    /// arrival of five such flows, so four more flows arrive together with the flow that contains a
    /// byte.
    #[test]
    fn the_size_of_a_bytes_flow() {
        let by_byte = |v| {
            resolve(v)
                .unwrap()
                .mean_bytes_by_byte(&cluster(4, 3))
                .unwrap()
        };
        let sizes = json!({"kind": "exponential", "mean": "20 KB"});
        let alone = json!({"load": 0.5, "flows": 100, "sizes": sizes});
        let incast = json!({"load": 0.1, "flows": 100, "sizes": sizes,
            "pattern": {"kind": "incast", "fan_in": 5}});
        assert_eq!(by_byte(alone.clone()), Some(40_000.0));
        assert_eq!(by_byte(incast.clone()), Some(120_000.0));
        // Weighted by bytes: 5 parts of 40 KB and one of 120 KB.
        let mixed = by_byte(json!({"mix": [alone, incast]})).unwrap();
        assert!((mixed / (320_000.0 / 6.0) - 1.0).abs() < 1e-9, "{mixed}");
        assert_eq!(by_byte(with("load", json!(0.5))), Some(f64::INFINITY));
        let at_once = json!({"arrivals": "at-once", "flows": 100, "sizes": sizes});
        assert_eq!(by_byte(at_once), None);
    }

    #[test]
    fn defaults_are_filled_in_and_resolving_again_changes_nothing() {
        let resolved = resolve(with("flows", json!(7))).unwrap();
        let written = serde_json::to_value(&resolved).unwrap();
        assert_eq!(
            written,
            json!({
                "arrivals": {"kind": "poisson"}, "load": 0.5, "mean_rule": "nominal", "flows": 7,
                "pattern": {"kind": "uniform"},
                "sizes": {"kind": "pareto", "shape": 1.05, "mean": "100 KB"}
            })
        );
        assert_eq!(resolve(written).unwrap(), resolved);
        assert_eq!(resolved.mean_bytes().unwrap(), Some(100_000.0));
        assert!(!resolved.default_stop_is_drain());
        let all = json!({"arrivals": "at-once", "pattern": "all-to-all", "sizes": "rpc"});
        let all = resolve(all).unwrap();
        assert_eq!(all.flows, Some(132));
        assert!(all.default_stop_is_drain());
    }

    #[test]
    fn a_billion_flows_are_refused_with_an_estimate() {
        assert_eq!(
            refusal(with("flows", json!(1_000_000_000u64))),
            "workload.flows = 1000000000: would take about 104 GiB of memory (112 B a flow), \
             the limit is 16 GiB; send at most 153391689 flows"
        );
        assert!(refusal(with("flows", json!(u64::MAX))).starts_with("workload.flows = 1844674"));
        assert!(resolve(with("flows", json!(153_391_689))).is_ok());
    }

    #[test]
    fn a_flow_takes_the_memory_it_is_said_to() {
        use std::mem::size_of_val;
        let mut f = lightloom_engine::Flows::new();
        let id = f.push(
            lightloom_engine::HostId(0),
            lightloom_engine::HostId(1),
            1,
            Default::default(),
        );
        let columns = size_of_val(&f.src[0])
            + size_of_val(&f.dst[0])
            + size_of_val(&f.bytes[0])
            + size_of_val(&f.arrival[0])
            + size_of_val(&f.group[0])
            + size_of_val(&f.start[0])
            + size_of_val(&f.finish[0])
            + size_of_val(&f.delivered[0])
            + size_of_val(&f.hops[0]);
        assert_eq!(columns + size_of_val(&id), 58);
    }

    #[test]
    fn bad_keys_are_refused_by_name() {
        for (key, value, start) in [
            (
                "load",
                json!(0),
                "workload.load = 0: must be a number above 0",
            ),
            ("load", json!(-0.5), "workload.load = -0.5: must be"),
            (
                "load",
                json!(1e-15),
                "workload.load = 0.000000000000001: arrivals would last",
            ),
            (
                "load",
                json!("0.5"),
                "workload.load = \"0.5\": must be a number",
            ),
            (
                "laod",
                json!(0.5),
                "workload.laod = 0.5: no such key; did you mean \"load\"?",
            ),
            ("flows", json!(0), "workload.flows = 0: must be at least 1"),
            (
                "flows",
                json!(-5),
                "workload.flows = -5: must be a whole number, at least 0",
            ),
            (
                "flows",
                Value::Null,
                "workload.flows = (missing): this pattern does not determine",
            ),
            ("sizes", Value::Null, "workload.sizes = (missing): required"),
            (
                "mean_rule",
                json!("nominl"),
                "workload.mean_rule = \"nominl\": must be one of",
            ),
            (
                "mean_rule",
                json!("truncated"),
                "workload.sizes.max = (missing)",
            ),
            (
                "arrivals",
                json!("at-once"),
                "workload.load = 0.5: has no effect on at-once",
            ),
            (
                "arrivals",
                json!("poison"),
                "workload.arrivals = \"poison\": must be one of",
            ),
            (
                "trace",
                json!("x.csv"),
                "workload.load = 0.5: a trace defines its flows",
            ),
            (
                "trace_format",
                json!("csv"),
                "workload.trace_format = (set): has no effect",
            ),
        ] {
            let e = refusal(with(key, value));
            assert!(e.starts_with(start), "{e}");
        }
        for load in [f64::NAN, f64::INFINITY] {
            let mut config: WorkloadConfig =
                config::read(&with("flows", json!(5)), "workload").unwrap();
            config.load = Some(load);
            let e = config.resolve(&cluster(4, 3)).unwrap_err();
            assert_eq!(e.key, "workload.load");
        }
        let gap = json!({"sizes": "rpc", "flows": 1_000_000,
                         "arrivals": {"kind": "fixed-gap", "gap": "10 s"}});
        assert!(refusal(gap).starts_with("workload.arrivals = fixed-gap: arrivals would last"));
        let trace = refusal(json!({"trace": "no/such.csv"}));
        assert!(
            trace.starts_with("workload.trace = \"no/such.csv\": cannot be read"),
            "{trace}"
        );
    }

    #[test]
    fn the_schema_names_every_kind() {
        let schema = schemars::schema_for!(WorkloadConfig).to_value().to_string();
        for kind in [Sizes::KINDS, Pattern::KINDS, Arrivals::KINDS].concat() {
            assert!(schema.contains(&format!("\"const\":\"{kind}\"")), "{kind}");
        }
        assert!(schema.contains("data-mining") && schema.contains("Sirius §7"));
    }
}
