//! MapReduce jobs of one Hadoop cluster: blocks, slots, replicas (c-Through §6.2).
//!
//! A map task reads a block, usually its server's own, and computes; a reduce task copies its part
//! of every map task's output, a few copies at a time and as soon as they are available, sorts and
//! reduces, and writes its output block by block: one replica at home, the second in another rack,
//! the third beside the second. Each server has slots in which tasks run one after another.
//!
//! Tasks are given to slots in turn, before the run: a slot that falls idle does not take the task
//! of another. The last tasks of a job are those that read from remote servers, as on a cluster
//! whose servers take their own blocks first; they make the tail of the map phase (c-Through Fig
//! 8). Disks are part of the rates at which tasks process their data. Heartbeats, speculative
//! execution and the start of processes are not modelled.

use crate::tasks::{check, Extent, Site};
use lightloom_engine::{Bytes, Cluster, HostId, Node, Rate, Refusal, Stream, Task, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of a Hadoop cluster for MapReduce jobs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Hadoop {
    /// Block size of the file system [B], the unit that map tasks read and that is written
    /// (c-Through §6.2: 64 MB).
    pub block: Bytes,
    /// Number of copies that the file system keeps of each written block (c-Through §6.2: 3).
    pub replicas: u32,
    /// Number of map tasks that a server runs at the same time (Hadoop's default: 2).
    pub map_slots: u32,
    /// Number of reduce tasks that a server runs at the same time (Hadoop's default: 2).
    pub reduce_slots: u32,
    /// Number of outputs of map tasks that a reduce task copies at the same time (Hadoop's default:
    /// 5).
    pub copies: u32,
    /// Fraction of the map tasks that read from another server (c-Through §6.2: "a few"; the value
    /// is an assumption).
    pub remote: f64,
    /// Rate at which a map task reads, maps and spills its block [b/s]. An assumption: two slots
    /// share a disk that reads and writes 50 MB/s.
    pub map_rate: Rate,
    /// Rate at which a reduce task sorts and reduces the copied data [b/s]. An assumption, as for
    /// map tasks.
    pub reduce_rate: Rate,
}

impl Default for Hadoop {
    fn default() -> Hadoop {
        Hadoop {
            block: Bytes(64_000_000),
            replicas: 3,
            map_slots: 2,
            reduce_slots: 2,
            copies: 5,
            remote: 0.1,
            map_rate: Rate(100_000_000),
            reduce_rate: Rate(100_000_000),
        }
    }
}

impl Hadoop {
    /// Refuses a job that cannot run on `hosts` servers.
    pub(super) fn check(&self, hosts: u32) -> Result<(), Refusal> {
        check::bytes("block", self.block, 1)?;
        check::count("replicas", self.replicas as u64, hosts as u64)?;
        check::count("map_slots", self.map_slots as u64, 1 << 10)?;
        check::count("reduce_slots", self.reduce_slots as u64, 1 << 10)?;
        check::count("copies", self.copies as u64, 1 << 10)?;
        check::fraction("remote", self.remote, true)?;
        check::rate("map_rate", self.map_rate)?;
        check::rate("reduce_rate", self.reduce_rate)
    }
}

/// Slots of all servers, and the last task of each.
pub(super) struct Slots {
    last: Vec<Option<Node>>,
    next: usize,
}

impl Slots {
    pub fn new(hosts: usize, each: u32) -> Slots {
        Slots {
            last: vec![None; hosts * each as usize],
            next: 0,
        }
    }

    /// The next slot in turn: consecutive ones belong to different servers.
    fn take(&mut self) -> usize {
        let slot = self.next;
        self.next = (self.next + 1) % self.last.len();
        slot
    }
}

/// One MapReduce job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MapReduce {
    /// Bytes that the job reads [B].
    pub input: u64,
    /// Output ÷ input of its map tasks.
    pub keep_map: f64,
    /// Output ÷ input of its reduce tasks.
    pub keep_reduce: f64,
    /// Reduce tasks.
    pub reducers: u32,
}

/// A cluster that runs MapReduce jobs.
pub(super) struct Runner<'a> {
    pub hadoop: &'a Hadoop,
    pub hosts: &'a [HostId],
    pub maps: Slots,
    pub reduces: Slots,
}

/// A map task that was placed: its server, its output, and when it is done.
struct Mapped {
    host: HostId,
    bytes: u64,
    done: Node,
}

impl MapReduce {
    /// Map tasks, and so blocks.
    pub fn maps(&self, block: u64) -> u64 {
        self.input.div_ceil(block).max(1)
    }

    /// Upper limits of the nodes and edges of its graph, if it waits for one node.
    pub fn extent(&self, hadoop: &Hadoop) -> Extent {
        let (maps, reducers) = (self.maps(hadoop.block.0), self.reducers as u64);
        let shuffled = maps.saturating_mul(reducers);
        let output = self.input as f64 * self.keep_map * self.keep_reduce;
        // Includes the partial blocks at the end of each reduce task, and rounding.
        let blocks = (output / hadoop.block.0 as f64) as u64 + 2 * reducers;
        let copies = blocks.saturating_mul(hadoop.replicas as u64 - 1);
        let copiers = reducers.saturating_mul(hadoop.copies as u64);
        Extent {
            flows: shuffled.saturating_add(maps).saturating_add(copies),
            barriers: maps.saturating_add(reducers).saturating_add(blocks),
            edges: [
                4 * maps,
                shuffled.saturating_mul(2),
                copiers.saturating_mul(3),
            ]
            .into_iter()
            .chain([copies.saturating_mul(2)])
            .fold(0, u64::saturating_add),
        }
    }
}

impl<'a> Runner<'a> {
    pub fn new(hadoop: &'a Hadoop, hosts: &'a [HostId]) -> Runner<'a> {
        Runner {
            hadoop,
            hosts,
            maps: Slots::new(hosts.len(), hadoop.map_slots),
            reduces: Slots::new(hosts.len(), hadoop.reduce_slots),
        }
    }

    /// Runs `job` after all of `after`; returns the ends of its reduce tasks.
    pub fn run(&mut self, job: &MapReduce, after: &[Node], site: &mut Site) -> Vec<Node> {
        let mapped = self.map(job, after, site);
        (0..job.reducers)
            .map(|r| self.reduce(job, r, &mapped, after, site))
            .collect()
    }

    fn map(&mut self, job: &MapReduce, after: &[Node], site: &mut Site) -> Vec<Mapped> {
        let count = job.maps(self.hadoop.block.0);
        let local = count - check::scaled(count, self.hadoop.remote);
        (0..count)
            .map(|m| {
                let slot = self.maps.take();
                let host = self.hosts[slot % self.hosts.len()];
                let bytes = check::part(job.input, count, m);
                let mut before = waits(self.maps.last[slot], after);
                if m >= local {
                    let src = other(self.hosts, host, &mut site.rng);
                    before = vec![site.dag.task(send(src, host, bytes), &before)];
                }
                let compute = check::time_for(self.hadoop.map_rate, bytes);
                let done = site.dag.barrier(compute, &before);
                self.maps.last[slot] = Some(done);
                Mapped {
                    host,
                    bytes: check::scaled(bytes, job.keep_map),
                    done,
                }
            })
            .collect()
    }

    fn reduce(
        &mut self,
        job: &MapReduce,
        r: u32,
        mapped: &[Mapped],
        after: &[Node],
        site: &mut Site,
    ) -> Node {
        let slot = self.reduces.take();
        let host = self.hosts[slot % self.hosts.len()];
        let before = waits(self.reduces.last[slot], after);
        let (copied, bytes) = self.copy(job, r, host, mapped, &before, site);
        let compute = check::time_for(self.hadoop.reduce_rate, bytes);
        let reduced = site.dag.barrier(compute, &copied);
        let output = check::scaled(bytes, job.keep_reduce);
        let done = self.write(host, output, reduced, site);
        self.reduces.last[slot] = Some(done);
        done
    }

    /// The shuffle: reduce task `r` copies its part from every map task, by several copiers. Each
    /// reduce task begins each wave of map tasks at another task, so that they do not all read from
    /// the same server.
    fn copy(
        &self,
        job: &MapReduce,
        r: u32,
        host: HostId,
        mapped: &[Mapped],
        before: &[Node],
        site: &mut Site,
    ) -> (Vec<Node>, u64) {
        let (reducers, wave) = (job.reducers as u64, self.maps.last.len());
        let mut copiers: Vec<Vec<Node>> =
            vec![before.to_vec(); (self.hadoop.copies as usize).min(mapped.len())];
        let mut total = 0;
        for (k, m) in visits(mapped.len(), wave, r as usize, job.reducers as usize).enumerate() {
            let map = &mapped[m];
            let bytes = check::part(map.bytes, reducers, r as u64);
            total += bytes;
            let turn = k % copiers.len();
            let copier = &mut copiers[turn];
            copier.push(map.done);
            *copier = vec![site.dag.task(send(map.host, host, bytes), copier)];
        }
        (copiers.concat(), total)
    }

    /// Writes `output` block by block; each is sent on from replica to replica
    /// while it arrives.
    fn write(&self, host: HostId, output: u64, reduced: Node, site: &mut Site) -> Node {
        let blocks = output.div_ceil(self.hadoop.block.0);
        let mut done = reduced;
        for b in 0..blocks {
            let bytes = check::part(output, blocks, b);
            let replicas = replicas(
                host,
                self.hosts,
                self.hadoop.replicas,
                site.cluster,
                &mut site.rng,
            );
            let sent: Vec<Node> = replicas
                .windows(2)
                .map(|hop| site.dag.task(send(hop[0], hop[1], bytes), &[done]))
                .collect();
            if !sent.is_empty() {
                done = site.dag.join(&sent);
            }
        }
        done
    }
}

/// The predecessors of a task: the one before it in its slot, and the beginning of its job.
fn waits(slot: Option<Node>, after: &[Node]) -> Vec<Node> {
    slot.into_iter().chain(after.iter().copied()).collect()
}

fn send(src: HostId, dst: HostId, bytes: u64) -> Task {
    Task {
        src,
        dst,
        bytes,
        compute: Time::ZERO,
    }
}

/// Map tasks in the order in which reduce task `r` of `of` visits them.
fn visits(maps: usize, wave: usize, r: usize, of: usize) -> impl Iterator<Item = usize> {
    (0..maps).step_by(wave).flat_map(move |first| {
        let width = wave.min(maps - first);
        let from = r * width / of;
        (0..width).map(move |k| first + (from + k) % width)
    })
}

/// Another server than `host`, all of them equally likely; `host` itself if it
/// is alone.
fn other(hosts: &[HostId], host: HostId, rng: &mut Stream) -> HostId {
    choose(hosts, rng, |h| h != host).unwrap_or(host)
}

/// One of `hosts` that `fits`, all of them equally likely.
fn choose(hosts: &[HostId], rng: &mut Stream, fits: impl Fn(HostId) -> bool) -> Option<HostId> {
    let fitting = hosts.iter().copied().filter(|&h| fits(h));
    let count = fitting.clone().count() as u32;
    (count > 0)
        .then(|| rng.below(count))
        .and_then(|k| fitting.clone().nth(k as usize))
}

/// The servers of a block's replicas. The first is `home`, the second is in another rack and the
/// third in the same rack as the second, if there are such servers; the others are anywhere.
fn replicas(
    home: HostId,
    hosts: &[HostId],
    count: u32,
    cluster: &Cluster,
    rng: &mut Stream,
) -> Vec<HostId> {
    let mut at = vec![home];
    for k in 1..count as usize {
        let free = |h: HostId| !at.contains(&h);
        let rack = |h: HostId| cluster.rack_of(h);
        let wanted = match k {
            1 => choose(hosts, rng, |h| free(h) && rack(h) != rack(home)),
            2 => choose(hosts, rng, |h| free(h) && rack(h) == rack(at[1])),
            _ => None,
        };
        match wanted.or_else(|| choose(hosts, rng, free)) {
            Some(host) => at.push(host),
            None => break,
        }
    }
    at
}
