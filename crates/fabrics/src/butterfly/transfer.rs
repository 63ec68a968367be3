//! Flits and credits that arrive at the ends of wires, and those that leave on wires.

use super::flit::Flit;
use super::hosts::NONE;
use super::kernel::{Event, Now};
use super::network::{members, Network, WAITS};
use lightloom_engine::PortId;

impl Network {
    /// Takes the flits and credits that reach the end of their wire and pipeline in this cycle.
    pub(super) fn receive(&mut self, cycle: u64) {
        for line in 0..self.flits.count() {
            while let Some(flit) = self.flits.pop(line, cycle) {
                self.land(flit);
            }
            while let Some(vc) = self.returning.pop(line, cycle) {
                self.credit(vc as usize);
            }
        }
    }

    /// Puts a flit that has arrived into the buffer of its input.
    #[inline]
    fn land(&mut self, flit: Flit) {
        let vc = flit.to as usize;
        let (channel, number) = self.bits.parts(vc);
        let (router, _) = self.bits.ends(channel);
        self.held[router] += 1;
        self.counters.held(self.held[router]);
        self.busy_routers[router / 64] |= 1 << (router % 64);
        let lane = &mut self.lanes[vc];
        lane.buffered += 1;
        if flit.packet == NONE {
            if lane.vc != WAITS {
                self.offer(vc, channel, number);
            }
            return;
        }
        let place = self.chains.add(flit.packet);
        lane.packets += 1;
        let first = lane.packets == 1;
        match first {
            true => lane.first = place,
            false => self.chains.link(lane.last, place),
        }
        lane.last = place;
        if first {
            self.route(vc);
        }
    }

    /// Marks an input's virtual channel as ready if it has a flit, an allocated virtual channel,
    /// and room at the other end.
    #[inline]
    fn offer(&mut self, vc: usize, channel: usize, number: usize) {
        let lane = self.lanes[vc];
        let (router, port) = self.bits.ends(channel);
        if self.room(router, lane.output as usize, lane.vc as usize) > 0 {
            self.ready[channel] |= 1 << number;
            self.ready_ports[router] |= 1 << port;
        }
    }

    /// Credits of an output's virtual channel; terminals always have room.
    #[inline(always)]
    pub(super) fn room(&self, router: usize, output: usize, vc: usize) -> u16 {
        if output < self.topology.concentration {
            return u16::MAX;
        }
        self.credits[(router << self.bits.port | output) << self.bits.vc | vc]
    }

    /// Returns a credit to a router's output, or to a host's.
    #[inline]
    fn credit(&mut self, vc: usize) {
        self.credits[vc] += 1;
        let (channel, _) = self.bits.parts(vc);
        if let Some(host) = channel.checked_sub(self.host_channel(0)) {
            self.busy_hosts[host / 64] |= 1 << (host % 64);
            return;
        }
        self.queue[channel] -= 1;
        let holder = self.holder[vc] as usize;
        if self.credits[vc] == 1 && holder != NONE as usize && self.lanes[holder].buffered > 0 {
            let (input, number) = self.bits.parts(holder);
            let (router, port) = self.bits.ends(input);
            self.ready[input] |= 1 << number;
            self.ready_ports[router] |= 1 << port;
            self.busy_routers[router / 64] |= 1 << (router % 64);
        }
    }

    /// Moves the first flit of an input's virtual channel through the switch, onto its wire or into
    /// its output's queue.
    pub(super) fn send<const QUEUED: bool>(&mut self, vc: usize, now: &mut Now) {
        let (channel, number) = self.bits.parts(vc);
        let (router, port) = self.bits.ends(channel);
        let lane = &mut self.lanes[vc];
        lane.buffered -= 1;
        lane.left -= 1;
        let (tag, left, spent) = (lane.tag, lane.left, lane.buffered == 0);
        lane.tag = NONE;
        let (output, held) = (lane.output as usize, lane.vc as usize);
        let out = router << self.bits.port | output;
        self.counters.flit_hops += 1;
        let leaves = output >= self.topology.concentration;
        self.queue[out] -= !leaves as u32;
        let full = if QUEUED {
            self.enqueue(vc, out, tag)
        } else {
            self.held[router] -= 1;
            self.sent[out] += 1;
            self.audit(router, output, now);
            leaves && self.depart(out, held, tag, now.cycle)
        };
        let back = (self.peer[channel] as usize) << self.bits.vc | number;
        self.returning
            .push(self.line[channel] as usize, now.cycle, back as u32);
        if left == 0 {
            self.release::<QUEUED>(vc, out, now);
        } else if !(spent || full) {
            return;
        }
        self.ready[channel] &= !(1 << number);
        if self.ready[channel] == 0 {
            self.ready_ports[router] &= !(1 << port);
        }
    }

    /// Sends a flit to the next router. Returns whether its virtual channel has no room for another
    /// flit.
    #[inline]
    fn depart(&mut self, out: usize, number: usize, packet: u32, cycle: u64) -> bool {
        let (flit, full) = self.address(out, number, packet);
        self.flits.push(self.line[out] as usize, cycle, flit);
        full
    }

    /// Takes a credit of an output's virtual channel for a flit. Returns the flit with its
    /// destination, and whether there is no room for another.
    #[inline(always)]
    pub(super) fn address(&mut self, out: usize, number: usize, packet: u32) -> (Flit, bool) {
        let (here, there) = (
            out << self.bits.vc,
            (self.peer[out] as usize) << self.bits.vc,
        );
        let credits = &mut self.credits[here | number];
        *credits -= 1;
        let to = (there | number) as u32;
        (Flit { to, packet }, *credits == 0)
    }

    /// Processes the departure of a packet's last flit: frees its virtual channel, and makes the
    /// packet behind it the first one.
    fn release<const QUEUED: bool>(&mut self, vc: usize, out: usize, now: &mut Now) {
        let lane = &mut self.lanes[vc];
        let (packet, next) = self.chains.remove(lane.first);
        let held = lane.vc;
        lane.vc = WAITS;
        lane.first = next;
        lane.packets -= 1;
        let more = lane.packets > 0;
        self.free[out] |= 1 << held;
        self.holder[out << self.bits.vc | held as usize] = NONE;
        self.counters.packet_hops += 1;
        let (_, output) = self.bits.ends(out);
        if !QUEUED && output < self.topology.concentration {
            self.eject(packet, now);
        }
        if more {
            self.route(vc);
        }
    }

    /// Sends the last flit of a packet to its host.
    #[inline]
    pub(super) fn eject(&self, packet: u32, now: &mut Now) {
        let at = now.at + self.ejection;
        now.todo.append(0, at, Event::Delivered { packet });
    }

    /// Records a flit on a link.
    #[inline]
    pub(super) fn audit(&self, router: usize, output: usize, now: &mut Now) {
        let Some(audit) = &mut now.io.audit else {
            return;
        };
        let t = &self.topology;
        let tx = router * t.radix + output;
        let rx = if output < t.concentration {
            t.routers * t.radix + router * t.concentration + output
        } else {
            let peer = self.peer[router << self.bits.port | output] as usize;
            let (to, port) = self.bits.ends(peer);
            to * t.radix + port
        };
        let (tx, rx) = (PortId(tx as u32), PortId(rx as u32));
        audit.transmit(tx, rx, now.at, now.at + self.cycle, self.flit_bytes);
    }
}

/// The part behind the crossbar, for routers with an internal speedup.
impl Network {
    /// Moves the first flit of an input's virtual channel into its output's queue. Returns whether
    /// its virtual channel has no room for another flit.
    #[inline]
    pub(super) fn enqueue(&mut self, vc: usize, out: usize, tag: u32) -> bool {
        let lane = self.lanes[vc];
        let leaves = lane.output as usize >= self.topology.concentration;
        let (flit, full) = match leaves {
            true => self.address(out, lane.vc as usize, tag),
            // The last flit reports the packet to its host.
            false if lane.left == 0 => {
                let packet = self.chains.packet(lane.first);
                (Flit { to: NONE, packet }, false)
            }
            false => (Flit::NOTHING, false),
        };
        self.output_queues.push(out, flit);
        full
    }

    /// Sends a flit from every output of a router that has one.
    pub(super) fn drain(&mut self, router: usize, now: &mut Now) {
        for output in members(self.output_queues.waiting(router)) {
            let out = router << self.bits.port | output;
            let flit = self.output_queues.pop(out);
            self.held[router] -= 1;
            self.sent[out] += 1;
            self.audit(router, output, now);
            if output >= self.topology.concentration {
                self.flits.push(self.line[out] as usize, now.cycle, flit);
            } else if flit.packet != NONE {
                self.eject(flit.packet, now);
            }
        }
    }
}
