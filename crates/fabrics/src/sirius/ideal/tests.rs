//! SIRIUS (IDEAL), compared with results that can be derived without it;
//! [`crate::sirius::reference`] implements its rules a second time.

mod claims;
mod invariants;

use super::Ideal;
use crate::contract::Site;
use crate::sirius::config::{Mode, SiriusConfig};
use lightloom_engine::kernel::slot::Slotted;
use lightloom_engine::{Cluster, Fabric, Flows, HostId, Io, Nic, Rate, Reports, Time, View};

/// Racks of one server with `base` uplinks of 50 Gb/s each.
fn cluster(racks: u32, base: u64) -> Cluster {
    Cluster {
        racks,
        servers_per_rack: 1,
        server_rate: Rate(50 * base * Rate::GBPS.0),
        nic: Nic::Uncapped,
    }
}

/// Flows by source, destination, bytes and arrival [ns].
fn flows(rows: impl IntoIterator<Item = (u32, u32, u64, i64)>) -> Flows {
    let mut flows = Flows::new();
    for (src, dst, bytes, at) in rows {
        flows.push(HostId(src), HostId(dst), bytes, Time::NS * at);
    }
    flows.sort_by_arrival();
    flows
}

fn fabric(config: &SiriusConfig, cluster: &Cluster, flows: &Flows) -> Slotted<Ideal> {
    let site = Site {
        cluster,
        flows,
        seed: 1,
        threads: 1,
        library: None,
    };
    let derived = config.derive(cluster).unwrap();
    Slotted::new(Ideal::new(config, derived, &site))
}

fn view(fabric: &dyn Fabric, io: &Io) -> View {
    let mut view = View::default();
    fabric.observe(io, &mut view);
    view
}

/// Advances in steps until nothing is left; `check` looks at each step.
fn drain(
    fabric: &mut Slotted<Ideal>,
    io: &mut Io,
    step: Time,
    mut check: impl FnMut(&Slotted<Ideal>, &Io),
) {
    let mut now = Time::ZERO;
    while !(fabric.idle() && io.exhausted()) {
        now += step;
        assert!(now < Time::MS * 100, "nothing moves any more");
        fabric.advance(now, io);
        check(fabric, io);
    }
    fabric.settle(io);
}
