//! Routers, hosts and wires of the reference, and the paths of packets.

use super::router::{Asks, Router, Strength};
use super::{Flit, Packet};
use crate::butterfly::config::{ButterflyConfig, FlowControl, Routing};
use crate::Discipline;
use lightloom_engine::{Flows, Length, Stream, Time};
use std::collections::VecDeque;

/// Items on a wire, each with the cycle in which it reaches the end.
type Wire<T> = VecDeque<(u64, T)>;

/// The end of a wire: a router's port, or for credits a host.
#[derive(Clone, Copy, Debug)]
enum End {
    Port(usize, usize),
    Host(usize),
}

/// The packet that a host is sending, and its view of its wire.
#[derive(Clone, Debug)]
struct Host {
    /// Flows, and bytes of each that have not been sent.
    waiting: VecDeque<(usize, u64)>,
    /// A packet, its remaining flits, and its virtual channel.
    sending: Option<(usize, usize, usize)>,
    credits: Vec<usize>,
    next: usize,
}

/// The network.
pub struct Reference {
    config: ButterflyConfig,
    strength: Strength,
    routers: Vec<Router>,
    hosts: Vec<Host>,
    /// Wires by length: hosts' own, then by distances between neighbours.
    flits: Vec<Wire<(usize, usize, usize, Flit)>>,
    credits: Vec<Wire<(End, usize)>>,
    packets: Vec<Packet>,
    random: Stream,
    cycle: Time,
    /// Start and finish of each flow.
    pub start: Vec<Time>,
    pub finish: Vec<Time>,
    pub routers_visited: Vec<u64>,
    delivered: Vec<u64>,
}

impl Reference {
    /// Creates the network of a resolved configuration, for flows of some hosts.
    pub fn new(config: &ButterflyConfig, hosts: usize, flows: &Flows, seed: u64) -> Reference {
        let c = config.hosts_per_router() as usize;
        let strength = Strength {
            vcs: config.vcs as usize,
            depth: config.buffer() as usize,
            speedup: config.speedup as usize,
            queue: config.output_buffer.unwrap_or(0) as usize,
            inputs_each: config.input_speedup as usize,
            rounds: config.allocator_iterations as usize,
            whole_packets: config.flow_control == FlowControl::VirtualCutThrough,
            transit_first: config.routing != Routing::DimensionOrder,
            hosts: c,
        };
        let ports = c + config
            .sizes()
            .iter()
            .map(|&k| k as usize - 1)
            .sum::<usize>();
        let host = Host {
            waiting: VecDeque::new(),
            sending: None,
            credits: vec![strength.depth; strength.vcs],
            next: 0,
        };
        let lengths = *config.sizes().iter().max().expect("a dimension") as usize;
        Reference {
            routers: vec![Router::new(ports, &strength); hosts / c],
            hosts: vec![host; hosts],
            flits: vec![VecDeque::new(); lengths],
            credits: vec![VecDeque::new(); lengths],
            packets: Vec::new(),
            random: Stream::new(seed, "flattened-butterfly.intermediate", 0),
            cycle: Time(
                8_000 * config.flit.0 as i64 / (config.line_rate().0 as i64 / 1_000_000_000),
            ),
            start: vec![Time::NEVER; flows.len()],
            finish: vec![Time::NEVER; flows.len()],
            routers_visited: vec![0; flows.len()],
            delivered: vec![0; flows.len()],
            config: config.clone(),
            strength,
        }
    }

    /// Runs until everything is delivered, for at most `cycles` cycles.
    pub fn run(&mut self, flows: &Flows, cycles: u64) {
        let mut arrived = 0;
        for now in 0..cycles {
            while arrived < flows.len() && flows.arrival[arrived] <= self.cycle * now as i64 {
                self.admit(arrived, flows);
                arrived += 1;
            }
            self.receive(now);
            for router in 0..self.routers.len() {
                for _ in 0..self.strength.speedup {
                    self.routers[router].give_channels(&self.strength);
                    self.switch(router, now);
                }
                self.leave(router, now, flows);
            }
            for host in 0..self.hosts.len() {
                self.inject(host, now, flows);
            }
            if arrived == flows.len() && self.finish.iter().all(|&t| t != Time::NEVER) {
                return;
            }
        }
    }

    /// Appends a flow to the queue of its host.
    fn admit(&mut self, flow: usize, flows: &Flows) {
        let host = flows.src[flow].index();
        let waiting = &mut self.hosts[host].waiting;
        waiting.push_back((flow, flows.bytes[flow]));
    }

    /// Cycles on a wire of that length and through the pipeline behind it, and back.
    fn cycles(&self, line: usize) -> (u64, u64) {
        let wire = match line {
            0 => self.config.host_wire,
            steps => Length(self.config.spacing.0 * steps as u64),
        };
        // 5 ns per metre are 5 ps per millimetre.
        let whole = |extra: Time| {
            let ps = wire.0 as i64 * 5 + extra.0;
            ((ps + self.cycle.0 - 1) / self.cycle.0) as u64
        };
        let there = 1 + whole(self.config.router_latency);
        (there, whole(self.config.credit_latency).max(1))
    }

    /// Takes flits and credits off the ends of wires.
    fn receive(&mut self, now: u64) {
        for line in 0..self.flits.len() {
            while self.flits[line].front().is_some_and(|f| f.0 == now) {
                let (_, (router, port, vc, flit)) = self.flits[line].pop_front().expect("one");
                self.routers[router].lanes[port][vc].buffer.push_back(flit);
                self.route(router, port, vc);
            }
            while self.credits[line].front().is_some_and(|f| f.0 == now) {
                match self.credits[line].pop_front().expect("one").1 {
                    (End::Host(host), vc) => self.hosts[host].credits[vc] += 1,
                    (End::Port(router, port), vc) => {
                        self.routers[router].outputs[port].credits[vc] += 1
                    }
                }
            }
        }
    }

    /// Moves flits through the switch of a router, which frees places in buffers.
    fn switch(&mut self, router: usize, now: u64) {
        let mut matched = self.routers[router].unmatched(&self.strength);
        for round in 0..self.strength.rounds {
            let first = round == 0;
            let winners = self.routers[router].round(&self.strength, &mut matched, first);
            for (port, vc) in winners {
                let (line, end) = self.wire(router, port);
                let back = now + self.cycles(line).1;
                self.credits[line].push_back((back, (end, vc)));
                if self.routers[router].cross(port, vc) {
                    self.route(router, port, vc);
                }
            }
        }
    }

    /// Lets each output send a flit.
    fn leave(&mut self, router: usize, now: u64, flows: &Flows) {
        for port in 0..self.routers[router].outputs.len() {
            let Some((flit, vc)) = self.routers[router].outputs[port].queue.pop_front() else {
                continue;
            };
            if let (line, End::Port(to, there)) = self.wire(router, port) {
                let due = now + self.cycles(line).0;
                self.flits[line].push_back((due, (to, there, vc, flit)));
            } else if flit.last {
                let wire = Time(self.config.host_wire.0 as i64 * 5);
                let at = self.cycle * (now as i64 + 1) + wire;
                let Packet {
                    flow,
                    bytes,
                    routers,
                    ..
                } = self.packets[flit.packet];
                self.delivered[flow] += bytes;
                self.routers_visited[flow] += bytes * routers;
                if self.delivered[flow] == flows.bytes[flow] {
                    self.finish[flow] = at;
                }
            }
        }
    }

    /// Lets a host send a flit if it can.
    fn inject(&mut self, host: usize, now: u64, flows: &Flows) {
        if self.hosts[host].sending.is_none() && !self.begin(host, now, flows) {
            return;
        }
        let (packet, left, vc) = self.hosts[host].sending.expect("a packet");
        if self.hosts[host].credits[vc] == 0 {
            return;
        }
        self.hosts[host].credits[vc] -= 1;
        self.hosts[host].sending = (left > 1).then_some((packet, left - 1, vc));
        let flit = Flit {
            packet,
            first: left == self.packets[packet].flits,
            last: left == 1,
        };
        let (router, port) = self.of(host);
        let due = now + self.cycles(0).0;
        self.flits[0].push_back((due, (router, port, vc, flit)));
    }

    /// Lets a host begin a packet on the virtual channel with most room.
    fn begin(&mut self, host: usize, now: u64, flows: &Flows) -> bool {
        let Some(&(flow, left)) = self.hosts[host].waiting.front() else {
            return false;
        };
        let bytes = left.min(self.config.packet.0);
        let flits = (bytes + self.config.header.0).div_ceil(self.config.flit.0) as usize;
        let Host { credits, next, .. } = &self.hosts[host];
        let need = if self.strength.whole_packets {
            flits
        } else {
            1
        };
        let most = *credits.iter().max().expect("a virtual channel");
        if most < need {
            return false;
        }
        let turns = (0..credits.len()).map(|k| (next + k) % credits.len());
        let vc = { turns }.find(|&v| credits[v] == most).expect("one");
        let host = &mut self.hosts[host];
        host.waiting.pop_front();
        match (left - bytes, self.config.discipline) {
            (0, _) => {}
            (rest, Discipline::Fair) => host.waiting.push_back((flow, rest)),
            (rest, Discipline::Fifo) => host.waiting.push_front((flow, rest)),
        }
        host.next = vc + 1;
        host.sending = Some((self.packets.len(), flits, vc));
        self.start[flow] = self.start[flow].min(self.cycle * now as i64);
        self.packets.push(Packet {
            flow,
            to: flows.dst[flow].index(),
            flits,
            bytes,
            middle: None,
            decided: false,
            inward: false,
            routers: 0,
        });
        true
    }

    /// Router and port of a host.
    fn of(&self, host: usize) -> (usize, usize) {
        (host / self.strength.hosts, host % self.strength.hosts)
    }

    /// Coordinates of a router.
    fn place(&self, router: usize) -> Vec<usize> {
        let mut rest = router;
        let mut of = |&size: &u32| {
            let x = rest % size as usize;
            rest /= size as usize;
            x
        };
        self.config.sizes().iter().map(&mut of).collect()
    }

    /// A port's wire: the index of its length, and its other end.
    fn wire(&self, router: usize, port: usize) -> (usize, End) {
        if port < self.strength.hosts {
            return (0, End::Host(router * self.strength.hosts + port));
        }
        for other in (0..self.routers.len()).filter(|&r| r != router) {
            if self.port_to(router, other) == Some(port) && self.wires(router, other) == 1 {
                let back = self.port_to(other, router).expect("two ends");
                let (a, b) = (self.place(router), self.place(other));
                let steps = a.iter().zip(&b).map(|(x, y)| x.abs_diff(*y)).sum();
                return (steps, End::Port(other, back));
            }
        }
        unreachable!("every port has a wire")
    }

    /// Number of wires on the shortest path.
    fn wires(&self, a: usize, b: usize) -> usize {
        let (a, b) = (self.place(a), self.place(b));
        a.iter().zip(&b).filter(|(x, y)| x != y).count()
    }

    /// The port towards another router: in the first dimension that differs the port of
    /// the one with its coordinate, of all others in order.
    fn port_to(&self, router: usize, to: usize) -> Option<usize> {
        let (a, b) = (self.place(router), self.place(to));
        let d = (0..a.len()).find(|&d| a[d] != b[d])?;
        let before: usize = self.config.sizes()[..d]
            .iter()
            .map(|&k| k as usize - 1)
            .sum();
        let others = (0..b[d]).filter(|&x| x != a[d]).count();
        Some(self.strength.hosts + before + others)
    }

    /// Routes the first packet of a virtual channel unless a packet of it has an output already.
    fn route(&mut self, router: usize, port: usize, vc: usize) {
        let lane = &self.routers[router].lanes[port][vc];
        let front = lane.buffer.front().filter(|_| lane.asks.is_none());
        let Some(flit) = front.filter(|flit| flit.first).copied() else {
            return;
        };
        let (last, terminal) = self.of(self.packets[flit.packet].to);
        if !self.packets[flit.packet].decided {
            self.decide(router, flit.packet, last);
        }
        let packet = &mut self.packets[flit.packet];
        packet.inward |= packet.middle == Some(router);
        packet.routers += 1;
        let (flits, middle) = (packet.flits, packet.middle.filter(|_| !packet.inward));
        let detour = packet.middle.is_some();
        let ahead = self.port_to(router, middle.unwrap_or(last));
        let half = self.strength.vcs / 2;
        let may = match (ahead, self.config.routing) {
            (None, _) | (_, Routing::DimensionOrder) => 0..self.strength.vcs,
            _ if middle.is_some() => 0..half,
            _ if detour => half..self.strength.vcs,
            _ if port < self.strength.hosts || vc < half => 0..self.strength.vcs,
            _ => half..self.strength.vcs,
        };
        self.routers[router].lanes[port][vc].asks = Some(Asks {
            output: ahead.unwrap_or(terminal),
            may: may.collect(),
            left: flits,
            holds: None,
        });
    }

    /// Chooses a packet's path at its first router.
    fn decide(&mut self, router: usize, packet: usize, last: usize) {
        self.packets[packet].decided = true;
        if self.config.routing == Routing::DimensionOrder {
            return;
        }
        let middle = self.random.below(self.routers.len() as u32) as usize;
        if self.config.routing == Routing::Valiant || self.is_shorter(router, middle, last) {
            self.packets[packet].middle = Some(middle);
        }
    }

    /// UGAL: whether the queue on the detour, times its wires, is shorter.
    fn is_shorter(&self, router: usize, middle: usize, last: usize) -> bool {
        let ports = (self.port_to(router, last), self.port_to(router, middle));
        let (Some(direct), Some(around)) = ports else {
            return false;
        };
        let wires = self.wires(router, middle) + self.wires(middle, last);
        let bias = (self.config.ugal_bias.0 / self.config.flit.0) as usize;
        let least = self.queue(router, direct) * self.wires(router, last);
        least > self.queue(router, around) * wires + bias
    }

    /// Flits that are routed to an output and wait, and credits that it has used.
    fn queue(&self, router: usize, port: usize) -> usize {
        let router = &self.routers[router];
        let asks = router
            .lanes
            .iter()
            .flatten()
            .filter_map(|l| l.asks.as_ref());
        let wait: usize = asks.filter(|a| a.output == port).map(|a| a.left).sum();
        let used = |c: &usize| self.strength.depth - c;
        wait + router.outputs[port].credits.iter().map(used).sum::<usize>()
    }
}
