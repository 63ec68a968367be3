//! A mix of MapReduce jobs like that of a shared cluster (c-Through §6.2, the
//! Gridmix benchmark of Hadoop).
//!
//! Gridmix submits jobs of five classes: three sorts (one for each of Hadoop's interfaces), a scan
//! that keeps little, and a query of three stages; small, medium and large ones as 20 : 10 : 3. The
//! share of data that each stage keeps and its number of reduce tasks are Gridmix's; c-Through
//! states that 100 jobs run on 200 GB of plain and 50 GB of compressed data. Assumed here, because
//! the paper does not define it: the sorts share the plain data and the others the compressed data;
//! every byte is read by one job; medium and large jobs read 10 and 100 times as much as small ones
//! (3, 30 and 300 files of Gridmix's); all are submitted at once, in an order drawn by the seed,
//! and get slots first come, first served.
//!
//! Each job is reported as a job of its own, `gridmix/7-java-sort-small`.

use super::hadoop::{Hadoop, MapReduce, Runner};
use crate::tasks::{check, Application, Extent, Placement, Site};
use lightloom_engine::{Bytes, Cluster, Node, Refusal, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A mix of small, medium and large MapReduce jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gridmix {
    /// Number of jobs, from 5 to 10,000 (c-Through §6.2: 100).
    pub jobs: u32,
    /// Bytes that all sorts together read [B] (c-Through §6.2: 200 GB, uncompressed).
    pub uncompressed: Bytes,
    /// Bytes that all scans and queries together read [B] (c-Through §6.2: 50 GB, compressed).
    pub compressed: Bytes,
    /// Number of servers of the Hadoop cluster. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<u32>,
    /// Selection of the servers: "first" (the default), "spread" or a list.
    pub placement: Placement,
    /// Settings of the Hadoop cluster.
    pub hadoop: Hadoop,
}

impl Default for Gridmix {
    fn default() -> Gridmix {
        Gridmix {
            jobs: 100,
            uncompressed: Bytes(200_000_000_000),
            compressed: Bytes(50_000_000_000),
            hosts: None,
            placement: Placement::First,
            hadoop: Hadoop::default(),
        }
    }
}

/// A class of jobs: its name, whether it reads compressed data, and the shares that its stages
/// keep, (map, reduce).
struct Class {
    name: &'static str,
    compressed: bool,
    stages: &'static [(f64, f64)],
}

const CLASSES: [Class; 5] = [
    Class {
        name: "java-sort",
        compressed: false,
        stages: &[(1.0, 1.0)],
    },
    Class {
        name: "stream-sort",
        compressed: false,
        stages: &[(1.0, 1.0)],
    },
    Class {
        name: "pipe-sort",
        compressed: false,
        stages: &[(1.0, 1.0)],
    },
    Class {
        name: "scan",
        compressed: true,
        stages: &[(0.01, 0.05)],
    },
    Class {
        name: "query",
        compressed: true,
        stages: &[(0.1, 0.4), (1.0, 0.77), (1.16, 0.91)],
    },
];

/// A size of jobs: its name, the number of jobs out of 33 that have it, the data that they read in
/// units of a small job, and their reduce tasks.
struct Size {
    name: &'static str,
    of_33: u32,
    reads: u64,
    reducers: u32,
}

const SIZES: [Size; 3] = [
    Size {
        name: "small",
        of_33: 20,
        reads: 1,
        reducers: 2,
    },
    Size {
        name: "medium",
        of_33: 10,
        reads: 10,
        reducers: 17,
    },
    Size {
        name: "large",
        of_33: 3,
        reads: 100,
        reducers: 37,
    },
];

/// One job of the mix.
struct Member {
    class: &'static Class,
    size: &'static Size,
    /// Bytes that the job reads [B].
    input: u64,
}

impl Member {
    /// The stages in turn: each reads the output of the stage before.
    fn stages(&self) -> Vec<MapReduce> {
        let mut input = self.input;
        let scan = self.class.name == "scan";
        let stage = |&(keep_map, keep_reduce): &(f64, f64)| {
            let job = MapReduce {
                input,
                // Large scans keep 0.2 %; scans have one reduce task.
                keep_map: if scan && self.size.reads == 100 {
                    0.002
                } else {
                    keep_map
                },
                keep_reduce,
                reducers: if scan { 1 } else { self.size.reducers },
            };
            input = check::scaled(check::scaled(input, job.keep_map), keep_reduce);
            job
        };
        self.class.stages.iter().map(stage).collect()
    }
}

impl Gridmix {
    /// The jobs in order of class and size.
    fn members(&self) -> Vec<Member> {
        let total = self.jobs as u64;
        let per_class = total.div_ceil(5);
        // The first 20 of every 33 jobs of a class are small, the next 10 medium.
        let size = |k: u64| {
            let place = (2 * k + 1) * 33 / (2 * per_class);
            let mut up_to = 0;
            let here = |s: &&Size| {
                up_to += s.of_33 as u64;
                place < up_to
            };
            SIZES.iter().find(here).unwrap_or(&SIZES[2])
        };
        let pick = |k: u64| (&CLASSES[(k % 5) as usize], size(k / 5));
        let units = |compressed: bool| -> u64 {
            let of = (0..total)
                .map(pick)
                .filter(|(c, _)| c.compressed == compressed);
            of.map(|(_, s)| s.reads).sum()
        };
        let (plain, packed) = (units(false), units(true));
        let (mut read_plain, mut read_packed) = (0, 0);
        let member = |(class, size): (&'static Class, &'static Size)| {
            let (data, all, read) = match class.compressed {
                true => (self.compressed.0, packed, &mut read_packed),
                false => (self.uncompressed.0, plain, &mut read_plain),
            };
            let before = check::until(data, all, *read);
            *read += size.reads;
            Member {
                class,
                size,
                input: check::until(data, all, *read) - before,
            }
        };
        (0..total).map(pick).map(member).collect()
    }

    /// The jobs in the order of their submission.
    fn submitted(&self, rng: &mut Stream) -> Vec<Member> {
        let mut members = self.members();
        rng.shuffle(&mut members);
        members
    }
}

impl Application for Gridmix {
    fn resolve(mut self, cluster: &Cluster) -> Result<Gridmix, Refusal> {
        check::count("jobs", self.jobs as u64, 10_000)?;
        if (self.jobs as usize) < CLASSES.len() {
            let limit = format!("there are {} classes of jobs", CLASSES.len());
            return Err(Refusal::new("jobs", self.jobs, limit, "raise it"));
        }
        // Every job reads something.
        let least = 100 * self.jobs as u64;
        check::bytes("uncompressed", self.uncompressed, least)?;
        check::bytes("compressed", self.compressed, least)?;
        let hosts = self.placement.hosts(self.hosts, 1, cluster)?.len() as u32;
        self.hosts = Some(hosts);
        check::within("hadoop", self.hadoop.check(hosts))?;
        Ok(self)
    }

    fn extent(&self, _: &Cluster) -> Extent {
        let of = |m: &Member| {
            let stages = m.stages();
            let last = stages.iter().map(|s| s.reducers as u64 + 1).sum();
            let extents = stages.iter().map(|s| s.extent(&self.hadoop));
            extents.fold(Extent::job(last), |a, b| a + b)
        };
        let members = self.members();
        let extents = members.iter().map(of);
        extents.fold(Extent::job(self.jobs as u64), |a, b| a + b)
    }

    fn parts(&self) -> u64 {
        self.jobs as u64
    }

    fn build(&self, site: &mut Site) -> Vec<Node> {
        let hosts = self.placement.hosts(self.hosts, 1, site.cluster);
        let hosts = hosts.expect("a resolved placement fits");
        let mut runner = Runner::new(&self.hadoop, &hosts);
        let members = self.submitted(&mut site.rng);
        let run = |(k, member): (usize, &Member)| {
            let (class, size) = (member.class.name, member.size.name);
            let name = format!("{}/{}-{class}-{size}", site.name, k + 1);
            site.dag.group(&name);
            let mut done: Vec<Node> = Vec::new();
            for stage in member.stages() {
                let ends = runner.run(&stage, &done, site);
                done = vec![site.dag.join(&ends)];
            }
            site.dag.end_job(&name, site.begin, &done)
        };
        members.iter().enumerate().map(run).collect()
    }
}
