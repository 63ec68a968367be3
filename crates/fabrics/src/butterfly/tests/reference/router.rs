//! A router of the reference: inputs with a buffer for each virtual channel, a
//! crossbar, outputs with a queue.

use super::{next_after, Flit};
use std::collections::{BTreeMap, VecDeque};

/// A virtual channel of an input.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    pub buffer: VecDeque<Flit>,
    /// The requests of the first packet: its output, the channels that it may request, and those
    /// that it has.
    pub asks: Option<Asks>,
}

/// The requests of a routed packet, and the resources that it holds.
#[derive(Clone, Debug)]
pub struct Asks {
    pub output: usize,
    pub may: Vec<usize>,
    pub left: usize,
    pub holds: Option<usize>,
}

/// A port as an output.
#[derive(Clone, Debug)]
pub struct Output {
    pub terminal: bool,
    /// The port and virtual channel that hold each of its virtual channels.
    pub holder: Vec<Option<(usize, usize)>>,
    pub credits: Vec<usize>,
    pub queue: VecDeque<(Flit, usize)>,
    last_given: Option<usize>,
    last_heard: Option<(usize, usize)>,
    last_input: Option<(usize, usize)>,
}

/// The capabilities of routers.
#[derive(Clone, Debug)]
pub struct Strength {
    pub vcs: usize,
    pub depth: usize,
    pub speedup: usize,
    /// Capacity of an output's queue; without a speedup flits leave at once.
    pub queue: usize,
    pub inputs_each: usize,
    pub rounds: usize,
    pub whole_packets: bool,
    pub transit_first: bool,
    pub hosts: usize,
}

/// A router.
#[derive(Clone, Debug)]
pub struct Router {
    pub lanes: Vec<Vec<Lane>>,
    pub outputs: Vec<Output>,
    served: Vec<Vec<Option<usize>>>,
}

/// Outputs, and inputs of the crossbar by port, that are already matched in this allocation of the
/// switch.
pub struct Matched {
    outputs: Vec<bool>,
    inputs: Vec<Vec<bool>>,
}

impl Router {
    pub fn new(ports: usize, s: &Strength) -> Router {
        let output = |port: usize| Output {
            terminal: port < s.hosts,
            holder: vec![None; s.vcs],
            credits: vec![s.depth; s.vcs],
            queue: VecDeque::new(),
            last_given: None,
            last_heard: None,
            last_input: None,
        };
        Router {
            lanes: vec![vec![Lane::default(); s.vcs]; ports],
            outputs: (0..ports).map(output).collect(),
            served: vec![vec![None; s.inputs_each]; ports],
        }
    }

    /// Virtual channels of its output that a packet could get now.
    fn offered(&self, asks: &Asks, s: &Strength) -> Vec<usize> {
        let output = &self.outputs[asks.output];
        let fits = |v: usize| !s.whole_packets || output.terminal || output.credits[v] >= asks.left;
        let may = asks.may.iter().copied();
        may.filter(|&v| output.holder[v].is_none() && fits(v))
            .collect()
    }

    /// Each output gives one packet a virtual channel.
    pub fn give_channels(&mut self, s: &Strength) {
        let mut all: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.outputs.len()];
        for (port, lanes) in self.lanes.iter().enumerate() {
            for (vc, lane) in lanes.iter().enumerate() {
                let waits = lane.asks.as_ref().filter(|a| a.holds.is_none());
                if let Some(asks) = waits.filter(|a| !self.offered(a, s).is_empty()) {
                    all[asks.output].push((port, vc));
                }
            }
        }
        for (output, mut who) in all.into_iter().enumerate() {
            prefer_transit(&mut who, |w| w.0, s);
            if who.is_empty() {
                continue;
            }
            let (port, vc) = next_after(&who, self.outputs[output].last_heard);
            let asks = self.lanes[port][vc].asks.clone().expect("it asks");
            let offered = self.offered(&asks, s);
            let out = &mut self.outputs[output];
            let given = next_after(&offered, out.last_given);
            out.last_heard = Some((port, vc));
            out.last_given = Some(given);
            out.holder[given] = Some((port, vc));
            self.lanes[port][vc].asks.as_mut().expect("it asks").holds = Some(given);
        }
    }

    /// Whether an input's virtual channel could send a flit.
    fn could_send(&self, port: usize, vc: usize) -> Option<usize> {
        let lane = &self.lanes[port][vc];
        let asks = lane.asks.as_ref()?;
        let output = &self.outputs[asks.output];
        let held = asks.holds?;
        let room = output.terminal || output.credits[held] > 0;
        (room && !lane.buffer.is_empty()).then_some(asks.output)
    }

    /// The inputs and outputs that may be matched when the switch moves flits.
    pub fn unmatched(&self, s: &Strength) -> Matched {
        let full = |o: &Output| s.speedup > 1 && o.queue.len() == s.queue;
        Matched {
            outputs: self.outputs.iter().map(full).collect(),
            inputs: vec![vec![false; s.inputs_each]; self.outputs.len()],
        }
    }

    /// A round of the switch: each input of the crossbar that is left proposes one of
    /// its virtual channels, each output takes one. Returns them by port and number.
    pub fn round(&mut self, s: &Strength, m: &mut Matched, first: bool) -> Vec<(usize, usize)> {
        let ports = self.outputs.len();
        // The inputs of the crossbar that propose to each output, with their channels.
        let mut proposals: Vec<Vec<(usize, usize)>> = vec![Vec::new(); ports];
        let mut what = BTreeMap::new();
        let inputs = (0..s.inputs_each).flat_map(|i| (0..ports).map(move |port| (i, port)));
        for (input, port) in inputs {
            let open = |&v: &usize| self.could_send(port, v).is_some_and(|o| !m.outputs[o]);
            let mine = (input..s.vcs).step_by(s.inputs_each);
            let ready: Vec<usize> = mine.filter(open).collect();
            if m.inputs[port][input] || ready.is_empty() {
                continue;
            }
            let vc = next_after(&ready, self.served[port][input]);
            what.insert((input, port), vc);
            let output = self.could_send(port, vc).expect("it could");
            proposals[output].push((input, port));
        }
        let mut winners = Vec::new();
        for (output, mut who) in proposals.into_iter().enumerate() {
            prefer_transit(&mut who, |w| w.1, s);
            if who.is_empty() {
                continue;
            }
            let (input, port) = next_after(&who, self.outputs[output].last_input);
            let vc = what[&(input, port)];
            if first {
                self.served[port][input] = Some(vc);
                self.outputs[output].last_input = Some((input, port));
            }
            (m.outputs[output], m.inputs[port][input]) = (true, true);
            winners.push((port, vc));
        }
        winners
    }

    /// Moves a flit from its buffer into its output's queue. Returns whether it was the last flit
    /// of its packet.
    pub fn cross(&mut self, port: usize, vc: usize) -> bool {
        let lane = &mut self.lanes[port][vc];
        let flit = lane.buffer.pop_front().expect("a flit");
        let asks = lane.asks.as_mut().expect("a packet");
        let held = asks.holds.expect("a virtual channel");
        asks.left -= 1;
        let output = &mut self.outputs[asks.output];
        if !output.terminal {
            output.credits[held] -= 1;
        }
        output.queue.push_back((flit, held));
        if flit.last {
            output.holder[held] = None;
            lane.asks = None;
        }
        flit.last
    }
}

/// If packets in transit have priority and there are any, removes the hosts' packets.
fn prefer_transit<T>(who: &mut Vec<T>, port: impl Fn(&T) -> usize, s: &Strength) {
    if s.transit_first && who.iter().any(|w| port(w) >= s.hosts) {
        who.retain(|w| port(w) >= s.hosts);
    }
}
