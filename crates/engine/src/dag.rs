//! Builds closed-loop flows: tasks that send bytes after the bytes of other tasks are delivered,
//! and jobs that consist of such tasks.
//!
//! A task may depend only on tasks that already exist, so that no graph has a cycle. The edges are
//! converted to compressed rows once, at the end. The predecessors of a task are fixed; work
//! queues, from which idle workers take tasks, are not modelled.

use crate::flows::{Dependencies, Flows, Job};
use crate::ids::{FlowId, HostId};
use crate::time::Time;

/// A task of a [`Dag`]: a flow, or a barrier that carries no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(u32);

/// Marks barriers until the number of flows is known.
const BARRIER: u32 = 1 << 31;

impl Node {
    /// The index of the node, if there are `flows` flows.
    fn place(self, flows: u32) -> FlowId {
        match self.0 & BARRIER {
            0 => FlowId(self.0),
            _ => FlowId(flows + (self.0 & !BARRIER)),
        }
    }
}

/// A planned flow: source, destination, bytes, and the computation time before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// The sending host.
    pub src: HostId,
    /// The receiving host.
    pub dst: HostId,
    /// Bytes to send [B].
    pub bytes: u64,
    /// The time from the last delivery that the task depends on to its own start.
    pub compute: Time,
}

/// Flows and barriers that depend on each other, in jobs.
#[derive(Clone, Debug)]
pub struct Dag {
    flows: Flows,
    flow_delay: Vec<Time>,
    barrier_delay: Vec<Time>,
    /// Pairs (dependent node, predecessor) in the order in which they were named.
    edges: Vec<(Node, Node)>,
    jobs: Vec<Pending>,
    begin: Option<Node>,
    /// The earliest end of each node, if only computation took time.
    flow_least: Vec<Time>,
    barrier_least: Vec<Time>,
}

/// A job whose nodes have no final numbers yet.
#[derive(Clone, Debug)]
struct Pending {
    name: String,
    begin: Option<Node>,
    end: Node,
}

impl Default for Dag {
    fn default() -> Dag {
        Dag::new()
    }
}

impl Dag {
    /// An empty graph.
    pub fn new() -> Dag {
        Dag {
            flows: Flows::new(),
            flow_delay: Vec::new(),
            barrier_delay: Vec::new(),
            edges: Vec::new(),
            jobs: Vec::new(),
            begin: None,
            flow_least: Vec::new(),
            barrier_least: Vec::new(),
        }
    }

    /// Puts the tasks that follow into the group `name`.
    ///
    /// # Panics
    /// If there are more than 65,535 groups.
    pub fn group(&mut self, name: &str) {
        if self.flows.groups.last().is_none_or(|last| last != name) {
            self.flows.groups.push(name.to_owned());
        }
        assert!(self.flows.groups.len() <= 1 << 16, "too many groups");
    }

    /// Tasks that follow and have no predecessors start when `begin` is reached; at time zero if it
    /// is `None`.
    pub fn begin_at(&mut self, begin: Option<Node>) {
        self.begin = begin;
    }

    /// Adds a task that sends after all of `after` are done and its computation time has passed. A
    /// task that sends nothing, or to its own host, only computes.
    pub fn task(&mut self, task: Task, after: &[Node]) -> Node {
        if task.src == task.dst || task.bytes == 0 {
            return self.barrier(task.compute, after);
        }
        let arrival = match after.is_empty() && self.begin.is_none() {
            true => task.compute,
            false => Time::NEVER,
        };
        let node = Node(self.flows.len() as u32);
        assert!(node.0 < BARRIER, "too many flows");
        self.flows.push(task.src, task.dst, task.bytes, arrival);
        if let Some(group) = self.flows.group.last_mut() {
            *group = (self.flows.groups.len() - 1) as u16;
        }
        let least = self.wait(node, after, task.compute);
        self.flow_delay.push(task.compute);
        self.flow_least.push(least);
        node
    }

    /// Adds a barrier that is reached `compute` after all of `after`.
    pub fn barrier(&mut self, compute: Time, after: &[Node]) -> Node {
        let node = Node(self.barrier_delay.len() as u32 | BARRIER);
        let least = self.wait(node, after, compute);
        self.barrier_delay.push(compute);
        self.barrier_least.push(least);
        node
    }

    /// Combines all of `after` to one node.
    pub fn join(&mut self, after: &[Node]) -> Node {
        match after {
            [node] => *node,
            _ => self.barrier(Time::ZERO, after),
        }
    }

    /// Ends a job that began at `begin` and is done when all of `after` are; returns the barrier of
    /// its end.
    pub fn end_job(&mut self, name: &str, begin: Option<Node>, after: &[Node]) -> Node {
        let end = self.barrier(Time::ZERO, after);
        self.jobs.push(Pending {
            name: name.to_owned(),
            begin,
            end,
        });
        end
    }

    fn wait(&mut self, node: Node, after: &[Node], compute: Time) -> Time {
        let begin = self.begin.filter(|_| after.is_empty());
        let mut ready = Time::ZERO;
        for &before in after.iter().chain(begin.as_ref()) {
            self.edges.push((node, before));
            ready = ready.max(self.least(before));
        }
        Time(ready.0.saturating_add(compute.0))
    }

    /// The earliest time at which `node` can be done, if sending took no time.
    pub fn least(&self, node: Node) -> Time {
        let n = (node.0 & !BARRIER) as usize;
        match node.0 & BARRIER {
            0 => self.flow_least[n],
            _ => self.barrier_least[n],
        }
    }

    /// The number of flows so far.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    /// The number of barriers so far.
    pub fn barriers(&self) -> usize {
        self.barrier_delay.len()
    }

    /// The number of edges so far.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    /// Memory of the builder in addition to [`Dependencies::memory`], by node and by edge [B].
    pub const BUILDING: (u64, u64) = (8, 8);

    /// Returns the flows with their graph.
    pub fn build(self) -> Flows {
        let flows = self.flows.len() as u32;
        let nodes = self.flows.len() + self.barrier_delay.len();
        assert!(nodes < u32::MAX as usize, "too many nodes");
        let place = |(waits, before): (Node, Node)| (waits.place(flows), before.place(flows));
        let edges: Vec<_> = self.edges.into_iter().map(place).collect();
        let delay = [self.flow_delay, self.barrier_delay].concat();
        let job = |j: Pending| Job {
            name: j.name,
            begin: j.begin.map(|b| b.place(flows)),
            end: j.end.place(flows),
        };
        Flows {
            after: Dependencies {
                jobs: self.jobs.into_iter().map(job).collect(),
                ..Dependencies::of(delay, &edges)
            },
            ..self.flows
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Io;
    use proptest::prelude::*;

    fn task(bytes: u64, compute: i64) -> Task {
        Task {
            src: HostId(0),
            dst: HostId(1),
            bytes,
            compute: Time(compute),
        }
    }

    /// Delivers every flow `hop(bytes)` after it arrives, in order of arrival.
    fn play(flows: Flows, hop: impl Fn(u64) -> i64) -> Io {
        let mut io = Io::new(flows);
        while let Some(now) = io.next_arrival() {
            let f = io.arrive(now).unwrap();
            assert_eq!(io.flows.arrival[f.index()], now);
            let bytes = io.flows.bytes[f.index()];
            io.deliver(f, bytes, now + Time(hop(bytes)));
        }
        io
    }

    #[test]
    fn a_diamond_by_hand() {
        let mut dag = Dag::new();
        dag.group("job");
        let first = dag.task(task(10, 3), &[]);
        let (a, b) = (
            dag.task(task(5, 0), &[first]),
            dag.task(task(20, 1), &[first]),
        );
        let barrier = dag.barrier(Time(100), &[a, b]);
        let last = dag.task(task(1, 7), &[barrier]);
        let tail = dag.barrier(Time(50), &[last]);
        dag.end_job("job", None, &[tail]);
        let io = play(dag.build(), |bytes| bytes as i64);
        assert_eq!(io.flows.arrival, [Time(3), Time(13), Time(14), Time(141)]);
        assert_eq!(io.flows.finish[3], Time(142));
        let job = &io.flows.after.jobs[0];
        assert_eq!(io.completed(job.end), Time(192));
        assert_eq!(io.last_completion(), Time(192));
        assert_eq!(io.flows.group, [1; 4]);
    }

    #[test]
    fn jobs_in_sequence_begin_where_the_one_before_ends() {
        let mut dag = Dag::new();
        let a = dag.task(task(10, 5), &[]);
        let first = dag.end_job("a", None, &[a]);
        dag.begin_at(Some(first));
        let b = dag.task(task(10, 2), &[]);
        let only_computes = dag.task(task(0, 9), &[]);
        dag.end_job("b", Some(first), &[b, only_computes]);
        let io = play(dag.build(), |_| 1);
        assert_eq!(io.flows.arrival, [Time(5), Time(8)]);
        let [a, b] = &io.flows.after.jobs[..] else {
            panic!()
        };
        assert_eq!((a.begin, b.begin), (None, Some(a.end)));
        assert_eq!(
            (io.completed(a.end), io.completed(b.end)),
            (Time(6), Time(15))
        );
    }

    /// Barriers before any flow are reached when the run is set up.
    #[test]
    fn what_waits_for_nothing_but_time_is_known_at_once() {
        let mut dag = Dag::new();
        let a = dag.barrier(Time(7), &[]);
        let b = dag.barrier(Time(4), &[a]);
        dag.task(task(1, 2), &[a, b]);
        let io = Io::new(dag.build());
        assert_eq!(io.next_arrival(), Some(Time(13)));
    }

    #[test]
    fn nothing_known_of_an_unfinished_job() {
        let mut dag = Dag::new();
        let a = dag.task(task(10, 0), &[]);
        dag.end_job("a", None, &[a]);
        let mut io = Io::new(dag.build());
        let f = io.arrive(Time::ZERO).unwrap();
        io.deliver(f, 9, Time(1));
        assert_eq!(io.completed(io.flows.after.jobs[0].end), Time::NEVER);
        assert_eq!(io.jobs_end(), Time::ZERO);
        io.deliver(f, 1, Time(2));
        assert_eq!(io.jobs_end(), Time(2));
    }

    #[test]
    fn a_node_takes_the_memory_it_is_said_to() {
        let mut dag = Dag::new();
        let a = dag.task(task(1, 0), &[]);
        dag.barrier(Time::ZERO, &[a, a]);
        let after = dag.build().after;
        let (node, edge) = (Dependencies::BYTES_PER_NODE, Dependencies::BYTES_PER_EDGE);
        // The row start and the number of missing predecessors, the delay and the latest delivery,
        // and the order of arrival.
        let columns = 2 * size_of_val(&after.missing[0]) + 2 * size_of::<Time>();
        assert_eq!(node as usize, columns + size_of::<(Time, FlowId)>());
        assert_eq!(edge as usize, size_of_val(&after.edges[0]));
        assert_eq!(after.memory(), 2 * node + 2 * edge);
    }

    /// One random node: a flow or a barrier, its predecessors, its time.
    type Random = (bool, Vec<prop::sample::Index>, i64, u64);

    proptest! {
        /// Every flow is released exactly once, at the length of the longest path to it, which the
        /// test computes node by node.
        #[test]
        fn flows_start_at_the_end_of_their_longest_path(
            nodes in prop::collection::vec(
                (any::<bool>(), prop::collection::vec(any::<prop::sample::Index>(), 0..4), 0i64..50, 1u64..50),
                1..60,
            ),
        ) {
            let nodes: Vec<Random> = nodes;
            let (mut dag, mut made, mut ends, mut starts) = (Dag::new(), vec![], vec![], vec![]);
            for (flow, before, delay, bytes) in nodes {
                let before: Vec<usize> = match made.len() {
                    0 => vec![],
                    n => before.iter().map(|i| i.index(n)).collect(),
                };
                let after: Vec<Node> = before.iter().map(|&i| made[i]).collect();
                let ready = before.iter().map(|&i| ends[i]).max().unwrap_or(0) + delay;
                if flow {
                    made.push(dag.task(task(bytes, delay), &after));
                    starts.push(Time(ready));
                    ends.push(ready + 3 * bytes as i64);
                } else {
                    made.push(dag.barrier(Time(delay), &after));
                    ends.push(ready);
                }
            }
            let last = *ends.iter().max().unwrap();
            dag.end_job("all", None, &made);
            let io = play(dag.build(), |bytes| 3 * bytes as i64);
            prop_assert_eq!(io.ledger.flows_offered, io.flows.len() as u64);
            prop_assert_eq!(&io.flows.arrival, &starts);
            prop_assert_eq!(io.completed(io.flows.after.jobs[0].end), Time(last));
        }
    }
}
