//! Nights and days: the peer of each rack in a slot, and the window in which the rack sends
//! (§5.2.1).

use super::kernel::{Cx, Event, Mordia, RING};
use crate::tdma::burst::Window;
use crate::tdma::circuits::{Line, Open};
use crate::tdma::days::Begun;
use crate::tdma::rack_edge::Racks;
use lightloom_control::schedule;

impl Mordia {
    /// Ends the day and begins the next slot.
    pub(super) fn night(&mut self, cx: Cx) {
        for line in self.circuits.lines_of(RING) {
            self.close_day(line, cx);
        }
        let (frames, ring) = (&mut self.frames, &mut self.circuits.planes[RING]);
        let begun = ring.turn(cx.now, frames.law.night, |slot| frames.light(slot));
        let Some(begun) = begun else {
            return self.circuits.lines.fill(Line::DARK);
        };
        cx.schedule(begun.times.ends, Event::Night);
        self.begin_day(&begun, cx);
        self.leave_rests(begun.planned(), cx);
    }

    /// Counts the bytes of a flow that the day carried, if the flow continues in a later day.
    fn close_day(&mut self, line: usize, cx: Cx) {
        if let Some((landing, at)) = self.circuits.close_day(line, cx) {
            self.count(landing, at, cx.io);
        }
    }

    /// Gives each rack its frame: its peer and the window in which it sends.
    fn begin_day(&mut self, begun: &Begun, cx: Cx) {
        let rate = self.circuits.wire.rate;
        let room = |window: &Window| rate.bytes_in(window.until - window.from);
        let (slot, light) = (&begun.times, begun.light);
        let mut window = self.frames.window(0, slot, light);
        let mut bytes = room(&window);
        let punctual = self.frames.are_punctual();
        for (rack, &to) in (0..).zip(begun.permutation().unwrap_or_default()) {
            if !punctual && rack > 0 {
                window = self.frames.window(rack, slot, light);
                bytes = room(&window);
            }
            let line = self.circuits.line(RING, rack);
            if to == rack {
                self.circuits.lines[line] = Line::DARK;
                continue;
            }
            self.circuits.lines[line] = Line {
                to,
                free: window.from,
                window,
                room: bytes,
                open: Open::NONE,
            };
            self.serve_line(line, slot.begins, cx);
        }
    }

    /// Allows the demand that was planned for a slot and that its circuits did not carry to cross
    /// the packet switch.
    fn leave_rests(&mut self, slot: &schedule::Slot, cx: Cx) {
        let Some(switch) = &mut self.packet_switch else {
            return;
        };
        switch.end_of_slot(slot, self.circuits.wire.rate);
        for rack in 0..self.circuits.racks {
            self.serve_packet_switch(rack, cx);
        }
    }
}
