//! Virtual machines leave a rack that is to be shut down (c-Through §6.1).
//!
//! Every server of the rack compresses the memory of its machines one after another, which takes
//! CPU time, and sends each image to a server of another rack. Machine v goes to rack v mod (racks
//! - 1) of the others, so that every server has traffic for every rack, as in the paper.
//!
//! A server writes to a connection's buffer, and compresses nothing more while it is full. `buffer`
//! sets its size; `pieces` and `ahead` set the details.
//!
//! Not modelled: pages that are written while a machine moves and have to be sent again, and
//! machines that compete for the processors of their server.

use crate::tasks::{check, Application, Extent, Site};
use lightloom_engine::{Bytes, Cluster, HostId, Node, Refusal, Task, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All virtual machines of a rack migrate to servers of the other racks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VmMigration {
    /// Number of virtual machines that migrate. Default: all machines of the rack (c-Through §6.1:
    /// 32).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vms: Option<u32>,
    /// Memory of each machine [B] (c-Through §6.1: 1 GB).
    pub memory: Bytes,
    /// Size of a compressed image ÷ memory, above 0 and at most 1. The default is derived from
    /// c-Through Fig 6: 280 s at 100 Mb/s out of the rack, minus the compression of the first
    /// image, are 32 images of 107 MB.
    pub ratio: f64,
    /// Number of machines on each server (c-Through §6.1: 8).
    pub per_server: u32,
    /// Number of the rack that the machines leave, from 0.
    pub source_rack: u32,
    /// Processor time to start the migration of a machine and compress its image [s]; a server
    /// processes one machine at a time. The default is derived from c-Through Fig 6: at full
    /// bisection, where the paper names the processors as the limit, 8 machines in sequence take 52
    /// s.
    pub cpu: Time,
    /// Size of a connection's socket buffer [B], which contains bytes that are written but not yet
    /// sent. An image is written in pieces, two of which fill the buffer; while it is full, the
    /// application does not compress. The key sets `pieces` = 2 images ÷ buffer, rounded up, and
    /// `ahead` = 2. A buffer for two images never fills. Default: no limit; `pieces` and `ahead`
    /// apply as given (c-Through §6.1: 128 KB, 50, 100 and 300 MB).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Bytes>,
    /// Number of pieces in which an image is compressed and sent: each piece is sent while the next
    /// one is compressed. With 1, an image is sent after it is compressed completely.
    pub pieces: u32,
    /// Number of pieces that a server may compress before the first of them is delivered, which
    /// models a small buffer. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u32>,
}

impl Default for VmMigration {
    fn default() -> VmMigration {
        VmMigration {
            vms: None,
            memory: Bytes(1_000_000_000),
            ratio: 0.107,
            per_server: 8,
            source_rack: 0,
            cpu: Time::MS * 6_400,
            buffer: None,
            pieces: 1,
            ahead: None,
        }
    }
}

/// Pieces that fill a buffer: one is sent while the next is written.
const FILL: u32 = 2;

impl VmMigration {
    /// An image as it is sent [B].
    fn image(&self) -> u64 {
        check::scaled(self.memory.0, self.ratio)
    }

    /// Pieces of an image, and how many a server compresses before the first of them
    /// is delivered; it is resolved.
    fn writes(&self) -> (u32, Option<u32>) {
        let Some(buffer) = self.buffer else {
            return (self.pieces, self.ahead);
        };
        let pieces = (FILL as u64 * self.image()).div_ceil(buffer.0);
        // `resolve` refuses more pieces than 32 bits count.
        match pieces as u32 {
            0 | 1 => (1, None),
            pieces => (pieces, Some(FILL)),
        }
    }

    /// Refuses pieces of less than a byte, and a buffer together with the keys that follow from it.
    fn check_writes(&self) -> Result<(), Refusal> {
        check::count("pieces", self.pieces as u64, self.image().max(1))?;
        if let Some(ahead) = self.ahead {
            check::count("ahead", ahead as u64, u32::MAX as u64)?;
        }
        let Some(buffer) = self.buffer else {
            return Ok(());
        };
        let refuse = |limit: String, remedy| Err(Refusal::new("buffer", buffer, limit, remedy));
        if self.pieces != 1 || self.ahead.is_some() {
            let limit = "sets the same as `pieces` and `ahead`".to_owned();
            return refuse(limit, "remove it, or both of them");
        }
        // Pieces are of a byte at least, and counted in 32 bits.
        let most = self.image().min(u32::MAX as u64).max(1);
        let least = (FILL as u64 * self.image()).div_ceil(most).max(1);
        if buffer.0 < least {
            return refuse(format!("must be at least {}", Bytes(least)), "raise it");
        }
        Ok(())
    }

    fn machines(&self, cluster: &Cluster) -> u64 {
        let all = self.per_server as u64 * cluster.servers_per_rack as u64;
        self.vms.map_or(all, u64::from)
    }

    /// The destination of machine `v`.
    fn target(&self, v: u64, cluster: &Cluster) -> HostId {
        let (others, servers) = (cluster.racks as u64 - 1, cluster.servers_per_rack as u64);
        let rack = (self.source_rack as u64 + 1 + v % others) % cluster.racks as u64;
        HostId((rack * servers + v / others % servers) as u32)
    }

    /// One server compresses and sends its machines; returns the last flow of each.
    fn evacuate(&self, src: HostId, machines: std::ops::Range<u64>, site: &mut Site) -> Vec<Node> {
        let (pieces, ahead) = self.writes();
        let pieces = pieces as u64;
        let (mut sent, mut processor, mut done) = (Vec::new(), None, Vec::new());
        for v in machines {
            let dst = self.target(v, site.cluster);
            let mut image = None;
            for piece in 0..pieces {
                let room = ahead.and_then(|ahead| sent.len().checked_sub(ahead as usize));
                let before: Vec<Node> = [processor, room.map(|r| sent[r])]
                    .into_iter()
                    .flatten()
                    .collect();
                let compress = Time(check::part(self.cpu.0 as u64, pieces, piece) as i64);
                let compressed = site.dag.barrier(compress, &before);
                let before: Vec<Node> = [Some(compressed), image].into_iter().flatten().collect();
                let task = Task {
                    src,
                    dst,
                    bytes: check::part(self.image(), pieces, piece),
                    compute: Time::ZERO,
                };
                let node = site.dag.task(task, &before);
                (processor, image) = (Some(compressed), Some(node));
                sent.push(node);
            }
            done.extend(image);
        }
        done
    }
}

impl Application for VmMigration {
    fn resolve(mut self, cluster: &Cluster) -> Result<VmMigration, Refusal> {
        check::bytes("memory", self.memory, 1)?;
        check::fraction("ratio", self.ratio, false)?;
        check::count("per_server", self.per_server as u64, 1 << 20)?;
        self.check_writes()?;
        if cluster.racks < 2 {
            return Err(Refusal::new(
                "source_rack",
                self.source_rack,
                "there is no other rack to move to",
                "raise cluster.racks",
            ));
        }
        if self.source_rack >= cluster.racks {
            return Err(Refusal::new(
                "source_rack",
                self.source_rack,
                format!("the cluster's racks are 0 to {}", cluster.racks - 1),
                "name one of them",
            ));
        }
        let room = self.per_server as u64 * cluster.servers_per_rack as u64;
        let machines = self.machines(cluster);
        check::count("vms", machines, room.min(u32::MAX as u64))?;
        self.vms = Some(machines as u32);
        Ok(self)
    }

    fn extent(&self, cluster: &Cluster) -> Extent {
        let each = Extent {
            flows: 1,
            barriers: 1,
            edges: 4,
        };
        each.times(self.machines(cluster))
            .times(self.writes().0 as u64)
            + Extent::job(self.machines(cluster))
    }

    fn build(&self, site: &mut Site) -> Vec<Node> {
        let machines = self.machines(site.cluster);
        let (per_server, rack) = (self.per_server as u64, self.source_rack);
        (0..site.cluster.servers_per_rack)
            .flat_map(|server| {
                let src = HostId(rack * site.cluster.servers_per_rack + server);
                let first = (server as u64 * per_server).min(machines);
                let last = (first + per_server).min(machines);
                self.evacuate(src, first..last, site)
            })
            .collect()
    }
}
