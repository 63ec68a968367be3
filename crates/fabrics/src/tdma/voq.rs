//! Virtual output queues: at every rack a queue for each other rack; only the queue whose circuit
//! is lit may send (Mordia, SIGCOMM 2013, §5.2.1).

use lightloom_engine::FlowId;

/// End of a chain.
const NONE: u32 = u32::MAX;

/// Consecutive bytes of a flow in a queue.
#[derive(Clone, Copy, Debug)]
struct Run {
    flow: FlowId,
    /// The run behind it.
    next: u32,
    bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    head: u32,
    tail: u32,
    bytes: u64,
}

/// The queues of all racks, first in, first out.
#[derive(Clone, Debug)]
pub struct Voqs {
    racks: usize,
    queues: Vec<Queue>,
    runs: Vec<Run>,
    /// First of the unused runs.
    unused: u32,
    /// Bytes that wait at all racks.
    pub bytes: u64,
}

impl Voqs {
    /// Empty queues between `racks` racks.
    pub fn new(racks: u32) -> Voqs {
        let empty = Queue {
            head: NONE,
            tail: NONE,
            bytes: 0,
        };
        Voqs {
            racks: racks as usize,
            queues: vec![empty; racks as usize * racks as usize],
            runs: Vec::new(),
            unused: NONE,
            bytes: 0,
        }
    }

    /// The queue at `from` for `to`.
    #[inline]
    pub fn of(&self, from: u32, to: u32) -> usize {
        from as usize * self.racks + to as usize
    }

    /// Adds bytes of a flow at the end of a queue.
    pub fn push(&mut self, queue: usize, flow: FlowId, bytes: u64) {
        self.bytes += bytes;
        let Queue {
            tail,
            bytes: waiting,
            ..
        } = &mut self.queues[queue];
        *waiting += bytes;
        let last = *tail;
        if last != NONE && self.runs[last as usize].flow == flow {
            self.runs[last as usize].bytes += bytes;
            return;
        }
        let run = self.room(Run {
            flow,
            next: NONE,
            bytes,
        });
        match last {
            NONE => self.queues[queue].head = run,
            last => self.runs[last as usize].next = run,
        }
        self.queues[queue].tail = run;
    }

    /// Adds bytes of a flow at the front of a queue.
    pub fn push_front(&mut self, queue: usize, flow: FlowId, bytes: u64) {
        self.bytes += bytes;
        self.queues[queue].bytes += bytes;
        let next = self.queues[queue].head;
        if next != NONE && self.runs[next as usize].flow == flow {
            self.runs[next as usize].bytes += bytes;
            return;
        }
        let run = self.room(Run { flow, next, bytes });
        self.queues[queue].head = run;
        if next == NONE {
            self.queues[queue].tail = run;
        }
    }

    fn room(&mut self, run: Run) -> u32 {
        if self.unused == NONE {
            self.runs.push(run);
            return self.runs.len() as u32 - 1;
        }
        let row = self.unused;
        self.unused = self.runs[row as usize].next;
        self.runs[row as usize] = run;
        row
    }

    /// The first flow in a queue, and the bytes of it that wait there together.
    #[inline]
    pub fn front(&self, queue: usize) -> Option<(FlowId, u64)> {
        let head = self.queues[queue].head;
        let run = self.runs.get(head as usize)?;
        Some((run.flow, run.bytes))
    }

    /// Removes this number of bytes of the first flow from a queue.
    #[inline]
    pub fn take(&mut self, queue: usize, bytes: u64) {
        self.bytes -= bytes;
        let head = self.queues[queue].head;
        let run = &mut self.runs[head as usize];
        run.bytes -= bytes;
        self.queues[queue].bytes -= bytes;
        if run.bytes > 0 {
            return;
        }
        let next = std::mem::replace(&mut run.next, self.unused);
        self.unused = head;
        self.queues[queue].head = next;
        if next == NONE {
            self.queues[queue].tail = NONE;
        }
    }

    /// Bytes that wait in a queue.
    #[inline]
    pub fn waiting(&self, queue: usize) -> u64 {
        self.queues[queue].bytes
    }

    /// Bytes that wait at a rack.
    pub fn waiting_at(&self, rack: u32) -> u64 {
        let row = rack as usize * self.racks;
        let queues = &self.queues[row..row + self.racks];
        queues.iter().map(|queue| queue.bytes).sum()
    }

    /// The queues that are not empty: from, to, bytes.
    pub fn entries(&self) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        let rows = self.queues.chunks(self.racks).enumerate();
        rows.flat_map(|(from, row)| {
            let full = row.iter().enumerate().filter(|(_, queue)| queue.bytes > 0);
            full.map(move |(to, queue)| (from as u32, to as u32, queue.bytes))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Compares with a queue of single bytes, each with its flow.
        #[test]
        fn bytes_leave_in_the_order_in_which_they_came(
            steps in prop::collection::vec((0u8..4, 0usize..4, 0u32..3, 1u64..30), 0..200),
        ) {
            let mut voqs = Voqs::new(2);
            let mut model: [VecDeque<u32>; 4] = Default::default();
            for (step, queue, flow, bytes) in steps {
                if step < 2 {
                    voqs.push(queue, FlowId(flow), bytes);
                    model[queue].extend((0..bytes).map(|_| flow));
                } else if step == 2 && bytes % 2 == 0 {
                    voqs.push_front(queue, FlowId(flow), bytes);
                    (0..bytes).for_each(|_| model[queue].push_front(flow));
                } else if let Some((flow, there)) = voqs.front(queue) {
                    let bytes = bytes.min(there);
                    voqs.take(queue, bytes);
                    for _ in 0..bytes {
                        prop_assert_eq!(model[queue].pop_front(), Some(flow.0));
                    }
                }
                for (queue, bytes) in model.iter().enumerate() {
                    prop_assert_eq!(voqs.waiting(queue), bytes.len() as u64);
                    prop_assert_eq!(voqs.front(queue).is_some(), !bytes.is_empty());
                }
                let all = model.iter().map(|bytes| bytes.len() as u64).sum::<u64>();
                prop_assert_eq!(voqs.bytes, all);
                prop_assert_eq!(voqs.waiting_at(0) + voqs.waiting_at(1), all);
                prop_assert_eq!(voqs.entries().map(|e| e.2).sum::<u64>(), all);
            }
        }
    }
}
