//! Flows over the tree: each takes the only path.

use crate::electrical::failures::{Failures, Uplinks};
use crate::hybrid::tree::Tree;
use lightloom_engine::fair::{LinkId, WEIGHT};
use lightloom_engine::kernel::flow::{FlowKernel, Net, Todo};
use lightloom_engine::{
    Cluster, Command, FlowId, HostId, Io, LinkLoad, PortId, Rate, Rejected, Reports, Shape, Time,
};

/// The tree alone.
pub struct TreeKernel {
    tree: Tree,
    failures: Failures,
    cluster: Cluster,
    path: Vec<LinkId>,
}

impl TreeKernel {
    /// Creates the kernel of a resolved tree of `cluster`.
    pub fn new(tree: Tree, failures: Failures, cluster: &Cluster) -> TreeKernel {
        TreeKernel {
            tree,
            failures,
            cluster: *cluster,
            path: Vec::new(),
        }
    }
}

/// The kernel has no events of its own.
#[derive(Clone, Copy, Debug)]
pub enum Never {}

impl FlowKernel for TreeKernel {
    type Event = Never;

    fn begin(&mut self, net: &mut Net, _: &mut Todo<Never>) {
        self.tree.lay(net);
        net.never_list_flows();
    }

    fn arrive(&mut self, flow: FlowId, _: Time, io: &mut Io, net: &mut Net, _: &mut Todo<Never>) {
        let row = flow.index();
        let (src, dst) = (io.flows.src[row], io.flows.dst[row]);
        let (a, b) = (self.cluster.rack_of(src), self.cluster.rack_of(dst));
        self.path.clear();
        self.path.extend(self.tree.from_server(src));
        self.path.extend(self.tree.between(a, b));
        self.path.extend(self.tree.to_server(dst));
        // Within a rack, nothing is shared if servers' links have no limit.
        let limit = self.path.is_empty().then(|| self.tree.rack());
        let bytes = io.flows.bytes[row];
        net.open(flow, bytes, &self.path, WEIGHT, limit);
        if let Some(beyond) = self.tree.beyond(bytes, a, b) {
            net.set_delay(flow, beyond);
        }
    }

    fn handle(&mut self, _: Time, event: Never, _: &mut Io, _: &mut Net, _: &mut Todo<Never>) {
        match event {}
    }

    fn apply(
        &mut self,
        command: Command,
        _: Time,
        net: &mut Net,
        _: &mut Todo<Never>,
    ) -> Result<(), Rejected> {
        for uplinks in self.failures.apply(command)? {
            let (links, up) = self.failures.up(uplinks);
            let both_ways = match uplinks {
                Uplinks::OfRack(rack) => [self.tree.from_rack(rack), self.tree.to_rack(rack)],
                Uplinks::OfPod(pod) => [self.tree.from_pod(pod), self.tree.to_pod(pod)],
            };
            for link in both_ways {
                let rate = self.tree.rate(link).0 as u128 * up as u128 / links as u128;
                net.set_capacity(link, Rate(rate as u64));
            }
        }
        Ok(())
    }
}

impl Reports for TreeKernel {
    fn shape(&self) -> Shape {
        Shape {
            hosts: self.cluster.hosts(),
            racks: self.cluster.racks,
            host_rate: self.cluster.server_rate,
            link_capacity: self.tree.capacity(),
        }
    }

    fn link_loads(&self, carried: &[u64]) -> Vec<LinkLoad> {
        self.tree.loads(carried)
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        self.tree.soonest(src, dst, bytes)
    }

    fn port_rate(&self, tx: PortId) -> Rate {
        self.tree.rate(LinkId(tx.0))
    }
}
