//! The event kernel: it simulates the cycles in which anything moves.
//!
//! All routers and hosts share a clock. A flit passes its wire and the next router's pipeline in a
//! whole number of cycles. Cycles are therefore the events, and [`Lines`] hold the flits on wires.
//! Cycles in which nothing can happen are skipped. Within a cycle routers do not depend on each
//! other, so their order does not matter.
//!
//! [`Lines`]: super::lines::Lines

use super::lines::NEVER;
use super::network::Network;
use lightloom_engine::kernel::event::EventKernel;
use lightloom_engine::{
    Agenda, Command, FlowId, HostId, Io, LinkLoad, PortId, QueuePlace, Rate, Rejected, Reports,
    Shape, Time, Totals, View,
};

/// An event of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A cycle.
    Cycle,
    /// The last flit of a packet has reached its host.
    Delivered {
        /// The packet.
        packet: u32,
    },
}

/// The time, and the state that may be changed.
pub(super) struct Now<'a> {
    pub cycle: u64,
    pub at: Time,
    pub io: &'a mut Io,
    pub todo: &'a mut Agenda<Event>,
}

impl Network {
    /// Schedules a cycle in which a flit may move.
    fn wake(&mut self, cycle: u64, todo: &mut Agenda<Event>) {
        if cycle < self.next {
            self.next = cycle;
            todo.schedule(self.at(cycle), Event::Cycle);
        }
    }

    /// Simulates one cycle; with output queues if the switch has a speedup.
    fn step<const QUEUED: bool>(&mut self, now: &mut Now) {
        self.receive(now.cycle);
        for word in 0..self.busy_routers.len() {
            let mut rest = self.busy_routers[word];
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                let router = word * 64 + bit as usize;
                for _ in 0..if QUEUED { self.speedup } else { 1 } {
                    if self.head_ports[router] != 0 {
                        self.allocate(router);
                    }
                    if self.ready_ports[router] != 0 {
                        self.switch::<QUEUED>(router, now);
                    }
                }
                if QUEUED {
                    self.drain(router, now);
                }
                let queued = QUEUED && self.output_queues.waiting(router) != 0;
                if self.ready_ports[router] | self.head_ports[router] == 0 && !queued {
                    self.busy_routers[word] &= !(1 << bit);
                }
            }
        }
        self.inject(now);
    }

    /// The next cycle in which any flit or credit can move.
    fn upcoming(&self, cycle: u64) -> u64 {
        let busy = |set: &[u64]| set.iter().any(|&w| w != 0);
        if busy(&self.busy_routers) || busy(&self.busy_hosts) {
            return cycle + 1;
        }
        self.flits.next().min(self.returning.next())
    }
}

/// Loads of links, in whole flits.
impl Network {
    /// The link from a host to its router.
    fn load_from_host(&self, host: usize) -> LinkLoad {
        LinkLoad {
            tier: "server to router",
            from: Some(host as u32),
            to: Some(self.topology.router(host) as u32),
            links: 1,
            rate: self.bound.rate(),
            bytes: self.sent[self.host_channel(host)] * self.flit_bytes,
        }
    }

    /// The link from a router's port to a host or another router.
    fn load_of_port(&self, router: usize, port: usize) -> LinkLoad {
        let (tier, to) = match port < self.topology.concentration {
            true => (
                "router to server",
                router * self.topology.concentration + port,
            ),
            false => (
                "router to router",
                self.topology.far_end(router, port).router,
            ),
        };
        LinkLoad {
            tier,
            from: Some(router as u32),
            to: Some(to as u32),
            links: 1,
            rate: self.bound.rate(),
            bytes: self.sent[router << self.bits.port | port] * self.flit_bytes,
        }
    }
}

impl EventKernel for Network {
    type Event = Event;

    fn arrive(&mut self, flow: FlowId, at: Time, io: &mut Io, todo: &mut Agenda<Event>) {
        let host = self.hosts.admit(flow, io);
        self.busy_hosts[host / 64] |= 1 << (host % 64);
        let cycle = at.div_ceil(self.cycle) as u64;
        self.wake(cycle.max(self.from), todo);
    }

    fn handle(&mut self, at: Time, event: Event, io: &mut Io, todo: &mut Agenda<Event>) {
        match event {
            Event::Delivered { packet } => {
                let packet = self.packets.remove(packet);
                self.counters.delivered(&packet);
                io.deliver(packet.flow, packet.bytes as u64, at);
            }
            // If a cycle was moved forward, its old event remains and is ignored.
            Event::Cycle if self.next == NEVER || at != self.at(self.next) => {}
            Event::Cycle => {
                let cycle = self.next;
                let mut now = Now {
                    cycle,
                    at,
                    io,
                    todo,
                };
                match self.speedup {
                    1 => self.step::<false>(&mut now),
                    _ => self.step::<true>(&mut now),
                }
                (self.next, self.from) = (NEVER, cycle + 1);
                let upcoming = self.upcoming(cycle);
                self.wake(upcoming, todo);
            }
        }
    }

    fn apply(&mut self, _: Command, _: Time, _: &mut Agenda<Event>) -> Result<(), Rejected> {
        Err(Rejected::no_failures("flattened-butterfly"))
    }

    fn idle(&self) -> bool {
        self.hosts.bytes + self.counters.inside == 0
    }
}

impl Reports for Network {
    fn shape(&self) -> Shape {
        self.bound.shape()
    }

    fn observe(&self, _: &Io, view: &mut View) {
        let bytes = |flits: u64| flits * self.flit_bytes;
        view.waiting_bytes = self.hosts.bytes;
        // The last flit of a packet may be short; the missing bytes are subtracted from the queues.
        let held = bytes(self.held.iter().map(|&f| f as u64).sum());
        view.queued_bytes = held.min(self.counters.inside);
        view.on_links_bytes = self.counters.inside - view.queued_bytes;
        let worst = bytes(self.held.iter().copied().max().unwrap_or(0) as u64);
        view.queued_bytes_worst = worst.min(view.queued_bytes);
        view.in_flight_bytes = view.placed_bytes();
        view.carried_bytes = bytes(self.counters.flit_hops);
    }

    fn link_loads(&self, _: &[u64]) -> Vec<LinkLoad> {
        let of_hosts = (0..self.sending.len()).map(|host| self.load_from_host(host));
        let of_router =
            |router| (0..self.topology.radix).map(move |port| self.load_of_port(router, port));
        of_hosts
            .chain((0..self.topology.routers).flat_map(of_router))
            .collect()
    }

    fn totals(&self) -> Totals {
        Totals {
            queue_peak_bytes: Some(self.counters.peak as u64 * self.flit_bytes),
            queue_place: QueuePlace::Router,
            reorder_peak_bytes: None,
            cell_hops: Some(self.counters.flit_hops),
            packet_hops: Some(self.counters.packet_hops),
            circuit_bytes: None,
        }
    }

    fn settle(&self, io: &mut Io) {
        self.counters.settle(io);
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        self.bound.soonest(src, dst, bytes)
    }

    fn lit(&self, tx: PortId, rx: PortId, _: Time) -> bool {
        self.bound.lit(tx, rx)
    }

    fn port_rate(&self, _: PortId) -> Rate {
        self.bound.rate()
    }
}
