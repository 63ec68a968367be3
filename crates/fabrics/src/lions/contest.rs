//! Receivers for which packets of hosts and of loop-back queues compete, if loop-back queues do not
//! always go first.
//!
//! All requests for a receiver at an instant are decided together, after all other events of that
//! instant. A host's packet then wins or loses; a queue that is not granted keeps its request.

use super::config::ArbiterRule;
use super::ports::Ports;
use lightloom_engine::Time;

/// The sender of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// A host, now.
    Host(u32),
    /// A loop-back queue.
    Queue(u32),
}

#[derive(Clone, Copy, Debug)]
struct Contested {
    /// Whether a decision is scheduled for this instant.
    deciding: bool,
    /// Time at which the receiver becomes free for requests of queues; never if no queue waits.
    due: Time,
    /// The input of the grating whose turn it is.
    turn: u32,
}

/// The contests for the receivers of all outputs.
#[derive(Clone, Debug)]
pub struct Contests {
    rule: ArbiterRule,
    inputs: u32,
    receivers: Vec<Contested>,
    /// Hosts with requests at this instant, with their arbiters.
    hosts: Vec<(u32, u32)>,
}

impl Contests {
    /// State for `arbiters` arbiters; `None` if loop-back queues go first.
    pub fn new(rule: ArbiterRule, ports: &Ports, arbiters: usize) -> Option<Contests> {
        let idle = Contested {
            deciding: false,
            due: Time::NEVER,
            turn: 0,
        };
        (rule != ArbiterRule::LoopBackFirst).then(|| Contests {
            rule,
            inputs: ports.inputs,
            receivers: vec![idle; arbiters],
            hosts: Vec::new(),
        })
    }

    /// Records the request of a host's packet for a free receiver. Returns whether to schedule the
    /// decision.
    pub fn ask(&mut self, arbiter: usize, host: u32) -> bool {
        self.hosts.push((arbiter as u32, host));
        self.decide(arbiter)
    }

    /// Records that a requested receiver is free. Returns whether to schedule the decision.
    pub fn decide(&mut self, arbiter: usize) -> bool {
        !std::mem::replace(&mut self.receivers[arbiter].deciding, true)
    }

    /// Records that queues wait for a receiver until `free`. Returns whether to schedule this time.
    pub fn await_free(&mut self, arbiter: usize, free: Time) -> bool {
        let due = &mut self.receivers[arbiter].due;
        let sooner = free < *due;
        *due = free.min(*due);
        sooner
    }

    /// Records that a receiver for which queues wait is free.
    pub fn fell_free(&mut self, arbiter: usize) {
        self.receivers[arbiter].due = Time::NEVER;
    }

    /// Removes the host requests for a receiver that is decided now, and stores them in `asked`.
    pub fn take_hosts(&mut self, arbiter: usize, asked: &mut Vec<u32>) {
        self.receivers[arbiter].deciding = false;
        self.hosts.retain(|&(at, host)| {
            if at == arbiter as u32 {
                asked.push(host);
            }
            at != arbiter as u32
        });
    }

    /// Returns the requester that gets the receiver, given the arrival of each one's flow; advances
    /// the turn.
    pub fn winner(
        &mut self,
        arbiter: usize,
        ports: &Ports,
        asking: impl Iterator<Item = (Contender, Time)>,
    ) -> Option<Contender> {
        let (rule, inputs, turn) = (self.rule, self.inputs, self.receivers[arbiter].turn);
        let key = |&(contender, came): &(Contender, Time)| {
            let wait = (input_of(contender, ports) + inputs - turn) % inputs;
            precedence(rule, contender, came, wait)
        };
        let (winner, _) = asking.min_by_key(key)?;
        self.receivers[arbiter].turn = (input_of(winner, ports) + 1) % inputs;
        Some(winner)
    }
}

fn input_of(contender: Contender, ports: &Ports) -> u32 {
    match contender {
        Contender::Host(host) => ports.host_input[host as usize],
        Contender::Queue(queue) => ports.queue_input[queue as usize],
    }
}

/// The precedence of a request; the lowest goes first. It depends on the kind of sender, on the
/// arrival of the packet's flow, and on `wait`, the number of inputs whose turn comes before its
/// own.
pub fn precedence(rule: ArbiterRule, who: Contender, came: Time, wait: u32) -> (i64, u32) {
    let is_host = matches!(who, Contender::Host(_));
    let first = match rule {
        ArbiterRule::LoopBackFirst => i64::from(is_host),
        ArbiterRule::HostsFirst => i64::from(!is_host),
        ArbiterRule::RoundRobin => 0,
        ArbiterRule::OldestFirst => came.0,
    };
    (first, wait)
}

#[cfg(test)]
mod tests {
    use super::super::config::{Architecture, LionsConfig};
    use super::*;

    /// Host 0 is on input 0, host 3 on input 6, and queue 0 on input 9 of 16.
    #[test]
    fn each_rule_has_its_winner() {
        let config = LionsConfig {
            architecture: Architecture::Dlb,
            receivers: 1,
            ..LionsConfig::default()
        };
        let ports = Ports::new(&config, 8);
        let asking = [
            (Contender::Host(3), Time::NS * 5),
            (Contender::Host(0), Time::NS * 4),
            (Contender::Queue(0), Time::NS * 3),
        ];
        let winners = |rule, left: usize| {
            let mut contests = Contests::new(rule, &ports, 1).expect("another rule");
            let winner = |_| contests.winner(0, &ports, asking.into_iter());
            (0..left).filter_map(winner).collect::<Vec<_>>()
        };
        let [three, zero, queue] = asking.map(|(who, _)| who);
        // The winner requests again.
        assert_eq!(winners(ArbiterRule::HostsFirst, 3), [zero, three, zero]);
        assert_eq!(
            winners(ArbiterRule::RoundRobin, 4),
            [zero, three, queue, zero]
        );
        assert_eq!(winners(ArbiterRule::OldestFirst, 2), [queue, queue]);
        assert!(Contests::new(ArbiterRule::LoopBackFirst, &ports, 1).is_none());
    }
}
