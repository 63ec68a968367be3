//! What a driver hands on of its kernel: all that it says of itself.

use crate::fabric::{Circuit, ControlRecord, Reports, Shape, Totals, View};
use crate::ids::{HostId, PortId};
use crate::io::Io;
use crate::refusal::Refusal;
use crate::time::{Rate, Time};

/// A driver, which may know of bytes that its kernel does not.
pub trait Driver: Send {
    /// What it drives.
    type Kernel: Reports;

    /// The kernel.
    fn kernel(&self) -> &Self::Kernel;

    /// The same, to be told something.
    fn kernel_mut(&mut self) -> &mut Self::Kernel;

    /// What the driver sees itself; the kernel adds to it, or corrects it.
    fn observe_own(&self, view: &mut View) {
        let _ = view;
    }

    /// What the driver adds to the kernel's figures.
    fn add_totals(&self, totals: &mut Totals) {
        let _ = totals;
    }

    /// Writes per-flow figures that the driver keeps.
    fn settle_own(&self, io: &mut Io) {
        let _ = io;
    }
}

impl<D: Driver> Reports for D {
    fn shape(&self) -> Shape {
        self.kernel().shape()
    }

    fn observe(&self, io: &Io, view: &mut View) {
        self.observe_own(view);
        self.kernel().observe(io, view)
    }

    fn totals(&self) -> Totals {
        let mut totals = self.kernel().totals();
        self.add_totals(&mut totals);
        totals
    }

    fn settle(&self, io: &mut Io) {
        self.settle_own(io);
        self.kernel().settle(io)
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        self.kernel().soonest(src, dst, bytes)
    }

    fn lit(&self, tx: PortId, rx: PortId, at: Time) -> bool {
        self.kernel().lit(tx, rx, at)
    }

    fn port_rate(&self, tx: PortId) -> Rate {
        self.kernel().port_rate(tx)
    }

    fn circuits(&self, now: Time) -> Vec<Circuit> {
        self.kernel().circuits(now)
    }

    fn lit_for(&self, now: Time) -> Option<Time> {
        self.kernel().lit_for(now)
    }

    fn trouble(&self) -> Option<&Refusal> {
        self.kernel().trouble()
    }

    fn record_control(&mut self, label: &str) {
        self.kernel_mut().record_control(label)
    }

    fn control_record(&mut self) -> Option<ControlRecord> {
        self.kernel_mut().control_record()
    }
}
