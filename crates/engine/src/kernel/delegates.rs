//! Delegation of reports to a part: a driver delegates them to its kernel, and similar kernels to a
//! common part.

use crate::fabric::{Circuit, ControlRecord, LinkLoad, Reports, Shape, Totals, View};
use crate::ids::{HostId, PortId};
use crate::io::Io;
use crate::refusal::Refusal;
use crate::time::{Rate, Time};

/// An object that delegates its reports to a part, and that may add bytes that the part does not
/// count.
pub trait Delegates: Send {
    /// The part that reports.
    type Reporter: Reports;

    /// The part that makes the reports.
    fn reporter(&self) -> &Self::Reporter;

    /// Mutable access to the part.
    fn reporter_mut(&mut self) -> &mut Self::Reporter;

    /// Adds to the part's view, or corrects it.
    fn observe_own(&self, view: &mut View) {
        let _ = view;
    }

    /// Adds values to the part's totals.
    fn add_totals(&self, totals: &mut Totals) {
        let _ = totals;
    }

    /// Payload that each link has carried [B]; empty if this object does not count it.
    fn carried(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Writes per-flow figures that the object itself keeps.
    fn settle_own(&self, io: &mut Io) {
        let _ = io;
    }
}

impl<D: Delegates> Reports for D {
    fn shape(&self) -> Shape {
        self.reporter().shape()
    }

    fn observe(&self, io: &Io, view: &mut View) {
        self.observe_own(view);
        self.reporter().observe(io, view)
    }

    fn totals(&self) -> Totals {
        let mut totals = self.reporter().totals();
        self.add_totals(&mut totals);
        totals
    }

    fn settle(&self, io: &mut Io) {
        self.settle_own(io);
        self.reporter().settle(io)
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        self.reporter().soonest(src, dst, bytes)
    }

    fn lit(&self, tx: PortId, rx: PortId, at: Time) -> bool {
        self.reporter().lit(tx, rx, at)
    }

    fn port_rate(&self, tx: PortId) -> Rate {
        self.reporter().port_rate(tx)
    }

    fn circuits(&self, now: Time) -> Vec<Circuit> {
        self.reporter().circuits(now)
    }

    fn link_loads(&self, carried: &[u64]) -> Vec<LinkLoad> {
        let own = self.carried();
        let known = if own.is_empty() { carried } else { &own };
        self.reporter().link_loads(known)
    }

    fn lit_for(&self, now: Time) -> Option<Time> {
        self.reporter().lit_for(now)
    }

    fn trouble(&self) -> Option<&Refusal> {
        self.reporter().trouble()
    }

    fn record_control(&mut self, label: &str) {
        self.reporter_mut().record_control(label)
    }

    fn control_record(&mut self) -> Option<ControlRecord> {
        self.reporter_mut().control_record()
    }
}
