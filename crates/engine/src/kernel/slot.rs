//! The slot kernel: synchronous slotted fabrics such as Sirius.

use crate::fabric::{Command, Fabric, Rejected, Reports};
use crate::io::Io;
use crate::kernel::delegates::Delegates;
use crate::time::Time;

/// A fabric with slots of equal length. Slot `n` lasts from `n · slot_length` to `(n + 1) ·
/// slot_length`.
pub trait SlotKernel: Reports {
    /// The length of a slot.
    fn slot_length(&self) -> Time;
    /// Runs slot `n`: handles arrivals up to its start, and moves its cells.
    fn slot(&mut self, n: i64, io: &mut Io);
    /// Whether a slot would move nothing without an arrival.
    fn idle(&self) -> bool;
    /// Whether bytes wait that no slot will move before an arrival or a repair. Slots continue, but
    /// a run that drains may end.
    fn stuck(&self) -> bool {
        false
    }
    /// See [`Fabric::apply`].
    fn apply(&mut self, command: Command, now: Time) -> Result<(), Rejected>;
}

/// Drives a [`SlotKernel`]: one call per slot, none for idle stretches.
pub struct Slotted<K> {
    kernel: K,
    next: i64,
    now: Time,
}

impl<K: SlotKernel> Slotted<K> {
    /// The fabric at time zero.
    pub fn new(kernel: K) -> Self {
        Slotted {
            kernel,
            next: 0,
            now: Time::ZERO,
        }
    }

    /// The kernel, for tests.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }
}

impl<K: SlotKernel> Delegates for Slotted<K> {
    type Reporter = K;

    fn reporter(&self) -> &K {
        &self.kernel
    }

    fn reporter_mut(&mut self) -> &mut K {
        &mut self.kernel
    }
}

impl<K: SlotKernel> Fabric for Slotted<K> {
    fn advance(&mut self, to: Time, io: &mut Io) {
        let length = self.kernel.slot_length();
        let end = to.0.div_euclid(length.0);
        while self.next < end && !io.halt.asked() {
            if self.kernel.idle() {
                let wake = io.next_arrival().map_or(end, |t| t.div_ceil(length));
                self.next = self.next.max(wake.min(end));
                if self.next == end {
                    break;
                }
            }
            self.kernel.slot(self.next, io);
            self.next += 1;
        }
        self.now = self.now.max(to);
    }

    fn apply(&mut self, command: Command) -> Result<(), Rejected> {
        self.kernel.apply(command, self.now)
    }

    fn idle(&self) -> bool {
        self.kernel.idle() || self.kernel.stuck()
    }
}
