//! The loads of links between changes, as the audit records them.

use super::Net;
use crate::audit::Load;
use crate::fair::LinkId;
use crate::ids::PortId;
use crate::io::Io;
use crate::time::{Rate, Time};

/// The load of one link since an instant; kept for the audit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Burden {
    load: u64,
    capacity: u64,
    since: Time,
}

impl Net {
    /// For the audit: the bytes of every link since its last change of load, summed over its flows,
    /// independently of the solver.
    #[cold]
    pub(super) fn record(&mut self, io: &mut Io) {
        let mut loads = vec![0u64; self.kinds.len()];
        for row in self.open_rows() {
            let (rate, path) = self.course(row);
            for link in path {
                loads[link.index()] += rate;
            }
        }
        self.burdens.resize(loads.len(), Burden::default());
        for (l, load) in loads.into_iter().enumerate() {
            let new = Burden {
                load,
                capacity: self.fair.capacity(LinkId(l as u32)).0,
                since: self.now,
            };
            let old = std::mem::replace(&mut self.burdens[l], new);
            let Some(audit) = &mut io.audit else { return };
            if old.since < self.now && old.load > 0 {
                audit.loads.push(Load {
                    link: PortId(l as u32),
                    from: old.since,
                    until: self.now,
                    rate: Rate(old.load),
                    capacity: Rate(old.capacity),
                });
            }
        }
    }
}
