//! Hosts send one flit per cycle while their virtual channel has room.

use super::flit::Flit;
use super::hosts::NONE;
use super::kernel::Now;
use super::network::Network;
use super::packets::{Packet, Way};
use crate::hosts;
use lightloom_engine::Io;

impl Network {
    /// Lets all hosts with packets send.
    pub(super) fn inject(&mut self, now: &mut Now) {
        for word in 0..self.busy_hosts.len() {
            let mut rest = self.busy_hosts[word];
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                if !self.emit(word * 64 + bit as usize, now) {
                    self.busy_hosts[word] &= !(1 << bit);
                }
            }
        }
    }

    /// Lets a host send a flit if it can. Returns whether it might send one in the next cycle.
    fn emit(&mut self, host: usize, now: &mut Now) -> bool {
        let mut tag = NONE;
        if self.sending[host].packet == NONE {
            if !self.begin(host, now) {
                return false;
            }
            tag = self.sending[host].packet;
        }
        let channel = self.host_channel(host);
        let sending = &mut self.sending[host];
        let number = sending.vc as usize;
        let credits = &mut self.credits[channel << self.bits.vc | number];
        if *credits == 0 {
            return false;
        }
        *credits -= 1;
        let more = *credits > 0;
        sending.flits -= 1;
        let ended = sending.flits == 0;
        if ended {
            sending.packet = NONE;
        }
        let flit = Flit {
            to: self.peer[channel] << self.bits.vc | number as u32,
            packet: tag,
        };
        self.sent[channel] += 1;
        self.flits.push(0, now.cycle, flit);
        match ended {
            true => self.hosts.front(host).is_some(),
            false => more,
        }
    }

    /// Lets a host begin its next packet, if there is one and it has room.
    fn begin(&mut self, host: usize, now: &mut Now) -> bool {
        let Some(hosts::Packet { flow, bytes }) = self.hosts.front(host) else {
            return false;
        };
        let flits = (bytes as u64 + self.header).div_ceil(self.flit_bytes) as u16;
        let Some(vc) = self.roomiest(host, if self.whole { flits } else { 1 }) else {
            return false;
        };
        now.io.start(flow, now.at);
        let (router, terminal) = self.destination(now.io, flow.index());
        let packet = self.packets.add(Packet {
            flow,
            bytes: bytes as u16,
            flits,
            router,
            terminal,
            way: Way::Undecided,
            hops: 0,
            middle: 0,
        });
        self.hosts.pop(host, bytes);
        self.counters.inside += bytes as u64;
        let sending = &mut self.sending[host];
        (sending.packet, sending.flits, sending.vc) = (packet, flits, vc);
        sending.turn = (vc + 1) & 63;
        true
    }

    fn destination(&self, io: &Io, flow: usize) -> (u32, u8) {
        let host = io.flows.dst[flow].index();
        let c = self.topology.concentration;
        ((host / c) as u32, (host % c) as u8)
    }

    /// The virtual channel of a host's wire with most credits, if it has at least `least`; of
    /// equals the next in turn.
    fn roomiest(&self, host: usize, least: u16) -> Option<u8> {
        let first = self.host_channel(host) << self.bits.vc;
        let vcs = self.classes[0].count_ones() as usize;
        let turn = self.sending[host].turn as usize;
        let credits = |v: usize| self.credits[first | v];
        let mut best: Option<usize> = None;
        for v in (0..vcs).map(|k| (turn + k) % vcs) {
            if credits(v) >= least && best.is_none_or(|b| credits(v) > credits(b)) {
                best = Some(v);
            }
        }
        best.map(|v| v as u8)
    }
}
