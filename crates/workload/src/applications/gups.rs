//! GUPS, giga-updates per second: random words of a memory that all servers
//! share are read, changed and written back (LIONS §IV).
//!
//! A server keeps a number of updates outstanding, each a chain: a request to the server that holds
//! the word, its reply, the write, and then the next update. Words are drawn uniformly over all
//! servers; local words take no time. With aggregation a batch of updates goes to one server in
//! separate packets. Collecting updates by destination, as a real program does, is not modelled,
//! nor are memories and caches, which answer at once.

use crate::tasks::{check, Application, Extent, Placement, Site};
use lightloom_engine::{Bytes, Cluster, Node, Refusal, Task, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Random updates of a memory that is distributed over all servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gups {
    /// Number of updates of each server, a multiple of `outstanding`.
    pub updates: u32,
    /// Number of updates that a server has outstanding (LIONS §IV: 1,024).
    pub outstanding: u32,
    /// Number of updates that go to the same server together, in one packet each way; must divide
    /// `outstanding`. 1 means no aggregation; 16 fill 256 B (LIONS §IV).
    pub batch: u32,
    /// Size of the read request of an update [B]: an address of 64 bits (LIONS §IV).
    pub request: Bytes,
    /// Size of the reply [B]: address and data, 128 bits (LIONS §IV).
    pub reply: Bytes,
    /// Size of the write request [B]: address and data, 128 bits (LIONS §IV).
    pub write: Bytes,
    /// Number of servers. Default: all (LIONS §IV: 64).
    pub hosts: Option<u32>,
    /// Selection of the servers: "first" (the default), "spread" or a list.
    pub placement: Placement,
}

impl Default for Gups {
    fn default() -> Gups {
        Gups {
            updates: 8_192,
            outstanding: 1_024,
            batch: 1,
            request: Bytes(8),
            reply: Bytes(16),
            write: Bytes(16),
            hosts: None,
            placement: Placement::First,
        }
    }
}

impl Gups {
    /// Updates of all servers; it is resolved.
    pub fn total(&self) -> u64 {
        self.hosts.unwrap_or(0) as u64 * self.updates as u64
    }

    /// The largest number of updates per second that the servers' links allow if a message occupies
    /// a link for `taken` and nothing waits: each link carries, on average, the messages of one
    /// server for its own updates and for those of others. The job must be resolved.
    pub fn ceiling(&self, taken: impl Fn(Bytes) -> Time) -> f64 {
        let messages = [self.request, self.reply, self.write];
        let batches = messages.map(|m| Bytes(m.0 * self.batch as u64));
        let of_a_batch: f64 = batches.map(|b| taken(b).as_secs_f64()).iter().sum();
        let hosts = self.hosts.unwrap_or(0) as f64;
        // Local words take no time.
        let remote = (hosts - 1.0) / hosts;
        hosts / of_a_batch * self.batch as f64 / remote
    }

    fn count(&self, cluster: &Cluster) -> Option<u32> {
        match self.placement {
            Placement::List(_) => self.hosts,
            _ => Some(self.hosts.unwrap_or(cluster.hosts())),
        }
    }

    /// Number of chains of a server, and of steps in a chain.
    fn chains(&self) -> (u32, u32) {
        (
            self.outstanding / self.batch,
            self.updates / self.outstanding,
        )
    }
}

impl Application for Gups {
    fn resolve(mut self, cluster: &Cluster) -> Result<Gups, Refusal> {
        let hosts = self.placement.hosts(self.count(cluster), 2, cluster)?;
        self.hosts = Some(hosts.len() as u32);
        check::count("outstanding", self.outstanding as u64, 1 << 20)?;
        check::count("updates", self.updates as u64, u32::MAX as u64)?;
        check::count("batch", self.batch as u64, 1 << 20)?;
        for (key, bytes) in [
            ("request", self.request),
            ("reply", self.reply),
            ("write", self.write),
        ] {
            check::bytes(key, bytes, 1)?;
            check::bytes(key, Bytes(bytes.0.saturating_mul(self.batch as u64)), 1)?;
        }
        let multiple = |key: &str, value: u32, name: &str, of: u32| match value % of {
            0 => Ok(()),
            _ => Err(Refusal::new(
                key,
                value,
                format!("must be a multiple of {name} = {of}"),
                "change one of the two",
            )),
        };
        multiple("outstanding", self.outstanding, "batch", self.batch)?;
        multiple("updates", self.updates, "outstanding", self.outstanding)?;
        Ok(self)
    }

    fn extent(&self, cluster: &Cluster) -> Extent {
        let (chains, steps) = self.chains();
        let hosts = self.hosts.unwrap_or(cluster.hosts()) as u64;
        let all = hosts.saturating_mul(chains as u64);
        let step = Extent {
            flows: 3,
            barriers: 0,
            edges: 3,
        };
        step.times(all.saturating_mul(steps as u64)) + Extent::job(all)
    }

    fn build(&self, site: &mut Site) -> Vec<Node> {
        let hosts = self.placement.hosts(self.hosts, 2, site.cluster);
        let hosts = hosts.expect("a resolved placement fits");
        let (chains, steps) = self.chains();
        let mut last = Vec::with_capacity(hosts.len() * chains as usize);
        for &host in &hosts {
            for _ in 0..chains {
                let mut done: Option<Node> = None;
                for _ in 0..steps {
                    let holder = hosts[site.rng.below(hosts.len() as u32) as usize];
                    let mut send = |src, dst, bytes: Bytes| {
                        let task = Task {
                            src,
                            dst,
                            bytes: bytes.0 * self.batch as u64,
                            compute: Time::ZERO,
                        };
                        done = Some(site.dag.task(task, done.as_slice()));
                    };
                    if holder == host {
                        continue;
                    }
                    send(host, holder, self.request);
                    send(holder, host, self.reply);
                    send(host, holder, self.write);
                }
                last.extend(done);
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::Gups;
    use crate::jobs::tests::{generate, play};
    use crate::patterns::tests::cluster;
    use lightloom_engine::{Bytes, Flows, Rate, Time};
    use serde_json::{json, Value};

    fn gups(keys: Value, hosts: u32) -> Result<Flows, String> {
        let mut table = keys;
        table["kind"] = json!("gups");
        generate(json!([table]), &cluster(hosts, 1)).map_err(|e| e.to_string())
    }

    /// 64 servers × 4,096 updates, of which 1/64 are local, in batches of 16: three packets for
    /// each remote batch.
    #[test]
    fn an_update_is_a_request_a_reply_and_a_write() {
        let keys = json!({"updates": 4_096, "batch": 16});
        let flows = gups(keys, 64).unwrap();
        let batches: f64 = 64.0 * 4_096.0 / 16.0;
        let remote = flows.len() as f64 / 3.0;
        let error = (batches * (63.0 / 64.0) / 64.0).sqrt();
        assert!(
            (remote - batches * 63.0 / 64.0).abs() < 4.0 * error,
            "{remote}"
        );
        for sizes in flows.bytes.chunks(3) {
            assert_eq!(sizes, [8 * 16, 16 * 16, 16 * 16]);
        }
        for f in (0..flows.len()).step_by(3) {
            assert_eq!(
                (flows.src[f], flows.dst[f]),
                (flows.dst[f + 1], flows.src[f + 1])
            );
            assert_eq!(
                (flows.src[f], flows.dst[f]),
                (flows.src[f + 2], flows.dst[f + 2])
            );
        }
    }

    /// LIONS' 64 servers of 10 Gb/s, by hand: 64 · 1.25 GB/s ÷ 40 B per update, of which 63 of 64
    /// are remote, is 2.03 G updates per second. With 22 B of framing around each message it is
    /// 0.767 G, with 16 updates in a packet 1.84 G.
    #[test]
    fn the_ceiling_is_what_links_leave_room_for() {
        let gups = |batch| Gups {
            batch,
            hosts: Some(64),
            ..Gups::default()
        };
        let rate = Rate(10 * Rate::GBPS.0);
        let framed = |overhead| move |b: Bytes| rate.time_for(b.0 + b.0.div_ceil(256) * overhead);
        for (batch, overhead, expect) in [(1, 0, 2.03), (1, 22, 0.767), (16, 22, 1.84)] {
            let most = gups(batch).ceiling(framed(overhead)) / 1e9;
            assert!((most / expect - 1.0).abs() < 0.003, "{batch}: {most}");
        }
        // Replies and writes of 512 B are two packets each: 5 times 22 B for 32 updates.
        let most = gups(32).ceiling(framed(22));
        let expect = 64.0 * 1.25e9 / (40.0 + 5.0 * 22.0 / 32.0) * 64.0 / 63.0;
        assert!((most / expect - 1.0).abs() < 1e-12, "{most}");
        assert_eq!(gups(1).total(), 64 * 8_192);
    }

    /// With one update outstanding, a server's updates take three one-way times each, one after
    /// another; with all outstanding, they take place at once.
    #[test]
    fn no_more_are_outstanding_than_allowed() {
        for (outstanding, steps) in [(1, 12), (4, 3), (12, 1)] {
            let flows = gups(json!({"updates": 12, "outstanding": outstanding}), 2).unwrap();
            let chains = outstanding as usize * 2;
            let first = flows.arrival.iter().filter(|&&t| t != Time::NEVER).count();
            assert!(first <= chains && first > 0);
            let (io, hop) = (play(flows, |_| Time::NS), 3 * Time::NS.0);
            let took = io.flows.finish.iter().max().expect("flows").0;
            // In the longest chain at most all steps are remote, and on average half of them.
            assert!(
                took <= steps * hop && took % hop == 0,
                "{outstanding}: {took}"
            );
            assert!(took >= steps * hop / 4, "{outstanding}: {took}");
        }
    }

    #[test]
    fn what_does_not_divide_is_refused() {
        for (keys, message) in [
            (
                json!({"outstanding": 1_000, "batch": 16}),
                "workload.jobs[0].outstanding = 1000: must be a multiple of batch = 16",
            ),
            (
                json!({"updates": 1_500}),
                "workload.jobs[0].updates = 1500: must be a multiple of outstanding = 1024",
            ),
            (
                json!({"batch": 0}),
                "workload.jobs[0].batch = 0: must be at least 1",
            ),
            (json!({"hosts": 65}), "workload.jobs[0].hosts = 65"),
            (
                json!({"request": "0 B"}),
                "workload.jobs[0].request = 0 B: must be at least",
            ),
        ] {
            let e = gups(keys, 64).unwrap_err();
            assert!(e.starts_with(message), "{e}");
        }
    }
}
