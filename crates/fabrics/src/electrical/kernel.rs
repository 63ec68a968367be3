//! The event kernel of the Clos: packets from station to station.
//!
//! There is one event per packet and hop: the link becomes idle, the packet is at the next station,
//! and both are served at once. A packet's arrival has an event of its own only if the hop has a
//! delay.

use super::bound::Bound;
use super::columns::Columns;
use super::config::ClosConfig;
use super::failures::Failures;
use super::layout::{Layout, NIC_DOWN, NIC_UP};
use lightloom_engine::kernel::event::EventKernel;
use lightloom_engine::{
    Agenda, Command, FlowId, HostId, Io, LinkLoad, PortId, QueuePlace, Rate, Rejected, Reports,
    Shape, Time, Totals, View,
};

/// An event of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A link has sent its packet's last bit.
    Sent {
        /// The link.
        link: u32,
    },
    /// A packet has reached the end of a hop.
    Landed {
        /// Its flow's queue before that hop.
        queue: u32,
        /// Its bytes.
        bytes: u32,
    },
    /// An event that no packet waits for.
    Rare(Rare),
}

/// Rare events. If these were among the others, every packet's event would go through a table of
/// jumps, whose targets the processor predicts worse than one of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rare {
    /// A flow below one rack switch is complete.
    Local {
        /// The flow.
        flow: FlowId,
    },
    /// Links of a station may have been repaired.
    Repaired {
        /// The station.
        station: u32,
    },
}

/// The kernel.
pub struct Clos {
    layout: Layout,
    bound: Bound,
    shape: Shape,
    columns: Columns,
    failures: Failures,
    header: u32,
    /// Bytes that propagate.
    propagating: u64,
    /// Bytes of flows that stay below one rack switch with uncapped servers.
    local: u64,
    packet_hops: u64,
    reorder_peak: u64,
}

type Todo = Agenda<Event>;

impl Clos {
    /// An empty network of a resolved configuration.
    pub fn new(config: &ClosConfig, layout: Layout, bound: Bound) -> Clos {
        let (mtu, header) = (config.mtu.0 as u32, config.header.0 as u32);
        let buffer = config.flow_buffer.unwrap_or(u32::MAX - 1);
        Clos {
            shape: bound.shape(layout.switch_capacity()),
            columns: Columns::new(&layout, mtu, header, buffer),
            failures: Failures::new(layout.wiring(config)),
            layout,
            bound,
            header,
            propagating: 0,
            local: 0,
            packet_hops: 0,
            reorder_peak: 0,
        }
    }

    /// Processes the end of a transmission: the packet continues, and the link takes the next one.
    #[inline]
    fn sent(&mut self, link: u32, now: Time, io: &mut Io, todo: &mut Todo) {
        let (queue, bytes, takes_more) = self.columns.on_link(link);
        let at = self.columns.station_of(queue);
        let station = &mut self.columns.stations[at as usize];
        station.carried += (bytes + self.header) as u64;
        self.packet_hops += 1;
        if station.delay == Time::ZERO {
            self.landed(queue, bytes, now, io, todo);
        } else {
            self.propagating += bytes as u64;
            todo.schedule(now + station.delay, Event::Landed { queue, bytes });
        }
        if takes_more {
            self.serve(at, link, now, io, todo);
        } else {
            self.columns.leave_down(link);
        }
    }

    /// Processes a packet at the end of a hop: it is delivered, put on the next link if one is
    /// idle, or added to its flow's queue.
    #[inline]
    fn landed(&mut self, before: u32, bytes: u32, now: Time, io: &mut Io, todo: &mut Todo) {
        if self.columns.is_last(before) {
            let (flow, overtook) = self.columns.deliver(before, bytes);
            if overtook {
                self.reorder_peak = self.reorder_peak.max(bytes as u64);
            }
            io.deliver(flow, bytes as u64, now);
            return;
        }
        let queue = before + 1;
        // If a link is idle, no waiting packet could be served here, so the flow's own packets wait
        // only for room behind the link.
        if self.columns.room(queue) {
            if let Some(link) = self.columns.take_link(self.columns.station_of(queue)) {
                self.transmit(queue, link, bytes, now, io, todo);
                return;
            }
            self.columns.join_ring(queue);
        }
        self.columns.enqueue(queue, bytes);
    }

    /// Gives an idle link to the flow whose turn it is and whose next queue has
    /// room; flows without room leave the ring until they are recalled.
    #[inline]
    fn serve(&mut self, station: u32, link: u32, now: Time, io: &mut Io, todo: &mut Todo) {
        while let Some(queue) = self.columns.leave_ring(station) {
            if !self.columns.room(queue) {
                continue;
            }
            let bytes = self.columns.dequeue(queue);
            if self.columns.packets(queue) > 0 {
                self.columns.join_ring(queue);
            }
            self.transmit(queue, link, bytes, now, io, todo);
            if self.columns.is_source(queue) {
                if self.columns.take_fresh(queue) {
                    let row = self.columns.row_of(queue);
                    io.start(self.columns.rows[row as usize].flow, now);
                }
                return;
            }
            self.columns.stations[station as usize].queued -= bytes as u64;
            if self.columns.makes_room(queue) {
                self.recall(queue - 1, now, io, todo);
            }
            return;
        }
        self.columns.free_link(station, link);
    }

    /// Processes free space in a queue: the hop before it may serve the flow, on as many links as
    /// are idle.
    fn recall(&mut self, queue: u32, now: Time, io: &mut Io, todo: &mut Todo) {
        if self.columns.packets(queue) == 0 {
            return;
        }
        self.columns.join_ring(queue);
        self.serve_idle(self.columns.station_of(queue), now, io, todo);
    }

    /// Not inlined, so that the path of every packet stays short.
    #[cold]
    #[inline(never)]
    fn handle_rare(&mut self, now: Time, event: Rare, io: &mut Io, todo: &mut Todo) {
        match event {
            Rare::Local { flow } => {
                let bytes = io.flows.bytes[flow.index()];
                self.local -= bytes;
                io.deliver(flow, bytes, now);
            }
            Rare::Repaired { station } => self.serve_idle(station, now, io, todo),
        }
    }

    /// Puts idle links of a station to work.
    fn serve_idle(&mut self, station: u32, now: Time, io: &mut Io, todo: &mut Todo) {
        while self.columns.ring_waits(station) {
            let Some(link) = self.columns.take_link(station) else {
                return;
            };
            self.serve(station, link, now, io, todo);
        }
    }

    #[inline]
    fn transmit(
        &mut self,
        queue: u32,
        link: u32,
        bytes: u32,
        now: Time,
        io: &mut Io,
        todo: &mut Todo,
    ) {
        let wire = (bytes + self.header) as u64;
        let until = if self.columns.is_full(bytes) {
            now + self.columns.stations[self.columns.station_of(queue) as usize].full
        } else {
            now + self.layout.rate_of(link).time_for(wire)
        };
        self.columns.load(link, queue, bytes);
        if let Some(audit) = &mut io.audit {
            audit.transmit(PortId(link), PortId(link), now, until, wire);
        }
        todo.schedule(until, Event::Sent { link });
    }
}

impl EventKernel for Clos {
    type Event = Event;

    fn arrive(&mut self, flow: FlowId, now: Time, io: &mut Io, todo: &mut Todo) {
        let f = flow.index();
        let (src, dst, bytes) = (io.flows.src[f], io.flows.dst[f], io.flows.bytes[f]);
        let path = self.layout.path(src, dst);
        if path.stations().is_empty() {
            io.start(flow, now);
            self.local += bytes;
            let finish = now + self.layout.rack_rate.time_for(bytes) + self.layout.local_delay;
            todo.schedule(finish, Event::Rare(Rare::Local { flow }));
            return;
        }
        let source = self.columns.admit(flow, bytes, &path);
        self.columns.join_ring(source);
        self.serve_idle(path.stations()[0], now, io, todo);
    }

    #[inline]
    fn handle(&mut self, now: Time, event: Event, io: &mut Io, todo: &mut Todo) {
        match event {
            Event::Sent { link } => self.sent(link, now, io, todo),
            Event::Landed { queue, bytes } => {
                self.propagating -= bytes as u64;
                self.landed(queue, bytes, now, io, todo);
            }
            Event::Rare(rare) => self.handle_rare(now, rare, io, todo),
        }
    }

    fn apply(&mut self, command: Command, now: Time, todo: &mut Todo) -> Result<(), Rejected> {
        for uplinks in self.failures.apply(command)? {
            for station in self.layout.stations_of(uplinks) {
                let (first, links) = self.layout.links_of(station);
                for link in 0..links {
                    let down = self.failures.is_down(uplinks, link as u64);
                    self.columns.set_down(station, first + link, down);
                }
                todo.schedule(now, Event::Rare(Rare::Repaired { station }));
            }
        }
        Ok(())
    }

    fn idle(&self) -> bool {
        self.columns.idle() && self.local == 0
    }
}

impl Reports for Clos {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn observe(&self, _: &Io, view: &mut View) {
        let (sources, network) = self.columns.bytes_waiting();
        let switches = |s: &(usize, _)| !matches!(self.layout.tier(s.0 as u32), NIC_UP | NIC_DOWN);
        view.waiting_bytes = sources;
        view.queued_bytes = network;
        view.on_links_bytes = self.columns.bytes_on_links() + self.propagating + self.local;
        view.in_flight_bytes = view.placed_bytes();
        let stations = || self.columns.stations.iter();
        debug_assert_eq!(network, stations().map(|s| s.queued).sum::<u64>());
        view.queued_bytes_worst = stations().map(|s| s.queued).max().unwrap_or(0);
        view.carried_bytes = stations()
            .enumerate()
            .filter(switches)
            .map(|(_, s)| s.carried)
            .sum();
    }

    fn link_loads(&self, _: &[u64]) -> Vec<LinkLoad> {
        let stations = self.columns.stations.iter().enumerate();
        stations
            .map(|(s, station)| self.layout.load(s as u32, station.carried))
            .collect()
    }

    fn totals(&self) -> Totals {
        Totals {
            queue_peak_bytes: self.columns.stations.iter().map(|s| s.peak).max(),
            queue_place: QueuePlace::Port,
            reorder_peak_bytes: Some(self.reorder_peak),
            cell_hops: None,
            packet_hops: Some(self.packet_hops),
            circuit_bytes: None,
        }
    }

    fn settle(&self, io: &mut Io) {
        for f in 0..io.flows.len() {
            if io.flows.delivered[f] > 0 {
                let hops = self.layout.switch_hops(io.flows.src[f], io.flows.dst[f]);
                io.flows.hops[f] = hops as f32;
            }
        }
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        self.bound.soonest(src, dst, bytes)
    }

    fn port_rate(&self, tx: PortId) -> Rate {
        self.layout.rate_of(tx.0)
    }
}
